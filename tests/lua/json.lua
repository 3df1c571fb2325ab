-- to_json and from_json: the mapping itself is tested in Rust and by Google's suite; here what Lua sees of it.

local h = ...
local pb = h.instance()
local raises = h.raises
local ALL = "every3.All"

local function refuses(text, ...)
  h.declines(pb, text, ...)
end

local function both(name, value, text)
  h.written(pb, "json", name, value, text)
end

h.test("tables and bytes become the same JSON, and that the table", function()
  both(ALL, {}, "{}")
  both(ALL, { s_int32 = -5, s_string = "é\"\n", s_bytes = "\0\255", s_bool = true, s_color = "BLUE" },
    '{"sInt32":-5,"sBool":true,"sString":"é\\"\\n","sBytes":"AP8=","sColor":"BLUE"}')
  both(ALL, { r_int32 = { 1, 2 }, r_inner = { { a = 1 }, {} } }, '{"rInt32":[1,2],"rInner":[{"a":1},{}]}')
  both(ALL, { k_int32 = { [5] = 6 }, v_inner = { x = { b = "y" } } }, '{"kInt32":{"5":6},"vInner":{"x":{"b":"y"}}}')
  both(ALL, { s_double = 0.1, s_float = 0.5, o_double = h.inf }, '{"sDouble":0.1,"sFloat":0.5,"oDouble":"Infinity"}')
  both(ALL, { o_int32 = 0, c_string = "" }, '{"oInt32":0,"cString":""}')
end)

h.test("64-bit numbers are exact strings", function()
  for _, digits in ipairs { "9007199254740993", "9223372036854775807", "-9223372036854775808" } do
    both(ALL, { s_int64 = h.int64(digits) }, '{"sInt64":"' .. digits .. '"}')
    h.eq(pb.from_json(ALL, '{"sInt64":' .. digits .. "}"), { s_int64 = h.int64(digits) })
  end
  both(ALL, { s_uint64 = h.uint64 "18446744073709551615" }, '{"sUint64":"18446744073709551615"}')
  both(ALL, { v_int64 = { a = h.int64 "9007199254740993" } }, '{"vInt64":{"a":"9007199254740993"}}')
  local text = h.instance { int64 = "string" }
  h.eq(text.from_json(ALL, '{"sInt64":12}'), { s_int64 = "12" })
  refuses("every3.All.s_int64: expected int64, got 9223372036854775808 (out of range), at line 1 column 11", pb.from_json(ALL, '{"sInt64":9223372036854775808}'))
  refuses("every3.All.s_int64: expected int64, got 0.5", pb.from_json(ALL, '{"sInt64":0.5}'))
end)

h.test("members are in the order of the fields' numbers", function()
  local json = '{"sDouble":1,"sInt32":2,"sInner":{"a":1,"b":"x"},"oInt32":3,"rInt32":[4],"cInt32":5}'
  h.eq(pb.to_json(ALL, { c_int32 = 5, r_int32 = { 4 }, o_int32 = 3, s_inner = { b = "x", a = 1 }, s_int32 = 2, s_double = 1 }), json)
  -- In whatever order, and in however many parts, the bytes have them.
  local bytes = h.bytes "c8 07 05  d8 02 04  8a 01 03 12 01 78  18 07  b8 01 03  8a 01 02 08 01  18 02" .. pb.encode(ALL, { s_double = 1 })
  h.eq(pb.to_json(ALL, bytes), json)
  h.eq(pb.encode(ALL, pb.from_json(ALL, '{"cInt32":5,"sInt32":2}')), h.bytes "18 02 c8 07 05")
  local sorted = h.instance { sort_map = true }
  local map = { [3] = 1, [1] = 2, [2] = 3, [-1] = 4 }
  h.eq(sorted.to_json(ALL, { k_int32 = map }), '{"kInt32":{"-1":4,"1":2,"2":3,"3":1}}')
  h.eq(sorted.to_json(ALL, h.bytes "8a 05 04 08 05 10 01  8a 05 04 08 02 10 02  8a 05 04 08 05 10 03"), '{"kInt32":{"2":2,"5":3}}')
end)

h.test("options choose names, defaults, enums, indentation", function()
  local value = { s_int32 = 1, s_color = "BLUE", s_inner = { a = 2 } }
  h.eq(pb.to_json(ALL, value, { names = "proto", enum = "number" }), '{"s_int32":1,"s_color":2,"s_inner":{"a":2}}')
  h.eq(pb.to_json(ALL, value, { names = "json", enum = "name", defaults = false, indent = false }), pb.to_json(ALL, value))
  h.eq(pb.to_json("every3.Inner", { b = "x" }, { defaults = true }), '{"a":0,"b":"x","list":[]}')
  local lines = '{\n  "sInner": {\n    "a": 2\n  },\n  "rInt32": [\n    1,\n    2\n  ]\n}'
  local nested = { s_inner = { a = 2 }, r_int32 = { 1, 2 } }
  h.eq(pb.to_json(ALL, nested, { indent = true }), lines)
  h.eq(pb.to_json(ALL, nested, { indent = 2 }), lines)
  h.eq(pb.to_json(ALL, nested, { indent = "  " }), lines)
  h.eq(pb.to_json(ALL, nested, { indent = "\t" }), (lines:gsub("  ", "\t")))
  h.eq(pb.to_json(ALL, nested, { indent = 0 }), (lines:gsub("  ", "")))
  h.eq(pb.to_json(ALL, {}, { indent = true }), "{}")
  -- The instance's options are for tables.
  local numbers = h.instance { enum = "number" }
  h.eq(numbers.to_json(ALL, { s_color = 2 }), '{"sColor":"BLUE"}')
  h.eq(numbers.from_json(ALL, '{"sColor":"BLUE"}'), { s_color = 2 })
end)

h.test("options that are none raise", function()
  raises('to_json: unknown option "colour"', pb.to_json, ALL, {}, { colour = 1 })
  raises("to_json: unknown option of type number", pb.to_json, ALL, {}, { 1 })
  raises('from_json: unknown option "names"', pb.from_json, ALL, "{}", { names = "proto" })
  raises('to_json: option names: expected "json" or "proto", got string "x"', pb.to_json, ALL, {}, { names = "x" })
  raises('to_json: option enum: expected "name" or "number", got boolean', pb.to_json, ALL, {}, { enum = true })
  raises("to_json: option defaults: expected boolean, got 1", pb.to_json, ALL, {}, { defaults = 1 })
  raises('to_json: option unknown: expected "drop" or "error", got boolean', pb.to_json, ALL, {}, { unknown = true })
  for _, indent in ipairs { 17, -1, 1.5, "ab", (" "):rep(17), {} } do
    raises("to_json: option indent: expected boolean, number of spaces up to 16, or white space, got ", pb.to_json, ALL, {}, { indent = indent })
  end
  raises("from_json: option ignore_unknown: expected boolean", pb.from_json, ALL, "{}", { ignore_unknown = 1 })
  raises("bad argument #3 to 'to_json' (expected table, got boolean)", pb.to_json, ALL, {}, true)
end)

h.test("options are read before anything else happens", function()
  local options = { indent = ("\t"):rep(3), names = "proto" }
  local proxy = setmetatable({}, {
    __pairs = function()
      options.indent, options.names, options[1] = nil, nil, 1
      collectgarbage()
      collectgarbage()
      return next, { a = 1 }
    end,
  })
  h.eq(pb.to_json(ALL, { s_inner = proxy }, options), '{\n\t\t\t"s_inner": {\n\t\t\t\t\t\t"a": 1\n\t\t\t}\n}')
end)

h.test("errors name the field, and those of text the place", function()
  raises("every3.All.s_inner.a: expected int32, got string", pb.to_json, ALL, { s_inner = { a = "x" } })
  raises("every3.All.s_inner.a: truncated, 1 byte needed, 0 left, at byte 4", pb.to_json, ALL, h.bytes "8a 01 01 08")
  refuses('every3.All.r_inner[2].a: expected int32, got "x", at line 2 column 7', pb.from_json(ALL, '{"rInner":[{},\n {"a":"x"}]}'))
  refuses('every3.All: unknown field "sInt33" (did you mean "sInt32"?), at line 1 column 2', pb.from_json(ALL, '{"sInt33":1}'))
  refuses("every3.All: expected object, got the end, at line 1 column 1", pb.from_json(ALL, ""))
  refuses('every3.All: oneof choice: both "c_int32" and "c_string" are set, at line 1 column 14', pb.from_json(ALL, '{"cInt32": 1,"cString":""}'))
  h.eq(pb.from_json(ALL, '{"sInt33":1,"sInt32":2,"sColor":"NONE"}', { ignore_unknown = true }), { s_int32 = 2 })
  -- Required fields are checked by both.
  raises("required field missing", pb.to_json, "tutorial.Person", { name = "x" })
  raises("required field missing", pb.to_json, "tutorial.Person", h.bytes "0a 01 78")
  refuses("tutorial.Person.id: required field missing", pb.from_json("tutorial.Person", '{"name":"x"}'))
  local lenient = h.instance { required = "ignore" }
  h.eq(lenient.from_json("tutorial.Person", lenient.to_json("tutorial.Person", { name = "x" })), { name = "x" })
end)

h.test("names of types that are unknown", function()
  raises('unknown type "every3.Al"', pb.to_json, "every3.Al", {})
  refuses('unknown type "every3.Al"', pb.from_json("every3.Al", "{}"))
  h.eq(pb.to_json(".every3.All", {}), "{}")
end)

h.test("wrong arguments raise", function()
  raises("bad argument #2 to 'to_json' (expected table or string, got number)", pb.to_json, ALL, 5)
  raises("bad argument #2 to 'to_json' (expected table or string, got n", pb.to_json, ALL)
  raises("bad argument #2 to 'from_json' (expected string, got table)", pb.from_json, ALL, {})
  raises("bad argument #1 to 'to_json'", pb.to_json)
  raises("bad argument #1 to 'from_json'", pb.from_json, nil, "{}")
end)

h.test("unknown fields are left out, or refused, and stay in the table", function()
  local bytes = h.bytes "18 05 fa ff 7f 01 78"
  local value = pb.decode(ALL, bytes)
  h.eq(pb.to_json(ALL, value), '{"sInt32":5}')
  h.eq(pb.to_json(ALL, bytes, { unknown = "drop" }), '{"sInt32":5}')
  raises("every3.All: unknown fields, for which JSON has no place", pb.to_json, ALL, value, { unknown = "error" })
  raises("every3.All.s_inner: unknown fields", pb.to_json, ALL, { s_inner = { ["?unknown"] = h.bytes "fa ff 7f 00" } }, { unknown = "error" })
  h.eq(pb.to_json(ALL, { s_int32 = 5 }, { unknown = "error" }), '{"sInt32":5}')
  -- Whatever goes wrong, they are still there.
  value.r_color = { "NO_SUCH" }
  raises("every3.All.r_color[1]", pb.to_json, ALL, value)
  value.r_color = nil
  value.s_string = "\255"
  raises("every3.All.s_string: invalid UTF-8", h.instance { utf8 = "ignore" }.to_json, ALL, value)
  value.s_string = nil
  h.eq(pb.encode(ALL, value), bytes)
  refuses('every3.All: unknown field "?unknown"', pb.from_json(ALL, '{"?unknown":"+v9/AXg="}'))
end)

h.test("well-known types have forms of their own", function()
  both("google.protobuf.Timestamp", { seconds = 1, nanos = 500000000 }, '"1970-01-01T00:00:01.500Z"')
  both("google.protobuf.Duration", { seconds = -1, nanos = -1000 }, '"-1.000001s"')
  both("google.protobuf.FieldMask", { paths = { "a.b_c", "d" } }, '"a.bC,d"')
  both("google.protobuf.Int64Value", { value = 5 }, '"5"')
  both("google.protobuf.Struct", { fields = { a = { number_value = 1.5 } } }, '{"a":1.5}')
  both("google.protobuf.ListValue", { values = { { null_value = "NULL_VALUE" }, { bool_value = true } } }, "[null,true]")
  both("google.protobuf.Value", { string_value = "x" }, '"x"')
  both("google.protobuf.Any", { type_url = "x/every3.Inner", value = h.bytes "08 05" }, '{"@type":"x/every3.Inner","a":5}')
  both("google.protobuf.Empty", {}, "{}")
  raises("google.protobuf.Timestamp: seconds 253402300800 and nanos 0 are out of range", pb.to_json, "google.protobuf.Timestamp", { seconds = 253402300800 })
  raises('google.protobuf.Any: unknown type "every3.Iner" (did you mean "every3.Inner"?)', pb.to_json, "google.protobuf.Any", { type_url = "x/every3.Iner" })
  refuses('google.protobuf.Duration: "1 s" is no duration like 1.5s, at line 1 column 1', pb.from_json("google.protobuf.Duration", '"1 s"'))
end)

h.test("tables of from_json are like those of decode", function()
  local value = pb.from_json(ALL, '{"sInt32":5}')
  h.eq(value.s_string, "")
  h.eq(rawget(value, "s_string"), nil)
  h.eq(pb.has(value, "s_int32"), true)
  local mark = {}
  local marked = h.instance { defaults = "none", array_metatable = mark }
  value = marked.from_json(ALL, '{"rInt32":[1]}')
  h.eq(getmetatable(value), nil)
  h.eq(getmetatable(value.r_int32) == mark, true)
end)

h.test("depth and memory are limited as those of decode", function()
  local deep = '{"sInner":{"inner":' .. ('{"inner":'):rep(200) .. "{}" .. ("}"):rep(202)
  refuses("nested too deeply (option depth), at line 1 column ", pb.from_json(ALL, deep))
  refuses("nested too deeply (option depth)", pb.from_json("google.protobuf.Value", ("["):rep(100000)))
  local most = h.instance { depth = 1000 }
  local json = ('{"self":'):rep(1000) .. "{}" .. ("}"):rep(1000)
  h.eq(most.to_json(ALL, most.from_json(ALL, json)), json)
  local small = h.instance { max_bytes = 10000 }
  raises("too large for option max_bytes", error, select(2, small.from_json(ALL, '{"rInt32":[' .. ("1,"):rep(1000) .. "1]}")))
  raises("too large for option max_bytes", small.to_json, ALL, pb.encode(ALL, { s_string = ("x"):rep(20000) }))
  -- As soon as it is clear, not at the end.
  raises("too large for option max_bytes, at byte 302", small.to_json, ALL, ("\24\1"):rep(2000))
end)

h.test("long texts go both ways", function()
  local value = { r_string = {}, s_bytes = ("\0\1\255"):rep(100000) }
  for i = 1, 2000 do
    value.r_string[i] = ("é\t"):rep(i % 50)
  end
  both(ALL, value, pb.to_json(ALL, value))
end)

h.test("extensions are members in brackets", function()
  local own = h.protobuf.new()
  own.register(h.set "extensions")
  local names = {}
  for _, name in ipairs(own.types "message") do
    for _, field in ipairs(own.fields(name)) do
      if field.extension and field.type == "int32" and field.label == "optional" then
        names[#names + 1] = { name, field.name }
      end
    end
  end
  h.eq(#names > 0, true)
  for _, pair in ipairs(names) do
    local json = '{"[' .. pair[2] .. ']":7}'
    local value = assert(own.from_json(pair[1], json))
    h.eq(rawget(value, pair[2]), 7)
    h.eq(own.to_json(pair[1], value), json)
    h.eq(own.to_json(pair[1], value, { names = "proto" }), json)
  end
end)
