//! Option `defaults = "copy"`: defaults that are copied into decoded tables.

use std::ffi::c_int;

use super::bindings::{Bindings, BoundMessage, PIN_ARRAY, PIN_MAP};
use super::defaults::{push_default, set_or_pop_metatable};
use super::rules::Rules;
use crate::schema::{Flags, MessagePlan, Op};
use crate::vm::api::*;
use crate::vm::{Pins, pop};

/// Estimates of what a field takes in a table, and a list that is one, see the kernel's budget.
pub const FIELD_SIZE: usize = 40;
const LIST_SIZE: usize = FIELD_SIZE + 64;

/// Copies defaults into the table at `at`, for absent scalars, lists and maps that are neither
/// required nor members of a oneof. Answers how many bytes of memory that took, estimated. May raise.
///
/// # Safety
/// A table at `at`, an absolute one; the table of pins, six free slots.
#[cold]
pub unsafe fn fill(
    l: *mut lua_State,
    pins: Pins,
    b: &Bindings,
    m: &MessagePlan,
    bound: &BoundMessage,
    at: c_int,
    rules: &Rules,
) -> usize {
    // SAFETY: as the caller promises.
    unsafe {
        // Looking at a field takes time.
        let mut size = m.fields.len();
        for (f, default) in m.fields.iter().zip(&m.defaults) {
            let message = matches!(f.op, Op::Message | Op::Group) && !f.repeated();
            if message || f.flags.has(Flags::ONEOF.with(Flags::REQUIRED)) {
                continue;
            }
            lua_rawgeti(l, pins.table, bound.pin(f));
            lua_pushvalue(l, -1);
            lua_rawget(l, at);
            if lua_type(l, -1) == LUA_TNIL
                && f.flags.has(Flags::EXTENSION)
                && let Some(second) = bound.second_pin(f)
            {
                pop(l, 1);
                lua_rawgeti(l, pins.table, second);
                lua_rawget(l, at);
            }
            let there = lua_type(l, -1) != LUA_TNIL;
            pop(l, 1);
            if there {
                pop(l, 1);
                continue;
            }
            if f.repeated() {
                lua_createtable(l, 0, 0);
                lua_rawgeti(l, pins.table, if f.op == Op::Map { PIN_MAP } else { PIN_ARRAY });
                set_or_pop_metatable(l);
            } else {
                push_default(l, f, default, &b.set, rules.variant(), pins);
            }
            lua_rawset(l, at);
            size += if f.repeated() { LIST_SIZE } else { FIELD_SIZE };
        }
        size
    }
}
