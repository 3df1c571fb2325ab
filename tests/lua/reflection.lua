-- Reflection: what an instance tells of its types, services and their options.

local h = ...
local protobuf = h.protobuf
local raises = h.raises

local pb = protobuf.new()
pb.register(h.set "reflection")

-- The fields of a type by name.
local function fields(instance, name)
  local by_name = {}
  for _, field in ipairs(instance.fields(name)) do
    by_name[field.name] = field
  end
  return by_name
end

-- Fails unless these keys of the field, and no others but those that all have, are as given.
local function is(field, want)
  want.extension = want.extension or false
  want.json_name = want.json_name or field.name
  h.eq(field, want, field.name)
end

h.test("types and services by name, sorted", function()
  h.eq(pb.types(), {
    "reflection.Kind", "reflection.Rule", "reflection.Thing", "reflection.Thing.Nested", "reflection.Thing.Nested.Deep",
    "reflection.Thing.Part",
  })
  h.eq(pb.types("message"), { "reflection.Rule", "reflection.Thing", "reflection.Thing.Nested", "reflection.Thing.Part" })
  h.eq(pb.types("enum"), { "reflection.Kind", "reflection.Thing.Nested.Deep" })
  h.eq(pb.services(), { "reflection.Empty", "reflection.Shop" })
  h.eq(pb.types(nil), pb.types())
end)

h.test("a new instance has none, and neither has one that was cleared", function()
  local other = protobuf.new()
  h.eq(other.types(), {})
  h.eq(other.services(), {})
  other.register(h.set "login")
  h.eq(other.services(), { "login.Gate" })
  other.clear()
  h.eq(other.types(), {})
  raises('unknown type "login.Role"', other.fields, "login.Role")
  raises('unknown service "login.Gate"', other.methods, "login.Gate")
end)

h.test("every type of field", function()
  local all = h.instance()
  for _, package in ipairs { "every2", "every3" } do
    local told = fields(all, package .. ".All")
    local prefixes = package == "every2" and { "o", "r", "p", "d" } or { "s", "o", "r" }
    for _, kind in ipairs {
      "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64",
      "bool", "string", "bytes",
    } do
      for _, prefix in ipairs(prefixes) do
        local field = told[prefix .. "_" .. kind]
        if not (prefix == "p" and (kind == "string" or kind == "bytes")) then
          h.eq(field.type, kind, field.name)
          h.eq(field.type_name, nil, field.name)
        end
      end
    end
    for _, prefix in ipairs(prefixes) do
      h.eq(told[prefix .. "_color"].type, "enum")
      h.eq(told[prefix .. "_color"].type_name, package .. ".Color")
    end
    h.eq(told.r_inner.type, "message")
    h.eq(told.r_inner.type_name, package .. ".Inner")
  end
end)

h.test("proto2: labels, presence, packed, groups", function()
  local told = fields(pb, "reflection.Thing")
  is(told.the_name, { name = "the_name", number = 4, type = "string", label = "required", presence = "explicit", default = "", json_name = "theName" })
  is(told.plain, { name = "plain", number = 1, type = "int32", label = "optional", presence = "explicit", default = 0, json_name = "PLAIN" })
  is(told.kinds, { name = "kinds", number = 3, type = "enum", type_name = "reflection.Kind", label = "repeated", packed = true })
  is(told.unpacked, { name = "unpacked", number = 5, type = "enum", type_name = "reflection.Kind", label = "repeated", packed = false })
  is(told.part, { name = "part", number = 6, type = "group", type_name = "reflection.Thing.Part", label = "optional", presence = "explicit" })
  is(fields(pb, "reflection.Thing.Part").on, { name = "on", number = 1, type = "bool", label = "optional", presence = "explicit", default = true })
end)

h.test("maps, and members of oneofs", function()
  local told = fields(pb, "reflection.Thing")
  is(told.by_id, {
    name = "by_id", number = 9, type = "map", label = "map", json_name = "byId", key = { type = "int64" },
    value = { type = "enum", type_name = "reflection.Thing.Nested.Deep" },
  })
  is(told.things, {
    name = "things", number = 10, type = "map", label = "map", key = { type = "string" },
    value = { type = "message", type_name = "reflection.Thing" },
  })
  is(told.thing, {
    name = "thing", number = 7, type = "message", type_name = "reflection.Thing", label = "optional", presence = "explicit",
    oneof = "choice",
  })
  -- It reads nil while it is not set.
  is(told.kind, {
    name = "kind", number = 8, type = "enum", type_name = "reflection.Kind", label = "optional", presence = "explicit", oneof = "choice",
  })
end)

h.test("proto3: presence, optional, packed", function()
  local told = fields(h.instance(), "every3.All")
  h.eq({ told.s_int32.presence, told.s_int32.oneof, told.s_int32.default }, { "implicit", nil, 0 })
  h.eq({ told.o_int32.presence, told.o_int32.label }, { "explicit", "optional" })
  h.eq(told.o_int32.oneof, nil)
  h.eq(told.s_inner.presence, "explicit")
  h.eq(told.s_inner.default, nil)
  h.eq(told.c_int32.oneof, "choice")
  h.eq(told.c_int32.presence, "explicit")
  h.eq(told.p_int32.packed, true)
  h.eq(told.r_int32.packed, false)
  h.eq(told.r_string.packed, false)
  h.eq({ told.k_int32.packed, told.k_int32.presence }, {})
end)

h.test("fields come in number order, extensions last", function()
  local numbers = {}
  for i, field in ipairs(pb.fields(".reflection.Thing")) do
    numbers[i] = field.number
  end
  h.eq(numbers, { 1, 3, 4, 5, 6, 7, 8, 9, 10, 100, 200 })
end)

h.test("extensions of files and within messages", function()
  local told = fields(pb, "reflection.Thing")
  is(told["reflection.at_the_top"], {
    name = "reflection.at_the_top", number = 200, type = "enum", type_name = "reflection.Kind", label = "optional", presence = "explicit",
    default = "SECOND", extension = true, json_name = "[reflection.at_the_top]",
  })
  is(told["reflection.Thing.Nested.within"], {
    name = "reflection.Thing.Nested.within", number = 100, type = "message", type_name = "reflection.Thing", label = "repeated",
    packed = false, extension = true, json_name = "[reflection.Thing.Nested.within]",
  })
  -- Those of the built-in types too.
  h.eq(fields(pb, "google.protobuf.MessageOptions")["reflection.id"].number, 50001)
  h.eq(fields(protobuf.new(), "google.protobuf.MessageOptions")["reflection.id"], nil)
end)

h.test("a default is what an absent field reads as", function()
  for _, options in ipairs { {}, { enum = "number" }, { int64 = "string", required = "ignore" } } do
    local instance = h.instance(options)
    for _, name in ipairs { "every2.All", "every3.All", options.required and "tutorial.Person" } do
      local empty = instance.decode(name, "")
      for _, field in ipairs(instance.fields(name)) do
        local reads = empty[field.name]
        if type(reads) ~= "table" then
          h.eq(field.default, reads, field.name)
        else
          h.eq(field.default, nil, field.name)
        end
      end
    end
  end
  local told = fields(h.instance(), "every2.All")
  h.eq(told.d_uint64.default, h.uint64 "18446744073709551615")
  h.eq(told.d_sint64.default, h.int64 "9007199254740993")
  h.eq(told.d_color.default, "BLUE")
  h.eq(told.d_bytes.default, "\0\255\128abc\n")
  h.eq(fields(h.instance { int64 = "string" }, "every2.All").d_sint64.default, "9007199254740993")
end)

h.test("what fields tells is enough to fill every field", function()
  local instance = h.instance()
  local message = {}
  local function value(field, depth)
    if field.type == "message" or field.type == "group" then
      return {}
    elseif field.type == "enum" then
      return instance.enum(field.type_name)[2].name
    elseif field.type == "bool" then
      return true
    elseif field.type == "string" or field.type == "bytes" then
      return "1"
    end
    return 1
  end
  local count = 0
  for _, field in ipairs(instance.fields("every3.All")) do
    if not field.oneof then
      count = count + 1
      local one = field.label == "map" and value(field.key) or value(field)
      if field.label == "map" then
        message[field.name] = { [one] = value(field.value) }
      else
        message[field.name] = field.label == "repeated" and { one } or one
      end
    end
  end
  local bytes = instance.encode("every3.All", message)
  local back = instance.decode("every3.All", bytes)
  for _, field in ipairs(instance.fields("every3.All")) do
    if not field.oneof then
      h.eq(instance.has(back, field.name), true, field.name)
    end
  end
  assert(count > 80, count)
end)

h.test("values of enums in their order, aliases among them", function()
  h.eq(pb.enum("reflection.Kind"), {
    { name = "FIRST", number = 1 }, { name = "SECOND", number = 2 }, { name = "OTHER", number = 1 },
    { name = "LOWEST", number = -2147483648 },
  })
  h.eq(pb.enum(".reflection.Thing.Nested.Deep"), { { name = "DEEP", number = 0 } })
  h.eq(#pb.enum("google.protobuf.NullValue"), 1)
end)

h.test("methods in their order", function()
  local function method(name, input, client, output, server)
    return { name = name, input = input, client_streaming = client, output = output, server_streaming = server }
  end
  h.eq(pb.methods("reflection.Shop"), {
    method("Find", "reflection.Rule", false, "reflection.Thing", false),
    method("Upload", "reflection.Thing", true, "reflection.Rule", false),
    method("Watch", "reflection.Rule", false, "reflection.Thing.Nested", true),
    method("Talk", "reflection.Rule", true, "reflection.Rule", true),
  })
  h.eq(pb.methods(".reflection.Empty"), {})
end)

h.test("method types that are named without package", function()
  local other = protobuf.new()
  local service = h.field(1, "S") .. h.field(2, h.field(1, "Go") .. h.field(2, "In") .. h.field(3, "b.Out"))
  other.register(h.file("s.proto", "a.b", { h.message("In", {}), h.message("Out", {}) }) .. h.field(6, service))
  h.eq(other.methods("a.b.S"), {
    { name = "Go", input = "a.b.In", output = "a.b.Out", client_streaming = false, server_streaming = false },
  })
end)

h.test("options of every kind, custom ones under their full names", function()
  local options = pb.schema_options
  h.eq(options("reflection.Thing"), {
    deprecated = true,
    ["reflection.id"] = -5,
    ["reflection.rule"] = { name = "outer", parts = { { name = "inner" } }, ["reflection.extra"] = 1001 },
    ["reflection.kinds"] = { "SECOND", "FIRST" },
    ["reflection.big"] = h.uint64 "18446744073709551615",
  })
  h.eq(options("reflection.Thing", "the_name"), { deprecated = true, ["reflection.label"] = "Name", ["reflection.deltas"] = { -1, 300 } })
  h.eq(options(".reflection.Thing", "kinds"), {
    packed = true,
    ["reflection.rules"] = { { name = "a" }, { name = "b", parts = { { name = "c" } } } },
  })
  h.eq(options("reflection.Thing", "things"), { deprecated = true })
  h.eq(options("reflection.Thing", "choice"), { ["reflection.exclusive"] = true })
  h.eq(options("reflection.Thing", "reflection.at_the_top"), { ["reflection.label"] = "Top" })
  h.eq(options("reflection.Thing", "[reflection.Thing.Nested.within]"), { ["reflection.label"] = "Within" })
  h.eq(options("reflection.Kind"), { allow_alias = true, ["reflection.title"] = "Kinds" })
  h.eq(options("reflection.Kind", "SECOND"), { deprecated = true, ["reflection.weight"] = 0.5 })
  h.eq(options("reflection.Shop"), { ["reflection.secret"] = "\1\255" })
  h.eq(options("reflection.Shop", "Find"), { idempotency_level = "NO_SIDE_EFFECTS", ["reflection.access"] = { name = "find" } })
  h.eq(options("google.protobuf.FieldOptions"), {})
end)

h.test("what has no options has an empty table, which is plain", function()
  for _, of in ipairs {
    { "reflection.Thing.Nested" }, { "reflection.Thing", "plain" }, { "reflection.Kind", "FIRST" }, { "reflection.Empty" },
    { "reflection.Shop", "Talk" }, { "reflection.Thing.Nested.Deep" },
  } do
    local options = pb.schema_options(of[1], of[2])
    h.eq(options, {})
    h.eq(getmetatable(options), nil)
  end
  h.eq(getmetatable(pb.schema_options("reflection.Thing")["reflection.rule"]), nil)
end)

h.test("options go by the instance's options", function()
  local other = protobuf.new { enum = "number", int64 = "string", unknown = "drop", array_metatable = { "list" }, defaults = "copy" }
  other.register(h.set "reflection")
  local options = other.schema_options("reflection.Thing")
  h.eq(options["reflection.kinds"], { 2, 1 })
  h.eq(getmetatable(options["reflection.kinds"]), { "list" })
  h.eq(options["reflection.big"], "18446744073709551615")
  h.eq(options.map_entry, nil)
  other.option("depth", 1)
  raises("google.protobuf.MessageOptions.[reflection.rule].parts[1]: nested too deeply", other.schema_options, "reflection.Thing")
end)

-- A file whose message M has these bytes as options.
local function with_options(...)
  local message = h.message("M", { { "a", 1, 1, 5 } })
  for _, options in ipairs { ... } do
    message = message .. h.field(7, options)
  end
  return h.file("options.proto", "split", { message })
end

h.test("options that nobody declared stay bytes", function()
  local other = protobuf.new()
  local unknown = h.bytes "8a b5 18 02 08 05"
  other.register(with_options("\24\1" .. unknown))
  h.eq(other.schema_options("split.M"), { deprecated = true, ["?unknown"] = unknown })
  other.option("unknown", "drop")
  h.eq(other.schema_options("split.M"), { deprecated = true })
end)

h.test("options may come in parts", function()
  local other = protobuf.new()
  other.register(h.set "reflection")
  -- The id, a rule without and then with its name, and the id again.
  other.register(with_options(h.bytes "88 b5 18 05 92 b5 18 05 12 03 0a 01 61", h.bytes "92 b5 18 03 0a 01 62 88 b5 18 06"))
  h.eq(other.schema_options("split.M"), { ["reflection.id"] = 6, ["reflection.rule"] = { name = "b", parts = { { name = "a" } } } })
end)

h.test("required fields of options are not checked, and bad bytes are an error", function()
  local other = protobuf.new()
  other.register(h.set "reflection")
  other.register(with_options(h.bytes "92 b5 18 00"))
  h.eq(other.schema_options("split.M"), { ["reflection.rule"] = {} })
  local bad = protobuf.new()
  bad.register(h.set "reflection")
  if pcall(bad.register, with_options(h.bytes "92 b5 18 02 0a 05")) then
    raises("google.protobuf.MessageOptions.[reflection.rule].name: truncated, 5 bytes needed, 0 left", bad.schema_options, "split.M")
  end
end)

h.test("names that there are not are errors with a hint", function()
  raises('unknown type "reflection.Thin" (did you mean "reflection.Thing"?)', pb.fields, "reflection.Thin")
  raises('unknown type "Thing" (did you mean "reflection.Thing"?)', pb.fields, "Thing")
  raises("reflection.Kind is an enum, not a message", pb.fields, "reflection.Kind")
  raises("reflection.Shop is a service, not a message", pb.fields, "reflection.Shop")
  raises("reflection.Shop is a service, not a message", pb.encode, "reflection.Shop", {})
  raises('unknown enum "reflection.Kid" (did you mean "reflection.Kind"?)', pb.enum, "reflection.Kid")
  raises("reflection.Thing is a message, not an enum", pb.enum, "reflection.Thing")
  raises('unknown service "reflection.Shp" (did you mean "reflection.Shop"?)', pb.methods, "reflection.Shp")
  raises("reflection.Kind is an enum, not a service", pb.methods, "reflection.Kind")
  for _, call in ipairs { pb.schema_options, pb.comment } do
    raises('unknown type or service "reflection.Shp" (did you mean "reflection.Shop"?)', call, "reflection.Shp")
    raises('unknown type or service "reflection"', call, "reflection")
    raises('unknown type or service "reflection.id"', call, "reflection.id")
    raises('unknown type or service ""', call, "")
    raises('reflection.Thing: unknown field "the_nam" (did you mean "the_name"?)', call, "reflection.Thing", "the_nam")
    raises('reflection.Thing: unknown field "reflection.extra"', call, "reflection.Thing", "reflection.extra")
    raises('reflection.Kind: unknown value "FRIST" (did you mean "FIRST"?)', call, "reflection.Kind", "FRIST")
    raises('reflection.Shop: unknown method "Fin" (did you mean "Find"?)', call, ".reflection.Shop", "Fin")
  end
  raises("unknown type", pb.fields, "\255")
  raises("unknown field", pb.schema_options, "reflection.Thing", "\255\0")
end)

h.test("wrong arguments are told", function()
  raises([[bad argument #1 to 'types' (expected "message" or "enum", got "service")]], pb.types, "service")
  raises("bad argument #1 to 'types' (expected string, got table)", pb.types, {})
  for _, name in ipairs { "fields", "enum", "methods", "schema_options", "comment" } do
    raises("bad argument #1 to '" .. name .. "' (expected string, got no value)", pb[name])
    raises("bad argument #1 to '" .. name .. "' (expected string, got number)", pb[name], 5)
  end
  raises("bad argument #2 to 'schema_options' (expected string, got number)", pb.schema_options, "reflection.Thing", 5)
  raises("bad argument #2 to 'comment' (expected string, got boolean)", pb.comment, "reflection.Thing", false)
end)

h.test("a type that waits says for what", function()
  local other = protobuf.new()
  local waits = h.file("late.proto", "late", { h.message("M", { { "a", 1, 1, 11, ".early.E" } }) }) .. h.field(3, "early.proto")
  local service = h.field(1, "S") .. h.field(2, h.field(1, "Go") .. h.field(2, ".late.M") .. h.field(3, ".late.M"))
  other.register(waits .. h.field(6, service))
  h.eq(other.types(), {})
  h.eq(other.services(), {})
  for _, call in ipairs { other.fields, other.enum, other.schema_options } do
    raises('late.M is in late.proto, which waits for import "early.proto"', call, "late.M")
  end
  raises('late.S is in late.proto, which waits for import "early.proto"', other.methods, "late.S")
  other.register(h.file("early.proto", "early", { h.message("E", {}) }))
  h.eq(other.types(), { "early.E", "late.M" })
  h.eq(other.fields("late.M")[1].type_name, "early.E")
  h.eq(other.methods("late.S")[1].output, "late.M")
end)

-- Source info in which the paths have these comments: { path, leading, trailing }.
local function source_info(locations)
  local info = ""
  for _, location in ipairs(locations) do
    local path = ""
    for _, number in ipairs(location[1]) do
      path = path .. h.varint(number)
    end
    local bytes = h.field(1, path)
    bytes = bytes .. (location[2] and h.field(3, location[2]) or "") .. (location[3] and h.field(4, location[3]) or "")
    info = info .. h.field(1, bytes)
  end
  return h.field(9, info)
end

local commented = h.file("c.proto", "c", { h.message("M", { { "a", 1, 1, 5 }, { "b", 2, 1, 5 } }), h.message("N", {}) })

h.test("comments where the set has source info", function()
  local other = protobuf.new()
  other.register(commented .. source_info {
    { {} }, { { 4, 1 }, " The second.\n" }, { { 4, 0 }, nil, " Behind.\n" },
    { { 4, 0, 2, 1 }, " First\n   second\n\n", " not this" }, { { 4, 0, 2, 0 }, "\n", "" }, { { 4, 7 }, "nothing" },
  })
  h.eq(other.comment("c.M"), "Behind.")
  h.eq(other.comment(".c.N"), "The second.")
  h.eq(other.comment("c.M", "a"), nil)
  h.eq(other.comment("c.M", "b"), "First\n  second")
  h.eq(fields(other, "c.M").b.comment, "First\n  second")
  h.eq(fields(other, "c.M").a.comment, nil)
end)

h.test("comments may come later, change, and are no part of a file", function()
  local other = protobuf.new()
  -- Instances share files, and comments with them: this one is of its own.
  local commented = commented:gsub("c%.proto", "d.proto"):gsub("\1c", "\1d")
  other.register(commented)
  h.eq(other.comment("d.M"), nil)
  h.eq({ other.register(commented .. source_info { { { 4, 0 }, "one" } }) }, { true })
  h.eq(other.comment("d.M"), "one")
  h.eq({ other.register(commented) }, { true })
  h.eq(other.comment("d.M"), "one")
  h.eq({ other.register(commented .. source_info { { { 4, 0 }, "two" }, { { 4, 1 }, "three" } }) }, { true })
  h.eq(other.comment("d.M"), "two")
  h.eq(other.comment("d.N"), "three")
end)

h.test("source info that is no such thing is no comment", function()
  for _, info in ipairs { h.field(9, "\255\255"), h.field(9, h.field(1, "\10\5a")), h.field(9, h.field(1, "\26\1x")) } do
    local other = protobuf.new()
    other.register(h.file("odd.proto", "odd", { h.message("M", { { "a", 1, 1, 5 } }) }) .. info)
    h.eq(other.comment("odd.M"), nil)
    h.eq(#other.fields("odd.M"), 1)
  end
end)

if h.compiles then
  h.test("text compiles to the same, and has its comments", function()
    local text = protobuf.new()
    text.register_proto(h.descriptors .. "/reflection.proto")
    h.eq(text.types(), pb.types())
    h.eq(text.methods("reflection.Empty"), {})
    for _, name in ipairs(pb.types()) do
      h.eq(text.schema_options(name), pb.schema_options(name), name)
    end
    for _, name in ipairs(pb.types "message") do
      local with = text.fields(name)
      for i, field in ipairs(pb.fields(name)) do
        with[i].comment = nil
        h.eq(with[i], field)
        h.eq(text.schema_options(name, field.name), pb.schema_options(name, field.name))
      end
    end

    h.eq(text.comment("reflection.Rule"), "A rule.\n  It may nest.")
    h.eq(text.comment("reflection.Kind"), "Kinds of things.\nThere are three.")
    h.eq(text.comment("reflection.Thing", "choice"), "One of two.")
    h.eq(text.comment("reflection.Shop"), "Serves things.")
    h.eq(text.comment("reflection.Empty"), nil)
    local told = fields(text, "reflection.Thing")
    h.eq(told.the_name.comment, "How it is called.\nNever empty.")
    h.eq(told.plain.comment, "Nothing special.")
    h.eq(told.part.comment, nil)
    h.eq(fields(text, "reflection.Thing.Part").on.comment, "Within a group.")
    h.eq(told["reflection.at_the_top"].comment, "At the top.")
    h.eq(told["reflection.Thing.Nested.within"].comment, "Within a message.")
    h.eq(text.comment("reflection.Thing", "[reflection.at_the_top]"), "At the top.")
    local kinds = text.enum("reflection.Kind")
    h.eq({ kinds[1].comment, kinds[2].comment, kinds[3].comment }, { "The first.", "The second." })
    local methods = text.methods("reflection.Shop")
    h.eq({ methods[1].comment, methods[2].comment, methods[3].comment }, { "Finds one.", nil, "Goes on." })
    h.eq(text.comment("reflection.Shop", "Watch"), "Goes on.")
  end)
end

h.test("a reload is seen at once, also of options and comments", function()
  local other = protobuf.new()
  local function version(field, options, comment)
    local message = h.message("M", { { field, 1, 1, 5 } }) .. h.field(7, options)
    return h.file("r.proto", "r", { message }) .. source_info { { { 4, 0 }, comment } }
  end
  other.register(version("old", "\24\1", " was"))
  h.eq({ other.fields("r.M")[1].name, other.schema_options("r.M"), other.comment("r.M") }, { "old", { deprecated = true }, "was" })
  h.eq(select(3, other.register(version("new", "\24\0", " is"))), { "r.proto" })
  h.eq({ other.fields("r.M")[1].name, other.schema_options("r.M"), other.comment("r.M") }, { "new", { deprecated = false }, "is" })
  raises('unknown field "old"', other.schema_options, "r.M", "old")
end)

h.test("instances that share files tell only of their own", function()
  local one, two = protobuf.new(), protobuf.new()
  local a = h.file("share/a.proto", "share", { h.message("A", {}) })
  local b = h.file("share/b.proto", "share", { h.message("B", {}) })
  one.register(h.field(1, a) .. h.field(1, b))
  two.register(b)
  h.eq(one.types(), { "share.A", "share.B" })
  h.eq(two.types(), { "share.B" })
  raises('unknown type or service "share.A"', two.schema_options, "share.A")
  raises('unknown type "share.A"', two.fields, "share.A")
  h.eq(two.fields("share.B"), {})
  -- An extension of one is none of the other.
  local extending = protobuf.new()
  extending.register(h.set "reflection")
  h.eq(fields(extending, "reflection.Thing")["reflection.at_the_top"] ~= nil, true)
  h.eq(fields(two, "google.protobuf.FieldOptions")["reflection.label"], nil)
end)

h.test("several names of a file count once", function()
  local other = protobuf.new()
  other.register(h.file("one.proto", "twice", { h.message("M", { { "a", 1, 1, 5 } }) }))
  other.register(h.file("two.proto", "twice", { h.message("M", { { "a", 1, 1, 5 } }) }))
  h.eq(other.types(), { "twice.M" })
  h.eq(#other.fields("twice.M"), 1)
end)

h.test("each call gives tables of its own", function()
  pb.fields("reflection.Thing")[1].name = "changed"
  pb.types()[1] = nil
  pb.schema_options("reflection.Thing").deprecated = nil
  h.eq(pb.fields("reflection.Thing")[1].name, "plain")
  h.eq(pb.types()[1], "reflection.Kind")
  h.eq(pb.schema_options("reflection.Thing").deprecated, true)
end)

h.test("from coroutines, and while everything is registered anew", function()
  local other = protobuf.new()
  other.register(h.set "reflection")
  local running = coroutine.wrap(function()
    for _, name in ipairs(other.types()) do
      coroutine.yield(name, other.comment(name), next(other.schema_options(name)))
    end
  end)
  local count = 0
  for name in running do
    count = count + 1
    other.register(h.file("more" .. count .. ".proto", "more" .. count, { h.message("M", {}) }))
  end
  h.eq(count, 6)
end)

h.test("finalizers that register and clear meanwhile do no harm", function()
  local other = protobuf.new()
  local set = h.set "reflection"
  other.register(set)
  local runs, over = 0, false
  local function arm()
    h.finalized(function()
      runs = runs + 1
      other.clear()
      other.register(set)
      if not over then
        arm()
      end
    end)
  end
  arm()
  local want, options = pb.fields("reflection.Thing"), pb.schema_options("reflection.Thing")
  local rounds = 0
  while runs < 20 and rounds < 2000 do
    rounds = rounds + 1
    h.eq(other.fields("reflection.Thing"), want)
    h.eq(other.schema_options("reflection.Thing"), options)
    h.eq(#other.types(), 6)
    h.eq(#other.methods("reflection.Shop"), 4)
    if rounds % 10 == 0 then
      collectgarbage("step", 100)
    end
  end
  over = true
  collectgarbage()
  assert(runs >= 20, runs .. " finalizers ran")
end)

h.test("from the callback of encode", function()
  local told = { pb.encode("reflection.Rule", { name = "a" }, function()
    return pb.schema_options("reflection.Rule")["reflection.id"], #pb.fields("reflection.Rule")
  end) }
  h.eq(told, { 7, #pb.fields("reflection.Rule") })
end)

h.test("asking again and again takes no memory", function()
  local function ask()
    pb.types()
    pb.fields("reflection.Thing")
    pb.schema_options("reflection.Thing")
    pcall(pb.fields, "reflection.Nothing")
  end
  ask()
  collectgarbage()
  collectgarbage()
  local before = collectgarbage("count")
  for _ = 1, 300 do
    ask()
  end
  collectgarbage()
  collectgarbage()
  local grown = collectgarbage("count") - before
  assert(grown < 100, ("grown by %.0f KB"):format(grown))
end)
