-- Prints what a descriptor set or a .proto file defines, much as .proto text says it, from what the library tells of it.
--   cargo run --release -- lua/examples/dump.lua descriptors/game.pb
--   LUA_CPATH="target/lua/5.4/?.so" lua5.4 lua/examples/dump.lua descriptors/game.proto game.Login
local protobuf = require "protobuf"

local root = arg[0]:match("^(.*)lua[/\\]examples[/\\]") or ""
local file, wanted = arg[1] or root .. "descriptors/game.pb", arg[2]
local register = file:find("%.proto$") and protobuf.register_proto or protobuf.register_file
local _, missing = register(file)
if missing then
  print("// Not all is shown, for imports are missing: " .. table.concat(missing, ", "))
elseif wanted then
  assert(protobuf.schema_options(wanted)) -- raises if there is no such name
end

-- A value of an option or a default, on one line.
local function show(value)
  if type(value) == "string" then
    return ("%q"):format(value)
  elseif type(value) ~= "table" then
    return tostring(value)
  end
  local parts = {}
  for _, element in ipairs(value) do
    parts[#parts + 1] = show(element)
  end
  if #parts > 0 then
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  for key, part in pairs(value) do
    parts[#parts + 1] = key .. ": " .. show(part)
  end
  table.sort(parts)
  return "{ " .. table.concat(parts, ", ") .. " }"
end

-- The options of a type or a member, and what else there is to say, as a list of "name = value".
local function options(name, member, default)
  local parts = {}
  for key, value in pairs(protobuf.schema_options(name, member)) do
    local shown = key:find(".", 1, true) and "(" .. key .. ")" or key -- a custom one
    parts[#parts + 1] = shown .. " = " .. show(value)
  end
  table.sort(parts)
  if default ~= nil and default ~= "" and default ~= 0 and default ~= false then
    table.insert(parts, 1, "default = " .. show(default))
  end
  return parts
end

local function bracketed(parts)
  return #parts == 0 and "" or " [" .. table.concat(parts, ", ") .. "]"
end

local function comment(text, indent)
  for line in (text and text .. "\n" or ""):gmatch("([^\n]*)\n") do
    print(indent .. "// " .. line)
  end
end

local function open(keyword, name)
  comment(protobuf.comment(name), "")
  print(("%s %s {"):format(keyword, name))
  for _, option in ipairs(options(name)) do
    print(("  option %s;"):format(option))
  end
end

local function message(name)
  open("message", name)
  for _, field in ipairs(protobuf.fields(name)) do
    local kind = field.type_name or field.type
    if field.label == "map" then
      kind = ("map<%s, %s>"):format(field.key.type, field.value.type_name or field.value.type)
    elseif field.oneof then
      kind = ("oneof %s: %s"):format(field.oneof, kind)
    elseif field.label ~= "optional" or field.presence == "explicit" then
      kind = field.label .. " " .. kind
    end
    comment(field.comment, "  ")
    print(("  %s %s = %d%s;"):format(kind, field.name, field.number, bracketed(options(name, field.name, field.default))))
  end
  print("}\n")
end

local function enum(name)
  open("enum", name)
  for _, value in ipairs(protobuf.enum(name)) do
    comment(value.comment, "  ")
    print(("  %s = %d%s;"):format(value.name, value.number, bracketed(options(name, value.name))))
  end
  print("}\n")
end

local function service(name)
  open("service", name)
  for _, method in ipairs(protobuf.methods(name)) do
    local input = (method.client_streaming and "stream " or "") .. method.input
    local output = (method.server_streaming and "stream " or "") .. method.output
    comment(method.comment, "  ")
    print(("  rpc %s(%s) returns (%s)%s;"):format(method.name, input, output, bracketed(options(name, method.name))))
  end
  print("}\n")
end

local function each(names, print_one)
  for _, name in ipairs(names) do
    if not wanted or name == wanted then
      print_one(name)
    end
  end
end

each(protobuf.types "enum", enum)
each(protobuf.types "message", message)
each(protobuf.services(), service)
