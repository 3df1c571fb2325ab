//! Scalars and keys onto the stack, as both forms give them.

use std::ffi::c_int;

use super::defaults::is_wide;
use super::rules::Rules;
use crate::kernel::Value;
use crate::schema::FieldPlan;
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
}
