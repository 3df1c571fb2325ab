-- Dotted names in patterns: what pack and unpack find within messages.

local h = ...
local pb = h.instance()
local raises = h.raises

local function packs(pattern, hex, ...)
  h.eq(h.hex(pb.pack(pattern, ...)), h.hex(h.bytes(hex)), pattern)
end

local function unpacks(pattern, hex, ...)
  local bytes = h.bytes(hex)
  h.eq({ n = select("#", pb.unpack(pattern, bytes)), pb.unpack(pattern, bytes) }, { n = select("#", ...), ... }, pattern)
end

-- Reading -----------------------------------------------------------------------------------------------------------

h.test("a dotted name reads inside", function()
  unpacks("shop.Order customer.name id customer.id", "08 07 1a 06 08 05 12 02 41 6c", "Al", 7, 5)
  unpacks("every3.All self.self.s_inner.b", "9a 08 0a 9a 08 07 8a 01 04 12 02 68 69", "hi")
  unpacks("every2.All ogroup.inner.a", "93 01 12 02 08 05 94 01", 5)
end)

h.test("what follows an absent parent is absent", function()
  unpacks("every3.All self.s_int32 self.o_string self.s_double self.self.s_bool", "", 0, "", 0.0, false)
  unpacks("every2.All self.d_int32 self.d_string self.self.d_color", "9a 08 00", -42, 'a"b\\c\n\t\1\195\169\'?', 2)
  unpacks("every3.All self.r_int32 self.v_inner self.r_inner", "", {}, {}, {})
  unpacks("every3.All self.s_inner self.c_int32 self.c_inner", "", nil, nil, nil)
  unpacks("every3.All c_inner.a c_inner.inner c_inner.list", "", 0, nil, {})
end)

h.test("a message, list or map may be at the end", function()
  unpacks("every3.All self.s_inner self.r_inner", "9a 08 0a 8a 01 02 08 05 ca 03 02 08 06", { h.bytes "08 05", 2 }, { { h.bytes "08 06", 2 } })
  unpacks("every3.All self.p_int32 self.k_int32", "9a 08 0c fa 03 02 03 04 8a 05 04 08 05 10 06", { 3, 4 }, { [5] = 6 })
  unpacks("every3.All self.v_inner", "9a 08 0a aa 07 07 0a 01 61 12 02 08 01", { a = { h.bytes "08 01", 2 } })
end)

h.test("enums are numbers, and closed ones keep strange numbers out", function()
  unpacks("every3.All self.s_color self.r_color self.v_color", "9a 08 0e 80 01 09 c0 03 01 a2 07 05 0a 01 61 10 02", 9, { 1 }, { a = 2 })
  unpacks("every2.All self.o_color self.r_color", "9a 08 0c 80 01 01 80 01 09 a0 02 02 a0 02 09", 1, { 2 })
  unpacks("every2.All self.v_color", "9a 08 10 a2 07 05 0a 01 61 10 02 a2 07 05 0a 01 62 10 09", { a = 2 })
  unpacks("every2.All selves.o_color", "a2 08 03 80 01 09 a2 08 03 80 01 01", { 0, 1 })
end)

h.test("the parts of a message merge", function()
  -- The last scalar, all elements, all entries, all bytes of a message.
  unpacks("every3.All s_inner.a s_inner.b s_inner.list", "8a 01 07 08 01 12 01 78 20 01  18 05  8a 01 04 08 02 20 02", 2, "x", { 1, 2 })
  unpacks("every3.All self.k_int32", "9a 08 07 8a 05 04 08 05 10 06 9a 08 07 8a 05 04 08 01 10 02", { [5] = 6, [1] = 2 })
  unpacks("every3.All self.s_inner", "9a 08 05 8a 01 02 08 01 9a 08 05 8a 01 02 08 02", { h.bytes "08 01 08 02", 4 })
  unpacks("every3.All self.self.s_int32 self.self.r_int32", "9a 08 08 9a 08 05 18 05 d8 02 01 9a 08 06 9a 08 03 d8 02 02", 5, { 1, 2 })
end)

h.test("a member of a oneof takes the others away, in whatever part", function()
  unpacks("every3.All self.c_int32 self.c_string", "9a 08 03 c8 07 05 9a 08 04 d2 07 01 61", nil, "a")
  unpacks("every3.All self.c_int32", "9a 08 03 c8 07 05 9a 08 04 d2 07 01 61", nil)
  unpacks("every3.All self.c_string self.c_int32", "9a 08 03 c8 07 05 9a 08 04 d2 07 01 61 9a 08 03 c8 07 06", nil, 6)
end)

h.test("another member takes everything away that was read inside one", function()
  local inner = "da 07 08 08 05 1a 02 08 01 20 07"
  unpacks("every3.All c_inner.a c_inner.list c_inner.inner", inner, 5, { 7 }, { h.bytes "08 01", 2 })
  unpacks("every3.All c_inner.a c_inner.list c_inner.inner", inner .. "c8 07 01", 0, {}, nil)
  unpacks("every3.All c_inner.a c_inner.list c_int32", inner .. "c8 07 01", 0, {}, 1)
  unpacks("every3.All c_inner.b c_inner.a c_inner.list", inner .. "c8 07 01 da 07 02 20 08", "", 0, { 8 })
  unpacks("every3.All c_int32 c_inner.a", "c8 07 01 da 07 02 08 05", nil, 5)
  -- Within a list, and where the parts of an element's message differ.
  unpacks("world.Snapshot events.spawn.entity.buffs events.despawn", "22 07 12 05 0a 03 32 01 05  22 09 12 05 0a 03 32 01 06 28 01", { { 5 }, {} }, { 0, 1 })
  unpacks("every3.All selves.self.c_inner.a", "a2 08 0e 9a 08 05 da 07 02 08 05 9a 08 03 c8 07 01", { 0 })
end)

h.test("fields that are not named are skipped, but must be well-formed", function()
  unpacks("every3.All self.s_int32", "9a 08 0e 72 01 61 18 05 ca 03 02 08 01 93 01 94 01 18 06", 5)
  raises("every3.All.self: truncated", pb.unpack, "every3.All self.s_int32", h.bytes "9a 08 04 18 05 72 05")
  raises("every3.All: truncated", pb.unpack, "every3.All self.s_int32", h.bytes "9a 08 02 18 05 72 05")
end)

h.test("required fields are not checked", function()
  unpacks("every2.Holder one.id many.name", "12 00", 0, { "" })
end)

-- Through lists -----------------------------------------------------------------------------------------------------

h.test("through a list there is an element for each item", function()
  local hex = "22 05 0a 01 61 18 02  22 03 12 01 78  22 00  22 03 0a 01 64"
  unpacks("shop.Order items.sku items.quantity items.name id", hex, { "a", "", "", "d" }, { 2, 0, 0, 0 }, { "", "x", "", "" }, 0)
  unpacks("shop.Order items.sku items.quantity", "", {}, {})
  unpacks("shop.Order items.unit_price", "22 00", { 0.0 })
end)

h.test("there are no holes: what is absent has its default", function()
  unpacks("every2.All selves.d_int32 selves.d_string selves.o_bool", "a2 08 00 a2 08 03 f8 03 01", { -42, 1 }, { 'a"b\\c\n\t\1\195\169\'?', 'a"b\\c\n\t\1\195\169\'?' }, { false, false })
  unpacks("every3.All selves.c_int32 selves.c_string", "a2 08 03 c8 07 05 a2 08 04 d2 07 01 61 a2 08 00", { 5, 0, 0 }, { "", "a", "" })
  unpacks("every3.All selves.self.s_int32", "a2 08 00 a2 08 05 9a 08 02 18 05", { 0, 5 })
  unpacks("every3.All selves.o_int32", "a2 08 03 b8 01 00", { 0 })
  -- The last one wins within an element, across its parts too.
  unpacks("every3.All selves.c_int32 selves.c_string", "a2 08 07 c8 07 05 d2 07 01 61", { 0 }, { "a" })
  unpacks("every3.All selves.s_int32 selves.self.s_int32", "a2 08 0e 18 01 9a 08 02 18 05 18 02 9a 08 02 18 06", { 2 }, { 6 })
end)

h.test("items that come in several runs are one list", function()
  unpacks("shop.Order items.sku id items.quantity", "22 03 0a 01 61  08 07  22 02 18 05  08 08  22 03 0a 01 63", { "a", "", "c" }, 8, { 0, 5, 0 })
  unpacks("every3.All self.selves.s_int32 self.s_int32", "9a 08 07 a2 08 02 18 01 18 01  9a 08 07 18 02 a2 08 02 18 02", { 1, 2 }, 2)
end)

h.test("lists within lists", function()
  -- selves: [ selves: [1, 2] ], none, [ selves: [0] ]
  local hex = "a2 08 0a a2 08 02 18 01 a2 08 02 18 02  a2 08 00  a2 08 03 a2 08 00"
  unpacks("every3.All selves.selves.s_int32 selves.s_int32", hex, { { 1, 2 }, {}, { 0 } }, { 0, 0, 0 })
  unpacks("every3.All selves.selves.selves.s_int32 selves.selves.s_string", hex, { { {}, {} }, {}, { {} } }, { { "", "" }, {}, { "" } })
  -- The inner list goes on behind another field, and in another part of a message between them.
  unpacks("every3.All selves.selves.s_int32 selves.r_inner.a", "a2 08 10 a2 08 02 18 01 ca 03 02 08 07 a2 08 03 18 82 01", { { 1, 130 } }, { { 7 } })
  unpacks("every3.All selves.self.selves.s_int32", "a2 08 10 9a 08 05 a2 08 02 18 01 9a 08 05 a2 08 02 18 02  a2 08 00", { { 1, 2 }, {} })
  unpacks("every3.All selves.s_inner.inner.list selves.r_inner.list", "a2 08 0f 8a 01 04 1a 02 20 01 ca 03 05 20 02 22 01 03  a2 08 00", { { 1 }, {} }, { { { 2, 3 } }, {} })
end)

h.test("lists and maps at the end are tables for each item", function()
  unpacks("world.Snapshot entities.buffs entities.id", "12 04 32 02 01 02 12 02 08 05", { { 1, 2 }, {} }, { 0, 5 })
  unpacks("every3.All selves.k_int32 selves.r_inner", "a2 08 0c 8a 05 04 08 05 10 06 ca 03 02 08 01 a2 08 00", { { [5] = 6 }, {} }, { { { h.bytes "08 01", 2 } }, {} })
  unpacks("every3.All selves.r_int32 selves.k_int32", "a2 08 18 d8 02 01 8a 05 04 08 05 10 06 d8 02 02 b2 03 01 61 8a 05 04 08 01 10 02", { { 1, 2 } }, { { [5] = 6, [1] = 2 } })
  local one, two = h.unpack((pb.unpack("every3.All selves.r_int32", h.bytes "a2 08 00 a2 08 00")))
  assert(not rawequal(one, two))
end)

h.test("groups", function()
  unpacks("every2.All rgroup.a o_int32", "b3 02 08 05 b4 02 b3 02 b4 02 18 01 b3 02 08 06 b4 02", { 5, 0, 6 }, 1)
  unpacks("every2.All ogroup.a ogroup.inner", "93 01 08 05 94 01 93 01 12 02 08 01 94 01", 5, { h.bytes "08 01", 2 })
  unpacks("every2.All cgroup.a", "83 08 08 05 84 08 c8 07 01", 0)
  raises("every2.All.rgroup[2]: group without end", pb.unpack, "every2.All rgroup.a", h.bytes "b3 02 b4 02 b3 02 08 05")
end)

h.test("more names than bits", function()
  local names, want = { "selves.c_int32", "selves.r_int32" }, { { 5, 0, 6 }, { {}, {}, { 7 } } }
  local function name(text, value)
    names[#names + 1], want[#want + 1] = text, value
  end
  for i = 1, 8 do
    for k = 1, 4 do
      local prefix = ("self."):rep(k) .. ("selves."):rep(i)
      name(prefix .. "c_int32", {})
      name(prefix .. "r_int32", {})
    end
    name(("selves."):rep(i) .. "selves.c_int32", { {}, {}, {} })
  end
  name("selves.s_int32", { 0, 0, 0 })
  name("selves.c_string", { "", "a", "" })
  name("s_int32", 4)
  name("c_inner.a", 0)
  name("c_string", "a")
  assert(#names > 64)
  local bytes = h.bytes "a2 08 03 c8 07 05  18 04  da 07 02 08 05  a2 08 07 c8 07 01 d2 07 01 61  d2 07 01 61  a2 08 06 c8 07 06 d8 02 07"
  h.eq({ pb.unpack("every3.All " .. table.concat(names, " "), bytes) }, want)
end)

h.test("the options of the instance hold", function()
  local list, map = { name = "list" }, { name = "map" }
  local own = h.instance { int64 = "string", utf8 = "ignore", array_metatable = list, map_metatable = map }
  local numbers, texts, maps = own.unpack("every3.All selves.s_int64 self.s_string selves.k_int32", h.bytes "a2 08 02 20 05 9a 08 03 72 01 ff a2 08 00")
  h.eq({ numbers, texts, maps }, { { "5", "0" }, "\255", { {}, {} } })
  h.eq({ getmetatable(numbers) == list, getmetatable(maps) == list, getmetatable(maps[1]) == map }, { true, true, true })
  h.eq(getmetatable((own.unpack("every3.All selves.s_int64", ""))) == list, true)
  local inner = own.unpack("every3.All selves.selves.s_int64", h.bytes "a2 08 00 a2 08 03 a2 08 00")
  h.eq({ getmetatable(inner[1]) == list, getmetatable(inner[2]) == list }, { true, true })
end)

-- Packing -----------------------------------------------------------------------------------------------------------

h.test("pack writes what is inside, in the order of the fields", function()
  packs("shop.Order total customer.name id customer.id", "08 07 1a 06 08 05 12 02 41 6c 29 00 00 00 00 00 00 04 40", 2.5, "Al", 7, 5)
  packs("every3.All self.self.s_inner.b self.s_int32", "9a 08 0c 18 05 9a 08 07 8a 01 04 12 02 68 69", "hi", 5)
  packs("every3.All self.r_int32 self.k_int32 self.s_inner", "9a 08 12 8a 01 02 08 05 d8 02 01 d8 02 02 8a 05 04 08 05 10 06", { 1, 2 }, { [5] = 6 }, h.bytes "08 05")
  packs("every2.All ogroup.inner.a ogroup.a o_int32", "18 02 93 01 08 01 12 02 08 05 94 01", 5, 1, 2)
  packs("every3.All self.s_color self.r_color", "9a 08 06 80 01 02 c0 03 01", "BLUE", { "GREEN" })
end)

h.test("a parent is written if a value in it is", function()
  packs("shop.Order customer.name id", "08 07", nil, 7)
  packs("shop.Order id customer.name", "08 07", 7)
  packs("every3.All self.self.s_inner.b self.self.s_int32", "")
  packs("every3.All self.s_int32", "9a 08 00", 0)
  packs("every3.All self.r_int32", "9a 08 00", {})
  packs("every2.All ogroup.a", "", nil)
  raises("3 values for 2 names", pb.pack, "shop.Order customer.name id", "a", 1, 2)
end)

h.test("two members of a oneof are refused", function()
  raises("every3.All: oneof choice: both \"c_int32\" and \"c_inner\" are set", pb.pack, "every3.All c_inner.a c_int32", 1, 2)
  raises("every3.All.self: oneof choice: both \"c_int32\" and \"c_string\" are set", pb.pack, "every3.All self.c_string self.c_int32", "a", 2)
  packs("every3.All c_inner.a c_int32", "da 07 02 08 01", 1, nil)
  packs("every3.All c_inner.a c_int32", "c8 07 02", nil, 2)
  packs("every3.All c_inner.a c_inner.b", "da 07 02 08 01", 1, nil)
end)

h.test("errors of values say where", function()
  raises("shop.Order.customer.id: expected uint64, got string \"x\"", pb.pack, "shop.Order customer.id", "x")
  raises("every3.All.self.r_int32[2]: ", pb.pack, "every3.All self.r_int32", { 1, "x" })
  raises("every3.All.self.s_inner: ", pb.pack, "every3.All self.s_inner", 5)
  local shallow = h.instance { depth = 2 }
  h.eq(h.hex(shallow.pack("every3.All self.self.s_int32", 1)), "9a08059a08021801")
  raises("every3.All.self.self.self: nested too deeply", shallow.pack, "every3.All self.self.self.s_int32", 1)
end)

h.test("what is packed is unpacked", function()
  local pattern = "every3.All self.s_int32 self.self.o_string c_inner.list self.r_string self.self.k_string x_uint64 self.c_bool"
  local values = { 5, "text", { 1, 2 }, { "a", "b" }, { a = 1 }, 7, false }
  h.eq({ pb.unpack(pattern, pb.pack(pattern, h.unpack(values))) }, values)
end)

-- Errors ------------------------------------------------------------------------------------------------------------

h.test("a name that does not lead to a value is refused", function()
  for _, f in ipairs { pb.pack, pb.unpack } do
    raises("shop.Order.customer: unknown field \"nmae\" (did you mean \"name\"?)", f, "shop.Order customer.nmae", "")
    raises("shop.Order: \"total\" is no message", f, "shop.Order total.x", "")
    raises("world.Snapshot: \"players\" is a map", f, "world.Snapshot players.level", "")
    raises("world.Snapshot: \"events.spawn.entity\" is a message in a list", f, "world.Snapshot events.spawn.entity", "")
    raises("shop.Order: both \"customer\" and a field in it are named", f, "shop.Order customer customer.id", "")
    raises("shop.Order: field \"customer.id\" is named twice", f, "shop.Order customer.id customer.id", "")
  end
end)

h.test("a name that goes through a list cannot be packed", function()
  raises("shop.Order: \"items.sku\" goes through a list, so it cannot be packed", pb.pack, "shop.Order id items.sku", 1, { "a" })
  raises("shop.Order: \"items.sku\" goes through a list", pb.pack, "shop.Order id items.sku")
  unpacks("shop.Order id items.sku", "08 01", 1, {})
end)

h.test("errors of bytes say where", function()
  raises("shop.Order.items[2].sku: truncated, 5 bytes needed, 0 left, at byte 9", pb.unpack, "shop.Order items.sku", h.bytes "22 03 0a 01 61 22 02 0a 05")
  raises("shop.Order.customer.name: invalid UTF-8", pb.unpack, "shop.Order customer.name", h.bytes "1a 03 12 01 ff")
  raises("every3.All.self.selves[1].s_inner.list[2]: truncated", pb.unpack, "every3.All self.selves.s_inner.list", h.bytes "9a 08 0a a2 08 07 8a 01 04 22 02 01 80")
  raises("every3.All.self.k_int32: truncated", pb.unpack, "every3.All self.k_int32", h.bytes "9a 08 03 8a 05 09")
end)

-- Hostile bytes -----------------------------------------------------------------------------------------------------

h.test("depth is limited", function()
  local shallow = h.instance { depth = 2 }
  h.eq(shallow.unpack("every3.All self.self.s_int32", h.bytes "9a 08 05 9a 08 02 18 05"), 5)
  raises("every3.All.self.self.self: nested too deeply", shallow.unpack, "every3.All self.self.self.s_int32", h.bytes "9a 08 06 9a 08 03 9a 08 00")
  raises("every3.All.selves[1].selves[1].selves[1]: nested too deeply", shallow.unpack, "every3.All selves.selves.selves.s_int32", h.bytes "a2 08 06 a2 08 03 a2 08 00")
end)

h.test("every name's list counts as memory", function()
  local small = h.instance { max_bytes = 1000000 }
  local names = {}
  for _, kind in ipairs { "s", "o" } do
    for _, name in ipairs { "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "bool", "string" } do
      names[#names + 1] = "selves." .. kind .. "_" .. name
    end
  end
  local all, items = "every3.All " .. table.concat(names, " "), ("\162\8\0"):rep(2000)
  h.eq(#small.unpack("every3.All selves.s_int32", items), 2000)
  raises("max_bytes", small.unpack, all, items)
  h.eq(#pb.unpack(all, items), 2000)
  -- Lists within lists, in alternation with something else.
  raises("max_bytes", small.unpack, (all:gsub("selves", "selves.selves")), ("\162\8\3\162\8\0"):rep(600))
  raises("max_bytes", small.unpack, all, ("\162\8\0\24\1"):rep(2000))
  raises("max_bytes", small.unpack, "every3.All selves.r_int32 selves.r_int64 selves.p_int32", ("\162\8\0"):rep(5000))
end)

if h.compiles then
  h.test("long defaults count as memory", function()
    local own = h.protobuf.new { max_bytes = 1000000 }
    own.register_source(([[syntax = "proto2"; package p;
      message M { repeated M items = 1; optional string text = 2 [default = "%s"]; optional int32 id = 3; }]]):format(("x"):rep(1000)))
    h.eq(#own.unpack("p.M items.text", ("\10\0"):rep(500)), 500)
    raises("max_bytes", own.unpack, "p.M items.text", ("\10\0"):rep(1500))
    h.eq(#own.unpack("p.M items.id", ("\10\0"):rep(1500)), 1500)
  end)
end

h.test("many parts of a message", function()
  local part, n = "\138\1\4\8\1\32\2", 20000
  local a, list = pb.unpack("every3.All s_inner.a s_inner.list", part:rep(n))
  h.eq({ a, #list }, { 1, n })
  local items, total = pb.unpack("every3.All self.selves.s_int32 self.s_int32", ("\154\8\3\162\8\0"):rep(n) .. "\154\8\2\24\5")
  h.eq({ #items, items[n], total }, { n, 0, 5 })
end)

-- Against decode ----------------------------------------------------------------------------------------------------

-- Some fields of two types: number, what an absent one is, whether it is a list, map or member of a oneof, its type.
local schema = {
  All = {
    s_int32 = { 3, 0 }, s_string = { 14, "" }, s_color = { 16, 0 }, o_int32 = { 23, 0 },
    r_int32 = { 43, list = true }, p_int32 = { 63, list = true }, r_string = { 54, list = true }, k_string = { 92, map = true },
    s_inner = { 17, type = "Inner" }, r_inner = { 57, list = true, type = "Inner" },
    c_int32 = { 121, 0, oneof = true }, c_string = { 122, "", oneof = true }, c_inner = { 123, oneof = true, type = "Inner" },
    self = { 131, type = "All" }, selves = { 132, list = true, type = "All" },
  },
  Inner = { a = { 1, 0 }, b = { 2, "" }, inner = { 3, type = "Inner" }, list = { 4, list = true } },
}
local fields = { All = {}, Inner = {} }
for name, of in pairs(fields) do
  for field in pairs(schema[name]) do
    of[#of + 1] = field
  end
  table.sort(of)
end

local seed = 1
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

-- Fields in any order, with parts, runs and members of oneofs in any mixture.
local function message(name, depth)
  local out = {}
  for i = 1, random(depth == 4 and 12 or 4) - 1 do
    local of = fields[name]
    local f = schema[name][of[random(#of)]]
    if f.type then
      out[i] = depth > 0 and h.field(f[1], message(f.type, depth - 1)) or ""
    elseif f.map then
      out[i] = h.field(f[1], h.field(1, ("k"):rep(random(3))) .. "\16" .. h.varint(random(200)))
    elseif f[2] == "" or f[1] == 54 then
      out[i] = h.field(f[1], ("x"):rep(random(3)))
    elseif f.list and random(2) == 1 then
      out[i] = h.field(f[1], h.varint(random(200)):rep(random(3)))
    else
      out[i] = h.varint(f[1] * 8) .. h.varint(random(200) - 1)
    end
  end
  return table.concat(out)
end

-- A name that leads to a value, in parts.
local function name_of(parts, name, in_list)
  local of = fields[name]
  local field = of[random(#of)]
  local f = schema[name][field]
  parts[#parts + 1] = field
  in_list = in_list or f.list and f.type
  if f.type and (in_list or #parts < 5 and random(3) > 1) then
    return name_of(parts, f.type, in_list)
  end
  return parts
end

-- What the names of `parts` from i on read in a table that decode gave; nil for a message.
local function picked(t, name, parts, i, in_list)
  local f = schema[name][parts[i]]
  local value = t and t[parts[i]]
  if i == #parts then
    if value ~= nil then
      return value
    elseif f.list or f.map then
      return {}
    end
    return (in_list or not f.oneof) and f[2] or nil
  elseif not f.list then
    return picked(value, f.type, parts, i + 1, in_list)
  end
  local array = {}
  for k, element in ipairs(value or {}) do
    array[k] = picked(element, f.type, parts, i + 1, true)
  end
  return array
end

-- A pattern, and for each of its names its parts and the type of a singular message at its end.
local function pattern_of(n)
  local words, all, seen = { "every3.All" }, {}, {}
  while #all < n do
    local parts = name_of({}, "All", false)
    local word, clash = table.concat(parts, "."), false
    for other in pairs(seen) do
      local a, b = word .. ".", other .. "."
      clash = clash or a:sub(1, #b) == b or b:sub(1, #a) == a
    end
    if not clash then
      seen[word] = true
      words[#words + 1] = word
      all[#all + 1] = parts
    end
  end
  return table.concat(words, " "), all
end

local plain = h.instance { defaults = "none", enum = "number", unknown = "drop" }

local function compare(pattern, all, bytes)
  local decoded = plain.decode("every3.All", bytes)
  if not decoded then
    pcall(plain.unpack, pattern, bytes)
    return false
  end
  local values = { plain.unpack(pattern, bytes) }
  for i, parts in ipairs(all) do
    local want, got, name = picked(decoded, "All", parts, 1, false), values[i], "All"
    for k, part in ipairs(parts) do
      local f = schema[name][part]
      name = f.type
      if k == #parts and name and not f.list and got then
        got = plain.decode("every3." .. name, h.unpack(got))
      end
    end
    h.eq(got, want, table.concat(parts, ".") .. " of " .. h.hex(bytes))
  end
  return true
end

h.test("a dotted name gives what decode has there", function()
  for round = 1, 120 do
    local pattern, all = pattern_of(round % 10 == 0 and 90 or random(12))
    for _ = 1, 15 do
      assert(compare(pattern, all, message("All", 4)))
    end
  end
end)

h.test("bytes that were tampered with are refused, or read as decode does", function()
  local accepted = 0
  for _ = 1, 150 do
    local pattern, all = pattern_of(random(12))
    for _ = 1, 10 do
      local bytes = message("All", 4)
      for _ = 1, random(3) do
        local at = random(#bytes + 1)
        local kind = random(3)
        local inserted = kind == 1 and "" or string.char(random(256) - 1)
        bytes = bytes:sub(1, at - 1) .. inserted .. bytes:sub(kind == 3 and at or at + 1)
      end
      accepted = accepted + (compare(pattern, all, bytes) and 1 or 0)
    end
  end
  assert(accepted > 50, accepted)
end)
