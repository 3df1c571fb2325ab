-- Answers the cases that formats.py wrote: lua formats.lua folder name
-- A case is a line "type hex form text", the latter in hex. The answer is what the text encodes to, and after a tab
-- what the message of the first hex is written as; "no message" where that fails.

local folder, name = arg[1], arg[2]
local common = dofile((arg[0]:match "^(.*)[/\\]" or ".") .. "/common.lua")
local pb, hex, bytes, line = common.pb, common.hex, common.bytes, common.line

local out = assert(io.open(folder .. "/" .. name .. "-formats.txt", "wb"))
for case in io.lines(folder .. "/formats.txt") do
  local type_name, digits, form, text = case:match "^(%S+) (%S+) (%S+) (%x*)_$"
  local value, problem = pb["from_" .. form](type_name, bytes(text))
  out:write(value and hex(pb.encode(type_name, value)) .. "_" or "no " .. line(problem), "\t")
  if digits == "-" then
    out:write "-"
  else
    local fine, written = pcall(pb["to_" .. form], type_name, bytes(digits:sub(1, -2)))
    out:write(fine and hex(written) .. "_" or "no " .. line(written))
  end
  out:write "\n"
end
out:close()
