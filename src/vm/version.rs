//! What depends on the Lua that runs: telling it, boxed numbers, and calls that may yield.

use std::ffi::c_int;

use mlua::ffi::{LUA_GCRESTART, LUA_GCSTOP, lua_gc, lua_gethook, lua_gethookcount, lua_gethookmask, lua_sethook};

use super::api::*;
use super::number::{PIN_BOXED, PIN_INT64, PIN_UINT64};
use super::stack::{raw_get_str, raw_set_str};
use crate::error::Text;

macro_rules! build_for {
    ($lua:literal) => {
        /// The Lua that this build is for.
        const WANTED: &str = $lua;
        /// Says so. In one piece, since installing looks for it in the file.
        const PURPOSE: &str = concat!("this build of protobuf is for ", $lua, ", but runs in ");
    };
}

#[cfg(feature = "lua51")]
build_for!("Lua 5.1");
#[cfg(feature = "lua52")]
build_for!("Lua 5.2");
#[cfg(feature = "lua53")]
build_for!("Lua 5.3");
#[cfg(feature = "lua54")]
build_for!("Lua 5.4");
#[cfg(feature = "lua55")]
build_for!("Lua 5.5");
#[cfg(feature = "luajit")]
build_for!("LuaJIT");

/// The pins of boxed numbers, which are nil where there are none.
pub const BOXED_PINS: [Slot; 3] = [PIN_INT64, PIN_UINT64, PIN_BOXED];

/// That the running Lua is the one that this build is for, whatever the program did to its globals.
///
/// # Errors
/// A text that tells both.
///
/// # Safety
/// Five free slots. May raise.
pub unsafe fn check_version(l: *mut lua_State) -> Result<(), Box<Text>> {
    // Nothing that another Lua may lack is called before this.
    #[cfg(all(feature = "module", target_os = "linux"))]
    if let Some(found) = super::imports::another() {
        return told(found);
    }
    // SAFETY: as the caller promises.
    unsafe { told(running(l)) }
}

/// The Lua that runs, of those that this build could run in at all.
#[cfg(any(feature = "lua51", feature = "luajit"))]
unsafe fn running(l: *mut lua_State) -> &'static str {
    // SAFETY: the registry is a table and has the same index in both.
    unsafe {
        let top = lua_gettop(l);
        push_bytes(l, b"_LOADED");
        lua_rawget(l, LUA_REGISTRYINDEX);
        let jit = lua_type(l, -1) == LUA_TTABLE && {
            raw_get_str(l, -1, "jit");
            lua_type(l, -1) == LUA_TTABLE
        };
        lua_settop(l, top);
        if jit { "LuaJIT" } else { "Lua 5.1" }
    }
}

/// The Lua that runs, of those that this build could run in at all.
#[cfg(not(any(feature = "lua51", feature = "luajit")))]
unsafe fn running(l: *mut lua_State) -> &'static str {
    // SAFETY: as the caller promises; where the version comes as a pointer, it is that of a constant.
    #[cfg(any(feature = "lua52", feature = "lua53"))]
    let version = unsafe { *mlua::ffi::lua_version(l) };
    // SAFETY: as the caller promises.
    #[cfg(any(feature = "lua54", feature = "lua55"))]
    let version = unsafe { mlua::ffi::lua_version(l) };
    match version as u32 {
        502 => "Lua 5.2",
        503 => "Lua 5.3",
        504 => "Lua 5.4",
        505 => "Lua 5.5",
        _ => "another one",
    }
}

/// Whether `found` is the Lua that this build is for.
fn told(found: &str) -> Result<(), Box<Text>> {
    if found == WANTED {
        return Ok(());
    }
    Err(Box::new(Text::of(format_args!("{PURPOSE}{found}"))))
}

/// Pins what makes and tells boxed numbers, if this Lua has them.
///
/// # Safety
/// The table of pins at `pins`, ten free slots. May raise.
pub unsafe fn pin_boxed(l: *mut lua_State, pins: c_int) {
    if !cfg!(feature = "luajit") {
        return;
    }
    const SOURCE: &[u8] = include_bytes!("../../lua/boxed.lua");
    // LuaJIT's `LUA_GCISRUNNING`.
    const IS_RUNNING: c_int = 9;
    // SAFETY: as the caller promises.
    unsafe {
        let top = lua_gettop(l);
        load(l, SOURCE, c"=protobuf");
        // That there is no `ffi` is an error that is passed over. One of a hook or a finalizer must not be.
        let (hook, mask, count) = (lua_gethook(l), lua_gethookmask(l), lua_gethookcount(l));
        let collects = lua_gc(l, IS_RUNNING, 0) != 0;
        lua_sethook(l, None, 0, 0);
        lua_gc(l, LUA_GCSTOP, 0);
        let status = lua_pcall(l, 0, 3, 0);
        lua_sethook(l, hook, mask, count);
        if collects {
            lua_gc(l, LUA_GCRESTART, 0);
        }
        match status {
            0 => {
                for (i, pin) in BOXED_PINS.iter().enumerate() {
                    lua_pushvalue(l, top + 1 + i as c_int);
                    lua_rawseti(l, pins, *pin);
                }
            }
            LUA_ERRMEM => {
                lua_error(l);
            }
            // There is no `ffi`, or what there is does not do.
            _ => {}
        }
        lua_settop(l, top);
    }
}

/// Where C functions cannot be yielded across, replaces `encode` of the module table at `module`
/// by a Lua function, which calls the function that it is given itself, with bytes from `helper`.
///
/// # Safety
/// A table at `module`, ten free slots. May raise.
pub unsafe fn wrap_encode(l: *mut lua_State, module: c_int, helper: &str) {
    if !cfg!(any(feature = "lua51", feature = "luajit")) {
        return;
    }
    const SOURCE: &[u8] = include_bytes!("../../lua/encode.lua");
    // SAFETY: as the caller promises.
    unsafe {
        load(l, SOURCE, c"=protobuf");
        raw_get_str(l, module, "encode");
        raw_get_str(l, module, helper);
        lua_call(l, 2, 1);
        raw_set_str(l, module, "encode");
    }
}

/// Pushes the function that `source` is, which is the library's own. Raises if there is no memory.
unsafe fn load(l: *mut lua_State, source: &[u8], name: &std::ffi::CStr) {
    // SAFETY: the source is valid for its length.
    unsafe {
        if mlua::ffi::luaL_loadbuffer(l, source.as_ptr().cast(), source.len(), name.as_ptr()) != 0 {
            lua_error(l);
        }
    }
}

/// Calls the function at `at` with the `arguments` above it, and returns its results to Lua.
/// It may yield, except on 5.1 and LuaJIT.
///
/// # Safety
/// The function and its arguments are on top; the running C function returns what this returns.
pub unsafe fn call_yieldable(l: *mut lua_State, arguments: c_int, at: c_int) -> c_int {
    const MULTIPLE: c_int = -1;
    // SAFETY: as the caller promises. The continuation needs nothing but the stack.
    unsafe {
        #[cfg(any(feature = "lua51", feature = "luajit"))]
        lua_call(l, arguments, MULTIPLE);
        #[cfg(feature = "lua52")]
        mlua::ffi::lua_callk(l, arguments, MULTIPLE, at, Some(resumed));
        #[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
        mlua::ffi::lua_callk(l, arguments, MULTIPLE, at as _, Some(resumed));
        lua_gettop(l) - at + 1
    }
}

#[cfg(feature = "lua52")]
unsafe extern "C-unwind" fn resumed(l: *mut lua_State) -> c_int {
    let mut at = 0;
    // SAFETY: called by Lua as the continuation of `call_yieldable`.
    unsafe {
        mlua::ffi::lua_getctx(l, &mut at);
        lua_gettop(l) - at + 1
    }
}

#[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
unsafe extern "C-unwind" fn resumed(l: *mut lua_State, _: c_int, at: mlua::ffi::lua_KContext) -> c_int {
    // SAFETY: called by Lua as the continuation of `call_yieldable`.
    unsafe { lua_gettop(l) - at as c_int + 1 }
}
