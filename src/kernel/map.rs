//! One entry of a map: a message with the key as field 1 and the value as field 2 ("Maps").

use super::decode::{Decoding, Result, at, body, check, down};
use super::read::{Put, ToEntry, ToKey, read};
use super::sink::{Sink, Value};
use crate::error::{DecodeError, Index, Kind};
use crate::schema::{Default, FieldPlan, Flags, MessagePlan, Op};
use crate::wire::Reader;

/// Decodes the entry at `r`, whose tag is read, into the open map `f` of `m`. Answers whether
/// it did: an entry whose value a closed enum lacks is an unknown field as a whole.
pub(super) fn entry<S: Sink>(
    r: &mut Reader,
    m: &MessagePlan,
    f: &FieldPlan,
    sink: &mut S,
    cx: &mut Decoding,
) -> Result<bool> {
    let raw = match r.bytes() {
        Ok(raw) => raw,
        Err(e) => return Err(cx.within(m, f, Index::None, e)),
    };
    let Some(plan) = cx.set.message(f.sub) else { return r.fail(Kind::Depth) };
    let [key, value] = &*plan.fields else { return r.fail(Kind::Depth) };
    let found = match find(raw, key, value, cx) {
        Ok(found) => found,
        Err(e) => return Err(cx.within(m, f, Index::None, e)),
    };
    if value.flags.has(Flags::CLOSED)
        && let Some(mut number) = found.value
        && !cx.knows(value, number.varint()? as i32)
    {
        return Ok(false);
    }
    let put = match found.key {
        Some(mut r) => read(&mut r, key, cx, ToKey { sink, field: key }).map(drop),
        None => put_default(plan.defaults.first(), ToKey { sink, field: key }),
    };
    let put = put.and_then(|()| at(r, cx.budget.string(raw.len())));
    if let Err(e) = put {
        return Err(cx.within(m, f, Index::None, e));
    }
    let put = match (value.op, found.value) {
        (Op::Message, _) => message(raw, value, &found, sink, cx),
        (_, Some(mut r)) => read(&mut r, value, cx, ToEntry { sink, field: value }).map(drop),
        (_, None) => put_default(plan.defaults.get(1), ToEntry { sink, field: value }),
    };
    if let Err(e) = put {
        return Err(within_entry(m, f, key, found.key, e, cx));
    }
    sink.store_entry();
    Ok(true)
}

/// Where the parts of an entry are: readers behind the tags of the last key and value.
struct Found<'a> {
    key: Option<Reader<'a>>,
    value: Option<Reader<'a>>,
    values: usize,
}

fn find<'a>(raw: &'a [u8], key: &FieldPlan, value: &FieldPlan, cx: &Decoding) -> Result<Found<'a>> {
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
    match default {
        Some(Default::Int(v)) => put.value(Value::Int(*v)),
        Some(Default::Uint(v)) => put.value(Value::Uint(*v)),
        Some(Default::Number(v)) => put.value(Value::Number(*v)),
        Some(Default::Bool(v)) => put.value(Value::Bool(*v)),
        Some(Default::Enum(v)) => put.value(Value::Enum(*v)),
        Some(Default::Bytes(v)) => put.bytes(v),
        Some(Default::None) | None => put.bytes(b""),
    }
    Ok(())
}

/// The message value of an entry, merged where it comes in several parts.
fn message<S: Sink>(raw: &[u8], value: &FieldPlan, found: &Found, sink: &mut S, cx: &mut Decoding) -> Result<()> {
    let r = Reader::new(raw);
    let first = match found.value {
        Some(mut r) => r.bytes()?,
        None => b"",
    };
    if !S::NESTED {
        if found.values < 2 {
            sink.map_value_message(value, first, false);
            return Ok(());
        }
        return each_part(raw, value, cx.budget.depth, |part, again| {
            let built = sink.map_value_message(value, part, again);
            at(&r, cx.budget.string(built))
        });
    }
    let Some(plan) = cx.set.message(value.sub) else { return r.fail(Kind::Depth) };
    let Some(frame) = down(&r, sink, cx, |sink| sink.open(plan))? else { return r.fail(Kind::Depth) };
    let mut complete = false;
    if found.values < 2 {
        complete = body(&mut Reader::new(first), plan, frame, false, 0, sink, cx)?;
    } else {
        each_part(raw, value, cx.budget.depth, |part, again| {
            complete |= body(&mut Reader::new(part), plan, frame, again, 0, sink, cx)?;
            Ok(())
        })?;
    }
    cx.budget.leave();
    if found.values < 2 {
        check(complete, &[first], plan, cx)
    } else {
        // A part by itself proves nothing: another may have brought an incomplete message.
        merged(raw, value, plan, cx)
    }
}

#[cold]
fn merged(raw: &[u8], value: &FieldPlan, plan: &MessagePlan, cx: &Decoding) -> Result<()> {
    let mut parts = Vec::new();
    each_part(raw, value, cx.budget.depth, |part, _| {
        parts.push(part);
        Ok(())
    })?;
    check(false, &parts, plan, cx)
}

#[cold]
fn each_part<'a>(
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
fn within_entry(
    m: &MessagePlan,
    f: &FieldPlan,
    key: &FieldPlan,
    at: Option<Reader>,
    error: DecodeError,
    cx: &Decoding,
) -> DecodeError {
    struct Shown<'a>(&'a mut Option<Value>);
    impl Put for Shown<'_> {
        fn value(self, value: Value) {
            *self.0 = Some(value);
        }
        fn bytes(self, _: &[u8]) {}
    }
    let Some(mut r) = at else { return cx.within(m, f, Index::Key(&"default"), error) };
    if key.op == Op::String {
        let name = r.bytes().unwrap_or_default();
        return cx.within(m, f, Index::Name(name), error);
    }
    let mut value = None;
    let _ = read(&mut r, key, cx, Shown(&mut value));
    match value {
        Some(Value::Int(v)) => cx.within(m, f, Index::Key(&v), error),
        Some(Value::Uint(v)) => cx.within(m, f, Index::Key(&v), error),
        Some(Value::Bool(v)) => cx.within(m, f, Index::Key(&v), error),
        _ => cx.within(m, f, Index::None, error),
    }
}
