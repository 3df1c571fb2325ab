//! How a function of ours begins and ends: its upvalues, and raising errors.

use std::ffi::{c_int, c_void};

use mlua::ffi::{lua_Debug, lua_getinfo, lua_getstack, lua_getupvalue, lua_iscfunction};

use super::api::*;
use crate::error::Text;

/// What the userdata that is upvalue `n` of the running function owns; `None` if that was
/// collected before: finalizers run in any order, and may call functions of what is gone.
///
/// # Safety
/// The running function has an owner of a `T` as that upvalue.
#[inline(always)]
pub unsafe fn upvalue<'a, T>(l: *mut lua_State, n: c_int) -> Option<&'a T> {
    // SAFETY: as the caller promises; the userdata keeps a pointer to a live T or null.
    unsafe { (*lua_touserdata(l, lua_upvalueindex(n)).cast::<*const T>()).as_ref() }
}

/// So many calls are looked through. What is beneath them may be any.
const MOST_LEVELS: c_int = 500;

/// Whether the running function may have been called, by however many others, from a function of the same thread that
/// has the same upvalue 1. What other threads are within does not show.
///
/// # Safety
/// The running function is a C function; two free slots.
#[cold]
pub unsafe fn may_be_within_another(l: *mut lua_State) -> bool {
    // SAFETY: asking for the function alone fills nothing else in, and pushes it.
    unsafe {
        let mut call = std::mem::zeroed::<lua_Debug>();
        for level in 1..=MOST_LEVELS {
            if lua_getstack(l, level, &mut call) == 0 {
                return false;
            }
            lua_getinfo(l, c"f".as_ptr(), &mut call);
            let function = lua_gettop(l);
            let found = lua_iscfunction(l, function) != 0
                && !lua_getupvalue(l, function, 1).is_null()
                && lua_rawequal(l, -1, lua_upvalueindex(1)) != 0;
            lua_settop(l, function - 1);
            if found {
                break;
            }
        }
        true
    }
}

/// Raises `text` as a string.
///
/// # Safety
/// A free slot; no frame up to Lua holds a value with a destructor.
#[cold]
pub unsafe fn raise(l: *mut lua_State, text: &Text) -> ! {
    // SAFETY: as the caller promises.
    unsafe {
        push_bytes(l, text.as_bytes());
        lua_error(l)
    }
}

/// Pushes a full userdata that owns `value` and drops it when it is collected.
/// Answers where the value is, which stays until then. May raise before `make` is called.
///
/// # Safety
/// Four free slots.
pub unsafe fn push_owner<T>(l: *mut lua_State, make: impl FnOnce() -> T) -> *const T {
    // SAFETY: the userdata has room for a pointer, which is null until the finalizer is set.
    unsafe {
        let owner = lua_newuserdata(l, size_of::<*mut c_void>()).cast::<*mut T>();
        owner.write(std::ptr::null_mut());
        lua_createtable(l, 0, 1);
        lua_pushcclosure(l, collect::<T>, 0);
        super::stack::raw_set_str(l, -2, "__gc");
        lua_setmetatable(l, -2);
        let value = Box::into_raw(Box::new(make()));
        owner.write(value);
        value
    }
}

unsafe extern "C-unwind" fn collect<T>(l: *mut lua_State) -> c_int {
    // SAFETY: only the userdata of `push_owner::<T>` has this finalizer, and its metatable is
    // out of a program's reach but for the debug library.
    unsafe {
        let owner = lua_touserdata(l, 1).cast::<*mut T>();
        if !owner.is_null() {
            let value = owner.replace(std::ptr::null_mut());
            if !value.is_null() {
                drop(Box::from_raw(value));
            }
        }
    }
    0
}
