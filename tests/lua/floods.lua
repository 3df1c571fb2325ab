-- Keys and strings made to collide in Lua's tables: what each costs is charged to max_bytes.

local h = ...
local pb = h.instance { max_bytes = 8000000 }

local COUNT = 9000

local function word(n)
  local bytes = {}
  for i = 1, 4 do
    bytes[i] = string.char(n % 256)
    n = math.floor(n / 256)
  end
  return table.concat(bytes)
end

-- Keys of 64 bits that all fall into one slot: as a function from their number to the lower and upper half.
local colliding
if jit then
  local bit = require "bit"
  local high = bit.lshift(0x43300000, 1)
  local turned = bit.rol(high, 14)
  local again = bit.band(bit.rol(turned, 5), 0x1ffff)
  local lows = {}
  for u = 0, 0x1ffff do
    local rest = bit.bxor(again, u)
    if bit.rshift(rest, 13) == bit.band(u, 15) then
      for w = 0, 3 do
        local mixed = bit.bor(bit.lshift(bit.band(rest, 0x1fff), 19), bit.lshift(w, 17), u)
        lows[#lows + 1] = bit.bxor(bit.tobit(mixed + turned), high) % 2 ^ 32
      end
    end
  end
  function colliding(i)
    return lows[i], 0x00100000
  end
elseif _VERSION == "Lua 5.1" then
  function colliding(i)
    return 2 ^ 31 - i, 0x00100000 + i
  end
elseif _VERSION == "Lua 5.2" then
  function colliding(i)
    return 2 ^ 31 - i - 1, 0x00100000 + i
  end
elseif _VERSION == "Lua 5.3" then
  function colliding(i)
    return i % 256 * 2 ^ 24, math.floor(i / 256)
  end
else
  -- In tables of 2^14 to 2^16 slots.
  local step = 16383 * 32767 * 65535
  function colliding(i)
    local low = i * step % 4294967296
    return low, (i * step - low) / 4294967296
  end
end

local function number(key, i)
  local low, high = key(i)
  return h.field(90, "\9" .. word(low) .. word(high) .. "\16\5")
end

local function numbers(key, n)
  local entries = {}
  for i = 1, n or COUNT do
    entries[i] = number(key, i)
  end
  return entries
end

local function count(map)
  local n = 0
  for _ in pairs(map) do
    n = n + 1
  end
  return n
end

-- In steps.
local function usual(step)
  return function(i)
    return i * step % 2 ^ 32, math.floor(i * step / 2 ^ 32)
  end
end

-- Strings of which every other byte counts.
local function alike(i)
  local bytes = {}
  for place = 1, 18 do
    bytes[place] = string.char(97 + i % 8) .. "x"
    i = math.floor(i / 8)
  end
  return table.concat(bytes)
end

local texts = {}
for i = 1, COUNT do
  texts[i] = alike(i)
end

local function strings(make)
  local list = {}
  for i, text in ipairs(texts) do
    list[i] = make(text)
  end
  return table.concat(list)
end

h.test("numbers as keys", function()
  local bytes = table.concat(numbers(colliding))
  h.refuses("every3.All.k_sfixed64: too large for option max_bytes, at byte ", pb.decode("every3.All", bytes))
  h.raises("too large for option max_bytes", pb.unpack, "every3.All k_sfixed64", bytes)
  h.raises("too large for option max_bytes", pb.unpack, "every3.All self.k_sfixed64", h.field(131, bytes))
end)

h.test("one key of many that collide, again and again", function()
  local first, again = table.concat(numbers(colliding, 1000)), number(colliding, 1000)
  h.eq(count(pb.decode("every3.All", first).k_sfixed64), 1000)
  h.refuses("too large for option max_bytes", pb.decode("every3.All", first .. again:rep(20000)))
  -- With new ones between.
  local entries = numbers(colliding, 2000)
  for i, entry in ipairs(entries) do
    entries[i] = entry .. again:rep(30)
  end
  h.refuses("too large for option max_bytes", pb.decode("every3.All", table.concat(entries)))
end)

h.test("numbers that do not collide", function()
  local ample = h.instance { max_bytes = 20000000 }
  for _, step in ipairs { 1, 10, 3600, 4161, 33000 } do
    local entries = numbers(usual(step), 50000)
    h.eq(count(assert(ample.decode("every3.All", table.concat(entries))).k_sfixed64), 50000, step)
    h.eq(count(ample.unpack("every3.All k_sfixed64", table.concat(entries))), 50000)
  end
end)

h.test("numbers as keys of a map in parts", function()
  local bytes = table.concat(numbers(colliding, 12000), "\8\1")
  h.refuses("too large for option max_bytes", pb.decode("every3.All", bytes))
end)

h.test("colliding keys are only slow when max_bytes allows for it", function()
  local patient = h.instance { max_bytes = 2 ^ 40 }
  h.eq(count(patient.decode("every3.All", table.concat(numbers(colliding))).k_sfixed64), COUNT)
end)

-- Where they collide, all of these are refused; elsewhere all are taken.
local collide = not jit and _VERSION < "Lua 5.4"
local function judged(where, make)
  local message, err = pb.decode("every3.All", strings(make))
  if collide then
    h.refuses("too large for option max_bytes", message, err)
  else
    h.eq(err, nil, where)
  end
end

h.test("strings", function()
  judged("as keys", function(text) return h.field(92, h.field(1, text) .. "\16\5") end)
  judged("as values of a map", function(text) return h.field(114, "\10\1a" .. h.field(2, text)) end)
  judged("in a list", function(text) return h.field(54, text) end)
  judged("one after the other", function(text) return h.field(14, text) end)
  judged("of a oneof", function(text) return h.field(122, text) end)
  judged("as unknown fields of messages", function(text) return h.field(132, h.field(9999, text)) end)
  judged("as unknown fields in parts", function(text) return h.field(132, h.field(9999, text) .. "\24\1\200\1\0") end)
end)

h.test("strings as messages of a list that stay bytes", function()
  local groups = strings(function(text) return h.bytes "b3 02" .. h.field(9999, text) .. h.bytes "b4 02" end)
  local fine, message = pcall(pb.unpack, "every2.All rgroup", groups)
  h.eq(fine, not collide, message)
end)
