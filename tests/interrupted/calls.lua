-- The calls that are interrupted. Each case prepares a function that makes the call, one that fails unless its results
-- are what they must be, and perhaps a third, which fails unless a call that raised has changed nothing.

local h = dofile "tests/lua/harness.lua"
local cases = {}

local function case(name, prepare)
  cases[#cases + 1] = { name = name, kind = "steady", prepare = prepare }
end
-- Lua 5.1 collects once more when a call from C has returned, where a finalizer may raise though all is done. Not so if
-- the collector stands.
local function done(...)
  collectgarbage "stop"
  return ...
end
-- A call that does something once, and gives something else when it is made again.
local function once(name, prepare)
  cases[#cases + 1] = { name = name, kind = "once", prepare = function()
    local call, check, unchanged = prepare()
    if _VERSION == "Lua 5.1" and not jit then
      return function() return done(call()) end, check, unchanged
    end
    return call, check, unchanged
  end }
end
-- A call that makes Lua closures.
local function closures(name, prepare)
  cases[#cases + 1] = { name = name, kind = "closures", prepare = prepare }
end

-- Whether that is why a call failed.
local function interrupted(message)
  return message:find "not enough memory" or message:find "interrupted"
end

-- An instance that knows these descriptors.
local function knowing(names, options)
  local pb = h.protobuf.new(options)
  for name in names:gmatch "%w+" do
    pb.register(h.set(name))
  end
  return pb
end

local function gives(...)
  local want = { ... }
  return function(...)
    h.eq({ ... }, want)
  end
end

local wide = "9007199254740993"
local value = {
  s_int32 = 5, s_int64 = h.int64(wide), s_uint64 = h.uint64 "18446744073709551615", s_double = 1.5, s_bool = true,
  s_string = ("long enough not to be interned "):rep(3), s_bytes = "\0\1\2", s_color = "BLUE",
  s_inner = { a = 1, b = "inner", inner = { list = { 1, 2, 3 } } },
  r_int32 = { 1, 2, 3 }, p_int64 = { 1, h.int64("-" .. wide) }, r_string = { "a", "b", ("c"):rep(50) },
  r_inner = { { a = 1 }, {}, { b = "x" } }, r_color = { "RED", "GREEN" },
  k_int32 = { [5] = 6 }, k_string = { one = 1, two = 2, three = 3 }, v_string = { key = "value" },
  v_inner = { k = { a = 7 } }, n_inner = { [3] = { b = "three" } }, v_all = { deep = { s_string = "deep" } },
  c_string = "chosen", x_empty = {}, self = { selves = { { s_int32 = 1 }, { s_int32 = 2 } } },
  a_field_whose_name_is_longer_than_forty_characters = 1, at = { seconds = 1 },
}
local all = knowing "every3"
local sorted = knowing("every3", { sort_map = true })
local bytes = sorted.encode("every3.All", value)
-- Unknown fields apart from each other, in the message and within.
local unknown = h.bytes "c2 3e 01 78" .. bytes .. h.bytes "8a 01 0a fa 3e 01 79 08 01 c2 3e 01 7a c2 3e 01 79"
local with_unknown = all.decode("every3.All", unknown)

case("encode", function()
  local pb = knowing("every3", { sort_map = true })
  return function() return pb.encode("every3.All", value) end, gives(bytes)
end)

case("encode what decode gave", function()
  local pb = knowing("every3", { sort_map = true })
  local decoded = pb.decode("every3.All", unknown)
  local want = sorted.encode("every3.All", with_unknown)
  return function() return pb.encode("every3.All", decoded) end, gives(want)
end)

case("encode numbers as strings and lists of entries", function()
  local pb = knowing "every3"
  local table = { s_string = 1.5, r_string = { 2.5, 3.5 }, k_string = { { key = "a", value = 1 } } }
  local want = all.encode("every3.All", { s_string = "1.5", r_string = { "2.5", "3.5" }, k_string = { a = 1 } })
  return function() return pb.encode("every3.All", { s_string = 1.5, r_string = { 2.5, 3.5 }, k_string = table.k_string }) end, gives(want)
end)

-- A file with one message, of a field for each number, whose names begin alike.
local function file(name, numbers, import, names)
  local fields = {}
  for i, number in ipairs(numbers) do
    fields[i] = { (names or "f") .. number, number, 1, 5 }
  end
  local bytes = h.file(name, name:match "%w+", { h.message("M", fields) }, "proto3")
  return h.field(1, bytes .. (import and h.field(3, import) or ""))
end

local used = 0
case("encode and decode a type whose names are new", function()
  local pb = h.protobuf.new()
  used = used + 1
  local names = "never_used_before_" .. used .. "_"
  pb.register(file("new.proto", { 1, 2, 3, 4, 5, 6, 7, 8 }, nil, names))
  local number = names .. 5
  return function() return pb.decode("new.M", pb.encode("new.M", { [number] = 1 })) end, gives { [number] = 1 }
end)

local function shown(t)
  return setmetatable({}, { __pairs = function() return next, t, nil end })
end

case("encode through metamethods", function()
  local pb = knowing "every3"
  local list = setmetatable({}, { __index = function(_, i) return "element " .. i end, __len = function() return 3 end })
  local proxy = shown { s_inner = shown { a = 1 }, k_string = shown { a = 1 }, r_string = list }
  local want = all.encode("every3.All", {
    s_inner = { a = 1 }, k_string = { a = 1 }, r_string = { "element 1", "element 2", "element 3" },
  })
  return function() return pb.encode("every3.All", proxy) end, gives(want)
end)

case("encode with a function", function()
  local pb = knowing "every3"
  return function()
    return pb.encode("every3.All", value, function(pointer, length, more)
      return pb.decode("every3.All", pointer, length), more
    end, "more")
  end, gives(value, "more")
end)

case("encode in a coroutine", function()
  local pb = knowing("every3", { sort_map = true })
  return function() return coroutine.wrap(pb.encode)("every3.All", value) end, gives(bytes)
end)

case("encode what is wrong", function()
  local pb = knowing "every3"
  return function() return pcall(pb.encode, "every3.All", { v_inner = { key = { a = "x" } } }) end, function(fine, message)
    h.eq(fine, false)
    assert(message:find('every3.All.v_inner["key"].a: expected int32', 1, true) or interrupted(message), message)
  end
end)

case("decode", function()
  local pb = knowing "every3"
  return function() return pb.decode("every3.All", unknown) end, gives(with_unknown)
end)

local few = h.bytes "08 05 12 01 78 c2 3e 01 78 22 04 01 02 03 04 1a 00"
local function decoding(options)
  local expected = knowing("every3", options).decode("every3.Inner", few)
  return function()
    local pb = knowing("every3", options)
    return function() return pb.decode("every3.Inner", few) end, gives(expected)
  end
end

case("decode with defaults copied", decoding { defaults = "copy" })
case("decode with numbers otherwise", decoding { defaults = "none", enum = "number", int64 = "string", unknown = "drop" })
case("decode with metatables", decoding { array_metatable = {}, map_metatable = {} })

case("decode groups and extensions", function()
  local pb = knowing "extensions"
  local table = {
    id = 1, ["[ext.text]"] = "text", ["ext.inner"] = { b = "x" }, ["ext.grouped"] = { a = 1 }, ["ext.inners"] = { {}, { a = 1 } },
    ["ext.colors"] = { "RED" }, ["ext.Scope.scoped"] = { x = 1 },
  }
  local wire = pb.encode("ext.Base", table)
  pb.clear()
  pb.register(h.set "extensions")
  return function() return pb.decode("ext.Base", wire) end, function(got)
    h.eq(pb.encode("ext.Base", got), wire)
    h.eq({ got["ext.text"], got["[ext.number]"], got["ext.color"] }, { "text", 7, "GREEN" })
  end
end)

case("decode what is wrong", function()
  local pb = knowing "every3"
  return function() return pb.decode("every3.All", h.bytes "8a 01 03 12 05 78") end, function(fine, message)
    h.eq(fine, false)
    assert(message:find("every3.All.s_inner.b: truncated", 1, true), message)
    h.eq(pb.lasterror(), message)
  end
end)

case("absent fields", function()
  local pb = knowing "every2"
  local wire = h.bytes ""
  return function()
    local t = pb.decode("every2.All", wire)
    return t.d_int32, t.o_inner.inner.b, #t.r_inner, pb.has(t, "o_inner"), next(pb.extract(t))
  end, gives(-42, "", 0, false, nil)
end)

case("default", function()
  local pb = knowing "addressbook"
  return function()
    local t = pb.default("tutorial.Person", { phone = { { number = "1" }, {} } })
    return t.name, t.phone[1].type, t.phone[2].number
  end, gives("", "HOME", "")
end)

case("default copied", function()
  local pb = knowing("addressbook", { defaults = "copy" })
  return function() return pb.default("tutorial.Person", { phone = { { number = "1" } } }) end,
    gives { email = "", phone = { { number = "1", type = "HOME" } } }
end)

local pattern = "every3.All s_int32 s_int64 s_string r_int32 r_string k_string s_inner r_inner o_string s_color"
case("pack", function()
  local pb = knowing "every3"
  local want = all.encode("every3.All", { s_int32 = 7, s_int64 = h.int64(wide), s_string = "text", r_int32 = { 1, 2 }, r_string = { "a" },
    k_string = { a = 1 }, s_inner = { a = 1 }, r_inner = { { a = 1 } }, s_color = "BLUE" })
  local list, texts, map, messages, number = { 1, 2 }, { "a" }, { a = 1 }, { "\8\1" }, h.int64(wide)
  return function() return pb.pack(pattern, 7, number, "text", list, texts, map, "\8\1", messages, nil, "BLUE") end, gives(want)
end)

case("pack with dotted names", function()
  local pb = knowing "every3"
  local want = all.encode("every3.All", { s_int32 = 7, s_inner = { b = "flat", inner = { list = { 1 } } } })
  return function() return pb.pack("every3.All s_inner.b s_int32 s_inner.inner.list", "flat", 7, { 1 }) end, gives(want)
end)

case("unpack", function()
  local pb = knowing "every3"
  local inner = all.encode("every3.Inner", value.s_inner)
  return function() return pb.unpack(pattern, bytes) end,
    gives(5, value.s_int64, value.s_string, value.r_int32, value.r_string, value.k_string, { inner, #inner },
      { { "\8\1", 2 }, { "", 0 }, { "\18\1x", 3 } }, "", 2)
end)

case("unpack with dotted names", function()
  local pb = knowing "every3"
  return function() return pb.unpack("every3.All s_inner.inner.list r_inner.b self.selves.s_int32 s_int32 s_inner.b", bytes) end,
    gives({ 1, 2, 3 }, { "", "", "x" }, { 1, 2 }, 5, "inner")
end)

case("a pattern that is wrong", function()
  local pb = knowing "every3"
  return function() return pcall(pb.unpack, "every3.All s_int33", "") end, function(fine, message)
    h.eq(fine, false)
    assert(message:find("unknown field", 1, true) or interrupted(message), message)
  end
end)

local others = { json = { indent = true, defaults = true }, text = { indent = false, unknown = true } }
for _, format in ipairs { "json", "text" } do
  local other = others[format]
  local to, from = "to_" .. format, "from_" .. format
  local written, plain = sorted[to]("every3.All", unknown, other), sorted[to]("every3.All", bytes)
  case(to .. " of a table", function()
    local pb = knowing("every3", { sort_map = true })
    return function() return pb[to]("every3.All", with_unknown, other) end, gives(written)
  end)
  case(to .. " of bytes", function()
    local pb = knowing("every3", { sort_map = true })
    return function() return pb[to]("every3.All", unknown, other) end, gives(written)
  end)
  case(from, function()
    local pb = knowing "every3"
    return function() return pb[from]("every3.All", plain) end, gives(value)
  end)
  case(from .. " of what is wrong", function()
    local pb = knowing "every3"
    return function() return pb[from]("every3.All", plain .. "{") end, function(fine, message)
      h.eq(fine, nil)
      assert(message:find("at line", 1, true), message)
      h.eq(pb.lasterror(), message)
    end
  end)
end

-- Registers what has to do with nothing else.
local function register_another(pb)
  h.eq({ pb.register(file("another.proto", { 1 })) }, { true })
  h.eq(pb.decode("another.M", "\8\1"), { f1 = 1 })
end

once("register", function()
  local pb = h.protobuf.new()
  local set = h.set "extensions" .. h.set "addressbook"
  return function() return pb.register(set) end, function(...)
    h.eq({ n = select("#", ...), ... }, { n = 4, true })
    h.eq(pb.check("ext.Base", "ext.text") and pb.check "tutorial.Person", true)
    h.eq(pb.unpack("ext.Base [ext.text]", h.bytes "a2 06 01 78"), "x")
  end, function()
    for _ = 1, 2 do
      h.eq({ pb.check "ext.Base", pb.check "tutorial.Person" }, { false, false })
      register_another(pb)
    end
  end
end)

once("register other content while tables are in use", function()
  local pb = h.protobuf.new()
  pb.register(file("one.proto", { 1 }) .. file("two.proto", { 1 }, "one.proto"))
  local old = pb.decode("one.M", "\8\1")
  local new = file("one.proto", { 1, 2 })
  return function() return pb.register(new) end, function(...)
    h.eq({ ... }, { true, nil, { "one.proto" } })
    h.eq(pb.decode("one.M", "\8\1\16\2"), { f1 = 1, f2 = 2 })
    h.eq(pb.encode("one.M", old), "\8\1")
    h.eq({ pb.register(new) }, { true })
  end, function()
    for _ = 1, 2 do
      h.eq(pb.encode("one.M", old), "\8\1")
      h.eq({ pb.check("one.M", "f1"), pb.check("one.M", "f2") }, { true, false })
      register_another(pb)
    end
  end
end)

once("register what waits, and what ends the waiting", function()
  local pb = h.protobuf.new()
  local waits, last = file("two.proto", { 1 }, "one.proto") .. file("four.proto", { 1 }, "three.proto"), file("one.proto", { 1 })
  return function()
    pb.register(waits)
    return pb.register(last)
  end, function(...)
    h.eq({ ... }, { true, { "three.proto" } })
    h.eq({ pb.check "two.M", pb.check "four.M" }, { true, false })
  end
end)

once("register what is no set", function()
  local pb = h.protobuf.new()
  return function() return pcall(pb.register, "\255") end, function(fine, message)
    h.eq(fine, false)
    assert(interrupted(message) or message:find "not a descriptor set", message)
  end
end)

once("register_file", function()
  local pb = h.protobuf.new()
  return function() return pb.register_file "descriptors/addressbook.pb" end, function(done)
    h.eq({ done, pb.check "tutorial.Person" }, { true, true })
  end
end)

if h.compiles then
  once("register_proto", function()
    local pb = h.protobuf.new()
    return function() return pb.register_proto({ "login.proto", "addressbook.proto" }, { "descriptors" }) end, function(done)
      h.eq({ done, pb.check "tutorial.Person" }, { true, true })
    end
  end)

  once("register_source", function()
    local pb = h.protobuf.new()
    pb.register_source('syntax = "proto3"; message M { int32 a = 1; }', "m.proto")
    return function() return pb.register_source('syntax = "proto3"; message M { int32 b = 2; }', "m.proto") end, function(...)
      h.eq({ ... }, { true, nil, { "m.proto" } })
      h.eq(pb.decode("M", "\16\1"), { b = 1 })
    end, function()
      for _ = 1, 2 do
        h.eq(pb.decode("M", "\8\1"), { a = 1 })
        register_another(pb)
      end
    end
  end)

  once("register_source of what is wrong", function()
    local pb = h.protobuf.new()
    return function() return pcall(pb.register_source, "message {", "m.proto") end, function(fine, message)
      h.eq(fine, false)
      assert(message:find("m.proto:1", 1, true) or interrupted(message), message)
    end
  end)
end

once("clear", function()
  local pb = knowing "addressbook"
  local function knows()
    h.eq(pb.decode("tutorial.Person.PhoneNumber", "\10\1a").number, "a")
  end
  return function() return pb.clear() end, function(...)
    h.eq(select("#", ...), 0)
    h.eq({ pb.check "tutorial.Person", pb.check "another.M" }, { false, false })
    pb.register(h.set "addressbook")
    knows()
  end, function()
    for _ = 1, 2 do
      knows()
      register_another(pb)
    end
  end
end)

closures("new", function()
  local options = { enum = "number", depth = 7, array_metatable = {} }
  return function() return h.protobuf.new(options) end, function(pb)
    h.eq({ pb.option "enum", pb.option "depth", pb.option "array_metatable" }, { "number", 7, options.array_metatable })
    pb.register(h.set "every3")
    h.eq(pb.decode("every3.All", unknown).s_int64, value.s_int64)
    h.eq(pb.encode("every3.All", { s_int64 = value.s_int64 }), h.bytes "20 81 80 80 80 80 80 80 10")
  end
end)

closures("require", function()
  package.loaded.protobuf = nil
  return function()
    package.loaded.protobuf = nil
    return require "protobuf"
  end, function(pb)
    pb.register(h.set "every3")
    h.eq(pb.decode("every3.All", unknown).s_int64, value.s_int64)
    h.eq(pb.encode("every3.All", { s_int32 = 5 }, function(_, length) return length end), 2)
  end
end)

case("option", function()
  local pb = h.protobuf.new()
  local list, map = {}, {}
  pb.option("array_metatable", list)
  return function() return pb.option("array_metatable", list), pb.option("map_metatable", map), pb.option("depth", 7) and pb.option("enum", "number") end,
    function(before)
      h.eq(before, list)
      h.eq({ pb.option "map_metatable", pb.option "depth", pb.option "enum" }, { map, 7, "number" })
    end
end)

case("reflection", function()
  local pb, name = knowing "reflection", "reflection.Thing"
  local function all()
    return pb.types "enum", pb.services(), pb.fields(name), pb.comment(name), pb.schema_options(name), pb.methods(pb.services()[1])
  end
  return all, gives(all())
end)

case("questions", function()
  local pb = knowing "every3"
  return function()
    return pb.check("every3.All", "s_int33"), pb.lasterror(), pb.enum_id("every3.Color", "BLUE"), pb.enum_name("every3.Color", 2), pb.enum "every3.Alias"
  end, gives(false, 'every3.All: unknown field "s_int33" (did you mean "s_int32"?)', 2, "BLUE", all.enum "every3.Alias")
end)

return cases
