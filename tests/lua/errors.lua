-- Messages of errors: the path, what was expected and what came, the offset from 0.

local h = ...
local pb = h.instance()
local raises, refuses = h.raises, h.refuses

-- Fails unless encode raises exactly this.
local function exactly(message, name, value)
  local fine, got = pcall(pb.encode, name, value)
  h.eq(fine, false)
  h.eq(got, message)
end

-- Fails unless decode refuses with exactly this.
local function because(message, name, hex)
  local got, why = pb.decode(name, h.bytes(hex))
  h.eq(got, false)
  h.eq(why, message)
end

h.test("encode: the path of what is wrong", function()
  exactly("tutorial.Person.phone[2].number: expected string, got table", "tutorial.Person",
    { name = "a", id = 1, phone = { { number = "1" }, { number = {} } } })
  exactly("tutorial.Person.name: expected string, got boolean", "tutorial.Person", { name = true, id = 1 })
  raises('world.Snapshot.players["bob"].online: expected bool', pb.encode, "world.Snapshot", { players = { bob = { online = "yes" } } })
  exactly("tutorial.Person.name: required field missing", "tutorial.Person", { id = 1 })
  exactly("tutorial.AddressBook.person[1].id: required field missing", "tutorial.AddressBook", { person = { { name = "a" } } })
end)

h.test("encode: a map's key is quoted when it is a string, bare when it is a number", function()
  raises('every3.All.k_string["a b"]: ', pb.encode, "every3.All", { k_string = { ["a b"] = "x" } })
  raises("every3.All.k_int32[-7]: ", pb.encode, "every3.All", { k_int32 = { [-7] = "x" } })
  raises("every3.All.k_bool[true]: ", pb.encode, "every3.All", { k_bool = { [true] = "x" } })
end)

h.test("encode: an unknown key, with the nearest name", function()
  exactly('tutorial.Person: unknown field "nmae" (did you mean "name"?)', "tutorial.Person", { nmae = "a", name = "a", id = 1 })
  raises('tutorial.Person.phone[1]: unknown field "numbr" (did you mean "number"?)', pb.encode, "tutorial.Person",
    { name = "a", id = 1, phone = { { number = "1", numbr = "2" } } })
  local message = raises('every3.All: unknown field "completely_different"', pb.encode, "every3.All", { completely_different = 1 })
  h.eq(message:find("did you mean"), nil)
  raises("tutorial.Person: ...1", pb.encode, "tutorial.Person", { "a" })
  raises("tutorial.Person: ", pb.encode, "tutorial.Person", { [true] = "a" })
end)

h.test("encode: the keys' own case counts", function()
  raises('every3.All: unknown field "S_int32"', pb.encode, "every3.All", { S_int32 = 1 })
  raises('every3.All: unknown field "sInt32"', pb.encode, "every3.All", { sInt32 = 1 })
  raises('every3.All: unknown field "other-name"', pb.encode, "every3.All", { ["other-name"] = 1 })
end)

h.test("decode: the path, what is missing, and the offset in the whole input", function()
  because("tutorial.Person.phone[1]: truncated, 5 bytes needed, 1 left, at byte 17", "tutorial.Person",
    "0a 08 41 6c 69 63 65 41 6c 69 10 01 1a 01 62 22 05 0a")
  refuses("tutorial.Person.name: truncated, 5 bytes needed, 1 left, at byte 2", pb.decode("tutorial.Person", h.bytes "0a 05 61"))
  refuses("tutorial.AddressBook.person[2].name: truncated, 9 bytes needed, 1 left, at byte 11",
    pb.decode("tutorial.AddressBook", h.bytes "0a 05 0a 01 61 10 01 0a 03 0a 09 61"))
  refuses("every3.All.s_fixed32: truncated, 4 bytes needed, 3 left, at byte 1", pb.decode("every3.All", h.bytes "4d 01 02 03"))
  refuses("every3.All.s_double: truncated, 8 bytes needed, 0 left, at byte 1", pb.decode("every3.All", h.bytes "09"))
end)

h.test("decode: a map's value is named by its key", function()
  refuses('every3.All.v_inner["bob"].b: truncated', pb.decode("every3.All", h.bytes "aa 07 0a 0a 03 62 6f 62 12 03 12 05 78"))
  refuses("every3.All.n_inner[5].b: truncated", pb.decode("every3.All", h.bytes "b2 07 07 08 05 12 03 12 05 78"))
end)

h.test("decode: invalid UTF-8", function()
  refuses("every3.All.s_string: ...UTF-8...at byte ", pb.decode("every3.All", h.bytes "18 05 72 02 61 ff"))
  refuses("every3.All.s_inner.b: ...UTF-8...at byte ", pb.decode("every3.All", h.bytes "8a 01 03 12 01 ff"))
end)

h.test("decode: other malformed bytes say where", function()
  refuses("at byte 2", pb.decode("every3.All", h.bytes "18 05 00"))
  refuses("every3.All.s_int32: ...at byte ", pb.decode("every3.All", h.bytes "18 ff ff ff ff ff ff ff ff ff ff 01"))
  refuses("at byte ", pb.decode("every3.All", h.bytes "18 05 1c"))
  refuses("at byte ", pb.decode("every2.All", h.bytes "93 01 08 01"))
end)

h.test("unknown types are named", function()
  raises("no.Such", pb.encode, "no.Such", {})
  refuses("no.Such", pb.decode("no.Such", ""))
  raises("no.Such", pb.pack, "no.Such a", 1)
  raises("no.Such", pb.unpack, "no.Such a", "")
  raises("no.Such", pb.default, "no.Such", {})
  raises("every3.Color", pb.encode, "every3.Color", {})
  refuses("every3.Color", pb.decode("every3.Color", ""))
end)

h.test("lasterror keeps the last message", function()
  local own = h.instance()
  h.eq(own.lasterror(), nil)
  local _, one = own.decode("every3.All", h.bytes "18")
  h.eq(own.lasterror(), one)
  own.decode("every3.All", h.bytes "18 05")
  h.eq(own.lasterror(), one)
  local _, two = own.decode("no.Such", "")
  h.eq(own.lasterror(), two)
  pcall(own.encode, "every3.All", { nosuch = 1 })
  h.eq(own.lasterror(), two)
  h.eq(own.check("every3.NoSuch"), false)
  assert(own.lasterror():find("every3.NoSuch", 1, true))
  local _, three = pcall(own.register, "garbage")
  h.eq(own.lasterror(), three)
  h.eq(h.instance().lasterror(), nil)
end)

h.test("long and odd names do not spoil a message", function()
  local long = ("x"):rep(100000)
  raises("every3.All", pb.encode, "every3.All", { [long] = 1 })
  raises("", pb.encode, long, {})
  raises("every3.All", pb.encode, "every3.All", { ["a\0b\255\n"] = 1 })
  raises("every3.All.k_string[", pb.encode, "every3.All", { k_string = { ["a\0\n\"b"] = "x" } })
  refuses("", pb.decode(long, ""))
  refuses("", pb.decode("a\0b", ""))
end)

h.test("a percent sign in a message is no format", function()
  raises("%s%d%n", pb.encode, "every3.All", { ["%s%d%n"] = 1 })
  raises("%s%d%n", pb.encode, "%s%d%n", {})
  raises("%s%d%n", pb.encode, "every3.All", { s_color = "%s%d%n" })
end)
