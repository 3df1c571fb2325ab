-- A known number with a wire type that does not fit is an unknown field, for every type of field.

local h = ...
local pb = h.instance { defaults = "none" }
local both, decodes = h.both, h.decodes

local VARINT, FIXED64, LENGTH, GROUP, FIXED32 = 0, 1, 2, 3, 5

local scalars = {
  { "double", FIXED64 }, { "float", FIXED32 }, { "int32", VARINT }, { "int64", VARINT }, { "uint32", VARINT }, { "uint64", VARINT },
  { "sint32", VARINT }, { "sint64", VARINT }, { "fixed32", FIXED32 }, { "fixed64", FIXED64 }, { "sfixed32", FIXED32 },
  { "sfixed64", FIXED64 }, { "bool", VARINT }, { "string", LENGTH }, { "bytes", LENGTH }, { "color", VARINT },
}

-- A field of this number in each wire type; a group holds a field of its own.
local function forms(number)
  local function tag(wire_type)
    return h.varint(number * 8 + wire_type)
  end
  return {
    [VARINT] = tag(VARINT) .. "\5",
    [FIXED64] = tag(FIXED64) .. "12345678",
    [LENGTH] = tag(LENGTH) .. "\1x",
    [GROUP] = tag(GROUP) .. "\8\1" .. tag(4),
    [FIXED32] = tag(FIXED32) .. "1234",
  }
end

local function check(message, number, fits, also)
  for wire_type, bytes in pairs(forms(number)) do
    if wire_type ~= fits and wire_type ~= also then
      both(pb, message, { ["?unknown"] = bytes }, h.hex(bytes))
    end
  end
end

h.test("singular scalars, not packed either", function()
  for i, scalar in ipairs(scalars) do
    check("every2.All", i, scalar[2])
    check("every3.All", i, scalar[2])
    check("every3.All", i + 20, scalar[2])
  end
end)

h.test("repeated scalars, packed or not", function()
  for i, scalar in ipairs(scalars) do
    check("every2.All", i + 20, scalar[2], LENGTH)
    check("every3.All", i + 40, scalar[2], LENGTH)
    if scalar[2] ~= LENGTH and i < 14 then
      check("every2.All", i + 40, scalar[2], LENGTH)
      check("every3.All", i + 60, scalar[2], LENGTH)
    end
  end
end)

h.test("messages, repeated messages and maps", function()
  for _, number in ipairs { 17, 37, 131, 132 } do
    check("every2.All", number, LENGTH)
    check("every3.All", number, LENGTH)
  end
  for number = 81, 92 do
    check("every2.All", number, LENGTH)
    check("every3.All", number, LENGTH)
  end
  for number = 101, 119 do
    check("every2.All", number, LENGTH)
    check("every3.All", number, LENGTH)
  end
end)

h.test("groups", function()
  for _, number in ipairs { 18, 38, 128 } do
    check("every2.All", number, GROUP)
  end
end)

h.test("members of a oneof, which stay as they are", function()
  local fits = { VARINT, LENGTH, LENGTH, VARINT, LENGTH, VARINT, FIXED64 }
  for i, wire_type in ipairs(fits) do
    check("every3.All", 120 + i, wire_type)
  end
  decodes(pb, "every3.All", "c8 07 05 d0 07 01", { c_int32 = 5, ["?unknown"] = h.bytes "d0 07 01" })
end)

h.test("between fitting ones", function()
  decodes(pb, "every3.All", "18 05 1d 01 00 00 00 18 06", { s_int32 = 6, ["?unknown"] = h.bytes "1d 01 00 00 00" })
  decodes(pb, "every3.All", "d8 02 01 dd 02 01 00 00 00 d8 02 02", { r_int32 = { 1, 2 }, ["?unknown"] = h.bytes "dd 02 01 00 00 00" })
end)
