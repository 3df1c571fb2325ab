-- Options: reading, setting, refusing, and those that no other file is about.

local h = ...
local raises, refuses = h.raises, h.refuses

local first = {
  defaults = "metatable",
  enum = "name",
  int64 = "auto",
  unknown = "keep",
  unknown_key = "error",
  required = "error",
  utf8 = "error",
  sort_map = false,
  depth = 100,
}

h.test("every option begins with its first value", function()
  local pb = h.protobuf.new()
  for name, value in pairs(first) do
    h.eq(pb.option(name), value, name)
    h.eq(pb.option(name, nil), value, name)
  end
end)

h.test("setting gives the previous value", function()
  local pb = h.protobuf.new()
  local chain = {
    defaults = { "copy", "none", "metatable" },
    enum = { "number", "name" },
    int64 = { "string", "auto" },
    unknown = { "drop", "keep" },
    unknown_key = { "ignore", "error" },
    required = { "ignore", "error" },
    utf8 = { "ignore", "error" },
    sort_map = { true, false },
    depth = { 1, 1000, 50 },
  }
  for name, values in pairs(chain) do
    local previous = first[name]
    for _, value in ipairs(values) do
      h.eq(pb.option(name, value), previous, name)
      h.eq(pb.option(name), value, name)
      previous = value
    end
  end
end)

h.test("unknown names and values are refused", function()
  local pb = h.protobuf.new()
  raises("nosuch", pb.option, "nosuch")
  raises("nosuch", pb.option, "nosuch", true)
  for name, value in pairs(first) do
    for _, bad in ipairs { "nosuch", "", {}, print, 0, 1.5, -1, 1001 } do
      raises(name, pb.option, name, bad)
    end
    h.eq(pb.option(name), value, name)
  end
  raises("depth", pb.option, "depth", true)
  raises("depth", pb.option, "depth", h.nan)
  raises("max_bytes", pb.option, "max_bytes", -1)
  raises("max_bytes", pb.option, "max_bytes", "many")
  raises("array_metatable", pb.option, "array_metatable", 5)
  raises("map_metatable", pb.option, "map_metatable", "x")
  raises("", pb.option)
  raises("", pb.option, 5)
  raises("", pb.option, {})
end)

h.test("they belong to an instance", function()
  local one, two = h.instance(), h.instance()
  one.option("enum", "number")
  h.eq(two.option("enum"), "name")
  h.eq(one.decode("every3.All", h.bytes "80 01 02"), { s_color = 2 })
  h.eq(two.decode("every3.All", h.bytes "80 01 02"), { s_color = "BLUE" })
end)

h.test("they take effect with the next call, also for patterns and types in use", function()
  local pb = h.instance()
  h.eq(pb.decode("every3.All", h.bytes "80 01 02 20 07"), { s_color = "BLUE", s_int64 = 7 })
  h.eq(pb.unpack("every3.All s_int64", h.bytes "20 07"), 7)
  pb.option("enum", "number")
  pb.option("int64", "string")
  h.eq(pb.decode("every3.All", h.bytes "80 01 02 20 07"), { s_color = 2, s_int64 = "7" })
  h.eq(pb.unpack("every3.All s_int64", h.bytes "20 07"), "7")
end)

h.test("what a metamethod sets takes effect with the next call", function()
  local pb = h.instance()
  local setting = setmetatable({}, {
    __pairs = function()
      pb.option("max_bytes", 1)
      return next, { s_string = "a" }
    end,
  })
  for _, write in ipairs { "encode", "to_json", "to_text" } do
    pb.option("max_bytes", 1000)
    assert(#pb[write]("every3.All", setting) > 0)
    h.eq(pb.option("max_bytes"), 1)
  end
end)

h.test("tables made before keep their rules", function()
  local pb = h.instance()
  local all = pb.decode("every2.All", "")
  pb.option("defaults", "none")
  h.eq(all.d_int32, -42)
  h.eq(all.o_inner.b, "")
  h.encodes(pb, "every2.All", all, "")
  h.eq(getmetatable(pb.decode("every2.All", "")), nil)
end)

h.test("unknown_key=ignore lets any key pass", function()
  local pb = h.instance { unknown_key = "ignore" }
  h.encodes(pb, "every3.All", { s_int32 = 5, nosuch = 1, [1] = 2, [true] = print, s_inner = { a = 1, b2 = {} } }, "18 05 8a 01 02 08 01")
end)

h.test("unknown_key=ignore lets stray keys in lists pass", function()
  local pb = h.instance { unknown_key = "ignore" }
  h.encodes(pb, "every3.All", { r_int32 = { 1, 2, n = 2 }, r_string = { "a", [0] = "zero", name = true } }, "d8 02 01 d8 02 02 b2 03 01 61")
  raises("every3.All.r_int32[1]: ", pb.encode, "every3.All", { r_int32 = { "x", n = 1 } })
end)

-- A message every3.Inner that is this many levels deep, the outermost being 0, as bytes and as a table.
local function nested(levels)
  local bytes, value = "", {}
  for _ = 1, levels do
    bytes, value = h.field(3, bytes), { inner = value }
  end
  return bytes, value
end

h.test("depth counts nested messages from 0", function()
  local pb = h.instance()
  for _, depth in ipairs { 1, 2, 100, 500 } do
    pb.option("depth", depth)
    local bytes, value = nested(depth)
    h.eq(pb.encode("every3.Inner", value), bytes)
    h.eq(pb.decode("every3.Inner", bytes), value)
    bytes, value = nested(depth + 1)
    raises("dep", pb.encode, "every3.Inner", value)
    refuses("dep", pb.decode("every3.Inner", bytes))
  end
end)

h.test("groups count too, unknown ones among them", function()
  local pb = h.instance { depth = 3 }
  h.eq(pb.decode("every2.All", h.bytes "93 01 94 01"), { ogroup = {} })
  local opened, closed = h.bytes "53", h.bytes "54"
  assert(pb.decode("every3.Inner", opened:rep(3) .. closed:rep(3)))
  refuses("dep", pb.decode("every3.Inner", opened:rep(4) .. closed:rep(4)))
end)

h.test("max_bytes bounds what one decode builds", function()
  local pb = h.instance()
  local previous = pb.option("max_bytes")
  assert(type(previous) == "number" and previous > 1000000)
  local bytes = h.bytes("ca 03 00"):rep(20000)
  h.eq(#pb.decode("every3.All", bytes).r_inner, 20000)
  h.eq(pb.option("max_bytes", 100000), previous)
  h.eq(pb.option("max_bytes"), 100000)
  refuses("max_bytes", pb.decode("every3.All", bytes))
  refuses("max_bytes", pb.decode("every3.All", "\122" .. h.varint(200000) .. ("x"):rep(200000)))
  h.eq(pb.decode("every3.All", h.bytes "ca 03 00 18 05"), { r_inner = { {} }, s_int32 = 5 })
end)

h.test("what is built before max_bytes ends it takes about as much", function()
  local field = h.field
  local small = {
    field(57, ""), field(132, ""), field(132, field(57, "")), field(132, field(54, "")), field(132, field(92, "")),
    field(132, field(131, "")), field(132, "\24\1"), field(132, field(1000, "x")), field(92, "\10\1a"), field(54, ""),
    field(53, "\1"),
  }
  -- Tables are made as large as those before them were.
  local wide = { s_bool = true, s_string = "a", s_bytes = "a" }
  for _, kind in ipairs { "int", "uint", "sint", "fixed", "sfixed" } do
    wide["s_" .. kind .. "32"], wide["s_" .. kind .. "64"] = 1, 1
  end
  wide = h.instance().encode("every3.All", wide)
  small[#small + 1] = field(132, wide) .. field(132, ""):rep(8)
  for _, defaults in ipairs { "none", "metatable", "copy" } do
    local pb = h.instance { max_bytes = 4000000, defaults = defaults }
    for i, bytes in ipairs(small) do
      local count, fits = 2000, true
      while fits do
        local many = bytes:rep(count)
        collectgarbage()
        collectgarbage "stop"
        local before = collectgarbage "count"
        local decoded, why = pb.decode("every3.All", many)
        local built = (collectgarbage "count" - before) * 1024
        collectgarbage "restart"
        assert(built < 1.5 * 4000000, ("%d bytes of %d times field %d, %s"):format(built, count, i, defaults))
        count, fits = math.floor(count * 1.5), decoded
        if not fits then
          refuses("too large for option max_bytes", decoded, why)
        end
      end
    end
  end
end)

h.test("array_metatable and map_metatable", function()
  local pb = h.instance()
  local array, map = { name = "array" }, { name = "map" }
  h.eq(pb.option("array_metatable"), nil)
  h.eq(pb.option("array_metatable", array), nil)
  h.eq(pb.option("map_metatable", map), nil)
  assert(rawequal(pb.option("array_metatable"), array))
  local all = pb.decode("every3.All", h.bytes "d8 02 01 fa 03 01 02 8a 05 04 08 05 10 06 ca 03 00")
  for _, name in ipairs { "r_int32", "p_int32", "r_inner", "r_string", "p_double" } do
    assert(rawequal(getmetatable(all[name]), array), name)
  end
  for _, name in ipairs { "k_int32", "v_inner" } do
    assert(rawequal(getmetatable(all[name]), map), name)
  end
  assert(rawequal(getmetatable((pb.unpack("every3.All r_int32", h.bytes "d8 02 01"))), array))
  assert(rawequal(getmetatable((pb.unpack("every3.All k_int32", ""))), map))
  assert(rawequal(pb.option("array_metatable", false), array))
  h.eq(pb.option("array_metatable"), nil)
  h.eq(getmetatable(pb.decode("every3.All", h.bytes "d8 02 01").r_int32), nil)
end)

h.test("a list read with an array_metatable still counts as absent when empty", function()
  local pb = h.instance { array_metatable = {}, map_metatable = {} }
  local all = pb.decode("every3.All", "")
  local _ = all.s_inner.list
  _ = all.k_int32
  h.eq(pb.has(all, "s_inner"), false)
  h.encodes(pb, "every3.All", all, "")
  all.s_inner.list[1] = 5
  h.encodes(pb, "every3.All", all, "8a 01 03 22 01 05")
end)

h.test("new takes options", function()
  local pb = h.protobuf.new { enum = "number", depth = 7, sort_map = true }
  h.eq(pb.option("enum"), "number")
  h.eq(pb.option("depth"), 7)
  h.eq(pb.option("sort_map"), true)
  h.eq(pb.option("int64"), "auto")
  raises("nosuch", h.protobuf.new, { nosuch = 1 })
  raises("enum", h.protobuf.new, { enum = "nosuch" })
  raises("", h.protobuf.new, 5)
end)
