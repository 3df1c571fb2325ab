-- Compiling .proto text, and the module "parser".

local h = ...
local protobuf = h.protobuf
local raises = h.raises

if not h.compiles then
  h.test("without the compiler, text is an error that says so", function()
    local pb = protobuf.new()
    local message = raises('this build of protobuf compiles no .proto text (its cargo feature "proto" is off)', pb.register_source, "")
    h.eq(pb.lasterror(), message)
    raises(message, pb.register_proto, "a.proto")
  end)
  return
end

local with_files = h.with_files

h.test("text is compiled and registered", function()
  local pb = protobuf.new()
  h.eq({ pb.register_source [[
    syntax = "proto3";
    package text;
    message Person { string name = 1; int32 id = 2; repeated Phone phone = 3; map<string, Kind> by = 4; }
    message Phone { string number = 1; Kind kind = 2; }
    enum Kind { MOBILE = 0; HOME = 1; }
  ]] }, { true })
  h.both(pb, "text.Person", { name = "a", phone = { { number = "1", kind = "HOME" } }, by = { x = "HOME" } },
    "0a 01 61 1a 05 0a 01 31 10 01 22 05 0a 01 78 10 01")
  h.eq(pb.check("text.Kind"), true)
end)

h.test("proto2: required fields, defaults, groups, packed", function()
  local pb = protobuf.new()
  h.eq(select("#", pb.register_source([[
    message M {
      required int32 id = 1;
      optional string name = 2 [default = "Bob"];
      optional group Part = 3 { optional bool b = 1; }
      repeated int32 list = 4 [packed = true];
      oneof choice { int32 x = 5; M m = 6; }
    }
  ]], "two.proto")), 4)
  h.both(pb, "M", { id = 1, part = { b = true }, list = { 1, 2 }, x = 7 }, "08 01 1b 08 01 1c 22 02 01 02 28 07")
  h.eq(pb.decode("M", "\8\1").name, "Bob")
  raises("M.id: required field missing", pb.encode, "M", {})
end)

h.test("the same text again is no news, and other text does not clash with it", function()
  local pb = protobuf.new()
  for _ = 1, 3 do
    pb.register_source "message One { optional int32 a = 1; }"
    pb.register_source "message Two { optional int32 a = 1; }"
  end
  h.both(pb, "One", { a = 1 }, "08 01")
  h.both(pb, "Two", { a = 1 }, "08 01")
end)

h.test("text imports what is registered, from bytes or from text, and the built-in files", function()
  local pb = protobuf.new()
  pb.register(h.set "addressbook")
  pb.register_source("message Text { optional int32 a = 1; }", "text.proto")
  pb.register_source [[
    import "addressbook.proto";
    import "text.proto";
    import "google/protobuf/timestamp.proto";
    message All {
      optional tutorial.Person person = 1;
      optional Text text = 2;
      optional google.protobuf.Timestamp at = 3;
    }
  ]]
  h.both(pb, "All", { person = { name = "a", id = 1 }, text = { a = 1 }, at = { seconds = 1 } },
    "0a 05 0a 01 61 10 01 12 02 08 01 1a 02 08 01")
  raises('source:1:1: import "none.proto" is not registered', pb.register_source, 'import "none.proto";')
  raises('import "text.proto" is not registered', protobuf.new().register_source, 'import "text.proto";')
  -- A file that waits itself cannot be imported either, and that is told.
  local waiting = protobuf.new()
  waiting.register(h.file("late.proto", "late", {}) .. h.field(3, "later.proto"))
  raises('source:1:1: import "late.proto" waits for import "later.proto"', waiting.register_source, 'import "late.proto";')
end)

h.test("an error shows the place, is kept, and leaves nothing behind", function()
  local pb = protobuf.new()
  local message = raises("", pb.register_source, "message Fine {}\nmessage M {\n  optional foo = 1;\n}", "a.proto")
  h.eq(message, "a.proto:3:16: expected '.' or an identifier, but found '='\n  optional foo = 1;\n               ^")
  h.eq(pb.lasterror(), message)
  h.eq(pb.check "Fine", false)
  raises("a.proto:1:22: name 'No' is not defined\n", pb.register_source, "message M { optional No no = 1; }", "a.proto")
  raises('a.proto:1:1: edition "2023": ', pb.register_source, 'edition = "2023";', "a.proto")
  raises("source:1:1: not UTF-8\n", pb.register_source, "\255")
  raises('"" is no name for a file', pb.register_source, "", "")
  h.eq(pb.register_source("message M {}", "a.proto"), true)
end)

h.test("a file is named as seen from its folder, and finds its imports there", function()
  with_files(function(_, write)
    local pb = protobuf.new()
    write("b.proto", "message B { optional int32 n = 1; }")
    local a, name = write("a.proto", 'import "@b.proto"; message A { optional B b = 1; }')
    h.eq({ pb.register_proto(a) }, { true })
    h.both(pb, "A", { b = { n = 1 } }, "0a 02 08 01")
    h.eq(pb.register_proto(a), true)
    h.eq(pb.register_source(('import "%s"; message C { optional A a = 1; }'):format(name)), true)
  end)
end)

h.test("several files, and include dirs as a string or a list", function()
  with_files(function(folder, write)
    local a, name = write("a.proto", "message A {}")
    local b = write("b.proto", 'import "@a.proto"; message B { optional A a = 1; }')
    for _, arguments in ipairs { { { a, b } }, { { b }, folder }, { { name, b }, { ".", folder } }, { b, { folder } }, { { b, b }, {} } } do
      local pb = protobuf.new()
      h.eq(pb.register_proto(h.unpack(arguments)), true)
      h.both(pb, "B", { a = {} }, "0a 00")
    end
  end)
end)

h.test("a file that is found in two folders is one file", function()
  with_files(function(folder, write)
    local _, a = write("a.proto", "message A {}")
    local outer, inner = folder:match "^(.*)[/\\]([^/\\]+)$"
    if not outer then
      return
    end
    local _, b = write("b.proto", 'import "@a.proto"; message B { optional A a = 1; }')
    local pb = protobuf.new()
    for _ = 1, 2 do
      h.eq(pb.register_proto({ inner .. "/" .. a, inner .. "/" .. b }, { outer == "" and "/" or outer, folder }), true)
    end
    h.both(pb, "B", { a = {} }, "0a 00")
  end)
end)

h.test("what is no text is told, and comments may be in any encoding", function()
  local pb = protobuf.new()
  raises("addressbook.pb: is no .proto text, but perhaps a descriptor set", pb.register_proto, h.descriptors .. "/addressbook.pb")
  with_files(function(_, write)
    local path = write("gbk.proto", "// \214\208\206\196\nmessage A {} /* \129\92 */")
    h.eq(pb.register_proto(path), true)
    h.eq(pb.check "A", true)
    raises("1:9: not UTF-8\n", pb.register_proto, (write("bad.proto", "message \214 {}")))
  end)
end)

h.test("the same schema as descriptors and as text is no news", function()
  for _, name in ipairs { "addressbook", "login", "order", "world" } do
    local pb = protobuf.new()
    for _ = 1, 2 do
      h.eq(pb.register_proto(h.descriptors .. "/" .. name .. ".proto"), true)
      h.eq(pb.register(h.set(name)), true)
    end
  end
end)

h.test("one bad file refuses them all, and is named", function()
  with_files(function(folder, write)
    local pb = protobuf.new()
    local good = write("good.proto", "message Good {}")
    local bad = write("bad.proto", '\nimport "@none.proto";')
    local message = raises(bad .. ':2:1: import "', pb.register_proto, { good, bad })
    h.eq(message:find('none.proto" is neither in "' .. folder .. '" nor registered', 1, true) ~= nil, true)
    h.eq(pb.lasterror(), message)
    h.eq(pb.check "Good", false)
    raises(folder .. "/no-such.proto: ", pb.register_proto, folder .. "/no-such.proto")
    raises(folder .. ": is not a file", pb.register_proto, folder)
  end)
end)

h.test("arguments that are none", function()
  local pb = protobuf.new()
  local bad = "bad argument #1 to 'register_proto' "
  raises(bad .. "(expected string or list of strings, got no value)", pb.register_proto)
  raises(bad .. "(expected string or list of strings, got number)", pb.register_proto, 5)
  raises(bad .. "(expected string at index 2, got boolean)", pb.register_proto, { "a.proto", true })
  raises(bad .. "(the list is empty)", pb.register_proto, {})
  raises("bad argument #2 to 'register_proto' (expected string at index 1, got table)", pb.register_proto, "a.proto", { {} })
  raises("bad argument #2 to 'register_proto' (expected string or list of strings, got boolean)", pb.register_proto, "a.proto", true)
  raises("bad argument #1 to 'register_source' (expected string, got nil)", pb.register_source, nil)
  raises("bad argument #2 to 'register_source' (expected string, got table)", pb.register_source, "", {})
end)

h.test("text from anyone gives an error or a schema, never a crash", function()
  local text = h.read(h.descriptors .. "/every2.proto"):sub(1, 3000)
  local seed = 7
  local function random(limit)
    seed = (seed * 16807) % 2147483647
    return seed % limit
  end
  local pieces = { "{", "}", "<", "[", "(", '"', "'", "\\", "/*", "*/", "//", "#", "\0", "\255", ";", "=", "-", ".", "0x", "1e9", "option ", "message ", "extend ", "map<", "\n" }
  for _ = 1, 100 do
    local at = random(#text) + 1
    local changed = text:sub(1, at - 1) .. pieces[random(#pieces) + 1] .. text:sub(at + random(4))
    local pb = protobuf.new()
    local fine, message = pcall(pb.register_source, changed)
    h.eq(type(message), fine and "boolean" or "string")
  end
  for length = 0, #text, 50 do
    pcall(protobuf.new().register_source, text:sub(1, length))
  end
  for _, piece in ipairs(pieces) do
    raises("", protobuf.new().register_source, "message M " .. piece:rep(100000))
  end
end)

h.test("pbc's module parser registers in the default instance", function()
  local globals = {}
  for name in pairs(_G) do
    globals[name] = true
  end
  local parser = require "parser"
  with_files(function(folder, write)
    local _, a = write("a.proto", 'import "@b.proto"; package @a; message A { optional @b.B b = 1; }')
    local _, b = write("b.proto", "package @b; message B {}")
    local path, c = write("c.proto", 'import "@d.proto"; package @c; message C { optional @d.D d = 1; }')
    write("d.proto", "package @d; message D {}")
    h.eq({ parser.register({ a, b }, folder) }, { true })
    h.both(protobuf, a:gsub("%.proto$", ".A"), { b = {} }, "0a 00")
    h.eq({ parser.register(path) }, { true })
    h.both(protobuf, c:gsub("%.proto$", ".C"), { d = {} }, "0a 00")
    raises("no-such.proto", parser.register, "no-such.proto")
    raises("bad argument #1 to 'register_proto'", parser.register, nil)
  end)
  for name in pairs(_G) do
    h.eq(globals[name], true, name)
  end
end)
