-- Presence: implicit zeros are not written, explicit ones are; has.

local h = ...
local pb = h.instance()
local both, encodes, decodes = h.both, h.encodes, h.decodes

local zeros = { double = 0.0, float = 0.0, bool = false, string = "", bytes = "", color = "RED" }
for _, name in ipairs { "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64" } do
  zeros[name] = 0
end

h.test("implicit zeros are not written", function()
  for name, zero in pairs(zeros) do
    encodes(pb, "every3.All", { ["s_" .. name] = zero }, "")
  end
  encodes(pb, "every3.All", { s_int32 = "0", s_double = "0", s_int64 = "0x0", s_uint64 = "0", s_color = 0 }, "")
end)

h.test("explicit zeros are written", function()
  both(pb, "every3.All", { o_double = 0.0 }, "a9 01 00 00 00 00 00 00 00 00")
  both(pb, "every3.All", { o_float = 0.0 }, "b5 01 00 00 00 00")
  both(pb, "every3.All", { o_int32 = 0 }, "b8 01 00")
  both(pb, "every3.All", { o_sint64 = 0 }, "e0 01 00")
  both(pb, "every3.All", { o_fixed32 = 0 }, "ed 01 00 00 00 00")
  both(pb, "every3.All", { o_bool = false }, "88 02 00")
  both(pb, "every3.All", { o_string = "" }, "92 02 00")
  both(pb, "every3.All", { o_bytes = "" }, "9a 02 00")
  both(pb, "every3.All", { o_color = "RED" }, "a0 02 00")
  both(pb, "every3.All", { o_inner = {} }, "aa 02 00")
  for name, zero in pairs(zeros) do
    local bytes = pb.encode("every2.All", { ["o_" .. name] = zero })
    assert(#bytes >= 2, name)
    h.eq(pb.decode("every2.All", bytes), { ["o_" .. name] = zero }, name)
  end
end)

h.test("a value that equals the schema's default is written", function()
  both(pb, "every2.All", { d_int32 = -42 }, "f8 03 d6 ff ff ff ff ff ff ff ff 01")
  both(pb, "every2.All", { d_bool = true }, "c8 04 01")
  both(pb, "tutorial.Person.PhoneNumber", { number = "1", type = "HOME" }, "0a 01 31 10 01")
end)

h.test("zeros on the wire are read", function()
  local plain = h.instance { defaults = "none" }
  decodes(plain, "every3.All", "18 00 68 00 72 00 80 01 00", { s_int32 = 0, s_bool = false, s_string = "", s_color = "RED" })
  decodes(plain, "every3.All", "18 05 18 00", { s_int32 = 0 })
end)

h.test("has, on a decoded table", function()
  local all = pb.decode("every2.All", h.bytes "18 00 8a 01 00 9a 02 00")
  h.eq(pb.has(all, "o_int32"), true)
  h.eq(pb.has(all, "o_inner"), true)
  h.eq(pb.has(all, "o_int64"), false)
  h.eq(pb.has(all, "d_int32"), false)
  h.eq(pb.has(all, "r_int32"), false)
  h.eq(pb.has(all, "r_bytes"), true)
  h.eq(pb.has(all, "k_int32"), false)
  h.eq(pb.has(all, "no_such_field"), false)
end)

h.test("has, on a decoded table that the program changed", function()
  local all = pb.decode("every2.All", "")
  all.o_int32 = 0
  all.o_inner = {}
  all.r_int32 = {}
  all.k_int32 = {}
  all.r_string = { "" }
  all.k_bool = { [false] = 0 }
  h.eq(pb.has(all, "o_int32"), true)
  h.eq(pb.has(all, "o_inner"), true)
  h.eq(pb.has(all, "r_int32"), false)
  h.eq(pb.has(all, "k_int32"), false)
  h.eq(pb.has(all, "r_string"), true)
  h.eq(pb.has(all, "k_bool"), true)
  all.o_int32 = nil
  h.eq(pb.has(all, "o_int32"), false)
end)

h.test("has, on any other table", function()
  local plain = setmetatable({ a = 1, b = false, c = {} }, { __index = { d = 1 } })
  h.eq(pb.has(plain, "a"), true)
  h.eq(pb.has(plain, "b"), true)
  h.eq(pb.has(plain, "c"), true)
  h.eq(pb.has(plain, "d"), false)
  h.eq(pb.has(plain, "e"), false)
end)
