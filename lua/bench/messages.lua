-- Larger messages: an address book, a game world's snapshot, an order. Encoding and decoding, beside the time that
-- plain Lua needs to build the same tables.
--   lua lua/bench/messages.lua [seconds per measurement]
local protobuf = require "protobuf"

local duration = tonumber(arg[1]) or 0.3
local root = arg[0]:match("^(.*)lua[/\\]bench[/\\]") or ""
local records = dofile(root .. "lua/bench/records.lua")
local measure = dofile(root .. "lua/bench/measure.lua")

print(jit and jit.version or _VERSION)
print(("%-12s %7s %12s %12s %12s %14s"):format("", "bytes", "encode", "decode", "Lua floor", "decode / floor"))
for _, record in ipairs(records) do
  protobuf.register_file(root .. "descriptors/" .. record.file)
  local name, build = record.type, record.build
  local encode, decode = protobuf.encode, protobuf.decode
  local input = build()
  local bytes = encode(name, input)
  local times = measure(duration, {
    function()
      return encode(name, input)
    end,
    function()
      return decode(name, bytes)
    end,
    build,
  })
  print(("%-12s %7d %9.2f us %9.2f us %9.2f us %14.2f"):format(
    record.name, #bytes, times[1], times[2], times[3], times[2] / times[3]))
end
