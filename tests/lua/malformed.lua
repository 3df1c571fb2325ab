-- Malformed and hostile input: refused with a message, never a crash, a hang or a wrong result.

local h = ...
local pb = h.instance()
local plain = h.instance { defaults = "none" }
local raises, refuses = h.raises, h.refuses

local rich2 = {
  o_double = 1.5, o_float = 2.5, o_int32 = -1, o_int64 = "9007199254740993", o_uint32 = 4294967295, o_uint64 = 7, o_sint32 = -300,
  o_sint64 = 5, o_fixed32 = 1, o_fixed64 = 2, o_sfixed32 = -1, o_sfixed64 = -2, o_bool = true, o_string = "text", o_bytes = "\255\0",
  o_color = "BLUE", o_inner = { a = 1, b = "x", inner = { list = { 1, 2, 300 } } }, ogroup = { a = 1, inner = { a = 2 } },
  r_int32 = { 1, -1, 300 }, r_double = { 1.5 }, r_string = { "a", "", "b" }, r_inner = { {}, { a = 300 } }, rgroup = { { a = 1 }, {} },
  r_color = { "RED", "BLUE" }, p_int32 = { 1, 300, -1 }, p_sint64 = { -1, 1000 }, p_float = { 1.5, -2.5 }, p_fixed64 = { 1, 2 },
  p_bool = { true, false }, p_color = { "RED", "GREEN" }, k_int32 = { [300] = 1 }, k_string = { key = -1 }, k_bool = { [true] = 1 },
  k_fixed64 = { [5] = 6 }, v_string = { a = "b" }, v_inner = { a = { a = 300, b = "y" } }, v_color = { a = "GREEN" },
  v_double = { a = 0.5 }, c_inner = { inner = {} }, x_uint64 = 300, self = { self = { o_string = "deep" }, ogroup = {} },
  selves = { { r_string = { "x" } } }, signed = "LOWEST", n2047 = 1, n2048 = 300, n536870911 = -1,
  ["?unknown"] = h.bytes "e0 09 96 01 eb 09 08 01 53 54 ec 09 f2 09 02 68 69",
}

local function rich()
  local bytes = plain.encode("every2.All", rich2)
  assert(#bytes > 400)
  return bytes
end

-- Where the varint at a position ends: its value, and the position after it.
local function varint(bytes, at)
  local value, scale = 0, 1
  while true do
    local byte = bytes:byte(at)
    value, scale, at = value + byte % 128 * scale, scale * 128, at + 1
    if byte < 128 then
      return value, at
    end
  end
end

-- Where the field at a position ends.
local function skip(bytes, at)
  local tag
  tag, at = varint(bytes, at)
  local wire_type = tag % 8
  if wire_type == 0 then
    return (select(2, varint(bytes, at)))
  elseif wire_type == 1 then
    return at + 8
  elseif wire_type == 2 then
    local length
    length, at = varint(bytes, at)
    return at + length
  elseif wire_type == 5 then
    return at + 4
  end
  while varint(bytes, at) ~= tag + 1 do
    at = skip(bytes, at)
  end
  return (select(2, varint(bytes, at)))
end

h.test("the rich message goes there and back", function()
  local want = {}
  for name, value in pairs(rich2) do
    want[name] = value
  end
  want.o_int64 = h.int64 "9007199254740993"
  h.eq(plain.decode("every2.All", rich()), want)
end)

h.test("every prefix is refused, unless it ends between two fields", function()
  local bytes = rich()
  local whole, at = { [0] = true }, 1
  while at <= #bytes do
    at = skip(bytes, at)
    whole[at - 1] = true
  end
  for length = 0, #bytes do
    local prefix = bytes:sub(1, length)
    local got, message = pb.decode("every2.All", prefix)
    local fine, flat = pcall(pb.unpack, "every2.All n536870911 o_int32 r_string", prefix)
    h.eq(fine, whole[length] or false, "unpack " .. length)
    if whole[length] then
      h.eq(type(got), "table", length)
      h.eq(pb.decode("every2.All", bytes, length), got, length)
    else
      refuses("every2.All", got, message)
      h.eq(type(flat), "string")
      h.eq(pb.decode("every2.All", bytes, length), false)
    end
  end
end)

h.test("a changed byte gives an error, or a message that from then on stays the same", function()
  local own = h.instance { defaults = "none", sort_map = true }
  local bytes, seed = rich(), 1
  local function random(limit)
    seed = (seed * 16807) % 2147483647
    return seed % limit
  end
  local read = 0
  for _ = 1, 4000 do
    local at = random(#bytes) + 1
    local changed = bytes:sub(1, at - 1) .. string.char(random(256)) .. bytes:sub(at + 1)
    local got, message = own.decode("every2.All", changed)
    if got then
      read = read + 1
      local again = own.encode("every2.All", got)
      h.eq(own.encode("every2.All", own.decode("every2.All", again)), again, h.hex(changed))
    else
      h.eq(type(message), "string")
    end
    pcall(own.unpack, "every2.All self o_inner n536870911", changed)
  end
  assert(read > 100 and read < 3900, read)
end)

h.test("varints of more than ten bytes", function()
  local long = ("\128"):rep(10) .. "\1"
  refuses("every3.All.s_int32", pb.decode("every3.All", "\24" .. long))
  refuses("every3.All.s_int32", pb.decode("every3.All", "\24" .. ("\255"):rep(10) .. "\1"))
  refuses("every3.All.s_bool", pb.decode("every3.All", "\104" .. ("\128"):rep(10) .. "\0"))
  refuses("every3.All.s_string", pb.decode("every3.All", "\114" .. long))
  refuses("every3.All", pb.decode("every3.All", long))
  refuses("every3.All", pb.decode("every3.All", "\152" .. ("\128"):rep(9) .. "\0\1"))
  refuses("every3.All.p_int32", pb.decode("every3.All", h.field(63, long)))
  refuses("every3.Inner", pb.decode("every3.Inner", "\80" .. long))
  refuses("every3.All.s_int32", pb.decode("every3.All", "\24" .. ("\128"):rep(1000000)))
end)

h.test("lengths past the end", function()
  for _, length in ipairs {
    "01", "7f", "ff ff ff ff 07", "80 80 80 80 08", "ff ff ff ff 0f", "80 80 80 80 10", "ff ff ff ff ff ff ff ff 7f",
    "80 80 80 80 80 80 80 80 80 01", "ff ff ff ff ff ff ff ff ff 01", "f6 ff ff ff ff ff ff ff ff 01",
  } do
    -- string, bytes, message, repeated string, packed varints and doubles, map, unknown.
    for _, tag in ipairs { "72", "7a", "8a 01", "b2 03", "fa 03", "ea 03", "e2 05", "e2 09" } do
      refuses("every3.All", pb.decode("every3.All", h.bytes(tag .. length)))
      raises("every3.All", pb.unpack, "every3.All s_int32 s_string s_inner r_string p_int32 p_double k_string", h.bytes(tag .. length))
      refuses("every3.All.self", pb.decode("every3.All", h.field(131, h.bytes(tag .. length)) .. ("\0"):rep(200)))
    end
  end
end)

h.test("a packed list whose length does not fit its elements", function()
  refuses("every3.All.p_fixed32", pb.decode("every3.All", h.field(69, "abc")))
  refuses("every3.All.p_double", pb.decode("every3.All", h.field(61, "123456789")))
  refuses("every3.All.r_sfixed64", pb.decode("every3.All", h.field(52, "1234567")))
end)

h.test("groups that do not match", function()
  refuses("every2.All", pb.decode("every2.All", h.bytes "94 01"))
  refuses("every2.All", pb.decode("every2.All", h.bytes "18 05 1c"))
  refuses("every2.All", pb.decode("every2.All", h.bytes "93 01 08 01"))
  refuses("every2.All", pb.decode("every2.All", h.bytes "93 01 9c 01"))
  refuses("every2.All", pb.decode("every2.All", h.bytes "93 01 12 02 94 01"))
  refuses("every2.All", pb.decode("every2.All", h.bytes "8a 01 02 94 01"))
  refuses("every2.All", pb.decode("every2.All", h.bytes "93 01 8a 01 02 94 01"))
  refuses("every3.Inner", pb.decode("every3.Inner", h.bytes "54"))
  refuses("every3.Inner", pb.decode("every3.Inner", h.bytes "53"))
  refuses("every3.Inner", pb.decode("every3.Inner", h.bytes "53 5c"))
  refuses("every3.Inner", pb.decode("every3.Inner", h.bytes "53 5b 54 5c"))
  refuses("every3.All", pb.decode("every3.All", h.bytes "8a 01 01 53 54"))
end)

h.test("field number 0, numbers past the last, wire types 6 and 7", function()
  for _, hex in ipairs { "00 00", "01 01 02 03 04 05 06 07 08", "02 00", "03 04", "05 01 02 03 04", "80 00 00", "1e", "1f", "56", "57 00",
    "80 80 80 80 10 00", "80 80 80 80 80 01 00", "98 80 80 80 80 80 80 80 80 01 05" } do
    refuses("every3.All", pb.decode("every3.All", h.bytes(hex)))
    refuses("every3.All.s_inner", pb.decode("every3.All", h.field(17, h.bytes(hex))))
    refuses("every2.All.ogroup", pb.decode("every2.All", h.bytes "93 01" .. h.bytes(hex) .. h.bytes "94 01"))
    refuses("every3.All", pb.decode("every3.All", h.bytes "e3 09" .. h.bytes(hex) .. h.bytes "e4 09"))
    raises("every3.All", pb.unpack, "every3.All s_int32", h.bytes(hex))
  end
end)

-- Messages nested this deep in the field whose tag byte is given.
local function nested(tag, levels)
  local headers, length = {}, 0
  for i = levels, 1, -1 do
    headers[i] = tag .. h.varint(length)
    length = length + #headers[i]
  end
  return table.concat(headers)
end

h.test("60,000 levels of bytes", function()
  local deep = nested("\26", 60000)
  for _, own in ipairs { pb, plain, h.instance { depth = 1000 } } do
    refuses("dep", own.decode("every3.Inner", deep))
    refuses("dep", own.decode("every3.All", h.field(17, deep)))
    refuses("dep", own.decode("every3.All", nested(h.bytes "9a 08", 60000)))
    refuses("dep", own.decode("every2.All", nested(h.bytes "a2 08", 60000)))
    refuses("dep", own.decode("every3.Inner", ("S"):rep(60000) .. ("T"):rep(60000)))
    refuses("", own.decode("every3.Inner", ("S"):rep(60000)))
    raises("dep", own.unpack, "every3.All s_int32", ("\227\9"):rep(60000) .. ("\228\9"):rep(60000))
    raises("every3.Inner", own.encode, "every3.Inner", { ["?unknown"] = ("S"):rep(60000) .. ("T"):rep(60000) })
  end
end)

h.test("60,000 levels of tables", function()
  local deep, list, map = {}, {}, {}
  for _ = 1, 60000 do
    deep, list, map = { self = deep }, { selves = { list } }, { v_all = { x = map } }
  end
  for _, own in ipairs { pb, h.instance { depth = 1000 } } do
    for _, value in ipairs { deep, list, map } do
      raises("dep", own.encode, "every3.All", value)
      raises("dep", own.encode, "every2.All", value)
    end
  end
  h.encodes(pb, "every3.All", { s_int32 = 5 }, "18 05")
end)

h.test("cyclic tables", function()
  local cycle, list, map, far = {}, {}, {}, { self = { self = {} } }
  cycle.self, list.selves, map.v_all, far.self.self.selves = cycle, { list }, { x = map }, { far }
  for _, value in ipairs { cycle, list, map, far } do
    raises("dep", pb.encode, "every3.All", value)
    pcall(pb.default, "every3.All", value)
  end
  local odd = {}
  odd.r_int32 = odd
  raises("every3.All.r_int32", pb.encode, "every3.All", odd)
end)

h.test("cyclic and deep decoded tables do not hang extract, has and encode", function()
  local all = pb.decode("every3.All", "")
  all.self.self.self = all
  h.eq(type(pb.has(all, "self")), "boolean")
  pcall(pb.extract, all)
  pcall(pb.encode, "every3.All", all)
  local top = pb.decode("every3.All", "")
  local at = top
  for _ = 1, 60000 do
    at = at.self
  end
  h.eq(pb.has(top, "self"), false)
  h.encodes(pb, "every3.All", top, "")
  assert(rawequal(pb.extract(top), top))
  h.eq(next(top), nil)
end)

h.test("many small elements stay within bounds", function()
  local wire = h.bytes("ca 03 00"):rep(200000)
  h.eq(#pb.decode("every3.All", wire).r_inner, 200000)
  wire = h.bytes("fa 03 00"):rep(200000)
  h.eq(#pb.decode("every3.All", wire).p_int32, 0)
end)
