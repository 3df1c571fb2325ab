//! Message sets (`message_set_wire_format`): each extension is an item, a group of a type id and a
//! message. The encoding of other messages is read too: a field with the extension's number.

use super::context::Context;
use super::decode::{self, Place, Side, at, is_set, singular, unknown};
use super::encode::open;
use super::sink::Sink;
use super::source::{Nested, Source};
use crate::error::{EncodeError, Index, Kind};
use crate::schema::{FieldPlan, MessagePlan, Op};
use crate::wire::{Reader, WireType, Writer, tag};

/// Opens an item.
pub(super) const ITEM: u32 = tag(1, WireType::StartGroup);
const END: u32 = tag(1, WireType::EndGroup);
const TYPE_ID: u32 = tag(2, WireType::Varint);
const MESSAGE: u32 = tag(3, WireType::Len);

/// What an item says.
#[derive(Clone, Copy, Default)]
pub(super) struct Item<'a> {
    /// Its type id: the number of an extension, or up to 2^32 - 1. 0 if it has none.
    id: u32,
    /// Where its message is, from the length on.
    pub message: Option<Reader<'a>>,
}

impl<'a> Item<'a> {
    /// Reads the item whose tag is read, up to its end. Of several type ids or messages the first
    /// counts; other fields do not.
    ///
    /// # Errors
    /// What a group may have, and type id 0. What was read before is kept.
    pub fn read(&mut self, r: &mut Reader<'a>, depth: u32) -> decode::Result<()> {
        let Some(depth) = depth.checked_sub(1) else { return r.fail(Kind::Depth) };
        while !r.is_empty() {
            match r.tag()? {
                END => return Ok(()),
                TYPE_ID => {
                    let start = *r;
                    match r.varint()? as u32 {
                        0 => return start.fail(Kind::FieldNumber),
                        id if self.id == 0 => self.id = id,
                        _ => {}
                    }
                }
                tag => {
                    if tag == MESSAGE && self.message.is_none() {
                        self.message = Some(*r);
                    }
                    r.skip(tag, depth)?;
                }
            }
        }
        r.fail(Kind::OpenGroup)
    }

    /// The extension that it is, if `m` has it.
    pub fn field<'m>(&self, m: &'m MessagePlan) -> Option<&'m FieldPlan> {
        m.by_number(self.id).filter(|f| f.op == Op::Message && !f.repeated())
    }
}

/// Decodes the item at `place` of the message set `m`. Answers where it ends.
#[cold]
#[inline(never)]
pub(super) fn item<'a, S: Sink>(
    place: Place<'a>,
    m: &MessagePlan,
    frame: S::Frame,
    merging: bool,
    side: &mut Side<'a>,
    sink: &mut S,
    cx: &mut Context,
) -> decode::Result<Place<'a>> {
    let Place { r: start, seen } = place;
    let (mut r, mut item) = (start, Item::default());
    r.tag()?;
    let read = item.read(&mut r, cx.budget.depth);
    let field = item.field(m);
    if let Err(e) = read {
        return Err(field.map_or(e, |f| cx.within(m, f, Index::None, e)));
    }
    // One that lacks either is nothing.
    let Some(mut message) = item.message.filter(|_| item.id != 0) else { return Ok(Place { r, seen }) };
    let Some(f) = field else {
        let r = unknown(start, ITEM, frame, side, sink, cx)?;
        return Ok(Place { r, seen });
    };
    let again = is_set(f, frame, seen, merging, sink);
    match singular(&mut message, f, frame, again, sink, cx) {
        Ok(complete) => side.complete &= complete,
        Err(e) => return Err(cx.within(m, f, Index::None, e)),
    }
    at(r, cx.budget.field(f))?;
    Ok(Place { r, seen: seen | f.mask })
}

/// Encodes the message at `at` as the item of the extension `f`, whose type is `plan`.
#[inline(never)]
pub(super) fn write<S: Source>(
    src: &mut S,
    at: S::At,
    f: &FieldPlan,
    plan: &MessagePlan,
    w: &mut Writer,
    cx: &mut Context,
) -> Result<(), EncodeError> {
    let nested = src.message(at, f, plan, true)?;
    if matches!(nested, Nested::Absent) {
        return Ok(());
    }
    w.varint(u64::from(END));
    let before = w.len();
    match nested {
        Nested::Open => open(src, at, plan, w, cx)?,
        Nested::Raw(bytes) => w.bytes(bytes),
        Nested::Absent => {}
    }
    w.varint(w.len().wrapping_sub(before) as u64);
    w.varint(u64::from(MESSAGE));
    w.varint(u64::from(f.number()));
    w.varint(u64::from(TYPE_ID));
    w.varint(u64::from(ITEM));
    Ok(())
}
