-- What makes and tells LuaJIT's boxed 64-bit numbers.
local ffi = require "ffi"
local int64, uint64, istype = ffi.typeof "int64_t", ffi.typeof "uint64_t", ffi.istype
return int64, uint64, function(value)
  return istype(int64, value) and 1 or istype(uint64, value) and 2 or 0
end
