//! Reading one scalar, for whoever puts it somewhere.

use super::context::Context;
use super::decode::{Result, at};
use super::sink::{Sink, Value};
use crate::error::Kind;
use crate::schema::{FieldPlan, Op};
use crate::wire::{Reader, is_utf8, unzigzag32, unzigzag64};

/// Where a scalar goes.
pub(super) trait Put {
    fn value(self, value: Value);
    fn bytes(self, bytes: &[u8]);
}

pub(super) struct ToField<'s, S: Sink> {
    pub sink: &'s mut S,
    pub frame: S::Frame,
    pub field: &'s FieldPlan,
}

pub(super) struct ToElement<'s, S: Sink> {
    pub sink: &'s mut S,
    pub field: &'s FieldPlan,
    pub index: u64,
}

pub(super) struct ToKey<'s, S: Sink> {
    pub sink: &'s mut S,
    pub field: &'s FieldPlan,
}

pub(super) struct ToEntry<'s, S: Sink> {
    pub sink: &'s mut S,
    pub field: &'s FieldPlan,
}

impl<S: Sink> Put for ToField<'_, S> {
    #[inline(always)]
    fn value(self, value: Value) {
        self.sink.scalar(self.frame, self.field, value);
    }
    #[inline(always)]
    fn bytes(self, bytes: &[u8]) {
        self.sink.bytes(self.frame, self.field, bytes);
    }
}

impl<S: Sink> Put for ToElement<'_, S> {
    #[inline(always)]
    fn value(self, value: Value) {
        self.sink.element(self.field, self.index, value);
    }
    #[inline(always)]
    fn bytes(self, bytes: &[u8]) {
        self.sink.element_bytes(self.field, self.index, bytes);
    }
}

impl<S: Sink> Put for ToKey<'_, S> {
    fn value(self, value: Value) {
        self.sink.map_key(self.field, value);
    }
    fn bytes(self, bytes: &[u8]) {
        self.sink.map_key_bytes(self.field, bytes);
    }
}

impl<S: Sink> Put for ToEntry<'_, S> {
    fn value(self, value: Value) {
        self.sink.map_value(self.field, value);
    }
    fn bytes(self, bytes: &[u8]) {
        self.sink.map_value_bytes(self.field, bytes);
    }
}

/// Charges what the sink owes for the value of `f` that it just got, which ends at `r`.
#[inline(always)]
pub(super) fn settle<S: Sink>(r: Reader, f: &FieldPlan, sink: &mut S, cx: &mut Context) -> Result<()> {
    if S::may_owe(f.op) {
        return at(r, cx.budget.charge(sink.owed()));
    }
    Ok(())
}

/// Reads one value of `f` and puts it. Numbers too long for their type lose their upper bits
/// ("Updating A Message Type").
#[inline(always)]
pub(super) fn read<P: Put>(r: &mut Reader, f: &FieldPlan, cx: &Context, put: P) -> Result<()> {
    match f.op {
        Op::Int32 => put.value(Value::Int(i64::from(r.varint()? as i32))),
        Op::Int64 => put.value(Value::Int(r.varint()? as i64)),
        Op::Uint32 => put.value(Value::Int(i64::from(r.varint()? as u32))),
        Op::Uint64 => put.value(Value::Uint(r.varint()?)),
        Op::Sint32 => put.value(Value::Int(i64::from(unzigzag32(r.varint()? as u32)))),
        Op::Sint64 => put.value(Value::Int(unzigzag64(r.varint()?))),
        Op::Fixed32 => put.value(Value::Int(i64::from(r.fixed32()?))),
        Op::Sfixed32 => put.value(Value::Int(i64::from(r.fixed32()? as i32))),
        Op::Fixed64 => put.value(Value::Uint(r.fixed64()?)),
        Op::Sfixed64 => put.value(Value::Int(r.fixed64()? as i64)),
        Op::Float => put.value(Value::Number(f64::from(f32::from_bits(r.fixed32()?)))),
        Op::Double => put.value(Value::Number(f64::from_bits(r.fixed64()?))),
        Op::Bool => put.value(Value::Bool(r.varint()? != 0)),
        Op::Enum => put.value(Value::Enum(r.varint()? as i32)),
        Op::String | Op::Bytes | Op::Message | Op::Group | Op::Map => {
            let bytes = r.bytes()?;
            if f.flags.has(cx.utf8) && !is_utf8(bytes) {
                return Reader::new(bytes).fail(Kind::Utf8);
            }
            put.bytes(bytes);
        }
    }
    Ok(())
}
