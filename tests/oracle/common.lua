-- What the scripts of this folder share: an instance with the types, hex, and messages on one line.
local protobuf = require "protobuf"

local common = { pb = protobuf.new { required = "ignore" } }
for _, set in ipairs { "every2", "every3", "bare", "edition2023_all" } do
  local file = assert(io.open("descriptors/" .. set .. ".pb", "rb"))
  common.pb.register(file:read "*a")
  file:close()
end

function common.hex(bytes)
  return (bytes:gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end))
end

function common.bytes(digits)
  return (digits:gsub("%x%x", function(pair)
    return string.char(tonumber(pair, 16))
  end))
end

function common.line(text)
  return (tostring(text):gsub("%c", " "))
end

return common
