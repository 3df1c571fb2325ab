//! JSON to trees: the values of fields.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::read::Parser;
use super::scan::{Result, number_length};
use super::well_known::is_null_enum;
use crate::error::quoted;
use crate::format::number;
use crate::format::tree::Item;
use crate::kernel::Value;
use crate::schema::{FieldPlan, Op, unknown_value};

/// Padding may be there or not, and what bits are left over does not matter.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// A number of more digits is cut where it is shown.
const LONGEST_NUMBER: usize = 40;

impl Parser<'_, '_, '_> {
    pub(super) fn map_key(&mut self, at: usize, f: &FieldPlan, text: &str) -> Result<Item> {
        match (f.op, text) {
            (Op::String, _) => Ok(self.tree.add_bytes(text.as_bytes())),
            (Op::Bool, "true" | "false") => Ok(Item::Scalar(Value::Bool(text == "true"))),
            (Op::Bool, _) => self.s.fail(at, format_args!("expected \"true\" or \"false\" as key")),
            _ => self.whole(at, f, text),
        }
    }

    /// A value of `f`, of a list one element. `None` if it is to be left out.
    pub(super) fn value(&mut self, f: &FieldPlan) -> Result<Option<Item>> {
        Ok(Some(match f.op {
            Op::Message | Op::Group => {
                let types = self.types;
                let Some(m) = types.set.message(f.sub) else { return self.s.wrong("a type that is there") };
                Item::Message(self.message(m)?)
            }
            Op::String => {
                let text = self.s.string()?;
                self.tree.add_bytes(text.as_bytes())
            }
            Op::Bytes => self.bytes()?,
            Op::Bool if self.s.word("true") => Item::Scalar(Value::Bool(true)),
            Op::Bool if self.s.word("false") => Item::Scalar(Value::Bool(false)),
            Op::Bool => return self.s.wrong("boolean"),
            Op::Enum => return self.enumeration(f),
            Op::Float | Op::Double => Item::Scalar(Value::Number(self.number(f)?)),
            Op::Map => return self.s.wrong("value"),
            _ => {
                let at = self.s.start();
                match self.s.peek() {
                    b'"' => {
                        let text = self.s.string()?;
                        self.whole(at, f, &text)?
                    }
                    b'-' | b'0'..=b'9' => {
                        let text = self.s.number()?;
                        self.whole(at, f, text)?
                    }
                    _ => return self.s.wrong(f.op.keyword()),
                }
            }
        }))
    }

    fn bytes(&mut self) -> Result<Item> {
        let at = self.s.start();
        let text = self.s.string_of("string with base64")?;
        let engine = if text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
        match engine.decode(&*text) {
            Ok(bytes) => Ok(self.tree.add_bytes(&bytes)),
            Err(_) => self.s.fail(at, format_args!("malformed base64")),
        }
    }

    /// The whole number that `text`, at `at`, is, as a value of `f`.
    pub(super) fn whole(&mut self, at: usize, f: &FieldPlan, text: &str) -> Result<Item> {
        let number = number_length(text.as_bytes()) == text.len() && !text.is_empty();
        let exact = if number { number::whole(text) } else { None };
        let signed = |v: i128| i64::try_from(v).ok().map(Value::Int);
        let value = exact.and_then(|v| match f.op {
            Op::Int64 | Op::Sint64 | Op::Sfixed64 => signed(v),
            Op::Uint64 | Op::Fixed64 => u64::try_from(v).ok().map(Value::Uint),
            Op::Uint32 | Op::Fixed32 => u32::try_from(v).ok().and_then(|v| signed(v.into())),
            _ => i32::try_from(v).ok().and_then(|v| signed(v.into())),
        });
        match value {
            Some(value) => Ok(Item::Scalar(value)),
            None if !number => self.no_number(at, f, text, ""),
            None if exact.is_none() && text.parse().is_ok_and(|v: f64| v.fract() != 0.0) => {
                self.no_number(at, f, text, " (not a whole number)")
            }
            None => self.no_number(at, f, text, " (out of range)"),
        }
    }

    #[cold]
    fn no_number<T>(&self, at: usize, f: &FieldPlan, text: &str, why: &str) -> Result<T> {
        let wanted = f.op.keyword();
        if text.len() <= LONGEST_NUMBER && !self.s.is_string(at) {
            return self.s.fail(at, format_args!("expected {wanted}, got {text}{why}"));
        }
        self.s.fail(at, format_args!("expected {wanted}, got {}{why}", quoted(text.as_bytes())))
    }

    fn number(&mut self, f: &FieldPlan) -> Result<f64> {
        let at = self.s.start();
        let text = match self.s.peek() {
            b'"' => self.s.string()?,
            b'-' | b'0'..=b'9' => Cow::Borrowed(self.s.number()?),
            _ => return self.s.wrong(f.op.keyword()),
        };
        let value = match &*text {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            text if number_length(text.as_bytes()) != text.len() => return self.no_number(at, f, text, ""),
            text => {
                // Not by way of a double, which would round twice.
                let value =
                    if f.op == Op::Float { text.parse().ok().map(|v: f32| v.into()) } else { text.parse().ok() };
                match value.filter(|v: &f64| v.is_finite()) {
                    Some(value) => value,
                    None if text.is_empty() => return self.no_number(at, f, text, ""),
                    None => return self.no_number(at, f, text, " (out of range)"),
                }
            }
        };
        Ok(value)
    }

    fn enumeration(&mut self, f: &FieldPlan) -> Result<Option<Item>> {
        let types = self.types;
        let Some(plan) = types.set.enumeration(f.sub) else { return self.s.wrong("a type that is there") };
        let at = self.s.start();
        let number = match self.s.peek() {
            b'"' => {
                let name = self.s.string()?;
                match plan.number(&name) {
                    Some(number) => number,
                    None if self.ignore_unknown => return Ok(None),
                    None => return self.s.fail(at, format_args!("{}", unknown_value(plan, &name))),
                }
            }
            b'-' | b'0'..=b'9' => {
                let text = self.s.number()?;
                match number::whole(text).and_then(|v| i32::try_from(v).ok()) {
                    Some(number) if !plan.closed || plan.name(number).is_some() => number,
                    _ => return self.s.fail(at, format_args!("unknown number {text} of enum {}", plan.name)),
                }
            }
            b'n' if is_null_enum(f, types) && self.s.word("null") => 0,
            _ => return self.s.wrong("enum"),
        };
        Ok(Some(Item::Scalar(Value::Enum(number))))
    }
}
