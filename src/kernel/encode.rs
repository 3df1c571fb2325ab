//! The encoder: the values of a [`Source`] to the bytes of a message, in canonical form:
//! fields in the order of their numbers, written from the last to the first.

use super::context::Context;
use super::encode_map::map;
use super::message_sets::{self, ITEM, Item};
use super::source::{Fields, Nested, Result, Source};
use crate::error::{DecodeError, EncodeError, Index, Kind};
use crate::schema::{FieldPlan, Flags, MessagePlan, Op};
use crate::wire::{Failure, Reader, WireType, Writer, is_utf8, tag, zigzag32, zigzag64};

impl Context<'_> {
    /// The error that `text` tells.
    #[cold]
    pub(super) fn fail(&self, text: std::fmt::Arguments) -> EncodeError {
        self.trace.detail(text);
        EncodeError::Traced
    }

    /// Notes that `error` arose in `f` of `m`, if it is one.
    #[cold]
    #[inline(never)]
    pub fn around(&self, m: &MessagePlan, f: &FieldPlan, index: Index, error: EncodeError) -> EncodeError {
        if error != EncodeError::Absent {
            self.trace.step(m.name_of(f), index);
        }
        error
    }
}

/// Encodes the message at `at` in front of what `w` holds.
///
/// # Errors
/// Values that do not fit the type; the trace holds the path and the text then.
pub fn encode<S: Source>(src: &mut S, at: S::At, m: &MessagePlan, w: &mut Writer, cx: &mut Context) -> Result<()> {
    const { assert!(!std::mem::needs_drop::<S>() && !std::mem::needs_drop::<EncodeError>()) }
    body(src, at, m, w, cx)?;
    room(w, cx)
}

/// Fails when the writer has: nothing more needs to be encoded then.
#[inline(always)]
fn room(w: &Writer, cx: &Context) -> Result<()> {
    match w.failure() {
        None => Ok(()),
        Some(Failure::TooLarge) => Err(cx.fail(format_args!("message larger than 2 GiB"))),
        Some(Failure::NoMemory) => Err(cx.fail(format_args!("not enough memory"))),
    }
}

fn body<S: Source>(src: &mut S, at: S::At, m: &MessagePlan, w: &mut Writer, cx: &mut Context) -> Result<()> {
    let mut fields = Fields::new();
    let frame = src.open(at, m, &mut fields)?;
    if lacks_required(m, &fields, cx) || !m.oneofs.is_empty() {
        verify(src, frame, m, &fields, cx)?;
    }
    // A zero is written where bytes of the same field come before it.
    let mut zeros = false;
    if fields.unknown {
        zeros = unknown(src, frame, m, w, cx, false)?;
    }
    let all = S::ALL || fields.all;
    let mut i = if all { m.fields.len() } else { fields.len() };
    let fetched = all || fields.noted;
    while let Some(before) = i.checked_sub(1) {
        i = before;
        let (f, at) = if fetched {
            let Some(f) = m.fields.get(if all { i } else { fields.position(i) }) else { break };
            let Some(at) = src.fetch(frame, f) else { continue };
            (f, at)
        } else {
            let (position, slot) = fields.get(i);
            let Some(f) = m.fields.get(position) else { break };
            (f, src.slot(frame, slot))
        };
        let written = if f.flags.has(Flags::PLAIN) {
            plain(src, at, f, zeros, w, cx).map_err(|e| cx.around(m, f, Index::None, e))
        } else {
            other(src, at, m, f, zeros, w, cx)
        };
        match written {
            Ok(()) | Err(EncodeError::Absent) => src.settle(frame),
            Err(e) => return Err(e),
        }
    }
    if fields.unknown {
        unknown(src, frame, m, w, cx, true)?;
    }
    Ok(())
}

/// A singular scalar, with its tag; with `zeros` even if it is one.
#[inline(always)]
fn plain<S: Source>(src: &mut S, at: S::At, f: &FieldPlan, zeros: bool, w: &mut Writer, cx: &Context) -> Result<()> {
    if payload(src, at, f, zeros || f.flags.has(Flags::PRESENCE), w, cx)? {
        w.varint(u64::from(f.tag));
    }
    Ok(())
}

/// A field that is not plain.
#[inline(never)]
fn other<S: Source>(
    src: &mut S,
    at: S::At,
    m: &MessagePlan,
    f: &FieldPlan,
    zeros: bool,
    w: &mut Writer,
    cx: &mut Context,
) -> Result<()> {
    match (f.op, f.repeated()) {
        (Op::Map, _) => return map(src, at, m, f, w, cx),
        (Op::Message | Op::Group, true) => return messages(src, at, m, f, w, cx),
        (_, true) => return scalars(src, at, m, f, w, cx),
        (Op::Message | Op::Group, false) => match cx.set.message(f.sub) {
            Some(plan) if m.message_set => message_sets::write(src, at, f, plan, w, cx),
            Some(plan) => message(src, at, f, plan, true, w, cx),
            None => Ok(()),
        },
        (_, false) => plain(src, at, f, zeros, w, cx),
    }
    .map_err(|e| cx.around(m, f, Index::None, e))
}

/// Whether required fields are to be looked for that may not be there.
#[inline(always)]
fn lacks_required(m: &MessagePlan, fields: &Fields, cx: &Context) -> bool {
    cx.required && (fields.seen & m.required != m.required || m.required_unmarked)
}

/// Required fields are there, and at most one member of each oneof.
#[inline(never)]
fn verify<S: Source>(src: &mut S, frame: S::Frame, m: &MessagePlan, fields: &Fields, cx: &Context) -> Result<()> {
    let mut has = |f: &FieldPlan| {
        if f.mask != 0 {
            return fields.seen & f.mask != 0;
        }
        let there = src.fetch(frame, f).is_some();
        src.settle(frame);
        there
    };
    // The set fields are few, if they are listed; oneofs that lack bits may be many, and have many members.
    let listed = !S::ALL && !fields.all && m.fields.len() > u64::BITS as usize;
    let oneofs = if listed && !fields.share_oneof(m) { &[][..] } else { &*m.oneofs };
    for oneof in oneofs {
        if oneof.marked() && (fields.seen & oneof.mask).count_ones() < 2 {
            continue;
        }
        let mut set = oneof.members.iter().filter_map(|i| m.fields.get(usize::from(*i))).filter(|f| has(f));
        if let (Some(a), Some(b)) = (set.next(), set.next()) {
            let (a, b) = (m.name_of(a), m.name_of(b));
            return Err(cx.fail(format_args!("oneof {}: both \"{a}\" and \"{b}\" are set", oneof.name)));
        }
    }
    if lacks_required(m, fields, cx) {
        let missing = m.fields.iter().find(|f| f.flags.has(Flags::REQUIRED) && !has(f));
        if let Some(f) = missing {
            cx.trace.detail(format_args!("{}", Kind::Required));
            return Err(cx.around(m, f, Index::None, EncodeError::Traced));
        }
    }
    Ok(())
}

/// The one NaN that is written.
const NAN32: u32 = 0x7fc0_0000;
const NAN64: u64 = 0x7ff8_0000_0000_0000;

/// Writes the scalar at `at`, or nothing if it is zero and not `always` written; answers whether it did.
#[inline(always)]
pub(super) fn payload<S: Source>(
    src: &mut S,
    at: S::At,
    f: &FieldPlan,
    always: bool,
    w: &mut Writer,
    cx: &Context,
) -> Result<bool> {
    let bits = match f.op {
        Op::Int32 => i64::from(signed(src, at, f)?) as u64,
        Op::Sint32 => u64::from(zigzag32(signed(src, at, f)?)),
        Op::Uint32 => u64::from(unsigned(src, at, f)?),
        Op::Int64 => src.int(at, f)? as u64,
        Op::Sint64 => zigzag64(src.int(at, f)?),
        Op::Uint64 => src.uint(at, f)?,
        Op::Bool => u64::from(src.boolean(at, f)?),
        Op::Enum => {
            let Some(plan) = cx.set.enumeration(f.sub) else { return Ok(false) };
            i64::from(src.enumeration(at, f, plan)?) as u64
        }
        Op::Fixed32 => return Ok(fixed32(unsigned(src, at, f)?, always, w)),
        Op::Sfixed32 => return Ok(fixed32(signed(src, at, f)? as u32, always, w)),
        Op::Float => {
            let v = src.number(at, f)? as f32;
            return Ok(fixed32(if v.is_nan() { NAN32 } else { v.to_bits() }, always, w));
        }
        Op::Fixed64 => return Ok(fixed64(src.uint(at, f)?, always, w)),
        Op::Sfixed64 => return Ok(fixed64(src.int(at, f)? as u64, always, w)),
        Op::Double => {
            let v = src.number(at, f)?;
            return Ok(fixed64(if v.is_nan() { NAN64 } else { v.to_bits() }, always, w));
        }
        Op::String | Op::Bytes | Op::Message | Op::Group | Op::Map => {
            let bytes = src.bytes(at, f)?;
            if f.flags.has(cx.utf8) && !is_utf8(bytes) {
                return Err(cx.fail(format_args!("{}", Kind::Utf8)));
            }
            if bytes.is_empty() && !always {
                return Ok(false);
            }
            w.delimited(bytes);
            return Ok(true);
        }
    };
    if bits == 0 && !always {
        return Ok(false);
    }
    w.varint(bits);
    Ok(true)
}

#[inline(always)]
fn signed<S: Source>(src: &mut S, at: S::At, f: &FieldPlan) -> Result<i32> {
    i32::try_from(src.int(at, f)?).map_err(|_| src.out_of_range(at, f))
}

#[inline(always)]
fn unsigned<S: Source>(src: &mut S, at: S::At, f: &FieldPlan) -> Result<u32> {
    u32::try_from(src.int(at, f)?).map_err(|_| src.out_of_range(at, f))
}

#[inline(always)]
fn fixed32(bits: u32, always: bool, w: &mut Writer) -> bool {
    if bits == 0 && !always {
        return false;
    }
    w.fixed(bits.to_le_bytes());
    true
}

#[inline(always)]
fn fixed64(bits: u64, always: bool, w: &mut Writer) -> bool {
    if bits == 0 && !always {
        return false;
    }
    w.fixed(bits.to_le_bytes());
    true
}

/// A list of scalars.
#[inline(always)]
fn scalars<S: Source>(
    src: &mut S,
    at: S::At,
    m: &MessagePlan,
    f: &FieldPlan,
    w: &mut Writer,
    cx: &Context,
) -> Result<()> {
    let packed = f.flags.has(Flags::PACKED);
    let before = w.len();
    let (list, count) = src.list(at).map_err(|e| cx.around(m, f, Index::None, e))?;
    let mut i = count;
    while i > 0 {
        let at = src.element(list, i);
        if let Err(e) = payload(src, at, f, true, w, cx) {
            return Err(cx.around(m, f, Index::At(i), e));
        }
        if !packed {
            w.varint(u64::from(f.tag));
        }
        i = i.wrapping_sub(1);
    }
    if packed && count > 0 {
        w.varint(w.len().wrapping_sub(before) as u64);
        w.varint(u64::from(f.tag));
    }
    Ok(())
}

/// A list of messages.
#[inline(always)]
fn messages<S: Source>(
    src: &mut S,
    at: S::At,
    m: &MessagePlan,
    f: &FieldPlan,
    w: &mut Writer,
    cx: &mut Context,
) -> Result<()> {
    let Some(plan) = cx.set.message(f.sub) else { return Ok(()) };
    let (list, count) = src.list(at).map_err(|e| cx.around(m, f, Index::None, e))?;
    let mut i = count;
    while i > 0 {
        let at = src.element(list, i);
        if let Err(e) = message(src, at, f, plan, false, w, cx) {
            return Err(cx.around(m, f, Index::At(i), e));
        }
        i = i.wrapping_sub(1);
    }
    Ok(())
}

/// A message or group, with its tag.
#[inline(always)]
pub(super) fn message<S: Source>(
    src: &mut S,
    at: S::At,
    f: &FieldPlan,
    plan: &MessagePlan,
    singular: bool,
    w: &mut Writer,
    cx: &mut Context,
) -> Result<()> {
    let group = f.op == Op::Group;
    let nested = src.message(at, f, plan, singular)?;
    let before = w.len();
    if group && !matches!(nested, Nested::Absent) {
        w.varint(u64::from(tag(f.number(), WireType::EndGroup)));
    }
    match nested {
        Nested::Open => open(src, at, plan, w, cx)?,
        Nested::Raw(bytes) => w.bytes(bytes),
        Nested::Absent => return Ok(()),
    }
    if !group {
        w.varint(w.len().wrapping_sub(before) as u64);
    }
    w.varint(u64::from(f.element_tag()));
    Ok(())
}

/// The fields of a message within another.
#[inline(always)]
pub(super) fn open<S: Source>(
    src: &mut S,
    at: S::At,
    plan: &MessagePlan,
    w: &mut Writer,
    cx: &mut Context,
) -> Result<()> {
    if cx.budget.enter().is_err() {
        return Err(cx.fail(format_args!("{}", Kind::Depth)));
    }
    body(src, at, plan, w, cx)?;
    cx.budget.leave();
    room(w, cx)
}

/// Writes the unknown fields of a message: with `declared` those whose number the type has
/// by now, else the others. Answers whether there are fields that were not to be written.
#[cold]
#[inline(never)]
fn unknown<S: Source>(
    src: &mut S,
    frame: S::Frame,
    m: &MessagePlan,
    w: &mut Writer,
    cx: &Context,
    declared: bool,
) -> Result<bool> {
    let raw = src.unknown(frame)?;
    let mut total = 0usize;
    let fields = each_unknown(raw, m, cx, declared, |field| total = total.saturating_add(field.len()));
    if let Err(e) = fields {
        return Err(cx.fail(format_args!("malformed unknown fields: {}", e.kind)));
    }
    let mut to = w.take(total);
    each_unknown(raw, m, cx, declared, |field| {
        if let Some((start, rest)) = std::mem::take(&mut to).split_at_mut_checked(field.len()) {
            start.copy_from_slice(field);
            to = rest;
        }
    })
    .map_err(|_| EncodeError::Traced)?;
    Ok(total < raw.len())
}

/// Calls `take` with each of the fields in `raw` whose number the type has, or has not. That of an
/// item of a message set is its type id.
fn each_unknown(
    raw: &[u8],
    m: &MessagePlan,
    cx: &Context,
    declared: bool,
    mut take: impl FnMut(&[u8]),
) -> std::result::Result<(), DecodeError> {
    let mut r = Reader::new(raw);
    while !r.is_empty() {
        let start = r.rest();
        let tag = r.tag()?;
        let field = if tag == ITEM && m.message_set {
            let mut item = Item::default();
            item.read(&mut r, cx.budget.depth)?;
            item.field(m)
        } else {
            r.skip(tag, cx.budget.depth)?;
            m.by_number(tag >> 3)
        };
        if field.is_some() == declared {
            take(start.get(..start.len().wrapping_sub(r.rest().len())).unwrap_or_default());
        }
    }
    Ok(())
}
