//! The decoder: the bytes of a message to the events of a [`Sink`].

use super::context::Context;
use super::lists::{elements, packed};
use super::message_sets::{ITEM, item};
use super::missing;
use super::read::{ToField, read, settle};
use super::sink::{Sink, opens};
use crate::error::{DecodeError, Index, Kind};
use crate::schema::{FieldPlan, Flags, MessagePlan, OneofPlan, Op};
use crate::wire::{Reader, WireType, tag};

pub(super) type Result<T> = std::result::Result<T, DecodeError>;

impl Context<'_> {
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
pub fn decode<S: Sink>(bytes: &[u8], m: &MessagePlan, sink: &mut S, cx: &mut Context) -> Result<()> {
    const { assert!(!std::mem::needs_drop::<S>() && !std::mem::needs_drop::<DecodeError>()) }
    let mut r = Reader::new(bytes);
    at(r, cx.budget.charge(bytes.len() as u64))?;
    let Some(frame) = sink.open(m) else { return r.fail(Kind::Depth) };
    let complete = body(&mut r, m, frame, Part::WHOLE, 0, sink, cx)?;
    check(complete, &[bytes], m, cx)
}

/// Ends a message that no later part can complete any more.
#[inline(always)]
pub(super) fn check(complete: bool, parts: &[&[u8]], m: &MessagePlan, cx: &Context) -> Result<()> {
    if complete || !cx.required { Ok(()) } else { missing::check(parts, m, cx) }
}

/// Goes one level down and opens a message there.
#[inline(always)]
pub(super) fn down<S: Sink>(
    r: Reader,
    sink: &mut S,
    cx: &mut Context,
    open: impl FnOnce(&mut S) -> Option<S::Frame>,
) -> Result<Option<S::Frame>> {
    match cx.budget.enter() {
        Ok(()) => Ok(open(sink)),
        Err(kind) => r.fail(kind),
    }
}

/// The contents of the group of `f`, whose start tag is read, and the reader behind its end.
#[inline(never)]
fn group_contents<'a>(mut r: Reader<'a>, f: &FieldPlan, cx: &Context) -> Result<(&'a [u8], Reader<'a>)> {
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
pub(super) fn message_bytes<'a>(r: &mut Reader<'a>, f: &FieldPlan, cx: &Context) -> Result<&'a [u8]> {
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
#[allow(clippy::too_many_arguments)]
fn displace<S: Sink>(
    m: &MessagePlan,
    f: &FieldPlan,
    oneof: &OneofPlan,
    frame: S::Frame,
    merging: bool,
    side: &mut Side,
    sink: &mut S,
    cx: &mut Context,
) -> std::result::Result<(), Kind> {
    let mut unset = |i: u16| {
        let member = m.fields.get(usize::from(i)).filter(|member| member.index != f.index);
        if let Some(member) = member.filter(|member| !member.flags.has(Flags::GHOST) && sink.has(frame, member)) {
            sink.unset(frame, member);
        }
    };
    let remembered = oneof.remembered.and_then(|i| side.members.get_mut(usize::from(i)));
    let before = remembered.map(|member| std::mem::replace(member, f.index.saturating_add(1)));
    match before.map(|member| member.checked_sub(1)) {
        Some(Some(member)) => unset(member),
        Some(None) if !merging => {}
        _ => {
            if !oneof.marked() {
                // Bytes can have that done any number of times, and the oneof be of any size.
                cx.budget.asks(oneof.members.len())?;
            }
            oneof.members.iter().for_each(|i| unset(*i));
        }
    }
    Ok(())
}

/// What is kept of a message apart from the loop over its plain fields.
pub(super) struct Side<'a> {
    /// The message from its first byte on.
    pub all: &'a [u8],
    /// The latest unknown fields that follow each other directly, as offsets in `all`.
    pub run: (usize, usize),
    /// Required fields of nested messages were met.
    pub complete: bool,
    /// Of each oneof that is remembered, one more than the member that is set; 0 while this part of the message had none.
    pub members: [u16; OneofPlan::REMEMBERED],
}

/// A place between two fields, and the fields seen so far.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub r: Reader<'a>,
    pub seen: u64,
}

/// Which part of a message its bytes are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Part(u8);

impl Part {
    /// The only one, or the first, after which the message is closed.
    pub const WHOLE: Part = Part(0);
    /// There were parts before: what is not seen in this one is asked of the sink.
    const MERGING: u8 = 1;
    /// Another one follows directly, so the message stays open.
    const MORE: u8 = 2;

    pub fn new(merging: bool, more: bool) -> Part {
        Part(if merging { Self::MERGING } else { 0 } | if more { Self::MORE } else { 0 })
    }

    #[inline(always)]
    fn merging(self) -> bool {
        self.0 & Self::MERGING != 0
    }

    #[inline(always)]
    fn more(self) -> bool {
        self.0 & Self::MORE != 0
    }
}

/// Decodes the fields of a message until its end, or until `end_tag` if it is a group.
///
/// Answers whether all required fields were met, here, in its singular messages and in its maps.
///
/// This loop sees to plain fields alone, so that what it needs fits the registers.
pub(super) fn body<S: Sink>(
    reader: &mut Reader,
    m: &MessagePlan,
    frame: S::Frame,
    part: Part,
    end_tag: u32,
    sink: &mut S,
    cx: &mut Context,
) -> Result<bool> {
    let merging = part.merging();
    let mut r = *reader;
    let mut seen = 0u64;
    let mut count = 0u32;
    let mut expected = &*m.fields;
    let mut side = Side { all: r.rest(), run: (0, 0), complete: true, members: [0; OneofPlan::REMEMBERED] };
    loop {
        if r.is_empty() {
            if end_tag != 0 {
                return r.fail(Kind::OpenGroup);
            }
            break;
        }
        let start = r;
        let tag = r.tag()?;
        // Writers mostly write fields in order: the next one is tried first.
        let field = match expected {
            [f, after @ ..] if f.tag == tag => {
                expected = after;
                Some(f)
            }
            _ => {
                let found = m.by_number(tag >> 3).filter(|f| f.tag == tag || f.alt == tag);
                if let Some(f) = found {
                    expected = m.fields.get(usize::from(f.index).wrapping_add(1)..).unwrap_or_default();
                }
                found
            }
        };
        let Some(f) = field else {
            if tag == end_tag {
                break;
            }
            if tag == ITEM && m.message_set {
                let before = seen;
                let place = Place { r: start, seen };
                Place { r, seen } = item(place, m, frame, merging, &mut side, sink, cx)?;
                count = count.wrapping_add(u32::from(seen != before));
                continue;
            }
            r = unknown(start, tag, frame, &mut side, sink, cx)?;
            continue;
        };
        count = count.wrapping_add(1);
        if f.flags.has(Flags::PLAIN) {
            let got = read(&mut r, f, cx, ToField { sink, frame, field: f });
            if let Err(e) = got.and_then(|()| settle(r, f, sink, cx)) {
                return Err(cx.within(m, f, Index::None, e));
            }
            seen |= f.mask;
        } else {
            let place = Place { r: start, seen };
            Place { r, seen } = other(place, m, f, frame, merging, &mut side, sink, cx)?;
        }
    }
    if S::TABLES {
        finish(r, m, frame, part, count, &mut side, sink, cx)?;
    }
    *reader = r;
    Ok(side.complete && seen & m.required == m.required && !m.required_unmarked)
}

/// Closes the message that ends at `r`, unless there is more of it.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn finish<S: Sink>(
    r: Reader,
    m: &MessagePlan,
    frame: S::Frame,
    part: Part,
    count: u32,
    side: &mut Side,
    sink: &mut S,
    cx: &mut Context,
) -> Result<()> {
    let count = count.min(m.fields.len() as u32);
    at(r, cx.budget.message(count))?;
    if part.more() {
        flush(side, frame, sink);
        return Ok(());
    }
    let last = side.all.get(side.run.0..side.run.1).unwrap_or_default();
    let joined = sink.close(frame, m, count, last);
    // Unknown fields are bytes.
    let owed = if S::may_owe(Op::Bytes) { sink.owed() } else { 0 };
    at(r, cx.budget.charge((joined as u64).saturating_add(owed)))
}

/// Decodes the field `f` at `place` that is not plain, and the elements of a list that follow it.
/// Answers where it ends.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn other<'a, S: Sink>(
    place: Place<'a>,
    m: &MessagePlan,
    f: &FieldPlan,
    frame: S::Frame,
    merging: bool,
    side: &mut Side<'a>,
    sink: &mut S,
    cx: &mut Context,
) -> Result<Place<'a>> {
    let Place { r: start, seen } = place;
    let mut r = start;
    let tag = r.tag()?;
    if f.repeated() {
        let again = is_set(f, frame, seen, merging, sink);
        let filled = if tag & 7 == WireType::Len as u32 && f.op.packable() {
            packed(&mut r, m, f, frame, again, side, sink, cx)?
        } else {
            elements(&mut r, start, tag, m, f, frame, again, side, sink, cx)?
        };
        return Ok(Place { r, seen: if filled { seen | f.mask } else { seen } });
    }
    if is_stray(r, f, cx) {
        r = unknown(start, tag, frame, side, sink, cx)?;
        return Ok(Place { r, seen });
    } else if f.flags.has(Flags::GHOST) {
        r.skip(tag, cx.budget.depth)?;
    } else if matches!(f.op, Op::Message | Op::Group) {
        let again = is_set(f, frame, seen, merging, sink);
        match singular(&mut r, f, frame, again, sink, cx) {
            Ok(complete) => side.complete &= complete,
            Err(e) => return Err(cx.within(m, f, Index::None, e)),
        }
    } else {
        let got = read(&mut r, f, cx, ToField { sink, frame, field: f });
        if let Err(e) = got.and_then(|()| settle(r, f, sink, cx)) {
            return Err(cx.within(m, f, Index::None, e));
        }
    }
    at(r, cx.budget.field(f))?;
    if f.flags.has(Flags::ONEOF)
        && let Some(oneof) = m.oneofs.get(usize::from(f.oneof))
    {
        if seen & oneof.mask & !f.mask != 0 || merging || !oneof.marked() {
            at(r, displace(m, f, oneof, frame, merging, side, sink, cx))?;
        }
        return Ok(Place { r, seen: seen & !oneof.mask | f.mask });
    }
    Ok(Place { r, seen: seen | f.mask })
}

/// Whether the value at `r` is one that a closed enum lacks.
#[inline(always)]
pub(super) fn is_stray(mut r: Reader, f: &FieldPlan, cx: &Context) -> bool {
    f.flags.has(Flags::CLOSED) && r.varint().is_ok_and(|number| !cx.knows(f, number as i32))
}

/// Whether `f` has a value from before.
#[inline(always)]
pub(super) fn is_set<S: Sink>(f: &FieldPlan, frame: S::Frame, seen: u64, merging: bool, sink: &mut S) -> bool {
    seen & f.mask != 0 || ((merging || f.mask == 0) && sink.has(frame, f))
}

/// A singular message, as events or as bytes. Answers whether it is complete.
#[inline(always)]
pub(super) fn singular<S: Sink>(
    r: &mut Reader,
    f: &FieldPlan,
    frame: S::Frame,
    again: bool,
    sink: &mut S,
    cx: &mut Context,
) -> Result<bool> {
    if !opens::<S>(f) {
        let raw = message_bytes(r, f, cx)?;
        let built = sink.message(frame, f, raw, again);
        at(*r, cx.budget.string(built))?;
        settle(*r, f, sink, cx)?;
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
    cx: &mut Context,
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
    let complete = if again {
        merge(r, raw, plan, f, inner, sink, cx)?
    } else {
        contents(r, raw, plan, f, inner, Part::WHOLE, sink, cx)?
    };
    cx.budget.leave();
    Ok(complete)
}

/// A part of a message that is open again, and those that follow it directly: closing it after each would take
/// quadratic time where that copies something. Answers whether all of them are complete.
#[cold]
#[inline(never)]
fn merge<'a, S: Sink>(
    r: &mut Reader<'a>,
    mut raw: Option<&'a [u8]>,
    plan: &MessagePlan,
    f: &FieldPlan,
    frame: S::Frame,
    sink: &mut S,
    cx: &mut Context,
) -> Result<bool> {
    let mut complete = true;
    loop {
        let mut next = *r;
        let more = raw.is_some() && !next.is_empty() && next.tag().is_ok_and(|tag| tag == f.tag);
        complete &= contents(r, raw, plan, f, frame, Part::new(true, more), sink, cx)?;
        if !more {
            return Ok(complete);
        }
        *r = next;
        raw = Some(r.bytes()?);
    }
}

/// The fields of a nested message: in `raw`, or where `r` stands if it is a group.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
pub(super) fn contents<S: Sink>(
    r: &mut Reader,
    raw: Option<&[u8]>,
    plan: &MessagePlan,
    f: &FieldPlan,
    frame: S::Frame,
    part: Part,
    sink: &mut S,
    cx: &mut Context,
) -> Result<bool> {
    match raw {
        Some(raw) => body(&mut Reader::new(raw), plan, frame, part, 0, sink, cx),
        None => {
            let mut inner = *r;
            let end_tag = tag(f.number(), WireType::EndGroup);
            let complete = body(&mut inner, plan, frame, part, end_tag, sink, cx)?;
            *r = inner;
            Ok(complete)
        }
    }
}

/// Takes the field at `start`, whose tag is `tag`, as unknown. Answers where it ends.
#[cold]
#[inline(never)]
pub(super) fn unknown<'a, S: Sink>(
    start: Reader<'a>,
    tag: u32,
    frame: S::Frame,
    side: &mut Side<'a>,
    sink: &mut S,
    cx: &Context,
) -> Result<Reader<'a>> {
    let mut r = start;
    r.tag()?;
    r.skip(tag, cx.budget.depth)?;
    let from = side.all.len().wrapping_sub(start.rest().len());
    if side.run.1 != from {
        flush(side, frame, sink);
        side.run.0 = from;
    }
    side.run.1 = side.all.len().wrapping_sub(r.rest().len());
    Ok(r)
}

/// Tells the latest unknown fields, since others follow that do not adjoin them.
pub(super) fn flush<S: Sink>(side: &mut Side, frame: S::Frame, sink: &mut S) {
    let (from, to) = side.run;
    if from < to {
        sink.unknown(frame, side.all.get(from..to).unwrap_or_default());
    }
    side.run.0 = to;
}
