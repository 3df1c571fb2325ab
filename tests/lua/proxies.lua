-- Tables with __pairs, __index or __len, read through them on every Lua; all other tables are read raw.

local h = ...
local pb = h.instance()
local encodes, raises = h.encodes, h.raises

-- An empty table that shows another one through __pairs.
local function shown(t)
  return setmetatable({}, {
    __pairs = function()
      return next, t, nil
    end,
  })
end

-- An empty table that shows a list through __index and __len.
local function list(t)
  return setmetatable({}, {
    __index = t,
    __len = function()
      return #t
    end,
  })
end

h.test("messages through __pairs", function()
  encodes(pb, "every3.All", shown { s_int32 = 5, s_string = "a" }, "18 05 72 01 61")
  encodes(pb, "every3.All", { s_inner = shown { a = 1 }, r_inner = { shown { b = "x" }, {} } }, "8a 01 02 08 01 ca 03 03 12 01 78 ca 03 00")
  encodes(pb, "every3.All", { c_inner = shown {} }, "da 07 00")
  encodes(pb, "every2.All", { ogroup = shown { a = 1 } }, "93 01 08 01 94 01")
end)

h.test("maps through __pairs", function()
  encodes(pb, "every3.All", { k_int32 = shown { [5] = 6 } }, "8a 05 04 08 05 10 06")
  encodes(pb, "every3.All", { v_inner = shown { a = shown { a = 1 } } }, "aa 07 07 0a 01 61 12 02 08 01")
end)

h.test("lists through __index and __len", function()
  encodes(pb, "every3.All", { r_int32 = list { 1, 2 } }, "d8 02 01 d8 02 02")
  encodes(pb, "every3.All", { p_int32 = list { 1, 2 } }, "fa 03 02 01 02")
  encodes(pb, "every3.All", { r_inner = list { shown { a = 1 }, {} } }, "ca 03 02 08 01 ca 03 00")
  encodes(pb, "every3.All", { r_string = list {} }, "")
end)

h.test("lists through __index alone", function()
  encodes(pb, "every3.All", { r_int32 = setmetatable({}, { __index = { 1, 2 } }) }, "d8 02 01 d8 02 02")
  encodes(pb, "every3.All", {
    r_int32 = setmetatable({}, {
      __index = function(_, i)
        return i <= 3 and i * 2 or nil
      end,
    }),
  }, "d8 02 02 d8 02 04 d8 02 06")
end)

h.test("lists through __len alone", function()
  local two = setmetatable({ 7, 8 }, {
    __len = function()
      return 2
    end,
  })
  encodes(pb, "every3.All", { r_int32 = two }, "d8 02 07 d8 02 08")
end)

h.test("metamethods may be tables that are called, and __index a chain of tables", function()
  local function called(f)
    return setmetatable({}, { __call = function(_, ...)
      return f(...)
    end })
  end
  local function two()
    return 2.0
  end
  encodes(pb, "every3.All", setmetatable({}, { __pairs = called(function()
    return called(next), { s_int32 = 5 }
  end) }), "18 05")
  local chain = setmetatable({ 7 }, { __index = setmetatable({}, { __index = { 0, 8 } }) })
  encodes(pb, "every3.All", { r_int32 = setmetatable({}, { __index = chain, __len = called(two) }) }, "d8 02 07 d8 02 08")
  encodes(pb, "every3.All", { r_int32 = setmetatable({}, { __index = chain }) }, "d8 02 07 d8 02 08")
end)

h.test("what gives no iterator is refused", function()
  for _, iterator in ipairs { 5, "next", {}, false } do
    raises("attempt to call", pb.encode, "every3.All", setmetatable({}, { __pairs = function()
      return iterator
    end }))
  end
  raises("attempt to call", pb.encode, "every3.All", setmetatable({}, { __pairs = true }))
end)

h.test("the order of __pairs does not matter to a message", function()
  local keys = { "s_string", "s_int32", "s_double" }
  local values = { s_double = 1, s_int32 = 5, s_string = "a" }
  local value = setmetatable({}, {
    __pairs = function()
      local i = 0
      return function()
        i = i + 1
        return keys[i], values[keys[i]]
      end
    end,
  })
  encodes(pb, "every3.All", value, "09 00 00 00 00 00 00 f0 3f 18 05 72 01 61")
end)

h.test("__pairs gets the table, and its iterator what it asked for", function()
  local value, state = {}, {}
  local seen
  setmetatable(value, {
    __pairs = function(...)
      seen = { n = select("#", ...), ... }
      return function(s, control)
        assert(s == state)
        if control == "start" then
          return "s_int32", 5
        end
        assert(control == "s_int32")
      end, state, "start"
    end,
  })
  encodes(pb, "every3.All", value, "18 05")
  h.eq(seen.n, 1)
  assert(rawequal(seen[1], value))
end)

h.test("what they show is checked like anything else", function()
  raises('every3.All: unknown field "nosuch"', pb.encode, "every3.All", shown { nosuch = 1 })
  raises("every3.All.s_int32: ", pb.encode, "every3.All", shown { s_int32 = "x" })
  raises("every3.All.r_int32[2]: ", pb.encode, "every3.All", { r_int32 = list { 1, "x" } })
  raises('every3.All.k_string["a"]: ', pb.encode, "every3.All", { k_string = shown { a = "x" } })
  raises("c_int32...c_string", pb.encode, "every3.All", shown { c_int32 = 1, c_string = "" })
  raises("tutorial.Person.id: required field missing", pb.encode, "tutorial.Person", shown { name = "a" })
end)

h.test("a hole in what a list shows is refused", function()
  local hole = setmetatable({}, {
    __index = { 1, nil, 3 },
    __len = function()
      return 3
    end,
  })
  raises("every3.All.r_int32...2", pb.encode, "every3.All", { r_int32 = hole })
end)

h.test("a senseless __len is refused", function()
  for _, length in ipairs { "x", 1.5, 2 ^ 40, h.nan, {} } do
    raises("every3.All.r_int32", pb.encode, "every3.All", {
      r_int32 = setmetatable({}, {
        __len = function()
          return length
        end,
      }),
    })
  end
end)

h.test("errors in metamethods come through as they are", function()
  local thrown = {}
  local function fail()
    error(thrown, 0)
  end
  for _, value in ipairs {
    setmetatable({}, { __pairs = fail }),
    { s_inner = setmetatable({}, { __pairs = fail }) },
    { k_int32 = setmetatable({}, { __pairs = fail }) },
    { r_int32 = setmetatable({}, { __index = fail }) },
    { r_int32 = setmetatable({}, { __len = fail }) },
    setmetatable({}, {
      __pairs = function()
        return fail
      end,
    }),
  } do
    local fine, got = pcall(pb.encode, "every3.All", value)
    h.eq(fine, false)
    assert(rawequal(got, thrown))
  end
  encodes(pb, "every3.All", { s_int32 = 5 }, "18 05")
end)

h.test("metamethods may call back in", function()
  local value = {
    s_int32 = 7,
    s_inner = setmetatable({}, {
      __pairs = function()
        encodes(pb, "every3.All", { s_string = ("x"):rep(1000), r_int32 = { 1 } }, "72 e8 07" .. ("78"):rep(1000) .. "d8 02 01")
        return next, pb.decode("every3.Inner", h.bytes "08 01 12 01 78"), nil
      end,
    }),
    r_string = setmetatable({}, {
      __index = function(_, i)
        return i <= 2 and pb.unpack("every3.All s_string", "\114\1" .. string.char(96 + i)) or nil
      end,
    }),
  }
  encodes(pb, "every3.All", value, "18 07 8a 01 05 08 01 12 01 78 b2 03 01 61 b2 03 01 62")
end)

h.test("without __pairs a message is read raw", function()
  local class = { s_string = "inherited" }
  encodes(pb, "every3.All", setmetatable({ s_int32 = 5 }, { __index = class }), "18 05")
  encodes(pb, "every3.All", { k_int32 = setmetatable({ [1] = 2 }, { __index = { [3] = 4 } }) }, "8a 05 04 08 01 10 02")
  encodes(pb, "every3.All", setmetatable({ s_int32 = 5 }, { __newindex = error, __call = error, __metatable = "locked" }), "18 05")
end)

h.test("the flat form reads lists and maps so, too", function()
  h.eq(h.hex(pb.pack("every3.All r_int32 k_int32", list { 1, 2 }, shown { [5] = 6 })), "d80201d802028a050408051006")
end)

h.test("the table of a decoded message counts as raw", function()
  local all = pb.decode("every3.All", h.bytes "18 05")
  encodes(pb, "every3.All", all, "18 05")
  h.eq(next(all, "s_int32"), nil)
end)

h.test("the keys that stand in a list with a metatable are checked as in any list", function()
  local class = {}
  class.__index = class
  h.encodes(pb, "every3.All", { p_int32 = setmetatable({ 1, 2 }, class) }, h.hex(pb.encode("every3.All", { p_int32 = { 1, 2 } })))
  for _, list in ipairs { { 1, 2, [4] = 4 }, { 1, 2, n = 5 }, { [0] = 0, 1 }, { 1, [1.5] = 2 }, { foo = 1 } } do
    h.raises("every3.All.p_int32: list with", pb.encode, "every3.All", { p_int32 = setmetatable(list, class) })
  end
end)

h.test("a list with __index and no __len ends before its first nil, whatever stands in it", function()
  local function with(list, index, value)
    return setmetatable(list, { __index = function(_, i)
      return i == index and value or nil
    end })
  end
  local three = pb.encode("every3.All", { p_int32 = { 1, 2, 3 } })
  h.eq(pb.encode("every3.All", { p_int32 = with({ 1, 2 }, 3, 3) }), three)
  h.eq(pb.encode("every3.All", { p_int32 = with({ 1, nil, 3 }, 2, 2) }), three)
end)

h.test("pbc's list of entries may be a proxy, and so may its entries", function()
  local plain = pb.encode("every3.All", { k_string = { a = 1 } })
  local entry = setmetatable({}, { __pairs = function()
    return next, { key = "a", value = 1 }
  end })
  h.eq(pb.encode("every3.All", { k_string = { entry } }), plain)
  local list = setmetatable({}, { __len = function()
    return 1
  end, __index = function()
    return { key = "a", value = 1 }
  end })
  h.eq(pb.encode("every3.All", { k_string = list }), plain)
end)

h.test("encodes within encodes share the depth", function()
  local own = h.instance()
  own.option("depth", 1000)
  local count = 0
  local function chain()
    local root = { a = 1 }
    local at = root
    for _ = 1, 990 do
      at.inner = {}
      at = at.inner
    end
    setmetatable(at, { __pairs = function()
      count = count + 1
      if count < 60 then
        pcall(own.encode, "every3.Inner", chain())
      end
      return next, { b = "x" }
    end })
    return root
  end
  h.eq((pcall(own.encode, "every3.Inner", chain())), true)
  h.eq(count, 1)
  own.option("depth", 100)
  h.eq((pcall(own.encode, "every3.Inner", { inner = {} })), true)
end)

h.test("a map that is changed while it is encoded is an error, and costs no memory", function()
  local function attempt()
    local map = {}
    for i = 1, 8 do
      map["k" .. i] = setmetatable({}, { __pairs = function()
        for key in pairs(map) do
          map[key] = nil
        end
        for i = 1, 100 do
          map[i] = {}
        end
        collectgarbage()
        return next, { a = 1 }
      end })
    end
    return pcall(pb.encode, "every3.All", { v_inner = map })
  end
  local refused
  for _ = 1, 20 do
    local ok, message = attempt()
    if not ok then
      refused = message
    end
  end
  assert(refused == nil or refused:find("v_inner", 1, true), refused)
  h.eq(h.hex(pb.encode("every3.All", { s_int32 = 1 })), "1801")
end)
