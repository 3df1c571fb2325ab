-- The input is a pattern, a zero byte, and bytes to unpack, of which values to pack are made too. Bytes from 128 on stand
-- for words that patterns are made of.
local common = require "common"
local make = require "make"
local same, unpack = common.same, common.unpack

local pb = common.instance { sort_map = true }
local fields = common.fields_of(pb)

local WORDS = { " ", ".", "[", "]" }
for _, name in ipairs(common.TYPES) do
  WORDS[#WORDS + 1] = name .. " "
end
for _, name in ipairs { "every3.Wide", "every3.Color", "google.protobuf.Any", "google.protobuf.Struct", "every2.Inner", "ext.Inner" } do
  WORDS[#WORDS + 1] = name .. " "
end
for word in ([[
  o_double o_string o_bytes o_color o_inner ogroup r_int32 r_string r_inner rgroup p_int32 d_int64 a b inner list
  s_int32 s_uint64 s_string s_color s_inner v_inner k_int32 k_string n_inner v_all c_int32 c_inner c_string x_empty x_uint64
  self selves signed r_signed end nil n536870911 struct value any fields at seconds
  a_field_whose_name_is_longer_than_forty_characters implicit explicit closed closeds prefixed map choice needed
  [edition2023_all.number] [edition2023_all.all] outside id [ext.inner] [ext.inners] [ext.number] ext.Scope.text [ext.First.first]
  [inners] [bare] [plain] f1 f80
]]):gmatch "%S+" do
  WORDS[#WORDS + 1] = word
end

local function expand(text)
  return (text:gsub("[\128-\255]", function(c)
    return WORDS[c:byte() - 127] or c
  end))
end

-- Errors name the type, as far as there is one.
local function is_error(message, pattern)
  local first = pattern:match "^[%s]*%.?([^%s]*)"
  local named = first ~= "" and message:find(first:sub(1, 20), 1, true)
  if type(message) ~= "string" or not (message:find("pattern", 1, true) or message:find("unknown type", 1, true) or named
    or message:find("[\\\128-\255]")) then
    error("no error of " .. common.show(pattern) .. ": " .. common.show(message), 2)
  end
end

-- Values that unpack gave pack to bytes that give the same values, but for lists, which have no place for one value, and for
-- members of oneofs by way of their message: those that are absent read 0.
local function packs_again(pattern, ...)
  local fine, packed = pcall(pb.pack, pattern, ...)
  if fine then
    same("packed again", pb.pack(pattern, pb.unpack(pattern, packed)), packed)
  elseif not (packed:find("goes through a list", 1, true) or packed:find(": oneof ", 1, true)) then
    error("not packed: " .. packed, 2)
  end
end

return function(data)
  local cut = data:find("\0", 1, true) or #data + 1
  local pattern, bytes = expand(data:sub(1, cut - 1)), data:sub(cut + 1)
  pb.check(pattern)
  pb.decode(pattern, bytes)

  local values = common.pack(pcall(pb.unpack, pattern, bytes))
  if not values[1] then
    is_error(values[2], pattern)
  else
    packs_again(pattern, unpack(values, 2, values.n))
  end

  -- As many values as names or so, for fields of any type.
  local maker = make.maker(pb, fields, bytes, 1, true)
  local made = {}
  for i = 1, maker.take(8) do
    local known = fields["every3.All"]
    made[i] = maker.value(known[maker.take(256) % #known + 1], 2)
  end
  local fine, packed = pcall(pb.pack, pattern, unpack(made, 1, #made))
  if not fine then
    is_error(packed, pattern)
  else
    packs_again(pattern, pb.unpack(pattern, packed))
  end
end
