//! The bytes that a Lua program passes: a string, or a lightuserdata with a length.

use std::ffi::c_int;

use super::api::*;
use super::stack::{string_at, type_name};
use std::fmt;

/// Why an argument cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadArgument {
    /// It has another type.
    Type {
        /// What was expected.
        expected: &'static str,
        /// The name of the type that came.
        got: &'static str,
    },
    /// A length that is negative or no whole number.
    Length,
    /// A length that the string does not have.
    Beyond {
        /// The length asked for.
        length: usize,
        /// The string's length.
        size: usize,
    },
    /// NULL with a length.
    Null,
    /// A list with another type in it.
    Element {
        /// Its position.
        at: usize,
        /// What was expected.
        expected: &'static str,
        /// The name of the type that came.
        got: &'static str,
    },
    /// A list without elements.
    Empty,
}

impl BadArgument {
    /// Whether it is about the length, the argument after the bytes.
    pub fn is_length(&self) -> bool {
        match self {
            BadArgument::Type { expected, .. } => *expected == LENGTH,
            BadArgument::Length | BadArgument::Beyond { .. } => true,
            BadArgument::Null | BadArgument::Element { .. } | BadArgument::Empty => false,
        }
    }
}

/// What is expected where a length stands.
const LENGTH: &str = "length";

impl fmt::Display for BadArgument {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            BadArgument::Type { expected, got } => write!(f, "expected {expected}, got {got}"),
            BadArgument::Length => f.write_str("length must be a whole number from 0 on"),
            BadArgument::Beyond { length, size } => write!(f, "length {length} is beyond the string's {size} bytes"),
            BadArgument::Null => f.write_str("NULL with a length"),
            BadArgument::Element { at, expected, got } => write!(f, "expected {expected} at index {at}, got {got}"),
            BadArgument::Empty => f.write_str("the list is empty"),
        }
    }
}

/// The bytes at `index`, of which the number at `index + 1` tells the length, if it is there.
///
/// # Errors
/// See [`BadArgument`].
///
/// # Safety
/// A valid index. A lightuserdata must point to as many bytes as the program says. The bytes
/// are to be used only while the value stands on the stack.
#[inline(always)]
pub unsafe fn input_at<'a>(l: *mut lua_State, index: c_int, top: c_int) -> Result<&'a [u8], BadArgument> {
    // SAFETY: as the caller promises.
    unsafe {
        if top <= index
            && let Some(bytes) = string_at(l, index)
        {
            return Ok(bytes);
        }
        with_length(l, index)
    }
}

#[cold]
#[inline(never)]
unsafe fn with_length<'a>(l: *mut lua_State, index: c_int) -> Result<&'a [u8], BadArgument> {
    // SAFETY: as for `input_at`.
    unsafe {
        let pointer = lua_type(l, index) == LUA_TLIGHTUSERDATA;
        let bytes = string_at(l, index);
        if bytes.is_none() && !pointer {
            return Err(expected("string or lightuserdata with length", l, index));
        }
        let length = match lua_type(l, index + 1) {
            LUA_TNUMBER => to_integer(l, index + 1).and_then(|n| usize::try_from(n).ok()),
            t if t <= LUA_TNIL && !pointer => return Ok(bytes.unwrap_or_default()),
            _ => return Err(expected(LENGTH, l, index + 1)),
        };
        let Some(length) = length.filter(|n| *n <= isize::MAX as usize) else {
            return Err(BadArgument::Length);
        };
        if let Some(bytes) = bytes {
            return bytes.get(..length).ok_or(BadArgument::Beyond { length, size: bytes.len() });
        }
        let start = lua_touserdata(l, index).cast::<u8>();
        if length == 0 {
            Ok(&[])
        } else if start.is_null() {
            Err(BadArgument::Null)
        } else {
            Ok(std::slice::from_raw_parts(start, length))
        }
    }
}

/// The error of an argument at `index` that is not `what`.
///
/// # Safety
/// A valid index.
#[cold]
pub unsafe fn expected(what: &'static str, l: *mut lua_State, index: c_int) -> BadArgument {
    // SAFETY: as the caller promises.
    BadArgument::Type { expected: what, got: unsafe { type_name(l, index) } }
}
