//! Values of the encoder that are not what a field mostly gets: names of enums that are no short
//! string, the bytes of messages, and lists with wrong keys.

use std::ffi::c_int;

use super::show::Shown;
use super::source::{Result, StackSource};
use crate::error::EncodeError;
use crate::schema::{EnumPlan, FieldPlan, unknown_value};
use crate::vm::api::*;
use crate::vm::{NotWhole, pop, string_at, to_int};

impl<const FORM: u8> StackSource<'_, FORM> {
    /// An enum by number, by a long name, or wrong.
    #[cold]
    #[inline(never)]
    pub(super) fn other_enum(&mut self, at: c_int, field: &FieldPlan, plan: &EnumPlan) -> Result<i32> {
        // SAFETY: `at` is on the stack, `open` made room.
        unsafe {
            if let Some(name) = string_at(self.l, at) {
                let text = String::from_utf8_lossy(name);
                if let Some(number) = plan.number(&text) {
                    return Ok(number);
                }
                return Err(self.fail(format_args!("{}", unknown_value(plan, &text))));
            }
            match to_int(self.l, at, lua_type(self.l, at), self.pins) {
                Ok(n) => i32::try_from(n).map_err(|_| self.number_error(at, field)),
                Err(NotWhole::Value) => Err(self.number_error(at, field)),
                Err(NotWhole::Raised) => Err(EncodeError::Raised),
                Err(NotWhole::Type) => Err(self.wrong(at, "name or number of an enum")),
            }
        }
    }

    /// The bytes of a message in the flat form: a string, or `{string, length}`.
    #[cold]
    pub(super) fn flat_message(&self, at: c_int) -> Result<&[u8]> {
        // SAFETY: the table keeps the string while the kernel writes it.
        unsafe {
            if let Some(bytes) = string_at(self.l, at) {
                return Ok(bytes);
            }
            if lua_type(self.l, at) != LUA_TTABLE {
                return Err(self.wrong(at, "bytes of a message, or {bytes, length}"));
            }
            lua_rawgeti(self.l, at, 1);
            lua_rawgeti(self.l, at, 2);
            let bytes = string_at(self.l, -2);
            let length = if lua_type(self.l, -1) == LUA_TNUMBER { to_integer(self.l, -1) } else { None };
            let whole = lua_type(self.l, -1) == LUA_TNIL;
            pop(self.l, 2);
            let part = match (bytes, length.and_then(|n| usize::try_from(n).ok())) {
                (Some(bytes), Some(n)) => bytes.get(..n),
                (Some(bytes), None) if whole => Some(bytes),
                _ => None,
            };
            part.ok_or_else(|| self.fail(format_args!("expected bytes of a message, or {{bytes, length}}")))
        }
    }

    /// A list whose border `n` is not the number of its keys: tells which key is wrong.
    #[cold]
    #[inline(never)]
    pub(super) fn stray_keys(&mut self, at: c_int, n: u64) -> Result<()> {
        let begin = self.top;
        let mut highest = 0u64;
        // SAFETY: a table is at `at`, `open` made room for the pair and a value.
        unsafe {
            lua_pushnil(self.l);
            while lua_next(self.l, at) != 0 {
                let key = begin + 1;
                let number = lua_type(self.l, key) == LUA_TNUMBER;
                match to_integer_if(self.l, key, number) {
                    Some(i) if i > 0 => highest = highest.max(i as u64),
                    _ if self.rules.ignore_keys => {}
                    _ => {
                        let shown = Shown::at(self.l, key);
                        return Err(self.fail(format_args!("list with key {shown}")));
                    }
                }
                lua_settop(self.l, key);
            }
            for i in 1..=n.max(highest) {
                lua_rawgeti(self.l, at, i as Slot);
                let hole = lua_type(self.l, -1) == LUA_TNIL;
                lua_settop(self.l, begin);
                if hole {
                    return Err(self.fail(format_args!("list with a hole at index {i}")));
                }
            }
        }
        Ok(())
    }
}

unsafe fn to_integer_if(l: *mut lua_State, index: c_int, number: bool) -> Option<i64> {
    // SAFETY: the caller checked the type.
    if number { unsafe { to_integer(l, index) } } else { None }
}
