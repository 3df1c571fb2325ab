-- Runs the Lua blocks of documents, in the root of the project: lua tests/documents.lua README.md
-- Those of a document are one program, in which text outside of them counts as empty lines. What it prints must be what
-- its comments `--> ...` say, in this order. Documents expect a state of their own: one is run at a time.

local document = assert(arg[1], "which document?")

local lines, promised = {}, {}
local inside = false
for line in io.lines(document) do
  local word = line:match "^%s*(.-)%s*$"
  if word == "```lua" then
    inside = true
  elseif word == "```" then
    inside = false
  end
  lines[#lines + 1] = inside and word ~= "```lua" and line or ""
  local text = lines[#lines]:match "%-%-> (.-)%s*$"
  if text then
    promised[#promised + 1] = { text = text, line = #lines }
  end
end
local program = table.concat(lines, "\n")
assert(program:find "%S", document .. " has no examples")

local say = print
local printed = {}
function print(...)
  local words = {}
  for i = 1, select("#", ...) do
    words[i] = tostring((select(i, ...)))
  end
  printed[#printed + 1] = table.concat(words, " ")
end

assert((loadstring or load)(program, "@" .. document))()

for i, promise in ipairs(promised) do
  if printed[i] ~= promise.text then
    error(("%s:%d: printed %s instead of %s"):format(document, promise.line, tostring(printed[i]), promise.text), 0)
  end
end
assert(#printed == #promised, document .. " prints more than it says")
say(("%s: %d lines printed, as it says"):format(document, #printed))
