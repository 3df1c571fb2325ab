-- Every scalar type: its edges with their exact bytes, what encode takes and refuses, what decode truncates.

local h = ...
local pb = h.instance()
local both, encodes, decodes, raises, refuses = h.both, h.encodes, h.decodes, h.raises, h.refuses
local ALL = "every3.All"

local function wire(name, value, hex)
  both(pb, ALL, { [name] = value }, hex)
end

local function takes(name, value, hex)
  encodes(pb, ALL, { [name] = value }, hex)
end

local function gives(name, hex, value)
  decodes(pb, ALL, hex, { [name] = value })
end

local function rejects(name, ...)
  for i = 1, select("#", ...) do
    raises("every3.All." .. name .. ": ", pb.encode, ALL, { [name] = (select(i, ...)) })
  end
end

h.test("int32", function()
  wire("s_int32", 1, "18 01")
  wire("s_int32", 127, "18 7f")
  wire("s_int32", 128, "18 80 01")
  wire("s_int32", 16384, "18 80 80 01")
  wire("s_int32", 2147483647, "18 ff ff ff ff 07")
  wire("s_int32", -1, "18 ff ff ff ff ff ff ff ff ff 01")
  wire("s_int32", -2147483648, "18 80 80 80 80 f8 ff ff ff ff 01")
end)

h.test("uint32", function()
  wire("s_uint32", 1, "28 01")
  wire("s_uint32", 2147483648, "28 80 80 80 80 08")
  wire("s_uint32", 4294967295, "28 ff ff ff ff 0f")
end)

h.test("sint32", function()
  wire("s_sint32", -1, "38 01")
  wire("s_sint32", 1, "38 02")
  wire("s_sint32", 2147483647, "38 fe ff ff ff 0f")
  wire("s_sint32", -2147483648, "38 ff ff ff ff 0f")
end)

h.test("fixed32 and sfixed32", function()
  wire("s_fixed32", 1, "4d 01 00 00 00")
  wire("s_fixed32", 4294967295, "4d ff ff ff ff")
  wire("s_sfixed32", -1, "5d ff ff ff ff")
  wire("s_sfixed32", 2147483647, "5d ff ff ff 7f")
  wire("s_sfixed32", -2147483648, "5d 00 00 00 80")
end)

h.test("bool", function()
  wire("s_bool", true, "68 01")
  both(pb, ALL, { o_bool = false }, "88 02 00")
end)

h.test("double", function()
  wire("s_double", 1.5, "09 00 00 00 00 00 00 f8 3f")
  wire("s_double", -2.5e100, "09 5c f4 f9 6e 18 dc c6 d4")
  wire("s_double", 5e-324, "09 01 00 00 00 00 00 00 00")
  wire("s_double", 1.7976931348623157e308, "09 ff ff ff ff ff ff ef 7f")
  wire("s_double", h.inf, "09 00 00 00 00 00 00 f0 7f")
  wire("s_double", -h.inf, "09 00 00 00 00 00 00 f0 ff")
  wire("s_double", 3.0, "09 00 00 00 00 00 00 08 40")
end)

h.test("float", function()
  wire("s_float", 1.5, "15 00 00 c0 3f")
  wire("s_float", -h.inf, "15 00 00 80 ff")
  wire("s_float", 1.401298464324817e-45, "15 01 00 00 00")
  wire("s_float", 3.4028234663852886e38, "15 ff ff 7f 7f")
end)

h.test("a float narrows to the nearest and widens exactly", function()
  takes("s_float", 0.1, "15 cd cc cc 3d")
  gives("s_float", "15 cd cc cc 3d", 0.10000000149011612)
  takes("s_float", 16777217, "15 00 00 80 4b")
  takes("s_float", 16777219, "15 02 00 80 4b")
  takes("s_float", 1e39, "15 00 00 80 7f")
  takes("s_float", -1e39, "15 00 00 80 ff")
  takes("s_float", 1.1754942807573643e-38, "15 00 00 80 00")
end)

h.test("NaN is written in its canonical form and read in any", function()
  takes("s_double", h.nan, "09 00 00 00 00 00 00 f8 7f")
  takes("s_double", -h.nan, "09 00 00 00 00 00 00 f8 7f")
  takes("s_float", h.nan, "15 00 00 c0 7f")
  takes("s_float", -h.nan, "15 00 00 c0 7f")
  for _, hex in ipairs { "09 01 00 00 00 00 00 f0 7f", "09 00 00 00 00 00 00 f8 ff", "09 ff ff ff ff ff ff ff ff" } do
    gives("s_double", hex, h.nan)
  end
  for _, hex in ipairs { "15 01 00 80 7f", "15 00 00 c0 ff", "15 ff ff ff ff" } do
    gives("s_float", hex, h.nan)
  end
end)

h.test("minus zero is not zero", function()
  local zero = -1 / h.inf
  wire("s_double", zero, "09 00 00 00 00 00 00 00 80")
  wire("s_float", zero, "15 00 00 00 80")
end)

h.test("bytes", function()
  wire("s_bytes", h.bytes "00 ff 80 00", "7a 04 00 ff 80 00")
  wire("s_bytes", ("x"):rep(128), "7a 80 01" .. ("78"):rep(128))
  rejects("s_bytes", 12, 1.5, true, {}, print)
end)

h.test("whole numbers in other clothes", function()
  takes("s_int32", 3.0, "18 03")
  takes("s_int32", "12", "18 0c")
  takes("s_int32", "-12", "18 f4 ff ff ff ff ff ff ff ff 01")
  takes("s_int32", "0x1F", "18 1f")
  takes("s_int32", "2147483647", "18 ff ff ff ff 07")
  takes("s_uint32", 4294967295.0, "28 ff ff ff ff 0f")
  takes("s_uint32", "4294967295", "28 ff ff ff ff 0f")
  takes("s_uint32", "0xffffffff", "28 ff ff ff ff 0f")
  takes("s_sint32", "-2147483648", "38 ff ff ff ff 0f")
  takes("s_fixed32", "0x10", "4d 10 00 00 00")
  takes("s_sfixed32", "-2", "5d fe ff ff ff")
  takes("s_int32", "+12", "18 0c")
  takes("s_int32", "-0X1f", "18 e1 ff ff ff ff ff ff ff ff 01")
  takes("s_int32", "00000000000000000000012", "18 0c")
  takes("s_uint32", "-0", "")
  takes("o_uint32", -1 / h.inf, "c8 01 00")
end)

h.test("numbers that do not fit are refused", function()
  for _, name in ipairs { "s_int32", "s_sint32", "s_sfixed32" } do
    rejects(name, 2147483648, -2147483649, "2147483648", "-2147483649", 2147483648.5, 2 ^ 40, -2 ^ 63, 2 ^ 64)
  end
  for _, name in ipairs { "s_uint32", "s_fixed32" } do
    rejects(name, 4294967296, -1, "4294967296", "-1", -1.0, 2 ^ 40, -2 ^ 63, 2 ^ 64)
  end
end)

h.test("what is no whole number is refused", function()
  for _, name in ipairs { "s_int32", "s_uint32", "s_sint32", "s_fixed32", "s_sfixed32" } do
    rejects(name, 3.5, "3.5", "a", "", "1 2", "12abc", "0x", "0xg", h.inf, -h.inf, h.nan, "nan", "inf", "1\0", " 1", "1 ", "1e3", "1.0", "--1", "0x-1")
    rejects(name, true, false, {}, print, io.stdout, coroutine.create(function() end))
  end
end)

h.test("float and double take numbers and numeric strings only", function()
  takes("s_double", "1.5", "09 00 00 00 00 00 00 f8 3f")
  takes("s_double", "-2", "09 00 00 00 00 00 00 00 c0")
  takes("s_double", 3, "09 00 00 00 00 00 00 08 40")
  takes("s_float", "1e2", "15 00 00 c8 42")
  takes("s_float", 7, "15 00 00 e0 40")
  takes("s_double", 9007199254740993, "09 00 00 00 00 00 00 40 43")
  for _, name in ipairs { "s_double", "s_float" } do
    rejects(name, "", "a", "1.5x", true, false, {}, print)
  end
end)

h.test("a string holds the same float on every Lua", function()
  takes("s_double", " 1.5\n", "09 00 00 00 00 00 00 f8 3f")
  takes("s_double", "-0", "09 00 00 00 00 00 00 00 80")
  takes("s_double", "1e400", "09 00 00 00 00 00 00 f0 7f")
  takes("s_double", "0xffffffffffffffff", "09 00 00 00 00 00 00 f0 43")
  takes("s_double", "18446744073709551617", "09 00 00 00 00 00 00 f0 43")
  rejects("s_double", "inf", "-inf", "nan", "1\0", "1,5", "0x1p4", "1 2", ".", "e1")
end)

-- PROTOBUF_TEST_LOCALE names a locale that writes numbers with a comma; not every system has one.
local comma = os.getenv "PROTOBUF_TEST_LOCALE"
if comma then
  h.test("the locale changes no numbers", function()
    local before = os.setlocale()
    assert(os.setlocale(comma), comma .. " is not installed")
    local fine, bytes = pcall(pb.encode, ALL, { s_double = "1.5" })
    local default = pb.decode("every2.All", "").d_float
    local comma_written = tostring(1.5):find(",", 1, true)
    os.setlocale(before)
    assert(fine, bytes)
    h.eq(bytes, h.bytes "09 00 00 00 00 00 00 f8 3f")
    h.eq(default, 1.5)
    assert(comma_written or h.jit, comma .. " writes no comma")
  end)
end

h.test("bool takes booleans only", function()
  rejects("s_bool", 0, 1, "", "true", {}, print)
end)

h.test("decode truncates to the type", function()
  gives("s_int32", "18 85 80 80 80 10", 5)
  gives("s_int32", "18 ff ff ff ff 0f", -1)
  gives("s_int32", "18 80 80 80 80 80 80 80 80 80 01", 0)
  gives("s_uint32", "28 85 80 80 80 10", 5)
  gives("s_uint32", "28 ff ff ff ff ff ff ff ff ff 01", 4294967295)
  gives("s_sint32", "38 ff ff ff ff ff ff ff ff ff 01", -2147483648)
  gives("s_sint32", "38 82 80 80 80 10", 1)
end)

h.test("every varint but zero is true", function()
  gives("s_bool", "68 02", true)
  gives("s_bool", "68 80 80 80 80 10", true)
  gives("s_bool", "68 80 80 80 80 80 80 80 80 80 01", true)
  gives("s_bool", "68 80 80 00", false)
end)

h.test("varints may be padded to ten bytes", function()
  gives("s_int32", "18 81 00", 1)
  gives("s_int32", "18 81 80 80 80 80 80 80 80 80 00", 1)
  gives("s_uint32", "28 ff 80 80 80 80 80 80 80 80 00", 127)
  gives("s_int32", "98 80 80 80 00 01", 1)
end)

h.test("the last value on the wire wins", function()
  gives("s_int32", "18 01 18 02", 2)
  gives("s_bytes", "7a 03 61 62 63 7a 01 64", "d")
  gives("s_double", "09 00 00 00 00 00 00 f8 3f 09 00 00 00 00 00 00 00 40", 2.0)
end)

h.test("truncated values are refused", function()
  for _, hex in ipairs { "18", "18 80", "18 ff ff ff ff", "4d", "4d 00 00 00", "51 00 00 00 00 00 00 00", "7a", "7a 80", "7a 01", "7a 03 61 62" } do
    refuses("every3.All...truncated", pb.decode(ALL, h.bytes(hex)))
  end
end)
