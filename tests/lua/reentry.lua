-- Every function called where Lua may call: from finalizers during other calls, from coroutines, from hooks.

local h = ...
local pb = h.instance()
local reused = h.instance()

local value = {
  s_int32 = 5, s_string = ("long enough not to be interned "):rep(3), r_int32 = { 1, 2, 3 }, r_string = { "a", "b" },
  s_inner = { a = 1, inner = { b = "x" } }, r_inner = { { a = 1 }, {} }, v_inner = { k = { a = 7 } }, c_color = "BLUE",
}
local bytes = pb.encode("every3.All", value)

-- Calls every function, and fails if one gives anything unexpected.
local function everything()
  h.eq(pb.encode("every3.All", value), bytes)
  h.eq(pb.decode("every3.All", bytes), value)
  local all = pb.decode("every3.All", bytes)
  local _ = all.self.s_inner.list
  h.eq(all.o_string, "")
  h.eq(pb.has(all, "self"), false)
  h.eq(pb.extract(all), value)
  h.eq(pb.pack("every3.All s_int32 s_string", 7, "flat"), h.bytes "18 07 72 04 66 6c 61 74")
  h.eq({ pb.unpack("every3.All s_string s_int32 r_int32", bytes) }, { value.s_string, 5, { 1, 2, 3 } })
  h.eq({ pb.unpack("every3.All s_inner.inner.b r_inner.a", bytes) }, { "x", { 1, 0 } })
  h.eq(pb.pack("every3.All s_inner.b s_int32", "flat", 7), h.bytes "18 07 8a 01 06 12 04 66 6c 61 74")
  h.eq(pb.encode("every3.All", value, function(pointer, length)
    return pb.decode("every3.All", pointer, length).s_string
  end), value.s_string)
  h.eq(pb.default("every3.Inner", { a = 5 }).b, "")
  h.eq(pb.check("every3.All", "s_int32"), true)
  h.eq(pb.check("every3.NoSuch"), false)
  h.eq(pb.enum_id("every3.Color", "BLUE"), 2)
  h.eq(pb.enum_name("every3.Color", 2), "BLUE")
  h.eq(type(pb.lasterror()), "string")
  h.eq(#pb.types("enum"), 9)
  h.eq(pb.fields("every3.Inner")[1].name, "a")
  h.eq(pb.enum("every3.Alias")[3].name, "ENABLED")
  h.eq(pb.methods("login.Gate")[1].output, "login.LoginResponse")
  h.eq(pb.schema_options("every3.Alias"), { allow_alias = true })
  pb.comment("every3.Alias")
  h.eq(pb.from_json("every3.All", pb.to_json("every3.All", value)), value)
  h.eq(pb.from_text("every3.All", pb.to_text("every3.All", bytes)), value)
  h.eq(pb.from_json("every3.All", "[") == nil and pb.from_text("every3.All", "[") == nil, true)
  h.eq(pb.option("depth"), 100)
  h.eq(pb.register(h.set "every3"), true)
  h.eq(pb.register_file(h.descriptors .. "/every3.pb"), true)
  h.refuses("every3.All.s_int32", pb.decode("every3.All", h.bytes "18"))
  h.raises("every3.All.s_int32", pb.encode, "every3.All", { s_string = ("x"):rep(1000), s_int32 = "x" })
  h.raises("every3.All.s_int32", pb.unpack, "every3.All s_int32", h.bytes "18")
  local own = h.protobuf.new { enum = "number" }
  own.register(h.set "addressbook")
  h.eq(own.decode("tutorial.Person.PhoneNumber", h.bytes "0a 01 31 10 02"), { number = "1", type = 2 })
  own.clear()
  h.eq(own.check("tutorial.Person"), false)
end

h.test("the plain call works", everything)

-- Sets a parameter of the collector, and gives its previous value.
local function tune(parameter, to)
  local fine, previous = pcall(collectgarbage, "set" .. parameter, to)
  return fine and previous or collectgarbage("param", parameter, to)
end

-- Calls work at least so many times, and until finalizers ran that call everything, or what is to be called. Fails if
-- one of them failed.
local function under_finalizers(rounds, work, call)
  local runs, failure, busy, over = 0, nil, false, false
  local arm
  local function finalize()
    if not busy and not over then
      busy = true
      runs = runs + 1
      local fine, message = pcall(call or everything)
      if not fine then
        failure = failure or message
      end
      busy = false
    end
    if not over and runs < 200 then
      arm()
    end
  end
  function arm()
    h.finalized(finalize)
  end
  -- Where there is a generational mode it collects too seldom for this.
  local _, mode = pcall(collectgarbage, "incremental")
  local pause, multiplier = tune("pause", 120), tune("stepmul", 200)
  collectgarbage()
  for _ = 1, 20 do
    arm()
  end
  local fine, message = pcall(function()
    local i = 0
    while i < rounds or runs < 20 and i < rounds * 50 do
      i = i + 1
      work(i)
    end
  end)
  over = true
  tune("pause", pause)
  tune("stepmul", multiplier)
  if mode == "generational" then
    collectgarbage(mode)
  end
  collectgarbage()
  assert(fine, message)
  assert(not failure, failure)
  assert(runs >= 20, "too few finalizers ran")
end

h.test("from finalizers while decode builds", function()
  local many = { r_string = {}, r_inner = {}, v_string = {} }
  for i = 1, 300 do
    many.r_string[i] = "string number " .. i .. (" "):rep(i)
    many.r_inner[i] = { a = i, b = "inner " .. i }
    many.v_string["key " .. i] = "value " .. i
  end
  local wire = pb.encode("every3.All", many)
  under_finalizers(200, function()
    h.eq(pb.decode("every3.All", wire), many)
  end)
end)

h.test("from finalizers while encode makes strings", function()
  under_finalizers(3000, function(i)
    local text = ("number %d "):format(i):rep(10)
    h.eq(pb.encode("every3.All", { s_string = text, s_int32 = i }), "\24" .. h.varint(i) .. h.field(14, text))
    h.eq(pb.pack("every3.All s_int32 s_string", i, text), "\24" .. h.varint(i) .. h.field(14, text))
  end)
end)

h.test("from finalizers while encode turns numbers into strings", function()
  under_finalizers(2000, function(i)
    local number = i + 0.5
    h.eq(pb.encode("every3.All", { r_string = { number, number + 1 } }), h.field(54, tostring(number)) .. h.field(54, tostring(number + 1)))
  end)
end)

h.test("from finalizers while unpack makes strings", function()
  under_finalizers(3000, function(i)
    local text = ("text %d"):format(i):rep(20)
    local number, got, list = pb.unpack("every3.All s_int32 s_string r_string", "\24" .. h.varint(i) .. h.field(14, text) .. h.field(54, text))
    h.eq({ number, got, list }, { i, text, { text } })
  end)
end)

h.test("from finalizers while unpack fills arrays", function()
  local items, texts, lists = {}, {}, {}
  for i = 1, 50 do
    items[i] = { s_string = i % 3 > 0 and ("text %d"):format(i) or nil, selves = { { r_string = { "a" .. i, ("b"):rep(i) } }, {} } }
    texts[i], lists[i] = items[i].s_string or "", { { "a" .. i, ("b"):rep(i) }, {} }
  end
  local wire = pb.encode("every3.All", { selves = items })
  under_finalizers(300, function()
    h.eq({ pb.unpack("every3.All selves.s_string selves.selves.r_string", wire) }, { texts, lists })
  end)
end)

h.test("from finalizers while errors are made", function()
  under_finalizers(2000, function(i)
    h.raises(("every3.All.v_inner[\"key %d\"].a: "):format(i), pb.encode, "every3.All", { v_inner = { ["key " .. i] = { a = "x" } } })
    h.refuses("every3.All.s_inner.b: truncated", pb.decode("every3.All", h.bytes "8a 01 03 12 05 78"))
  end)
end)

h.test("from finalizers while a type is used the first time and forgotten", function()
  under_finalizers(150, function()
    reused.clear()
    reused.register(h.set "every3")
    h.eq(reused.encode("every3.All", { s_int32 = 5, s_string = "new" }), h.bytes "18 05 72 03 6e 65 77")
    h.eq(reused.unpack("every3.All s_int32", h.bytes "18 05"), 5)
  end)
end)

h.test("a finalizer that registers and sets options while others are registered", function()
  local own = h.protobuf.new()
  local made, kept, metatable, busy = 0, 0, nil, false
  local function file(name)
    return h.file(name .. ".proto", name, { h.message("M", { { "list", 1, 3, 5 } }) }, "proto3")
  end
  local function finalize()
    if not busy then
      busy = true
      own.register(file("f" .. made + 1))
      metatable = {}
      own.option("array_metatable", metatable)
      made = made + 1
      busy = false
    end
  end
  under_finalizers(100, function(i)
    if i % 10 == 0 then
      own.clear()
      kept = made
    end
    h.finalized(finalize)
    local name = "r" .. i
    own.register(file(name))
    h.eq(own.check(name .. ".M", "list"), true)
    for j = kept + 1, made do
      h.eq(own.check("f" .. j .. ".M", "list"), true)
    end
    local before = made
    local absent, decoded = own.decode(name .. ".M", "").list, own.decode(name .. ".M", "\8\1").list
    -- Nothing is allocated here, so no finalizer runs.
    local same = getmetatable(absent) == metatable and getmetatable(decoded) == metatable
    assert(same or before ~= made, "an option that a finalizer set is lost")
  end)
  assert(made > 20, "too few finalizers ran")
end)

h.test("a finalizer that clears the types in use", function()
  local own = h.instance()
  local wire = own.encode("every3.All", { r_string = { ("x"):rep(100), ("y"):rep(100) }, r_inner = { { b = ("z"):rep(100) } } })
  local want = own.decode("every3.All", wire)
  local over, cleared = false, 0
  local function clear()
    if not over then
      cleared = cleared + 1
      own.clear()
      own.register(h.set "every3")
      h.finalized(clear)
    end
  end
  h.finalized(clear)
  local rounds = 0
  while rounds < 2000 or cleared < 5 and rounds < 100000 do
    rounds = rounds + 1
    local got = own.decode("every3.All", wire)
    if got then
      h.eq(got, want)
    end
  end
  over = true
  assert(cleared >= 5, "too few finalizers ran")
end)

h.test("from coroutines", function()
  local threads = {}
  for i = 1, 20 do
    threads[i] = coroutine.wrap(function()
      for _ = 1, 3 do
        everything()
        coroutine.yield(true)
      end
      return false
    end)
  end
  for _ = 1, 3 do
    for i = 1, 20 do
      h.eq(threads[i](), true)
    end
  end
  for i = 1, 20 do
    h.eq(threads[i](), false)
  end
end)

h.test("tables and instances outlive the coroutine that made them", function()
  local all, own
  coroutine.wrap(function()
    own = h.instance()
    all = own.decode("every2.All", "")
  end)()
  collectgarbage()
  collectgarbage()
  h.eq(all.d_int32, -42)
  h.eq(all.o_inner.inner.b, "")
  h.encodes(own, "every2.All", all, "")
end)

h.test("deep inside coroutines", function()
  local function level(n)
    if n == 0 then
      everything()
      return "bottom"
    end
    return coroutine.wrap(level)(n - 1)
  end
  h.eq(level(50), "bottom")
end)

-- Work that runs Lua functions within encode; not compiled by LuaJIT, which runs no hooks in compiled code.
local function work_with_proxies()
  local total = 0
  for i = 1, 200 do
    local got = pb.encode("every3.All", {
      s_int32 = i,
      r_string = setmetatable({}, {
        __index = function(_, n)
          return n <= 3 and "element " .. n or nil
        end,
      }),
    })
    local all = pb.decode("every3.All", got)
    h.eq(all.r_string, { "element 1", "element 2", "element 3" })
    total = total + all.s_int32
  end
  return total
end
if h.jit then
  jit.off(work_with_proxies, true)
end

-- The events of a hook, how many instructions make one, and how many events there are to a call of everything.
for name, hook in pairs { count = { "", 997, 1 }, line = { "l", 0, 61 }, call = { "c", 0, 67 }, ["return"] = { "r", 0, 71 } } do
  h.test("from debug hooks: " .. name, function()
    local events, calls, busy, failure = 0, 0, false, nil
    debug.sethook(function()
      events = events + 1
      -- Compiled by LuaJIT, an error that pcall catches in a hook switches hooks on again.
      if events % hook[3] == 0 and not busy then
        calls, busy = calls + 1, true
        local fine, message = pcall(everything)
        failure, busy = failure or not fine and message, false
      end
    end, hook[1], hook[2])
    local fine, total = pcall(work_with_proxies)
    debug.sethook()
    assert(fine, total)
    h.eq(total, 20100)
    assert(not failure, failure)
    assert(calls > 10, "too few hooks ran")
  end)
end

h.test("an error in a hook comes through, and does no harm", function()
  for events = 1, 40 do
    local left = events
    local fine, message = pcall(function()
      debug.sethook(function()
        left = left - 1
        if left == 0 then
          error("out of time", 0)
        end
      end, "l")
      return work_with_proxies()
    end)
    debug.sethook()
    h.eq({ fine, message }, { false, "out of time" })
  end
  everything()
end)

h.test("from metamethods while encode reads through them", function()
  local calls = 0
  local function also(f)
    return function(...)
      calls = calls + 1
      everything()
      return f(...)
    end
  end
  local function pairs_of(t)
    return setmetatable({}, { __pairs = also(function()
      return also(next), t, nil
    end) })
  end
  h.encodes(pb, "every3.All", pairs_of {
    s_inner = pairs_of { a = 1 },
    k_int32 = pairs_of { [5] = 6 },
    r_int32 = setmetatable({}, { __index = also(function(_, i)
      return i * 10
    end), __len = also(function()
      return 2
    end) }),
  }, "8a 01 02 08 01 d8 02 0a d8 02 14 8a 05 04 08 05 10 06")
  h.eq(calls, 3 + 4 + 2 + 2 + 3)
end)

-- Calls f with so many calls beneath it.
local function far_down(levels, f)
  if levels == 0 then
    f()
    return
  end
  far_down(levels - 1, f)
  return levels
end

h.test("from metamethods, far down the stack", function()
  for _, levels in ipairs { 10, 200, 480, 520, 2000 } do
    -- One whose calls never interrupted each other before.
    local own = h.instance()
    local late = setmetatable({}, { __pairs = function()
      far_down(levels, function()
        h.eq(own.encode("every3.All", value), bytes)
      end)
      return next, { a = 5 }, nil
    end })
    h.encodes(own, "every3.All", { s_string = "s", r_inner = { late, { a = 1 } } }, "72 01 73 ca 03 02 08 05 ca 03 02 08 01")
  end
end)

h.test("from finalizers, far down the stack, while decode joins unknown fields", function()
  local own = h.instance()
  local unknown = h.field(9999, ("u"):rep(30000))
  local wire = unknown .. "\24\1" .. unknown .. "\24\2" .. unknown
  under_finalizers(200, function()
    h.eq(own.decode("every3.All", wire)["?unknown"], unknown:rep(3))
  end, function()
    far_down(600, function()
      h.eq(own.decode("every3.All", h.bytes "78 01 18 01 78 02")["?unknown"], "x\1x\2")
    end)
  end)
end)

h.test("from the function that encode calls, before and after it yields", function()
  local co = coroutine.wrap(function()
    return pb.encode("every3.All", value, function(pointer, length)
      for i = 1, 3 do
        everything()
        h.eq(pb.decode("every3.All", pointer, length), value)
        coroutine.yield(i)
      end
      return "done"
    end)
  end)
  h.eq({ co(), co(), co(), co() }, { 1, 2, 3, "done" })
end)

h.test("types that are cleared in the middle of a call stay until it ends", function()
  local own = h.instance()
  local function renew()
    own.clear()
    own.register(h.set "every3")
    own.encode("every3.All", { s_string = "else" })
    collectgarbage()
  end
  local shown = setmetatable({}, { __pairs = function()
    renew()
    return function(_, key)
      renew()
      return next({ b = "x" }, key)
    end
  end })
  h.encodes(own, "every3.All", { s_inner = shown, r_inner = { shown }, v_inner = { a = shown } },
    "8a 01 03 12 01 78 ca 03 03 12 01 78 aa 07 08 0a 01 61 12 03 12 01 78")
  local got = own.encode("every3.All", { s_int32 = 5 }, function(pointer, length)
    renew()
    return own.decode("every3.All", pointer, length)
  end)
  h.eq(got, { s_int32 = 5 })
  h.eq(h.hex(own.pack("every3.All r_int32 s_int32", setmetatable({}, { __len = function()
    renew()
    return 1
  end, __index = { 7 } }), 5)), "1805d80207")
end)

h.test("errors leave nothing behind, however often", function()
  for i = 1, 20000 do
    pcall(pb.encode, "every3.All", { s_int32 = "x", s_string = "y" })
    pb.decode("every3.All", "\24")
    pcall(pb.unpack, "every3.All s_int32", "\24")
    if i % 1000 == 0 then
      everything()
    end
  end
end)

h.test("yielding inside a metamethod is refused or works, and does no harm", function()
  for _, value_that_yields in ipairs {
    setmetatable({}, { __pairs = function() coroutine.yield() return next, {}, nil end }),
    { r_int32 = setmetatable({}, { __index = function() coroutine.yield() end }) },
    { r_int32 = setmetatable({}, { __len = function() coroutine.yield() return 0 end }) },
  } do
    local co = coroutine.create(pb.encode)
    local fine, message = coroutine.resume(co, "every3.All", value_that_yields)
    if fine then
      coroutine.resume(co)
    else
      h.eq(type(message), "string")
    end
    everything()
  end
end)
