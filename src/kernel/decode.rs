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
    r: &Reader,
    sink: &mut S,
    cx: &mut Decoding,
    open: impl FnOnce(&mut S) -> Option<S::Frame>,
) -> Result<Option<S::Frame>> {
    match cx.budget.enter() {
        Ok(()) => Ok(open(sink)),
        Err(kind) => r.fail(kind),
    }
}

/// The contents of the group of `f`, whose start tag is read.
#[inline(always)]
fn group_contents<'a>(r: &mut Reader<'a>, f: &FieldPlan, cx: &Decoding) -> Result<&'a [u8]> {
    let start = r.rest();
    r.skip(f.element_tag(), cx.budget.depth)?;
    // The end tag has as many bytes as its canonical form unless it is overlong; find its start.
    let all = start.get(..start.len().saturating_sub(r.rest().len())).unwrap_or_default();
    let mut inner = Reader::new(all);
    loop {
        let rest = inner.rest();
        let t = inner.tag()?;
        if t & 7 == WireType::EndGroup as u32 {
            return Ok(all.get(..all.len().saturating_sub(rest.len())).unwrap_or_default());
        }
        inner.skip(t, cx.budget.depth)?;
    }
}

/// The bytes of a message or group of `f`, whose tag is read.
#[inline(always)]
pub(super) fn message_bytes<'a>(r: &mut Reader<'a>, f: &FieldPlan, cx: &Decoding) -> Result<&'a [u8]> {
    if f.op == Op::Group { group_contents(r, f, cx) } else { r.bytes() }
}

/// Takes `kind` as an error at `r`.
#[inline(always)]
pub(super) fn at<T>(r: &Reader, result: std::result::Result<T, Kind>) -> Result<T> {
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
/// Answers whether all required fields were met, here and in its singular messages.
pub(super) fn body<S: Sink>(
    r: &mut Reader,
    m: &MessagePlan,
    frame: S::Frame,
    merging: bool,
    end_tag: u32,
    sink: &mut S,
    cx: &mut Decoding,
) -> Result<bool> {
    let all = r.rest();
    let mut run = Run { start: 0, end: 0 };
    let mut next = 0usize;
    let mut seen = 0u64;
    let mut count = 0u32;
    let mut complete = true;
    let mut unmet: &[u8] = r.rest();
    let mut pending = 0u32;
    'fields: loop {
        let tag = if pending != 0 {
            pending
        } else {
            if r.is_empty() {
                if end_tag != 0 {
                    return r.fail(Kind::OpenGroup);
                }
                break;
            }
            unmet = r.rest();
            r.tag()?
        };
        pending = 0;
        let f = match m.fields.get(next) {
            Some(f) if f.tag == tag => f,
            _ => match m.by_number(tag >> 3) {
                Some(f) if f.tag == tag || f.alt == tag => f,
                _ => {
                    if tag == end_tag {
                        break;
                    }
                    r.skip(tag, cx.budget.depth)?;
                    unknown(all, unmet, r, frame, &mut run, sink);
                    continue 'fields;
                }
            },
        };
        let mask = f.mask();
        // Singular scalars are just set again; all others must know whether they are there.
        let again = |sink: &mut S| seen & mask != 0 || ((merging || mask == 0) && sink.has(frame, f));
        next = usize::from(f.index).wrapping_add(1);
        if !f.repeated() {
            match f.op {
                Op::Message | Op::Group if !f.flags.has(Flags::GHOST) => {
                    let again = again(sink);
                    if !S::NESTED {
                        match message_bytes(r, f, cx) {
                            Ok(raw) => {
                                let built = sink.message(frame, f, raw, again);
                                at(r, cx.budget.string(built))?;
                            }
                            Err(e) => return Err(cx.within(m, f, Index::None, e)),
                        }
                    } else {
                        let Some(plan) = cx.set.message(f.sub) else { return r.fail(Kind::Depth) };
                        match part(r, plan, f, frame, again, sink, cx) {
                            Ok(whole) => complete &= whole,
                            Err(e) => return Err(cx.within(m, f, Index::None, e)),
                        }
                        sink.store(frame, f);
                    }
                }
                _ if f.flags.has(Flags::GHOST) => r.skip(tag, cx.budget.depth)?,
                _ => match read(r, f, cx, ToField { sink, frame, field: f }) {
                    Ok(true) => {}
                    Ok(false) => {
                        unknown(all, unmet, r, frame, &mut run, sink);
                        continue 'fields;
                    }
                    Err(e) => return Err(cx.within(m, f, Index::None, e)),
                },
            }
            if f.flags.has(Flags::ONEOF)
                && let Some(oneof) = m.oneofs.get(usize::from(f.oneof))
                && (seen & oneof.mask & !mask != 0 || merging || !oneof.marked())
            {
                displace(m, f, oneof, frame, sink);
                seen &= mask | !oneof.mask;
            }
            count = count.wrapping_add(u32::from(seen & mask == 0));
            seen |= mask;
            continue 'fields;
        }
        let again = again(sink);
        count = count.wrapping_add(u32::from(!again));
        seen |= mask;
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
            let mut i = if again {
                sink.reopen_list(frame, f)
            } else {
                sink.begin_list(frame, f, n);
                0
            };
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
            continue 'fields;
        }
        let n = if f.op.wire_type() == WireType::Len { r.count_run(tag) } else { 0 };
        if f.op == Op::Map {
            at(r, cx.budget.map(n))?;
            sink.begin_map(frame, f, n, again);
            loop {
                if !entry(r, m, f, sink, cx)? {
                    unknown(all, unmet, r, frame, &mut run, sink);
                }
                if r.is_empty() {
                    break;
                }
                unmet = r.rest();
                let t = r.tag()?;
                if t != tag {
                    pending = t;
                    break;
                }
            }
            sink.end_map(frame, f);
            continue 'fields;
        }
        at(r, cx.budget.list(n))?;
        let mut i = if again {
            sink.reopen_list(frame, f)
        } else {
            sink.begin_list(frame, f, n);
            0
        };
        loop {
            i = i.wrapping_add(1);
            let result = match f.op {
                Op::Message | Op::Group => element(r, f, i, sink, cx),
                Op::String | Op::Bytes => {
                    let result = read(r, f, cx, ToElement { sink, field: f, index: i });
                    match result {
                        // The length was counted with the run, the text was not.
                        Ok(_) => at(r, cx.budget.string(unmet.len().wrapping_sub(r.rest().len()))),
                        Err(e) => Err(e),
                    }
                }
                _ => match read(r, f, cx, ToElement { sink, field: f, index: i }) {
                    Ok(true) => at(r, cx.budget.charge(16)),
                    Ok(false) => {
                        i = i.wrapping_sub(1);
                        unknown(all, unmet, r, frame, &mut run, sink);
                        Ok(())
                    }
                    Err(e) => Err(e),
                },
            };
            if let Err(e) = result {
                return Err(cx.within(m, f, Index::At(i), e));
            }
            if r.is_empty() {
                break;
            }
            unmet = r.rest();
            let t = r.tag()?;
            if t != tag {
                pending = t;
                break;
            }
        }
        sink.end_list(frame, f, i);
    }
    at(r, cx.budget.message(count))?;
    let last = all.get(run.start..run.end).unwrap_or_default();
    let joined = sink.close(frame, m, count, last);
    at(r, cx.budget.charge(joined as u64))?;
    Ok(complete && seen & m.required == m.required && !m.required_unmarked)
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
    let opened = down(r, sink, cx, |sink| {
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
        None => body(r, plan, frame, merging, tag(f.number(), WireType::EndGroup), sink, cx),
    }
}

/// A message as element `i` of a list.
#[inline(always)]
fn element<S: Sink>(r: &mut Reader, f: &FieldPlan, i: u64, sink: &mut S, cx: &mut Decoding) -> Result<()> {
    if !S::NESTED {
        let raw = message_bytes(r, f, cx)?;
        at(r, cx.budget.string(raw.len()))?;
        sink.element_message(f, i, raw);
        return Ok(());
    }
    let Some(plan) = cx.set.message(f.sub) else { return r.fail(Kind::Depth) };
    let start = r.rest();
    let raw = if f.op == Op::Group { None } else { Some(r.bytes()?) };
    let Some(frame) = down(r, sink, cx, |sink| sink.open(plan))? else { return r.fail(Kind::Depth) };
    let complete = contents(r, raw, plan, f, frame, false, sink, cx)?;
    cx.budget.leave();
    check(complete, &[raw.unwrap_or(start)], plan, cx)?;
    sink.store_element(i);
    Ok(())
}

/// Adds the field from `start` up to `r` to the run of unknown fields.
#[cold]
#[inline(never)]
fn unknown<S: Sink>(all: &[u8], start: &[u8], r: &Reader, frame: S::Frame, run: &mut Run, sink: &mut S) {
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
