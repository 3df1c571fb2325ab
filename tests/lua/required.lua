-- Required fields are checked both ways, on the merged whole.

local h = ...
local pb = h.instance()
local both, encodes, decodes, raises, refuses = h.both, h.encodes, h.decodes, h.raises, h.refuses

h.test("encode names what is missing", function()
  raises("tutorial.Person.name: required field missing", pb.encode, "tutorial.Person", { id = 1 })
  raises("tutorial.Person.id: required field missing", pb.encode, "tutorial.Person", { name = "a" })
  raises("every2.Required.child.name: required field missing", pb.encode, "every2.Required", { id = 1, name = "a", child = { id = 1 } })
  raises("every2.Holder.many[2].id: required field missing", pb.encode, "every2.Holder", { many = { { id = 1, name = "" }, { name = "a" } } })
  raises('every2.Holder.by_name["bob"].name: required field missing', pb.encode, "every2.Holder", { by_name = { bob = { id = 1 } } })
  raises("every2.Holder.picked.id: required field missing", pb.encode, "every2.Holder", { picked = { name = "a" } })
  raises("every2.Holder.part.a: required field missing", pb.encode, "every2.Holder", { part = {} })
end)

h.test("decode names what is missing", function()
  refuses("tutorial.Person.name: required field missing", pb.decode("tutorial.Person", h.bytes "10 01"))
  refuses("tutorial.Person.id: required field missing", pb.decode("tutorial.Person", h.bytes "0a 01 61"))
  refuses("every2.Required", pb.decode("every2.Required", ""))
  refuses("every2.Holder.one.name: required field missing", pb.decode("every2.Holder", h.bytes "0a 02 08 01"))
  refuses("every2.Holder.many[2].id: required field missing", pb.decode("every2.Holder", h.bytes "12 04 08 01 12 00 12 03 12 01 61"))
  refuses('every2.Holder.by_name["bob"].name: required field missing', pb.decode("every2.Holder", h.bytes "1a 09 0a 03 62 6f 62 12 02 08 01"))
  refuses("every2.Holder.picked.id: required field missing", pb.decode("every2.Holder", h.bytes "22 02 12 00"))
  refuses("every2.Holder.part.a: required field missing", pb.decode("every2.Holder", h.bytes "33 34"))
end)

h.test("present ones pass, zeros too", function()
  both(pb, "every2.Required", { id = 0, name = "" }, "08 00 12 00")
  both(pb, "every2.Holder", { one = { id = 1, name = "a", child = { id = 2, name = "b" } } }, "0a 0c 08 01 12 01 61 1a 05 08 02 12 01 62")
  both(pb, "every2.Holder", { many = { { id = 1, name = "" } }, by_name = { x = { id = 2, name = "" } } }, "12 04 08 01 12 00 1a 09 0a 01 78 12 04 08 02 12 00")
end)

h.test("a split message is checked when it is whole", function()
  decodes(pb, "every2.Holder", "0a 02 08 01 0a 03 12 01 61", { one = { id = 1, name = "a" } })
  decodes(pb, "every2.Holder", "0a 02 08 01 28 05 0a 03 12 01 61", { one = { id = 1, name = "a" }, number = 5 })
  decodes(pb, "every2.Holder", "0a 07 08 01 1a 03 12 01 62 0a 07 12 01 61 1a 02 08 02",
    { one = { id = 1, name = "a", child = { id = 2, name = "b" } } })
  decodes(pb, "every2.Holder", "22 02 08 01 22 02 12 00", { picked = { id = 1, name = "" } })
  decodes(pb, "every2.Holder", "1a 0b 0a 01 78 12 02 08 01 12 02 12 00", { by_name = { x = { id = 1, name = "" } } })
  decodes(pb, "every2.Holder", "33 34 33 08 05 34", { part = { a = 5 } })
  refuses("every2.Holder.one.name: required field missing", pb.decode("every2.Holder", h.bytes "0a 02 08 01 0a 02 08 02"))
end)

h.test("a oneof member that another replaced is not checked", function()
  decodes(pb, "every2.Holder", "22 02 08 01 28 05", { number = 5 })
end)

h.test("a map value that another replaced need not be whole, the last must be", function()
  decodes(pb, "every2.Holder", "1a 07 0a 01 78 12 02 08 01 1a 09 0a 01 78 12 04 08 02 12 00", { by_name = { x = { id = 2, name = "" } } })
  refuses('every2.Holder.by_name["x"].name: required field missing',
    pb.decode("every2.Holder", h.bytes "1a 09 0a 01 78 12 04 08 02 12 00 1a 07 0a 01 78 12 02 08 01"))
end)

h.test("a map entry without a value lacks its required fields", function()
  refuses("every2.Holder.by_name...required field missing", pb.decode("every2.Holder", h.bytes "1a 03 0a 01 78"))
end)

h.test("more required fields than fit a machine word", function()
  local fields, value, bytes = {}, {}, {}
  for i = 1, 70 do
    fields[i] = { "f" .. i, i, 2, 5 }
    value["f" .. i] = i
    bytes[i] = h.varint(i * 8) .. h.varint(i)
  end
  local own = h.instance()
  own.register(h.file("strict.proto", "strict", { h.message("Strict", fields) }))
  both(own, "strict.Strict", value, h.hex(table.concat(bytes)))
  for _, missing in ipairs { 1, 63, 64, 65, 70 } do
    local text = "strict.Strict.f" .. missing .. ": required field missing"
    local kept = value["f" .. missing]
    value["f" .. missing] = nil
    raises(text, own.encode, "strict.Strict", value)
    value["f" .. missing] = kept
    refuses(text, own.decode("strict.Strict", table.concat(bytes, "", 1, missing - 1) .. table.concat(bytes, "", missing + 1)))
  end
end)

h.test("option required=ignore", function()
  local lax = h.instance { required = "ignore" }
  encodes(lax, "tutorial.Person", { id = 1 }, "10 01")
  encodes(lax, "every2.Holder", { one = {}, many = { {} } }, "0a 00 12 00")
  decodes(lax, "tutorial.Person", "10 01", { id = 1 })
  decodes(lax, "every2.Holder", "0a 00 12 00 33 34", { one = {}, many = { {} }, part = {} })
end)

h.test("the flat form does not check", function()
  h.eq(pb.pack("tutorial.Person id", 5), h.bytes "10 05")
  h.eq(pb.unpack("tutorial.Person id", h.bytes "10 05"), 5)
end)
