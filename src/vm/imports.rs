//! What a module imports from the Lua that loads it.
//!
//! A shared object with an import that nobody has does not load, and the loader's message names
//! that function, which tells few what to do. So functions that some Lua lacks are imported
//! weakly: the module loads in every Lua, and says itself which one it is for.

use std::ffi::CStr;

// All functions of the C API that the builds import and that one of the Luas lacks.
std::arch::global_asm!(
    ".weak luaL_loadbuffer",
    ".weak luaL_loadbufferx",
    ".weak lua_call",
    ".weak lua_callk",
    ".weak lua_copy",
    ".weak lua_getctx",
    ".weak lua_getglobal",
    ".weak lua_insert",
    ".weak lua_isinteger",
    ".weak lua_newuserdata",
    ".weak lua_newuserdatauv",
    ".weak lua_objlen",
    ".weak lua_pcall",
    ".weak lua_pcallk",
    ".weak lua_rawlen",
    ".weak lua_remove",
    ".weak lua_replace",
    ".weak lua_rotate",
    ".weak lua_tointegerx",
    ".weak lua_tonumber",
    ".weak lua_tonumberx",
);

/// Functions that tell a Lua from those before it, the newest Lua first.
const TELLING: [(&CStr, &str); 5] = [
    (c"luaJIT_setmode", "LuaJIT"),
    (c"lua_numbertocstring", "Lua 5.5"),
    (c"lua_newuserdatauv", "Lua 5.4"),
    (c"lua_rotate", "Lua 5.3"),
    (c"lua_getctx", "Lua 5.2"),
];

/// The Lua that the imports come from, told by what it has.
pub fn provider() -> &'static str {
    let has = |name: &CStr| {
        // SAFETY: the name ends with a zero; looking it up calls nothing.
        !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.is_null()
    };
    TELLING.iter().find(|(name, _)| has(name)).map_or("Lua 5.1", |(_, lua)| lua)
}
