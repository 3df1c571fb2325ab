-- What Google's test runner starts: answers its requests, which come on the standard input, on the standard output.
--   lua tests/conformance/testee.lua [tables|bytes]
-- JSON and text are made of decoded tables; with "bytes", straight from the bytes of a message.

local protobuf = require "protobuf"

local way = arg[1] or "tables"
assert(way == "tables" or way == "bytes", "tables or bytes?")
assert(#arg <= 1, "too many arguments")
protobuf.register_file((arg[0]:match "^(.*)/" or ".") .. "/conformance.pb")

local printers = {
  JSON = function(name, message)
    return protobuf.to_json(name, message)
  end,
  TEXT_FORMAT = function(name, message, request)
    return protobuf.to_text(name, message, { unknown = request.print_unknown_fields })
  end,
}
local answers = { PROTOBUF = "protobuf_payload", JSON = "json_payload", TEXT_FORMAT = "text_payload" }

-- The message of a request as a table, or nil and why there is none.
local function parse(request)
  local name = request.message_type
  if request.protobuf_payload then
    local message, problem = protobuf.decode(name, request.protobuf_payload)
    return message or nil, problem
  elseif request.json_payload then
    local lenient = request.test_category == "JSON_IGNORE_UNKNOWN_PARSING_TEST"
    return protobuf.from_json(name, request.json_payload, { ignore_unknown = lenient })
  elseif request.text_payload then
    return protobuf.from_text(name, request.text_payload)
  end
  error("a request without a payload", 0)
end

-- The message in the format that the request wants; raises where it cannot be written.
local function write(request, message)
  local name, printer = request.message_type, printers[request.requested_output_format]
  if not printer then
    return protobuf.encode(name, message)
  elseif way == "tables" then
    return printer(name, message, request)
  end
  return printer(name, request.protobuf_payload or protobuf.encode(name, message), request)
end

-- The runner takes errors in UTF-8 only.
local function told(problem)
  return (tostring(problem):gsub("[\128-\255]", "?"))
end

local function respond(request)
  if request.jspb_payload or request.requested_output_format == "JSPB" then
    return { skipped = "JSPB is known within Google only" }
  end
  local answer = answers[request.requested_output_format]
  if not answer then
    return { runtime_error = "unknown output format " .. request.requested_output_format }
  end

  local parsed, message, problem = pcall(parse, request)
  if not parsed then
    return { runtime_error = told(message) }
  elseif not message then
    return { parse_error = told(problem) }
  end
  local written, result = pcall(write, request, message)
  return written and { [answer] = result } or { serialize_error = told(result) }
end

-- The bytes of the next request, or nil where they end.
local function read()
  local prefix = io.read(4)
  if not prefix then
    return nil
  end
  assert(#prefix == 4, "the input ends within a length")
  local a, b, c, d = prefix:byte(1, 4)
  local length = a + b * 2 ^ 8 + c * 2 ^ 16 + d * 2 ^ 24
  if length == 0 then
    return ""
  end
  local bytes = io.read(length)
  assert(bytes and #bytes == length, "the input ends within a request")
  return bytes
end

local function send(bytes)
  local length, prefix = #bytes, {}
  for i = 1, 4 do
    prefix[i] = string.char(length % 256)
    length = math.floor(length / 256)
  end
  io.write(table.concat(prefix), bytes)
  io.flush()
end

-- The runner's first request is for the tests that are known to fail, an empty conformance.FailureSet in and out.
for bytes in read do
  local request = assert(protobuf.decode("conformance.ConformanceRequest", bytes))
  local response = "conformance.ConformanceResponse"
  local made, answer = pcall(protobuf.encode, response, respond(request))
  send(made and answer or protobuf.encode(response, { runtime_error = told(answer) }))
end
