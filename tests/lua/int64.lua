-- 64-bit numbers are exact on every Lua: integers, numbers up to 2^53 and beyond them cdata or strings.

local h = ...
local pb = h.instance()
local text = h.instance { int64 = "string" }
local both, encodes, decodes, raises = h.both, h.encodes, h.decodes, h.raises
local ALL = "every3.All"

-- Field, digits, bytes.
local signed = {
  { "s_int64", "1", "20 01" },
  { "s_int64", "-1", "20 ff ff ff ff ff ff ff ff ff 01" },
  { "s_int64", "9007199254740991", "20 ff ff ff ff ff ff ff 0f" },
  { "s_int64", "9007199254740992", "20 80 80 80 80 80 80 80 10" },
  { "s_int64", "9007199254740993", "20 81 80 80 80 80 80 80 10" },
  { "s_int64", "9007199254740994", "20 82 80 80 80 80 80 80 10" },
  { "s_int64", "-9007199254740992", "20 80 80 80 80 80 80 80 f0 ff 01" },
  { "s_int64", "-9007199254740993", "20 ff ff ff ff ff ff ff ef ff 01" },
  { "s_int64", "-9007199254740994", "20 fe ff ff ff ff ff ff ef ff 01" },
  { "s_int64", "9223372036854775807", "20 ff ff ff ff ff ff ff ff 7f" },
  { "s_int64", "-9223372036854775808", "20 80 80 80 80 80 80 80 80 80 01" },
  { "s_sint64", "-1", "40 01" },
  { "s_sint64", "9007199254740993", "40 82 80 80 80 80 80 80 20" },
  { "s_sint64", "9223372036854775807", "40 fe ff ff ff ff ff ff ff ff 01" },
  { "s_sint64", "-9223372036854775808", "40 ff ff ff ff ff ff ff ff ff 01" },
  { "s_sfixed64", "-2", "61 fe ff ff ff ff ff ff ff" },
  { "s_sfixed64", "9223372036854775807", "61 ff ff ff ff ff ff ff 7f" },
  { "s_sfixed64", "-9223372036854775808", "61 00 00 00 00 00 00 00 80" },
}

local unsigned = {
  { "s_uint64", "1", "30 01" },
  { "s_uint64", "9007199254740992", "30 80 80 80 80 80 80 80 10" },
  { "s_uint64", "9007199254740993", "30 81 80 80 80 80 80 80 10" },
  { "s_uint64", "9007199254740994", "30 82 80 80 80 80 80 80 10" },
  { "s_uint64", "9223372036854775807", "30 ff ff ff ff ff ff ff ff 7f" },
  { "s_uint64", "9223372036854775808", "30 80 80 80 80 80 80 80 80 80 01" },
  { "s_uint64", "18446744073709551615", "30 ff ff ff ff ff ff ff ff ff 01" },
  { "s_fixed64", "1", "51 01 00 00 00 00 00 00 00" },
  { "s_fixed64", "9007199254740993", "51 01 00 00 00 00 00 20 00" },
  { "s_fixed64", "18446744073709551615", "51 ff ff ff ff ff ff ff ff" },
}

local function each(f)
  for _, case in ipairs(signed) do
    f(case[1], case[2], case[3], h.int64(case[2]))
  end
  for _, case in ipairs(unsigned) do
    f(case[1], case[2], case[3], h.uint64(case[2]))
  end
end

local function takes(name, value, hex)
  encodes(pb, ALL, { [name] = value }, hex)
end

local function rejects(name, ...)
  for i = 1, select("#", ...) do
    raises("every3.All." .. name .. ": ", pb.encode, ALL, { [name] = (select(i, ...)) })
  end
end

h.test("this Lua's own values go there and back exactly", function()
  each(function(name, digits, hex, value)
    both(pb, ALL, { [name] = value }, hex)
  end)
end)

h.test("in lists, as values of maps and in the flat form too", function()
  local low, big, top = h.int64 "-9223372036854775808", h.int64 "9007199254740993", h.uint64 "18446744073709551615"
  local list = "82 04 13 80 80 80 80 80 80 80 80 80 01 81 80 80 80 80 80 80 10 05"
  both(pb, ALL, { p_int64 = { low, big, 5 } }, list)
  both(pb, ALL, { r_uint64 = { top, 5 } }, "f0 02 ff ff ff ff ff ff ff ff ff 01 f0 02 05")
  both(pb, ALL, { p_fixed64 = { top } }, "b2 04 08 ff ff ff ff ff ff ff ff")
  both(pb, ALL, { v_int64 = { a = big } }, "c2 06 0c 0a 01 61 10 81 80 80 80 80 80 80 10")
  both(pb, ALL, { v_uint64 = { a = top } }, "d2 06 0e 0a 01 61 10 ff ff ff ff ff ff ff ff ff 01")
  both(pb, ALL, { x_uint64 = top }, "88 08 ff ff ff ff ff ff ff ff ff 01")
  h.eq({ pb.unpack("every3.All p_int64", h.bytes(list)) }, { { low, big, 5 } })
  h.eq({ pb.unpack("every3.All v_uint64", pb.pack("every3.All v_uint64", { a = top })) }, { { a = top } })
end)

h.test("strings of digits are taken", function()
  each(function(name, digits, hex)
    takes(name, digits, hex)
  end)
  takes("s_int64", "0x7fffffffffffffff", "20 ff ff ff ff ff ff ff ff 7f")
  takes("s_uint64", "0xffffffffffffffff", "30 ff ff ff ff ff ff ff ff ff 01")
  takes("s_fixed64", "0x1F", "51 1f 00 00 00 00 00 00 00")
end)

h.test("floats that are whole and in range are taken", function()
  takes("s_int64", 3.0, "20 03")
  takes("s_int64", 2 ^ 53, "20 80 80 80 80 80 80 80 10")
  takes("s_int64", -2 ^ 63, "20 80 80 80 80 80 80 80 80 80 01")
  takes("s_int64", 2 ^ 62, "20 80 80 80 80 80 80 80 80 40")
  takes("s_uint64", 2 ^ 63, "30 80 80 80 80 80 80 80 80 80 01")
  takes("s_fixed64", 2 ^ 63, "51 00 00 00 00 00 00 00 80")
  takes("s_sfixed64", -2 ^ 63, "61 00 00 00 00 00 00 00 80")
end)

h.test("what does not fit is refused", function()
  for _, name in ipairs { "s_int64", "s_sint64", "s_sfixed64" } do
    rejects(name, 2 ^ 63, -2 ^ 63 * 1.5, 2 ^ 64, h.inf, -h.inf, h.nan)
    rejects(name, "9223372036854775808", "-9223372036854775809", "99999999999999999999", "1" .. ("0"):rep(60))
  end
  for _, name in ipairs { "s_uint64", "s_fixed64" } do
    rejects(name, 2 ^ 64, -1.0, -2 ^ 63, h.inf, h.nan, "-1", "18446744073709551616", "1" .. ("0"):rep(60))
  end
end)

h.test("what is no whole number is refused", function()
  for _, name in ipairs { "s_int64", "s_uint64", "s_sint64", "s_fixed64", "s_sfixed64" } do
    rejects(name, 1.5, "1.5", "", "a", "12x", "0x", "0x1g", " 1", "1 ", "1e3", "1\0", true, {}, print)
  end
end)

h.test("option int64=string gives decimal strings", function()
  each(function(name, digits, hex)
    both(text, ALL, { [name] = digits }, hex)
  end)
  both(text, ALL, { r_int64 = { "1", "-1" } }, "e0 02 01 e0 02 ff ff ff ff ff ff ff ff ff 01")
  both(text, ALL, { s_int32 = 5, s_fixed32 = 6 }, "18 05 4d 06 00 00 00")
  both(text, ALL, { p_uint64 = { "18446744073709551615", "0" } }, "92 04 0b ff ff ff ff ff ff ff ff ff 01 00")
  both(text, ALL, { p_sint64 = { "-1" }, p_fixed64 = { "1" } }, "a2 04 01 01 b2 04 08 01 00 00 00 00 00 00 00")
  both(text, ALL, { x_uint64 = "0" }, "88 08 00")
end)

h.test("option int64=string gives decimal map keys and values", function()
  both(text, ALL, { k_int64 = { ["-5"] = 1 } }, "92 05 0d 08 fb ff ff ff ff ff ff ff ff 01 10 01")
  both(text, ALL, { k_uint64 = { ["18446744073709551615"] = 1 } }, "a2 05 0d 08 ff ff ff ff ff ff ff ff ff 01 10 01")
  both(text, ALL, { k_sint64 = { ["-1"] = 1 } }, "b2 05 04 08 01 10 01")
  both(text, ALL, { k_fixed64 = { ["0"] = 1 } }, "c2 05 0b 09 00 00 00 00 00 00 00 00 10 01")
  both(text, ALL, { v_int64 = { x = "7" } }, "c2 06 05 0a 01 78 10 07")
  both(text, ALL, { v_sfixed64 = { x = "-1" } }, "82 07 0c 0a 01 78 11 ff ff ff ff ff ff ff ff")
  decodes(text, ALL, "92 05 00", { k_int64 = { ["0"] = 0 } })
  decodes(text, ALL, "c2 06 03 0a 01 78", { v_int64 = { x = "0" } })
  both(text, ALL, { k_int32 = { [5] = 1 } }, "8a 05 04 08 05 10 01")
end)

h.test("option int64=string leaves parts of 32 bits of an entry alone that are not there", function()
  h.decodes(text, ALL, "9a 05 02 10 01", { k_uint32 = { [0] = 1 } })
  h.decodes(text, ALL, "ca 06 03 0a 01 61", { v_uint32 = { a = 0 } })
end)

h.test("option int64=string governs defaults and the flat form", function()
  h.eq(text.decode("every2.All", "").d_int64, "-9223372036854775808")
  h.eq(text.decode("every2.All", "").d_uint64, "18446744073709551615")
  h.eq(text.decode("every2.All", "").o_int64, "0")
  h.eq(text.unpack("every3.All s_int64", h.bytes "20 07"), "7")
  h.eq(text.unpack("every3.All s_int64", ""), "0")
  h.eq({ text.unpack("every3.All p_int64 v_uint64 k_uint64 p_int32", h.bytes "82 04 01 05 d2 06 05 0a 01 61 10 06 a2 05 04 08 07 10 01 fa 03 01 05") },
    { { "5" }, { a = "6" }, { ["7"] = 1 }, { 5 } })
  h.eq(text.default("every2.All", {}).d_sint64, "9007199254740993")
  local copied = h.instance { int64 = "string", defaults = "copy" }.decode("every2.All", "")
  h.eq({ copied.d_fixed64, copied.o_sfixed64, copied.o_int32 }, { "9007199254740992", "0", 0 })
end)

h.test("defaults are exact", function()
  local empty = pb.decode("every2.All", "")
  h.eq(empty.d_int64, h.int64 "-9223372036854775808")
  h.eq(empty.d_uint64, h.uint64 "18446744073709551615")
  h.eq(empty.d_sint64, h.int64 "9007199254740993")
  h.eq(empty.d_fixed64, h.uint64 "9007199254740992")
  h.eq(empty.d_sfixed64, h.int64 "-9007199254740992")
end)

if h.integers then
  h.test("a negative integer stands for its bits", function()
    takes("s_uint64", -1, "30 ff ff ff ff ff ff ff ff ff 01")
    takes("s_fixed64", math.mininteger, "51 00 00 00 00 00 00 00 80")
    takes("p_uint64", { -1 }, "92 04 0a ff ff ff ff ff ff ff ff ff 01")
    takes("v_fixed64", { a = -2 }, "f2 06 0c 0a 01 61 11 fe ff ff ff ff ff ff ff")
    takes("k_uint64", { [-1] = 1 }, "a2 05 0d 08 ff ff ff ff ff ff ff ff ff 01 10 01")
    h.eq(pb.pack("every3.All s_uint64", -1), h.bytes "30 ff ff ff ff ff ff ff ff ff 01")
    h.eq(math.type(pb.decode(ALL, h.bytes "20 01").s_int64), "integer")
    h.eq(math.type(pb.decode(ALL, h.bytes "18 01").s_int32), "integer")
    h.eq(math.type(pb.decode(ALL, h.bytes "28 01").s_uint32), "integer")
  end)
else
  h.test("a negative number is refused where unsigned", function()
    rejects("s_uint64", -1)
    rejects("s_fixed64", -1)
    raises("every3.All.p_uint64[1]: ", pb.encode, ALL, { p_uint64 = { -1 } })
    rejects("k_uint64", { [-1] = 1 })
  end)
end

if h.ffi then
  local ffi = h.ffi
  local function int64(value)
    return ffi.cast("int64_t", value)
  end
  local function uint64(value)
    return ffi.cast("uint64_t", value)
  end

  h.test("cdata are taken", function()
    takes("s_int64", int64(5), "20 05")
    takes("s_int64", int64(-1), "20 ff ff ff ff ff ff ff ff ff 01")
    takes("s_int64", uint64(5), "20 05")
    takes("s_uint64", uint64(5), "30 05")
    takes("s_uint64", int64(5), "30 05")
    takes("s_sint64", int64(-1), "40 01")
    takes("s_fixed64", uint64(int64(-1)), "51 ff ff ff ff ff ff ff ff")
    takes("s_sfixed64", int64(-2), "61 fe ff ff ff ff ff ff ff")
    takes("s_int32", int64(-1), "18 ff ff ff ff ff ff ff ff ff 01")
    takes("s_uint32", uint64(2 ^ 32 - 1), "28 ff ff ff ff 0f")
    takes("s_color", int64(2), "80 01 02")
    takes("p_int64", { int64(-1), uint64(5), 6, "7" }, "82 04 0d ff ff ff ff ff ff ff ff ff 01 05 06 07")
    takes("v_uint64", { a = uint64(int64(-1)) }, "d2 06 0e 0a 01 61 10 ff ff ff ff ff ff ff ff ff 01")
    h.eq(pb.pack("every3.All s_int64 r_uint64", int64(-1), { uint64(5) }), h.bytes "20 ff ff ff ff ff ff ff ff ff 01 f0 02 05")
  end)

  h.test("cdata are taken as keys of maps", function()
    takes("k_int64", { [int64(-1)] = 1 }, "92 05 0d 08 ff ff ff ff ff ff ff ff ff 01 10 01")
    takes("k_uint64", { [uint64(int64(-1))] = 1 }, "a2 05 0d 08 ff ff ff ff ff ff ff ff ff 01 10 01")
    takes("k_int32", { [int64(5)] = 1 }, "8a 05 04 08 05 10 01")
    rejects("k_uint64", { [int64(-1)] = 1 })
    rejects("k_string", { [int64(5)] = 1 })
  end)

  h.test("option sort_map puts cdata where their value belongs", function()
    local sorted = h.instance { sort_map = true }
    local map = { [4] = 4, ["2"] = 2 }
    for _, i in ipairs { 7, -1, 3, 5, 1, 6 } do
      map[int64(i)] = i
    end
    encodes(sorted, ALL, { k_sint64 = map }, [[ b2 05 0d 08 01 10 ff ff ff ff ff ff ff ff ff 01  b2 05 04 08 02 10 01  b2 05 04 08 04 10 02
      b2 05 04 08 06 10 03  b2 05 04 08 08 10 04  b2 05 04 08 0a 10 05  b2 05 04 08 0c 10 06  b2 05 04 08 0e 10 07 ]])
    encodes(sorted, ALL, { k_fixed64 = { [uint64(2 ^ 63)] = 1, [uint64(1)] = 2 } },
      "c2 05 0b 09 01 00 00 00 00 00 00 00 10 02 c2 05 0b 09 00 00 00 00 00 00 00 80 10 01")
  end)

  h.test("cdata out of range are refused", function()
    rejects("s_int64", uint64(2 ^ 63), uint64(int64(-1)))
    rejects("s_uint64", int64(-1))
    rejects("s_fixed64", int64(-1))
    rejects("s_int32", int64(2 ^ 31), uint64(2 ^ 63))
    rejects("s_uint32", int64(-1), int64(2 ^ 32))
    rejects("s_color", int64(2 ^ 31))
  end)

  h.test("other cdata are refused", function()
    rejects("s_int64", ffi.new("char[8]"), ffi.new("struct { int64_t a; }"), ffi.cast("void *", 0), ffi.typeof "int64_t")
    for _, name in ipairs { "int8_t", "int32_t", "uint32_t", "double", "float", "bool", "complex", "int64_t *", "int64_t[1]", "const int64_t *" } do
      rejects("s_int64", ffi.new(name))
      rejects("s_double", ffi.new(name))
    end
    rejects("s_int64", ffi.cast("int64_t &", ffi.new("int64_t[1]", 5)), ffi.new("enum { FIRST }"))
    rejects("s_double", int64(5))
    rejects("s_bool", ffi.new("bool", true))
    rejects("s_string", int64(5))
    rejects("s_bytes", ffi.new("char[8]"))
    rejects("s_inner", ffi.new("struct { int a; }"))
  end)

  h.test("decoded cdata are of the right type", function()
    local all = pb.decode(ALL, h.bytes "20 81 80 80 80 80 80 80 10 30 81 80 80 80 80 80 80 10")
    assert(ffi.istype("int64_t", all.s_int64))
    assert(ffi.istype("uint64_t", all.s_uint64))
    assert(all.s_int64 == int64(2 ^ 53) + 1)
    h.eq(type(pb.decode(ALL, h.bytes "20 80 80 80 80 80 80 80 10").s_int64), "number")
  end)

  h.test("an instance that is made while a finalizer raises has cdata", function()
    local pause, stepmul = collectgarbage("setpause", 101), collectgarbage("setstepmul", 1000000)
    for size = 0, 20 * collectgarbage "count", 256 do
      collectgarbage()
      h.finalized(function()
        error "finalizer"
      end)
      -- The next collection comes when there is 1% more.
      local fine, new = pcall(function()
        local _ = ("x"):rep(size)
        return h.protobuf.new()
      end)
      pcall(collectgarbage)
      -- There is none where LuaJIT lets errors of finalizers through, as 2.1.0-beta3 does.
      if fine then
        new.register(h.set "every3")
        h.eq(type(new.decode(ALL, h.bytes "20 81 80 80 80 80 80 80 10").s_int64), "cdata")
      end
    end
    collectgarbage("setpause", pause)
    collectgarbage("setstepmul", stepmul)
  end)
end
