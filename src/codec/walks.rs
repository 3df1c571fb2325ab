//! Functions that go through message tables: what is really set, taking out what reading made,
//! attaching defaults. See `defaults` for what metatables and shapes are.

use std::ffi::c_int;

use super::Bindings;
use super::copied::fill;
use super::defaults::{FRESH_KEY, LEVEL, LIST, MAP, SHAPES_KEY, push_decoded, push_shapes, push_twin, shape_at};
use super::rules::{Defaults, Rules};
use super::worklist::Worklist;
use crate::schema::{FieldPlan, Flags, MessagePlan, Op, Set};
use crate::vm::api::*;
use crate::vm::{Pins, has_room, is_empty, raw_get_str};

/// Whether the table at `index` was made by reading and has nothing but such tables. May raise.
///
/// # Safety
/// A value at `index`, an absolute one.
#[cold]
#[inline(never)]
pub unsafe fn is_untouched(l: *mut lua_State, index: c_int) -> bool {
    // SAFETY: room is asked for; the stack is as found at every exit. Above `top`: the list, a
    // table, its metatable, mark and shapes, a key, a value and its shape.
    unsafe {
        if lua_type(l, index) != LUA_TTABLE || !has_room(l, LEVEL) || lua_getmetatable(l, index) == 0 {
            return false;
        }
        let top = lua_gettop(l) - 1;
        lua_settop(l, top);
        let mut list = Worklist::push(l);
        list.add(index, 0);
        let mut result = true;
        let (table, shapes, key, value) = (top + 2, top + 5, top + 6, top + 7);
        while result && list.take().is_some() {
            if lua_getmetatable(l, table) == 0 {
                result = false;
                break;
            }
            raw_get_str(l, table + 1, FRESH_KEY);
            raw_get_str(l, table + 1, SHAPES_KEY);
            result = lua_toboolean(l, table + 2) != 0 && lua_type(l, shapes) == LUA_TTABLE;
            if !result {
                break;
            }
            lua_pushnil(l);
            while result && lua_next(l, table) != 0 {
                lua_pushvalue(l, key);
                lua_rawget(l, shapes);
                result = lua_type(l, value) == LUA_TTABLE
                    && match shape_at(l, -1) {
                        Some(LIST | MAP) => is_empty(l, value),
                        Some(_) => {
                            list.add(value, 0);
                            true
                        }
                        None => false,
                    };
                lua_settop(l, key);
            }
            lua_settop(l, top + 1);
        }
        lua_settop(l, top);
        result
    }
}

/// Whether the field whose name is at `key` is really set in the table at `index`, be it under
/// its other name. May raise.
///
/// # Safety
/// A table at `index`, a value at `key`, both absolute; [`LEVEL`] free slots.
pub unsafe fn has(l: *mut lua_State, index: c_int, key: c_int) -> bool {
    // SAFETY: as the caller promises.
    unsafe {
        let top = lua_gettop(l);
        let set = holds(l, index, key) || push_twin(l, index, key) && holds(l, index, top + 1);
        lua_settop(l, top);
        set
    }
}

/// Whether what stands under `key` in the table at `index` is a set field. May raise.
unsafe fn holds(l: *mut lua_State, index: c_int, key: c_int) -> bool {
    // SAFETY: as the caller of `has` promises.
    unsafe {
        let top = lua_gettop(l);
        lua_pushvalue(l, key);
        lua_rawget(l, index);
        let value = top + 1;
        let mut set = lua_type(l, value) != LUA_TNIL;
        if lua_type(l, value) == LUA_TTABLE && push_shapes(l, index) {
            lua_pushvalue(l, key);
            lua_rawget(l, -2);
            let shape = shape_at(l, -1);
            set = !is_absent(l, value, shape);
        }
        lua_settop(l, top);
        set
    }
}

/// Takes the empty tables that reading made out of the table at `index`, and out of the
/// messages in it. May raise.
///
/// # Safety
/// A table at `index`, an absolute one; [`LEVEL`] free slots.
pub unsafe fn extract(l: *mut lua_State, index: c_int) {
    // SAFETY: as the caller promises. Above `top`: the list, a table, its shapes, a key, a value;
    // above that an element's key and value. A field may be set to nil while it is traversed.
    unsafe {
        let top = lua_gettop(l);
        let mut list = Worklist::push(l);
        list.add(index, 0);
        let (table, shapes, key, value) = (top + 2, top + 3, top + 4, top + 5);
        while list.take().is_some() {
            if push_shapes(l, table) {
                lua_pushnil(l);
                while lua_next(l, table) != 0 {
                    if lua_type(l, value) == LUA_TTABLE {
                        lua_pushvalue(l, key);
                        lua_rawget(l, shapes);
                        let shape = shape_at(l, -1);
                        lua_settop(l, value);
                        if matches!(shape, Some(LIST | MAP)) {
                            add_elements(l, &mut list, value, 0);
                        } else {
                            list.add(value, 0);
                        }
                    }
                    lua_settop(l, key);
                }
            }
            lua_settop(l, top + 1);
        }
        // Inner tables come first, so that an untouched one is empty when its own turn comes.
        while list.take_back() {
            if push_shapes(l, table) {
                lua_pushnil(l);
                while lua_next(l, table) != 0 {
                    if lua_type(l, value) == LUA_TTABLE && is_empty(l, value) {
                        lua_pushvalue(l, key);
                        lua_rawget(l, shapes);
                        let shape = shape_at(l, -1);
                        lua_settop(l, value);
                        if is_absent(l, value, shape) {
                            lua_pushvalue(l, key);
                            lua_pushnil(l);
                            lua_rawset(l, table);
                        }
                    }
                    lua_settop(l, key);
                }
            }
            lua_settop(l, top + 1);
        }
        lua_settop(l, top);
    }
}

/// Whether the table at `value`, in a field of `shape`, counts as absent. May raise.
unsafe fn is_absent(l: *mut lua_State, value: c_int, shape: Option<Int>) -> bool {
    // SAFETY: the caller has a table there and free slots.
    unsafe {
        match shape {
            Some(LIST | MAP) => is_empty(l, value),
            Some(_) => is_untouched(l, value),
            None => false,
        }
    }
}

/// Adds the tables in the list or map at `index`, with a tag. May raise.
unsafe fn add_elements(l: *mut lua_State, list: &mut Worklist, index: c_int, tag: u32) {
    // SAFETY: the caller has a table there and six free slots.
    unsafe {
        let top = lua_gettop(l);
        lua_pushnil(l);
        while lua_next(l, index) != 0 {
            if lua_type(l, top + 2) == LUA_TTABLE {
                list.add(top + 2, tag);
            }
            lua_settop(l, top + 1);
        }
    }
}

/// Attaches defaults to the table at `at`, a message `m`, and to the messages in it, as `rules`
/// say. May raise.
///
/// # Safety
/// A table at `at`, an absolute one; the table of pins; [`LEVEL`] free slots.
pub unsafe fn attach(l: *mut lua_State, pins: Pins, b: &Bindings, m: &MessagePlan, at: c_int, rules: &Rules) {
    if rules.defaults == Defaults::None {
        return;
    }
    // SAFETY: as the caller promises; each step leaves the stack as it was.
    unsafe {
        let top = lua_gettop(l);
        let mut list = Worklist::push(l);
        list.add(at, m.index);
        let (table, value) = (top + 2, top + 3);
        while let Some(index) = list.take() {
            let (Some(m), Some(bound)) = (b.set.message(index), b.message(l, pins, index)) else { break };
            if rules.defaults == Defaults::Copy {
                fill(l, pins, b, m, bound, table, rules);
            } else if lua_getmetatable(l, table) == 0 {
                push_decoded(l, pins, b, m, bound, rules);
                lua_setmetatable(l, table);
            }
            lua_settop(l, table);
            let fields = m.fields.iter().filter_map(|f| Some((f, message_within(&b.set, f)?)));
            let names = fields.flat_map(|(f, sub)| {
                let second = if f.flags.has(Flags::EXTENSION) { bound.second_pin(f) } else { None };
                [Some(bound.pin(f)), second].into_iter().flatten().map(move |pin| (f, sub, pin))
            });
            for (f, sub, pin) in names {
                lua_rawgeti(l, pins.table, pin);
                lua_rawget(l, table);
                // What is absent, or wrong, is for encode to tell.
                if lua_type(l, value) == LUA_TTABLE {
                    if f.repeated() {
                        add_elements(l, &mut list, value, sub);
                    } else {
                        list.add(value, sub);
                    }
                }
                lua_settop(l, table);
            }
            lua_settop(l, top + 1);
        }
        lua_settop(l, top);
    }
}

/// The type of the messages in `f`, if it holds any.
fn message_within(set: &Set, f: &FieldPlan) -> Option<u32> {
    match f.op {
        Op::Message | Op::Group => Some(f.sub),
        Op::Map => set.message(f.sub)?.fields.get(1).filter(|v| v.op == Op::Message).map(|v| v.sub),
        _ => None,
    }
}
