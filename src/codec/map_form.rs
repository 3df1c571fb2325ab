//! The forms in which a map is given: a table by key, in the order of traversal or of its keys,
//! or pbc's list of `{key =, value =}`.
//!
//! Stack above a map's `begin`: by key, `key value`; sorted, `keys position key value`; as a
//! list, `position entry key value`, with the copy of an entry that is a proxy after it.

use std::ffi::c_int;

use super::source::{List, Result, StackSource};
use crate::error::EncodeError;
use crate::schema::{MessagePlan, Op};
use crate::vm::api::*;
use crate::vm::{NotWhole, Pins, pop, raw_get_str, string_at, to_int, to_uint};

/// How the entries come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As they are.
    Raw,
    /// By key, the last first.
    Sorted,
    /// From a list of entries, the last first.
    Entries,
}

/// Opens the plain table at `at`, a map with entries of type `entry`.
pub(super) fn open<const FORM: u8>(src: &mut StackSource<FORM>, at: c_int, entry: &MessagePlan) -> Result<List> {
    let l = src.l;
    let begin = src.top;
    // SAFETY: the source made room for ten values and more.
    unsafe {
        let n = raw_len(l, at);
        if n > 0 && is_list_of_entries(src, at, n, entry) {
            lua_pushinteger(l, n as Int + 1);
            src.top = begin + 1;
            return Ok(List { at, begin, count: n as u64, form: Form::Entries });
        }
        if src.rules.sort_map {
            let count = sort_keys(l, at, entry.fields.first().map(|key| key.op), src.pins)?;
            lua_pushinteger(l, count as Int + 1);
            src.top = begin + 2;
            return Ok(List { at, begin, count, form: Form::Sorted });
        }
    }
    Ok(List { at, begin, count: 0, form: Form::Raw })
}

/// The next entry of `map`.
#[allow(clippy::type_complexity)]
pub(super) fn next<const FORM: u8>(
    src: &mut StackSource<FORM>,
    map: List,
) -> Result<Option<(Option<c_int>, Option<c_int>)>> {
    let l = src.l;
    let begin = map.begin;
    // SAFETY: the stack above `begin` is as drawn above.
    unsafe {
        match map.form {
            Form::Raw => {
                if src.top == begin {
                    lua_pushnil(l);
                } else {
                    lua_settop(l, begin + 1);
                }
                if !next_key(src, map.at)? {
                    src.top = begin;
                    return Ok(None);
                }
                src.top = begin + 2;
                Ok(Some((Some(begin + 1), Some(begin + 2))))
            }
            Form::Sorted => {
                let Some(position) = step(l, begin + 2) else { return Ok(None) };
                lua_rawgeti(l, begin + 1, position);
                lua_pushvalue(l, -1);
                lua_rawget(l, map.at);
                src.top = begin + 4;
                Ok(Some((Some(begin + 3), Some(begin + 4))))
            }
            Form::Entries => {
                let Some(position) = step(l, begin + 1) else { return Ok(None) };
                lua_rawgeti(l, map.at, position);
                src.top = begin + 2;
                let entry = src.plain(begin + 2, None, false)?;
                let top = src.top;
                raw_get_str(l, entry, "key");
                raw_get_str(l, entry, "value");
                src.top = top + 2;
                let there = |at| (lua_type(l, at) != LUA_TNIL).then_some(at);
                Ok(Some((there(top + 1), there(top + 2))))
            }
        }
    }
}

/// `lua_next`: replaces the key on top by the next one and its value. A function of the program
/// may have taken that key out of the table meanwhile, which must not raise here.
unsafe fn next_key<const FORM: u8>(src: &StackSource<FORM>, table: c_int) -> Result<bool> {
    let l = src.l;
    // SAFETY: the source made room.
    unsafe {
        if !src.called {
            return Ok(lua_next(l, table) != 0);
        }
        // Whether it is `lua_next` that raises, and not a hook.
        let mut within = false;
        lua_pushcclosure(l, protected_next, 0);
        lua_insert(l, -2);
        lua_pushvalue(l, table);
        lua_insert(l, -2);
        lua_pushlightuserdata(l, (&raw mut within).cast());
        if lua_pcall(l, 3, 2, 0) != 0 {
            let changed = within.then(|| src.fail(format_args!("table changed while it was encoded")));
            return Err(changed.unwrap_or(EncodeError::Raised));
        }
        if lua_type(l, -2) == LUA_TNIL {
            pop(l, 2);
            return Ok(false);
        }
        Ok(true)
    }
}

unsafe extern "C-unwind" fn protected_next(l: *mut lua_State) -> c_int {
    // SAFETY: called by `next_key` with a table, a key and a flag that lives as long as this runs.
    unsafe {
        let within = lua_touserdata(l, 3).cast::<bool>();
        lua_settop(l, 2);
        within.write(true);
        let any = lua_next(l, 1) != 0;
        within.write(false);
        if !any {
            lua_pushnil(l);
            lua_pushnil(l);
        }
        2
    }
}

/// Cuts the stack to the position at `at` and counts it down; `None` when it was the first.
unsafe fn step(l: *mut lua_State, at: c_int) -> Option<Slot> {
    // SAFETY: the caller put a position there.
    unsafe {
        let position = to_integer(l, at).unwrap_or_default() - 1;
        lua_settop(l, at - 1);
        lua_pushinteger(l, position as Int);
        (position > 0).then_some(position as Slot)
    }
}

/// Whether the table at `at` is pbc's list form: every element has only the keys `key` and
/// `value`, and it cannot be meant as a map from numbers.
unsafe fn is_list_of_entries<const FORM: u8>(
    src: &StackSource<FORM>,
    at: c_int,
    n: usize,
    entry: &MessagePlan,
) -> bool {
    let l = src.l;
    let [key, value] = &*entry.fields else { return false };
    let by_number = !matches!(key.op, Op::String | Op::Bool);
    if by_number
        && value.op == Op::Message
        && src.set.message(value.sub).is_some_and(|m| ["key", "value"].iter().any(|k| m.by_name(k).is_some()))
    {
        return false;
    }
    let top = src.top;
    let mut any = false;
    let mut count = 0;
    // SAFETY: the source made room; the stack is cut back.
    unsafe {
        lua_pushnil(l);
        let mut all = true;
        while all && lua_next(l, at) != 0 {
            count += 1;
            let element = top + 2;
            all = lua_type(l, element) == LUA_TTABLE;
            if all && lua_getmetatable(l, element) != 0 {
                raw_get_str(l, -1, "__pairs");
                // What it shows is known when it is read.
                any |= lua_type(l, -1) != LUA_TNIL;
                lua_settop(l, element);
            }
            if all {
                lua_pushnil(l);
                while lua_next(l, element) != 0 {
                    any = true;
                    all = matches!(string_at(l, element + 1), Some(b"key" | b"value"));
                    if !all {
                        break;
                    }
                    pop(l, 1);
                }
            }
            if all {
                lua_settop(l, top + 1);
            }
        }
        lua_settop(l, top);
        // Of nothing but empty tables, numbers keep the meaning of keys.
        all && count == n && (any || !by_number)
    }
}

/// A key, as its field's type orders it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(&'a [u8]),
    /// No key of the map's type: an error, wherever it stands.
    Wrong,
}

impl Key<'_> {
    unsafe fn at<'a>(l: *mut lua_State, index: c_int, op: Option<Op>, pins: Pins) -> Result<Key<'a>> {
        fn of<'a, T>(number: std::result::Result<T, NotWhole>, key: fn(T) -> Key<'a>) -> Result<Key<'a>> {
            match number {
                Ok(number) => Ok(key(number)),
                Err(NotWhole::Raised) => Err(EncodeError::Raised),
                Err(NotWhole::Type | NotWhole::Value) => Ok(Key::Wrong),
            }
        }
        // SAFETY: the type is checked, so no number is converted; the string stays in its table.
        // A boxed number is told by a protected call.
        unsafe {
            let kind = lua_type(l, index);
            Ok(match (op, kind) {
                (Some(Op::Bool), LUA_TBOOLEAN) => Key::Bool(lua_toboolean(l, index) != 0),
                (Some(Op::String), LUA_TSTRING) => Key::String(string_at(l, index).unwrap_or_default()),
                (Some(Op::Uint64 | Op::Fixed64), LUA_TNUMBER | LUA_TSTRING | LUA_TCDATA) => {
                    of(to_uint(l, index, kind, pins), Key::Uint)?
                }
                (Some(op), LUA_TNUMBER | LUA_TSTRING | LUA_TCDATA) if op != Op::Bool && op != Op::String => {
                    of(to_int(l, index, kind, pins), Key::Int)?
                }
                _ => Key::Wrong,
            })
        }
    }
}

/// Pushes a list of the keys of the table at `at`, sorted; answers how many.
unsafe fn sort_keys(l: *mut lua_State, at: c_int, op: Option<Op>, pins: Pins) -> Result<u64> {
    // SAFETY: the source made room. All tables are made before the vectors, which no raising
    // call can then jump over: reading and writing slots that exist raises nothing, and boxed
    // numbers are told by a protected call.
    unsafe {
        let top = lua_gettop(l);
        let mut count: Slot = 0;
        lua_pushnil(l);
        while lua_next(l, at) != 0 {
            pop(l, 1);
            count += 1;
        }
        lua_createtable(l, count as c_int, 0);
        lua_createtable(l, count as c_int, 0);
        let (sorted, found) = (top + 1, top + 2);
        lua_pushnil(l);
        let mut i = 0;
        while lua_next(l, at) != 0 {
            pop(l, 1);
            i += 1;
            lua_pushvalue(l, -1);
            lua_rawseti(l, sorted, i);
            lua_pushvalue(l, -1);
            lua_rawseti(l, found, i);
        }
        permute(l, found, sorted, count, op, pins)?;
        lua_settop(l, sorted);
        Ok(count as u64)
    }
}

#[inline(never)]
unsafe fn permute(
    l: *mut lua_State,
    found: c_int,
    sorted: c_int,
    count: Slot,
    op: Option<Op>,
    pins: Pins,
) -> Result<()> {
    // SAFETY: see `sort_keys`.
    unsafe {
        let mut keys: Vec<(Key, Slot)> = Vec::with_capacity(count as usize);
        for i in 1..=count {
            lua_rawgeti(l, found, i);
            keys.push((Key::at(l, -1, op, pins)?, i));
            pop(l, 1);
        }
        keys.sort();
        for (to, (_, from)) in keys.iter().enumerate() {
            lua_rawgeti(l, found, *from);
            lua_rawseti(l, sorted, to as Slot + 1);
        }
        Ok(())
    }
}
