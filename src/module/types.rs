//! Registering types, and asking about them.

use std::ffi::c_int;

use super::{bad_argument, string_argument};
use crate::error::{Text, quoted};
use crate::schema::{MessagePlan, unknown_type};
use crate::state::{Instance, Registered};
use crate::vm::api::*;
use crate::vm::{BadArgument, expected, pop, raise, string_at, type_name};

pub unsafe extern "C-unwind" fn register(l: *mut lua_State) -> c_int {
    // SAFETY: registering calls nothing of Lua's.
    unsafe {
        let bytes = string_argument(l, 1, "register");
        let outcome = Instance::of(l).register(bytes);
        finish_register(l, outcome)
    }
}

pub unsafe extern "C-unwind" fn register_file(l: *mut lua_State) -> c_int {
    // SAFETY: registering calls nothing of Lua's.
    unsafe {
        let path = string_argument(l, 1, "register_file");
        let outcome = Instance::of(l).register_file(path);
        finish_register(l, outcome)
    }
}

pub unsafe extern "C-unwind" fn register_proto(l: *mut lua_State) -> c_int {
    // SAFETY: all that may raise for the arguments comes before the lists, and they are gone before
    // the outcome is raised. Between, nothing of Lua's is called but what reads its tables.
    unsafe {
        let name = "register_proto";
        let instance = Instance::of(l);
        check_strings(l, 1, name);
        if lua_type(l, 1) == LUA_TTABLE && raw_len(l, 1) == 0 {
            bad_argument(l, 1, name, BadArgument::Empty);
        }
        if lua_type(l, 2) > LUA_TNIL {
            check_strings(l, 2, name);
        }
        let outcome = instance.register_proto(&strings(l, 1), &strings(l, 2));
        finish_register(l, outcome)
    }
}

pub unsafe extern "C-unwind" fn register_source(l: *mut lua_State) -> c_int {
    // SAFETY: registering calls nothing of Lua's.
    unsafe {
        let text = string_argument(l, 1, "register_source");
        let name = (lua_type(l, 2) > LUA_TNIL).then(|| string_argument(l, 2, "register_source"));
        let outcome = Instance::of(l).register_source(text, name);
        finish_register(l, outcome)
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

unsafe fn finish_register(l: *mut lua_State, outcome: Registered) -> c_int {
    // SAFETY: the functions of an instance have its owner and its pins.
    unsafe {
        let instance = Instance::of(l);
        match outcome {
            Registered::Failed => {
                let text = instance.last_error().unwrap_or_default();
                raise(l, &text)
            }
            Registered::Changed => instance.renew(l, lua_upvalueindex(2), false),
            Registered::Known if instance.is_behind() => instance.renew(l, lua_upvalueindex(2), false),
            Registered::Known => {}
        }
        // Lists of missing imports and of replaced files will stand beside it.
        lua_pushboolean(l, 1);
        lua_pushnil(l);
        lua_pushnil(l);
        3
    }
}

pub unsafe extern "C-unwind" fn clear(l: *mut lua_State) -> c_int {
    // SAFETY: the functions of an instance have its owner and its pins.
    unsafe {
        let instance = Instance::of(l);
        instance.clear();
        instance.renew(l, lua_upvalueindex(2), true);
        0
    }
}

pub unsafe extern "C-unwind" fn check(l: *mut lua_State) -> c_int {
    // SAFETY: arguments stay on the stack.
    unsafe {
        let instance = Instance::of(l);
        let set = instance.epoch().set();
        let why = match (string_at(l, 1).and_then(|t| std::str::from_utf8(t).ok()), lua_type(l, 2) <= LUA_TNIL) {
            (Some(name), true) if set.find(name).is_some() => None,
            (Some(name), false) => match set.find_message(name) {
                Some(m) => unknown_field(l, m),
                None => Some(Text::of(unknown_type(set, name))),
            },
            (Some(name), true) => Some(Text::of(unknown_type(set, name))),
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
        (!known).then(|| Text::of(format_args!("{}: unknown field {}", m.name, quoted(name))))
    }
}

pub unsafe extern "C-unwind" fn enum_id(l: *mut lua_State) -> c_int {
    // SAFETY: arguments stay on the stack.
    unsafe {
        let name = string_argument(l, 1, "enum_id");
        let value = string_argument(l, 2, "enum_id");
        let set = Instance::of(l).epoch().set();
        let number = std::str::from_utf8(name)
            .ok()
            .and_then(|n| set.find_enum(n))
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
        let value = std::str::from_utf8(name).ok().and_then(|n| epoch.set().find_enum(n)).and_then(|e| e.name(number?));
        match value {
            Some(value) => push_bytes(l, value.as_bytes()),
            None => lua_pushnil(l),
        }
        1
    }
}
