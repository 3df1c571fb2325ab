//! Small steps on the Lua stack that the C API lacks.

use std::ffi::{CStr, c_int};

use super::api::*;
use super::entry::raise;
use crate::error::Text;

/// The bytes of the string at `index`; `None` if there is no string. Converts nothing.
///
/// # Safety
/// A valid index; the string must stay where it is, or on the stack, while the bytes are used.
#[inline(always)]
pub unsafe fn string_at<'a>(l: *mut lua_State, index: c_int) -> Option<&'a [u8]> {
    // SAFETY: lua_tolstring gives pointer and length of a string; its type is checked first.
    unsafe {
        if lua_type(l, index) != LUA_TSTRING {
            return None;
        }
        to_bytes(l, index)
    }
}

/// The bytes of the string at `index`; a number there becomes a string, and may raise. `None`
/// for other values.
///
/// # Safety
/// As for [`string_at`].
#[inline(always)]
pub unsafe fn to_bytes<'a>(l: *mut lua_State, index: c_int) -> Option<&'a [u8]> {
    // SAFETY: lua_tolstring gives pointer and length of a string, or null.
    unsafe {
        let mut n = 0;
        let p = lua_tolstring(l, index, &mut n);
        if p.is_null() { None } else { Some(std::slice::from_raw_parts(p.cast(), n)) }
    }
}

/// The name of the type of the value at `index`.
///
/// # Safety
/// A valid index.
pub unsafe fn type_name(l: *mut lua_State, index: c_int) -> &'static str {
    // SAFETY: lua_typename gives a static string.
    unsafe {
        let t = lua_type(l, index);
        if t < 0 {
            return "no value";
        }
        CStr::from_ptr(lua_typename(l, t)).to_str().unwrap_or("?")
    }
}

/// Pops `n` values.
///
/// # Safety
/// At least `n` values of the caller's on the stack.
#[inline(always)]
pub unsafe fn pop(l: *mut lua_State, n: c_int) {
    // SAFETY: as the caller promises.
    unsafe { lua_settop(l, -n - 1) };
}

/// Pushes `table[key]`, raw.
///
/// # Safety
/// A table at `index`; two free slots. May raise.
pub unsafe fn raw_get_str(l: *mut lua_State, index: c_int, key: &str) {
    // SAFETY: as the caller promises; an index relative to the top is shifted by the push.
    unsafe {
        let index = absolute(l, index);
        push_bytes(l, key.as_bytes());
        lua_rawget(l, index);
    }
}

/// `table[key] = value`, raw; pops the value.
///
/// # Safety
/// A table at `index`, a value on top; two free slots. May raise.
pub unsafe fn raw_set_str(l: *mut lua_State, index: c_int, key: &str) {
    // SAFETY: as the caller promises.
    unsafe {
        let index = absolute(l, index);
        push_bytes(l, key.as_bytes());
        lua_insert(l, -2);
        lua_rawset(l, index);
    }
}

/// `index` counted from the bottom; pseudo-indexes stay.
///
/// # Safety
/// A valid index.
pub unsafe fn absolute(l: *mut lua_State, index: c_int) -> c_int {
    // SAFETY: lua_gettop only reads.
    if index > 0 || index <= LUA_REGISTRYINDEX { index } else { unsafe { lua_gettop(l) + index + 1 } }
}

/// Makes room for `n` more values. Answers false where that is more than Lua gives one C function.
/// May raise, namely where there is no memory for it.
///
/// # Safety
/// No frame up to Lua holds a value with a destructor.
#[inline(always)]
pub unsafe fn has_room(l: *mut lua_State, n: c_int) -> bool {
    // SAFETY: as the caller promises.
    unsafe { lua_checkstack(l, n) != 0 || no_room(l, n) }
}

#[cold]
#[inline(never)]
unsafe fn no_room(l: *mut lua_State, n: c_int) -> bool {
    /// `LUAI_MAXCSTACK`.
    const MOST: c_int = 8000;
    // SAFETY: Lua keeps some slots for errors.
    unsafe {
        if cfg!(any(feature = "lua51", feature = "luajit")) {
            if lua_gettop(l) + n > MOST {
                return false;
            }
            raise(l, &Text::of("not enough memory"));
        }
        // The limit is that of all calls together here, so which of both it is does not show.
        raise(l, &Text::of("not enough memory for the stack, or too many calls within each other"))
    }
}

/// Whether the table at `index` has no key.
///
/// # Safety
/// A table at `index`; two free slots.
pub unsafe fn is_empty(l: *mut lua_State, index: c_int) -> bool {
    // SAFETY: as the caller promises; nil starts a traversal.
    unsafe {
        let index = absolute(l, index);
        lua_pushnil(l);
        if lua_next(l, index) == 0 {
            return true;
        }
        pop(l, 2);
        false
    }
}

/// `table[n] = bytes`, raw.
///
/// # Safety
/// A table at `index`, which is no index relative to the top; a free slot. May raise.
pub unsafe fn set_bytes(l: *mut lua_State, index: c_int, n: Slot, bytes: &[u8]) {
    // SAFETY: as the caller promises.
    unsafe {
        push_bytes(l, bytes);
        lua_rawseti(l, index, n);
    }
}
