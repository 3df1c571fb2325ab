-- Larger messages: an address book, a game world's snapshot, an order. Encoding and decoding, beside the time that
-- plain Lua needs to build the same tables.
--   lua lua/bench/messages.lua [seconds per measurement]
local protobuf = require "protobuf"

local duration = tonumber(arg[1]) or 0.3
local rounds = 5
local root = arg[0]:match("^(.*)lua[/\\]bench[/\\]") or ""
local records = dofile(root .. "lua/bench/records.lua")

local kept -- so that LuaJIT does not remove a table that nobody reads

local function run(task, count)
  collectgarbage()
  local start = os.clock()
  for _ = 1, count do
    kept = task()
  end
  return os.clock() - start
end

-- How often a task has to run to fill the time of one measurement.
local function calibrate(task)
  local count = 1
  while run(task, count) < duration / 10 do
    count = count * 2
  end
  return count * 10
end

local function median(times)
  table.sort(times)
  return times[(#times + 1) / 2]
end

-- Microseconds for each task, the medians of rounds that take turns.
local function measure(tasks)
  local counts, times = {}, {}
  for index, task in ipairs(tasks) do
    counts[index], times[index] = calibrate(task), {}
  end
  for round = 1, rounds do
    for index, task in ipairs(tasks) do
      times[index][round] = run(task, counts[index]) * 1e6 / counts[index]
    end
  end
  for index in ipairs(tasks) do
    times[index] = median(times[index])
  end
  return times
end

print(jit and jit.version or _VERSION)
print(("%-12s %7s %12s %12s %12s %14s"):format("", "bytes", "encode", "decode", "Lua floor", "decode / floor"))
for _, record in ipairs(records) do
  protobuf.register_file(root .. "descriptors/" .. record.file)
  local name, build = record.type, record.build
  local encode, decode = protobuf.encode, protobuf.decode
  local input = build()
  local bytes = encode(name, input)
  local times = measure {
    function()
      return encode(name, input)
    end,
    function()
      return decode(name, bytes)
    end,
    build,
  }
  print(("%-12s %7d %9.2f us %9.2f us %9.2f us %14.2f"):format(
    record.name, #bytes, times[1], times[2], times[3], times[2] / times[3]))
end
