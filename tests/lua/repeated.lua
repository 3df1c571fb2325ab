-- Repeated fields: packed, unpacked and a mix of both; what counts as a list.

local h = ...
local pb = h.instance()
local both, encodes, decodes, raises, refuses = h.both, h.encodes, h.decodes, h.raises, h.refuses

-- Type, two values, the bytes of each.
local packable = {
  { "double", 1.5, -2.0, "00 00 00 00 00 00 f8 3f", "00 00 00 00 00 00 00 c0" },
  { "float", 1.5, -2.0, "00 00 c0 3f", "00 00 00 c0" },
  { "int32", 1, -2, "01", "fe ff ff ff ff ff ff ff ff 01" },
  { "int64", 1, -2, "01", "fe ff ff ff ff ff ff ff ff 01" },
  { "uint32", 1, 300, "01", "ac 02" },
  { "uint64", 1, 300, "01", "ac 02" },
  { "sint32", 1, -200, "02", "8f 03" },
  { "sint64", 1, -200, "02", "8f 03" },
  { "fixed32", 1, 300, "01 00 00 00", "2c 01 00 00" },
  { "fixed64", 1, 300, "01 00 00 00 00 00 00 00", "2c 01 00 00 00 00 00 00" },
  { "sfixed32", 1, -2, "01 00 00 00", "fe ff ff ff" },
  { "sfixed64", 1, -2, "01 00 00 00 00 00 00 00", "fe ff ff ff ff ff ff ff" },
  { "bool", true, false, "01", "00" },
}

local wire_types = { double = 1, fixed64 = 1, sfixed64 = 1, float = 5, fixed32 = 5, sfixed32 = 5 }

-- Calls f for the unpacked and the packed field of each type in each syntax.
local function each(f)
  for syntax, numbers in pairs { every2 = { r = 21, p = 41 }, every3 = { r = 41, p = 61 } } do
    for prefix, first in pairs(numbers) do
      for i, case in ipairs(packable) do
        local number = first + i - 1
        local one, two = h.bytes(case[4]), h.bytes(case[5])
        local tag = h.varint(number * 8 + (wire_types[case[1]] or 0))
        f {
          message = syntax .. ".All",
          field = prefix .. "_" .. case[1],
          canonical = prefix == "p",
          values = { case[2], case[3] },
          unpacked = tag .. one .. tag .. two,
          packed = h.field(number, one .. two),
          nothing = h.field(number, ""),
          cut = #two > 1 and h.field(number, (one .. two):sub(1, -2)),
        }
      end
    end
  end
end

h.test("the schema says how a list is written", function()
  each(function(case)
    local bytes = pb.encode(case.message, { [case.field] = case.values })
    h.eq(bytes, case.canonical and case.packed or case.unpacked, case.message .. "." .. case.field)
  end)
end)

h.test("both ways are read whatever the schema says", function()
  each(function(case)
    local what = case.message .. "." .. case.field
    h.eq(pb.decode(case.message, case.packed), { [case.field] = case.values }, what)
    h.eq(pb.decode(case.message, case.unpacked), { [case.field] = case.values }, what)
  end)
end)

h.test("a mix of both appends", function()
  each(function(case)
    local a, b = case.values[1], case.values[2]
    h.eq(pb.decode(case.message, case.packed .. case.unpacked .. case.nothing .. case.packed), { [case.field] = { a, b, a, b, a, b } },
      case.message .. "." .. case.field)
  end)
end)

h.test("a packed list that ends inside a value is refused", function()
  each(function(case)
    if case.cut then
      refuses(case.message .. "." .. case.field, pb.decode(case.message, case.cut))
    end
  end)
end)

h.test("lists of strings, bytes and messages", function()
  both(pb, "every3.All", { r_string = { "a", "", "bc" } }, "b2 03 01 61 b2 03 00 b2 03 02 62 63")
  both(pb, "every3.All", { r_bytes = { "\255", "" } }, "ba 03 01 ff ba 03 00")
  both(pb, "every3.All", { r_inner = { { a = 1 }, {} } }, "ca 03 02 08 01 ca 03 00")
  both(pb, "every2.All", { r_string = { "a", "" } }, "92 02 01 61 92 02 00")
end)

h.test("elements that came apart on the wire are joined", function()
  decodes(pb, "every3.All", "b2 03 01 61 18 05 b2 03 01 62 18 06 b2 03 01 63", { s_int32 = 6, r_string = { "a", "b", "c" } })
  decodes(pb, "every3.All", "ca 03 00 9a 08 00 ca 03 02 08 01", { self = {}, r_inner = { {}, { a = 1 } } })
  decodes(pb, "every3.All", "d8 02 01 b2 03 01 61 d8 02 02 b2 03 01 62", { r_int32 = { 1, 2 }, r_string = { "a", "b" } })
end)

h.test("the empty list is not written", function()
  encodes(pb, "every3.All", { r_int32 = {}, p_int32 = {}, r_inner = {}, r_string = {} }, "")
end)

h.test("zeros in lists are written", function()
  both(pb, "every3.All", { r_int32 = { 0, 0 } }, "d8 02 00 d8 02 00")
  both(pb, "every3.All", { p_int32 = { 0, 0 }, p_bool = { false } }, "fa 03 02 00 00 ca 04 01 00")
end)

h.test("the length of a packed list may take several bytes", function()
  local values, bytes = {}, {}
  for i = 1, 300 do
    values[i], bytes[i] = i % 128, string.char(i % 128)
  end
  both(pb, "every3.All", { p_uint32 = values }, "8a 04 ac 02" .. h.hex(table.concat(bytes)))
end)

h.test("long lists", function()
  local values = {}
  for i = 1, 200000 do
    values[i] = i
  end
  for _, field in ipairs { "p_int32", "r_int32", "r_double" } do
    local back = pb.decode("every3.All", pb.encode("every3.All", { [field] = values }))[field]
    assert(#back == 200000)
    for i = 1, 200000 do
      assert(back[i] == i)
    end
  end
end)

h.test("a hole is refused and named", function()
  raises("every3.All.r_int32...2", pb.encode, "every3.All", { r_int32 = { 1, nil, 3 } })
  raises("every3.All.r_int32...1", pb.encode, "every3.All", { r_int32 = { [2] = 5 } })
  raises("every3.All.p_int32...3", pb.encode, "every3.All", { p_int32 = { 1, 2, [4] = 4 } })
  raises("every3.All.r_string...1", pb.encode, "every3.All", { r_string = { [1000000000] = "a" } })
  raises("every3.All.r_inner...2", pb.encode, "every3.All", { r_inner = { {}, nil, {} } })
end)

h.test("other keys are refused and named", function()
  for _, field in ipairs { "r_int32", "p_int32" } do
    raises("every3.All." .. field .. "...0", pb.encode, "every3.All", { [field] = { [0] = 1, 2 } })
    raises("every3.All." .. field .. "...-1", pb.encode, "every3.All", { [field] = { 1, [-1] = 2 } })
    raises("every3.All." .. field .. "...1.5", pb.encode, "every3.All", { [field] = { 1, [1.5] = 2 } })
    raises("every3.All." .. field .. "...name", pb.encode, "every3.All", { [field] = { 1, name = 2 } })
    raises("every3.All." .. field .. "...", pb.encode, "every3.All", { [field] = { 1, [true] = 2 } })
    raises("every3.All." .. field .. "...name", pb.encode, "every3.All", { [field] = { name = 2 } })
  end
  raises("every3.All.r_inner...a", pb.encode, "every3.All", { r_inner = { a = 1 } })
end)

h.test("a bad element is named by its index", function()
  raises("every3.All.r_int32[2]: ", pb.encode, "every3.All", { r_int32 = { 1, "x", 3 } })
  raises("every3.All.p_int32[3]: ", pb.encode, "every3.All", { p_int32 = { 1, 2, 2 ^ 31 } })
  raises("every3.All.p_bool[1]: ", pb.encode, "every3.All", { p_bool = { 1 } })
  raises("every3.All.r_string[1]: ", pb.encode, "every3.All", { r_string = { false } })
  raises("every3.All.r_inner[2].list[1]: ", pb.encode, "every3.All", { r_inner = { {}, { list = { {} } } } })
  raises("every2.All.rgroup[2].a: ", pb.encode, "every2.All", { rgroup = { { a = 1 }, { a = "x" } } })
end)

h.test("only tables are lists", function()
  for _, value in ipairs { 5, "text", true, print } do
    raises("every3.All.r_int32: expected ...table...got ", pb.encode, "every3.All", { r_int32 = value })
    raises("every3.All.p_int32: expected ...table...got ", pb.encode, "every3.All", { p_int32 = value })
    raises("every3.All.r_string: expected ...table...got ", pb.encode, "every3.All", { r_string = value })
  end
end)

h.test("a truncated element is refused and named", function()
  refuses("every3.All.r_string[2]: truncated", pb.decode("every3.All", h.bytes "b2 03 01 61 b2 03 05 62"))
  refuses("every3.All.r_inner[2].b: truncated", pb.decode("every3.All", h.bytes "ca 03 00 ca 03 03 12 05 78"))
end)
