-- Programs as they are written for pbc's Lua binding: its documented calls, and what its test scripts do.

local h = ...
local pb = require "protobuf"
local unpack = h.unpack

pb.register_file(h.descriptors .. "/addressbook.pb")

-- Records what a program prints: a `print` and the list of its lines.
local function printer()
  local lines = {}
  return function(...)
    local words = {}
    for i = 1, select("#", ...) do
      words[i] = tostring((select(i, ...)))
    end
    lines[#lines + 1] = table.concat(words, " ")
  end, lines
end

local carol = { name = "Carol", id = 4711, phone = { { number = "030-1234" } } }
local carol_bytes = h.bytes "0a 05 43 61 72 6f 6c 10 e7 24 22 0a 0a 08 30 33 30 2d 31 32 33 34"

h.test("require gives a table and sets no global", function()
  h.eq(type(pb), "table")
  h.eq(rawget(_G, "protobuf"), nil)
  assert(package.loaded.protobuf == pb)
end)

h.test("registering bytes that were read from a file", function()
  local file = assert(io.open(h.descriptors .. "/addressbook.pb", "rb"))
  local buffer = file:read "*a"
  file:close()
  pb.register(buffer)
  h.eq(pb.check "tutorial.Person", true)
end)

h.test("encode to a string", function()
  h.eq(pb.encode("tutorial.Person", carol), carol_bytes)
end)

h.test("encode for a C library: a pointer and a length", function()
  local pointer_type, size, name
  pb.encode("tutorial.Person", carol, function(pointer, length)
    pointer_type, size = type(pointer), length
    name = pb.decode("tutorial.Person", pointer, length).name
  end)
  h.eq({ pointer_type, size, name }, { "userdata", #carol_bytes, "Carol" })
end)

h.test("decode a string, or that many bytes of it", function()
  local result = pb.decode("tutorial.Person", carol_bytes)
  h.eq({ result.name, result.id, #result.phone, result.phone[1].number }, { "Carol", 4711, 1, "030-1234" })
  h.eq(pb.decode("tutorial.Person", carol_bytes .. "\0\0\0", #carol_bytes), carol)
end)

h.test("reading a record field by field", function()
  local print, lines = printer()
  local m = pb.decode("tutorial.Person", pb.encode("tutorial.Person", {
    name = "Dora", id = 7, phone = { { number = "1", type = "WORK" }, { number = "22" } },
  }))
  print("name = " .. m.name)
  print("id = " .. m.id)
  print("email = " .. m.email)
  for i = 1, #m.phone do
    print(("number[%d] = %s, type[%d] = %s"):format(i, m.phone[i].number, i, m.phone[i].type))
  end
  h.eq(lines, { "name = Dora", "id = 7", "email = ", "number[1] = 1, type[1] = WORK", "number[2] = 22, type[2] = HOME" })
end)

h.test("pack and unpack a message in a list", function()
  local phone = pb.pack("tutorial.Person.PhoneNumber number", "5550100")
  h.eq(h.hex(phone), "0a0735353530313030")
  local person = pb.pack("tutorial.Person name id phone", "Erik", 12, { phone })
  h.eq(h.hex(person), "0a044572696b100c22090a0735353530313030")

  local name, id, phones = pb.unpack("tutorial.Person name id phone", person)
  h.eq({ name, id, #phones }, { "Erik", 12, 1 })
  h.eq(phones[1], { phone, #phone })
  h.eq(pb.unpack("tutorial.Person.PhoneNumber number", unpack(phones[1])), "5550100")
  h.eq(pb.decode("tutorial.Person.PhoneNumber", unpack(phones[1])).number, "5550100")
end)

h.test("an enum is a name or a number in a table, and a number in the flat form", function()
  h.eq(pb.encode("tutorial.Person.PhoneNumber", { number = "1", type = "WORK" }), h.bytes "0a 01 31 10 02")
  h.eq(pb.encode("tutorial.Person.PhoneNumber", { number = "1", type = 2 }), h.bytes "0a 01 31 10 02")
  h.eq(pb.pack("tutorial.Person.PhoneNumber number type", "1", 2), h.bytes "0a 01 31 10 02")
  h.eq({ pb.unpack("tutorial.Person.PhoneNumber type number", h.bytes "0a 01 31 10 02") }, { 2, "1" })
end)

h.test("check and lasterror", function()
  h.eq({ pb.check("tutorial.Person"), pb.check("tutorial.Person", "phone") }, { true, true })
  h.eq({ pb.check("tutorial.Persona"), pb.check("tutorial.Person", "fax") }, { false, false })
  h.eq(pb.decode("tutorial.Person", h.bytes "0a 05 41"), false)
  h.eq(pb.lasterror(), "tutorial.Person.name: truncated, 5 bytes needed, 1 left, at byte 2")
end)

h.test("a set of descriptors is a message like any other", function()
  local print, lines = printer()
  local set = pb.decode("google.protobuf.FileDescriptorSet", h.set "addressbook")
  local file = set.file[1]
  print(file.name)
  print(file.package)
  for _, message in ipairs(file.message_type) do
    print(message.name)
    for _, field in ipairs(message.field) do
      print("\t" .. field.name .. " [" .. field.number .. "] " .. field.label)
    end
  end
  h.eq(lines, {
    "addressbook.proto", "tutorial", "Person", "\tname [1] LABEL_REQUIRED", "\tid [2] LABEL_REQUIRED", "\temail [3] LABEL_OPTIONAL",
    "\tphone [4] LABEL_REPEATED", "AddressBook", "\tperson [1] LABEL_REPEATED",
  })
end)

h.test("printing what was decoded, with the defaults of enums", function()
  local print, lines = printer()
  local person = pb.decode("tutorial.Person", pb.encode("tutorial.Person", {
    name = "Frida", id = 99, phone = { { number = "100" }, { number = "200", type = "MOBILE" } },
  }))
  print(person.name)
  print(person.id)
  for _, phone in ipairs(person.phone) do
    print("\t" .. phone.number, phone.type)
  end
  local phone = pb.pack("tutorial.Person.PhoneNumber number", "300")
  local name, id, phones = pb.unpack("tutorial.Person name id phone", pb.pack("tutorial.Person name id phone", "Gil", 5, { phone }))
  print(name, id, type(phones))
  h.eq(lines, { "Frida", "99", "\t100 HOME", "\t200 MOBILE", "Gil 5 table" })
end)

h.test("pairs shows what was on the wire, in messages within as well", function()
  local person = pb.decode("tutorial.Person", pb.encode("tutorial.Person", {
    name = "Hal", id = 1, phone = { { number = "1", type = "MOBILE" }, { number = "2" } },
  }))
  local function keys(t)
    local list = {}
    for key in pairs(t) do
      list[#list + 1] = key
    end
    table.sort(list)
    return table.concat(list, " ")
  end
  h.eq(keys(person), "id name phone")
  h.eq(keys(person.phone[1]), "number type")
  h.eq(keys(person.phone[2]), "number")
  h.eq(person.phone[2].type, "HOME")
end)

-- What pbc's test of its parser does, with types of these names.
local function contacts(contact, profile)
  local print, lines = printer()
  local ines = pb.encode(contact, {
    name = "Ines", id = 21, email = "ines@example.org",
    phone = { { number = "100" }, { number = "200", kind = "WORK" }, { number = "300", kind = "MOBILE" } },
  })
  local jon_bytes = pb.encode(contact, { name = "Jon", id = 22, phone = { { number = "400", kind = "HOME" } } })

  local first = pb.decode(contact, ines)
  first.profile.nick_name = "Ninny"
  first.profile.icon = "icon 5"
  local second = pb.decode(contact, jon_bytes)

  local function show(c)
    print(("%d %s <%s>"):format(c.id, c.name, tostring(c.email)))
    if c.profile then
      print(("\t%s, %s"):format(tostring(c.profile.nick_name), tostring(c.profile.icon)))
    end
    for i, phone in ipairs(c.phone) do
      print(("\t%d. %4s %s"):format(i, phone.number, tostring(phone.kind)))
    end
  end
  show(first)
  show(second)
  h.eq(lines, {
    "21 Ines <ines@example.org>", "\tNinny, icon 5", "\t1.  100 HOME", "\t2.  200 WORK", "\t3.  300 MOBILE",
    "22 Jon <>", "\t, ", "\t1.  400 HOME",
  })

  -- What was written into the absent profile is kept, and one that was only read is not there.
  h.eq(pb.encode(contact, first), ines .. h.field(6, pb.encode(profile, { nick_name = "Ninny", icon = "icon 5" })))
  h.eq(pb.has(second, "profile"), false)
  h.eq(pb.encode(contact, second), jon_bytes)

  h.eq({ pb.unpack(contact .. " name id", pb.pack(contact .. " name id", "Kim", 23)) }, { "Kim", 23 })
  local phone = pb.decode(contact .. ".Phone", pb.encode(contact .. ".Phone", { number = "500" }))
  h.eq(("%6s %s"):format(phone.number, tostring(phone.kind)), "   500 HOME")
end

h.test("writing into an absent message", function()
  local function field(number, name, label, kind, type_name, default)
    return { number = number, name = name, label = "LABEL_" .. label, type = kind and "TYPE_" .. kind, type_name = type_name, default_value = default }
  end
  pb.register(pb.encode("google.protobuf.FileDescriptorSet", {
    file = {
      {
        name = "contacts.proto", package = "contacts",
        message_type = {
          { name = "Profile", field = { field(1, "nick_name", "OPTIONAL", "STRING"), field(2, "icon", "OPTIONAL", "STRING") } },
          {
            name = "Contact",
            field = {
              field(1, "name", "REQUIRED", "STRING"), field(2, "id", "REQUIRED", "INT32"), field(3, "email", "OPTIONAL", "STRING"),
              field(4, "phone", "REPEATED", nil, ".contacts.Contact.Phone"), field(6, "profile", "OPTIONAL", nil, ".contacts.Profile"),
            },
            nested_type = {
              { name = "Phone", field = { field(1, "number", "REQUIRED", "STRING"), field(2, "kind", "OPTIONAL", "ENUM", ".contacts.Contact.Kind", "HOME") } },
            },
            enum_type = { { name = "Kind", value = { { name = "MOBILE", number = 0 }, { name = "HOME", number = 1 }, { name = "WORK", number = 2 } } } },
          },
        },
      },
    },
  }))
  contacts("contacts.Contact", "contacts.Profile")
end)

-- The module `parser` ------------------------------------------------------------------------------------------------

if not h.compiles then
  return
end

local contacts_source = [[
  package %s;

  message Profile {
    optional string nick_name = 1;
    optional string icon = 2;
  }

  message Contact {
    required string name = 1;
    required int32 id = 2; // a number of ours
    optional string email = 3;
    enum Kind { MOBILE = 0; HOME = 1; WORK = 2; }
    message Phone {
      required string number = 1;
      optional Kind kind = 2 [default = HOME];
    }
    repeated Phone phone = 4;
    repeated int32 marks = 5 [packed = true];
    optional Profile profile = 6;
  }
]]

-- Calls f with a folder that has .proto files of these packages, and their names.
local function with_sources(packages, f)
  h.with_files(function(folder, write)
    local names = {}
    for i, package in ipairs(packages) do
      local _, name = write(package .. ".proto", contacts_source:format(package))
      names[i] = name
    end
    f(folder, names)
  end)
end

h.test("parser.register with a file and its folder", function()
  local parser = require "parser"
  with_sources({ "parsed" }, function(folder, names)
    parser.register(names[1], folder)
    contacts("parsed.Contact", "parsed.Profile")
    h.eq(pb.encode("parsed.Contact", { name = "a", id = 1, marks = { 1, 2 } }), h.bytes "0a 01 61 10 01 2a 02 01 02")
  end)
end)

h.test("parser.register with a list of files", function()
  local parser = require "parser"
  with_sources({ "parsed_one", "parsed_two" }, function(folder, names)
    parser.register(names, folder)
    h.eq({ pb.check("parsed_one.Contact", "profile"), pb.check("parsed_two.Profile", "icon") }, { true, true })
  end)
end)

h.test("parser.register with a whole path", function()
  local parser = require "parser"
  with_sources({ "parsed_path" }, function(folder, names)
    parser.register(folder .. "/" .. names[1])
    h.eq(pb.check("parsed_path.Contact.Phone", "kind"), true)
  end)
end)

h.test("parser.register names what is wrong with a file", function()
  local parser = require "parser"
  h.raises("nosuch.proto", parser.register, "nosuch.proto", h.descriptors)
  h.eq(select(2, pcall(parser.register, "/nosuch.proto")), "/nosuch.proto: there is no such file")
  with_sources({ "parsed wrongly" }, function(folder, names)
    h.raises(names[1], parser.register, names[1], folder)
  end)
end)
