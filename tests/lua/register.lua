-- Registering: what is taken, what is refused, and that a refusal changes nothing.

local h = ...
local protobuf = h.protobuf
local raises = h.raises

h.test("a set gives true and nothing to report", function()
  local pb = protobuf.new()
  local done, missing, replaced = pb.register(h.set "addressbook")
  h.eq(done, true)
  h.eq(missing, nil)
  h.eq(replaced, nil)
  h.both(pb, "tutorial.Person", { name = "a", id = 1 }, "0a 01 61 10 01")
end)

h.test("a single file descriptor is taken too", function()
  local pb = protobuf.new()
  -- A set is the field 1, repeated, with a file each; the address book is one of less than 16384 bytes.
  local set = h.set "addressbook"
  h.eq(set:byte(1), 10)
  local file = set:sub(4)
  h.eq(h.field(1, file), set)
  h.eq(pb.register(file), true)
  h.both(pb, "tutorial.Person", { name = "a", id = 1 }, "0a 01 61 10 01")
end)

h.test("a set of several files, in any order", function()
  local one = h.file("one.proto", "several", { h.message("One", { { "a", 1, 1, 5 } }) })
  local two = h.file("two.proto", "several", { h.message("Two", { { "one", 1, 1, 11, ".several.One" } }) }) .. h.field(3, "one.proto")
  for _, set in ipairs { h.field(1, one) .. h.field(1, two), h.field(1, two) .. h.field(1, one) } do
    local pb = protobuf.new()
    h.eq(pb.register(set), true)
    h.both(pb, "several.Two", { one = { a = 1 } }, "0a 02 08 01")
  end
end)

h.test("a file without a package", function()
  local pb = protobuf.new()
  pb.register(h.file("bare.proto", "", { h.message("Bare", { { "a", 1, 1, 5 } }) }))
  h.both(pb, "Bare", { a = 1 }, "08 01")
  h.both(pb, ".Bare", { a = 1 }, "08 01")
end)

h.test("register_file reads a file", function()
  local pb = protobuf.new()
  local done, missing, replaced = pb.register_file(h.descriptors .. "/world.pb")
  h.eq(done, true)
  h.eq(missing, nil)
  h.eq(replaced, nil)
  h.eq(pb.check("world.Snapshot"), true)
end)

h.test("register_file names the file that fails", function()
  local pb = protobuf.new()
  raises("no-such-file.pb", pb.register_file, h.descriptors .. "/no-such-file.pb")
  raises("order.proto", pb.register_file, h.descriptors .. "/order.proto")
  h.eq(pb.check("shop.Order"), false)
end)

h.test("nested types, enums and a leading dot", function()
  local pb = h.instance()
  for _, name in ipairs { "tutorial.Person", ".tutorial.Person", "tutorial.Person.PhoneNumber", ".every2.Scope", "every2.All.OGroup" } do
    h.eq(pb.check(name), true, name)
  end
  h.eq(pb.check("tutorial.Person", "phone"), true)
  h.eq(pb.check(".tutorial.Person", "name"), true)
  h.eq(pb.check("tutorial.Person", "number"), false)
  h.eq(pb.check("tutorial.Nobody"), false)
  h.both(pb, "tutorial.Person.PhoneNumber", { number = "1" }, "0a 01 31")
end)

h.test("the well-known types are built in", function()
  local pb = protobuf.new()
  h.both(pb, "google.protobuf.Timestamp", { seconds = 1, nanos = 2 }, "08 01 10 02")
  h.both(pb, "google.protobuf.Any", { type_url = "a", value = "\255" }, "0a 01 61 12 01 ff")
  h.both(pb, "google.protobuf.Struct", { fields = { a = { bool_value = true } } }, "0a 07 0a 01 61 12 02 20 01")
  h.eq(pb.check("google.protobuf.FileDescriptorSet", "file"), true)
  h.eq(pb.decode("google.protobuf.FileDescriptorSet", h.set "login").file[1].name, "login.proto")
end)

h.test("a set with its own copies of them registers without a fuss", function()
  local pb = protobuf.new()
  h.eq({ pb.register(h.set "every3") }, { true })
  h.both(pb, "every3.All", { at = { seconds = 1 }, boxed_int64 = { value = 5 } }, "8a 0a 02 08 01 ca 0a 02 08 05")
  h.both(pb, "google.protobuf.Timestamp", { seconds = 1 }, "08 01")
end)

h.test("the same again is no news", function()
  local pb = protobuf.new()
  for _ = 1, 1000 do
    local done, missing, replaced = pb.register(h.set "addressbook")
    h.eq(done, true)
    h.eq(missing, nil)
    h.eq(replaced, nil)
  end
end)

h.test("equal definitions under another file name are taken", function()
  local pb = protobuf.new()
  local messages = { h.message("M", { { "a", 1, 1, 5 } }) }
  pb.register(h.file("one.proto", "same", messages))
  h.eq(pb.register(h.file("two.proto", "same", messages)), true)
  h.both(pb, "same.M", { a = 1 }, "08 01")
end)

h.test("one name defined differently in two files is refused", function()
  local pb = protobuf.new()
  pb.register(h.file("one.proto", "clash", { h.message("M", { { "a", 1, 1, 5 } }) }))
  raises("clash.M", pb.register, h.file("two.proto", "clash", { h.message("M", { { "b", 1, 1, 5 } }), h.message("N", {}) }))
  h.both(pb, "clash.M", { a = 1 }, "08 01")
  h.eq(pb.check("clash.N"), false)
end)

h.test("the same file name with another package is refused", function()
  local pb = protobuf.new()
  pb.register(h.file("one.proto", "here", { h.message("M", {}) }))
  raises("one.proto", pb.register, h.file("one.proto", "there", { h.message("M", {}) }))
  h.eq(pb.check("here.M"), true)
  h.eq(pb.check("there.M"), false)
end)

h.test("what does not link is refused and leaves nothing behind", function()
  local pb = protobuf.new()
  raises("broken.Nowhere", pb.register, h.file("broken.proto", "broken", {
    h.message("Fine", { { "a", 1, 1, 5 } }),
    h.message("M", { { "a", 1, 1, 11, ".broken.Nowhere" } }),
  }))
  h.eq(pb.check("broken.Fine"), false)
  h.eq(pb.check("broken.M"), false)
  h.eq(pb.register(h.file("broken.proto", "broken", { h.message("M", { { "a", 1, 1, 5 } }) })), true)
  h.both(pb, "broken.M", { a = 1 }, "08 01")
end)

h.test("one bad file refuses the whole set", function()
  local pb = protobuf.new()
  local good = h.file("good.proto", "both", { h.message("Good", {}) })
  local bad = h.file("bad.proto", "both", { h.message("Bad", { { "a", 1, 1, 11, ".both.Nowhere" } }) })
  raises("both.Nowhere", pb.register, h.field(1, good) .. h.field(1, bad))
  h.eq(pb.check("both.Good"), false)
end)

h.test("senseless definitions are refused", function()
  local cases = {
    { "field number 0", { { "a", 0, 1, 5 } } },
    { "a number beyond the last", { { "a", 536870912, 1, 5 } } },
    { "one number twice", { { "a", 1, 1, 5 }, { "b", 1, 1, 5 } } },
    { "one name twice", { { "a", 1, 1, 5 }, { "a", 2, 1, 5 } } },
    { "a message type that is no message", { { "a", 1, 1, 11, ".bad.E" } } },
  }
  for _, case in ipairs(cases) do
    local pb = protobuf.new()
    local fine = pcall(pb.register, h.file("bad.proto", "bad", { h.message("M", case[2]) }))
    h.eq(fine, false, case[1])
    h.eq(pb.check("bad.M"), false, case[1])
  end
end)

h.test("an unknown syntax is refused", function()
  local pb = protobuf.new()
  raises("proto9", pb.register, h.file("odd.proto", "odd", { h.message("M", {}) }, "proto9"))
  h.eq(pb.check("odd.M"), false)
end)

h.test("what is no descriptor is refused", function()
  local pb = protobuf.new()
  for _, bytes in ipairs { "", "garbage", "\0", "\255", "\10\5abc", ("\10"):rep(1000), h.read(h.descriptors .. "/order.proto") } do
    raises("", pb.register, bytes)
  end
  h.eq(pb.register(h.set "order"), true)
end)

h.test("a path instead of bytes, and a set instead of text, are told", function()
  local pb = protobuf.new()
  raises("this is no descriptor set; register_file takes a path", pb.register, "addressbook.pb")
  raises("this is no descriptor set; register_file takes a path", pb.register, h.descriptors .. "/addressbook.pb")
  local message = raises("no-such-file.pb: ", pb.register_file, h.descriptors .. "/no-such-file.pb")
  h.eq(message:find("os error", 1, true), nil)
end)

h.test("a type without its package is hinted", function()
  local pb = h.instance()
  raises('unknown type "PhoneNumber" (did you mean "tutorial.Person.PhoneNumber"?)', pb.encode, "PhoneNumber", {})
end)

h.test("every prefix of a set is refused", function()
  local pb = protobuf.new()
  local set = h.set "addressbook"
  for length = 0, #set - 1 do
    raises("", pb.register, set:sub(1, length))
  end
  h.eq(pb.check("tutorial.Person"), false)
  h.eq(pb.register(set), true)
end)

h.test("a changed byte gives an error or a schema, never a crash", function()
  local seed = 7
  local function random(limit)
    seed = (seed * 16807) % 2147483647
    return seed % limit
  end
  for _, name in ipairs { "addressbook", "world", "every2" } do
    local set = h.set(name)
    for _ = 1, name == "every2" and 60 or 300 do
      local at = random(#set) + 1
      local pb = protobuf.new()
      local fine, message = pcall(pb.register, set:sub(1, at - 1) .. string.char(random(256)) .. set:sub(at + 1))
      h.eq(type(message), fine and "boolean" or "string")
      for _, known in ipairs { "tutorial.Person", "world.Snapshot", "every2.All" } do
        if pb.check(known) then
          h.eq(type(pcall(pb.decode, known, h.bytes "0a 01 61 10 01")), "boolean")
          pcall(pb.encode, known, { name = "a", id = 1, tick = 1, o_int32 = 1 })
        end
      end
    end
  end
end)
