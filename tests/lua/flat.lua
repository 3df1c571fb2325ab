-- The flat form: pack and unpack by pattern.

local h = ...
local pb = h.instance()
local raises = h.raises

local function packs(pattern, hex, ...)
  h.eq(h.hex(pb.pack(pattern, ...)), h.hex(h.bytes(hex)), pattern)
end

local function unpacks(pattern, hex, ...)
  local got, want = { n = select("#", pb.unpack(pattern, h.bytes(hex))), pb.unpack(pattern, h.bytes(hex)) }, { n = select("#", ...), ... }
  h.eq(got, want, pattern)
end

h.test("values are positional", function()
  packs("tutorial.Person name id", "0a 05 41 6c 69 63 65 10 7b", "Alice", 123)
  packs("tutorial.Person id name", "0a 05 41 6c 69 63 65 10 7b", 123, "Alice")
  unpacks("tutorial.Person name id", "0a 05 41 6c 69 63 65 10 7b", "Alice", 123)
  unpacks("tutorial.Person id name", "0a 05 41 6c 69 63 65 10 7b", 123, "Alice")
  unpacks("tutorial.Person id", "0a 05 41 6c 69 63 65 10 7b", 123)
  packs("every3.Empty", "")
  unpacks("every3.Empty", "08 01")
end)

h.test("a pattern may have a leading dot and any spaces", function()
  packs(".tutorial.Person  id   name ", "0a 01 61 10 01", 1, "a")
  unpacks("tutorial.Person   id", "10 05", 5)
end)

h.test("every scalar", function()
  local pattern = "every3.All o_double o_float o_int32 o_int64 o_uint32 o_uint64 o_sint32 o_sint64 o_fixed32 o_fixed64 o_sfixed32 o_sfixed64 o_bool o_string o_bytes"
  local hex = [[ a9 01 00 00 00 00 00 00 f8 3f  b5 01 00 00 20 40  b8 01 ff ff ff ff ff ff ff ff ff 01  c0 01 02  c8 01 ff ff ff ff 0f  d0 01 04
    d8 01 05  e0 01 06  ed 01 05 00 00 00  f1 01 06 00 00 00 00 00 00 00  fd 01 f9 ff ff ff  81 02 f8 ff ff ff ff ff ff ff  88 02 01
    92 02 01 73  9a 02 01 ff ]]
  packs(pattern, hex, 1.5, 2.5, -1, 2, 4294967295, 4, -3, 3, 5, 6, -7, -8, true, "s", "\255")
  unpacks(pattern, hex, 1.5, 2.5, -1, 2, 4294967295, 4, -3, 3, 5, 6, -7, -8, true, "s", "\255")
end)

h.test("64-bit values are exact", function()
  local big = h.uint64 "18446744073709551615"
  packs("every3.All s_uint64", "30 ff ff ff ff ff ff ff ff ff 01", big)
  unpacks("every3.All s_uint64", "30 ff ff ff ff ff ff ff ff ff 01", big)
end)

h.test("nil and missing values are absent", function()
  packs("every3.All o_int32 o_string o_bool", "92 02 00", nil, "", nil)
  packs("every3.All o_int32 o_string o_bool", "b8 01 00", 0)
  packs("every3.All o_int32 o_string o_bool", "")
  packs("every3.All s_int32 s_string", "", 0, "")
end)

h.test("more values than names are refused", function()
  raises("", pb.pack, "every3.All s_int32", 1, 2)
  raises("", pb.pack, "every3.Empty", 1)
end)

h.test("absent fields unpack as defaults, lists and maps as empty, messages and oneof members as nil", function()
  unpacks("every3.All s_int32 s_string s_bool s_double o_int32 s_bytes", "", 0, "", false, 0.0, 0, "")
  unpacks("every2.All d_int32 d_string d_bool d_float d_inf", "", -42, 'a"b\\c\n\t\1\195\169\'?', true, 1.5, h.inf)
  unpacks("every3.All r_int32 p_int32 k_int32 r_inner v_inner", "", {}, {}, {}, {}, {})
  unpacks("every3.All s_inner c_int32 c_inner x_uint64 self", "", nil, nil, nil, nil, nil)
  unpacks("tutorial.Person name id email", "", "", 0, "")
end)

h.test("each empty list is a new table", function()
  local one, two = pb.unpack("every3.All r_int32 p_int32", "")
  assert(not rawequal(one, two))
  assert(not rawequal(one, (pb.unpack("every3.All r_int32", ""))))
end)

h.test("enums are numbers, also in lists and maps", function()
  packs("every3.All s_color", "80 01 02", "BLUE")
  packs("every3.All s_color", "80 01 02", 2)
  unpacks("every3.All s_color", "80 01 02", 2)
  unpacks("every3.All s_color r_color", "c0 03 01 c0 03 09", 0, { 1, 9 })
  unpacks("every3.All v_color", "a2 07 05 0a 01 61 10 02", { a = 2 })
  unpacks("every2.All d_color signed", "", 2, -1)
  packs("every3.All r_color", "c0 03 01 c0 03 00", { "GREEN", 0 })
  raises("every3.All.s_color: ...PURPLE", pb.pack, "every3.All s_color", "PURPLE")
end)

h.test("lists and maps", function()
  packs("every3.All r_int32 p_int32", "d8 02 01 d8 02 02 fa 03 02 03 04", { 1, 2 }, { 3, 4 })
  unpacks("every3.All p_int32 r_int32", "d8 02 01 d8 02 02 fa 03 02 03 04", { 3, 4 }, { 1, 2 })
  unpacks("every3.All r_int32", "da 02 02 01 02 d8 02 03", { 1, 2, 3 })
  packs("every3.All k_int32 v_string", "8a 05 04 08 05 10 06 92 07 06 0a 01 61 12 01 62", { [5] = 6 }, { a = "b" })
  unpacks("every3.All k_int32 v_string", "8a 05 04 08 05 10 06 92 07 06 0a 01 61 12 01 62", { [5] = 6 }, { a = "b" })
end)

h.test("a message is bytes, or bytes and length", function()
  packs("every3.All s_inner s_int32", "18 07 8a 01 02 08 01", h.bytes "08 01", 7)
  packs("every3.All s_inner", "8a 01 02 08 01", { h.bytes "08 01 08 02", 2 })
  packs("every3.All s_inner", "8a 01 00", "")
  packs("every3.All r_inner", "ca 03 02 08 01 ca 03 00", { h.bytes "08 01", "" })
  packs("every3.All v_inner", "aa 07 07 0a 01 61 12 02 08 01", { a = { h.bytes "08 01", 2 } })
  packs("every3.All c_inner", "da 07 00", "")
  unpacks("every3.All s_inner s_int32", "18 07 8a 01 02 08 01", { h.bytes "08 01", 2 }, 7)
  unpacks("every3.All r_inner", "ca 03 02 08 01 ca 03 00", { { h.bytes "08 01", 2 }, { "", 0 } })
  unpacks("every3.All v_inner", "aa 07 07 0a 01 61 12 02 08 01", { a = { h.bytes "08 01", 2 } })
  unpacks("every3.All c_inner", "da 07 00", { "", 0 })
end)

h.test("what unpack gave goes on to unpack and decode", function()
  local inner, list = pb.unpack("every3.All s_inner r_inner", h.bytes "8a 01 02 08 01 ca 03 03 12 01 78")
  h.eq(pb.unpack("every3.Inner a", h.unpack(inner)), 1)
  h.eq(pb.decode("every3.Inner", h.unpack(list[1])), { b = "x" })
  h.eq(h.hex(pb.pack("every3.All s_inner r_inner", inner, list)), "8a01020801ca0303120178")
end)

h.test("a group is its contents", function()
  packs("every2.All ogroup", "93 01 08 01 94 01", h.bytes "08 01")
  packs("every2.All rgroup", "b3 02 08 01 b4 02 b3 02 b4 02", { h.bytes "08 01", "" })
  unpacks("every2.All ogroup", "93 01 08 01 94 01", { h.bytes "08 01", 2 })
  unpacks("every2.All rgroup", "b3 02 08 01 b4 02 b3 02 b4 02", { { h.bytes "08 01", 2 }, { "", 0 } })
end)

h.test("split messages come concatenated", function()
  unpacks("every3.All s_inner", "8a 01 02 08 01 18 05 8a 01 03 12 01 78", { h.bytes "08 01 12 01 78", 5 })
  unpacks("every2.All ogroup", "93 01 08 01 94 01 93 01 12 00 94 01", { h.bytes "08 01 12 00", 4 })
end)

h.test("oneofs", function()
  unpacks("every3.All c_int32 c_string", "c8 07 05 d2 07 01 61", nil, "a")
  unpacks("every3.All c_int32 c_bool", "c8 07 00", 0, nil)
  raises("c_int32...c_string", pb.pack, "every3.All c_int32 c_string", 1, "a")
  packs("every3.All c_int32 c_string", "d2 07 00", nil, "")
end)

h.test("a oneof member that is not named still replaces one that is", function()
  unpacks("every3.All c_int32", "c8 07 05 d2 07 01 61", nil)
end)

h.test("fields that are not named are skipped, but must be well-formed", function()
  unpacks("every3.All s_int32", "09 00 00 00 00 00 00 f0 3f 72 01 61 18 05 ca 03 02 08 01 4d 01 00 00 00 50 01", 5)
  unpacks("every2.All o_int32", "93 01 08 01 9b 01 9c 01 94 01 18 05", 5)
  raises("", pb.unpack, "every3.All s_int32", h.bytes "18 05 72 05 61")
  raises("", pb.unpack, "every3.All s_int32", h.bytes "18 05 93 01")
  raises("", pb.unpack, "every3.All s_int32", h.bytes "18 05 00")
end)

h.test("unpack reads the prefix that length gives", function()
  h.eq(pb.unpack("every3.All s_int32", h.bytes "18 05 18 06", 2), 5)
  h.eq(pb.unpack("every3.All s_int32", h.bytes "18 05 18", 2), 5)
  h.eq(pb.unpack("every3.All s_int32", "garbage", 0), 0)
  raises("", pb.unpack, "every3.All s_int32", h.bytes "18 05", 3)
  raises("", pb.unpack, "every3.All s_int32", h.bytes "18 05", -1)
end)

h.test("bad values and bad bytes raise with the field", function()
  raises("tutorial.Person.id: ", pb.pack, "tutorial.Person name id", "a", "x")
  raises("every3.All.s_string: ...UTF-8", pb.pack, "every3.All s_string", "\255")
  raises("every3.All.r_int32[2]: ", pb.pack, "every3.All r_int32", { 1, "x" })
  raises("every3.All.s_inner: ", pb.pack, "every3.All s_inner", 5)
  raises("every3.All.s_inner: ", pb.pack, "every3.All s_inner", { "ab", 3 })
  raises("tutorial.Person.name: truncated", pb.unpack, "tutorial.Person name", h.bytes "0a 05 61")
  raises("every3.All.s_string: ...UTF-8", pb.unpack, "every3.All s_string", h.bytes "72 01 ff")
end)

h.test("a bad pattern is refused", function()
  for _, f in ipairs { pb.pack, pb.unpack } do
    raises("every3.NoSuch", f, "every3.NoSuch a", "")
    raises("nosuch", f, "every3.All nosuch", "")
    raises("", f, "", "")
    raises("", f, "   ", "")
    raises("Color", f, "every3.Color a", "")
  end
end)

h.test("unpack does not keep unknown fields", function()
  raises("?unknown", pb.unpack, "every3.All ?unknown", "")
end)

h.test("many fields", function()
  local names, values, bytes = { "every2.Wide" }, {}, {}
  for i = 1, 80 do
    names[i + 1], values[i], bytes[i] = "f" .. 81 - i, i, h.varint(i * 8) .. h.varint(81 - i)
  end
  local pattern = table.concat(names, " ")
  h.eq(pb.pack(pattern, h.unpack(values)), table.concat(bytes))
  h.eq({ pb.unpack(pattern, table.concat(bytes)) }, values)
end)

h.test("the defaults of an instance's options hold", function()
  local numbers = h.instance { int64 = "string", utf8 = "ignore" }
  h.eq(numbers.unpack("every3.All s_int64 s_string", h.bytes "20 05 72 01 ff"), "5")
  h.eq(select(2, numbers.unpack("every3.All s_int64 s_string", h.bytes "20 05 72 01 ff")), "\255")
end)

h.test("an absent group packs as nothing", function()
  h.eq(h.hex(pb.pack("every2.All ogroup o_int32", nil, 1)), "1801")
end)
