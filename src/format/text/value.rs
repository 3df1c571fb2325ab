//! The values of fields that are no messages.

use std::str::FromStr;

use super::parse::{Parser, Result};
use super::scan::Kind;
use super::strings::unescape;
use crate::error;
use crate::format::tree::Item;
use crate::kernel::Value;
use crate::schema::{FieldPlan, Flags, Op, unknown_value};
use crate::wire::is_utf8;

impl Parser<'_, '_> {
    /// A value of `f`, which has scalars.
    pub(super) fn scalar(&mut self, f: &FieldPlan) -> Result<Item> {
        let small = |v: i128| Value::Int(v as i64);
        Ok(Item::Scalar(match f.op {
            Op::Int32 | Op::Sint32 | Op::Sfixed32 => small(self.whole(f.op, i32::MIN, i32::MAX)?),
            Op::Uint32 | Op::Fixed32 => small(self.whole(f.op, u32::MIN, u32::MAX)?),
            Op::Int64 | Op::Sint64 | Op::Sfixed64 => small(self.whole(f.op, i64::MIN, i64::MAX)?),
            Op::Uint64 | Op::Fixed64 => Value::Uint(self.whole(f.op, u64::MIN, u64::MAX)? as u64),
            // Not by way of a double, which would round twice.
            Op::Float => Value::Number(f64::from(self.number(f32::INFINITY, f32::NAN)?)),
            Op::Double => Value::Number(self.number(f64::INFINITY, f64::NAN)?),
            Op::Bool => Value::Bool(self.boolean()?),
            Op::Enum => Value::Enum(self.enumeration(f)?),
            Op::String | Op::Bytes | Op::Message | Op::Group | Op::Map => return self.string(f),
        }))
    }

    /// A whole number from `low` to `high`, in any notation.
    fn whole<T: Into<i128>>(&mut self, op: Op, low: T, high: T) -> Result<i128> {
        let at = self.token.start;
        let negative = self.take(b'-');
        if self.token.kind != Kind::Integer {
            return Err(self.expected("a whole number"));
        }
        let text = self.text(self.token);
        let value = magnitude(text).map(|v| if negative { -i128::from(v) } else { i128::from(v) });
        match value.filter(|v| (low.into()..=high.into()).contains(v)) {
            Some(value) => {
                self.advance();
                Ok(value)
            }
            None => {
                let sign = if negative { "-" } else { "" };
                let digits = text.get(..LONGEST).map_or_else(|| text.into(), |cut| format!("{cut}..."));
                Err(self.fail(at, format_args!("{sign}{digits} is out of range for {}", op.keyword())))
            }
        }
    }

    /// A floating point number, which may be `infinite` or no number.
    fn number<T: FromStr + std::ops::Neg<Output = T>>(&mut self, infinite: T, nan: T) -> Result<T> {
        let negative = self.take(b'-');
        let value = match self.token.kind {
            Kind::Name => match self.special() {
                Some(Special::Infinite) => Some(infinite),
                Some(Special::NoNumber) => Some(nan),
                None => None,
            },
            Kind::Integer if self.text(self.token).starts_with('0') && self.text(self.token) != "0" => {
                return Err(self.expected("a decimal number"));
            }
            Kind::Integer | Kind::Float => self.text(self.token).trim_end_matches(['f', 'F']).parse().ok(),
            _ => None,
        };
        let value = value.ok_or_else(|| self.expected("a number"))?;
        self.advance();
        Ok(if negative { -value } else { value })
    }

    /// What the next token, a name, means as a number.
    pub(super) fn special(&self) -> Option<Special> {
        let text = self.text(self.token);
        if text.eq_ignore_ascii_case("inf") || text.eq_ignore_ascii_case("infinity") {
            return Some(Special::Infinite);
        }
        text.eq_ignore_ascii_case("nan").then_some(Special::NoNumber)
    }

    fn boolean(&mut self) -> Result<bool> {
        let text = self.text(self.token);
        let value = match self.token.kind {
            Kind::Name => match text {
                "true" | "True" | "t" => Some(true),
                "false" | "False" | "f" => Some(false),
                _ => None,
            },
            Kind::Integer => match magnitude(text) {
                Some(0) => Some(false),
                Some(1) => Some(true),
                _ => None,
            },
            _ => None,
        };
        let value = value.ok_or_else(|| self.expected("true or false"))?;
        self.advance();
        Ok(value)
    }

    fn enumeration(&mut self, f: &FieldPlan) -> Result<i32> {
        let set = self.cx.set;
        let Some(plan) = set.enumeration(f.sub) else { return Err(self.expected("nothing")) };
        let at = self.token.start;
        if self.token.kind == Kind::Name {
            let name = self.text(self.token);
            return match plan.number(name) {
                Some(number) => {
                    self.advance();
                    Ok(number)
                }
                None => Err(self.fail(at, format_args!("{}", unknown_value(plan, name)))),
            };
        }
        if !matches!(self.token.kind, Kind::Integer | Kind::Symbol(b'-')) {
            return Err(self.expected("the name or number of an enum's value"));
        }
        let number = self.whole(f.op, i32::MIN, i32::MAX)? as i32;
        if f.flags.has(Flags::CLOSED) && plan.position(number).is_none() {
            return Err(self.fail(at, format_args!("unknown number {number} of enum {}", plan.name)));
        }
        Ok(number)
    }

    fn string(&mut self, f: &FieldPlan) -> Result<Item> {
        let at = self.token.start;
        self.literals()?;
        if f.flags.has(self.cx.utf8) && !is_utf8(&self.literal) {
            return Err(self.fail(at, format_args!("{}", error::Kind::Utf8)));
        }
        self.charge(self.literal.len() as u64)?;
        Ok(self.tree.add_bytes(&self.literal))
    }

    /// Takes all literals that follow each other, and puts them together.
    pub(super) fn literals(&mut self) -> Result<()> {
        if self.token.kind != Kind::String {
            return Err(self.expected("a string"));
        }
        self.literal.clear();
        while self.token.kind == Kind::String {
            let start = self.token.start.saturating_add(1);
            let bytes = self.scan.bytes(self.token);
            let literal = bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default();
            unescape(literal, &mut self.literal)
                .map_err(|(at, what)| self.fail(start.saturating_add(at), format_args!("{what}")))?;
            self.advance();
        }
        Ok(())
    }
}

/// Words that are numbers.
pub(super) enum Special {
    Infinite,
    NoNumber,
}

/// More digits than that are not shown.
const LONGEST: usize = 64;

/// The number that is written without sign, decimal, octal or hexadecimal, if it has 64 bits.
fn magnitude(text: &str) -> Option<u64> {
    let (radix, digits) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, text.get(2..)?),
        [b'0', _, ..] => (8, text),
        _ => (10, text),
    };
    u64::from_str_radix(digits, radix).ok()
}
