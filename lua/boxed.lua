-- What makes and tells LuaJIT's boxed 64-bit numbers.
local ffi = require "ffi"
local int64, uint64, istype = ffi.typeof "int64_t", ffi.typeof "uint64_t", ffi.istype

-- A type itself passes for a value of that type, namely the type's own number.
local int64_number, uint64_number = int64 + 0, uint64 + 0
local function is_value(x)
  return tostring(x):sub(1, 5) ~= "ctype"
end

return int64, uint64, function(x)
  if istype(int64, x) then
    return (x ~= int64_number or is_value(x)) and 1 or 0
  elseif istype(uint64, x) then
    return (x ~= uint64_number or is_value(x)) and 2 or 0
  end
  return 0
end
