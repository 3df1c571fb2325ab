//! The options of an instance by name (`protobuf.option`).

use std::ffi::c_int;

use crate::codec::{Defaults, PIN_ARRAY, PIN_MAP, PIN_METAS, Shown};
use crate::error::Text;
use crate::state::{Instance, Options};
use crate::vm::api::*;
use crate::vm::{raise, string_at};

/// A value that an option can have.
enum Setting {
    /// One of a few words; the position of the present one.
    Words(&'static [&'static str], usize),
    Flag(bool),
    /// A number and its bounds.
    Number(u64, std::ops::RangeInclusive<u64>),
    /// The pin of a metatable.
    Metatable(Slot),
}

/// The largest bound that every Lua's numbers hold exactly.
const MOST_BYTES: u64 = 1 << 53;

const DEFAULTS: [(&str, Defaults); 3] =
    [("metatable", Defaults::Metatable), ("copy", Defaults::Copy), ("none", Defaults::None)];
const ERROR_OR_IGNORE: &[&str] = &["error", "ignore"];

fn setting(options: &Options, name: &[u8]) -> Option<Setting> {
    let words = |words, second| Setting::Words(words, usize::from(second));
    Some(match name {
        b"defaults" => {
            let present = DEFAULTS.iter().position(|(_, d)| *d == options.rules.defaults);
            Setting::Words(&["metatable", "copy", "none"], present.unwrap_or_default())
        }
        b"enum" => words(&["name", "number"], options.rules.enum_number),
        b"int64" => words(&["auto", "string"], options.rules.int64_string),
        b"unknown" => words(&["keep", "drop"], !options.rules.keep_unknown),
        b"unknown_key" => words(ERROR_OR_IGNORE, options.rules.ignore_keys),
        b"required" => words(ERROR_OR_IGNORE, !options.required),
        b"utf8" => words(ERROR_OR_IGNORE, !options.utf8),
        b"sort_map" => Setting::Flag(options.rules.sort_map),
        b"depth" => Setting::Number(options.depth.into(), 1..=Options::DEEPEST.into()),
        b"max_bytes" => Setting::Number(options.max_bytes, 1..=MOST_BYTES),
        b"array_metatable" => Setting::Metatable(PIN_ARRAY),
        b"map_metatable" => Setting::Metatable(PIN_MAP),
        _ => return None,
    })
}

/// Sets a word, by its position, or a flag or number.
fn set(options: &mut Options, name: &[u8], value: u64) {
    let second = value == 1;
    match name {
        b"defaults" => options.rules.defaults = DEFAULTS.get(value as usize).map_or(Defaults::Metatable, |d| d.1),
        b"enum" => options.rules.enum_number = second,
        b"int64" => options.rules.int64_string = second,
        b"unknown" => options.rules.keep_unknown = !second,
        b"unknown_key" => options.rules.ignore_keys = second,
        b"required" => options.required = !second,
        b"utf8" => options.utf8 = !second,
        b"sort_map" => options.rules.sort_map = second,
        b"depth" => options.depth = value as u32,
        b"max_bytes" => options.max_bytes = value,
        b"array_metatable" => options.rules.array_metatable = second,
        b"map_metatable" => options.rules.map_metatable = second,
        _ => {}
    }
}

/// Pushes the value of option `name`, then sets it to the value at `at`, unless that is nil.
/// Raises on a name or value that does not exist.
///
/// # Safety
/// A value at `at`, the table of pins at `pins`, ten free slots.
pub unsafe fn exchange(l: *mut lua_State, instance: &Instance, name: &[u8], at: c_int, pins: c_int) {
    let Some(setting) = setting(&instance.options.get(), name) else {
        // The name is quoted on the heap, and must be gone before the raise.
        let text = Text::of(format_args!("unknown option {}", crate::error::quoted(name)));
        // SAFETY: no value with a destructor is in this frame or those below.
        unsafe { raise(l, &text) }
    };
    // SAFETY: as the caller promises.
    let value = unsafe {
        match &setting {
            Setting::Words(words, present) => {
                push_bytes(l, words.get(*present).copied().unwrap_or_default().as_bytes())
            }
            Setting::Flag(present) => lua_pushboolean(l, c_int::from(*present)),
            Setting::Number(present, _) => lua_pushnumber_exact(l, *present),
            Setting::Metatable(pin) => {
                lua_rawgeti(l, pins, *pin);
            }
        }
        if lua_type(l, at) <= LUA_TNIL {
            return;
        }
        match &setting {
            Setting::Words(words, _) => {
                string_at(l, at).and_then(|v| words.iter().position(|w| w.as_bytes() == v)).map(|i| i as u64)
            }
            Setting::Flag(_) => (lua_type(l, at) == LUA_TBOOLEAN).then(|| lua_toboolean(l, at) as u64),
            Setting::Number(_, bounds) => {
                let number = if lua_type(l, at) == LUA_TNUMBER { to_integer(l, at) } else { None };
                number.and_then(|n| u64::try_from(n).ok()).filter(|n| bounds.contains(n))
            }
            Setting::Metatable(pin) => set_metatable(l, at, pins, *pin),
        }
    };
    match value {
        Some(value) => {
            let mut options = instance.options.get();
            set(&mut options, name, value);
            instance.options.set(options);
        }
        // SAFETY: no value with a destructor is in the frames below.
        None => unsafe { wrong_value(l, name, &setting, at) },
    }
}

unsafe fn lua_pushnumber_exact(l: *mut lua_State, v: u64) {
    // SAFETY: the caller has a free slot.
    unsafe {
        if INTEGERS {
            lua_pushinteger(l, v as Int);
        } else {
            lua_pushnumber(l, v as f64);
        }
    }
}

/// Pins a metatable, or none for `false`; answers whether there is one.
unsafe fn set_metatable(l: *mut lua_State, at: c_int, pins: c_int, pin: Slot) -> Option<u64> {
    // SAFETY: the caller has the pins and free slots.
    unsafe {
        let there = match lua_type(l, at) {
            LUA_TTABLE => 1,
            LUA_TBOOLEAN if lua_toboolean(l, at) == 0 => 0,
            _ => return None,
        };
        lua_rawgeti(l, pins, PIN_METAS);
        // Metatables of messages look among their own pins.
        for table in [lua_gettop(l), pins] {
            if there == 1 {
                lua_pushvalue(l, at);
            } else {
                lua_pushnil(l);
            }
            lua_rawseti(l, table, pin);
        }
        lua_settop(l, -2);
        Some(there)
    }
}

#[cold]
unsafe fn wrong_value(l: *mut lua_State, name: &[u8], setting: &Setting, at: c_int) -> ! {
    use std::fmt::Write;
    let mut text = Text::new();
    let _ = write!(text, "option {}: expected ", name.escape_ascii());
    let _ = match setting {
        Setting::Words(words, _) => words.iter().enumerate().try_for_each(|(i, w)| {
            let or = if i == 0 { "" } else { " or " };
            write!(text, "{or}\"{w}\"")
        }),
        Setting::Flag(_) => write!(text, "boolean"),
        Setting::Number(_, bounds) => write!(text, "whole number from {} to {}", bounds.start(), bounds.end()),
        Setting::Metatable(_) => write!(text, "table or false"),
    };
    // SAFETY: no value with a destructor is in the frames below.
    unsafe {
        let _ = write!(text, ", got {}", Shown::at(l, at));
        raise(l, &text)
    }
}
