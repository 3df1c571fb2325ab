-- Wrong arguments: every function raises a message, or answers, and none crashes.

local h = ...
local pb = h.instance()
local raises = h.raises

local thread = coroutine.create(function() end)
local odd = { true, {}, print, thread, io.stdout }

h.test("a type must be a string", function()
  for _, value in ipairs(odd) do
    raises("", pb.encode, value, {})
    raises("", pb.decode, value, "")
    raises("", pb.pack, value)
    raises("", pb.unpack, value, "")
    raises("", pb.default, value, {})
    raises("", pb.enum_id, value, "RED")
    raises("", pb.enum_name, value, 0)
  end
  for _, name in ipairs { "encode", "decode", "pack", "unpack", "default", "enum_id", "enum_name", "register", "register_file", "option", "has", "extract" } do
    raises("", pb[name])
    raises("", pb[name], nil, nil, nil)
  end
end)

h.test("a name that is none is unknown", function()
  for _, name in ipairs { "", ".", "..every3.All", "every3.All.", "every3", ".every3", "All", "every3.all", "every3.All\0", " every3.All", "every3.All ", "every3.Color", "every3.All.s_int32" } do
    raises("", pb.encode, name, {})
    h.refuses("", pb.decode(name, ""))
    raises("", pb.default, name, {})
  end
end)

h.test("encode wants a table", function()
  raises("", pb.encode, "every3.All")
  raises("", pb.encode, "every3.All", nil)
  for _, value in ipairs { true, 5, "text", print, io.stdout } do
    raises("", pb.encode, "every3.All", value)
  end
end)

h.test("decode wants bytes, raising on anything else", function()
  raises("", pb.decode, "every3.All")
  raises("", pb.decode, "every3.All", nil)
  for _, value in ipairs(odd) do
    raises("", pb.decode, "every3.All", value)
    raises("", pb.unpack, "every3.All s_int32", value)
  end
end)

h.test("a length must be within the string", function()
  for _, length in ipairs { 3, -1, 1.5, 2 ^ 31, 2 ^ 53, -2 ^ 63, h.inf, h.nan, "x", true, {} } do
    raises("", pb.decode, "every3.All", h.bytes "18 05", length)
    raises("", pb.unpack, "every3.All s_int32", h.bytes "18 05", length)
  end
  h.eq(pb.decode("every3.All", h.bytes "18 05", nil), { s_int32 = 5 })
  h.eq(pb.decode("every3.All", h.bytes "18 05", 2), { s_int32 = 5 })
end)

h.test("check never raises", function()
  h.eq(pb.check("every3.All"), true)
  h.eq(pb.check(".every3.All"), true)
  h.eq(pb.check("every3.All", "s_int32"), true)
  h.eq(pb.check("every3.All", nil), true)
  for _, args in ipairs {
    {}, { 5 }, { true }, { {} }, { print }, { "" }, { "." }, { "every3" }, { "every3.NoSuch" }, { "every3.All\0" }, { ("x"):rep(100000) },
    { "every3.All", "nosuch" }, { "every3.All", "" }, { "every3.All", {} }, { "every3.All", true }, { "every3.All", "?unknown" },
    { "every3.NoSuch", "s_int32" },
  } do
    h.eq(pb.check(h.unpack(args)), false)
  end
end)

h.test("has and extract want a table", function()
  for _, value in ipairs { true, 5, "text", print } do
    raises("", pb.has, value, "a")
    raises("", pb.extract, value)
  end
end)

h.test("enum_id and enum_name of what is no enum give nothing", function()
  for _, name in ipairs { "every3.NoSuch", "every3.All", "" } do
    local fine, got = pcall(pb.enum_id, name, "RED")
    assert(not fine or got == nil)
    fine, got = pcall(pb.enum_name, name, 0)
    assert(not fine or got == nil)
  end
  for _, value in ipairs { 1.5, 2 ^ 40, h.inf, h.nan } do
    local fine, got = pcall(pb.enum_name, "every3.Color", value)
    assert(not fine or got == nil)
  end
end)

h.test("register and register_file want strings", function()
  for _, value in ipairs(odd) do
    raises("", pb.register, value)
    raises("", pb.register_file, value)
  end
end)

h.test("further arguments are ignored", function()
  h.eq(pb.check("every3.All", "s_int32", 1, 2, 3), true)
  h.eq(pb.enum_id("every3.Color", "BLUE", 1, 2), 2)
  h.eq(pb.decode("every3.All", h.bytes "18 05", 2, 1, 2), { s_int32 = 5 })
end)

h.test("many results need no more stack than there is", function()
  local pattern = { "every2.Wide" }
  for i = 1, 80 do
    pattern[i + 1] = "f" .. i
  end
  local function deep(n)
    if n == 0 then
      return select("#", pb.unpack(table.concat(pattern, " "), ""))
    end
    local count = deep(n - 1)
    return count
  end
  h.eq(deep(150), 80)
end)
