-- What makes and tells LuaJIT's boxed 64-bit numbers.
local ffi = require "ffi"
local typeof, istype, tostring, sub = ffi.typeof, ffi.istype, tostring, string.sub
local int64, uint64 = typeof "int64_t", typeof "uint64_t"

-- A type itself passes for a value of that type, namely the type's own number; and a reference
-- passes for what it refers to.
local int64_number, uint64_number = int64 + 0, uint64 + 0
local int64_name, uint64_name = tostring(int64), tostring(uint64)

local function is_value(x, number, name)
  return tostring(typeof(x)) == name and (x ~= number or sub(tostring(x), 1, 5) ~= "ctype")
end

return int64, uint64, function(x)
  if istype(int64, x) then
    return is_value(x, int64_number, int64_name) and 1 or 0
  elseif istype(uint64, x) then
    return is_value(x, uint64_number, uint64_name) and 2 or 0
  end
  return 0
end
