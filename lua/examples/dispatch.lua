-- Messages with ids, as game servers have them, and calls of services: both found in the schema, without a list to keep.
--   cargo run --release -- lua/examples/dispatch.lua
--   LUA_CPATH="target/lua/5.4/?.so" lua5.4 lua/examples/dispatch.lua
local protobuf = require "protobuf"

local root = arg[0]:match("^(.*)lua[/\\]examples[/\\]") or ""
protobuf.register_file(root .. "descriptors/game.pb")

-- 1. In game.proto a message says its id: `option (msg_id) = 1001;`. These are all that do.
local id_of, type_of = {}, {}
for _, name in ipairs(protobuf.types "message") do
  local id = protobuf.schema_options(name)["game.msg_id"]
  if id then
    assert(not type_of[id], "two messages have one id")
    id_of[name], type_of[id] = id, name
    print(("%d is %s"):format(id, name))
  end
end
print()

-- 2. A frame is the id and the length of the message, two bytes each, and the message.
local function uint16(number)
  return string.char(math.floor(number / 256), number % 256)
end

local function frame(name, message)
  local bytes = protobuf.encode(name, message)
  assert(#bytes < 65536, "too long for a frame")
  return uint16(id_of[name]) .. uint16(#bytes) .. bytes
end

-- Calls the handlers of the frames in `bytes`. Returns what is left: the beginning of a frame, mostly.
local function dispatch(handlers, bytes)
  while #bytes >= 4 do
    local id, length = bytes:byte(1) * 256 + bytes:byte(2), bytes:byte(3) * 256 + bytes:byte(4)
    if #bytes < 4 + length then
      break
    end
    local name = type_of[id]
    local handler = name and handlers[name]
    if handler then
      -- Bytes come from the network: decode says what is wrong with them.
      local message, problem = protobuf.decode(name, bytes:sub(5, 4 + length))
      if message then
        handler(message)
      else
        print("refused: " .. problem)
      end
    else
      print(("no handler for message %d"):format(id))
    end
    bytes = bytes:sub(5 + length)
  end
  return bytes
end

local handlers = {
  ["game.Login"] = function(login)
    print("login of " .. login.account)
  end,
  ["game.Move"] = function(move)
    print(("move to %d, %d"):format(move.x, move.y))
  end,
}

local stream = frame("game.Login", { account = "alice" })
  .. frame("game.Move", { x = 3, y = -4 })
  .. frame("game.Chat", { text = "hello" })
  .. uint16(id_of["game.Move"]) .. uint16(1) .. "\8" -- a message that is cut off
  .. frame("game.Move", { x = 5 }):sub(1, 5) -- a frame whose rest is still under way
local rest = dispatch(handlers, stream)
print(("%d bytes of the next frame are there"):format(#rest))
print()

-- 3. Services are tables of functions. Each method knows its messages, and its options say who may call it.
local methods = {}
for _, service in ipairs(protobuf.services()) do
  for _, method in ipairs(protobuf.methods(service)) do
    method.role = protobuf.schema_options(service, method.name)["game.role"]
    methods[service .. "/" .. method.name] = method
  end
end

local implementation = {
  ["game.Gate/Enter"] = function(login, session)
    session.player = 7
    return { player = 7, friends = { "bob", login.account == "alice" and "carol" or nil } }
  end,
  ["game.World/Walk"] = function(move)
    return { x = move.x, y = move.y }
  end,
}

-- Answers the bytes of a request with those of a response, or with nil and what is wrong.
local function serve(path, bytes, session)
  local method, run = methods[path], implementation[path]
  if not (method and run) then
    return nil, "there is no " .. path
  elseif method.role == "PLAYER" and not session.player then
    return nil, path .. " is for players"
  end
  local request, problem = protobuf.decode(method.input, bytes)
  if not request then
    return nil, problem
  end
  return protobuf.encode(method.output, run(request, session))
end

-- Calls a method as a client does.
local function call(path, request, session)
  local response, problem = serve(path, protobuf.encode(methods[path].input, request), session)
  return response and protobuf.decode(methods[path].output, response), problem
end

local session = {}
print(select(2, call("game.World/Walk", { x = 1 }, session)))
print("friends: " .. table.concat(call("game.Gate/Enter", { account = "alice" }, session).friends, ", "))
print("walked to x = " .. call("game.World/Walk", { x = 1 }, session).x)
