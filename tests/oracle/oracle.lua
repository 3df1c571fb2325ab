-- Answers the cases that oracle.py wrote: lua oracle.lua folder name
-- A case is a line "type hex [constructor]"; the answers to it are lines in the file of that name:
-- "ok hex dump" (what the decoded bytes encode to, and their values) or "no message", and for a constructor
-- "ok hex" or "no message".

local folder, name = arg[1], arg[2]
local protobuf = require "protobuf"
local load = loadstring or load
local has_integers = math.type ~= nil

local common = dofile((arg[0]:match "^(.*)[/\\]" or ".") .. "/common.lua")
local pb, hex, bytes, line = common.pb, common.hex, common.bytes, common.line

-- The text that a value has in both languages, floats as fractions.
local function dump(value)
  local kind = type(value)
  if kind == "string" then
    return '"' .. hex(value) .. '"'
  elseif kind == "number" then
    if value ~= value then
      return "nan"
    elseif has_integers and math.type(value) == "integer" then
      return ("%d"):format(value)
    end
    local twos = 0
    while value - value == 0 and value ~= math.floor(value) do
      value = value * 2
      twos = twos + 1
    end
    return ("%.0f"):format(value) .. (twos > 0 and "/2^" .. twos or "")
  elseif kind == "table" then
    local parts = {}
    for k, v in next, value do
      if k ~= protobuf.UNKNOWN then
        parts[#parts + 1] = dump(k) .. "=" .. dump(v)
      end
    end
    table.sort(parts)
    return "{" .. table.concat(parts, ",") .. "}"
  elseif kind == "cdata" then
    return (tostring(value):gsub("U?LL$", ""))
  end
  return tostring(value)
end

local out = assert(io.open(folder .. "/" .. name .. ".txt", "wb"))
for case in io.lines(folder .. "/cases.txt") do
  local type_name, digits, constructor = case:match "^(%S+) (%x*)_ ?(.*)$"
  local value, message = pb.decode(type_name, bytes(digits))
  if value then
    out:write("ok ", hex(pb.encode(type_name, value)), "_ ", dump(value), "\n")
  else
    out:write("no ", line(message), "\n")
  end
  if constructor ~= "" then
    local built = assert(load("return " .. constructor))()
    local fine, encoded = pcall(pb.encode, type_name, built)
    out:write(fine and "ok " .. hex(encoded) .. "_" or "no " .. line(encoded), "\n")
  end
end
out:close()
