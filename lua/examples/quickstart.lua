-- A first tour: what protoc compiled goes in, Lua values become bytes and back.
--   cargo run --release
--   LUA_CPATH="target/lua/5.4/?.so" lua5.4 lua/examples/quickstart.lua
local protobuf = require "protobuf"

local function hex(bytes)
  return (bytes:gsub(".", function(byte)
    return ("%02x "):format(byte:byte())
  end))
end

-- 1. Register what `protoc -o addressbook.pb addressbook.proto` wrote.
local root = arg[0]:match("^(.*)lua[/\\]examples[/\\]") or ""
protobuf.register_file(root .. "descriptors/addressbook.pb")
print("Registered descriptors/addressbook.pb, in which tutorial.Person is:")
print("  name (required string), id (required int32), email, phone (list of PhoneNumber)")
print()

-- 2. A table becomes bytes.
local alice = {
  name = "Alice",
  id = 123,
  phone = { { number = "555-4321", type = "MOBILE" }, { number = "555-1234" } },
}
local bytes = protobuf.encode("tutorial.Person", alice)
print(("Encoded a table into %d bytes:"):format(#bytes))
print("  " .. hex(bytes))
print()

-- 3. Bytes become a table. What was not on the wire reads as its default.
local person = protobuf.decode("tutorial.Person", bytes)
print("Decoded them again:")
print(("  %s has id %d and %d phones"):format(person.name, person.id, #person.phone))
for index, phone in ipairs(person.phone) do
  print(("  phone %d: %s (%s)"):format(index, phone.number, phone.type))
end
print(("  email was never set: it reads as %q, and has() says %s"):format(person.email, tostring(protobuf.has(person, "email"))))
print()

-- 4. The flat form needs no tables at all, which makes it the fastest one.
local packed = protobuf.pack("tutorial.Person name id", "Bob", 456)
local name, id = protobuf.unpack("tutorial.Person name id", packed)
print(("Packed a name and an id into %d bytes, and unpacked %s and %d"):format(#packed, name, id))
print()

-- 5. Mistakes are reported with the place where they are.
print("Some mistakes, and what the library says:")
alice.phone[2].number = {}
local _, problem = pcall(protobuf.encode, "tutorial.Person", alice)
print("  " .. problem)
alice.phone, alice.nmae = nil, "Alice"
_, problem = pcall(protobuf.encode, "tutorial.Person", alice)
print("  " .. problem)
_, problem = protobuf.decode("tutorial.Person", bytes:sub(1, -3))
print("  " .. problem)
