//! Trees to JSON.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::well_known::{Kind, is_null_enum};
use crate::error::{EncodeError, Index, Kind as Wrong};
use crate::format::Indent;
use crate::format::number::Finite;
use crate::format::tree::{Entry, Item, Span, Tree};
use crate::kernel::{Context, Value};
use crate::schema::{Default, FieldPlan, MessagePlan, Op, Types};

pub(super) type Result<T> = std::result::Result<T, EncodeError>;

/// How JSON is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Keys are the names that the schema has, rather than those of JSON.
    pub proto_names: bool,
    /// Absent fields without presence, lists and maps among them, are written too.
    pub defaults: bool,
    /// Enums are numbers.
    pub enum_numbers: bool,
    /// Unknown fields are an error, rather than left out.
    pub refuse_unknown: bool,
    /// What each level is indented by; `None` for no white space at all.
    pub indent: Option<Indent>,
}

/// Appends the message `root` of type `m` to `out`.
///
/// # Errors
/// Values that JSON cannot hold: strings that are no UTF-8, times out of range, an `Any` of an unknown type and the
/// like. The trace holds the path and the text then.
pub fn write(
    tree: &Tree,
    root: Span,
    m: &MessagePlan,
    types: &Types,
    style: &Style,
    out: &mut Vec<u8>,
    cx: &mut Context,
) -> Result<()> {
    let counted = out.len();
    Printer { types, style, out, cx, level: 0, counted }.outermost(tree, root, m)
}

pub(super) struct Printer<'a, 'c> {
    pub(super) types: &'a Types,
    pub(super) style: &'a Style,
    pub(super) out: &'a mut Vec<u8>,
    pub(super) cx: &'a mut Context<'c>,
    /// How many objects and arrays are open.
    level: usize,
    /// What of the text the budget was charged for.
    counted: usize,
}

impl Printer<'_, '_> {
    #[cold]
    pub(super) fn fail<T>(&self, text: std::fmt::Arguments) -> Result<T> {
        self.cx.trace.detail(text);
        Err(EncodeError::Traced)
    }

    pub(super) fn message(&mut self, tree: &Tree, message: Span, m: &MessagePlan) -> Result<()> {
        if let Err(kind) = self.cx.budget.enter() {
            return self.fail(format_args!("{kind}"));
        }
        self.outermost(tree, message, m)?;
        self.cx.budget.leave();
        Ok(())
    }

    /// A message that is no level of its own.
    fn outermost(&mut self, tree: &Tree, message: Span, m: &MessagePlan) -> Result<()> {
        self.known_fields(tree, message)?;
        match Kind::of(m) {
            Some(kind) => self.well_known(kind, tree, message, m)?,
            None => {
                self.open(b'{');
                let any = self.fields(tree, message, m, false)?;
                self.close(b'}', any);
            }
        }
        Ok(())
    }

    /// Sees to it that a message has no other fields, if that is asked.
    pub(super) fn known_fields(&self, tree: &Tree, message: Span) -> Result<()> {
        if self.style.refuse_unknown && tree.field(message, Entry::UNKNOWN).is_some() {
            return self.fail(format_args!("unknown fields, for which JSON has no place"));
        }
        Ok(())
    }

    pub(super) fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.level = self.level.saturating_add(1);
    }

    pub(super) fn close(&mut self, bracket: u8, any: bool) {
        self.level = self.level.saturating_sub(1);
        if any {
            self.new_line();
        }
        self.out.push(bracket);
    }

    fn new_line(&mut self) {
        if let Some(indent) = &self.style.indent {
            self.out.push(b'\n');
            for _ in 0..self.level {
                self.out.extend_from_slice(indent.as_str().as_bytes());
            }
        }
    }

    /// Before an element of an array or a member of an object, which is not the first one if `any` was before.
    #[inline(always)]
    pub(super) fn next(&mut self, any: bool) -> Result<()> {
        if any {
            self.out.push(b',');
        }
        self.new_line();
        // Deep messages have long indents, and empty ones may have many defaults: a text may be much larger than its
        // message.
        let more = self.out.len().saturating_sub(self.counted) as u64;
        self.counted = self.out.len();
        match self.cx.budget.charge(more) {
            Ok(()) => Ok(()),
            Err(kind) => self.fail(format_args!("{kind}")),
        }
    }

    /// A key and what follows it.
    pub(super) fn key(&mut self, key: &str) -> Result<()> {
        self.string(key.as_bytes())?;
        self.colon();
        Ok(())
    }

    fn colon(&mut self) {
        self.out.push(b':');
        if self.style.indent.is_some() {
            self.out.push(b' ');
        }
    }

    /// The members of the object of a message; `any` if it has some already. Answers whether it has some now.
    pub(super) fn fields(&mut self, tree: &Tree, message: Span, m: &MessagePlan, mut any: bool) -> Result<bool> {
        let absent = if self.style.defaults { self.types.json_names(m).implicit() } else { &[] };
        let mut absent = absent.iter().copied().peekable();
        for entry in tree.entries(message) {
            let Some(f) = m.fields.get(usize::from(entry.field)) else { continue };
            if tree.is_absent(f, entry.item) {
                continue;
            }
            while let Some(before) = absent.next_if(|index| *index < f.index) {
                any = self.absent(before, m, any)?;
            }
            absent.next_if_eq(&f.index);
            self.name(f, m, any)?;
            any = true;
            self.field(tree, entry.item, m, f)?;
        }
        for index in absent {
            any = self.absent(index, m, any)?;
        }
        Ok(any)
    }

    /// The field at `index`, which is absent. Answers whether the object has members now.
    fn absent(&mut self, index: u16, m: &MessagePlan, any: bool) -> Result<bool> {
        let index = usize::from(index);
        let Some(f) = m.fields.get(index) else { return Ok(any) };
        self.name(f, m, any)?;
        match (f.op, m.defaults.get(index)) {
            (Op::Map, _) => self.out.extend_from_slice(b"{}"),
            (_, Some(default)) if !f.repeated() => self.default(f, default)?,
            _ => self.out.extend_from_slice(b"[]"),
        }
        Ok(true)
    }

    /// What `f` reads as while it is absent.
    pub(super) fn default(&mut self, f: &FieldPlan, default: &Default) -> Result<()> {
        match (default, Value::of(default)) {
            (_, Some(value)) => self.scalar(f, value),
            (Default::Bytes(bytes), _) if f.op == Op::String => self.string(bytes)?,
            (Default::Bytes(bytes), _) => self.base64(bytes),
            _ => {}
        }
        Ok(())
    }

    fn name(&mut self, f: &FieldPlan, m: &MessagePlan, any: bool) -> Result<()> {
        self.next(any)?;
        let names = self.types.json_names(m);
        let (key, plain) =
            if self.style.proto_names { (names.name(m, f), names.distinct()) } else { (names.key(f), names.plain()) };
        if !plain {
            return self.key(key);
        }
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.push(b'"');
        self.colon();
        Ok(())
    }

    pub(super) fn field(&mut self, tree: &Tree, item: Item, m: &MessagePlan, f: &FieldPlan) -> Result<()> {
        match item {
            Item::List(list) => self.list(tree, list, m, f),
            Item::Map(map) => self.map(tree, map, m, f),
            _ => self.value(tree, item, f).map_err(|e| self.cx.around(m, f, Index::None, e)),
        }
    }

    fn list(&mut self, tree: &Tree, list: Span, m: &MessagePlan, f: &FieldPlan) -> Result<()> {
        self.open(b'[');
        for (i, element) in (1u64..).zip(tree.entries(list)) {
            self.next(i > 1)?;
            self.value(tree, element.item, f).map_err(|e| self.cx.around(m, f, Index::At(i), e))?;
        }
        self.close(b']', !list.is_empty());
        Ok(())
    }

    fn map(&mut self, tree: &Tree, map: Span, m: &MessagePlan, f: &FieldPlan) -> Result<()> {
        let Some([_, value]) = self.types.set.message(f.sub).map(|entry| &*entry.fields) else { return Ok(()) };
        self.open(b'{');
        let (pairs, _) = tree.entries(map).as_chunks();
        for (i, [k, v]) in pairs.iter().enumerate() {
            self.next(i > 0)?;
            let written = self.map_key(tree, k).and_then(|()| self.value(tree, v.item, value));
            if let Err(e) = written {
                tree.step_entry(k.item, m.name_of(f), self.cx.trace);
                return Err(e);
            }
        }
        self.close(b'}', !map.is_empty());
        Ok(())
    }

    fn map_key(&mut self, tree: &Tree, key: &Entry) -> Result<()> {
        match key.item {
            Item::Bytes(span) => self.string(tree.bytes(span))?,
            Item::Scalar(Value::Int(v)) => self.print(format_args!("\"{v}\"")),
            Item::Scalar(Value::Uint(v)) => self.print(format_args!("\"{v}\"")),
            Item::Scalar(Value::Bool(v)) => self.print(format_args!("\"{v}\"")),
            _ => {}
        }
        self.colon();
        Ok(())
    }

    pub(super) fn value(&mut self, tree: &Tree, item: Item, f: &FieldPlan) -> Result<()> {
        match item {
            Item::Scalar(value) => self.scalar(f, value),
            Item::Bytes(span) if f.op == Op::String => self.string(tree.bytes(span))?,
            Item::Bytes(span) => self.base64(tree.bytes(span)),
            Item::Message(message) => match self.types.set.message(f.sub) {
                Some(m) => self.message(tree, message, m)?,
                None => return self.fail(format_args!("its type is gone")),
            },
            Item::List(_) | Item::Map(_) => {}
        }
        Ok(())
    }

    fn scalar(&mut self, f: &FieldPlan, value: Value) {
        match value {
            Value::Int(v) if matches!(f.op, Op::Int64 | Op::Sint64 | Op::Sfixed64) => {
                self.print(format_args!("\"{v}\""))
            }
            Value::Int(v) => self.print(format_args!("{v}")),
            Value::Uint(v) => self.print(format_args!("\"{v}\"")),
            Value::Bool(v) => self.print(format_args!("{v}")),
            Value::Number(v) if v.is_nan() => self.print(format_args!("\"NaN\"")),
            Value::Number(v) if v.is_infinite() => {
                self.print(format_args!("\"{}Infinity\"", if v < 0.0 { "-" } else { "" }));
            }
            // A float has fewer digits than the double that it widens to.
            Value::Number(v) if f.op == Op::Float => self.print(format_args!("{}", Finite(v as f32))),
            Value::Number(v) => self.print(format_args!("{}", Finite(v))),
            Value::Enum(v) => self.enumeration(f, v),
        }
    }

    fn enumeration(&mut self, f: &FieldPlan, number: i32) {
        if number == 0 && is_null_enum(f, self.types) {
            return self.out.extend_from_slice(b"null");
        }
        let name = self.types.set.enumeration(f.sub).and_then(|e| e.name(number));
        match name.filter(|_| !self.style.enum_numbers) {
            Some(name) => self.print(format_args!("\"{name}\"")),
            None => self.print(format_args!("{number}")),
        }
    }

    /// Writes what contains nothing to escape.
    pub(super) fn print(&mut self, text: std::fmt::Arguments) {
        // Writing to a vector does not fail.
        let _ = self.out.write_fmt(text);
    }

    pub(super) fn string(&mut self, bytes: &[u8]) -> Result<()> {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return self.fail(format_args!("{}", Wrong::Utf8));
        };
        match serde_json::to_writer(&mut *self.out, text) {
            Ok(()) => Ok(()),
            Err(e) => self.fail(format_args!("{e}")),
        }
    }

    fn base64(&mut self, bytes: &[u8]) {
        self.out.push(b'"');
        let start = self.out.len();
        let length = bytes.len().div_ceil(3).saturating_mul(4);
        self.out.resize(start.saturating_add(length), b'=');
        if let Some(to) = self.out.get_mut(start..) {
            // There is room.
            let _ = STANDARD.encode_slice(bytes, to);
        }
        self.out.push(b'"');
    }
}
