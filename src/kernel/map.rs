//! One entry of a map: a message with the key as field 1 and the value as field 2 ("Maps").

use super::context::Context;
use super::decode::{Part, Result, at, body, down, is_stray};
use super::read::{Put, ToEntry, ToKey, read};
use super::sink::{Sink, Value};
use crate::error::{DecodeError, Index, Kind, Trace};
use crate::schema::{Default, FieldPlan, MessagePlan, Op};
use crate::wire::Reader;

/// Decodes the entry at `r`, whose tag is read, into the open map `f` of `m`. Answers whether its
/// value is complete, which matters only if no later entry replaces it; `None` if it was not
/// stored: an entry whose value a closed enum lacks is an unknown field as a whole.
#[inline(always)]
pub(super) fn entry<S: Sink>(
    r: &mut Reader,
    m: &MessagePlan,
    f: &FieldPlan,
    sink: &mut S,
    cx: &mut Context,
) -> Result<Option<bool>> {
    let raw = match r.bytes() {
        Ok(raw) => raw,
        Err(e) => return Err(cx.within(m, f, Index::None, e)),
    };
    entry_in(raw, m, f, sink, cx)
}

fn entry_in<S: Sink>(
    raw: &[u8],
    m: &MessagePlan,
    f: &FieldPlan,
    sink: &mut S,
    cx: &mut Context,
) -> Result<Option<bool>> {
    let r = Reader::new(raw);
    let Some(plan) = cx.set.message(f.sub) else { return r.fail(Kind::Depth) };
    let [key, value] = &*plan.fields else { return r.fail(Kind::Depth) };
    let found = match find(raw, key, value, cx) {
        Ok(found) => found,
        Err(e) => return Err(cx.within(m, f, Index::None, e)),
    };
    if found.value.is_some_and(|r| is_stray(r, value, cx)) {
        return Ok(None);
    }
    let put = match found.key {
        Some(mut r) => read(&mut r, key, cx, ToKey { sink, field: key }),
        None => put_default(plan.defaults.first(), ToKey { sink, field: key }),
    };
    let put = put.and_then(|()| at(r, cx.budget.string(raw.len())));
    if let Err(e) = put {
        return Err(cx.within(m, f, Index::None, e));
    }
    let put = match (value.op, found.value) {
        (Op::Message, _) => message(raw, value, &found, sink, cx),
        (_, Some(mut r)) => read(&mut r, value, cx, ToEntry { sink, field: value }).map(|()| true),
        (_, None) => put_default(plan.defaults.get(1), ToEntry { sink, field: value }).map(|()| true),
    };
    match put {
        Ok(complete) => {
            sink.store_entry();
            match at(r, cx.budget.charge(sink.owed())) {
                Ok(()) => Ok(Some(complete)),
                Err(e) => Err(cx.within(m, f, Index::None, e)),
            }
        }
        Err(e) => Err(within_entry(m, f, key, found.key, e, cx)),
    }
}

/// Where the parts of an entry are: readers behind the tags of the last key and value.
pub(super) struct Found<'a> {
    pub key: Option<Reader<'a>>,
    value: Option<Reader<'a>>,
    values: usize,
}

pub(super) fn find<'a>(raw: &'a [u8], key: &FieldPlan, value: &FieldPlan, cx: &Context) -> Result<Found<'a>> {
    let mut r = Reader::new(raw);
    let mut found = Found { key: None, value: None, values: 0 };
    while !r.is_empty() {
        let tag = r.tag()?;
        if tag == key.tag {
            found.key = Some(r);
        } else if tag == value.tag {
            found.value = Some(r);
            found.values = found.values.saturating_add(1);
        }
        r.skip(tag, cx.budget.depth)?;
    }
    Ok(found)
}

fn put_default<P: Put>(default: Option<&Default>, put: P) -> Result<()> {
    match (default, default.and_then(Value::of)) {
        (_, Some(value)) => put.value(value),
        (Some(Default::Bytes(bytes)), _) => put.bytes(bytes),
        _ => put.bytes(b""),
    }
    Ok(())
}

/// The message value of an entry, merged where it comes in several parts. Answers whether it is
/// surely complete: of several parts, none proves it.
fn message<S: Sink>(raw: &[u8], value: &FieldPlan, found: &Found, sink: &mut S, cx: &mut Context) -> Result<bool> {
    let r = Reader::new(raw);
    let first = match found.value {
        Some(mut r) => r.bytes()?,
        None => b"",
    };
    if !S::TABLES {
        if found.values < 2 {
            sink.map_value_message(value, first, false);
            return Ok(true);
        }
        return each_part(raw, value, cx.budget.depth, |part, again| {
            let built = sink.map_value_message(value, part, again);
            at(r, cx.budget.string(built))
        })
        .map(|()| true);
    }
    let Some(plan) = cx.set.message(value.sub) else { return r.fail(Kind::Depth) };
    let Some(frame) = down(r, sink, cx, |sink| sink.open(plan))? else { return r.fail(Kind::Depth) };
    let mut complete = false;
    if found.values < 2 {
        complete = body(&mut Reader::new(first), plan, frame, Part::WHOLE, 0, sink, cx)?;
    } else {
        let mut left = found.values;
        each_part(raw, value, cx.budget.depth, |part, again| {
            left = left.saturating_sub(1);
            body(&mut Reader::new(part), plan, frame, Part::new(again, left > 0), 0, sink, cx).map(drop)
        })?;
    }
    cx.budget.leave();
    Ok(complete)
}

#[cold]
pub(super) fn each_part<'a>(
    raw: &'a [u8],
    value: &FieldPlan,
    depth: u32,
    mut take: impl FnMut(&'a [u8], bool) -> Result<()>,
) -> Result<()> {
    let mut r = Reader::new(raw);
    let mut again = false;
    while !r.is_empty() {
        let tag = r.tag()?;
        if tag == value.tag {
            take(r.bytes()?, again)?;
            again = true;
        } else {
            r.skip(tag, depth)?;
        }
    }
    Ok(())
}

#[cold]
pub(super) fn within_entry(
    m: &MessagePlan,
    f: &FieldPlan,
    key: &FieldPlan,
    at: Option<Reader>,
    error: DecodeError,
    cx: &Context,
) -> DecodeError {
    key_at(key, at, cx).step(m.name_of(f), cx.trace);
    error
}

/// A key, apart from any sink. Each type of key has values of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Key<'a> {
    Name(&'a [u8]),
    Int(i64),
    Uint(u64),
    Bool(bool),
}

impl Key<'_> {
    /// Tells `trace` that the error arose in the entry of map `name` with this key.
    #[cold]
    pub fn step(&self, name: &str, trace: &Trace) {
        match self {
            Key::Name(v) => trace.step(name, Index::Name(v)),
            Key::Int(v) => trace.step(name, Index::Key(v)),
            Key::Uint(v) => trace.step(name, Index::Key(v)),
            Key::Bool(v) => trace.step(name, Index::Key(v)),
        }
    }
}

/// The key at `at`, or its default.
pub(super) fn key_at<'a>(key: &FieldPlan, at: Option<Reader<'a>>, cx: &Context) -> Key<'a> {
    struct Take<'k>(&'k mut Option<Value>);
    impl Put for Take<'_> {
        fn value(self, value: Value) {
            *self.0 = Some(value);
        }
        fn bytes(self, _: &[u8]) {}
    }
    if key.op == Op::String {
        return Key::Name(at.and_then(|mut r| r.bytes().ok()).unwrap_or_default());
    }
    let mut value = None;
    if let Some(mut r) = at {
        let _ = read(&mut r, key, cx, Take(&mut value));
    }
    match (value, key.op) {
        (Some(Value::Uint(v)), _) => Key::Uint(v),
        (Some(Value::Bool(v)), _) => Key::Bool(v),
        (Some(Value::Int(v)), _) => Key::Int(v),
        (_, Op::Uint64 | Op::Fixed64) => Key::Uint(0),
        (_, Op::Bool) => Key::Bool(false),
        _ => Key::Int(0),
    }
}
