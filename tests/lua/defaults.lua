-- Absent fields: the three ways of option defaults, tables made by reading, default, extract and has.

local h = ...
local pb = h.instance()
local encodes, raises, refuses = h.encodes, h.raises, h.refuses

local function keys(t)
  local out = {}
  for k in pairs(t) do
    out[#out + 1] = tostring(k)
  end
  table.sort(out)
  return table.concat(out, " ")
end

-- What reading each absent field of every2.All gives.
local schema = {
  o_double = 0.0, o_float = 0.0, o_int32 = 0, o_uint32 = 0, o_sint32 = 0, o_fixed32 = 0, o_sfixed32 = 0,
  o_int64 = h.int64 "0", o_uint64 = h.uint64 "0", o_sint64 = h.int64 "0", o_fixed64 = h.uint64 "0", o_sfixed64 = h.int64 "0",
  o_bool = false, o_string = "", o_bytes = "", o_color = "RED",
  d_double = -2.5e100, d_float = 1.5, d_int32 = -42, d_uint32 = 4294967295, d_sint32 = -2147483648, d_fixed32 = 7, d_sfixed32 = -7,
  d_int64 = h.int64 "-9223372036854775808", d_uint64 = h.uint64 "18446744073709551615", d_sint64 = h.int64 "9007199254740993",
  d_fixed64 = h.uint64 "9007199254740992", d_sfixed64 = h.int64 "-9007199254740992",
  d_bool = true, d_string = 'a"b\\c\n\t\1\195\169\'?', d_bytes = "\0\255\128abc\n", d_color = "BLUE",
  d_inf = h.inf, d_minus_inf = -h.inf, d_nan = h.nan,
}

h.test("reading an absent scalar gives its default and sets nothing", function()
  local all = pb.decode("every2.All", "")
  for name, value in pairs(schema) do
    h.eq(all[name], value, name)
    h.eq(rawget(all, name), nil, name)
  end
  h.eq(next(all), nil)
  h.eq(keys(all), "")
end)

h.test("proto3 scalars, optional ones too", function()
  local all = pb.decode("every3.All", "")
  h.eq({ all.s_int32, all.s_string, all.s_bytes, all.s_bool, all.s_color, all.s_double }, { 0, "", "", false, "RED", 0.0 })
  h.eq({ all.o_int32, all.o_string, all.o_bytes, all.o_bool, all.o_color, all.o_double }, { 0, "", "", false, "RED", 0.0 })
  h.eq(next(all), nil)
end)

h.test("a field that is there is not defaulted", function()
  local all = pb.decode("every2.All", h.bytes "f8 03 05 c8 04 00")
  h.eq(all.d_int32, 5)
  h.eq(all.d_bool, false)
end)

h.test("oneof members and keys that the type lacks read nil", function()
  local all = pb.decode("every2.All", "")
  for _, name in ipairs { "c_int32", "c_string", "c_inner", "c_color", "cgroup", "x_empty", "no_such_field", "?unknown" } do
    h.eq(all[name], nil, name)
  end
  h.eq(all[1], nil)
  h.eq(all[true], nil)
end)

h.test("an absent list, map, message or group reads as a table that stays", function()
  local all = pb.decode("every2.All", "")
  for _, name in ipairs { "r_int32", "p_int32", "r_inner", "k_int32", "v_inner", "o_inner", "ogroup", "rgroup", "self" } do
    local made = all[name]
    h.eq(made, {}, name)
    assert(rawequal(all[name], made), name)
    assert(rawequal(rawget(all, name), made), name)
  end
  h.eq(keys(all), "k_int32 o_inner ogroup p_int32 r_inner r_int32 rgroup self v_inner")
end)

h.test("a table made by reading counts as absent", function()
  local all = pb.decode("every2.All", "")
  local _ = all.o_inner.inner.inner.inner
  _ = all.self.self.ogroup.inner
  _ = all.self.r_int32
  _ = all.k_string
  encodes(pb, "every2.All", all, "")
  for _, name in ipairs { "o_inner", "self", "k_string" } do
    h.eq(pb.has(all, name), false, name)
  end
  h.eq(pb.has(all.self, "self"), false)
end)

h.test("writing into it is kept", function()
  local all = pb.decode("every2.All", "")
  all.o_inner.inner.a = 1
  all.r_int32[1] = 5
  all.k_int32[7] = 8
  all.ogroup.a = 2
  h.eq(pb.has(all, "o_inner"), true)
  h.eq(pb.has(all, "ogroup"), true)
  h.eq(pb.has(all.o_inner, "inner"), true)
  encodes(pb, "every2.All", all, "8a 01 04 1a 02 08 01 93 01 08 02 94 01 b8 01 05 8a 05 04 08 07 10 08")
end)

h.test("a write deep down makes every table above present", function()
  local all = pb.decode("every3.All", "")
  all.self.self.s_inner.a = 0
  h.eq(pb.has(all, "self"), true)
  encodes(pb, "every3.All", all, "9a 08 06 9a 08 03 8a 01 00")
  all.self.self.s_inner.a = nil
  h.eq(pb.has(all, "self"), false)
  encodes(pb, "every3.All", all, "")
end)

h.test("an empty list or map inside counts as nothing", function()
  local all = pb.decode("every3.All", "")
  local list = all.s_inner.list
  h.eq(pb.has(all, "s_inner"), false)
  list[1] = 5
  h.eq(pb.has(all, "s_inner"), true)
  encodes(pb, "every3.All", all, "8a 01 03 22 01 05")
end)

h.test("an empty message that was on the wire or that the program put there is present", function()
  local all = pb.decode("every3.All", h.bytes "8a 01 00")
  h.eq(pb.has(all, "s_inner"), true)
  local _ = all.s_inner.inner
  h.eq(pb.has(all, "s_inner"), true)
  encodes(pb, "every3.All", all, "8a 01 00")
  all = pb.decode("every3.All", "")
  all.s_inner = {}
  h.eq(pb.has(all, "s_inner"), true)
  encodes(pb, "every3.All", all, "8a 01 00")
end)

h.test("an empty message in a list, a map or a oneof is present", function()
  local all = pb.decode("every3.All", "")
  local made = all.s_inner
  all.r_inner[1] = made
  all.v_inner.x = made
  encodes(pb, "every3.All", all, "ca 03 00 aa 07 05 0a 01 78 12 00")
  all = pb.decode("every3.All", "")
  all.c_inner = all.s_inner
  encodes(pb, "every3.All", all, "da 07 00")
  h.eq(pb.has(all, "c_inner"), true)
end)

h.test("the rule holds in every instance", function()
  local all = pb.decode("every3.All", "")
  local _ = all.s_inner.inner
  local other = h.instance { defaults = "none" }
  encodes(other, "every3.All", all, "")
  h.eq(other.has(all, "s_inner"), false)
end)

h.test("nested messages have defaults, in lists and maps too", function()
  local book = pb.decode("tutorial.AddressBook", h.bytes "0a 0a 0a 01 61 10 01 22 03 0a 01 31")
  h.eq(book.person[1].email, "")
  h.eq(book.person[1].phone[1].type, "HOME")
  h.eq(pb.decode("every3.All", h.bytes "aa 07 05 0a 01 61 12 00").v_inner.a.b, "")
  h.eq(pb.decode("every3.All", h.bytes "aa 07 03 0a 01 61").v_inner.a.a, 0)
  h.eq(pb.decode("every3.All", h.bytes "da 07 00").c_inner.a, 0)
  h.eq(pb.decode("every2.All", h.bytes "93 01 94 01").ogroup.a, 0)
end)

h.test("metatables are made once per type", function()
  local a, b = pb.decode("every3.All", ""), pb.decode("every3.All", h.bytes "8a 01 00 ca 03 00")
  assert(getmetatable(a) ~= nil)
  assert(rawequal(getmetatable(a), getmetatable(b)))
  assert(rawequal(getmetatable(b.s_inner), getmetatable(b.r_inner[1])))
  assert(not rawequal(getmetatable(a), getmetatable(b.s_inner)))
end)

h.test("extract takes out what reading made", function()
  local all = pb.decode("every3.All", h.bytes "ca 03 00 aa 07 05 0a 01 61 12 00 9a 08 02 18 05")
  local _ = all.s_inner.inner
  _ = all.r_inner[1].inner
  _ = all.v_inner.a.list
  _ = all.self.self
  _ = all.self.r_int32
  _ = all.k_int32
  assert(rawequal(pb.extract(all), all))
  h.eq(all, { r_inner = { {} }, v_inner = { a = {} }, self = { s_int32 = 5 } })
end)

h.test("extract keeps what the wire or the program set", function()
  local all = pb.decode("every3.All", h.bytes "8a 01 00 18 00")
  all.o_inner = {}
  all.self.s_int32 = 0
  pb.extract(all)
  h.eq(all, { s_inner = {}, s_int32 = 0, o_inner = {}, self = { s_int32 = 0 } })
  local plain = { a = {}, b = { c = {} } }
  assert(rawequal(pb.extract(plain), plain))
  h.eq(plain, { a = {}, b = { c = {} } })
end)

h.test("default attaches defaults to a table", function()
  local person = { name = "a", id = 1, phone = { { number = "1" } } }
  assert(rawequal(pb.default("tutorial.Person", person), person))
  h.eq(person.email, "")
  h.eq(person.phone[1].type, "HOME")
  h.eq(rawget(person, "email"), nil)
  h.eq(person, { name = "a", id = 1, phone = { { number = "1" } } })
  encodes(pb, "tutorial.Person", person, "0a 01 61 10 01 22 03 0a 01 31")
end)

h.test("default goes into maps, groups and oneofs", function()
  local all = pb.default("every2.All", { v_inner = { x = {} }, ogroup = {}, c_inner = {}, selves = { { self = {} } } })
  h.eq(all.v_inner.x.a, 0)
  h.eq(all.ogroup.a, 0)
  h.eq(all.c_inner.b, "")
  h.eq(all.selves[1].self.d_int32, -42)
  h.eq(all.d_color, "BLUE")
  h.eq(pb.has(all, "o_inner"), false)
end)

h.test("option defaults=none gives plain tables", function()
  local plain = h.instance { defaults = "none" }
  local all = plain.decode("every2.All", h.bytes "18 05 8a 01 00 9a 02 00")
  h.eq(getmetatable(all), nil)
  h.eq(getmetatable(all.o_inner), nil)
  h.eq(all, { o_int32 = 5, o_inner = {}, r_bytes = { "" } })
  h.eq(all.d_int32, nil)
  h.eq(all.r_int32, nil)
  h.eq(all.o_inner.list, nil)
end)

h.test("option defaults=copy copies them in", function()
  local copy = h.instance { defaults = "copy" }
  local inner = copy.decode("every2.Inner", "")
  h.eq(getmetatable(inner), nil)
  h.eq(inner, { a = 0, b = "", list = {} })
  h.eq(copy.decode("every2.All", h.bytes "8a 01 02 08 05").o_inner, { a = 5, b = "", list = {} })
  local all = copy.decode("every2.All", "")
  for name, value in pairs(schema) do
    h.eq(rawget(all, name), value, name)
  end
  h.eq(rawget(all, "r_int32"), {})
  h.eq(rawget(all, "k_int32"), {})
  for _, name in ipairs { "o_inner", "ogroup", "self", "c_int32", "c_string", "x_uint64" } do
    h.eq(rawget(all, name), nil, name)
  end
  assert(not rawequal(copy.decode("every2.Inner", "").list, inner.list))
end)

h.test("option defaults=copy: has and encode take them as set", function()
  local copy = h.instance { defaults = "copy" }
  local inner = copy.decode("every2.Inner", "")
  h.eq(copy.has(inner, "a"), true)
  h.eq(copy.has(inner, "inner"), false)
  encodes(copy, "every2.Inner", inner, "08 00 12 00")
  encodes(copy, "every3.Inner", copy.decode("every3.Inner", ""), "")
end)

h.test("option defaults=copy leaves required fields out", function()
  local copy = h.instance { defaults = "copy", required = "ignore" }
  local person = copy.decode("tutorial.Person", "")
  h.eq(person, { email = "", phone = {} })
  h.eq(copy.default("tutorial.Person.PhoneNumber", {}), { type = "HOME" })
end)

if h.compiles then
  h.test("option defaults=copy: copying is charged, and done once for each message", function()
    local copy = h.protobuf.new { defaults = "copy", max_bytes = 10000000 }
    local fields = {}
    for i = 1, 10000 do
      fields[i] = ("int32 f%d = %d;"):format(i, i)
    end
    copy.register_source('syntax = "proto3"; message Wide { ' .. table.concat(fields) .. " }", "wide.proto")
    copy.register_source([[
      syntax = "proto2";
      import "wide.proto";
      message Outer { optional Wide wide = 1; optional Outer outer = 2; repeated Wide list = 3; repeated Long long = 4; }
      message Long { optional string text = 1 [default = "]] .. ("x"):rep(100000) .. [["]; }
    ]])
    refuses("too large for option max_bytes", copy.decode("Outer", ("\26\0"):rep(100)))
    local decoded, why = copy.decode("Outer", ("\34\0"):rep(1000))
    refuses("too large for option max_bytes", not not decoded, why)
    -- One message, in many parts.
    local start = os.clock()
    h.eq(copy.decode("Outer", ("\18\2\10\0"):rep(10000)).outer.wide.f10000, 0)
    assert(os.clock() - start < 1, "defaults are copied for each part")
  end)
end

h.test("default follows option defaults", function()
  local copy = h.instance { defaults = "copy" }
  h.eq(copy.default("every2.Inner", { a = 1, inner = {} }), { a = 1, b = "", list = {}, inner = { a = 0, b = "", list = {} } })
  local plain = h.instance { defaults = "none" }
  local value = plain.default("every2.Inner", { a = 1 })
  h.eq(value, { a = 1 })
  h.eq(value.b, nil)
end)

h.test("default refuses what is no table or no type", function()
  raises("", pb.default, "every2.Inner", 5)
  raises("every2.NoSuch", pb.default, "every2.NoSuch", {})
end)

h.test("extract takes as long as the table is large", function()
  local top = pb.decode("every3.All", "")
  local at = top
  for _ = 1, 30000 do
    at = at.self
  end
  at.s_int32 = 1
  local start = os.clock()
  pb.extract(top)
  assert(os.clock() - start < 2, "extract is not linear")
  for _ = 1, 30000 do
    top = rawget(top, "self")
  end
  h.eq(rawget(top, "s_int32"), 1)
end)
