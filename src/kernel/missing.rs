//! Required fields of a message that came in parts: a part may lack what another has, so
//! the exact answer needs all parts. Runs only when the decoder missed something.

use super::decode::{Decoding, Result, at, message_bytes};
use crate::error::{DecodeError, Index, Kind};
use crate::schema::{FieldPlan, Flags, MessagePlan, Op};
use crate::wire::{Reader, WireType};

/// Checks that `parts` together have every required field of `m` and of its singular messages.
///
/// # Errors
/// [`Kind::Required`], with the path in the trace.
#[cold]
#[inline(never)]
pub(super) fn check(parts: &[&[u8]], m: &MessagePlan, cx: &Decoding) -> Result<()> {
    let end = parts.last().map_or(0, |p| p.as_ptr_range().end as usize);
    if whole(parts, m, cx)? { Ok(()) } else { Err(DecodeError { kind: Kind::Required, at: end }) }
}

/// What was met of one field.
#[derive(Clone, Default)]
struct Met<'a> {
    set: bool,
    parts: Vec<&'a [u8]>,
}

fn whole(parts: &[&[u8]], m: &MessagePlan, cx: &Decoding) -> Result<bool> {
    let mut met = vec![Met::default(); m.fields.len()];
    for part in parts {
        scan(part, m, &mut met, cx)?;
    }
    for (f, met) in m.fields.iter().zip(&met) {
        if f.flags.has(Flags::REQUIRED) && !met.set {
            cx.trace.step(m.name_of(f), Index::None);
            return Ok(false);
        }
        if met.set
            && matches!(f.op, Op::Message | Op::Group)
            && let Some(plan) = cx.set.message(f.sub)
            && !f.repeated()
            && !whole(&met.parts, plan, cx)?
        {
            cx.trace.step(m.name_of(f), Index::None);
            return Ok(false);
        }
    }
    Ok(true)
}

fn scan<'a>(part: &'a [u8], m: &MessagePlan, met: &mut [Met<'a>], cx: &Decoding) -> Result<()> {
    let mut r = Reader::new(part);
    while !r.is_empty() {
        let tag = r.tag()?;
        if tag & 7 == WireType::EndGroup as u32 {
            break;
        }
        let Some(f) = m.by_number(tag >> 3).filter(|f| f.tag == tag && !f.repeated()) else {
            r.skip(tag, cx.budget.depth)?;
            continue;
        };
        if !counts(r, f, cx) {
            r.skip(tag, cx.budget.depth)?;
            continue;
        }
        if f.flags.has(Flags::ONEOF) {
            displace(m, f, met);
        }
        let bytes = match f.op {
            Op::Message | Op::Group => Some(message_bytes(&mut r, f, cx)?),
            _ => {
                r.skip(tag, cx.budget.depth)?;
                None
            }
        };
        if let Some(met) = met.get_mut(usize::from(f.index)) {
            met.set = true;
            met.parts.extend(bytes);
        }
    }
    at(&r, Ok(()))
}

/// Whether the value at `r` sets `f`: a number that a closed enum lacks does not.
fn counts(mut r: Reader, f: &FieldPlan, cx: &Decoding) -> bool {
    !f.flags.has(Flags::CLOSED) || r.varint().is_ok_and(|n| cx.knows(f, n as i32))
}

fn displace(m: &MessagePlan, f: &FieldPlan, met: &mut [Met]) {
    let members = m.oneofs.get(usize::from(f.oneof)).map_or(&[][..], |o| &o.members);
    for member in members.iter().filter(|i| **i != f.index) {
        if let Some(met) = met.get_mut(usize::from(*member)) {
            *met = Met::default();
        }
    }
}
