-- Extensions: their keys, under both spellings, in every function; message sets.

local h = ...
local both, encodes, decodes, raises, refuses = h.both, h.encodes, h.decodes, h.raises, h.refuses

local function instance(options)
  local pb = h.protobuf.new(options)
  pb.register(h.set "bare")
  return pb
end

local pb = instance()

-- A file that imports extensions.proto and adds int32 extensions, { name = number }, to a message.
local function extending(name, extendee, numbers)
  local field, varint = h.field, h.varint
  local out = field(1, name .. ".proto") .. field(2, name) .. field(3, "extensions.proto")
  for key, number in pairs(numbers) do
    out = out .. field(7, field(1, key) .. field(2, extendee) .. "\24" .. varint(number) .. "\32\1\40\5")
  end
  return out
end

-- What stands for an extension under either name, in tables that are encoded.
local values = {
  { "ext.number", 5, "10 05" },
  { "bare", 5, "30 05" },
  { "inners", { { a = 1 }, {} }, "3a 02 08 01 3a 00" },
  { "ext.text", "hi", "a2 06 02 68 69" },
  { "ext.color", "RED", "a8 06 00" },
  { "ext.inner", { a = 1, inner = {} }, "b2 06 04 08 01 1a 00" },
  { "ext.grouped", { a = 1 }, "bb 06 08 01 bc 06" },
  { "ext.unpacked", { 1, 0 }, "c0 06 01 c0 06 00" },
  { "ext.packed", { 1, 0 }, "ca 06 02 01 00" },
  { "ext.inners", { { a = 1 }, {} }, "d2 06 02 08 01 d2 06 00" },
  { "ext.colors", { "GREEN", "RED" }, "d8 06 01 d8 06 00" },
  { "ext.flag", false, "e0 06 00" },
  { "ext.wide", 0, "e8 06 00" },
  { "ext.an_extension_whose_name_is_longer_than_forty_characters", 5, "f0 06 05" },
  { "ext.groups", { { a = 1 }, {} }, "fb 06 08 01 fc 06 fb 06 fc 06" },
  { "ext.Scope.scoped", { x = 1 }, "c2 07 02 08 01" },
  { "ext.Scope.text", "", "ca 07 00" },
  { "ext.far", 0, "fd ff ff ff 0f 00 00 00 00" },
}

h.test("every kind goes there and back", function()
  for _, value in ipairs(values) do
    both(pb, "ext.Base", { [value[1]] = value[2] }, value[3])
  end
end)

h.test("encode takes the name in brackets", function()
  for _, value in ipairs(values) do
    encodes(pb, "ext.Base", { ["[" .. value[1] .. "]"] = value[2] }, value[3])
  end
end)

h.test("they stand in number order among the fields", function()
  local all, hex = { id = 1, name = "n" }, { "08 01" }
  for i, value in ipairs(values) do
    local name = i % 2 == 0 and "[" .. value[1] .. "]" or value[1]
    all[name] = value[2]
    hex[#hex + 1] = value[3]
    if value[1] == "inners" then
      hex[#hex + 1] = "92 03 01 6e"
    end
  end
  for _ = 1, 10 do
    encodes(pb, "ext.Base", all, table.concat(hex))
  end
end)

h.test("lists packed or not, in parts, and parts of messages", function()
  decodes(pb, "ext.Base", "c2 06 02 01 02 c0 06 03 c8 06 04 ca 06 01 05", { ["ext.unpacked"] = { 1, 2, 3 }, ["ext.packed"] = { 4, 5 } })
  decodes(pb, "ext.Base", "b2 06 02 08 01 08 05 b2 06 03 12 01 78", { id = 5, ["ext.inner"] = { a = 1, b = "x" } })
  decodes(pb, "ext.Base", "bb 06 bc 06 bb 06 08 01 bc 06", { ["ext.grouped"] = { a = 1 } })
  decodes(pb, "ext.Base", "a8 06 07 d8 06 07 d8 06 01", { ["ext.colors"] = { "GREEN" }, ["?unknown"] = h.bytes "a8 06 07 d8 06 07" })
  decodes(pb, "ext.Base", "15 01 02 03 04", { ["?unknown"] = h.bytes "15 01 02 03 04" })
end)

h.test("extensions of what extensions hold", function()
  local value = { ["ext.Open.open"] = { ["ext.Open.deeper"] = { ["ext.Open.leaf"] = 7 }, ["ext.Open.leaf"] = 8 } }
  both(pb, "ext.Base", value, "92 08 06 0a 02 10 07 10 08")
  encodes(pb, "ext.Base", { ["[ext.Open.open]"] = { ["[ext.Open.deeper]"] = {} } }, "92 08 02 0a 00")
end)

h.test("where a plain field has the very name, the extension has brackets", function()
  both(pb, "ext.Base", { plain = 1, ["[plain]"] = 2 }, "28 02 e0 03 01")
  local base = pb.decode("ext.Base", h.bytes "28 02")
  h.eq(base, { ["[plain]"] = 2 })
  h.eq(base.plain, 0)
  h.eq({ pb.has(base, "plain"), pb.has(base, "[plain]") }, { false, true })
  h.eq({ pb.unpack("ext.Base plain [plain]", h.bytes "28 02 e0 03 01") }, { 1, 2 })
end)

h.test("both names at once are an error that names both", function()
  local table = { ["ext.number"] = 1, ["[ext.number]"] = 1, id = 1 }
  for _ = 1, 10 do
    raises('ext.Base: both "ext.number" and "[ext.number]" are set', pb.encode, "ext.Base", table)
  end
  raises('both "ext.inner" and', pb.encode, "ext.Base", { ["ext.inner"] = {}, ["[ext.inner]"] = {} })
  local long = "ext.an_extension_whose_name_is_longer_than_forty_characters"
  raises("both", pb.encode, "ext.Base", { [long] = 1, ["[" .. long .. "]"] = 1 })
  raises('ext.Base.[ext.Open.open]: both "ext.Open.leaf" and', pb.encode, "ext.Base",
    { ["ext.Open.open"] = { ["ext.Open.leaf"] = 1, ["[ext.Open.leaf]"] = 2 } })
  -- As many keys as there are can be in one table.
  local all = {}
  for _, value in ipairs(values) do
    all[value[1]] = value[2]
    all["[" .. value[1] .. "]"] = value[2]
  end
  raises("both", pb.encode, "ext.Base", all)
end)

h.test("keys that do not exist", function()
  raises('ext.Base: unknown field "[ext.numer]" (did you mean "ext.number"?)', pb.encode, "ext.Base", { ["[ext.numer]"] = 1 })
  raises('unknown field "ext.numer" (did you mean "ext.number"?)', pb.encode, "ext.Base", { ["ext.numer"] = 1 })
  raises('unknown field "[id]" (did you mean "id"?)', pb.encode, "ext.Base", { ["[id]"] = 1 })
  raises('unknown field "number" (did you mean "ext.number"?)', pb.encode, "ext.Base", { number = 1 })
  raises('unknown field "Scope.text" (did you mean "ext.Scope.text"?)', pb.encode, "ext.Base", { ["Scope.text"] = 1 })
  raises('unknown field "[ext.number]"', pb.encode, "ext.Inner", { ["[ext.number]"] = 1 })
  raises('unknown field "[[ext.number]]"', pb.encode, "ext.Base", { ["[[ext.number]]"] = 1 })
  encodes(instance { unknown_key = "ignore" }, "ext.Base", { ["[ext.numer]"] = 1, ["[ext.number]"] = 1 }, "10 01")
end)

h.test("errors show them in brackets", function()
  raises("ext.Base.[ext.number]: expected int32, got boolean", pb.encode, "ext.Base", { ["ext.number"] = true })
  raises("ext.Base.[ext.number]: expected", pb.encode, "ext.Base", { ["[ext.number]"] = true })
  raises("ext.Base.[ext.inners][2].b: expected string", pb.encode, "ext.Base", { ["ext.inners"] = { {}, { b = true } } })
  raises("ext.Base.[bare]: expected", pb.encode, "ext.Base", { bare = true })
  raises("ext.Base.[plain]: expected", pb.encode, "ext.Base", { ["[plain]"] = true })
  raises("ext.Base.plain: expected", pb.encode, "ext.Base", { plain = true })
  refuses("ext.Base.[ext.inner].inner: truncated, 5 bytes needed, 1 left, at byte 5", pb.decode("ext.Base", h.bytes "b2 06 03 1a 05 00"))
  refuses("ext.Base.[ext.Open.open].[ext.Open.deeper]: truncated", pb.decode("ext.Base", h.bytes "92 08 02 0a 05"))
end)

h.test("absent ones read as their defaults, under both names", function()
  local base = pb.decode("ext.Base", "")
  for name, value in pairs { ["ext.number"] = 7, ["ext.text"] = "", ["ext.color"] = "GREEN", ["ext.flag"] = false, bare = 0, ["ext.far"] = 0 } do
    h.eq({ base[name], base["[" .. name .. "]"] }, { value, value })
  end
  h.eq(base["[plain]"], 0)
  h.eq(next(base), nil)
  for _, name in ipairs { "ext.none", "[ext.none]", "[id]", "[[ext.number]]", 1, true } do
    h.eq(base[name], nil)
  end
end)

h.test("absent messages and lists read as tables under the plain name", function()
  for _, first in ipairs { "", "[" } do
    local base = pb.decode("ext.Base", "")
    for _, name in ipairs { "ext.inner", "ext.grouped", "ext.unpacked", "ext.inners", "ext.Scope.scoped", "inners" } do
      local key = first == "" and name or "[" .. name .. "]"
      local made = base[key]
      h.eq(made, {}, name)
      assert(rawequal(rawget(base, name), made), name)
      assert(rawequal(base[name], made) and rawequal(base["[" .. name .. "]"], made), name)
      h.eq({ pb.has(base, name), pb.has(base, "[" .. name .. "]") }, { false, false })
    end
    encodes(pb, "ext.Base", base, "")
    base["[ext.inner]"].a = 1
    base["[ext.unpacked]"][1] = 5
    encodes(pb, "ext.Base", base, "b2 06 02 08 01 c0 06 05")
    h.eq({ pb.has(base, "ext.inner"), pb.has(base, "[ext.unpacked]") }, { true, true })
  end
end)

h.test("a value is read and seen under either name", function()
  local base = pb.decode("ext.Base", h.bytes "10 05")
  h.eq(base["[ext.number]"], 5)
  h.eq({ pb.has(base, "ext.number"), pb.has(base, "[ext.number]"), pb.has(base, "[ext.text]") }, { true, true, false })
  h.eq({ pb.has(base, "[id]"), pb.has(base, "[[ext.number]]"), pb.has(base, "") }, { false, false, false })

  base = pb.decode("ext.Base", "")
  base["[ext.number]"] = 6
  base["[ext.inner]"] = { a = 1 }
  base["[ext.unpacked]"] = { 1 }
  h.eq({ base["ext.number"], base["ext.inner"].a, #base["ext.unpacked"] }, { 6, 1, 1 })
  h.eq({ rawget(base, "ext.number"), rawget(base, "ext.inner") }, {})
  for _, name in ipairs { "ext.number", "ext.inner", "ext.unpacked" } do
    h.eq({ pb.has(base, name), pb.has(base, "[" .. name .. "]") }, { true, true }, name)
  end
  encodes(pb, "ext.Base", base, "10 06 b2 06 02 08 01 c0 06 01")
  base["[ext.unpacked]"] = {}
  h.eq({ pb.has(base, "ext.unpacked"), pb.has(base, "[ext.unpacked]") }, { false, false })
  -- A table without defaults has no other names.
  h.eq(pb.has({ ["ext.number"] = 1 }, "[ext.number]"), false)
end)

h.test("a table that reading made may stand beside a value", function()
  local base = pb.decode("ext.Base", "")
  local _ = base["[ext.inner]"].inner, base["[ext.unpacked]"]
  base["[ext.inner]"] = { a = 1 }
  base["[ext.unpacked]"] = { 1 }
  h.eq({ pb.has(base, "ext.inner"), pb.has(base, "ext.unpacked") }, { true, true })
  for _ = 1, 10 do
    encodes(pb, "ext.Base", base, "b2 06 02 08 01 c0 06 01")
  end
  rawget(base, "ext.unpacked")[1] = 5
  raises('both "ext.unpacked" and "[ext.unpacked]" are set', pb.encode, "ext.Base", base)
  base["[ext.unpacked]"] = nil
  rawget(base, "ext.inner").a = 5
  raises('both "ext.inner" and "[ext.inner]" are set', pb.encode, "ext.Base", base)
end)

h.test("extract and default", function()
  local base = pb.decode("ext.Base", h.bytes "b2 06 00")
  local _ = base["[ext.inner]"].inner, base["[ext.Scope.scoped]"], base["[ext.inners]"], base["inners"]
  base["[ext.grouped]"] = setmetatable({}, getmetatable(base["ext.grouped"]))
  base["[ext.colors]"] = {}
  pb.extract(base)
  h.eq(base, { ["ext.inner"] = {} })

  base = pb.default("ext.Base", { ["[ext.inner]"] = { inner = {} }, ["ext.inners"] = { {} } })
  h.eq({ base["ext.inner"].b, base["[ext.inner]"].inner.b, base["[ext.inners]"][1].b, base["ext.number"] }, { "", "", "", 7 })
  encodes(pb, "ext.Base", base, "b2 06 02 1a 00 d2 06 00")
end)

h.test("option defaults", function()
  local copy = instance { defaults = "copy" }
  local base = copy.decode("ext.Base", h.bytes "10 05")
  h.eq({ base["ext.number"], base["ext.color"], base["ext.unpacked"], base["[plain]"], base.id }, { 5, "GREEN", {}, 0, 0 })
  h.eq({ base["[ext.number]"], base["ext.inner"], base["[ext.color]"] }, {})
  base = copy.default("ext.Base", { ["[ext.number]"] = 5, ["[ext.inner]"] = {} })
  h.eq({ base["[ext.number]"], base["ext.number"], base["ext.text"], base["[ext.inner]"].a }, { 5, nil, "", 0 })
  local none = instance { defaults = "none" }
  decodes(none, "ext.Base", "10 05", { ["ext.number"] = 5 })
  h.eq(none.decode("ext.Base", "")["ext.number"], nil)
  h.eq(instance { enum = "number" }.decode("ext.Base", "")["[ext.color]"], 1)
end)

h.test("proxies", function()
  local function proxy(t)
    return setmetatable({}, { __pairs = function()
      return next, t
    end })
  end
  encodes(pb, "ext.Base", proxy { ["[ext.number]"] = 5, ["ext.inner"] = proxy { a = 1 } }, "10 05 b2 06 02 08 01")
  raises("both", pb.encode, "ext.Base", proxy { ["[ext.number]"] = 5, ["ext.number"] = 5 })
  local list = setmetatable({}, { __len = function()
    return 1
  end, __index = function()
    return 1
  end })
  encodes(pb, "ext.Base", { ["[ext.unpacked]"] = list }, "c0 06 01")
  raises("both", pb.encode, "ext.Base", { ["[ext.unpacked]"] = list, ["ext.unpacked"] = { 1 } })
end)

h.test("check knows both names", function()
  for _, name in ipairs { "ext.number", "[ext.number]", "bare", "[bare]", "plain", "[plain]", "id" } do
    h.eq(pb.check("ext.Base", name), true, name)
  end
  for _, name in ipairs { "[id]", "number", "[ext.numer]", "[[bare]]", "" } do
    h.eq(pb.check("ext.Base", name), false, name)
  end
end)

h.test("the flat form", function()
  local bytes = h.bytes "10 05 a2 06 02 68 69 b2 06 02 08 01 c0 06 01"
  h.eq({ pb.unpack("ext.Base [ext.text] [ext.number] [ext.color] id [ext.unpacked]", bytes) }, { "hi", 5, 1, 0, { 1 } })
  h.eq({ pb.unpack("ext.Base [ext.inner]", bytes) }, { { h.bytes "08 01", 2 } })
  h.eq(h.hex(pb.pack("ext.Base [ext.inner] [ext.number] id", h.bytes "08 01", 5, 1)), "08011005b206020801")
  h.eq(h.hex(pb.pack("ext.Base [ext.text] [ext.unpacked]", nil, { 1 })), "c00601")
  raises("named twice", pb.unpack, "ext.Base [ext.number] [ext.number]", "")
  raises('unknown field "ext" (did you mean "[ext.number]"?)', pb.unpack, "ext.Base ext.number", "")
  raises('unknown field "[ext.numer]" (did you mean "[ext.number]"?)', pb.unpack, "ext.Base [ext.numer]", "")
end)

h.test("dotted names go through them", function()
  h.eq({ pb.unpack("ext.Base [ext.inner].b [ext.inners].a [ext.inner].a", h.bytes "b2 06 05 08 05 12 01 78 d2 06 02 08 07") }, { "x", { 7 }, 5 })
  h.eq({ pb.unpack("ext.Holder set.[ext.First.first].x sets.[ext.First.first].x", h.bytes "0a 08 0b 10 04 1a 02 08 05 0c 12 08 0b 10 04 1a 02 08 06 0c") },
    { 5, { 6 } })
  h.eq(h.hex(pb.pack("ext.Base [ext.inner].a id", 5, 1)), "0801b206020805")
  h.eq(h.hex(pb.pack("ext.Holder set.[ext.First.first].x number", 5, 1)), "0a080b10041a0208050c2801")
  raises("ext.Set.[ext.First.first].x: truncated", pb.unpack, "ext.Set [ext.First.first].x", h.bytes "0b 10 04 1a 01 08 0c")
end)

h.test("more of them than fit on the stack, or have a bit", function()
  local many = instance()
  local numbers, names = {}, {}
  for i = 1, 70 do
    names[i] = "many.e" .. i
    numbers["e" .. i] = 2000 + i
  end
  many.register(extending("many", ".ext.Base", numbers))
  local plain, brackets, hex = {}, {}, {}
  for i, name in ipairs(names) do
    plain[name] = i
    brackets["[" .. name .. "]"] = i
    hex[i] = h.hex(h.varint((2000 + i) * 8) .. h.varint(i))
  end
  hex = table.concat(hex)
  both(many, "ext.Base", plain, hex)
  encodes(many, "ext.Base", brackets, hex)
  brackets["many.e70"] = 70
  raises('both "many.e70" and "[many.e70]" are set', many.encode, "ext.Base", brackets)
  local base = many.decode("ext.Base", h.bytes(hex))
  local _ = base["ext.inner"], base["ext.unpacked"]
  base["[ext.inner]"], base["[ext.unpacked]"] = { a = 1 }, { 1 }
  encodes(many, "ext.Base", base, "b2 06 02 08 01 c0 06 01" .. hex)
end)

h.test("unknown fields that an extension declares later come first", function()
  local late = instance()
  local before = late.decode("ext.Base", h.bytes "08 01 c0 3e 05 98 75 07")
  h.eq(before, { id = 1, ["?unknown"] = h.bytes "c0 3e 05 98 75 07" })
  late.register(extending("late", ".ext.Base", { known = 1000 }))
  encodes(late, "ext.Base", before, "c0 3e 05 08 01 98 75 07")
  h.eq(before["late.known"], nil)
  before["[late.known]"] = 6
  encodes(late, "ext.Base", before, "c0 3e 05 08 01 c0 3e 06 98 75 07")
  decodes(late, "ext.Base", "08 01 c0 3e 05 98 75 07", { id = 1, ["late.known"] = 5, ["?unknown"] = h.bytes "98 75 07" })
  h.eq(late.decode("ext.Base", "")["[late.known]"], 0)
end)

h.test("custom options", function()
  decodes(pb, "google.protobuf.FieldOptions", "10 01 8a b5 18 01 78", { packed = true, ["ext.note"] = "x" })
  local note
  for _, file in ipairs(pb.decode("google.protobuf.FileDescriptorSet", h.set "extensions").file) do
    for _, message in ipairs(file.message_type) do
      note = note or message.name == "Noted" and message.field[1].options["[ext.note]"]
    end
  end
  h.eq(note, "about a")
end)

-- Message sets ------------------------------------------------------------------------------------------------------

local first, second = "ext.First.first", "ext.Second.second"

h.test("a message set is written as items", function()
  both(pb, "ext.Set", { [first] = { x = 5 } }, "0b 10 04 1a 02 08 05 0c")
  both(pb, "ext.Set", { [first] = {}, [second] = { name = "n" } }, "0b 10 04 1a 00 0c 0b 10 f6 eb ae 07 1a 03 0a 01 6e 0c")
  encodes(pb, "ext.Set", { ["[ext.First.first]"] = { x = 5 } }, "0b 10 04 1a 02 08 05 0c")
  both(pb, "ext.Set", { [first] = { set = { [first] = { x = 1 } } } }, "0b 10 04 1a 0a 12 08 0b 10 04 1a 02 08 01 0c 0c")
  both(pb, "ext.Set", {}, "")
end)

h.test("items are read in either order, in parts, and so is a plain field", function()
  decodes(pb, "ext.Set", "0b 1a 02 08 05 10 04 0c", { [first] = { x = 5 } })
  decodes(pb, "ext.Set", "22 02 08 05", { [first] = { x = 5 } })
  decodes(pb, "ext.Set", "0b 10 04 1a 02 08 05 0c 22 02 12 00 0b 10 05 0c", { [first] = { x = 5, set = {} } })
end)

h.test("message sets in fields, lists, maps and oneofs", function()
  local item = "0b 10 04 1a 02 08 05 0c"
  local value = { [first] = { x = 5 } }
  both(pb, "ext.Holder", { set = value, sets = { value, {} }, map = { a = value }, chosen = value },
    "0a 08" .. item .. "12 08" .. item .. "12 00 1a 0d 0a 01 61 12 08" .. item .. "22 08" .. item)
  both(pb, "ext.Holder", { chosen = {} }, "22 00")
end)

h.test("absent messages of a set", function()
  local set = pb.decode("ext.Set", "")
  local _ = set["[ext.First.first]"].set["[ext.First.first]"].x
  encodes(pb, "ext.Set", set, "")
  h.eq(pb.has(set, first), false)
  set["[ext.First.first]"].set[first].x = 1
  encodes(pb, "ext.Set", set, "0b 10 04 1a 0a 12 08 0b 10 04 1a 02 08 01 0c 0c")
  -- A set that is found to be absent leaves nothing behind.
  local holder = pb.decode("ext.Holder", "")
  _ = holder.set[first].x
  holder.number = 5
  encodes(pb, "ext.Holder", holder, "28 05")
end)

h.test("unknown items are kept whole, and written back", function()
  for _, hex in ipairs {
    "0b 10 05 1a 02 08 05 0c", "0b 1a 00 20 01 10 05 0c", "0b 10 80 80 80 80 02 1a 00 0c", "0b 10 ff ff ff ff 07 1a 00 0c",
  } do
    both(pb, "ext.Set", { [first] = {}, ["?unknown"] = h.bytes(hex) }, "0b 10 04 1a 00 0c" .. hex)
  end
  decodes(instance { unknown = "drop" }, "ext.Set", "0b 10 05 1a 00 0c", {})
end)

h.test("unknown items whose extension is known by now come first", function()
  local mine = "0b 10 04 1a 02 08 01 0c"
  encodes(pb, "ext.Set", { ["?unknown"] = h.bytes("0b 10 05 1a 00 0c" .. mine), [first] = { x = 2 } },
    mine .. "0b 10 04 1a 02 08 02 0c 0b 10 05 1a 00 0c")
  decodes(pb, "ext.Set", mine .. "0b 10 04 1a 02 08 02 0c", { [first] = { x = 2 } })
  encodes(pb, "ext.Set", { ["?unknown"] = h.bytes "28 01 22 00" }, "22 00 28 01")
  for _, hex in ipairs { "0b", "0b 10 04", "0b 10 00 0c", "0b 10 04 1a 05 0c", "0b 14", "0c" } do
    raises("ext.Set: malformed unknown fields", pb.encode, "ext.Set", { ["?unknown"] = h.bytes(hex) })
  end
end)

h.test("errors within items", function()
  raises("ext.Set.[ext.First.first].x: expected int32", pb.encode, "ext.Set", { [first] = { x = true } })
  raises("ext.Set.[ext.First.first]: expected table", pb.encode, "ext.Set", { [first] = 5 })
  raises("ext.Set.[ext.Second.second].name: required", pb.encode, "ext.Set", { [second] = {} })
  raises('ext.Set: both "ext.First.first" and', pb.encode, "ext.Set", { [first] = {}, ["[ext.First.first]"] = {} })
  refuses("ext.Set.[ext.Second.second].name: required field missing, at byte 9", pb.decode("ext.Set", h.bytes "0b 10 f6 eb ae 07 1a 00 0c"))
  refuses("ext.Holder.sets[1].[ext.First.first].x: truncated, 1 byte needed, 0 left, at byte 8",
    pb.decode("ext.Holder", h.bytes "12 07 0b 10 04 1a 01 08 0c"))
  refuses("ext.Set: invalid field number, at byte 2", pb.decode("ext.Set", h.bytes "0b 10 00 1a 00 0c"))
  local loop = {}
  loop[first] = { set = loop }
  raises("nested too deeply", pb.encode, "ext.Set", loop)
end)

h.test("depth counts the messages of items, not items", function()
  local value, hex = { [first] = { set = { [first] = {} } } }, "0b 10 04 1a 08 12 06 0b 10 04 1a 00 0c 0c"
  both(instance { depth = 3 }, "ext.Set", value, hex)
  local shallow = instance { depth = 2 }
  raises("nested too deeply", shallow.encode, "ext.Set", value)
  refuses("nested too deeply", shallow.decode("ext.Set", h.bytes(hex)))
end)

h.test("memory of many items is bounded", function()
  local small = instance { max_bytes = 20000 }
  local items = h.bytes "0b 10 04 1a 00 0c"
  assert(small.decode("ext.Set", items:rep(50)))
  refuses("ext.Set...too large for option max_bytes", small.decode("ext.Set", items:rep(1000)))
end)

h.test("message sets in the flat form", function()
  h.eq({ pb.unpack("ext.Set [ext.First.first] [ext.Second.second]", h.bytes "0b 10 04 1a 02 08 05 0c 22 02 12 00 0b 10 05 1a 00 0c") },
    { { h.bytes "08 05 12 00", 4 } })
  h.eq(h.hex(pb.pack("ext.Set [ext.Second.second] [ext.First.first]", nil, h.bytes "08 05")), "0b10041a0208050c")
  h.eq(h.hex(pb.pack("ext.Set [ext.First.first]", { h.bytes "08 05 08", 2 })), "0b10041a0208050c")
  h.eq(pb.pack "ext.Set [ext.First.first]", "")
end)
