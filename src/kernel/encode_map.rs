//! Encoding maps: one message for each entry, with both key and value.

use super::context::Context;
use super::encode::{message, payload};
use super::source::{Result, Source};
use crate::error::{Index, Kind};
use crate::schema::{Default, FieldPlan, MessagePlan, Op};
use crate::wire::{WireType, Writer, is_utf8};

/// A map.
#[inline(never)]
pub(super) fn map<S: Source>(
    src: &mut S,
    at: S::At,
    m: &MessagePlan,
    f: &FieldPlan,
    w: &mut Writer,
    cx: &mut Context,
) -> Result<()> {
    let Some(entry) = cx.set.message(f.sub) else { return Ok(()) };
    let [key, value] = &*entry.fields else { return Ok(()) };
    let map = src.map(at, entry).map_err(|e| cx.around(m, f, Index::None, e))?;
    loop {
        let (k, v) = match src.next_entry(map) {
            Ok(Some(entry)) => entry,
            Ok(None) => return Ok(()),
            Err(e) => return Err(cx.around(m, f, Index::None, e)),
        };
        let before = w.len();
        if let Err(e) = map_value(src, v, entry, value, w, cx) {
            match k {
                Some(k) => src.within_entry(k, m.name_of(f), cx.trace),
                None => cx.trace.step(m.name_of(f), Index::None),
            }
            return Err(e);
        }
        if let Err(e) = map_key(src, k, entry, key, w, cx) {
            return Err(cx.around(m, f, Index::None, e));
        }
        w.varint(w.len().wrapping_sub(before) as u64);
        w.varint(u64::from(f.tag));
    }
}

fn map_value<S: Source>(
    src: &mut S,
    at: Option<S::At>,
    entry: &MessagePlan,
    f: &FieldPlan,
    w: &mut Writer,
    cx: &mut Context,
) -> Result<()> {
    match (at, f.op) {
        (Some(at), Op::Message) => {
            let Some(plan) = cx.set.message(f.sub) else { return Ok(()) };
            message(src, at, f, plan, false, w, cx)
        }
        (Some(at), _) => {
            payload(src, at, f, true, w, cx)?;
            w.varint(u64::from(f.tag));
            Ok(())
        }
        (None, _) => {
            absent(entry, f, w);
            Ok(())
        }
    }
}

fn map_key<S: Source>(
    src: &mut S,
    at: Option<S::At>,
    entry: &MessagePlan,
    f: &FieldPlan,
    w: &mut Writer,
    cx: &Context,
) -> Result<()> {
    match at {
        None => {
            absent(entry, f, w);
            return Ok(());
        }
        Some(at) if f.op == Op::String => {
            let bytes = src.key_bytes(at, f)?;
            if f.flags.has(cx.utf8) && !is_utf8(bytes) {
                return Err(cx.fail(format_args!("key: {}", Kind::Utf8)));
            }
            w.delimited(bytes);
        }
        Some(at) => drop(payload(src, at, f, true, w, cx)?),
    }
    w.varint(u64::from(f.tag));
    Ok(())
}

/// A key or value that the list form of a map left out: its zero, or an enum's first value.
fn absent(entry: &MessagePlan, f: &FieldPlan, w: &mut Writer) {
    match (f.op.wire_type(), entry.defaults.get(usize::from(f.index))) {
        (WireType::Fixed32, _) => w.bytes(&[0; 4]),
        (WireType::Fixed64, _) => w.bytes(&[0; 8]),
        (_, Some(Default::Enum(n))) => w.varint(i64::from(*n) as u64),
        _ => w.varint(0),
    }
    w.varint(u64::from(f.tag));
}
