//! Absent fields: the metatables that give their defaults, and the functions about them.
//!
//! A type has two metatables. Tables that were decoded have one; tables that reading an absent
//! message made have the other, which marks them: while such a table has no key but other such
//! tables and empty lists and maps, it counts as absent. Both hold the type's *shapes*, which say
//! what to make for an absent field: [`LIST`], [`MAP`], or the index of a message type. Where a type
//! has extensions, both hold its *twins* too: from each of an extension's two names to the other.
//!
//! Metatables outlive the set of types they were made for, so all that they need hangs on them:
//! `metas` is a table with the same first pins as the table of pins, and above them a pair of
//! metatables for each type and variant of the rules.

use std::ffi::c_int;
use std::sync::Arc;

use super::Bindings;
use super::bindings::{BoundMessage, FIRST_FREE_PIN, Metas, PIN_ARRAY, PIN_MAP, PIN_METAS, PIN_SET};
use super::rules::Rules;
use crate::schema::{self, FieldPlan, Flags, MessagePlan, Op, Set};
use crate::vm::api::*;
use crate::vm::{Pins, pop, push_decimal, push_int, push_uint, raw_get_str, raw_set_str, string_at, upvalue};

pub(super) const LIST: Int = -1;
pub(super) const MAP: Int = -2;

pub(super) const SHAPES_KEY: &str = "protobuf.shapes";
const TYPE_KEY: &str = "protobuf.type";
pub(super) const FRESH_KEY: &str = "protobuf.fresh";

/// Where the twins are, by number: they are asked for often, and most types have none.
const TWINS_SLOT: Slot = 1;

/// Slots that the functions below need at most.
pub(super) const LEVEL: c_int = 18;

/// The metatables of `m` under `rules`, made if they are not. May raise.
///
/// # Safety
/// The table of pins, [`LEVEL`] free slots.
#[cold]
#[inline(never)]
pub unsafe fn metas(l: *mut lua_State, pins: Pins, b: &Bindings, m: &MessagePlan, bound: &BoundMessage, rules: &Rules) {
    // SAFETY: as the caller promises; the pins are absolute or pseudo-indexes after the pushes.
    unsafe {
        lua_rawgeti(l, pins.table, PIN_METAS);
        let metas = lua_gettop(l);
        lua_rawgeti(l, pins.table, PIN_SET);
        push_pair(l, metas, metas + 1, &b.set, m, rules.variant());
        lua_rawgeti(l, -1, 1);
        let decoded = lua_topointer(l, -1) as usize;
        let decoded_pin = b.pin(l, pins.table);
        lua_settop(l, metas - 1);
        bound.metas(rules).set(Metas { decoded_pin, decoded });
    }
}

/// Pushes the pair of metatables of `m`: `{decoded, fresh}`.
///
/// # Safety
/// The table of metatables at `metas`, the owner of `set` at `owner`, [`LEVEL`] free slots.
unsafe fn push_pair(l: *mut lua_State, metas: c_int, owner: c_int, set: &Set, m: &MessagePlan, variant: i64) {
    // SAFETY: as the caller promises; the stack is drawn beside the steps.
    unsafe {
        let key = FIRST_FREE_PIN + (m.id as i64 * 4 + variant) as Slot;
        lua_rawgeti(l, metas, key);
        if lua_type(l, -1) == LUA_TTABLE {
            return;
        }
        pop(l, 1);
        lua_createtable(l, 2, 0); // pair
        let pair = lua_gettop(l);
        lua_createtable(l, 0, m.fields.len() as c_int); // pair defaults
        lua_createtable(l, 0, 0); // pair defaults shapes
        lua_createtable(l, 0, 0); // pair defaults shapes twins
        let (defaults, shapes, twins) = (pair + 1, pair + 2, pair + 3);
        let (mut any_shape, mut any_twin) = (false, false);
        for ((f, name), default) in m.fields.iter().zip(&m.names).zip(&m.defaults) {
            let shape = match f.op {
                _ if f.flags.has(Flags::ONEOF) => continue,
                Op::Map => Some(MAP),
                _ if f.repeated() => Some(LIST),
                Op::Message | Op::Group => Some(f.sub as Int),
                _ => None,
            };
            any_shape |= shape.is_some();
            let to = match shape {
                Some(shape) => {
                    lua_pushinteger(l, shape);
                    shapes
                }
                None => {
                    push_default(l, f, default, set, variant, Pins { table: metas });
                    defaults
                }
            };
            if let Some(second) = m.second_name(f) {
                any_twin = true;
                lua_pushvalue(l, -1);
                raw_set_str(l, to, second);
                for (from, to) in [(&**name, second), (second, &**name)] {
                    push_bytes(l, to.as_bytes());
                    raw_set_str(l, twins, from);
                }
            }
            raw_set_str(l, to, name);
        }
        for i in 1..=2 {
            lua_createtable(l, 0, 4);
            push_bytes(l, m.name.as_bytes());
            raw_set_str(l, -2, TYPE_KEY);
            lua_pushvalue(l, shapes);
            raw_set_str(l, -2, SHAPES_KEY);
            if i == 2 {
                lua_pushboolean(l, 1);
                raw_set_str(l, -2, FRESH_KEY);
            }
            if any_twin {
                lua_pushvalue(l, twins);
                lua_rawseti(l, -2, TWINS_SLOT);
            }
            lua_pushvalue(l, defaults);
            if any_shape || any_twin {
                lua_pushvalue(l, shapes);
                lua_pushvalue(l, metas);
                lua_pushvalue(l, owner);
                lua_pushinteger(l, variant as Int);
                if any_twin {
                    lua_pushvalue(l, twins);
                    lua_pushcclosure(l, absent_with_twins, 6);
                } else {
                    lua_pushcclosure(l, absent, 5);
                }
            }
            raw_set_str(l, -2, "__index");
            lua_rawseti(l, pair, i);
        }
        lua_settop(l, pair);
        lua_pushvalue(l, pair);
        lua_rawseti(l, metas, key);
    }
}

/// `__index` of message tables: the default of `t[k]`, which is not there. An empty table that
/// it makes is in `t` from then on.
///
/// Upvalues: defaults, shapes, metas, the set's owner, the variant.
unsafe extern "C-unwind" fn absent(l: *mut lua_State) -> c_int {
    // SAFETY: a C function has 20 free slots, more than all that follows needs.
    unsafe {
        lua_settop(l, 2);
        lua_pushvalue(l, 2);
        lua_rawget(l, lua_upvalueindex(1));
        if lua_type(l, -1) != LUA_TNIL || lua_type(l, 1) != LUA_TTABLE {
            return 1;
        }
        lua_pushvalue(l, 2);
        lua_rawget(l, lua_upvalueindex(2));
        let Some(shape) = shape_at(l, -1) else { return 1 };
        lua_settop(l, 2);
        match shape {
            LIST | MAP => {
                lua_createtable(l, 0, 0);
                lua_rawgeti(l, lua_upvalueindex(3), if shape == LIST { PIN_ARRAY } else { PIN_MAP });
                set_or_pop_metatable(l);
            }
            index => {
                let Some(set) = upvalue::<Arc<Set>>(l, 4) else { return 0 };
                let Some(m) = set.message(index as u32) else { return 0 };
                let variant = to_integer(l, lua_upvalueindex(5)).unwrap_or_default();
                push_pair(l, lua_upvalueindex(3), lua_upvalueindex(4), set, m, variant);
                lua_createtable(l, 0, 0);
                lua_rawgeti(l, -2, 2);
                lua_setmetatable(l, -2);
            }
        }
        lua_pushvalue(l, 2);
        lua_pushvalue(l, -2);
        lua_rawset(l, 1);
        1
    }
}

/// The same for a type that has twins: a value under the key's twin is the value. A table that is
/// made is put under the name without brackets.
///
/// Upvalues: those of [`absent`], twins.
unsafe extern "C-unwind" fn absent_with_twins(l: *mut lua_State) -> c_int {
    // SAFETY: as in `absent`, which takes what is left at indexes 1 and 2.
    unsafe {
        lua_settop(l, 2);
        lua_pushvalue(l, 2);
        lua_rawget(l, lua_upvalueindex(6));
        if lua_type(l, 3) == LUA_TSTRING && lua_type(l, 1) == LUA_TTABLE {
            lua_pushvalue(l, 3);
            lua_rawget(l, 1);
            if lua_type(l, -1) != LUA_TNIL {
                return 1;
            }
            if string_at(l, 2).is_some_and(|key| key.starts_with(b"[")) {
                lua_settop(l, 3);
                lua_replace(l, 2);
            }
        }
        absent(l)
    }
}

/// Pushes the other name of the extension whose name is at `key`, if the metatable of the table at
/// `index` is one of ours and knows it, else nothing.
///
/// # Safety
/// A table at `index`, a value at `key`, both absolute; five free slots. May raise.
pub(super) unsafe fn push_twin(l: *mut lua_State, index: c_int, key: c_int) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        if lua_getmetatable(l, index) == 0 {
            return false;
        }
        let meta = lua_gettop(l);
        lua_rawgeti(l, meta, TWINS_SLOT);
        if lua_type(l, -1) == LUA_TTABLE && is_message_table(l, index) {
            lua_pushvalue(l, key);
            lua_rawget(l, -2);
            if lua_type(l, -1) == LUA_TSTRING {
                lua_replace(l, meta);
                lua_settop(l, meta);
                return true;
            }
        }
        lua_settop(l, meta - 1);
        false
    }
}

/// Sets the table on top as metatable of the one below it, or pops it if it is none.
///
/// # Safety
/// Two values on the stack, the lower one a table.
pub(super) unsafe fn set_or_pop_metatable(l: *mut lua_State) {
    // SAFETY: as the caller promises.
    unsafe {
        if lua_type(l, -1) == LUA_TTABLE {
            lua_setmetatable(l, -2);
        } else {
            pop(l, 1);
        }
    }
}

/// The shape at `index`; `None` for nil.
pub(super) unsafe fn shape_at(l: *mut lua_State, index: c_int) -> Option<Int> {
    // SAFETY: the caller has a value there.
    unsafe { if lua_type(l, index) == LUA_TNUMBER { to_integer(l, index).map(|s| s as Int) } else { None } }
}

/// Pushes the default of the scalar `f`. May raise.
///
/// # Safety
/// The table of pins, three free slots.
pub unsafe fn push_default(
    l: *mut lua_State,
    f: &FieldPlan,
    default: &schema::Default,
    set: &Set,
    variant: i64,
    pins: Pins,
) {
    let rules = (variant >> 1 != 0, variant & 1 != 0);
    // SAFETY: as the caller promises.
    unsafe {
        match default {
            schema::Default::None => lua_pushnil(l),
            schema::Default::Int(v) if rules.1 && is_wide(f.op) => push_decimal(l, *v as u64, true),
            schema::Default::Uint(v) if rules.1 && is_wide(f.op) => push_decimal(l, *v, false),
            schema::Default::Int(v) => push_int(l, *v, pins),
            schema::Default::Uint(v) => push_uint(l, *v, pins),
            schema::Default::Number(v) => lua_pushnumber(l, *v),
            schema::Default::Bool(v) => lua_pushboolean(l, c_int::from(*v)),
            schema::Default::Bytes(v) => push_bytes(l, v),
            schema::Default::Enum(v) => match set.enumeration(f.sub).and_then(|e| e.name(*v)) {
                Some(name) if !rules.0 => push_bytes(l, name.as_bytes()),
                _ => lua_pushinteger(l, *v as Int),
            },
        }
    }
}

/// Whether `op` has 64 bits.
pub const fn is_wide(op: Op) -> bool {
    matches!(op, Op::Int64 | Op::Uint64 | Op::Sint64 | Op::Fixed64 | Op::Sfixed64)
}

/// Pushes the shapes of the table at `index` if its metatable is one of ours, else nothing.
pub(super) unsafe fn push_shapes(l: *mut lua_State, index: c_int) -> bool {
    // SAFETY: the caller has a value there and free slots; three are used.
    unsafe {
        if lua_getmetatable(l, index) == 0 {
            return false;
        }
        raw_get_str(l, -1, SHAPES_KEY);
        if lua_type(l, -1) != LUA_TTABLE {
            pop(l, 2);
            return false;
        }
        lua_remove(l, -2);
        true
    }
}

/// Whether the metatable of the table at `index` is one of ours, of this or another instance.
///
/// # Safety
/// A table at `index`, an absolute one; four free slots. May raise.
pub unsafe fn is_message_table(l: *mut lua_State, index: c_int) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        let ours = push_shapes(l, index);
        if ours {
            pop(l, 1);
        }
        ours
    }
}

/// Pushes the metatable of decoded tables of `m`. May raise.
///
/// # Safety
/// The table of pins, [`LEVEL`] free slots.
#[inline(always)]
pub unsafe fn push_decoded(
    l: *mut lua_State,
    pins: Pins,
    b: &Bindings,
    m: &MessagePlan,
    bound: &BoundMessage,
    rules: &Rules,
) {
    // SAFETY: as the caller promises.
    unsafe {
        if bound.metas(rules).get().decoded_pin == 0 {
            metas(l, pins, b, m, bound, rules);
        }
        lua_rawgeti(l, pins.table, bound.metas(rules).get().decoded_pin);
    }
}
