-- The head of an input chooses the type and options, the rest is decoded. What is decoded must encode and decode again
-- to the same; flat values must be those of the table.
local common = require "common"
local same, unpack = common.same, common.unpack

local pb = common.instance()
local fields = common.fields_of(pb)
local lists, maps = {}, {}

local SCALARS = {}
for name in ("double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string bytes enum"):gmatch "%S+" do
  SCALARS[name] = true
end

-- Patterns of a type: all fields, every third one, and names that lead into messages, first those that can be packed.
local patterns = setmetatable({}, {
  __index = function(known, type_name)
    local all, some, inner, through = { type_name }, { type_name }, { type_name }, { type_name }
    for i, field in ipairs(fields[type_name]) do
      local name = common.name_of(field)
      all[#all + 1] = name
      if i % 3 == 0 then
        some[#some + 1] = name
      end
      local has_fields = field.type == "message" or field.type == "group"
      if has_fields then
        -- What is unpacked within two members of a oneof is in the way of each other.
        local into = (field.label == "repeated" or field.oneof) and through or inner
        for j, deeper in ipairs(fields[field.type_name]) do
          if j > 6 then
            break
          end
          -- Of messages in lists, only fields can be named.
          if into == inner or SCALARS[deeper.type] then
            into[#into + 1] = name .. "." .. common.name_of(deeper)
          end
        end
      end
    end
    local made = {}
    for i, words in ipairs { all, some, inner, through } do
      made[i] = table.concat(words, " ")
    end
    known[type_name] = made
    return made
  end,
})

local function options(take)
  local chosen = {
    defaults = ({ "metatable", "copy", "none" })[take(3) + 1],
    enum = ({ "name", "number" })[take(2) + 1],
    int64 = ({ "auto", "string" })[take(2) + 1],
    unknown = ({ "keep", "drop" })[take(2) + 1],
    required = ({ "error", "ignore" })[take(2) + 1],
    utf8 = ({ "error", "ignore" })[take(2) + 1],
    sort_map = true,
    depth = ({ 100, 1000, take(8) + 1 })[take(3) + 1],
    max_bytes = ({ 2 ^ 29, 2 ^ take(21) })[take(2) + 1],
    array_metatable = take(2) == 1 and lists or false,
    map_metatable = take(2) == 1 and maps or false,
  }
  for name, value in pairs(chosen) do
    pb.option(name, value)
  end
  return chosen
end

-- Reads every absent field, of the messages in it too.
local function touch(message, type_name, levels)
  for _, field in ipairs(fields[type_name]) do
    local value = message[field.name]
    if type(value) == "table" and levels > 0 and (field.type == "message" or field.type == "group") and field.label ~= "repeated" then
      touch(value, field.type_name, levels - 1)
    end
  end
end

-- The flat values of all fields are those of the table, which is read on the way.
local function compare_flat(type_name, bytes, message)
  local values = common.pack(pb.unpack(patterns[type_name][1], bytes))
  for i, field in ipairs(fields[type_name]) do
    local value, own = values[i], rawget(message, field.name)
    local singular = field.label == "optional" or field.label == "required"
    if SCALARS[field.type] or SCALARS[field.type == "map" and field.value.type] then
      same(field.name, value, message[field.name])
    elseif singular then
      same(field.name .. " is there", value ~= nil, own ~= nil)
      if value then
        same(field.name, pb.decode(field.type_name, unpack(value)), own)
      end
    else
      local count = 0
      for k, v in pairs(value) do
        count = count + 1
        same(field.name, pb.decode(field.type_name or field.value.type_name, unpack(v)), rawget(own, k))
      end
      for _ in pairs(own or {}) do
        count = count - 1
      end
      same(field.name .. " is as long", count, 0)
    end
  end
end

-- Patterns read what decodes, and pack what they read.
local function flat(type_name, bytes, decoded, most)
  for i, pattern in ipairs(patterns[type_name]) do
    pb.option("max_bytes", most)
    local values = common.pack(pcall(pb.unpack, pattern, bytes))
    pb.option("max_bytes", 2 ^ 40)
    if not values[1] then
      common.is_error(values[2], type_name)
      if decoded and not values[2]:find("max_bytes", 1, true) then
        error(pattern .. ": " .. values[2])
      end
    elseif i <= 3 then
      local packed = pb.pack(pattern, unpack(values, 2, values.n))
      same("packed again", pb.pack(pattern, pb.unpack(pattern, packed)), packed)
    end
  end
end

return function(data)
  local take = common.taker(data, 1)
  local type_name = common.TYPES[take(#common.TYPES) + 1]
  local chosen = options(take)
  local bytes = data:sub(16)

  local message, problem = pb.decode(type_name, bytes)
  flat(type_name, bytes, message, chosen.max_bytes)
  if not message then
    common.is_error(problem, type_name)
    same("the last error", pb.lasterror(), problem)
    return
  end

  local encoded = pb.encode(type_name, message)
  local again = assert(pb.decode(type_name, encoded))
  same("decoded again", again, message, true)
  same("encoded again", pb.encode(type_name, again), encoded)
  same("by address", pb.encode(type_name, message, function(pointer, length)
    return (pb.decode(type_name, pointer, length))
  end), again)

  if chosen.defaults == "metatable" then
    local read = pb.decode(type_name, encoded)
    touch(read, type_name, 1)
    same("encoded when it was read", pb.encode(type_name, read), encoded)
    same("read and extracted", pb.extract(read), again)
    if chosen.enum == "number" then
      compare_flat(type_name, bytes, pb.decode(type_name, bytes))
    end
  end

  pb.option("defaults", "none")
  local bare = assert(pb.decode(type_name, bytes))
  pb.option("defaults", chosen.defaults)
  same("defaults given later", pb.default(type_name, bare), message)
end
