-- Edition 2023: what features change, by default, overridden, and set for a whole file.

local h = ...
local protobuf = h.protobuf
local both, encodes, decodes, raises, refuses = h.both, h.encodes, h.decodes, h.raises, h.refuses

local function instance(options)
  local pb = protobuf.new(options)
  pb.register(h.set "edition2023_all")
  return pb
end

local pb = instance()

-- The value of key for each field of a type, by name.
local function told(name, key)
  local by_name = {}
  for _, field in ipairs(pb.fields(name)) do
    by_name[field.name] = field[key]
  end
  return by_name
end

h.test("presence: explicit by default, implicit where said", function()
  both(pb, "edition2023.Presence", { explicit = 0, again = 0.0 }, "08 00 29 00 00 00 00 00 00 00 00")
  encodes(pb, "edition2023.Presence", { implicit = 0, implicit_text = "", implicit_enum = "OPEN_ZERO" }, "")
  both(pb, "edition2023.Presence", { implicit = 1, implicit_text = "a", implicit_enum = "OPEN_ONE" }, "10 01 1a 01 61 20 01")
  h.eq(told("edition2023.Presence", "presence"), {
    explicit = "explicit", implicit = "implicit", implicit_text = "implicit", implicit_enum = "implicit", again = "explicit",
  })
  local message = pb.decode("edition2023.Defaults", "")
  h.eq({ message.number, message.declared, message.open, message.a }, { 0, 7, "OPEN_ZERO" })
  h.eq({ pb.has(message, "declared"), pb.has(pb.decode("edition2023.Defaults", h.bytes "58 00"), "declared") }, { false, true })
end)

h.test("presence: implicit for a whole file, but for messages, oneofs, extensions and what says otherwise", function()
  encodes(pb, "edition2023_all.All", { needed = 0, implicit = 0, text = "", verified = "", open = 0 }, "98 01 00")
  both(pb, "edition2023_all.All", { needed = 0, explicit = 0, a = 0, ["edition2023_all.number"] = 0 }, "10 00 70 00 98 01 00 a0 06 00")
  h.eq(told("edition2023_all.All", "presence"), {
    implicit = "implicit", explicit = "explicit", text = "implicit", verified = "implicit", open = "implicit",
    closed = "explicit", self = "explicit", prefixed = "explicit", a = "explicit", b = "explicit", c = "explicit",
    inner = "explicit", outside = "explicit", needed = "explicit", ["edition2023_all.number"] = "explicit",
    ["edition2023_all.all"] = "explicit", ["edition2023_all.outside"] = "explicit",
    ["edition2023_all.closed"] = "explicit",
  })
end)

h.test("required fields", function()
  raises("edition2023.Required.id: required field missing", pb.encode, "edition2023.Required", { part = { name = "" } })
  raises("edition2023.Required.part: required field missing", pb.encode, "edition2023.Required", { id = 1 })
  raises("edition2023.Required.part.name: required field missing", pb.encode, "edition2023.Required", { id = 1, part = {} })
  refuses("edition2023.Required.part.name: required field missing", pb.decode("edition2023.Required", h.bytes "08 01 12 00"))
  refuses("edition2023_all.All.needed: required field missing", pb.decode("edition2023_all.All", ""))
  both(pb, "edition2023.Required", { id = 0, part = { name = "" } }, "08 00 12 02 0a 00")
  h.eq(told("edition2023.Required", "label"), { id = "required", part = "required", note = "optional" })
end)

h.test("lists: packed by default, expanded where said, both read", function()
  both(pb, "edition2023.Lists", { packed = { 1, -1 }, expanded = { 1, -1 } }, "0a 02 02 01 10 02 10 01")
  decodes(pb, "edition2023.Lists", "08 02 08 01 12 02 02 01", { packed = { 1, -1 }, expanded = { 1, -1 } })
  both(pb, "edition2023_all.All", { needed = 1, expanded = { 1, 2 }, packed = { 1, 2 } }, "38 01 38 02 42 02 01 02 98 01 01")
  both(pb, "edition2023_all.All", { needed = 1, ["edition2023_all.numbers"] = { 1, 2 } }, "98 01 01 a8 06 01 a8 06 02")
  both(pb, "edition2023.Extended", { ["edition2023.packed"] = { 1, 2 }, ["edition2023.expanded"] = { 1, 2 } },
    "aa 06 02 01 02 b0 06 01 b0 06 02")
  h.eq(told("edition2023.Lists", "packed"), { packed = true, expanded = false, closed = true, closed_expanded = false })
  h.eq(told("edition2023.Extended", "packed"), {
    ["edition2023.packed"] = true, ["edition2023.expanded"] = false, ["edition2023.Scope.outside"] = false,
  })
end)

h.test("enums: open by default, closed where said", function()
  both(pb, "edition2023.Enums", { open = 5, closed = "CLOSED_TWO", nested = "NESTED_FIVE" }, "08 05 10 02 18 05")
  decodes(pb, "edition2023.Enums", "10 05 18 06", { ["?unknown"] = h.bytes "10 05 18 06" })
  decodes(pb, "edition2023.Enums", "28 05", { ["?unknown"] = h.bytes "28 05" })
  decodes(pb, "edition2023.Enums", "22 04 08 01 10 01 22 04 08 02 10 05",
    { map = { [1] = "CLOSED0_ONE" }, ["?unknown"] = h.bytes "22 04 08 02 10 05" })
  decodes(pb, "edition2023.Lists", "1a 03 01 05 02 20 05 20 01",
    { closed = { "CLOSED_ONE", "CLOSED_TWO" }, closed_expanded = { "CLOSED_ONE" }, ["?unknown"] = h.bytes "18 05 20 05" })
  local message = pb.decode("edition2023.Enums", "")
  h.eq({ message.open, message.closed, message.nested, message.two }, { "OPEN_ZERO", "CLOSED_ONE", "NESTED_FIVE", "CLOSED_TWO" })
  -- Of a file that closes them, and one in it that is open.
  decodes(pb, "edition2023_all.All", "28 05 30 05 48 05 48 01 98 01 00",
    { open = 5, closeds = { "CLOSED_ONE" }, needed = 0, ["?unknown"] = h.bytes "30 05 48 05" })
  decodes(pb, "edition2023.Extended", "c0 06 05", { ["?unknown"] = h.bytes "c0 06 05" })
end)

h.test("strings: UTF-8 by default, anything where said", function()
  for _, bytes in ipairs { "0a 01 ff", "2a 05 08 01 12 01 ff" } do
    refuses("UTF-8", pb.decode("edition2023.Strings", h.bytes(bytes)))
  end
  raises("edition2023.Strings.verified: ...UTF-8", pb.encode, "edition2023.Strings", { verified = "\255" })
  both(pb, "edition2023.Strings", { raw = "\255", raws = { "\255" }, raw_map = { ["\255"] = "\254" }, raw_values = { "\255" } },
    "12 01 ff 1a 01 ff 22 06 0a 01 ff 12 01 fe 32 05 08 01 12 01 ff")
  both(pb, "edition2023_all.All", { needed = 0, text = "\255" }, "1a 01 ff 98 01 00")
  refuses("edition2023_all.All.verified: ...UTF-8", pb.decode("edition2023_all.All", h.bytes "22 01 ff 98 01 00"))
  both(pb, "edition2023.Extended", { ["edition2023.raw"] = "\255" }, "ca 06 01 ff")
end)

h.test("delimited messages are written as groups, and read no other way", function()
  both(pb, "edition2023.Delimited", { grouplike = { a = 1 } }, "0b 08 01 0c")
  both(pb, "edition2023.Delimited", { other = { up = { grouplike = {} } } }, "13 13 0b 0c 14 14")
  both(pb, "edition2023.Delimited", { list = { { a = 1 }, {} } }, "1b 08 01 1c 1b 1c")
  both(pb, "edition2023.Delimited", { picked = { a = 1 } }, "23 08 01 24")
  both(pb, "edition2023.Delimited", { outside = { b = true } }, "33 08 01 34")
  both(pb, "edition2023.Delimited", { plain = { a = 1 } }, "3a 02 08 01")
  both(pb, "edition2023.Extended", { ["edition2023.outside"] = { b = true } }, "bb 06 08 01 bc 06")
  both(pb, "edition2023.Extended", { ["edition2023.Scope.inside"] = { n = 1 } }, "f3 06 08 01 f4 06")
  both(pb, "edition2023.Extended", { ["edition2023.Scope.outside"] = { {} } }, "fb 06 fc 06")
  decodes(pb, "edition2023.Delimited", "0a 02 08 01", { ["?unknown"] = h.bytes "0a 02 08 01" })
  refuses("group without end", pb.decode("edition2023.Delimited", h.bytes "0b 08 01"))
  h.eq(told("edition2023.Delimited", "type"), {
    grouplike = "group", other = "group", list = "group", picked = "group", number = "int32", outside = "group", plain = "message",
  })
end)

h.test("delimited messages of a whole file, but for maps and what says otherwise", function()
  both(pb, "edition2023_all.All", { needed = 0, self = { needed = 0 } }, "53 98 01 00 54 98 01 00")
  both(pb, "edition2023_all.All", { needed = 0, prefixed = { needed = 0 } }, "5a 03 98 01 00 98 01 00")
  both(pb, "edition2023_all.All", { needed = 0, list = { { needed = 1 } } }, "63 98 01 01 64 98 01 00")
  both(pb, "edition2023_all.All", { needed = 0, map = { a = { needed = 1 } } }, "6a 08 0a 01 61 12 03 98 01 01 98 01 00")
  both(pb, "edition2023_all.All", { needed = 0, b = { needed = 1 } }, "7b 98 01 01 7c 98 01 00")
  both(pb, "edition2023_all.All", { needed = 0, inner = { n = 1 }, outside = {} }, "8b 01 08 01 8c 01 93 01 94 01 98 01 00")
  both(pb, "edition2023_all.All", { needed = 0, ["edition2023_all.all"] = { needed = 1 } }, "98 01 00 b3 06 98 01 01 b4 06")
  h.eq(told("edition2023_all.All", "type").map, "map")
end)

h.test("the flat form", function()
  local raw = h.bytes "0b 08 01 0c 13 08 02 14"
  h.eq({ pb.unpack("edition2023.Delimited grouplike.a other.a", raw) }, { 1, 2 })
  h.eq(h.hex(pb.pack("edition2023.Delimited grouplike.a", 1)), "0b08010c")
  h.eq(h.hex(pb.pack("edition2023.Presence explicit implicit", 0, 0)), "0800")
end)

h.test("options show features", function()
  h.eq(pb.schema_options("edition2023.Closed"), { features = { enum_type = "CLOSED", json_format = "LEGACY_BEST_EFFORT" } })
  h.eq(pb.schema_options("edition2023.Delimited", "list"), { features = { message_encoding = "DELIMITED" } })
  h.eq(pb.schema_options("edition2023.Defaults", "number"), {})
end)

h.test("files with the features of languages register with theirs", function()
  local languages = protobuf.new()
  languages.register(h.set "edition2023_languages")
  both(languages, "edition2023_languages.Message", { text = "\255" }, "0a 01 ff")
  h.eq(languages.schema_options("edition2023_languages.Message", "text"),
    { features = { utf8_validation = "NONE", ["pb.cpp"] = { string_type = "VIEW" } } })
end)

h.test("other editions are refused, and editions as text", function()
  local function edition(number)
    return h.file("e.proto", "e", {}, "editions") .. "\112" .. h.varint(number)
  end
  protobuf.new().register(edition(1000))
  raises("e.proto: edition 2024 is not supported (proto2, proto3 and edition 2023 are)", protobuf.new().register, edition(1001))
  raises("e.proto: edition PROTO3 is not supported", protobuf.new().register, edition(999))
  if h.compiles then
    raises('e.proto:1:1: edition "2023": ...protoc', protobuf.new().register_source, 'edition = "2023";', "e.proto")
    -- Text may import what is registered.
    pb.register_source('syntax = "proto3"; import "edition2023.proto"; message T { edition2023.Delimited d = 1; }', "t.proto")
    both(pb, "T", { d = { grouplike = { a = 1 } } }, "0a 04 0b 08 01 0c")
  end
end)
