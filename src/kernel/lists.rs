//! Context lists and maps, whose elements mostly follow each other.

use super::context::Context;
use super::decode::{Part, Result, Side, at, check, contents, down, flush, is_stray, message_bytes, unknown};
use super::map::entry;
use super::read::{ToElement, read, settle};
use super::sink::{Sink, opens};
use crate::error::{Index, Kind};
use crate::schema::{FieldPlan, MessagePlan, Op};
use crate::wire::{MOST_VARINT, Reader, WireType, put_varint};

/// A packed list. Answers whether it has elements.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn packed<'a, S: Sink>(
    r: &mut Reader<'a>,
    m: &MessagePlan,
    f: &FieldPlan,
    frame: S::Frame,
    again: bool,
    side: &mut Side<'a>,
    sink: &mut S,
    cx: &mut Context,
) -> Result<bool> {
    let mut list = match r.bytes() {
        Ok(bytes) => Reader::new(bytes),
        Err(e) => return Err(cx.within(m, f, Index::None, e)),
    };
    let n = match f.op.wire_type() {
        WireType::Fixed32 => list.rest().len() >> 2,
        WireType::Fixed64 => list.rest().len() >> 3,
        _ => list.count_varints(),
    };
    at(*r, cx.budget.list(n))?;
    let mut i = open_list(f, frame, n, again, sink);
    while !list.is_empty() {
        if is_stray(list, f, cx) {
            flush(side, frame, sink);
            stray_element(&mut list, f, frame, sink)?;
            continue;
        }
        i = i.wrapping_add(1);
        if let Err(e) = read(&mut list, f, cx, ToElement { sink, field: f, index: i }) {
            return Err(cx.within(m, f, Index::At(i), e));
        }
    }
    sink.end_list(frame, f, i);
    Ok(i > 0)
}

/// A list that is not packed, or a map: the element whose tag is read, and those that follow it
/// directly, as they mostly do. Answers whether it has elements.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn elements<'a, S: Sink>(
    r: &mut Reader<'a>,
    mut start: Reader<'a>,
    tag: u32,
    m: &MessagePlan,
    f: &FieldPlan,
    frame: S::Frame,
    again: bool,
    side: &mut Side<'a>,
    sink: &mut S,
    cx: &mut Context,
) -> Result<bool> {
    let n = if f.op.wire_type() == WireType::Len { r.count_run(tag) } else { 0 };
    let map = f.op == Op::Map;
    at(*r, if map { cx.budget.map(n) } else { cx.budget.lists(sink.width(f), n) })?;
    let mut i = if map {
        sink.begin_map(frame, f, n, again);
        u64::from(again)
    } else {
        open_list(f, frame, n, again, sink)
    };
    loop {
        i = i.wrapping_add(1);
        let stored = match f.op {
            Op::Message | Op::Group => match element(r, f, i, sink, cx) {
                Ok(()) => true,
                Err(e) => return Err(cx.within(m, f, Index::At(i), e)),
            },
            Op::Map => match entry(r, m, f, sink, cx)? {
                Some(complete) => {
                    side.complete &= complete;
                    true
                }
                None => false,
            },
            _ if is_stray(*r, f, cx) => false,
            _ => match scalar_element(r, f, i, sink, cx) {
                Ok(()) => true,
                Err(e) => return Err(cx.within(m, f, Index::At(i), e)),
            },
        };
        if !stored {
            i = i.wrapping_sub(1);
            *r = unknown(start, tag, frame, side, sink, cx)?;
        }
        if r.is_empty() {
            break;
        }
        start = *r;
        if r.tag()? != tag {
            *r = start;
            break;
        }
    }
    if map {
        sink.end_map(frame, f, i > 0);
    } else {
        sink.end_list(frame, f, i);
    }
    Ok(i > 0)
}

/// A scalar as element `i` of a list that is not packed.
#[inline(always)]
fn scalar_element<S: Sink>(r: &mut Reader, f: &FieldPlan, i: u64, sink: &mut S, cx: &mut Context) -> Result<()> {
    let before = r.rest().len();
    read(r, f, cx, ToElement { sink, field: f, index: i })?;
    let charged = match f.op {
        Op::String | Op::Bytes => cx.budget.string(before.wrapping_sub(r.rest().len())),
        // The elements of other lists were not counted ahead.
        _ => cx.budget.element(),
    };
    at(*r, charged)?;
    settle(*r, f, sink, cx)
}

/// Opens a list, or opens it again; answers how many elements it has.
#[inline(always)]
fn open_list<S: Sink>(f: &FieldPlan, frame: S::Frame, n: usize, again: bool, sink: &mut S) -> u64 {
    if again {
        return sink.reopen_list(frame, f);
    }
    sink.begin_list(frame, f, n);
    0
}

/// A message as element `i` of a list.
#[inline(always)]
fn element<S: Sink>(r: &mut Reader, f: &FieldPlan, i: u64, sink: &mut S, cx: &mut Context) -> Result<()> {
    if !opens::<S>(f) {
        let raw = message_bytes(r, f, cx)?;
        at(*r, cx.budget.string(raw.len()))?;
        sink.element_message(f, i, raw);
        return settle(*r, f, sink, cx);
    }
    let Some(plan) = cx.set.message(f.sub) else { return r.fail(Kind::Depth) };
    let start = r.rest();
    let raw = if f.op == Op::Group { None } else { Some(r.bytes()?) };
    let Some(frame) = down(*r, sink, cx, |sink| sink.open(plan))? else { return r.fail(Kind::Depth) };
    let complete = contents(r, raw, plan, f, frame, Part::WHOLE, sink, cx)?;
    cx.budget.leave();
    check(complete, &[raw.unwrap_or(start)], plan, cx)?;
    let built = sink.store_element(f, i);
    at(*r, cx.budget.charge(built as u64))
}

/// An element of a packed list that a closed enum lacks, as a field of its own.
#[cold]
fn stray_element<S: Sink>(list: &mut Reader, f: &FieldPlan, frame: S::Frame, sink: &mut S) -> Result<()> {
    // Nothing here owns memory, for sinks may raise errors of Lua's.
    let mut field = [0; 2 * MOST_VARINT];
    let tag = put_varint(&mut field, f.element_tag().into());
    let value = put_varint(field.get_mut(tag..).unwrap_or_default(), list.varint()?);
    sink.unknown(frame, field.get(..tag.wrapping_add(value)).unwrap_or_default());
    Ok(())
}
