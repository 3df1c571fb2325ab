-- encode with a function: it gets the bytes as light userdata and length, and may fail, yield or call back in.

local h = ...
local pb = h.instance()
local raises, refuses = h.raises, h.refuses

local function count(...)
  return select("#", ...)
end

h.test("it gets pointer, length and the further arguments", function()
  local seen
  pb.encode("every3.All", { s_int32 = 5, s_string = "abc" }, function(...)
    seen = { n = count(...), ... }
  end, 1, nil, "x", nil)
  h.eq(seen.n, 6)
  h.eq(type(seen[1]), "userdata")
  h.eq(seen[2], 7)
  h.eq(seen[3], 1)
  h.eq(seen[4], nil)
  h.eq(seen[5], "x")
end)

h.test("its results are encode's", function()
  local function echo(pointer, length, ...)
    return ...
  end
  h.eq(count(pb.encode("every3.All", {}, echo)), 0)
  h.eq({ pb.encode("every3.All", {}, echo, 1, "b", false) }, { 1, "b", false })
  h.eq(count(pb.encode("every3.All", {}, echo, nil, nil)), 2)
  h.eq(count(pb.encode("every3.All", {}, echo, h.unpack({}, 1, 200))), 200)
end)

h.test("decode and unpack read the pointer", function()
  local all = pb.encode("every3.All", { s_int32 = 5, s_string = "abc" }, function(pointer, length)
    h.eq(pb.unpack("every3.All s_string", pointer, length), "abc")
    h.eq(pb.unpack("every3.All s_int32", pointer, 2), 5)
    h.eq(pb.decode("every3.All", pointer, 2), { s_int32 = 5 })
    return pb.decode("every3.All", pointer, length)
  end)
  h.eq(all, { s_int32 = 5, s_string = "abc" })
end)

h.test("an empty message", function()
  pb.encode("every3.All", {}, function(pointer, length)
    h.eq(type(pointer), "userdata")
    h.eq(length, 0)
    h.eq(pb.decode("every3.All", pointer, length), {})
    h.eq(pb.unpack("every3.All s_int32", pointer, length), 0)
  end)
end)

h.test("a pointer needs a length that is a size", function()
  pb.encode("every3.All", { s_int32 = 5 }, function(pointer)
    raises("", pb.decode, "every3.All", pointer)
    raises("", pb.decode, "every3.All", pointer, -1)
    raises("", pb.decode, "every3.All", pointer, 1.5)
    raises("", pb.decode, "every3.All", pointer, "x")
    raises("", pb.unpack, "every3.All s_int32", pointer)
    raises("", pb.unpack, "every3.All s_int32", pointer, -1)
  end)
end)

h.test("bad bytes behind a pointer are refused", function()
  pb.encode("every3.All", { s_string = "abc" }, function(pointer)
    refuses("every3.All.s_string: truncated", pb.decode("every3.All", pointer, 4))
    raises("every3.All.s_string: truncated", pb.unpack, "every3.All s_string", pointer, 4)
  end)
end)

h.test("its errors come through as they are", function()
  local thrown = {}
  local fine, got = pcall(pb.encode, "every3.All", { s_int32 = 5 }, function()
    error(thrown)
  end)
  h.eq(fine, false)
  assert(rawequal(got, thrown))
  h.encodes(pb, "every3.All", { s_int32 = 6 }, "18 06")
end)

h.test("it is not called when the table is wrong", function()
  local called = false
  raises("every3.All.s_int32: ", pb.encode, "every3.All", { s_int32 = "x" }, function()
    called = true
  end)
  h.eq(called, false)
end)

h.test("it may call back in: its bytes stay its own", function()
  local function level(n)
    local text = ("x"):rep(n * 100)
    return pb.encode("every3.All", { s_int32 = n, s_string = text }, function(pointer, length)
      if n > 1 then
        level(n - 1)
      end
      pb.encode("every3.All", { s_string = ("y"):rep(5000) })
      pcall(pb.encode, "every3.All", { s_string = ("z"):rep(5000), s_int32 = "x" })
      pb.pack("every3.All s_string", ("w"):rep(5000))
      h.eq(pb.decode("every3.All", pointer, length), { s_int32 = n, s_string = text })
      return n
    end)
  end
  h.eq(level(20), 20)
end)

h.test("it may yield", function()
  local co = coroutine.create(function(...)
    return "done", pb.encode("every3.All", { s_int32 = 5 }, function(pointer, length, x)
      local y = coroutine.yield("first", x)
      local z = coroutine.yield("second", y)
      h.eq(pb.decode("every3.All", pointer, length), { s_int32 = 5 })
      return z, length
    end, ...)
  end)
  h.eq({ coroutine.resume(co, 1) }, { true, "first", 1 })
  h.eq({ coroutine.resume(co, 2) }, { true, "second", 2 })
  h.eq({ coroutine.resume(co, 3) }, { true, "done", 3, 2 })
  h.eq(coroutine.status(co), "dead")
end)

h.test("its bytes are its own across yields", function()
  local cos = {}
  for i = 1, 50 do
    cos[i] = coroutine.create(function()
      pb.encode("every3.All", { s_int32 = i, s_string = ("x"):rep(i * 50) }, function(pointer, length)
        for _ = 1, 3 do
          coroutine.yield()
          local all = pb.decode("every3.All", pointer, length)
          h.eq(all, { s_int32 = i, s_string = ("x"):rep(i * 50) })
        end
      end)
      return "done"
    end)
  end
  for round = 1, 3 do
    for i = 1, 50 do
      assert(coroutine.resume(cos[i]))
      pb.encode("every3.All", { s_string = ("y"):rep(round * 1000) })
    end
  end
  for i = 50, 1, -1 do
    h.eq({ coroutine.resume(cos[i]) }, { true, "done" })
  end
end)

h.test("an error after a yield comes through, an abandoned one does no harm", function()
  local thrown = {}
  local co = coroutine.create(function()
    pb.encode("every3.All", { s_int32 = 5 }, function()
      coroutine.yield()
      error(thrown)
    end)
  end)
  assert(coroutine.resume(co))
  local fine, got = coroutine.resume(co)
  h.eq(fine, false)
  assert(rawequal(got, thrown))
  for _ = 1, 100 do
    assert(coroutine.resume(coroutine.create(function()
      pb.encode("every3.All", { s_string = ("x"):rep(10000) }, coroutine.yield)
    end)))
  end
  collectgarbage()
  collectgarbage()
  h.encodes(pb, "every3.All", { s_int32 = 6 }, "18 06")
end)

h.test("what is callable is called, what is not is refused", function()
  raises("", pb.encode, "every3.All", {}, 5)
  raises("", pb.encode, "every3.All", {}, "print")
  raises("", pb.encode, "every3.All", {}, {})
  h.eq(pb.encode("every3.All", { s_int32 = 5 }, nil), h.bytes "18 05")
end)

h.test("a table that is called gets itself first, and may yield", function()
  local sink = setmetatable({}, { __call = function(self, pointer, length, more)
    self.length = length
    return coroutine.yield(type(pointer)), more
  end })
  local co = coroutine.wrap(function()
    return pb.encode("every3.All", { s_int32 = 5 }, sink, "more")
  end)
  h.eq(co(), "userdata")
  h.eq({ co "resumed" }, { "resumed", "more" })
  h.eq(sink.length, 2)
end)

-- 5.1 has no pcall that can be yielded across.
if _VERSION ~= "Lua 5.1" or h.jit then
  h.test("it may yield within pcall", function()
    local thrown = {}
    local co = coroutine.wrap(function()
      return pcall(pb.encode, "every3.All", { s_int32 = 5 }, function(pointer, length, how)
        local answer = coroutine.yield(length)
        if how == "fail" then
          error(thrown)
        end
        return answer, pb.decode("every3.All", pointer, length).s_int32
      end, coroutine.yield "ready")
    end)
    h.eq({ co(), co "give" }, { "ready", 2 })
    h.eq({ co "answer" }, { true, "answer", 5 })
    co = coroutine.wrap(function()
      local fine, message = pcall(pb.encode, "every3.All", { s_int32 = 5 }, function()
        coroutine.yield "yielded"
        error(thrown)
      end)
      return fine, rawequal(message, thrown)
    end)
    h.eq(co(), "yielded")
    h.eq({ co() }, { false, true })
  end)
end

if coroutine.close then
  h.test("a coroutine that is closed while it runs does no harm", function()
    local co = coroutine.create(function()
      return pb.encode("every3.All", { s_int32 = 5 }, coroutine.yield)
    end)
    h.eq(select("#", coroutine.resume(co)), 3)
    h.eq(coroutine.close(co), true)
    h.encodes(pb, "every3.All", { s_int32 = 6 }, "18 06")
  end)
end

h.test("functions of C do as well", function()
  h.eq(pb.encode("every3.All", { s_int32 = 5 }, type), "userdata")
end)
