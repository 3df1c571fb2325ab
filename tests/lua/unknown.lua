-- Unknown fields: kept, written back, dropped on demand, checked.

local h = ...
local pb = h.instance()
local both, encodes, decodes, raises = h.both, h.encodes, h.decodes, h.raises

-- A field of every wire type, none of which every3.Inner declares.
local every = "50 01 59 01 02 03 04 05 06 07 08 62 02 68 69 6b 08 01 73 74 6c 7d 01 02 03 04"

h.test("the name of their key", function()
  h.eq(pb.UNKNOWN, "?unknown")
  h.eq(h.protobuf.UNKNOWN, "?unknown")
end)

h.test("every wire type goes there and back", function()
  both(pb, "every3.Inner", { ["?unknown"] = h.bytes(every) }, every)
  both(pb, "every3.Empty", { ["?unknown"] = h.bytes "08 96 01" }, "08 96 01")
  both(pb, "every3.Inner", { a = 5, ["?unknown"] = h.bytes(every) }, "08 05" .. every)
end)

h.test("they are collected in order and follow the known fields", function()
  decodes(pb, "every3.Inner", "50 01 08 05 58 02 12 01 78 50 03", { a = 5, b = "x", ["?unknown"] = h.bytes "50 01 58 02 50 03" })
  encodes(pb, "every3.Inner", { a = 5, b = "x", ["?unknown"] = h.bytes "50 01 58 02 50 03" }, "08 05 12 01 78 50 01 58 02 50 03")
end)

h.test("they are kept as they came", function()
  both(pb, "every3.Inner", { ["?unknown"] = h.bytes "d0 80 00 81 00" }, "d0 80 00 81 00")
end)

h.test("pairs shows them", function()
  local seen = {}
  for k, v in pairs(pb.decode("every3.Inner", h.bytes "08 05 50 01")) do
    seen[k] = v
  end
  h.eq(seen, { a = 5, ["?unknown"] = h.bytes "50 01" })
  h.eq(pb.has(pb.decode("every3.Inner", h.bytes "50 01"), "?unknown"), true)
  h.eq(pb.decode("every3.Inner", h.bytes "08 05")["?unknown"], nil)
end)

h.test("those of inner messages stay inside", function()
  both(pb, "every3.All", { s_inner = { a = 1, ["?unknown"] = h.bytes "50 01" }, r_inner = { { ["?unknown"] = h.bytes "50 02" } } },
    "8a 01 04 08 01 50 01 ca 03 02 50 02")
  both(pb, "every3.All", { v_inner = { a = { ["?unknown"] = h.bytes "50 01" } } }, "aa 07 07 0a 01 61 12 02 50 01")
end)

h.test("a reserved number is unknown", function()
  both(pb, "every3.All", { ["?unknown"] = h.bytes "b0 09 01" }, "b0 09 01")
end)

h.test("declared numbers come first, so that a set key wins", function()
  encodes(pb, "every3.Inner", { a = 5, ["?unknown"] = h.bytes "08 07 50 01" }, "08 07 08 05 50 01")
  encodes(pb, "every3.Inner", { a = 5, ["?unknown"] = h.bytes "50 01 08 07 12 01 78" }, "08 07 12 01 78 08 05 50 01")
  encodes(pb, "every3.Inner", { ["?unknown"] = h.bytes "50 01 08 07" }, "08 07 50 01")
  h.eq(pb.decode("every3.Inner", pb.encode("every3.Inner", { a = 5, ["?unknown"] = h.bytes "08 07 50 01" })),
    { a = 5, ["?unknown"] = h.bytes "50 01" })
end)

h.test("a zero wins, too, over bytes of the same field", function()
  encodes(pb, "every3.Inner", { a = 0, b = "", ["?unknown"] = h.bytes "08 07 50 01" }, "08 07 08 00 12 00 50 01")
  encodes(pb, "every3.Inner", { a = 0, b = "", ["?unknown"] = h.bytes "50 01" }, "50 01")
end)

h.test("a declared number with a wire type that does not fit comes first too", function()
  encodes(pb, "every3.Inner", { a = 5, ["?unknown"] = h.bytes "50 01 0d 01 02 03 04" }, "0d 01 02 03 04 08 05 50 01")
end)

h.test("malformed ones are refused", function()
  local cut = h.bytes(every)
  for _, hex in ipairs {
    "00", "80", "50", "50 80", "59 01 02", "62 05 68", "7d 01 02 03", "6b 08 01", "6b 74", "6c", "57", "56 01", "02 00",
    "50 80 80 80 80 80 80 80 80 80 80 01", "62 ff ff ff ff 0f", "62 ff ff ff ff ff ff ff ff ff 01",
  } do
    raises("every3.Inner", pb.encode, "every3.Inner", { a = 1, ["?unknown"] = h.bytes(hex) })
  end
  raises("every3.All.s_inner", pb.encode, "every3.All", { s_inner = { ["?unknown"] = cut:sub(1, -2) } })
end)

h.test("only strings are taken", function()
  for _, value in ipairs { true, {}, 5, print } do
    raises("every3.Inner.?unknown", pb.encode, "every3.Inner", { ["?unknown"] = value })
  end
  encodes(pb, "every3.Inner", { ["?unknown"] = "" }, "")
end)

h.test("option unknown=drop", function()
  local drop = h.instance { unknown = "drop" }
  decodes(drop, "every3.Inner", "50 01 08 05" .. every, { a = 5 })
  decodes(drop, "every3.All", "8a 01 04 08 01 50 01", { s_inner = { a = 1 } })
  local all = drop.decode("every2.All", h.bytes "80 01 07 a0 02 09 a2 07 05 0a 01 61 10 09")
  h.eq(all["?unknown"], nil)
  h.eq(drop.has(all, "r_color"), false)
  encodes(drop, "every2.All", all, "")
  h.refuses("every3.Inner", drop.decode("every3.Inner", h.bytes "6b 08 01"))
end)

h.test("those of a message that comes in many parts are kept, without joining them each time", function()
  local parts = h.bytes("8a 01 03 a0 06 01"):rep(40000)
  local value = pb.decode("every3.All", parts)
  h.eq(value.s_inner["?unknown"], h.bytes("a0 06 01"):rep(40000))
  local entry = h.field(1, "k") .. (h.field(2, h.bytes "a0 06 01")):rep(40000)
  local number
  for _, field in ipairs(pb.fields "every3.All") do
    number = field.name == "v_inner" and field.number or number
  end
  value = pb.decode("every3.All", h.field(number, entry))
  h.eq(value.v_inner.k["?unknown"], h.bytes("a0 06 01"):rep(40000))
end)
