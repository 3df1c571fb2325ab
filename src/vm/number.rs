//! Whole numbers between Lua and 64 bits, exact on every Lua.
//!
//! From 5.3 on Lua has 64-bit integers. Elsewhere a number is a double: exact up to 2^53;
//! beyond, LuaJIT has boxed `int64_t` and `uint64_t`, and the others get decimal strings.

use std::ffi::c_int;

use super::api::*;
use super::stack::{pop, string_at};

/// Where the functions of this layer find what a Lua state keeps for them: positions in
/// the table of pins at stack index `table`.
#[derive(Clone, Copy)]
pub struct Pins {
    /// Stack index or pseudo-index of the table of pins.
    pub table: c_int,
}

/// Pin of LuaJIT's `ffi.typeof "int64_t"`.
pub const PIN_INT64: Slot = 2;
/// Pin of LuaJIT's `ffi.typeof "uint64_t"`.
pub const PIN_UINT64: Slot = 3;
/// Pin of a function that tells boxed numbers: 1 for int64_t, 2 for uint64_t, 0 for others.
pub const PIN_BOXED: Slot = 4;

/// Why a value is no whole number of the wanted kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotWhole {
    /// Neither number nor a string that holds one.
    Type,
    /// A fraction, NaN, infinity, or a number out of range.
    Value,
    /// Telling a boxed number raised an error, whose value is on top of the stack.
    Raised,
}

/// The largest magnitude up to which doubles hold every whole number.
const EXACT: u64 = 1 << 53;

/// Pushes a signed number. May raise where numbers are doubles.
///
/// # Safety
/// Two free slots, and the table of pins.
#[inline(always)]
pub unsafe fn push_int(l: *mut lua_State, v: i64, pins: Pins) {
    // SAFETY: as the caller promises.
    unsafe {
        if INTEGERS || v as i32 as i64 == v {
            lua_pushinteger(l, v as Int);
        } else if v.unsigned_abs() <= EXACT {
            lua_pushnumber(l, v as f64);
        } else {
            push_wide(l, v as u64, true, pins);
        }
    }
}

/// Pushes an unsigned number; from 5.3 on the integer with the same bits. May raise elsewhere.
///
/// # Safety
/// Two free slots, and the table of pins.
#[inline(always)]
pub unsafe fn push_uint(l: *mut lua_State, v: u64, pins: Pins) {
    // SAFETY: as the caller promises.
    unsafe {
        if INTEGERS {
            lua_pushinteger(l, v as Int);
        } else if v <= EXACT {
            lua_pushnumber(l, v as f64);
        } else {
            push_wide(l, v, false, pins);
        }
    }
}

/// Pushes a number that no double holds: boxed on LuaJIT, else as a decimal string.
#[cold]
#[inline(never)]
unsafe fn push_wide(l: *mut lua_State, bits: u64, signed: bool, pins: Pins) {
    // SAFETY: pins hold the constructors or nil; a constructor's result is a boxed number,
    // whose eight bytes lua_topointer tells.
    unsafe {
        if cfg!(feature = "luajit") {
            lua_rawgeti(l, pins.table, if signed { PIN_INT64 } else { PIN_UINT64 });
            if lua_type(l, -1) == LUA_TCDATA {
                lua_call(l, 0, 1);
                lua_topointer(l, -1).cast_mut().cast::<u64>().write_unaligned(bits);
                return;
            }
            pop(l, 1);
        }
        push_decimal(l, bits, signed);
    }
}

/// Pushes a number as a decimal string. May raise.
///
/// # Safety
/// A free slot.
pub unsafe fn push_decimal(l: *mut lua_State, bits: u64, signed: bool) {
    let negative = signed && (bits as i64) < 0;
    let mut v = if negative { (bits as i64).unsigned_abs() } else { bits };
    let mut digits = [0u8; 21];
    let mut free = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (v % 10) as u8;
        free -= 1;
        v /= 10;
        if v == 0 {
            break;
        }
    }
    if negative {
        free -= 1;
        if let Some(sign) = digits.get_mut(free) {
            *sign = b'-';
        }
    }
    // SAFETY: as the caller promises.
    unsafe { push_bytes(l, digits.get(free..).unwrap_or_default()) };
}

/// Pushes a 64-bit number as the key of a map: a number where that is exact, else a decimal
/// string, for boxed numbers make no keys. May raise.
///
/// # Safety
/// Two free slots.
pub unsafe fn push_key(l: *mut lua_State, bits: u64, signed: bool) {
    let magnitude = if signed { (bits as i64).unsigned_abs() } else { bits };
    // SAFETY: as the caller promises.
    unsafe {
        if INTEGERS {
            lua_pushinteger(l, bits as Int);
        } else if magnitude > EXACT {
            push_decimal(l, bits, signed);
        } else {
            lua_pushnumber(l, if signed { bits as i64 as f64 } else { bits as f64 });
        }
    }
}

/// The whole number at `index`, from -2^63 to 2^63 - 1. `kind` is the type of the value.
///
/// # Errors
/// See [`NotWhole`].
///
/// # Safety
/// A valid index, three free slots, and the table of pins. Raises nothing.
#[inline(always)]
pub unsafe fn to_int(l: *mut lua_State, index: c_int, kind: c_int, pins: Pins) -> Result<i64, NotWhole> {
    // SAFETY: the type is checked.
    unsafe {
        if kind == LUA_TNUMBER {
            return to_integer(l, index).ok_or(NotWhole::Value);
        }
        match other(l, index, pins)? {
            Whole::Signed(v) => Ok(v),
            Whole::Unsigned(v) => i64::try_from(v).map_err(|_| NotWhole::Value),
        }
    }
}

/// The whole number at `index`, from 0 to 2^64 - 1. `kind` is the type of the value. From 5.3 on a negative integer stands for
/// its bits.
///
/// # Errors
/// See [`NotWhole`].
///
/// # Safety
/// A valid index, three free slots, and the table of pins. Raises nothing.
#[inline(always)]
pub unsafe fn to_uint(l: *mut lua_State, index: c_int, kind: c_int, pins: Pins) -> Result<u64, NotWhole> {
    // SAFETY: the type is checked.
    unsafe {
        if kind == LUA_TNUMBER {
            return match to_integer(l, index) {
                Some(v) if v >= 0 || is_integer(l, index) => Ok(v as u64),
                Some(_) => Err(NotWhole::Value),
                None => large(l, index),
            };
        }
        match other(l, index, pins)? {
            Whole::Signed(v) => u64::try_from(v).map_err(|_| NotWhole::Value),
            Whole::Unsigned(v) => Ok(v),
        }
    }
}

/// A float beyond the signed integers.
#[cold]
unsafe fn large(l: *mut lua_State, index: c_int) -> Result<u64, NotWhole> {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    // SAFETY: the caller found a number at `index`.
    match unsafe { to_number(l, index) } {
        Some(n) if (0.0..LIMIT).contains(&n) && n.trunc() == n => Ok(n as u64),
        _ => Err(NotWhole::Value),
    }
}

/// The number at `index` as a float, or what a string there holds. `kind` is the type of the value.
///
/// Lua's own conversion of strings is not asked: it depends on the version (`inf`, `-0`, long hex numbers) and on the locale.
///
/// # Safety
/// A valid index. Raises nothing.
#[inline(always)]
pub unsafe fn to_float(l: *mut lua_State, index: c_int, kind: c_int) -> Option<f64> {
    // SAFETY: as the caller promises.
    unsafe { if kind == LUA_TNUMBER { to_number(l, index) } else { float_in(string_at(l, index)?) } }
}

/// A number in a string: decimal, or a whole one with `0x`; white space may stand around it.
#[cold]
#[inline(never)]
fn float_in(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    if text.iter().all(|c| matches!(c, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E')) {
        return std::str::from_utf8(text).ok()?.parse().ok();
    }
    match parse(text).ok()? {
        Whole::Signed(v) => Some(v as f64),
        Whole::Unsigned(v) => Some(v as f64),
    }
}

enum Whole {
    Signed(i64),
    Unsigned(u64),
}

/// A whole number that is no Lua number: a string or a boxed number.
#[cold]
#[inline(never)]
unsafe fn other(l: *mut lua_State, index: c_int, pins: Pins) -> Result<Whole, NotWhole> {
    // SAFETY: as for the callers; the pinned function only looks at its argument's type.
    unsafe {
        if let Some(text) = string_at(l, index) {
            return parse(text);
        }
        if cfg!(feature = "luajit") && lua_type(l, index) == LUA_TCDATA {
            let index = super::stack::absolute(l, index);
            lua_rawgeti(l, pins.table, PIN_BOXED);
            lua_pushvalue(l, index);
            if lua_pcall(l, 1, 1, 0) != 0 {
                // There was no memory, or a hook raises.
                return Err(NotWhole::Raised);
            }
            let kind = to_number(l, -1);
            pop(l, 1);
            let payload = lua_topointer(l, index).cast::<u64>();
            return match kind {
                Some(1.0) => Ok(Whole::Signed(payload.read_unaligned() as i64)),
                Some(2.0) => Ok(Whole::Unsigned(payload.read_unaligned())),
                _ => Err(NotWhole::Type),
            };
        }
        Err(NotWhole::Type)
    }
}

/// A decimal number or one with `0x`, with or without sign.
fn parse(text: &[u8]) -> Result<Whole, NotWhole> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (radix, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.iter().all(|d| (*d as char).is_digit(radix)) {
        return Err(NotWhole::Type);
    }
    let digits = std::str::from_utf8(digits).map_err(|_| NotWhole::Type)?;
    let v = u64::from_str_radix(digits, radix).map_err(|_| NotWhole::Value)?;
    match (negative, i64::try_from(v)) {
        (false, _) => Ok(Whole::Unsigned(v)),
        (true, Ok(v)) => Ok(Whole::Signed(-v)),
        (true, Err(_)) if v == 1 << 63 => Ok(Whole::Signed(i64::MIN)),
        (true, Err(_)) => Err(NotWhole::Value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<i128, NotWhole> {
        parse(text.as_bytes()).map(|w| match w {
            Whole::Signed(v) => i128::from(v),
            Whole::Unsigned(v) => i128::from(v),
        })
    }

    #[test]
    fn strings_that_hold_whole_numbers() {
        assert_eq!(parsed("12"), Ok(12));
        assert_eq!(parsed("+12"), Ok(12));
        assert_eq!(parsed("-0x1F"), Ok(-31));
        assert_eq!(parsed("18446744073709551615"), Ok(u64::MAX.into()));
        assert_eq!(parsed("-9223372036854775808"), Ok(i64::MIN.into()));
        assert_eq!(parsed("0xFFFFFFFFFFFFFFFF"), Ok(u64::MAX.into()));
    }

    #[test]
    fn strings_that_hold_floats() {
        let cases = [
            ("1.5", 1.5),
            (" -2.5e1\n", -25.0),
            (".5", 0.5),
            ("+5.", 5.0),
            ("1e400", f64::INFINITY),
            ("0x1F", 31.0),
            ("-0xf", -15.0),
        ];
        for (text, value) in cases {
            assert_eq!(float_in(text.as_bytes()), Some(value), "{text}");
        }
        assert_eq!(float_in(b"0xffffffffffffffff"), Some(18_446_744_073_709_551_616.0));
        assert!(float_in(b"-0").is_some_and(|n| n == 0.0 && n.is_sign_negative()));
        for text in [
            "", " ", ".", "e", "1e", "1 2", "1,5", "inf", "-inf", "nan", "infinity", "1\0", "0x", "0x1p4", "--1", "1_0",
        ] {
            assert_eq!(float_in(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn strings_that_do_not() {
        for text in ["", "-", "0x", "a", "1.0", "1e3", " 1", "1 ", "--1", "+-1", "0x-1", "1_000", "²"] {
            assert_eq!(parsed(text), Err(NotWhole::Type), "{text}");
        }
        for text in ["18446744073709551616", "-9223372036854775809", "0x10000000000000000"] {
            assert_eq!(parsed(text), Err(NotWhole::Value), "{text}");
        }
    }
}
