//! Decoding into a tree.

use super::tree::{Entry, Item, Span, Tree};
use crate::error::DecodeError;
use crate::kernel::{self, Context, Sink, Value};
use crate::schema::{FieldPlan, MessagePlan, Op, Set};

/// Decodes `bytes` as the message `m` into `tree`.
///
/// # Errors
/// Those of [`kernel::decode`].
pub fn decode(bytes: &[u8], m: &MessagePlan, tree: &mut Tree, cx: &mut Context) -> Result<Span, DecodeError> {
    cx.budget.bytes = cx.budget.bytes.min(Tree::LARGEST);
    let scratch = &mut Scratch::default();
    let mut sink = TreeSink { tree, set: cx.set, closed: None, opened: 0, left: cx.budget.bytes, extra: 0, scratch };
    kernel::decode(bytes, m, &mut sink, cx)?;
    Ok(sink.closed.unwrap_or_default())
}

/// Builds trees. What comes in parts is kept in parts until its message is closed, so nothing needs to be looked up.
struct TreeSink<'a> {
    tree: &'a mut Tree,
    set: &'a Set,
    /// The message that was closed last, until it is stored.
    closed: Option<Span>,
    /// How many messages were opened.
    opened: u64,
    /// What the fields of messages that are open may still take: singular ones may come any number of times before the
    /// kernel counts them.
    left: u64,
    /// What lists took beyond what the kernel counts, until it is told.
    extra: u64,
    scratch: &'a mut Scratch,
}

/// Vectors, apart from the sink, which has no destructor.
#[derive(Default)]
struct Scratch {
    /// The open lists and maps.
    lists: Vec<List>,
    /// Unknown fields that came while a list or map of their message was open.
    strays: Vec<Item>,
}

/// An open message: where its entries begin, and which of those that were opened it is.
#[derive(Clone, Copy)]
struct Frame {
    mark: usize,
    id: u64,
}

/// An open list or map: of which message it is, where its elements begin, and the strays that it met.
struct List {
    owner: u64,
    mark: usize,
    strays: usize,
}

impl TreeSink<'_> {
    /// Takes room for a field of an open message. If there is none left, the message fails, at the latest when it is closed.
    #[inline(always)]
    fn take_room(&mut self) -> bool {
        let left = self.left.checked_sub(Tree::ENTRY);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Adds a singular field.
    #[inline(always)]
    fn add(&mut self, field: &FieldPlan, item: Item) {
        if self.take_room() {
            self.tree.push(field.index, item);
        }
    }

    fn take(&mut self) -> Option<Item> {
        self.closed.take().map(Item::Message)
    }

    fn begin(&mut self, frame: Frame) {
        self.scratch.lists.push(List { owner: frame.id, mark: self.tree.mark(), strays: self.scratch.strays.len() });
    }

    /// Ends a list or map, which `close` closes.
    fn end(&mut self, field: &FieldPlan, close: impl FnOnce(&mut Tree, usize) -> Item) {
        let Some(list) = self.scratch.lists.pop() else { return };
        let item = close(self.tree, list.mark);
        if let Item::List(span) | Item::Map(span) = item
            && !span.is_empty()
        {
            self.tree.push(field.index, item);
            // An element takes half as much again as the kernel counts for one.
            self.extra = self.extra.saturating_add((Tree::ENTRY / 3).saturating_mul(span.len() as u64));
        }
        for stray in self.scratch.strays.drain(list.strays..) {
            self.tree.push(Entry::UNKNOWN, stray);
        }
    }
}

impl Sink for TreeSink<'_> {
    type Frame = Frame;
    const TABLES: bool = true;
    const PATHS: bool = false;

    #[inline(always)]
    fn may_owe(_: Op) -> bool {
        true
    }

    /// All, once there is no room for another field.
    #[inline(always)]
    fn owed(&mut self) -> u64 {
        if self.left < Tree::ENTRY { u64::MAX } else { 0 }
    }

    fn open(&mut self, _: &MessagePlan) -> Option<Frame> {
        self.opened = self.opened.wrapping_add(1);
        Some(Frame { mark: self.tree.mark(), id: self.opened })
    }

    fn reopen(&mut self, _: Frame, _: &FieldPlan, m: &MessagePlan) -> Option<Frame> {
        self.open(m)
    }

    fn close(&mut self, frame: Frame, m: &MessagePlan, count: u32, unknown: &[u8]) -> usize {
        if !unknown.is_empty() {
            self.unknown(frame, unknown);
        }
        if self.left < Tree::ENTRY {
            return usize::MAX;
        }
        let fields = self.tree.since(frame.mark).len() as u64;
        self.left = self.left.saturating_add(fields.saturating_mul(Tree::ENTRY));
        let before = self.tree.size();
        self.closed = Some(self.tree.close_message(frame.mark, m, self.set));
        // The kernel counts each field once, and nothing of what merging takes.
        let merged = self.tree.size().saturating_sub(before).saturating_add(std::mem::take(&mut self.extra));
        let more = fields.saturating_sub(count.into()).saturating_mul(Tree::ENTRY).saturating_add(merged);
        usize::try_from(more).unwrap_or(usize::MAX)
    }

    fn unknown(&mut self, frame: Frame, raw: &[u8]) {
        if !self.take_room() {
            return;
        }
        let item = self.tree.add_bytes(raw);
        if self.scratch.lists.last().is_some_and(|list| list.owner == frame.id) {
            self.scratch.strays.push(item);
        } else {
            self.tree.push(Entry::UNKNOWN, item);
        }
    }

    fn key(&mut self, _: Frame, _: &FieldPlan) {}

    fn store(&mut self, _: Frame, field: &FieldPlan) {
        if let Some(item) = self.take() {
            self.add(field, item);
        }
    }

    fn has(&mut self, _: Frame, _: &FieldPlan) -> bool {
        false
    }

    fn unset(&mut self, _: Frame, _: &FieldPlan) {}

    fn scalar(&mut self, _: Frame, field: &FieldPlan, value: Value) {
        self.add(field, Item::Scalar(value));
    }

    fn bytes(&mut self, _: Frame, field: &FieldPlan, bytes: &[u8]) {
        let item = self.tree.add_bytes(bytes);
        self.add(field, item);
    }

    fn message(&mut self, _: Frame, _: &FieldPlan, raw: &[u8], _: bool) -> usize {
        raw.len()
    }

    fn begin_list(&mut self, frame: Frame, _: &FieldPlan, _: usize) {
        self.begin(frame);
    }

    fn reopen_list(&mut self, frame: Frame, field: &FieldPlan) -> u64 {
        self.begin(frame);
        let runs = self.tree.since(frame.mark).iter().rev().take(LOOK_BACK).filter(|e| e.field == field.index);
        runs.map(|e| if let Item::List(span) = e.item { span.len() as u64 } else { 0 }).sum()
    }

    fn end_list(&mut self, _: Frame, field: &FieldPlan, _: u64) {
        self.end(field, |tree, mark| Item::List(tree.close_list(mark)));
    }

    fn element(&mut self, field: &FieldPlan, _: u64, value: Value) {
        self.tree.push(field.index, Item::Scalar(value));
    }

    fn element_bytes(&mut self, field: &FieldPlan, _: u64, bytes: &[u8]) {
        let item = self.tree.add_bytes(bytes);
        self.tree.push(field.index, item);
    }

    fn element_message(&mut self, _: &FieldPlan, _: u64, _: &[u8]) {}

    fn store_element(&mut self, field: &FieldPlan, _: u64) -> usize {
        if let Some(item) = self.take() {
            self.tree.push(field.index, item);
        }
        0
    }

    fn begin_map(&mut self, frame: Frame, _: &FieldPlan, _: usize, _: bool) {
        self.begin(frame);
    }

    fn end_map(&mut self, _: Frame, field: &FieldPlan, _: bool) {
        self.end(field, |tree, mark| Item::Map(tree.close_map(mark)));
    }

    fn map_key(&mut self, field: &FieldPlan, value: Value) {
        self.tree.push(field.index, Item::Scalar(value));
    }

    fn map_key_bytes(&mut self, field: &FieldPlan, bytes: &[u8]) {
        self.element_bytes(field, 0, bytes);
    }

    fn map_value(&mut self, field: &FieldPlan, value: Value) {
        self.tree.push(field.index, Item::Scalar(value));
    }

    fn map_value_bytes(&mut self, field: &FieldPlan, bytes: &[u8]) {
        self.element_bytes(field, 0, bytes);
    }

    fn map_value_message(&mut self, _: &FieldPlan, raw: &[u8], _: bool) -> usize {
        raw.len()
    }

    fn store_entry(&mut self) {
        if let Some(item) = self.take() {
            self.tree.push(1, item);
        }
    }
}

/// For the index of an element of a list in pieces, which only errors tell, so many fields are looked through for the
/// other pieces.
const LOOK_BACK: usize = 16;
