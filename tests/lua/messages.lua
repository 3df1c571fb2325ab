-- Messages: nesting, recursion, order on the wire, groups, merging, and names of every kind.

local h = ...
local pb = h.instance()
local both, encodes, decodes, raises = h.both, h.encodes, h.decodes, h.raises

h.test("the address book", function()
  both(pb, "tutorial.AddressBook", {
    person = {
      {
        name = "Alice",
        id = 10000,
        phone = { { number = "123456789", type = "MOBILE" }, { number = "87654321", type = "HOME" } },
      },
      { name = "Bob", id = -1, email = "bob@example.com" },
    },
  }, [[
    0a 27 0a 05 41 6c 69 63 65 10 90 4e
          22 0d 0a 09 31 32 33 34 35 36 37 38 39 10 00
          22 0c 0a 08 38 37 36 35 34 33 32 31 10 01
    0a 21 0a 03 42 6f 62 10 ff ff ff ff ff ff ff ff ff 01
          1a 0f 62 6f 62 40 65 78 61 6d 70 6c 65 2e 63 6f 6d ]])
end)

h.test("the empty message", function()
  both(pb, "every3.All", {}, "")
  both(pb, "every3.Empty", {}, "")
  both(pb, ".every3.Empty", {}, "")
  both(pb, "every3.All", { s_inner = {} }, "8a 01 00")
  both(pb, "every3.All", { r_inner = { {}, {} } }, "ca 03 00 ca 03 00")
end)

h.test("nested and recursive messages", function()
  both(pb, "every3.All", { s_inner = { a = 1, inner = { b = "x", inner = { list = { 1, 2 } } } } },
    "8a 01 0d 08 01 1a 09 12 01 78 1a 04 22 02 01 02")
  both(pb, "every3.All", { self = { self = { s_int32 = 1 }, selves = { {}, { s_bool = true } } } },
    "9a 08 0d 9a 08 02 18 01 a2 08 00 a2 08 02 68 01")
  both(pb, "every2.All", { self = { selves = { { o_int32 = 1 } } } }, "9a 08 05 a2 08 02 18 01")
end)

h.test("fields are written in number order", function()
  encodes(pb, "every3.All", { n536870911 = 1, n2048 = 2, n2047 = 3, s_sfixed64 = 4, s_color = 1, s_bytes = "b", s_double = 1 }, [[
    09 00 00 00 00 00 00 f0 3f  61 04 00 00 00 00 00 00 00  7a 01 62  80 01 01  f8 7f 03  80 80 01 02  f8 ff ff ff 0f 01 ]])
end)

h.test("fields are read in any order", function()
  decodes(pb, "every3.All", "f8 ff ff ff 0f 01 80 80 01 02 18 01 f8 7f 03 7a 01 62 28 05",
    { n536870911 = 1, n2048 = 2, n2047 = 3, s_bytes = "b", s_int32 = 1, s_uint32 = 5 })
end)

h.test("groups", function()
  both(pb, "every2.All", { ogroup = { a = 1, inner = { a = 2 } } }, "93 01 08 01 12 02 08 02 94 01")
  both(pb, "every2.All", { ogroup = {} }, "93 01 94 01")
  both(pb, "every2.All", { rgroup = { { a = 1 }, {}, { a = 3 } } }, "b3 02 08 01 b4 02 b3 02 b4 02 b3 02 08 03 b4 02")
  both(pb, "every2.All", { cgroup = { a = 5 } }, "83 08 08 05 84 08")
  both(pb, "every2.Holder", { part = { a = 5 } }, "33 08 05 34")
end)

h.test("groups keep unknown fields and nest", function()
  both(pb, "every2.All", { ogroup = { a = 1, ["?unknown"] = h.bytes "4a 01 78" } }, "93 01 08 01 4a 01 78 94 01")
  both(pb, "every2.All", { self = { ogroup = { inner = { inner = { a = 1 } } } } }, "9a 08 0a 93 01 12 04 1a 02 08 01 94 01")
end)

h.test("split messages merge", function()
  decodes(pb, "every3.All", "8a 01 02 08 01 8a 01 03 12 01 78", { s_inner = { a = 1, b = "x" } })
  decodes(pb, "every3.All", "8a 01 04 08 01 22 00 18 07 8a 01 04 08 02 20 05 8a 01 03 22 01 06",
    { s_int32 = 7, s_inner = { a = 2, list = { 5, 6 } } })
  decodes(pb, "every3.All", "8a 01 04 1a 02 08 01 8a 01 05 1a 03 12 01 78", { s_inner = { inner = { a = 1, b = "x" } } })
  decodes(pb, "every2.All", "93 01 08 01 94 01 93 01 12 02 08 02 94 01", { ogroup = { a = 1, inner = { a = 2 } } })
  decodes(pb, "every3.All", "9a 08 07 8a 05 04 08 01 10 01 9a 08 07 8a 05 04 08 02 10 02",
    { self = { k_int32 = { 1, 2 } } })
end)

h.test("split messages merge their unknown fields", function()
  decodes(pb, "every3.All", "8a 01 02 48 01 8a 01 02 48 02", { s_inner = { ["?unknown"] = h.bytes "48 01 48 02" } })
end)

h.test("elements of a list do not merge", function()
  decodes(pb, "every3.All", "ca 03 02 08 01 ca 03 03 12 01 78", { r_inner = { { a = 1 }, { b = "x" } } })
end)

h.test("names that are Lua keywords or long", function()
  both(pb, "every3.All", { ["end"] = "x", ["nil"] = 1 }, "ea 08 01 78 f0 08 01")
  both(pb, "every3.All", { a_field_whose_name_is_longer_than_forty_characters = 5 }, "f8 08 05")
  both(pb, "every3.All", { long_type = { a = 1 } }, "82 09 02 08 01")
  both(pb, "every3.AMessageTypeWhoseNameIsLongerThanFortyCharacters", { a = 1 }, "08 01")
  both(pb, "every3.All", { renamed = 3, old = 4 }, "88 09 03 90 09 04")
end)

h.test("a long name that was built anew is the same name", function()
  local long = "AMessageTypeWhoseNameIsLongerThanFortyCharacters"
  for i = 1, 100 do
    local name = table.concat { "every", "3.", long }
    h.eq(pb.encode(name, { a = i }), "\8" .. string.char(i))
    local key = table.concat { "a_field_whose_name_", "is_longer_than_forty_characters" }
    h.eq(pb.encode("every3.All", { [key] = i }), h.bytes "f8 08" .. string.char(i))
    raises("unknown field", pb.encode, "every3.All", { [key .. "x"] = i })
    raises(long .. "X", pb.encode, name .. "X", {})
  end
end)

h.test("more fields than fit a machine word", function()
  local value, bytes = {}, ""
  for i = 1, 80 do
    value["f" .. i] = i + 100
    bytes = bytes .. h.varint(i * 8) .. h.varint(i + 100)
  end
  both(pb, "every2.Wide", value, h.hex(bytes))
  both(pb, "every3.Wide", value, h.hex(bytes))
end)

if h.compiles then
  h.test("types of very many fields", function()
    local own, fields = h.instance(), {}
    for i = 1, 3000 do
      fields[i] = ("optional int32 f%d = %d;"):format(i, i)
    end
    own.register_source('syntax = "proto2"; message Many {' .. table.concat(fields) .. [[
      oneof o { int32 a = 3001; int32 b = 3002; } extensions 4000 to max; } extend Many { optional int32 e = 4000; }]])
    both(own, "Many", {}, "")
    both(own, "Many", { f2999 = 3, f70 = 2, a = 0, f3 = 1 }, "18 01 b0 04 02 b8 bb 01 03 c8 bb 01 00")
    encodes(own, "Many", { ["[e]"] = 5, f1 = 1 }, "08 01 80 fa 01 05")
    raises("Many: oneof o: both \"a\" and \"b\" are set", own.encode, "Many", { a = 1, f1 = 1, b = 1 })
    raises("Many: both \"e\" and \"[e]\" are set", own.encode, "Many", { e = 1, ["[e]"] = 1 })
    local value, bytes = {}, ""
    for i = 100, 3000, 50 do
      value["f" .. i] = i
      bytes = bytes .. h.varint(i * 8) .. h.varint(i)
    end
    both(own, "Many", value, h.hex(bytes))
    value.a, value.b = 1, 2
    raises("Many: oneof o: both \"a\" and \"b\" are set", own.encode, "Many", value)
    value.b, value.e, value["[e]"] = nil, 1, 2
    raises("Many: both \"e\" and \"[e]\" are set", own.encode, "Many", value)
  end)
end

h.test("only tables are messages", function()
  for _, value in ipairs { true, 5, "text", print } do
    raises("every3.All.s_inner: expected table, got ", pb.encode, "every3.All", { s_inner = value })
    raises("every3.All.r_inner[1]: expected table, got ", pb.encode, "every3.All", { r_inner = { value } })
    raises("every2.All.ogroup: expected table, got ", pb.encode, "every2.All", { ogroup = value })
  end
end)

h.test("encode leaves its argument alone", function()
  local value = { s_int32 = "5", r_inner = { { a = 1 } }, k_string = { x = 1 } }
  pb.encode("every3.All", value)
  h.eq(value, { s_int32 = "5", r_inner = { { a = 1 } }, k_string = { x = 1 } })
  h.eq(getmetatable(value), nil)
  h.eq(getmetatable(value.r_inner), nil)
end)

h.test("a table may occur twice in a message", function()
  local inner = { a = 1 }
  encodes(pb, "every3.All", { s_inner = inner, r_inner = { inner, inner } }, "8a 01 02 08 01 ca 03 02 08 01 ca 03 02 08 01")
end)

h.test("decode reads the prefix that length gives", function()
  h.eq(pb.decode("every3.All", h.bytes "18 01 18 02", 2), { s_int32 = 1 })
  h.eq(pb.decode("every3.All", h.bytes "18 01 18", 2), { s_int32 = 1 })
  h.eq(pb.decode("every3.All", "garbage", 0), {})
end)

h.test("a large message", function()
  local value, bytes = { s_bytes = ("x"):rep(1000000), r_inner = {} }, {}
  for i = 1, 20000 do
    value.r_inner[i] = { a = i % 100 + 1 }
    bytes[i] = h.bytes "ca 03 02 08" .. string.char(i % 100 + 1)
  end
  local wire = "\122" .. h.varint(1000000) .. value.s_bytes .. table.concat(bytes)
  assert(pb.encode("every3.All", value) == wire)
  h.eq(pb.decode("every3.All", wire), value)
end)
