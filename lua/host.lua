-- How the host program runs Lua: like the stand-alone interpreter, with an error shown as its message and a traceback.
-- The chunk is named "[host]", which is where `describe` cuts the traceback.
local xpcall, type, tostring, select = xpcall, type, tostring, select
local unpack = table.unpack or unpack
local load, loadfile = loadstring or load, loadfile
local getmetatable, traceback = debug.getmetatable, debug.traceback

-- The message handler: what the user reads on stderr.
local function describe(message)
  if type(message) ~= "string" then
    local meta = getmetatable(message)
    if meta and meta.__tostring then
      return tostring(message)
    end
    message = "(error object is a " .. type(message) .. " value)"
  end
  local text = traceback(message, 2)
  local cut = text:find("\n\t[host]:", 1, true)
  return cut and text:sub(1, cut - 1) .. "\n\t[C]: in ?" or text
end

-- Calls a chunk that was loaded, or passes on why it was not. Returns nil, or what went wrong.
local function run(chunk, problem, ...)
  if not chunk then
    return problem
  end
  local arguments, count = { ... }, select("#", ...)
  -- Called as the result of a call, it has no name of ours: the traceback ends "in main chunk".
  local function main()
    return chunk
  end
  local ok, message = xpcall(function()
    main()(unpack(arguments, 1, count))
  end, describe)
  if not ok then
    return tostring(message)
  end
end

local host = {}

function host.code(text)
  return run(load(text, "=(command line)"))
end

-- The path "-" reads the script from the standard input.
function host.script(path, ...)
  local chunk, problem = loadfile(path ~= "-" and path or nil)
  return run(chunk, problem, ...)
end

return host
