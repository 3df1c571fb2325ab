-- pbc's module "parser": compiles .proto files and registers them in the module "protobuf".
local protobuf = require "protobuf"

local parser = {}

-- Registers one file, or the files in a list, with all that they import. They are looked for in the folder `path`;
-- without one, they are named as they are given, and their imports lie beside them or are named like them.
-- Returns what register_proto does.
function parser.register(files, path)
  if path then
    return protobuf.register_proto(files, path)
  end
  local folders = { "." }
  for _, file in ipairs(type(files) == "table" and files or { files }) do
    folders[#folders + 1] = tostring(file):match "^(.*[/\\])"
  end
  return protobuf.register_proto(files, folders)
end

return parser
