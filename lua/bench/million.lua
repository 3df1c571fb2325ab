-- A million small messages there and back: the loop that compared pbc's table form and flat form, run on this library.
--   lua lua/bench/million.lua [iterations]
local protobuf = require "protobuf"

local count = tonumber(arg[1]) or 1000000
local root = arg[0]:match("^(.*)lua[/\\]bench[/\\]") or ""
protobuf.register_file(root .. "descriptors/addressbook.pb")

local kept -- so that LuaJIT does not remove a table that nobody reads

local function build()
  for _ = 1, count do
    kept = { name = "Alice", id = 123 }
  end
end

local function tables()
  for _ = 1, count do
    local person = { name = "Alice", id = 123 }
    local bytes = protobuf.encode("tutorial.Person", person)
    kept = protobuf.decode("tutorial.Person", bytes)
  end
end

local function flat()
  for _ = 1, count do
    local bytes = protobuf.pack("tutorial.Person name id", "Alice", 123)
    kept = protobuf.unpack("tutorial.Person name id", bytes)
  end
end

local function measure(name, loop)
  collectgarbage()
  local start = os.clock()
  loop()
  local seconds = os.clock() - start
  print(("%-28s %8.3f s %8.1f ns per iteration"):format(name, seconds, seconds * 1e9 / count))
end

print(("%d iterations on %s"):format(count, jit and jit.version or _VERSION))
measure("table: encode + decode", tables)
measure("flat: pack + unpack", flat)
measure("building the table alone", build)
