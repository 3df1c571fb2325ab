//! What a module imports from the Lua that loads it.
//!
//! A shared object with an import that nobody has does not load, and the loader's message names
//! that function, which tells few what to do. So functions that some Lua lacks are imported
//! weakly: the module loads in every Lua, and says itself which one it is for. That holds for builds with
//! fat LTO, as the release profile has it: a strong reference from another object would win.

use std::ffi::CStr;

// All functions of the C API that the builds import and that one of the Luas lacks.
std::arch::global_asm!(
    ".weak luaL_loadbuffer",
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
    ".weak lua_version",
);

/// What this build needs and the Luas that it is not for lack, as far as it can be told so.
const NEEDED: &[&CStr] = if cfg!(any(feature = "lua51", feature = "luajit")) {
    &[c"lua_objlen", c"lua_call"]
} else if cfg!(feature = "lua52") {
    &[c"lua_getctx"]
} else if cfg!(feature = "lua53") {
    &[c"lua_rotate", c"lua_newuserdata"]
} else {
    &[c"lua_newuserdatauv"]
};

/// Functions that tell a Lua from those before it, the newest Lua first.
const TELLING: [(&CStr, &str); 5] = [
    (c"luaJIT_setmode", "LuaJIT"),
    (c"lua_numbertocstring", "Lua 5.5"),
    (c"lua_newuserdatauv", "Lua 5.4"),
    (c"lua_rotate", "Lua 5.3"),
    (c"lua_getctx", "Lua 5.2"),
];

/// The Lua that the imports come from, if it lacks some.
pub fn another() -> Option<&'static str> {
    if NEEDED.iter().all(|name| has(name)) {
        return None;
    }
    Some(TELLING.iter().find(|(name, _)| has(name)).map_or("Lua 5.1", |(_, lua)| lua))
}

fn has(name: &CStr) -> bool {
    // SAFETY: the name ends with a zero; looking it up calls nothing.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.is_null()
}
