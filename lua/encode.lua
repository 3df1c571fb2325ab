-- `encode` where a C function cannot be yielded across: the function that gets the bytes is called from Lua.
local encode, buffer = ...

-- Keeps the buffer until the function has ended.
local function finish(_, ...)
  return ...
end

return function(type, table, f, ...)
  if f == nil then
    return encode(type, table)
  end
  local bytes, pointer, length = buffer(type, table)
  return finish(bytes, f(pointer, length, ...))
end
