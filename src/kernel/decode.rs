//! The decoder: the bytes of a message to the events of a [`Sink`].

use super::budget::Budget;
use super::map::entry;
use super::missing;
use super::read::{ToElement, ToField, read};
use super::sink::Sink;
use crate::error::{DecodeError, Index, Kind, Trace};
use crate::schema::{FieldPlan, Flags, MessagePlan, OneofPlan, Op, Set};
use crate::wire::{Reader, WireType, tag};

pub(super) type Result<T> = std::result::Result<T, DecodeError>;

/// What the levels of one decoding share.
#[derive(Clone, Copy)]
pub struct Decoding<'a> {
    /// The types.
    pub set: &'a Set,
    /// Where the path of an error is told.
    pub trace: &'a Trace,
    /// What may still be used.
    pub budget: Budget,
    /// Whether required fields are checked.
    pub required: bool,
    /// [`Flags::UTF8`] where strings are checked, else none.
    pub utf8: Flags,
}

impl Decoding<'_> {
    /// Whether the enum of `f` has `number`.
    #[inline(always)]
    pub(super) fn knows(&self, f: &FieldPlan, number: i32) -> bool {
        self.set.enumeration(f.sub).is_some_and(|e| e.position(number).is_some())
    }

    /// Notes that `error` arose in `f` of `m`.
    #[cold]
    #[inline(never)]
    pub(super) fn within(&self, m: &MessagePlan, f: &FieldPlan, index: Index, error: DecodeError) -> DecodeError {
        self.trace.step(m.name_of(f), index);
        error
    }
}

/// Decodes `bytes` as the message `m`; on success its value is what `sink` opened first.
///
/// # Errors
/// Malformed bytes, invalid UTF-8, missing required fields, and an exceeded budget. The
/// trace holds the path then.
#[inline(always)]
pub fn decode<S: Sink>(bytes: &[u8], m: &MessagePlan, sink: &mut S, cx: &mut Decoding) -> Result<()> {
    const { assert!(!std::mem::needs_drop::<S>() && !std::mem::needs_drop::<DecodeError>()) }
    let mut r = Reader::new(bytes);
    at(r, cx.budget.charge(bytes.len() as u64))?;
    let Some(frame) = sink.open(m) else { return r.fail(Kind::Depth) };
    let complete = body(&mut r, m, frame, false, 0, sink, cx)?;
    check(complete, &[bytes], m, cx)
}

/// Ends a message that no later part can complete any more.
#[inline(always)]
pub(super) fn check(complete: bool, parts: &[&[u8]], m: &MessagePlan, cx: &Decoding) -> Result<()> {
    if complete || !cx.required { Ok(()) } else { missing::check(parts, m, cx) }
}

/// Goes one level down and opens a message there.
#[inline(always)]
pub(super) fn down<S: Sink>(
    r: Reader,
    sink: &mut S,
    cx: &mut Decoding,
    open: impl FnOnce(&mut S) -> Option<S::Frame>,
) -> Result<Option<S::Frame>> {
    match cx.budget.enter() {
        Ok(()) => Ok(open(sink)),
        Err(kind) => r.fail(kind),
    }
}

/// The contents of the group of `f`, whose start tag is read, and the reader behind its end.
#[inline(never)]
fn group_contents<'a>(mut r: Reader<'a>, f: &FieldPlan, cx: &Decoding) -> Result<(&'a [u8], Reader<'a>)> {
    let start = r.rest();
    r.skip(f.element_tag(), cx.budget.depth)?;
    // The end tag has as many bytes as its canonical form unless it is overlong; find its start.
    let all = start.get(..start.len().saturating_sub(r.rest().len())).unwrap_or_default();
    let mut inner = Reader::new(all);
    loop {
        let rest = inner.rest();
        let t = inner.tag()?;
        if t & 7 == WireType::EndGroup as u32 {
            return Ok((all.get(..all.len().saturating_sub(rest.len())).unwrap_or_default(), r));
        }
        inner.skip(t, cx.budget.depth)?;
    }
}

/// The bytes of a message or group of `f`, whose tag is read.
#[inline(always)]
pub(super) fn message_bytes<'a>(r: &mut Reader<'a>, f: &FieldPlan, cx: &Decoding) -> Result<&'a [u8]> {
    if f.op != Op::Group {
        return r.bytes();
    }
    let (bytes, rest) = group_contents(*r, f, cx)?;
    *r = rest;
    Ok(bytes)
}

/// Takes `kind` as an error at `r`.
#[inline(always)]
pub(super) fn at<T>(r: Reader, result: std::result::Result<T, Kind>) -> Result<T> {
    match result {
        Ok(v) => Ok(v),
        Err(kind) => r.fail(kind),
    }
}

/// Takes the other members of the oneof of `f` away.
#[cold]
#[inline(never)]
fn displace<S: Sink>(m: &MessagePlan, f: &FieldPlan, oneof: &OneofPlan, frame: S::Frame, sink: &mut S) {
    for member in oneof.members.iter().filter_map(|i| m.fields.get(usize::from(*i))) {
        if member.index != f.index && !member.flags.has(Flags::GHOST) && sink.has(frame, member) {
            sink.unset(frame, member);
        }
    }
}

/// The unknown fields of one message that follow each other directly, as offsets in it.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
}

/// Decodes the fields of a message until its end, or until `end_tag` if it is a group.
///
/// With `merging`, the message has been open before: what `seen` lacks is asked of the sink.
/// Answers whether all required fields were met, here, in its singular messages and in its maps.
pub(super) fn body<'a, S: Sink>(
    reader: &mut Reader<'a>,
    m: &MessagePlan,
    frame: S::Frame,
    merging: bool,
    end_tag: u32,
    sink: &mut S,
    cx: &mut Decoding,
) -> Result<bool> {
    // A copy, which no other function has the address of, stays in registers.
    let mut r = *reader;
    let all = r.rest();
    let mut run = Run { start: 0, end: 0 };
    let mut next = 0usize;
    let mut seen = 0u64;
    let mut count = 0u32;
    let mut complete = true;
    loop {
        if r.is_empty() {
            if end_tag != 0 {
                return r.fail(Kind::OpenGroup);
            }
            break;
        }
        let start = r.rest();
        let tag = r.tag()?;
        let f = match m.fields.get(next) {
            Some(f) if f.tag == tag => f,
            _ => match m.by_number(tag >> 3) {
                Some(f) if f.tag == tag || f.alt == tag => f,
                _ => {
                    if tag == end_tag {
                        break;
                    }
                    r.skip(tag, cx.budget.depth)?;
                    unknown(all, start, r, frame, &mut run, sink);
                    continue;
                }
            },
        };
        next = usize::from(f.index).wrapping_add(1);
        count = count.wrapping_add(1);
        if f.flags.has(Flags::PLAIN) {
            if let Err(e) = read(&mut r, f, cx, ToField { sink, frame, field: f }) {
                return Err(cx.within(m, f, Index::None, e));
            }
            seen |= f.mask;
            continue;
        }
        if !f.repeated() {
            if f.flags.has(Flags::GHOST) {
                r.skip(tag, cx.budget.depth)?;
            } else if !matches!(f.op, Op::Message | Op::Group) {
                match read(&mut r, f, cx, ToField { sink, frame, field: f }) {
                    Ok(true) => {}
                    Ok(false) => {
                        unknown(all, start, r, frame, &mut run, sink);
                        continue;
                    }
                    Err(e) => return Err(cx.within(m, f, Index::None, e)),
                }
            } else {
                let again = is_set(f, frame, seen, merging, sink);
                match singular(&mut r, f, frame, again, sink, cx) {
                    Ok(whole) => complete &= whole,
                    Err(e) => return Err(cx.within(m, f, Index::None, e)),
                }
            }
            if f.flags.has(Flags::ONEOF)
                && let Some(oneof) = m.oneofs.get(usize::from(f.oneof))
                && (seen & oneof.mask & !f.mask != 0 || merging || !oneof.marked())
            {
                displace(m, f, oneof, frame, sink);
                seen &= f.mask | !oneof.mask;
            }
            seen |= f.mask;
            continue;
        }
        let again = is_set(f, frame, seen, merging, sink);
        if tag & 7 == WireType::Len as u32 && f.op.packable() {
            let mut packed = match r.bytes() {
                Ok(bytes) => Reader::new(bytes),
                Err(e) => return Err(cx.within(m, f, Index::None, e)),
            };
            let n = match f.op.wire_type() {
                WireType::Fixed32 => packed.rest().len() >> 2,
                WireType::Fixed64 => packed.rest().len() >> 3,
                _ => packed.count_varints(),
            };
            at(r, cx.budget.list(n))?;
            let mut i = open_list(f, frame, n, again, sink);
            while !packed.is_empty() {
                i = i.wrapping_add(1);
                let value = packed.rest();
                match read(&mut packed, f, cx, ToElement { sink, field: f, index: i }) {
                    Ok(true) => {}
                    Ok(false) => {
                        i = i.wrapping_sub(1);
                        flush(all, &mut run, frame, sink);
                        unknown_number(f, value, frame, sink);
                    }
                    Err(e) => return Err(cx.within(m, f, Index::At(i), e)),
                }
            }
            sink.end_list(frame, f, i);
            seen |= if i > 0 { f.mask } else { 0 };
            continue;
        }
        let n = if f.op.wire_type() == WireType::Len { r.count_run(tag) } else { 0 };
        let map = f.op == Op::Map;
        at(r, if map { cx.budget.map(n) } else { cx.budget.list(n) })?;
        let mut i = if map {
            sink.begin_map(frame, f, n, again);
            u64::from(again)
        } else {
            open_list(f, frame, n, again, sink)
        };
        // The elements of a list mostly follow each other.
        let mut start = start;
        loop {
            i = i.wrapping_add(1);
            let result = match f.op {
                Op::Message | Op::Group => element(&mut r, f, i, sink, cx).map(|()| true),
                Op::Map => match entry(&mut r, m, f, sink, cx)? {
                    Some(whole) => {
                        complete &= whole;
                        Ok(true)
                    }
                    None => Ok(false),
                },
                Op::String | Op::Bytes => {
                    let before = r.rest().len();
                    let result = read(&mut r, f, cx, ToElement { sink, field: f, index: i });
                    result.and_then(|kept| {
                        at(r, cx.budget.string(before.wrapping_sub(r.rest().len())))?;
                        Ok(kept)
                    })
                }
                _ => {
                    at(r, cx.budget.element())?;
                    read(&mut r, f, cx, ToElement { sink, field: f, index: i })
                }
            };
            match result {
                Ok(true) => {}
                Ok(false) => {
                    i = i.wrapping_sub(1);
                    unknown(all, start, r, frame, &mut run, sink);
                }
                Err(e) => return Err(cx.within(m, f, Index::At(i), e)),
            }
            if r.is_empty() {
                break;
            }
            let before = r;
            if r.tag()? != tag {
                r = before;
                break;
            }
            start = before.rest();
        }
        if map {
            sink.end_map(frame, f, i > 0);
        } else {
            sink.end_list(frame, f, i);
        }
        seen |= if i > 0 { f.mask } else { 0 };
    }
    at(r, cx.budget.message(count))?;
    let last = all.get(run.start..run.end).unwrap_or_default();
    let joined = sink.close(frame, m, count, last);
    at(r, cx.budget.charge(joined as u64))?;
    *reader = r;
    Ok(complete && seen & m.required == m.required && !m.required_unmarked)
}

/// Whether `f` has a value from before.
#[inline(always)]
fn is_set<S: Sink>(f: &FieldPlan, frame: S::Frame, seen: u64, merging: bool, sink: &mut S) -> bool {
    seen & f.mask != 0 || ((merging || f.mask == 0) && sink.has(frame, f))
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

/// A singular message, as events or as bytes. Answers whether it is complete.
#[inline(always)]
fn singular<S: Sink>(
    r: &mut Reader,
    f: &FieldPlan,
    frame: S::Frame,
    again: bool,
    sink: &mut S,
    cx: &mut Decoding,
) -> Result<bool> {
    if !S::NESTED {
        let raw = message_bytes(r, f, cx)?;
        let built = sink.message(frame, f, raw, again);
        at(*r, cx.budget.string(built))?;
        return Ok(true);
    }
    let Some(plan) = cx.set.message(f.sub) else { return r.fail(Kind::Depth) };
    let whole = part(r, plan, f, frame, again, sink, cx)?;
    sink.store(frame, f);
    Ok(whole)
}

/// A singular message: opens it, or opens it again to merge into it ("Last One Wins" holds
/// for scalars, messages merge). Answers whether it is complete.
#[inline(always)]
fn part<S: Sink>(
    r: &mut Reader,
    plan: &MessagePlan,
    f: &FieldPlan,
    frame: S::Frame,
    again: bool,
    sink: &mut S,
    cx: &mut Decoding,
) -> Result<bool> {
    let raw = if f.op == Op::Group { None } else { Some(r.bytes()?) };
    let opened = down(*r, sink, cx, |sink| {
        if again {
            sink.reopen(frame, f, plan)
        } else {
            sink.key(frame, f);
            sink.open(plan)
        }
    })?;
    let Some(inner) = opened else { return r.fail(Kind::Depth) };
    let complete = contents(r, raw, plan, f, inner, again, sink, cx)?;
    cx.budget.leave();
    Ok(complete)
}

/// The fields of a nested message: in `raw`, or where `r` stands if it is a group.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn contents<S: Sink>(
    r: &mut Reader,
    raw: Option<&[u8]>,
    plan: &MessagePlan,
    f: &FieldPlan,
    frame: S::Frame,
    merging: bool,
    sink: &mut S,
    cx: &mut Decoding,
) -> Result<bool> {
    match raw {
        Some(raw) => body(&mut Reader::new(raw), plan, frame, merging, 0, sink, cx),
        None => {
            let mut inner = *r;
            let end_tag = tag(f.number(), WireType::EndGroup);
            let complete = body(&mut inner, plan, frame, merging, end_tag, sink, cx)?;
            *r = inner;
            Ok(complete)
        }
    }
}

/// A message as element `i` of a list.
#[inline(always)]
fn element<S: Sink>(r: &mut Reader, f: &FieldPlan, i: u64, sink: &mut S, cx: &mut Decoding) -> Result<()> {
    if !S::NESTED {
        let raw = message_bytes(r, f, cx)?;
        at(*r, cx.budget.string(raw.len()))?;
        sink.element_message(f, i, raw);
        return Ok(());
    }
    let Some(plan) = cx.set.message(f.sub) else { return r.fail(Kind::Depth) };
    let start = r.rest();
    let raw = if f.op == Op::Group { None } else { Some(r.bytes()?) };
    let Some(frame) = down(*r, sink, cx, |sink| sink.open(plan))? else { return r.fail(Kind::Depth) };
    let complete = contents(r, raw, plan, f, frame, false, sink, cx)?;
    cx.budget.leave();
    check(complete, &[raw.unwrap_or(start)], plan, cx)?;
    sink.store_element(i);
    Ok(())
}

/// Adds the field from `start` up to `r` to the run of unknown fields.
#[cold]
#[inline(never)]
fn unknown<S: Sink>(all: &[u8], start: &[u8], r: Reader, frame: S::Frame, run: &mut Run, sink: &mut S) {
    let from = all.len().saturating_sub(start.len());
    let to = all.len().saturating_sub(r.rest().len());
    if run.end != from {
        flush(all, run, frame, sink);
        run.start = from;
    }
    run.end = to;
}

fn flush<S: Sink>(all: &[u8], run: &mut Run, frame: S::Frame, sink: &mut S) {
    if run.start < run.end {
        sink.unknown(frame, all.get(run.start..run.end).unwrap_or_default());
    }
    run.start = run.end;
}

/// An element of a packed list that a closed enum lacks, as a field of its own.
#[cold]
fn unknown_number<S: Sink>(f: &FieldPlan, value: &[u8], frame: S::Frame, sink: &mut S) {
    let mut r = Reader::new(value);
    let _ = r.varint();
    let value = value.get(..value.len().saturating_sub(r.rest().len())).unwrap_or_default();
    let mut field = [0u8; 16];
    let mut n = 0usize;
    let mut t = f.element_tag();
    let mut put = |b: u8| {
        if let Some(to) = field.get_mut(n) {
            *to = b;
            n = n.saturating_add(1);
        }
    };
    while t >= 0x80 {
        put(t as u8 | 0x80);
        t >>= 7;
    }
    put(t as u8);
    value.iter().for_each(|b| put(*b));
    sink.unknown(frame, field.get(..n).unwrap_or_default());
}
