-- Makes values of fields out of the bytes of an input: right ones, wrong ones, and tables with metamethods that do
-- what they should not.
local common = require "common"

local make = {}

local newproxy = newproxy
local WHOLE = { -1, 0, 1, 127, 128, 2 ^ 31 - 1, 2 ^ 31, 2 ^ 32, -2 ^ 31, 2 ^ 53, 2 ^ 53 + 1, 2 ^ 63, -2 ^ 63, 2 ^ 64, 1e300 }
local DIGITS = {
  "0", "7", "-1", "0x10", "-0xff", "2147483647", "4294967296", "9223372036854775807", "-9223372036854775808",
  "18446744073709551615", "18446744073709551616", "1e3", "-1.5", " 1", "1 ", "", "0x", "nan", "inf", "1_0",
}
local REAL = { 0.0, -0.0, 1.5, -2.25, 0.1, 1e38, 1e39, 1e-46, 1 / 0, -1 / 0, 0 / 0, 5e-324, 2 ^ 24 + 1 }
local TEXT = { "", "a", "text", "\0", "\195\164", "\240\159\142\137", "\237\160\128", "\255", "name\n", "key", "value", "?unknown" }
local LENGTHS = { -1, 0, 1, 3, 1000, 2 ^ 27, 2 ^ 53, 2 ^ 70, 0 / 0, 1.5, "3", {}, false }

local function pick(take, list)
  return list[take(#list) + 1]
end

-- A value that fits few fields or none.
local function odd(take)
  local kind = take(12)
  if kind == 0 then
    return {}
  elseif kind == 1 then
    return next -- as an iterator, it ends
  elseif kind == 2 then
    return io.stdout
  elseif kind == 3 then
    return coroutine.create(select)
  elseif kind == 4 then
    return newproxy and newproxy(true) or function() end
  elseif kind == 5 then
    return ("long"):rep(take(20000))
  elseif kind == 6 then
    return take(2) == 0
  elseif kind == 7 then
    return pick(take, WHOLE)
  elseif kind == 8 then
    return pick(take, REAL)
  elseif kind == 9 then
    return pick(take, DIGITS)
  elseif kind == 10 then
    return { pick(take, TEXT), [take(4)] = take(256), n = take(2) == 0 and 1 or nil }
  end
  return pick(take, TEXT)
end

-- A maker of values from `data`, from byte `at` on. `pb` is the instance that metamethods play with, `fields` tells of
-- types. If `calm`, there are no metamethods. `changes` is whether the values may encode to other bytes when they were
-- decoded: maps in list form or with odd keys, unknown fields, numbers of closed enums that have no name. `proxied` is whether there are
-- metamethods.
function make.maker(pb, fields, data, at, calm)
  local take = common.taker(data, at)
  local maker = { take = take, left = 200, chaos = 0, changes = false, proxied = false }
  local tables = {}
  local value, message

  -- What metamethods do besides.
  local function chaos()
    maker.chaos = maker.chaos + 1
    if maker.chaos > 30 then
      return
    end
    local kind = take(14)
    if kind == 0 then
      error(make.RAISED, 0)
    elseif kind == 1 then
      error("raised as a string", 0)
    elseif kind == 2 then
      local t = pick(take, tables)
      t[next(t) or 1] = odd(take)
    elseif kind == 3 then
      local t = pick(take, tables)
      local k = next(t)
      if k ~= nil then
        t[k] = nil
      end
    elseif kind == 4 then
      pick(take, tables)[pick(take, { 1, 2, "a", "inner", "s_int32", "o_string", true })] = odd(take)
    elseif kind == 5 then
      collectgarbage()
    elseif kind == 6 then
      pcall(pb.encode, pick(take, common.TYPES), pick(take, tables))
    elseif kind == 7 then
      pb.decode("every3.All", "\8\1\138\1\0")
    elseif kind == 8 then
      pb.clear()
      common.register(pb)
    elseif kind == 9 then
      pb.option("sort_map", take(2) == 0)
    elseif kind == 10 then
      pcall(pb.to_json, pick(take, common.TYPES), pick(take, tables))
    elseif kind == 11 then
      pcall(pb.pack, "every3.All s_int32 s_inner", take(256), pick(take, tables))
    elseif kind == 12 then
      coroutine.yield()
    end
  end

  -- The same table behind metamethods.
  local function proxy(t)
    if calm or take(6) ~= 0 then
      return t
    end
    maker.proxied = true
    local kind, number = take(10), pick(take, LENGTHS)
    if kind == 0 then
      return setmetatable({}, {
        __pairs = function()
          chaos()
          return next, t
        end,
      })
    elseif kind == 1 then
      local size = #t
      return setmetatable({}, {
        __index = function(_, k)
          chaos()
          return t[k]
        end,
        __len = function()
          chaos()
          return size
        end,
      })
    elseif kind == 2 then
      return setmetatable({}, {
        __index = t,
        __len = function()
          return number
        end,
      })
    elseif kind == 3 then
      local steps = 0
      return setmetatable({}, {
        __pairs = function()
          return function()
            chaos()
            steps = steps + 1
            if steps < 50 then
              return odd(take), odd(take)
            end
          end
        end,
      })
    elseif kind == 4 then
      return setmetatable({}, {
        __pairs = function()
          return odd(take), odd(take), odd(take)
        end,
      })
    elseif kind == 5 then
      return setmetatable(t, { __pairs = odd(take) })
    elseif kind == 6 then
      return setmetatable(t, { __index = odd(take), __len = odd(take) })
    elseif kind == 7 then
      return setmetatable(t, { __newindex = chaos, __tostring = chaos, __metatable = false, __name = odd(take) })
    elseif kind == 8 then
      return setmetatable(t, { __eq = chaos, __lt = chaos, __call = chaos, __mode = "kv", __concat = chaos })
    end
    return setmetatable({}, {
      __pairs = function(own)
        chaos()
        return function(_, k)
          chaos()
          return next(t, k)
        end, own, nil
      end,
    })
  end

  local function remember(t)
    tables[#tables + 1] = t
    return t
  end

  local function scalar(field)
    local kind = field.type
    if kind == "string" then
      return take(4) == 0 and take(256) or pick(take, TEXT)
    elseif kind == "bytes" then
      return pick(take, TEXT)
    elseif kind == "bool" then
      return take(2) == 0
    elseif kind == "enum" then
      local plan = pick(take, pb.enum(field.type_name))
      if take(8) == 0 then
        maker.changes = true
        return take(256) - 8
      end
      return take(2) == 0 and plan.number or plan.name
    elseif kind == "double" or kind == "float" then
      return take(4) == 0 and pick(take, DIGITS) or pick(take, REAL)
    end
    local how = take(6)
    if how == 0 then
      return pick(take, WHOLE)
    elseif how == 1 then
      return pick(take, DIGITS)
    elseif how == 2 then
      return take(256) * 1.0
    end
    return take(256)
  end

  local function single(field, levels)
    if take(40) == 1 then
      maker.changes = true
      return odd(take)
    elseif field.type == "message" or field.type == "group" then
      return message(field.type_name, levels - 1)
    end
    return scalar(field)
  end

  local function map(field, levels)
    local t = remember {}
    if take(4) == 0 then
      maker.changes = true
      for i = 1, take(4) do
        t[i] = { key = take(6) > 0 and single(field.key, levels) or nil, value = take(6) > 0 and single(field.value, levels) or nil }
        if take(12) == 1 then
          t[i].other = 1
        end
      end
    else
      for _ = 1, take(4) do
        local key = single(field.key, levels)
        if key ~= nil and key == key then
          -- Several keys of a table may stand for one of the map.
          local natural = field.key.type == "string" and "string" or field.key.type == "bool" and "boolean" or "number"
          if type(key) ~= natural or natural == "number" and (key >= 2 ^ 53 or key <= -2 ^ 53) then
            maker.changes = true
          end
          t[key] = single(field.value, levels)
        end
      end
    end
    return proxy(t)
  end

  -- A value of the field; a list or map if it is one.
  function value(field, levels)
    if take(30) == 1 then
      maker.changes = true
      return odd(take)
    elseif take(30) == 1 and #tables > 0 then
      maker.changes = true
      return pick(take, tables)
    elseif field.label == "map" then
      return map(field, levels)
    elseif field.label == "repeated" then
      local list = remember {}
      for i = 1, take(5) do
        list[i] = single(field, levels)
      end
      local spoilt = take(30)
      if spoilt == 1 then
        list[take(8)] = odd(take)
      elseif spoilt == 2 then
        list[pick(take, { 0, -1, 1.5, "n", 2 ^ 40, true })] = 1
      end
      return proxy(list)
    end
    return single(field, levels)
  end

  function message(type_name, levels)
    local t, known = remember {}, fields[type_name]
    if #known > 0 and levels > 0 then
      for _ = 1, take(8) do
        maker.left = maker.left - 1
        if maker.left < 0 then
          break
        end
        local field = known[take(256) % #known + 1]
        t[field.name] = value(field, levels)
      end
    end
    local spoilt = take(40)
    if spoilt == 1 then
      t[pick(take, { "nmae", 1, true, 1.5, "", "[]", "[ext.none]", "?", select })] = odd(take)
    elseif spoilt == 2 then
      maker.changes = true
      t["?unknown"] = take(2) == 0 and "\192\62\1" or odd(take)
    end
    return proxy(t)
  end

  -- Leaves garbage whose finalizers do so too, at whatever point of a call they run.
  function maker.haunt()
    maker.proxied = true
    for _ = 1, 3 do
      make.finalized(chaos)
    end
    collectgarbage "step"
  end

  maker.value, maker.message = value, message
  return maker
end

-- Makes a value whose finalizer calls f.
function make.finalized(f)
  if newproxy then
    getmetatable(newproxy(true)).__gc = f
  else
    setmetatable({}, { __gc = f })
  end
end

-- What metamethods raise.
make.RAISED = setmetatable({}, { __tostring = function()
  return "raised"
end })

return make
