//! Registering types, and asking about them.

use std::ffi::c_int;
use std::sync::Arc;

use super::{bad_argument, string_argument};
use crate::error::{SchemaError, Text, quoted};
use crate::schema::{MessagePlan, Types, field_hint, unknown_type};
use crate::state::{Instance, Registered};
use crate::vm::api::*;
use crate::vm::{BadArgument, expected, pop, push_owner, raise, string_at, type_name};

pub unsafe extern "C-unwind" fn register(l: *mut lua_State) -> c_int {
    // SAFETY: registering calls nothing of Lua's, and its outcome is Lua's to keep.
    unsafe {
        let bytes = string_argument(l, 1, "register");
        if Instance::of(l).knows(bytes) {
            return nothing_new(l);
        }
        register_all(l, |instance| instance.register(bytes))
    }
}

pub unsafe extern "C-unwind" fn register_file(l: *mut lua_State) -> c_int {
    // SAFETY: as in `register`.
    unsafe {
        let path = string_argument(l, 1, "register_file");
        register_all(l, |instance| instance.register_file(path))
    }
}

pub unsafe extern "C-unwind" fn register_proto(l: *mut lua_State) -> c_int {
    // SAFETY: as in `register`. All that may raise for the arguments comes before the lists.
    unsafe {
        let name = "register_proto";
        check_strings(l, 1, name);
        if lua_type(l, 1) == LUA_TTABLE && raw_len(l, 1) == 0 {
            bad_argument(l, 1, name, BadArgument::Empty);
        }
        if lua_type(l, 2) > LUA_TNIL {
            check_strings(l, 2, name);
        }
        register_all(l, |instance| instance.register_proto(&strings(l, 1), &strings(l, 2)))
    }
}

pub unsafe extern "C-unwind" fn register_source(l: *mut lua_State) -> c_int {
    // SAFETY: as in `register`.
    unsafe {
        let text = string_argument(l, 1, "register_source");
        let name = (lua_type(l, 2) > LUA_TNIL).then(|| string_argument(l, 2, "register_source"));
        register_all(l, |instance| instance.register_source(text, name))
    }
}

/// Raises unless argument `n` is a string or a list of strings.
unsafe fn check_strings(l: *mut lua_State, n: c_int, function: &str) {
    // SAFETY: arguments stay on the stack; a free slot.
    unsafe {
        if string_at(l, n).is_some() {
            return;
        }
        if lua_type(l, n) != LUA_TTABLE {
            bad_argument(l, n, function, expected("string or list of strings", l, n));
        }
        for at in 1..=raw_len(l, n) {
            lua_rawgeti(l, n, at as Slot);
            if string_at(l, -1).is_none() {
                let got = type_name(l, -1);
                bad_argument(l, n, function, BadArgument::Element { at, expected: "string", got });
            }
            pop(l, 1);
        }
    }
}

/// The string that is argument `n`, or those in the list that it is, as [`check_strings`] saw them;
/// none if it is absent. Raises nothing.
unsafe fn strings<'a>(l: *mut lua_State, n: c_int) -> Vec<&'a [u8]> {
    // SAFETY: arguments stay on the stack, and what is in tables there stays while no Lua code runs;
    // a free slot.
    unsafe {
        if let Some(one) = string_at(l, n) {
            return vec![one];
        }
        let mut all = Vec::new();
        for at in 1..=if lua_type(l, n) == LUA_TTABLE { raw_len(l, n) } else { 0 } {
            lua_rawgeti(l, n, at as Slot);
            all.extend(string_at(l, -1));
            pop(l, 1);
        }
        all
    }
}

unsafe fn nothing_new(l: *mut lua_State) -> c_int {
    // SAFETY: four free slots.
    unsafe {
        lua_pushboolean(l, 1);
        for _ in 0..3 {
            lua_pushnil(l);
        }
        4
    }
}

/// Returns what `work` comes to, which calls nothing of Lua's. All that it registers is registered at once, when nothing
/// can fail any more.
unsafe fn register_all(l: *mut lua_State, work: impl Fn(&Instance) -> Registered) -> c_int {
    // SAFETY: the functions of an instance have its owner and its pins. The outcome is Lua's to keep.
    unsafe {
        let instance = Instance::of(l);
        let top = lua_gettop(l);
        loop {
            let outcome = &*push_owner(l, || work(instance));
            // Nothing collects until the pins of the types with which it began are on the stack.
            lua_pushvalue(l, lua_upvalueindex(2));
            let pins = lua_gettop(l);
            let (types, report) = match outcome {
                Ok(done) => done,
                Err(error) => raise(l, &Text::of(error)),
            };
            lua_pushboolean(l, 1);
            push_some_names(l, &report.missing);
            push_some_names(l, &report.replaced);
            push_failed(l, &report.failed);
            if Arc::ptr_eq(types, &instance.epoch().types) || instance.renew(l, pins, types) {
                return 4;
            }
            lua_settop(l, top);
        }
    }
}

/// Pushes a table from names of files to errors, or nil if there are none.
unsafe fn push_failed(l: *mut lua_State, failed: &[(Arc<str>, SchemaError)]) {
    // SAFETY: three free slots.
    unsafe {
        if failed.is_empty() {
            lua_pushnil(l);
            return;
        }
        lua_createtable(l, 0, size(failed.len()));
        for (name, error) in failed {
            push_bytes(l, name.as_bytes());
            push_bytes(l, error.0.as_bytes());
            lua_rawset(l, -3);
        }
    }
}

/// Pushes a list of `names`, or nil if there are none.
unsafe fn push_some_names(l: *mut lua_State, names: &[Arc<str>]) {
    // SAFETY: two free slots; the owner on the stack keeps the names.
    unsafe {
        if names.is_empty() {
            lua_pushnil(l);
        } else {
            push_names(l, names);
        }
    }
}

/// Room for so many in a new table, as far as Lua can be asked for it.
pub(super) fn size(n: usize) -> c_int {
    c_int::try_from(n).unwrap_or(0)
}

/// Pushes a list of `names`. May raise.
///
/// # Safety
/// Two free slots; `names` stay while Lua may collect.
pub(super) unsafe fn push_names(l: *mut lua_State, names: &[Arc<str>]) {
    // SAFETY: as the caller promises.
    unsafe {
        lua_createtable(l, size(names.len()), 0);
        for (name, at) in names.iter().zip(1..) {
            push_bytes(l, name.as_bytes());
            lua_rawseti(l, -2, at);
        }
    }
}

pub unsafe extern "C-unwind" fn clear(l: *mut lua_State) -> c_int {
    // SAFETY: the functions of an instance have its owner and its pins.
    unsafe {
        let instance = Instance::of(l);
        loop {
            lua_settop(l, 0);
            lua_pushvalue(l, lua_upvalueindex(2));
            if instance.renew(l, 1, Types::built_in()) {
                return 0;
            }
        }
    }
}

pub unsafe extern "C-unwind" fn check(l: *mut lua_State) -> c_int {
    // SAFETY: arguments stay on the stack.
    unsafe {
        let instance = Instance::of(l);
        let types = &instance.epoch().types;
        let why = match (string_at(l, 1).and_then(|t| std::str::from_utf8(t).ok()), lua_type(l, 2) <= LUA_TNIL) {
            (Some(name), true) if types.find(name).is_some() => None,
            (Some(name), false) => match types.find_message(name) {
                Some(m) => unknown_field(l, m),
                None => Some(Text::of(unknown_type(types, name))),
            },
            (Some(name), true) => Some(Text::of(unknown_type(types, name))),
            (None, _) => Some(Text::of(format_args!("type name: {}", expected("string", l, 1)))),
        };
        if let Some(text) = &why {
            instance.set_last_error(text.as_bytes());
        }
        lua_pushboolean(l, c_int::from(why.is_none()));
        1
    }
}

/// What is wrong with argument 2 as the name of a field of `m`.
unsafe fn unknown_field(l: *mut lua_State, m: &MessagePlan) -> Option<Text> {
    // SAFETY: arguments stay on the stack.
    unsafe {
        let Some(name) = string_at(l, 2) else {
            return Some(Text::of(format_args!("{}: field name: {}", m.name, expected("string", l, 2))));
        };
        let known = std::str::from_utf8(name).is_ok_and(|name| m.by_name(name).is_some());
        let hint = || field_hint(m, &String::from_utf8_lossy(name));
        (!known).then(|| Text::of(format_args!("{}: unknown field {}{}", m.name, quoted(name), hint())))
    }
}

pub unsafe extern "C-unwind" fn enum_id(l: *mut lua_State) -> c_int {
    // SAFETY: arguments stay on the stack.
    unsafe {
        let name = string_argument(l, 1, "enum_id");
        let value = string_argument(l, 2, "enum_id");
        let types = &Instance::of(l).epoch().types;
        let number = std::str::from_utf8(name)
            .ok()
            .and_then(|n| types.find_enum(n))
            .and_then(|e| e.number(std::str::from_utf8(value).ok()?));
        match number {
            Some(number) => lua_pushinteger(l, number as Int),
            None => lua_pushnil(l),
        }
        1
    }
}

pub unsafe extern "C-unwind" fn enum_name(l: *mut lua_State) -> c_int {
    // SAFETY: arguments stay on the stack; the epoch's pins are pushed before the name.
    unsafe {
        let name = string_argument(l, 1, "enum_name");
        if lua_type(l, 2) != LUA_TNUMBER {
            bad_argument(l, 2, "enum_name", expected("number", l, 2));
        }
        let number = to_integer(l, 2).and_then(|n| i32::try_from(n).ok());
        let epoch = Instance::of(l).epoch();
        lua_pushvalue(l, lua_upvalueindex(2));
        let value = std::str::from_utf8(name).ok().and_then(|n| epoch.types.find_enum(n)).and_then(|e| e.name(number?));
        match value {
            Some(value) => push_bytes(l, value.as_bytes()),
            None => lua_pushnil(l),
        }
        1
    }
}
