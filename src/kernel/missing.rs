//! Required fields of a message that came in parts: a part may lack what another has, and an
//! entry of a map may be replaced by a later one, so the exact answer needs the whole message.
//! Runs only when the decoder missed something.

use std::collections::BTreeMap;

use super::context::Context;
use super::decode::{Result, is_stray, message_bytes};
use super::map::{Key, each_part, find, key_at};
use super::message_sets::{ITEM, Item};
use crate::error::{DecodeError, Index, Kind};
use crate::schema::{FieldPlan, Flags, MessagePlan, Op};
use crate::wire::{Reader, WireType};

/// Checks that `parts` together have every required field of `m`, of its singular messages and
/// of the messages in its maps. Elements of lists are checked on their own.
///
/// # Errors
/// [`Kind::Required`], with the path in the trace.
#[cold]
#[inline(never)]
pub(super) fn check(parts: &[&[u8]], m: &MessagePlan, cx: &Context) -> Result<()> {
    let end = parts.last().map_or(0, |p| p.as_ptr_range().end as usize);
    if whole(parts, m, cx)? { Ok(()) } else { Err(DecodeError { kind: Kind::Required, at: end }) }
}

/// What was met of one field.
#[derive(Clone, Default)]
struct Met<'a> {
    set: bool,
    parts: Vec<&'a [u8]>,
    entries: BTreeMap<Key<'a>, Vec<&'a [u8]>>,
}

fn whole(parts: &[&[u8]], m: &MessagePlan, cx: &Context) -> Result<bool> {
    let mut met = vec![Met::default(); m.fields.len()];
    for part in parts {
        scan(part, m, &mut met, cx)?;
    }
    for (f, met) in m.fields.iter().zip(&met) {
        if f.flags.has(Flags::REQUIRED) && !met.set {
            cx.trace.step(m.name_of(f), Index::None);
            return Ok(false);
        }
        if f.op == Op::Map {
            let Some(plan) = value_of(f, cx).and_then(|v| cx.set.message(v.sub)) else { continue };
            for (key, parts) in &met.entries {
                if !whole(parts, plan, cx)? {
                    key.step(m.name_of(f), cx.trace);
                    return Ok(false);
                }
            }
        } else if met.set
            && is_singular_message(f)
            && let Some(plan) = cx.set.message(f.sub)
            && !whole(&met.parts, plan, cx)?
        {
            cx.trace.step(m.name_of(f), Index::None);
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_singular_message(f: &FieldPlan) -> bool {
    matches!(f.op, Op::Message | Op::Group) && !f.repeated()
}

/// The value's field of map `f`, if it holds messages.
fn value_of<'a>(f: &FieldPlan, cx: &Context<'a>) -> Option<&'a FieldPlan> {
    cx.set.message(f.sub)?.fields.get(1).filter(|v| v.op == Op::Message)
}

fn scan<'a>(part: &'a [u8], m: &MessagePlan, met: &mut [Met<'a>], cx: &Context) -> Result<()> {
    let mut r = Reader::new(part);
    while !r.is_empty() {
        let tag = r.tag()?;
        if tag & 7 == WireType::EndGroup as u32 {
            break;
        }
        if tag == ITEM && m.message_set {
            let mut item = Item::default();
            item.read(&mut r, cx.budget.depth)?;
            let met = item.field(m).and_then(|f| met.get_mut(usize::from(f.index)));
            if let (Some(mut message), Some(met)) = (item.message, met) {
                met.set = true;
                met.parts.push(message.bytes()?);
            }
            continue;
        }
        let field = m.by_number(tag >> 3).filter(|f| f.tag == tag && !is_stray(r, f, cx));
        let Some(f) = field.filter(|f| !f.repeated() || f.op == Op::Map) else {
            r.skip(tag, cx.budget.depth)?;
            continue;
        };
        if f.flags.has(Flags::ONEOF) {
            displace(m, f, met);
        }
        let bytes = if f.op == Op::Map || is_singular_message(f) {
            Some(message_bytes(&mut r, f, cx)?)
        } else {
            r.skip(tag, cx.budget.depth)?;
            None
        };
        let Some(met) = met.get_mut(usize::from(f.index)) else { continue };
        met.set = true;
        if f.op != Op::Map {
            met.parts.extend(bytes);
        } else if let (Some(raw), Some(value)) = (bytes, value_of(f, cx))
            && let Some(key) = cx.set.message(f.sub).and_then(|e| e.fields.first())
        {
            let found = find(raw, key, value, cx)?;
            let mut parts = Vec::new();
            each_part(raw, value, cx.budget.depth, |part, _| {
                parts.push(part);
                Ok(())
            })?;
            met.entries.insert(key_at(key, found.key, cx), parts);
        }
    }
    Ok(())
}

fn displace(m: &MessagePlan, f: &FieldPlan, met: &mut [Met]) {
    let members = m.oneofs.get(usize::from(f.oneof)).map_or(&[][..], |o| &o.members);
    for member in members.iter().filter(|i| **i != f.index) {
        if let Some(met) = met.get_mut(usize::from(*member)) {
            *met = Met::default();
        }
    }
}
