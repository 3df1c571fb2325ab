//! Functions that tell what is registered. What they tell is made first, by the schema layer, and owned by a userdata
//! on the stack while it becomes tables: a finalizer may register or clear meanwhile.

use std::ffi::c_int;
use std::sync::Arc;

use super::decode::{push_message, told};
use super::types::{push_names, size};
use super::{bad_argument, string_argument};
use crate::codec::{Defaults, push_default};
use crate::error::{SchemaError, Text, quoted};
use crate::schema::{Field, Method, Named, Options, Types, Value, ValueType};
use crate::state::{Epoch, Instance};
use crate::vm::api::*;
use crate::vm::{Pins, expected, push_owner, raise, raw_set_str, string_at};

/// What the schema layer tells, or why it does not.
type Told<T> = Result<T, SchemaError>;

/// Where [`enter`] leaves the table of pins.
const PINS: c_int = 3;

/// Leaves two arguments and the table of pins, and with it the epoch, on the stack.
unsafe fn enter<'a>(l: *mut lua_State) -> (&'a Instance, &'a Epoch) {
    // SAFETY: the functions of an instance have its owner and its pins.
    unsafe {
        let instance = Instance::of(l);
        let epoch = instance.epoch();
        lua_settop(l, 2);
        lua_pushvalue(l, lua_upvalueindex(2));
        (instance, epoch)
    }
}

/// Pushes the owner of what `make` gives. Raises if that is an error.
///
/// # Safety
/// Four free slots; no frame up to Lua holds a value with a destructor.
unsafe fn tell<'a, T>(l: *mut lua_State, make: impl FnOnce() -> Told<T>) -> &'a T {
    // SAFETY: the owner stays on the stack while the value is used, as the caller promises.
    unsafe {
        match &*push_owner(l, make) {
            Ok(told) => told,
            Err(error) => raise(l, &Text::of(error)),
        }
    }
}

pub unsafe extern "C-unwind" fn types(l: *mut lua_State) -> c_int {
    // SAFETY: no value with a destructor is in this frame.
    unsafe {
        let named = match (lua_type(l, 1) > LUA_TNIL).then(|| string_argument(l, 1, "types")) {
            None => Named::Type,
            Some(b"message") => Named::Message,
            Some(b"enum") => Named::Enum,
            Some(other) => {
                // The quoted text is on the heap, and must be gone before the raise.
                let what = "expected \"message\" or \"enum\"";
                let text = Text::of(format_args!("bad argument #1 to 'types' ({what}, got {})", quoted(other)));
                raise(l, &text)
            }
        };
        names(l, named)
    }
}

pub unsafe extern "C-unwind" fn services(l: *mut lua_State) -> c_int {
    // SAFETY: no value with a destructor is in this frame.
    unsafe { names(l, Named::Service) }
}

/// Returns the list of the names of such.
unsafe fn names(l: *mut lua_State, named: Named) -> c_int {
    // SAFETY: the owner on the stack keeps the names.
    unsafe {
        let (_, epoch) = enter(l);
        let own = |types: &Types| types.names(named, false).into_iter().cloned().collect::<Vec<Arc<str>>>();
        let names = tell(l, || Ok(own(&epoch.types)));
        push_names(l, names);
        1
    }
}

/// `table.key = text`, for the table on top.
unsafe fn set_text(l: *mut lua_State, key: &str, text: &[u8]) {
    // SAFETY: the caller has a table on top and three free slots.
    unsafe {
        push_bytes(l, text);
        raw_set_str(l, -2, key);
    }
}

/// The same if there is one.
unsafe fn set_some(l: *mut lua_State, key: &str, text: Option<&[u8]>) {
    // SAFETY: as for `set_text`.
    unsafe {
        if let Some(text) = text {
            set_text(l, key, text);
        }
    }
}

unsafe fn set_boolean(l: *mut lua_State, key: &str, value: bool) {
    // SAFETY: as for `set_text`.
    unsafe {
        lua_pushboolean(l, c_int::from(value));
        raw_set_str(l, -2, key);
    }
}

unsafe fn set_number(l: *mut lua_State, key: &str, value: Int) {
    // SAFETY: as for `set_text`.
    unsafe {
        lua_pushinteger(l, value);
        raw_set_str(l, -2, key);
    }
}

unsafe fn set_value_type(l: *mut lua_State, value: &ValueType) {
    // SAFETY: as for `set_text`.
    unsafe {
        set_text(l, "type", value.keyword.as_bytes());
        set_some(l, "type_name", value.type_name.as_ref().map(|name| name.as_bytes()));
    }
}

pub unsafe extern "C-unwind" fn fields(l: *mut lua_State) -> c_int {
    // SAFETY: the pins on the stack keep the epoch, the owner the fields.
    unsafe {
        let name = string_argument(l, 1, "fields");
        let (instance, epoch) = enter(l);
        let variant = instance.options.get().rules.variant();
        let fields: &Vec<Field> = tell(l, || epoch.types.fields(&String::from_utf8_lossy(name)));
        lua_createtable(l, size(fields.len()), 0);
        for (field, at) in fields.iter().zip(1..) {
            lua_createtable(l, 0, 8);
            set_text(l, "name", field.name.as_bytes());
            set_number(l, "number", field.plan.number() as Int);
            set_value_type(l, &field.value);
            set_text(l, "label", field.label.as_bytes());
            if let Some(packed) = field.packed {
                set_boolean(l, "packed", packed);
            }
            set_some(l, "presence", field.presence.map(str::as_bytes));
            push_default(l, &field.plan, &field.default, epoch.set(), variant, Pins { table: PINS });
            raw_set_str(l, -2, "default");
            set_some(l, "oneof", field.oneof.as_ref().map(|name| name.as_bytes()));
            set_text(l, "json_name", field.json_name.as_bytes());
            set_boolean(l, "extension", field.is_extension());
            if let Some([key, value]) = &field.entry {
                for (name, part) in [("key", key), ("value", value)] {
                    lua_createtable(l, 0, 2);
                    set_value_type(l, part);
                    raw_set_str(l, -2, name);
                }
            }
            set_some(l, "comment", field.comment.as_deref());
            lua_rawseti(l, -2, at);
        }
        1
    }
}

pub unsafe extern "C-unwind" fn enumeration(l: *mut lua_State) -> c_int {
    // SAFETY: the owner on the stack keeps the values.
    unsafe {
        let name = string_argument(l, 1, "enum");
        let (_, epoch) = enter(l);
        let values: &Vec<Value> = tell(l, || epoch.types.values(&String::from_utf8_lossy(name)));
        lua_createtable(l, size(values.len()), 0);
        for (value, at) in values.iter().zip(1..) {
            lua_createtable(l, 0, 3);
            set_text(l, "name", value.name.as_bytes());
            set_number(l, "number", value.number as Int);
            set_some(l, "comment", value.comment.as_deref());
            lua_rawseti(l, -2, at);
        }
        1
    }
}

pub unsafe extern "C-unwind" fn methods(l: *mut lua_State) -> c_int {
    // SAFETY: the owner on the stack keeps the methods.
    unsafe {
        let name = string_argument(l, 1, "methods");
        let (_, epoch) = enter(l);
        let methods: &Vec<Method> = tell(l, || epoch.types.methods(&String::from_utf8_lossy(name)));
        lua_createtable(l, size(methods.len()), 0);
        for (method, at) in methods.iter().zip(1..) {
            lua_createtable(l, 0, 6);
            set_text(l, "name", method.name.as_bytes());
            set_text(l, "input", method.input.as_bytes());
            set_text(l, "output", method.output.as_bytes());
            set_boolean(l, "client_streaming", method.client_streaming);
            set_boolean(l, "server_streaming", method.server_streaming);
            set_some(l, "comment", method.comment.as_deref());
            lua_rawseti(l, -2, at);
        }
        1
    }
}

/// Argument 2 of `function`, if there is one.
unsafe fn member_argument<'a>(l: *mut lua_State, function: &str) -> Option<&'a [u8]> {
    // SAFETY: arguments stay on the stack.
    unsafe {
        match lua_type(l, 2) > LUA_TNIL {
            true if string_at(l, 2).is_none() => bad_argument(l, 2, function, expected("string", l, 2)),
            true => string_at(l, 2),
            false => None,
        }
    }
}

pub unsafe extern "C-unwind" fn comment(l: *mut lua_State) -> c_int {
    // SAFETY: the owner on the stack keeps the comment.
    unsafe {
        let name = string_argument(l, 1, "comment");
        let member = member_argument(l, "comment");
        let (_, epoch) = enter(l);
        let comment: &Option<Vec<u8>> = tell(l, || {
            let member = member.map(String::from_utf8_lossy);
            epoch.types.comment(&String::from_utf8_lossy(name), member.as_deref())
        });
        match comment {
            Some(text) => push_bytes(l, text),
            None => lua_pushnil(l),
        }
        1
    }
}

pub unsafe extern "C-unwind" fn schema_options(l: *mut lua_State) -> c_int {
    // SAFETY: the pins on the stack keep the epoch, the owner the bytes and their type.
    unsafe {
        let name = string_argument(l, 1, "schema_options");
        let member = member_argument(l, "schema_options");
        let (instance, epoch) = enter(l);
        let of: &Options = tell(l, || {
            let member = member.map(String::from_utf8_lossy);
            epoch.types.options(&String::from_utf8_lossy(name), member.as_deref())
        });
        let mut options = instance.options.get();
        options.rules.defaults = Defaults::None;
        options.required = false;
        let pins = Pins { table: PINS };
        if let Err(error) = push_message(l, instance, epoch, pins, options, &of.plan, &of.bytes) {
            raise(l, &told(instance, &of.plan.name, &of.bytes, error));
        }
        1
    }
}
