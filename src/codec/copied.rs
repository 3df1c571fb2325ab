//! Option `defaults = "copy"`: defaults that are copied into decoded tables.

use std::ffi::c_int;

use super::bindings::{Bindings, BoundMessage, PIN_ARRAY, PIN_MAP};
use super::defaults::{push_default, set_or_pop_metatable};
use super::rules::Rules;
use crate::schema::{Default, Flags, MessagePlan, Op};
use crate::vm::api::*;
use crate::vm::{Pins, pop};

/// Estimates of what a copied default takes, see the kernel's budget.
const FIELD_SIZE: usize = 40;
const LIST_SIZE: usize = FIELD_SIZE + 64;

/// The positions of the fields of `m` whose defaults are copied: scalars, lists and maps that are neither required nor
/// members of a oneof. Of a large type they may be few, and most messages of it small.
fn positions(m: &MessagePlan) -> Box<[u16]> {
    let copied = m.fields.iter().filter(|f| {
        let message = matches!(f.op, Op::Message | Op::Group) && !f.repeated();
        !message && !f.flags.has(Flags::ONEOF.with(Flags::REQUIRED))
    });
    copied.map(|f| f.index).collect()
}

/// Copies the defaults of absent fields into the table at `at`. Answers how many bytes of memory that took, estimated. May
/// raise.
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
        let mut size = 0;
        for i in bound.copied.get_or_init(|| positions(m)) {
            let i = usize::from(*i);
            let (Some(f), Some(default)) = (m.fields.get(i), m.defaults.get(i)) else { continue };
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
            size += match default {
                _ if f.repeated() => LIST_SIZE,
                // Long strings are made anew for each table.
                Default::Bytes(bytes) => FIELD_SIZE + bytes.len(),
                _ => FIELD_SIZE,
            };
        }
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tests::registry;

    #[test]
    fn only_fields_with_defaults_to_copy_are_gone_through() {
        let registry = registry(
            r#"
            syntax = "proto2";
            package p;
            message M {
                optional int32 a = 1;
                required int32 b = 2;
                optional M c = 3;
                repeated M d = 4;
                oneof o { int32 e = 5; string f = 6; }
                map<int32, M> g = 7;
                optional group H = 8 {}
                optional string i = 9;
            }"#,
        );
        let m = registry.types().find_message("p.M").unwrap();
        assert_eq!(*positions(m), [0, 3, 6, 8]);
    }
}
