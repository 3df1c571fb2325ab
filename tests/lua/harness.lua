-- What the test files share: tests, comparisons, bytes from hex, and what differs between the Luas.
-- Written in the Lua that 5.1 to 5.5 and LuaJIT have in common.

-- With PROTOBUF_TEST_FFI=no, LuaJIT runs the suite as one that was built without ffi.
if os.getenv "PROTOBUF_TEST_FFI" == "no" then
  package.loaded.ffi = nil
  package.preload.ffi = function()
    error("ffi is hidden from this test run", 0)
  end
end

local protobuf = require "protobuf"

local harness = { protobuf = protobuf, passed = 0, failed = 0, subject = "", filters = {}, descriptors = "descriptors" }

harness.integers = math.type ~= nil
harness.jit = type(jit) == "table"
harness.ffi = false
if harness.jit then
  local found, ffi = pcall(require, "ffi")
  harness.ffi = found and ffi
end

-- Whether the build compiles .proto text.
harness.compiles = not tostring(select(2, pcall(protobuf.new().register_source, ""))):find "cargo feature"

harness.unpack = table.unpack or unpack
harness.load = loadstring or load
harness.inf = 1 / 0
harness.nan = 0 / 0

-- Makes a value whose finalizer calls f.
function harness.finalized(f)
  if newproxy then
    getmetatable(newproxy(true)).__gc = f
  else
    setmetatable({}, { __gc = f })
  end
end

-- Printing ----------------------------------------------------------------------------------------------------------

-- The lowercase hex of a string.
function harness.hex(bytes)
  return (bytes:gsub(".", function(c)
    return ("%02x"):format(c:byte())
  end))
end

-- The string that hex digits, grouped by spaces as one likes, stand for.
function harness.bytes(hex)
  hex = hex:gsub("%s+", "")
  assert(#hex % 2 == 0 and not hex:find("%X"), "not hex: " .. hex)
  return (hex:gsub("%x%x", function(digits)
    return string.char(tonumber(digits, 16))
  end))
end

local function show(value, depth)
  if type(value) == "string" then
    if #value > 1000 then
      return show(value:sub(1, 1000), depth) .. "... of " .. #value
    end
    return value:find("[%c\128-\255]") and "bytes " .. harness.hex(value) or ("%q"):format(value)
  elseif type(value) == "number" then
    if value ~= value then
      return "nan"
    elseif math.type and math.type(value) == "integer" then
      return tostring(value)
    elseif value == 0 then
      return 1 / value < 0 and "-0.0" or "0.0"
    end
    return ("%.17g"):format(value) .. (harness.integers and " (float)" or "")
  elseif type(value) ~= "table" then
    return tostring(value)
  elseif depth == 0 then
    return "{...}"
  end
  local parts = {}
  for k, v in next, value do
    if #parts == 40 then
      parts[41] = "..."
      break
    end
    parts[#parts + 1] = "[" .. show(k, 0) .. "]=" .. show(v, depth - 1)
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- Comparing ---------------------------------------------------------------------------------------------------------

local function differ(got, want, path)
  if type(got) == "table" and type(want) == "table" then
    for k, v in next, want do
      local difference = differ(rawget(got, k), v, path .. "[" .. show(k, 0) .. "]")
      if difference then
        return difference
      end
    end
    for k, v in next, got do
      if rawget(want, k) == nil then
        return path .. "[" .. show(k, 0) .. "] should be absent, is " .. show(v, 2)
      end
    end
    return nil
  end
  local same
  if type(got) == "cdata" or type(want) == "cdata" then
    same = type(got) == type(want) and tostring(got) == tostring(want)
  elseif type(got) == "number" and type(want) == "number" then
    same = show(got) == show(want)
  else
    same = rawequal(got, want)
  end
  if not same then
    return ("%s should be %s, is %s"):format(path == "" and "it" or path, show(want, 3), show(got, 3))
  end
end

-- LuaJIT 2.1 as Debian 12 has it may loop forever when a finalizer runs these compiled.
if harness.jit then
  jit.off(differ, true)
  jit.off(show, true)
end

-- Fails unless the values are the same. Tables are compared raw and deeply; NaN is NaN, -0.0 is not 0.0, and where
-- there are integers, 1 is not 1.0.
function harness.eq(got, want, what)
  local difference = differ(got, want, "")
  if difference then
    error((what and what .. ": " or "") .. difference, 2)
  end
end

-- Whether the parts of a text, which are separated by "...", occur in a message in this order.
local function matches(message, text)
  local from = 1
  for part in (text .. "..."):gmatch("(.-)%.%.%.") do
    local _, last = message:find(part, from, true)
    if not last then
      return false
    end
    from = last + 1
  end
  return true
end

-- Fails unless calling fn raises a string that contains the text; "..." in the text stands for anything.
-- Returns the message.
function harness.raises(text, fn, ...)
  local fine, message = pcall(fn, ...)
  if fine then
    error(("should raise %q, returned %s"):format(text, show(message, 2)), 2)
  elseif type(message) ~= "string" or not matches(message, text) then
    error(("should raise %q, raised %s"):format(text, show(message, 2)), 2)
  end
  return message
end

-- Fails unless the results are false and a string that contains the text. Use: refuses(text, decode(...)).
-- Returns the message.
function harness.refuses(text, result, message)
  if result ~= false then
    error(("should refuse with %q, returned %s"):format(text, show(result, 3)), 2)
  elseif type(message) ~= "string" or not matches(message, text) then
    error(("should refuse with %q, refused with %s"):format(text, show(message, 2)), 2)
  end
  return message
end

-- Fails unless the results are nil and a string that contains the text, which lasterror gives too. Use:
-- declines(pb, text, pb.from_json(...)).
function harness.declines(pb, text, result, message)
  if result ~= nil then
    error(("should decline with %q, returned %s"):format(text, show(result, 3)), 2)
  elseif type(message) ~= "string" or not matches(message, text) then
    error(("should decline with %q, declined with %s"):format(text, show(message, 2)), 2)
  elseif pb.lasterror() ~= message then
    error(("lasterror should be %q, is %s"):format(message, show(pb.lasterror(), 2)), 2)
  end
end

-- Fails unless a table, its bytes and a text stand for each other in a format, "json" or "text".
function harness.written(pb, format, name, value, text)
  harness.eq(pb["to_" .. format](name, value), text)
  harness.eq(pb["to_" .. format](name, pb.encode(name, value)), text)
  harness.eq(pb["from_" .. format](name, text), value, text)
end

-- Fails unless the type encodes the table to these bytes.
function harness.encodes(pb, name, value, hex)
  local got, want = harness.hex(pb.encode(name, value)), harness.hex(harness.bytes(hex))
  if got ~= want then
    error(("%s encodes %s to\n    %s, should be\n    %s"):format(name, show(value, 3), got, want))
  end
end

-- Fails unless the type decodes the bytes to this table. Returns the decoded table.
function harness.decodes(pb, name, hex, value)
  local got, message = pb.decode(name, harness.bytes(hex))
  if got == false then
    error(("%s does not decode %s: %s"):format(name, hex, message))
  end
  local difference = differ(got, value, "")
  if difference then
    error(("%s decodes %s wrongly: %s"):format(name, hex, difference))
  end
  return got
end

-- Fails unless table and bytes stand for each other.
function harness.both(pb, name, value, hex)
  harness.encodes(pb, name, value, hex)
  harness.decodes(pb, name, hex, value)
end

-- 64-bit numbers ----------------------------------------------------------------------------------------------------

local function whole(digits, ctype)
  local sign, magnitude = digits:match("^(-?)(%d+)$")
  local exact = tonumber(magnitude)
  if not harness.integers and exact <= 2 ^ 53 and ("%.0f"):format(exact) == magnitude then
    return sign == "-" and -exact or exact
  elseif not harness.integers and not harness.ffi then
    return digits
  end
  local value = harness.ffi and harness.ffi.cast("uint64_t", 0) or 0
  for digit in magnitude:gmatch("%d") do
    value = value * 10 + tonumber(digit)
  end
  if sign == "-" then
    value = -value
  end
  return harness.ffi and harness.ffi.cast(ctype, value) or value
end

-- What decode gives on this Lua for a signed 64-bit number, written in decimal.
function harness.int64(digits)
  return whole(digits, "int64_t")
end

-- The same for an unsigned one.
function harness.uint64(digits)
  return whole(digits, "uint64_t")
end

-- Messages of any schema --------------------------------------------------------------------------------------------

-- The varint of a whole number below 2^53.
function harness.varint(number)
  local out = ""
  while number >= 128 do
    out = out .. string.char(number % 128 + 128)
    number = math.floor(number / 128)
  end
  return out .. string.char(number % 128)
end

-- A length-delimited field.
function harness.field(number, bytes)
  return harness.varint(number * 8 + 2) .. harness.varint(#bytes) .. bytes
end

-- A FileDescriptorProto in the wire format; messages are the bytes that harness.message gives.
function harness.file(name, package, messages, syntax)
  local field = harness.field
  local out = field(1, name) .. field(2, package)
  for _, message in ipairs(messages) do
    out = out .. field(4, message)
  end
  return out .. (syntax and field(12, syntax) or "")
end

-- A DescriptorProto whose fields are { name, number, label, type [, type name] }, in the numbers of descriptor.proto.
function harness.message(name, fields)
  local field, varint = harness.field, harness.varint
  local out = field(1, name)
  for _, f in ipairs(fields) do
    local bytes = field(1, f[1]) .. "\24" .. varint(f[2]) .. "\32" .. varint(f[3]) .. "\40" .. varint(f[4])
    out = out .. field(2, bytes .. (f[5] and field(6, f[5]) or ""))
  end
  return out
end

-- Instances ---------------------------------------------------------------------------------------------------------

-- The contents of a file.
function harness.read(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read("*a")
  file:close()
  return bytes
end

-- Calls fn with a folder, and a function that writes a file there and gives its path; removes the files afterwards.
-- All names begin with a word that nobody else uses, since plain Lua makes no folders; "@" in the text stands for it.
function harness.with_files(fn)
  local own = os.tmpname()
  local folder, word = own:match "^(.*)[/\\]([^/\\]*)$"
  local written = { own }
  local fine, message = pcall(fn, folder, function(name, text)
    local path = folder .. "/" .. word .. name
    local file = assert(io.open(path, "wb"))
    file:write((text:gsub("@", word)))
    file:close()
    written[#written + 1] = path
    return path, word .. name
  end)
  for _, path in ipairs(written) do
    os.remove(path)
  end
  if not fine then
    error(message, 0)
  end
end

local sets = {}

-- The compiled descriptors of this name.
function harness.set(name)
  sets[name] = sets[name] or harness.read(harness.descriptors .. "/" .. name .. ".pb")
  return sets[name]
end

-- A new instance that knows all the descriptors.
function harness.instance(options)
  local pb = protobuf.new(options)
  for _, name in ipairs { "addressbook", "order", "login", "world", "every2", "every3" } do
    pb.register(harness.set(name))
  end
  return pb
end

-- Running -----------------------------------------------------------------------------------------------------------

-- Whether a filter admits the test of this name, or there is none.
local function admitted(name)
  for _, filter in ipairs(harness.filters) do
    if name:find(filter, 1, true) then
      return true
    end
  end
  return #harness.filters == 0
end

-- Runs one test now, if it is admitted.
function harness.test(name, fn)
  name = harness.subject .. ": " .. name
  if not admitted(name) then
    return
  end
  local fine, message = xpcall(fn, debug.traceback)
  if fine then
    harness.passed = harness.passed + 1
  else
    harness.failed = harness.failed + 1
    print("FAILED " .. name .. "\n  " .. tostring(message))
  end
end

-- Runs a file of tests, which gets the harness as its argument.
function harness.run(path, subject)
  harness.subject = subject
  local chunk, message = loadfile(path)
  if chunk then
    local fine
    fine, message = xpcall(function()
      chunk(harness)
    end, debug.traceback)
    if fine then
      return
    end
  end
  harness.failed = harness.failed + 1
  print("FAILED " .. subject .. "\n  " .. tostring(message))
end

return harness
