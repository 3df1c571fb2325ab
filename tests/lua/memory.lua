-- Memory stays flat, whatever succeeds or fails, and large scratch memory is given back.

local h = ...
local pb = h.instance()

local function used()
  collectgarbage()
  collectgarbage()
  return collectgarbage("count")
end

-- The function, not to be compiled by LuaJIT, whose traces would keep the functions of many an instance alive.
local function interpreted(f)
  if h.jit then
    jit.off(f, true)
  end
  return f
end

-- Fails if calling f often always leaves more than a few kilobytes in Lua's heap. Caches may fill up at first, and
-- a table that many things pass through may grow once more, but a leak grows in every run.
local function flat(rounds, f)
  local growth
  for run = 0, 3 do
    local before = used()
    for i = run * rounds + 1, (run + 1) * rounds do
      f(i)
    end
    growth = used() - before
    if run > 0 and growth < 24 then
      return
    end
  end
  error(("grew by %.0f KB in %d rounds"):format(growth, rounds))
end

local value = { s_int32 = 5, s_string = "text", r_int32 = { 1, 2, 3 }, s_inner = { b = "x" }, r_inner = { {}, { a = 1 } }, k_string = { a = 1 } }
local bytes = pb.encode("every3.All", value)

h.test("of encode and decode", function()
  flat(5000, function()
    pb.encode("every3.All", value)
    pb.decode("every3.All", bytes)
  end)
end)

h.test("of reading absent fields", function()
  flat(5000, function()
    local all = pb.decode("every3.All", bytes)
    local _ = all.self.self.k_int32
    _ = all.o_string
    pb.encode("every3.All", all)
    pb.extract(all)
  end)
end)

h.test("of JSON and text", function()
  local json, text = pb.to_json("every3.All", value), pb.to_text("every3.All", value)
  flat(2000, function()
    pb.from_json("every3.All", json)
    pb.from_text("every3.All", text)
    pb.from_json("every3.All", json:sub(1, -2))
    pb.from_text("every3.All", text .. "{")
    pcall(pb.to_json, "every3.All", { s_int32 = "x" })
    pcall(pb.to_text, "every3.All", "\255")
  end)
end)

h.test("of pack and unpack", function()
  flat(5000, function(i)
    pb.pack("every3.All s_int32 s_string r_int32", i, "text", { 1, 2 })
    pb.unpack("every3.All s_int32 s_string r_int32 s_inner", bytes)
    pb.pack("every3.All s_inner.a s_inner.b", i, "text")
    pb.unpack("every3.All s_inner.b r_inner.a k_string", bytes)
  end)
end)

h.test("of failing calls", function()
  flat(3000, function(i)
    pcall(pb.encode, "every3.All", { s_string = "text", s_int32 = "x" .. i })
    pb.decode("every3.All", "\24")
    pb.decode("every3.All", bytes, #bytes - 1)
    pcall(pb.unpack, "every3.All s_string", "\114\5a")
    pcall(pb.unpack, "every3.All r_inner.b", "\202\3\3\18\5a")
    pcall(pb.pack, "every3.All s_int32", "x" .. i)
    pcall(pb.encode, "every3.All", { ["key" .. i] = 1 })
  end)
end)

h.test("of callbacks, failing ones too", function()
  flat(3000, function()
    pb.encode("every3.All", value, function(pointer, length)
      return pb.decode("every3.All", pointer, length)
    end)
    pcall(pb.encode, "every3.All", value, error)
  end)
end)

h.test("of callbacks in coroutines that are dropped", function()
  flat(3000, function()
    coroutine.wrap(pb.encode)("every3.All", value, coroutine.yield)
  end)
end)

h.test("of names and patterns that are unknown, always new ones", function()
  flat(5000, function(i)
    pcall(pb.encode, "no.Such" .. i, {})
    pb.decode("no.Such" .. i, "")
    pcall(pb.unpack, "every3.All nosuch" .. i, "")
    pb.check("no.Such" .. i)
    pb.enum_name("every3.Color", i + 10)
    pb.enum_id("every3.Color", "NO" .. i)
  end)
end)

h.test("of long names that are built anew each time", function()
  local rest = "MessageTypeWhoseNameIsLongerThanFortyCharacters"
  flat(5000, function()
    pb.encode("every3.A" .. rest, { a = 1 })
    pb.decode(table.concat { "every3.A", rest }, "\8\1")
  end)
end)

h.test("of valid patterns, always new ones", function()
  local names = { "s_int32", "s_int64", "s_uint32", "s_bool", "s_double", "s_float", "s_string", "s_bytes", "o_int32", "o_bool", "o_string", "o_bytes" }
  flat(2000, function(i)
    local pattern = { "every3.All" }
    for _, name in ipairs(names) do
      if i % 2 == 1 then
        pattern[#pattern + 1] = name
      end
      i = math.floor(i / 2)
    end
    h.eq(select("#", pb.unpack(table.concat(pattern, " "), "")), #pattern - 1)
  end)
end)

h.test("of registering the same again", function()
  flat(300, function()
    pb.register(h.set "every3")
    pb.register(h.set "world")
  end)
end)

h.test("of instances that are dropped", function()
  flat(300, interpreted(function()
    local own = h.protobuf.new()
    own.register(h.set "addressbook")
    own.decode("tutorial.AddressBook", "")
    own.unpack("tutorial.Person id", "")
  end))
end)

-- The kilobytes that this process occupies, where the system says so.
local function resident()
  local file = io.open("/proc/self/statm")
  if file then
    local pages = file:read("*a"):match("^%d+ (%d+)")
    file:close()
    return pages * 4
  end
end

if resident() then
  h.test("outside Lua's heap, of large calls that fail", function()
    local large = ("x"):rep(1000000)
    local function fail()
      for _ = 1, 100 do
        pcall(pb.encode, "every3.All", { s_bytes = large, s_int32 = "x" })
        pcall(pb.encode, "every3.All", { s_bytes = large }, error)
        pcall(pb.pack, "every3.All s_bytes s_int32", large, "x")
        pb.decode("every3.All", "\122" .. h.varint(1000000) .. large .. "\24")
      end
      collectgarbage()
      collectgarbage()
    end
    fail()
    local before = resident()
    fail()
    assert(resident() - before < 50000, resident() - before)
  end)

  h.test("outside Lua's heap, of instances that are dropped", function()
    local make = interpreted(function()
      for _ = 1, 100 do
        local own = h.protobuf.new()
        own.register(h.set "every2")
        own.encode("every2.All", { o_bytes = ("x"):rep(100000) })
      end
      collectgarbage()
      collectgarbage()
    end)
    make()
    local before = resident()
    make()
    make()
    make()
    assert(resident() - before < 20000, resident() - before)
  end)

  h.test("outside Lua's heap, of a scratch buffer that was huge once", function()
    collectgarbage()
    local before = resident()
    local huge = ("x"):rep(100000000)
    assert(#pb.encode("every3.All", { s_bytes = huge }) > 100000000)
    huge = nil
    for _ = 1, 1000 do
      pb.encode("every3.All", value)
    end
    collectgarbage()
    collectgarbage()
    for _ = 1, 1000 do
      pb.encode("every3.All", value)
    end
    assert(resident() - before < 50000, resident() - before)
  end)
end
