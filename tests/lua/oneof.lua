-- Oneofs: at most one member, the last on the wire wins.

local h = ...
local pb = h.instance()
local both, decodes, raises = h.both, h.decodes, h.raises

h.test("every kind of member, zeros too", function()
  both(pb, "every3.All", { c_int32 = 5 }, "c8 07 05")
  both(pb, "every3.All", { c_int32 = 0 }, "c8 07 00")
  both(pb, "every3.All", { c_string = "" }, "d2 07 00")
  both(pb, "every3.All", { c_inner = {} }, "da 07 00")
  both(pb, "every3.All", { c_inner = { a = 1 } }, "da 07 02 08 01")
  both(pb, "every3.All", { c_color = "RED" }, "e0 07 00")
  both(pb, "every3.All", { c_bytes = "\255" }, "ea 07 01 ff")
  both(pb, "every3.All", { c_bool = false }, "f0 07 00")
  both(pb, "every3.All", { c_double = 0.0 }, "f9 07 00 00 00 00 00 00 00 00")
  both(pb, "every2.All", { cgroup = {} }, "83 08 84 08")
end)

h.test("two oneofs do not meddle", function()
  both(pb, "every3.All", { c_string = "a", x_uint64 = 0 }, "d2 07 01 61 88 08 00")
  both(pb, "every3.All", { c_bool = true, x_empty = {} }, "f0 07 01 92 08 00")
end)

h.test("the last on the wire wins", function()
  decodes(pb, "every3.All", "c8 07 05 d2 07 01 61", { c_string = "a" })
  decodes(pb, "every3.All", "d2 07 01 61 c8 07 00", { c_int32 = 0 })
  decodes(pb, "every3.All", "c8 07 05 88 08 01 d2 07 01 61 92 08 00 f0 07 00", { c_bool = false, x_empty = {} })
  decodes(pb, "every2.All", "c8 07 05 83 08 08 05 84 08", { cgroup = { a = 5 } })
  decodes(pb, "every2.All", "83 08 08 05 84 08 c8 07 05", { c_int32 = 5 })
end)

h.test("a message member merges with itself, unless another came between", function()
  decodes(pb, "every3.All", "da 07 02 08 01 da 07 03 12 01 78", { c_inner = { a = 1, b = "x" } })
  decodes(pb, "every3.All", "da 07 02 08 01 c8 07 05 da 07 03 12 01 78", { c_inner = { b = "x" } })
end)

h.test("two members are refused, both named", function()
  raises("every3.All...c_int32...c_string", pb.encode, "every3.All", { c_int32 = 1, c_string = "a" })
  raises("every3.All...c_inner...c_bool", pb.encode, "every3.All", { c_bool = false, c_inner = {} })
  raises("every3.All.selves[1]...x_uint64...x_empty", pb.encode, "every3.All",
    { selves = { { x_uint64 = 1, x_empty = {} } } })
end)

h.test("a member that is not set reads nil, in every option of defaults", function()
  for _, defaults in ipairs { "metatable", "copy", "none" } do
    local own = h.instance { defaults = defaults }
    local all = own.decode("every3.All", h.bytes "c8 07 00")
    h.eq(all.c_int32, 0)
    for _, name in ipairs { "c_string", "c_inner", "c_color", "c_bytes", "c_bool", "c_double", "x_uint64", "x_empty" } do
      h.eq(all[name], nil, name)
    end
    h.eq(own.decode("every3.All", "").c_int32, nil)
  end
end)

h.test("a proto3 optional is no member of a oneof", function()
  both(pb, "every3.All", { o_int32 = 0, o_string = "" }, "b8 01 00 92 02 00")
  h.eq(pb.decode("every3.All", "").o_int32, 0)
end)

h.test("an event of the world", function()
  both(pb, "world.Event", { at = 7, damage = { source = 1, target = 2, amount = -3 } }, "08 07 1a 06 08 01 10 02 18 05")
  both(pb, "world.Event", { despawn = 0 }, "28 00")
end)
