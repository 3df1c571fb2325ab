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

/// What was met of a message. The type may have many more fields than that, so none is listed that is not there.
#[derive(Default)]
struct Met<'a> {
    /// By their indexes.
    fields: BTreeMap<u16, Field<'a>>,
    /// For each oneof the member that came last.
    members: BTreeMap<u16, u16>,
}

/// What was met of one field.
#[derive(Default)]
struct Field<'a> {
    parts: Vec<&'a [u8]>,
    entries: BTreeMap<Key<'a>, Vec<&'a [u8]>>,
}

impl Met<'_> {
    /// The first required field of `m` that is not there.
    fn missing<'m>(&self, m: &'m MessagePlan) -> Option<&'m FieldPlan> {
        let is_required = |f: &&FieldPlan| f.flags.has(Flags::REQUIRED);
        let met = self.fields.keys().filter_map(|i| m.fields.get(usize::from(*i))).filter(is_required).count();
        if met == m.required_count {
            return None;
        }
        m.fields.iter().filter(is_required).find(|f| !self.fields.contains_key(&f.index))
    }
}

fn whole(parts: &[&[u8]], m: &MessagePlan, cx: &Context) -> Result<bool> {
    let mut met = Met::default();
    for part in parts {
        scan(part, m, &mut met, cx)?;
    }
    let missing = met.missing(m);
    // Errors tell the first field.
    let before = missing.map_or(u16::MAX, |f| f.index);
    for (f, met) in met.fields.range(..before).filter_map(|(i, met)| Some((m.fields.get(usize::from(*i))?, met))) {
        if f.op == Op::Map {
            let Some(plan) = value_of(f, cx).and_then(|v| cx.set.message(v.sub)) else { continue };
            for (key, parts) in &met.entries {
                if !whole(parts, plan, cx)? {
                    key.step(m.name_of(f), cx.trace);
                    return Ok(false);
                }
            }
        } else if is_singular_message(f)
            && let Some(plan) = cx.set.message(f.sub)
            && !whole(&met.parts, plan, cx)?
        {
            cx.trace.step(m.name_of(f), Index::None);
            return Ok(false);
        }
    }
    if let Some(f) = missing {
        cx.trace.step(m.name_of(f), Index::None);
    }
    Ok(missing.is_none())
}

fn is_singular_message(f: &FieldPlan) -> bool {
    matches!(f.op, Op::Message | Op::Group) && !f.repeated()
}

/// The value's field of map `f`, if it holds messages.
fn value_of<'a>(f: &FieldPlan, cx: &Context<'a>) -> Option<&'a FieldPlan> {
    cx.set.message(f.sub)?.fields.get(1).filter(|v| v.op == Op::Message)
}

fn scan<'a>(part: &'a [u8], m: &MessagePlan, met: &mut Met<'a>, cx: &Context) -> Result<()> {
    let mut r = Reader::new(part);
    while !r.is_empty() {
        let tag = r.tag()?;
        if tag & 7 == WireType::EndGroup as u32 {
            break;
        }
        if tag == ITEM && m.message_set {
            let mut item = Item::default();
            item.read(&mut r, cx.budget.depth)?;
            if let (Some(mut message), Some(f)) = (item.message, item.field(m)) {
                met.fields.entry(f.index).or_default().parts.push(message.bytes()?);
            }
            continue;
        }
        let field = m.by_number(tag >> 3).filter(|f| f.tag == tag && !is_stray(r, f, cx));
        let Some(f) = field.filter(|f| !f.repeated() || f.op == Op::Map) else {
            r.skip(tag, cx.budget.depth)?;
            continue;
        };
        if f.flags.has(Flags::ONEOF)
            && let Some(other) = met.members.insert(f.oneof, f.index).filter(|other| *other != f.index)
        {
            met.fields.remove(&other);
        }
        let bytes = if f.op == Op::Map || is_singular_message(f) {
            Some(message_bytes(&mut r, f, cx)?)
        } else {
            r.skip(tag, cx.budget.depth)?;
            None
        };
        let met = met.fields.entry(f.index).or_default();
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
