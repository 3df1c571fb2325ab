//! Lua values and types of fields as errors show them.

use std::ffi::c_int;
use std::fmt;

use crate::error::quoted;
use crate::schema::Op;
use crate::vm::api::*;
use crate::vm::{string_at, type_name};

/// What a field of `op` expects.
pub fn title(op: Op) -> &'static str {
    match op {
        Op::Bool => "boolean",
        Op::Message | Op::Group | Op::Map => "table",
        other => other.keyword(),
    }
}

/// A value, looked at without changing it. It must stay on the stack while it is shown.
pub enum Shown<'a> {
    /// A whole number.
    Int(i64),
    /// Another number.
    Number(f64),
    /// A string.
    String(&'a [u8]),
    /// A boolean.
    Bool(bool),
    /// Something else: the name of its type.
    Other(&'static str),
}

impl Shown<'_> {
    /// The value at `index`.
    ///
    /// # Safety
    /// A valid index.
    pub unsafe fn at<'a>(l: *mut lua_State, index: c_int) -> Shown<'a> {
        // SAFETY: only reads, and no number is converted.
        unsafe {
            match lua_type(l, index) {
                LUA_TNUMBER => match (to_integer(l, index), to_number(l, index)) {
                    (Some(v), _) => Shown::Int(v),
                    (None, Some(v)) => Shown::Number(v),
                    (None, None) => Shown::Other("number"),
                },
                LUA_TSTRING => Shown::String(string_at(l, index).unwrap_or_default()),
                LUA_TBOOLEAN => Shown::Bool(lua_toboolean(l, index) != 0),
                LUA_TCDATA => Shown::Other("cdata"),
                _ => Shown::Other(type_name(l, index)),
            }
        }
    }

    /// Whether it is a number with a fraction, or NaN.
    pub fn is_fraction(&self) -> bool {
        matches!(self, Shown::Number(n) if n.is_finite() && n.fract() != 0.0)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Shown::Int(v) => write!(f, "{v}"),
            Shown::Number(v) if v.abs() >= 1e16 => write!(f, "{v:e}"),
            Shown::Number(v) => write!(f, "{v}"),
            Shown::String(v) => write!(f, "string {}", quoted(v)),
            Shown::Bool(_) => f.write_str("boolean"),
            Shown::Other(name) => f.write_str(name),
        }
    }
}
