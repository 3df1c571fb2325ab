-- What the scripts share. Written in the Lua that 5.1 to 5.5 and LuaJIT have in common.
local protobuf = require "protobuf"

local common = { unpack = table.unpack or unpack }

-- The types of which the first byte of an input picks one.
common.TYPES = { "every2.All", "every3.All", "edition2023_all.All", "every2.Holder", "ext.Base", "ext.Set" }

-- An instance with all types.
function common.instance(options)
  local pb = protobuf.new(options)
  common.register(pb)
  return pb
end

function common.register(pb)
  for _, set in ipairs(require "descriptors") do
    pb.register(set)
  end
end

-- The fields of a type that the instance has, by `fields`.
function common.fields_of(pb)
  return setmetatable({}, {
    __index = function(known, name)
      known[name] = pb.fields(name)
      return known[name]
    end,
  })
end

-- Takes numbers out of the bytes of `data`, zeros at its end: take(n) is one from 0 to n - 1.
function common.taker(data, at)
  return function(n)
    local value = 0
    for _ = 1, n > 256 and 2 or 1 do
      value = value * 256 + (data:byte(at) or 0)
      at = at + 1
    end
    return value % n
  end
end

-- The bytes of a string in their order.
local function sorted(text)
  local bytes = {}
  for c in text:gmatch "." do
    bytes[#bytes + 1] = c
  end
  table.sort(bytes)
  return table.concat(bytes)
end

-- The first values of enums that are open, and other zeros.
local ZERO = { [0] = true, [""] = true, ["0"] = true, [false] = true, RED = true, NONE = true, OFF = true, OPEN_ZERO = true, NULL_VALUE = true }

-- Whether two values are the same, to the sign of zero and the kind of number; NaN is NaN. Tables are read raw. With
-- `loose`, `a` may lack zeros, which are not written where there is no presence, and unknown fields may be in another
-- order, for those with known numbers are written first.
local function equal(a, b, loose)
  local kind = type(a)
  if kind ~= type(b) then
    return false
  elseif kind == "table" then
    for k, v in next, a do
      local other = rawget(b, k)
      if loose and k == protobuf.UNKNOWN and type(other) == "string" then
        v, other = sorted(v), sorted(other)
      end
      if not equal(v, other, loose) then
        return false
      end
    end
    for k, v in next, b do
      if rawget(a, k) == nil and not (loose and ZERO[v] and 1 / (tonumber(v) or 1) > 0) then
        return false
      end
    end
    return true
  elseif kind == "number" then
    if math.type and math.type(a) ~= math.type(b) then
      return false
    end
    return a ~= a and b ~= b or a == b and (a ~= 0 or 1 / a == 1 / b)
  elseif kind == "cdata" then
    return tostring(a) == tostring(b)
  end
  return rawequal(a, b)
end

-- A value as text, for messages.
local function show(value)
  if type(value) == "table" then
    local parts = {}
    for k, v in next, value do
      parts[#parts + 1] = "[" .. show(k) .. "]=" .. show(v)
    end
    table.sort(parts)
    return "{" .. table.concat(parts, ",") .. "}"
  elseif type(value) == "string" then
    return '"' .. value:gsub("[^ -~]", function(c)
      return ("\\%03d"):format(c:byte())
    end) .. '"'
  end
  return tostring(value)
end
common.show = show

-- Raises unless both are the same.
function common.same(what, got, wanted, loose)
  if not equal(got, wanted, loose) then
    error(what .. ":\n  " .. show(got) .. "\n  instead of\n  " .. show(wanted), 2)
  end
end

-- Raises unless `message` is an error that says in which type; long paths lose their beginning.
function common.is_error(message, name)
  if type(message) ~= "string" or not (message:find(name, 1, true) or message:find("...", 1, true)) then
    error("no error of " .. name .. ": " .. show(message), 2)
  end
end

-- The name of a field in a pattern.
function common.name_of(field)
  local name = field.name
  return field.extension and name:sub(1, 1) ~= "[" and "[" .. name .. "]" or name
end

function common.pack(...)
  return { n = select("#", ...), ... }
end

return common
