-- Runs the suite: lua tests/lua/run.lua [part of the names to run]..., with "protobuf" in reach of require.

local folder = arg and arg[0] and arg[0]:match("^(.*)[/\\]") or (arg and arg[0] and "." or "tests/lua")
local harness = dofile(folder .. "/harness.lua")
package.path = folder .. "/../../lua/?.lua;" .. package.path
harness.descriptors = folder .. "/../../descriptors"
harness.filters = arg or {}

local subjects = {
  "register",
  "reload",
  "source",
  "scalars",
  "int64",
  "strings",
  "enums",
  "messages",
  "repeated",
  "maps",
  "oneof",
  "presence",
  "required",
  "unknown",
  "extensions",
  "editions",
  "defaults",
  "flat",
  "dotted",
  "json",
  "text",
  "options",
  "errors",
  "malformed",
  "wiretypes",
  "proxies",
  "callback",
  "reentry",
  "reflection",
  "instances",
  "arguments",
  "memory",
  "floods",
  "pbc",
}

for _, subject in ipairs(subjects) do
  harness.run(folder .. "/" .. subject .. ".lua", subject)
end

print(("%d passed, %d failed"):format(harness.passed, harness.failed))
if harness.failed > 0 then
  os.exit(1)
end
