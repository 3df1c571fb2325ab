-- JSON and the text format: writing and reading the messages of the other benchmark, beside lua-cjson, if that is
-- installed, writing and reading an equal table.
--   lua lua/bench/formats.lua [seconds per measurement]
local protobuf = require "protobuf"
local installed, cjson = pcall(require, "cjson")

local duration = tonumber(arg[1]) or 0.3
local root = arg[0]:match("^(.*)lua[/\\]bench[/\\]") or ""
local records = dofile(root .. "lua/bench/records.lua")
local measure = dofile(root .. "lua/bench/measure.lua")

print(jit and jit.version or _VERSION)
for _, record in ipairs(records) do
  protobuf.register_file(root .. "descriptors/" .. record.file)
  local name, input = record.type, record.build()
  local bytes = protobuf.encode(name, input)
  local json, text = protobuf.to_json(name, input), ""
  local lines = {
    { "to_json from a table", function() return protobuf.to_json(name, input) end },
    { "to_json from bytes", function() return protobuf.to_json(name, bytes) end },
    { "from_json", function() return protobuf.from_json(name, json) end },
  }
  if installed then
    lines[4] = { "cjson.encode", function() return cjson.encode(input) end }
    lines[5] = { "cjson.decode", function() return cjson.decode(json) end }
  end
  local tasks = {}
  for i, line in ipairs(lines) do
    tasks[i] = line[2]
  end
  local times = measure(duration, tasks)
  print(("%s: %d bytes, %d of JSON, %d of text"):format(record.name, #bytes, #json, #text))
  local peers = installed and { times[4], times[4], times[5] } or {}
  for i, line in ipairs(lines) do
    local ratio = peers[i] and ("  %.2f of lua-cjson's"):format(times[i] / peers[i]) or ""
    print(("  %-20s %9.2f us%s"):format(line[1], times[i], ratio))
  end
end
