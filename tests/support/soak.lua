-- Part of the life of a Lua state in tests/soak.rs: all functions of the library in random order, with what is right,
-- which must come out right, and with what is wrong in every way, which must be refused.

local protobuf, folder, seed, rounds, expected = ...
local records = dofile(folder .. "/lua/bench/records.lua")
local unpack = table.unpack or unpack

records[#records + 1] = {
  name = "All",
  file = "every3.pb",
  type = "every3.All",
  build = function()
    return {
      s_int64 = -5, s_uint64 = 2 ^ 53, s_double = 0.5, s_bytes = "\0\255", s_string = "\195\164", s_color = "GREEN",
      s_inner = { a = 1, list = { 1, 2, 3 }, inner = { inner = { b = "deep" } } },
      r_int32 = { 1, -1, 1000000 }, r_string = { "", "a" }, r_inner = { {}, { a = 1 } }, p_int32 = { 1, 2 },
      k_string = { key = 7 }, v_inner = { key = { a = 1 } }, c_string = "one",
    }
  end,
}

-- Random numbers, the same for the same seed (minstd).
local function below(n)
  seed = seed * 16807 % 2147483647
  return seed % n
end

local function pick(list)
  return list[below(#list) + 1]
end

local function mutated(bytes)
  for _ = 0, below(3) do
    local at = below(#bytes + 1)
    bytes = bytes:sub(1, at) .. string.char(below(256)) .. bytes:sub(at + 1 + below(3))
  end
  return bytes
end

local function truncated(bytes)
  return bytes:sub(1, below(#bytes))
end

local passed, refused = 0, 0

local function same(got, want, what)
  if got ~= want then
    error(("%s: %q should be %q"):format(what, tostring(got), tostring(want)), 2)
  end
  passed = passed + 1
end

-- The arguments are what pcall of something wrong gives, or of something that may be right.
local function raises(fine, message)
  assert(not fine and type(message) == "string", message)
  refused = refused + 1
end

local function may_raise(fine, message, ...)
  if fine then
    passed = passed + 1
    return message, ...
  end
  raises(fine, message)
end

-- The arguments are what a function gives that reads what comes from elsewhere: what `nothing` is when it refuses.
local function may_refuse(nothing, value, message)
  if value ~= nothing then
    passed = passed + 1
    return value
  end
  assert(type(message) == "string", message)
  refused = refused + 1
end

for _, record in ipairs(records) do
  protobuf.register_file(folder .. "/descriptors/" .. record.file)
  record.set = io.open(folder .. "/descriptors/" .. record.file, "rb")
  local set = record.set
  record.set = set:read "*a"
  set:close()
end
-- What no instance registered before in this process, and none will again.
local source = ([[
  syntax = "proto3";
  package soak;
  // A comment.
  message Made%d { int32 a = 1; repeated Made%d list = 2; map<string, int64> map = 3; }
]]):format(seed, seed)

if not expected then
  expected = {}
  for i, record in ipairs(records) do
    expected[i] = protobuf.encode(record.type, record.build())
  end
end

local instances = { protobuf }
local held

local function each()
  local i = below(#records) + 1
  return pick(instances), records[i].type, expected[i], records[i]
end

-- A table that shows another one through its metamethods, or raises.
local function proxy(t, failure)
  return setmetatable({}, {
    __pairs = function()
      if failure then
        error(failure)
      end
      return next, t, nil
    end,
  })
end

local wrong = {
  { no_such_field = 1 }, { [1] = 1 }, { [{}] = 1 }, { s_int32 = "x" }, { s_int32 = 2 ^ 40 }, { s_int32 = 0.5 },
  { s_string = "\255" }, { s_string = {} }, { s_bool = 1 }, { s_color = "NONE" }, { s_inner = 1 }, { s_inner = { a = {} } },
  { r_int32 = 1 }, { r_int32 = { 1, "x" } }, { r_int32 = { [3] = 1 } }, { r_inner = { {}, { b = false } } },
  { k_string = { [{}] = 1 } }, { k_string = { a = "x" } }, { v_inner = { a = { a = {} } } },
  { c_string = "a", c_int32 = 1 }, { s_uint32 = -1 }, { s_bytes = function() end }, { s_double = print },
}
local patterns = {
  "", " ", "every3.All none", "nothing a", "every3.All s_int32 s_int32", "every3.All s_inner.none",
  "every3.All s_inner s_inner.a", "every3.All k_string.a", "every3.All [", "every3.All \255",
}
local options = {
  { unknown = "drop" }, { defaults = "none", enum = "number", int64 = "string" },
  { sort_map = true, utf8 = "ignore", unknown_key = "ignore" }, { array_metatable = {}, map_metatable = {} },
}

local calls = {
  function()
    local pb, name, bytes, record = each()
    same(pb.encode(name, record.build()), bytes, name)
    same(pb.encode(name, proxy(record.build())), bytes, name)
  end,
  function()
    local pb, name, bytes = each()
    local message = assert(pb.decode(name, bytes))
    for _, field in ipairs(pb.fields(name)) do
      pb.has(message, field.name)
      local _ = message[field.name]
    end
    same(pb.encode(name, message), bytes, name)
    same(pb.encode(name, pb.extract(message)), bytes, name)
    if pb == protobuf then
      same(pb.encode(name, pb.default(name, assert(pb.decode(name, bytes)))), bytes, name)
    end
    held = message
  end,
  function()
    local pb, name, bytes = each()
    same(pb.encode(name, assert(pb.decode(name, bytes)), function(pointer, length, word)
      same(word, "word", name)
      return pb.encode(name, assert(pb.decode(name, pointer, length)))
    end, "word"), bytes, name)
    local thread = coroutine.create(pb.encode)
    local _, length = coroutine.resume(thread, name, assert(pb.decode(name, bytes)), function(_, length)
      return coroutine.yield(length)
    end)
    same(length, #bytes, name)
    -- Some are never resumed.
    if below(2) == 0 then
      same(select(2, coroutine.resume(thread, bytes)), bytes, name)
    end
  end,
  function()
    local pb = pick(instances)
    local pattern = "every3.All s_int32 r_int32 s_string s_inner.a s_inner.inner.b k_string"
    local n = below(100000) + 1
    local packed = pb.pack(pattern, n, { n, -n }, "abc", n, "x", { key = n })
    local a, list, s, inner, b, map = pb.unpack(pattern, packed)
    same(a == n and list[2] == -n and s == "abc" and inner == n and b == "x" and #packed > 20, true, pattern)
    for _, v in pairs(map) do
      same(type(v), "number", pattern)
    end
    may_raise(pcall(pb.unpack, pattern, truncated(packed)))
    may_raise(pcall(pb.unpack, pattern, mutated(packed)))
    raises(pcall(pb.unpack, pick(patterns), packed))
    raises(pcall(pb.pack, pick(patterns), 1, 2, 3))
    raises(pcall(pb.pack, pattern, {}, 1, 2))
    raises(pcall(pb.pack, pattern, 1, nil, nil, nil, nil, nil, 7))
    -- One that is compiled anew.
    same(pb.unpack("every3.All s_int32" .. (" "):rep(below(5000)), packed), n, pattern)
  end,
  function()
    local pb, name, bytes = each()
    for _, format in ipairs { "json", "text" } do
      local to, from = pb["to_" .. format], pb["from_" .. format]
      local text = to(name, bytes)
      same(pb.encode(name, assert(from(name, text))), bytes, text)
      local pretty = to(name, assert(pb.decode(name, bytes)), { indent = true })
      same(pb.encode(name, assert(from(name, pretty))), bytes, pretty)
      may_refuse(nil, from(name, truncated(text)))
      may_refuse(nil, from(name, mutated(text)))
      may_refuse(nil, from(name, ("["):rep(below(500))))
      may_raise(pcall(to, name, mutated(bytes)))
      raises(pcall(to, name, bytes, { nothing = 1 }))
    end
  end,
  function()
    local pb, name, bytes = each()
    for _, broken in ipairs { truncated(bytes), mutated(bytes), mutated(truncated(bytes)), bytes .. "\255" } do
      local message = may_refuse(false, pb.decode(name, broken))
      if message then
        may_raise(pcall(pb.encode, name, message))
      end
    end
    may_refuse(false, pb.decode("nothing." .. name, bytes))
    -- Groups without end, a level for each byte.
    may_refuse(false, pb.decode(name, ("\131\125"):rep(below(3000) + 1)))
    same(type(pb.lasterror()), "string", "lasterror")
  end,
  function()
    local pb = pick(instances)
    may_raise(pcall(pb.encode, "every3.All", pick(wrong)))
    raises(pcall(protobuf.encode, "every3.All", pick(wrong)))
    raises(pcall(pb.encode, "every3.All", 1))
    raises(pcall(pb.encode, "nothing", {}))
    raises(pcall(pb.decode))
    raises(pcall(pb.decode, "every3.All", "", 5))
    raises(pcall(pb.option, "depth", below(2) * 5000))
    local loop = {}
    loop.inner = loop
    raises(pcall(pb.encode, "every3.Inner", loop))
    raises(pcall(pb.to_json, "every3.Inner", loop))
    local depth = below(90)
    local bytes = ""
    for _ = 1, depth do
      bytes = pb.pack("every3.Inner inner", bytes)
    end
    same(pb.encode("every3.Inner", assert(pb.decode("every3.Inner", bytes))), bytes, "every3.Inner")
  end,
  function()
    -- Errors that are no strings come through as they are, from wherever they are raised.
    local pb, name, bytes, record = each()
    local failure = {}
    local function fail()
      error(failure)
    end
    same(select(2, pcall(pb.encode, name, record.build(), fail)), failure, name)
    same(select(2, pcall(pb.encode, name, proxy(record.build(), failure))), failure, name)
    same(select(2, pcall(pb.encode, "every3.All", { s_inner = { list = setmetatable({}, { __index = fail }) } })), failure, name)
    same(select(2, pcall(pb.encode, "every3.All", { r_inner = { {}, proxy({}, failure) } })), failure, name)
    same(select(2, pcall(pb.to_json, name, proxy({}, failure))), failure, name)
    same(pb.encode(name, record.build()), bytes, name)
  end,
  function()
    local large = protobuf.new { max_bytes = 10000 + below(50000), depth = below(20) + 1 }
    large.register(pick(records).set)
    for i, record in ipairs(records) do
      may_refuse(false, large.decode(record.type, expected[i]))
      may_refuse(nil, large.from_json(record.type, ('{"a":'):rep(below(100))))
      may_raise(pcall(large.to_text, record.type, expected[i]))
    end
  end,
  function()
    -- An instance, for some calls.
    local pb = protobuf.new(pick(options))
    for _, record in ipairs(records) do
      pb.register(record.set)
    end
    instances[below(3) + 2] = pb
    if not instances[2] or not instances[3] then
      instances = { protobuf, pb }
    end
    -- Defaults in tables count as set, so what is encoded then is more.
    pb.option("defaults", "copy")
    local _, name, bytes = each()
    same(#pb.encode(name, assert(pb.decode(name, bytes))) >= #bytes, true, name)
    pb.option("defaults", "none")
  end,
  function()
    local pb = protobuf.new()
    local set = pick(records).set
    for _ = 1, 5 do
      may_raise(pcall(pb.register, truncated(set)))
      may_raise(pcall(pb.register, mutated(set)))
      for _, name in ipairs(pb.types "message") do
        may_refuse(false, pb.decode(name, "\8\1"))
      end
    end
    pb.clear()
    raises(pcall(pb.register, ""))
    raises(pcall(pb.register_file, folder .. "/nothing.pb"))
    same(#pb.types(), 0, "types")
  end,
  function()
    local pb = protobuf.new()
    local fine, message = pcall(pb.register_source, source, "made.proto")
    if not fine then
      assert(message:find "cargo feature", message)
      return
    end
    local name = pb.types("message")[1]
    same(pb.encode(name, { a = 5, list = { {} } }), "\8\5\18\0", name)
    same(pb.comment(name), "A comment.", name)
    local broken = mutated(source)
    if may_raise(pcall(pb.register_source, broken, "made.proto")) then
      for _, other in ipairs(pb.types "message") do
        may_refuse(false, pb.decode(other, "\8\5"))
      end
    end
    raises(pcall(pb.register_source, ("message A {"):rep(below(100)) .. "x"))
    raises(pcall(pb.register_proto, "nothing.proto", folder))
  end,
  function()
    local pb, name = each()
    for _, field in ipairs(pb.fields(name)) do
      same(pb.check(name, field.name), true, name)
      same(type(pb.schema_options(name, field.name)), "table", name)
      pb.comment(name, field.name)
    end
    for _, enum in ipairs(pb.types "enum") do
      local value = pick(pb.enum(enum))
      same(pb.enum_id(enum, value.name), value.number, enum)
      same(type(pb.enum_name(enum, value.number)), "string", enum)
    end
    for _, service in ipairs(pb.services()) do
      pb.methods(service)
    end
    raises(pcall(pb.fields, "nothing"))
    raises(pcall(pb.methods, name))
    same(pb.check("nothing"), false, "check")
  end,
}

for _ = 1, rounds do
  pick(calls)()
end

-- Something for the end of the state: messages and threads that nobody lets go of, and a finalizer that calls the library.
local function last()
  pcall(protobuf.decode, "every3.All", expected[#expected])
  pcall(protobuf.encode, "every3.All", { s_int32 = 1 })
end
if newproxy then
  left = newproxy(true)
  getmetatable(left).__gc = last
else
  left = setmetatable({}, { __gc = last })
end
kept = { held, unpack(instances) }
return passed, refused, expected
