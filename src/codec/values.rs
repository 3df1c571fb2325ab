//! Scalars and keys onto the stack, as both forms give them.

use std::ffi::c_int;

use super::bindings::{PIN_ARRAY, PIN_MAP};
use super::defaults::is_wide;
use super::rules::Rules;
use crate::kernel::Value;
use crate::schema::{FieldPlan, Op};
use crate::vm::api::*;
use crate::vm::{Pins, push_decimal, push_int, push_key, push_uint};

/// Pushes values as `rules` say.
#[derive(Clone, Copy)]
pub struct Values {
    /// The state.
    pub l: *mut lua_State,
    /// The table of pins.
    pub pins: Pins,
    /// How values are given.
    pub rules: Rules,
}

impl Values {
    /// Pushes the value of `f`; an enum as its number.
    ///
    /// # Safety
    /// Two free slots.
    #[inline(always)]
    pub unsafe fn push(&self, f: &FieldPlan, value: Value) {
        // SAFETY: as the caller promises.
        unsafe {
            match value {
                Value::Int(v) if self.rules.int64_string && is_wide(f.op) => push_decimal(self.l, v as u64, true),
                Value::Uint(v) if self.rules.int64_string => push_decimal(self.l, v, false),
                Value::Int(v) => push_int(self.l, v, self.pins),
                Value::Uint(v) => push_uint(self.l, v, self.pins),
                Value::Number(v) => lua_pushnumber(self.l, v),
                Value::Bool(v) => lua_pushboolean(self.l, c_int::from(v)),
                Value::Enum(v) => lua_pushinteger(self.l, v as Int),
            }
        }
    }

    /// Pushes a map's key, whose field is `f`: what no number holds is a string there.
    ///
    /// # Safety
    /// Two free slots.
    pub unsafe fn push_key(&self, f: &FieldPlan, value: Value) {
        // SAFETY: as the caller promises.
        unsafe {
            match value {
                Value::Int(v) if is_wide(f.op) && !self.rules.int64_string => push_key(self.l, v as u64, true),
                Value::Uint(v) if !self.rules.int64_string => push_key(self.l, v, false),
                other => self.push(f, other),
            }
        }
    }

    /// Gives the new table on top the metatable at `pin`, if it is `wanted`.
    ///
    /// # Safety
    /// A table on top, a free slot.
    #[inline(always)]
    pub unsafe fn set_metatable(&self, wanted: bool, pin: Slot) {
        if wanted {
            // SAFETY: as the caller promises.
            unsafe {
                lua_rawgeti(self.l, self.pins.table, pin);
                lua_setmetatable(self.l, -2);
            }
        }
    }

    /// Pushes a table for `n` elements or entries of `f`, which is a list or map.
    ///
    /// # Safety
    /// Two free slots.
    #[inline(always)]
    pub unsafe fn push_table(&self, f: &FieldPlan, n: usize) {
        let n = c_int::try_from(n).unwrap_or(c_int::MAX);
        // SAFETY: as the caller promises.
        unsafe {
            if f.op == Op::Map {
                lua_createtable(self.l, 0, n);
                self.set_metatable(self.rules.map_metatable, PIN_MAP);
            } else {
                lua_createtable(self.l, n, 0);
                self.set_metatable(self.rules.array_metatable, PIN_ARRAY);
            }
        }
    }

    /// Pushes `{bytes, length}`; `before` is the index of such a table whose bytes come first, or
    /// 0. Answers the length.
    ///
    /// # Safety
    /// Four free slots; `before` is no index relative to the top.
    pub unsafe fn push_message(&self, raw: &[u8], before: c_int) -> usize {
        let l = self.l;
        // SAFETY: as the caller promises; the joined string is made by Lua.
        unsafe {
            lua_createtable(l, 2, 0);
            if before == 0 {
                push_bytes(l, raw);
            } else {
                lua_rawgeti(l, before, 1);
                push_bytes(l, raw);
                lua_concat(l, 2);
            }
            let mut n = 0;
            lua_tolstring(l, -1, &mut n);
            lua_rawseti(l, -2, 1);
            lua_pushinteger(l, n as Int);
            lua_rawseti(l, -2, 2);
            n
        }
    }

    /// The same for the value of a map; if `again`, it goes on with the one on top.
    ///
    /// # Safety
    /// Four free slots.
    pub unsafe fn push_map_message(&self, raw: &[u8], again: bool) -> usize {
        // SAFETY: as the caller promises.
        unsafe {
            if !again {
                return self.push_message(raw, 0);
            }
            let before = lua_gettop(self.l);
            let n = self.push_message(raw, before);
            lua_replace(self.l, before);
            n
        }
    }
}
