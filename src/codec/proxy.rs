//! Tables that are read through metamethods, on every Lua: messages and maps with `__pairs`,
//! lists with `__index` or `__len`. They are copied to plain tables, which are then encoded.
//!
//! The program's functions run in protected mode, so that no error leaves through the kernel.

use std::ffi::c_int;

use super::bindings::{PIN_ARRAY, PIN_MAP};
use super::defaults::is_message_table;
use super::show::Shown;
use super::source::{Result, StackSource};
use crate::error::EncodeError;
use crate::vm::api::*;
use crate::vm::{Pins, has_room, pop, raw_get_str};

/// A list without `__len` may have no end, and neither may what `__pairs` goes through.
const LONGEST: i64 = 1 << 26;

/// The index of a plain table with what the table at `at` shows: itself, or a copy at the new top.
#[cold]
#[inline(never)]
pub(super) fn resolve<const FORM: u8>(src: &mut StackSource<FORM>, at: c_int, list: bool) -> Result<c_int> {
    let l = src.l;
    // SAFETY: the source made room; `at` is a table with a metatable. No frame of an encode holds a value with a destructor.
    unsafe {
        if !has_room(l, 16) {
            return Err(src.fail(format_args!("stack overflow")));
        }
        let base = src.top;
        if is_ours(l, at, src.pins) {
            return Ok(at);
        }
        lua_getmetatable(l, at);
        let copied = if list { copy_list(src, at, base)? } else { copy_pairs(src, at, base)? };
        if !copied {
            lua_settop(l, base);
            return Ok(at);
        }
        // The copy stands below what its making left.
        lua_replace(l, base + 1);
        lua_settop(l, base + 1);
        src.top = base + 1;
        Ok(base + 1)
    }
}

/// Whether the metatable of the table at `at`, if it has one, is that of option `array_metatable` or
/// `map_metatable`, or of message tables.
///
/// # Safety
/// A table at `at`, an absolute index; the table of pins, four free slots. May raise.
pub(super) unsafe fn is_ours(l: *mut lua_State, at: c_int, pins: Pins) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        if lua_getmetatable(l, at) == 0 {
            return true;
        }
        let meta = lua_gettop(l);
        let mut ours = false;
        for pin in [PIN_ARRAY, PIN_MAP] {
            lua_rawgeti(l, pins.table, pin);
            ours |= lua_rawequal(l, -1, meta) != 0;
        }
        lua_settop(l, meta - 1);
        ours || is_message_table(l, at)
    }
}

impl<const FORM: u8> StackSource<'_, FORM> {
    /// Calls a function of the program, which may encode in turn, in protected mode.
    ///
    /// # Safety
    /// As for `lua_pcall`.
    unsafe fn call(&mut self, arguments: c_int, results: c_int) -> c_int {
        self.called = true;
        self.nesting.set(self.nesting.get() + 1);
        // SAFETY: as the caller promises. It always returns, so the count is right.
        let status = unsafe { lua_pcall(self.l, arguments, results, 0) };
        self.nesting.set(self.nesting.get() - 1);
        status
    }
}

fn raised<T>(status: c_int) -> Option<Result<T>> {
    (status != 0).then_some(Err(EncodeError::Raised))
}

/// Leaves the copy on top. The metatable is at `base + 1`.
unsafe fn copy_pairs<const FORM: u8>(src: &mut StackSource<FORM>, at: c_int, base: c_int) -> Result<bool> {
    let l = src.l;
    // SAFETY: `resolve` made room; the stack above `base + 1`: copy, next, state, control, then a call.
    unsafe {
        raw_get_str(l, base + 1, "__pairs");
        if lua_type(l, -1) == LUA_TNIL {
            return Ok(false);
        }
        lua_createtable(l, 0, 0);
        lua_insert(l, -2);
        lua_pushvalue(l, at);
        if let Some(error) = raised(src.call(1, 3)) {
            return error;
        }
        let copy = base + 2;
        for n in 0.. {
            if n > LONGEST {
                return Err(src.fail(format_args!("too many pairs")));
            }
            lua_settop(l, copy + 3);
            for i in 1..=3 {
                lua_pushvalue(l, copy + i);
            }
            if let Some(error) = raised(src.call(2, 2)) {
                return error;
            }
            let (key, value) = (copy + 4, copy + 5);
            if lua_type(l, key) == LUA_TNIL {
                break;
            }
            if lua_rawequal(l, key, key) == 0 {
                return Err(src.fail(format_args!("key is NaN")));
            }
            lua_pushvalue(l, key);
            lua_replace(l, copy + 3);
            lua_pushvalue(l, key);
            lua_pushvalue(l, value);
            lua_rawset(l, copy);
        }
        lua_pushvalue(l, copy);
        Ok(true)
    }
}

unsafe extern "C-unwind" fn length_of(l: *mut lua_State) -> c_int {
    // SAFETY: called by `copy_list` with the metamethod and the table.
    unsafe {
        lua_call(l, 1, 1);
        1
    }
}

unsafe extern "C-unwind" fn index_of(l: *mut lua_State) -> c_int {
    // SAFETY: called by `copy_list` with a table and a key.
    unsafe {
        lua_gettable(l, 1);
        1
    }
}

/// Leaves the copy on top. The metatable is at `base + 1`. A list without `__len` ends before its
/// first nil. Keys that stand in the table itself must be among its indexes.
unsafe fn copy_list<const FORM: u8>(src: &mut StackSource<FORM>, at: c_int, base: c_int) -> Result<bool> {
    let l = src.l;
    // SAFETY: `resolve` made room.
    unsafe {
        raw_get_str(l, base + 1, "__index");
        raw_get_str(l, base + 1, "__len");
        let with_length = lua_type(l, base + 3) != LUA_TNIL;
        if lua_type(l, base + 2) == LUA_TNIL && !with_length {
            return Ok(false);
        }
        let mut length = None;
        if with_length {
            lua_pushcclosure(l, length_of, 0);
            lua_pushvalue(l, base + 3);
            lua_pushvalue(l, at);
            if let Some(error) = raised(src.call(2, 1)) {
                return error;
            }
            let n = if lua_type(l, -1) == LUA_TNUMBER { to_integer(l, -1) } else { None };
            length = n.filter(|n| (0..=LONGEST).contains(n));
            if length.is_none() {
                return Err(src.fail(format_args!("list whose __len gives no length")));
            }
        }
        lua_settop(l, base + 1);
        lua_createtable(l, 0, 0);
        let copy = base + 2;
        let mut count = 0;
        while length.is_none_or(|n| count < n) {
            if count == LONGEST {
                return Err(src.fail(format_args!("list without end")));
            }
            lua_pushcclosure(l, index_of, 0);
            lua_pushvalue(l, at);
            lua_pushinteger(l, (count + 1) as Int);
            if let Some(error) = raised(src.call(2, 1)) {
                return error;
            }
            if lua_type(l, -1) != LUA_TNIL {
                count += 1;
                lua_rawseti(l, copy, count as Slot);
            } else if length.is_none() {
                pop(l, 1);
                break;
            } else {
                return Err(src.fail(format_args!("list with a hole at index {}", count + 1)));
            }
        }
        lua_pushnil(l);
        while lua_next(l, at) != 0 {
            let key = copy + 1;
            let index = if lua_type(l, key) == LUA_TNUMBER { to_integer(l, key) } else { None };
            match index {
                Some(i) if (1..=count).contains(&i) => {}
                Some(i) if i > 0 => return Err(src.fail(format_args!("list with a hole at index {}", count + 1))),
                _ if src.rules.ignore_keys => {}
                _ => return Err(src.fail(format_args!("list with key {}", Shown::at(l, key)))),
            }
            lua_settop(l, key);
        }
        lua_pushvalue(l, copy);
        Ok(true)
    }
}
