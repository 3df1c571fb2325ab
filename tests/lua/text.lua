-- to_text and from_text: the format itself is tested in Rust and by Google's suite; here what Lua sees of it.

local h = ...
local pb = h.instance()
local raises = h.raises
local ALL = "every3.All"

local function refuses(text, ...)
  h.declines(pb, text, ...)
end

local function both(name, value, text)
  h.written(pb, "text", name, value, text)
end

h.test("tables and bytes become the same text, and that the table", function()
  both(ALL, {}, "")
  both(ALL, { s_int32 = -5, s_string = "é\"\n", s_bytes = "\0\255", s_bool = true, s_color = "BLUE" },
    's_int32: -5\ns_bool: true\ns_string: "é\\"\\n"\ns_bytes: "\\000\\377"\ns_color: BLUE\n')
  both(ALL, { r_int32 = { 1, 2 }, r_inner = { { a = 1 }, {} } }, "r_int32: 1\nr_int32: 2\nr_inner {\n  a: 1\n}\nr_inner {}\n")
  both(ALL, { k_int32 = { [5] = 6 } }, "k_int32 {\n  key: 5\n  value: 6\n}\n")
  both(ALL, { s_double = 0.1, o_float = -h.inf }, "s_double: 0.1\no_float: -inf\n")
  both(ALL, { s_int64 = h.int64 "-9223372036854775808", s_uint64 = h.uint64 "18446744073709551615" },
    "s_int64: -9223372036854775808\ns_uint64: 18446744073709551615\n")
  both("google.protobuf.Any", { type_url = "x/every3.Inner", value = h.bytes "08 05" }, "[x/every3.Inner] {\n  a: 5\n}\n")
end)

h.test("options choose lines and unknown fields", function()
  local value = { s_int32 = 1, s_inner = { a = 2 } }
  h.eq(pb.to_text(ALL, value, { indent = false }), "s_int32: 1 s_inner { a: 2 }")
  h.eq(pb.to_text(ALL, value, { indent = 4 }), "s_int32: 1\ns_inner {\n    a: 2\n}\n")
  h.eq(pb.to_text(ALL, value, { indent = "\t" }), "s_int32: 1\ns_inner {\n\ta: 2\n}\n")
  local unknown = pb.decode(ALL, h.bytes "18 05 f8 ff 7f 07")
  h.eq(pb.to_text(ALL, unknown), "s_int32: 5\n")
  h.eq(pb.to_text(ALL, unknown, { unknown = true }), "s_int32: 5\n262143: 7\n")
  h.eq(pb.encode(ALL, unknown), h.bytes "18 05 f8 ff 7f 07")
  raises('to_text: unknown option "names"', pb.to_text, ALL, {}, { names = "proto" })
  raises("to_text: option unknown: expected boolean, got string", pb.to_text, ALL, {}, { unknown = "drop" })
  raises('from_text: unknown option "ignore_unknown"', pb.from_text, ALL, "", { ignore_unknown = true })
end)

h.test("what people write is read", function()
  h.eq(pb.from_text(ALL, [[
    # A comment.
    s_int32: 0x1F, s_string: "a" 'b' ; s_inner < a: 1 b: "\u00e9" >
    r_int32: [1, 2] r_int32: 3
    s_bool: t s_color: 2 s_float: 1.5f
  ]]), {
    s_int32 = 31, s_string = "ab", s_inner = { a = 1, b = "é" }, r_int32 = { 1, 2, 3 }, s_bool = true, s_color = "BLUE", s_float = 1.5,
  })
end)

h.test("errors name the field and the place", function()
  refuses('every3.All.s_inner.a: expected a whole number, got x, at line 2 column 15', pb.from_text(ALL, "s_int32: 1\n s_inner { a: x }"))
  refuses('every3.All: unknown field "s_int33" (did you mean "s_int32"?), at line 1 column 1', pb.from_text(ALL, "s_int33: 1"))
  refuses('unknown type "every3.Al"', pb.from_text("every3.Al", ""))
  refuses("tutorial.Person.id: required field missing", pb.from_text("tutorial.Person", 'name: "x"'))
  refuses("nested too deeply (option depth)", pb.from_text(ALL, ("self {"):rep(100000)))
  raises("every3.All.s_inner.a: expected int32, got string", pb.to_text, ALL, { s_inner = { a = "x" } })
  raises("every3.All.s_inner.a: truncated", pb.to_text, ALL, h.bytes "8a 01 01 08")
  raises("bad argument #2 to 'to_text' (expected table or string, got number)", pb.to_text, ALL, 5)
  raises("bad argument #2 to 'from_text' (expected string, got table)", pb.from_text, ALL, {})
end)

h.test("as deep as anything", function()
  local most = h.instance { depth = 1000 }
  local text = ("self { "):rep(999) .. "self {}" .. (" }"):rep(999)
  h.eq(most.to_text(ALL, most.from_text(ALL, text), { indent = false }), text)
end)
