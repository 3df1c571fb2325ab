//! The functions of the module: their arguments, and what they do with them.

#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod decode;
mod encode;
mod formats;
mod options;
mod reflect;
mod tables;
mod types;

use std::ffi::{CStr, c_int};

use crate::codec;
use crate::error::{Kind, Text};
use crate::schema::unknown_type;
use crate::state::{Epoch, Instance, PIN_FUNCTIONS, copy_pins};
use crate::vm::api::*;
use crate::vm::{BadArgument, expected, has_room, input_at, pop, push_owner, raise, raw_set_str, string_at};

type Function = unsafe extern "C-unwind" fn(*mut lua_State) -> c_int;

const FUNCTIONS: [(&str, Function); 30] = [
    ("register", types::register),
    ("register_file", types::register_file),
    ("register_proto", types::register_proto),
    ("register_source", types::register_source),
    ("encode", encode::encode),
    ("decode", decode::decode),
    ("pack", encode::pack),
    ("unpack", decode::unpack),
    ("check", types::check),
    ("enum_id", types::enum_id),
    ("enum_name", types::enum_name),
    ("default", tables::default),
    ("extract", tables::extract),
    ("has", tables::has),
    ("lasterror", lasterror),
    ("option", option),
    ("new", new),
    ("clear", types::clear),
    ("types", reflect::types),
    ("services", reflect::services),
    ("fields", reflect::fields),
    ("enum", reflect::enumeration),
    ("methods", reflect::methods),
    ("schema_options", reflect::schema_options),
    ("comment", reflect::comment),
    ("to_json", formats::to_json),
    ("from_json", formats::from_json),
    ("to_text", formats::to_text),
    ("from_text", formats::from_text),
    (ENCODE_BUFFER, encode::encode_buffer),
];

/// A helper of `encode` on Luas whose C functions cannot be yielded across; not exported.
const ENCODE_BUFFER: &str = "encode_buffer";

/// Opens the module: pushes the table of a new default instance.
///
/// # Safety
/// Called by Lua as a C function.
pub unsafe extern "C-unwind" fn open(l: *mut lua_State) -> c_int {
    // SAFETY: a C function has 20 free slots.
    unsafe {
        // Moved out of its box before the raise, which runs no destructor.
        let wrong = crate::vm::check_version(l).err().map(|text| *text);
        if let Some(text) = wrong {
            raise(l, &text);
        }
        push_instance(l);
    }
    1
}

/// Pushes the table of a new instance. May raise.
unsafe fn push_instance(l: *mut lua_State) {
    // SAFETY: room is asked for. Stack: owner pins functions module.
    unsafe {
        lua_settop(l, 1);
        if !has_room(l, 40) {
            raise(l, &Text::of("stack overflow"));
        }
        let instance = push_owner(l, Instance::new);
        let owner = lua_gettop(l);
        (*instance).start(l);
        let pins = owner + 1;
        crate::vm::pin_boxed(l, pins);
        lua_rawgeti(l, pins, codec::PIN_METAS);
        copy_pins(l, pins, pins + 1, &crate::vm::BOXED_PINS);
        pop(l, 1);
        lua_createtable(l, FUNCTIONS.len() as c_int, 0);
        lua_pushvalue(l, -1);
        lua_rawseti(l, pins, PIN_FUNCTIONS);
        let functions = pins + 1;
        lua_createtable(l, 0, FUNCTIONS.len() as c_int + 2);
        for (i, (name, function)) in FUNCTIONS.iter().enumerate() {
            lua_pushvalue(l, owner);
            lua_pushvalue(l, pins);
            lua_pushcclosure(l, *function, 2);
            lua_pushvalue(l, -1);
            lua_rawseti(l, functions, i as Slot + 1);
            raw_set_str(l, -2, name);
        }
        crate::vm::wrap_encode(l, functions + 1, ENCODE_BUFFER);
        lua_pushnil(l);
        raw_set_str(l, functions + 1, ENCODE_BUFFER);
        push_bytes(l, env!("CARGO_PKG_VERSION").as_bytes());
        raw_set_str(l, functions + 1, "_VERSION");
        push_bytes(l, codec::UNKNOWN_KEY.as_bytes());
        raw_set_str(l, functions + 1, "UNKNOWN");
    }
}

/// Raises the error of argument `n` of `function`.
#[cold]
#[inline(never)]
pub unsafe fn bad_argument(l: *mut lua_State, n: c_int, function: &str, why: BadArgument) -> ! {
    // SAFETY: the callers hold no value with a destructor.
    unsafe { raise(l, &Text::of(format_args!("bad argument #{n} to '{function}' ({why})"))) }
}

/// The string that is argument `n`.
unsafe fn string_argument<'a>(l: *mut lua_State, n: c_int, function: &str) -> &'a [u8] {
    // SAFETY: arguments stay on the stack.
    unsafe {
        match string_at(l, n) {
            Some(bytes) => bytes,
            None => bad_argument(l, n, function, expected("string", l, n)),
        }
    }
}

/// The bytes that argument 2 gives, of a length that argument 3 may give.
#[inline(always)]
unsafe fn input_argument<'a>(l: *mut lua_State, top: c_int, function: &str) -> &'a [u8] {
    // SAFETY: arguments stay on the stack.
    unsafe {
        match input_at(l, 2, top) {
            Ok(input) => input,
            Err(why) => bad_argument(l, if why.is_length() { 3 } else { 2 }, function, why),
        }
    }
}

unsafe fn table_argument(l: *mut lua_State, n: c_int, function: &str) {
    // SAFETY: arguments stay on the stack.
    unsafe {
        if lua_type(l, n) != LUA_TTABLE {
            bad_argument(l, n, function, expected("table", l, n));
        }
    }
}

/// The error of the argument 1 that names no message type.
#[cold]
#[inline(never)]
unsafe fn no_type(l: *mut lua_State, epoch: &Epoch, function: &str) -> Text {
    // SAFETY: arguments stay on the stack.
    unsafe {
        let name = string_argument(l, 1, function);
        Text::of(unknown_type(&epoch.types, &String::from_utf8_lossy(name)))
    }
}

/// What the trace tells of a message of type `root`, or that `kind` is wrong.
fn traced(instance: &Instance, root: &str, kind: Option<Kind>) -> Text {
    let mut text = Text::new();
    instance.trace.tell(root, kind, &mut text);
    text
}

unsafe extern "C-unwind" fn lasterror(l: *mut lua_State) -> c_int {
    // SAFETY: a free slot.
    unsafe {
        match Instance::of(l).last_error() {
            Some(text) => push_bytes(l, text.as_bytes()),
            None => lua_pushnil(l),
        }
        1
    }
}

unsafe extern "C-unwind" fn option(l: *mut lua_State) -> c_int {
    // SAFETY: the functions of an instance have its owner and its pins.
    unsafe {
        let name = string_argument(l, 1, "option");
        lua_settop(l, 2);
        options::exchange(l, Instance::of(l), name, 2, lua_upvalueindex(2));
        1
    }
}

unsafe extern "C-unwind" fn new(l: *mut lua_State) -> c_int {
    // SAFETY: the options stay at index 1; the new instance's own `option` sets them.
    unsafe {
        if lua_type(l, 1) > LUA_TNIL {
            table_argument(l, 1, "new");
        }
        push_instance(l);
        let module = lua_gettop(l);
        if lua_type(l, 1) != LUA_TTABLE {
            return 1;
        }
        lua_pushnil(l);
        while lua_next(l, 1) != 0 {
            let (key, value) = (module + 1, module + 2);
            crate::vm::raw_get_str(l, module, "option");
            lua_pushvalue(l, key);
            lua_pushvalue(l, value);
            lua_call(l, 2, 0);
            pop(l, 1);
        }
        1
    }
}

#[cold]
#[inline(never)]
unsafe fn no_pattern(l: *mut lua_State, instance: &Instance, function: &str) -> ! {
    // SAFETY: no value with a destructor is in the frames below.
    unsafe {
        string_argument(l, 1, function);
        let mut text = Text::new();
        instance.trace.tell_detail(&mut text);
        raise(l, &text)
    }
}

/// The name under which Lua looks for the module.
pub const NAME: &CStr = c"protobuf";
