//! Decoding into a tree.

use super::tree::{Entry, Item, Span, Tree};
use crate::error::{DecodeError, Kind};
use crate::kernel::{self, Context, Sink, Value};
use crate::schema::{FieldPlan, MessagePlan, Set};

/// Decodes `bytes` as the message `m` into `tree`.
///
/// # Errors
/// Those of [`kernel::decode`].
pub fn decode(
    bytes: &[u8],
    m: &MessagePlan,
    tree: &mut Tree,
    sort_maps: bool,
    cx: &mut Context,
) -> Result<Span, DecodeError> {
    cx.budget.bytes = cx.budget.bytes.min(Tree::LARGEST);
    let left = cx.budget.bytes;
    let mut sink = TreeSink { tree, set: cx.set, sort_maps, closed: None, left, marks: &mut Vec::new() };
    kernel::decode(bytes, m, &mut sink, cx)?;
    if sink.left < Tree::ENTRY {
        return Err(DecodeError { kind: Kind::Memory, at: bytes.as_ptr() as usize });
    }
    Ok(sink.closed.unwrap_or_default())
}

/// Builds trees. What comes in parts is kept in parts until its message is closed, so nothing needs to be looked up.
struct TreeSink<'a> {
    tree: &'a mut Tree,
    set: &'a Set,
    sort_maps: bool,
    /// The message that was closed last, until it is stored. One that is not stored then goes on: the value
    /// of a map's entry may come in parts.
    closed: Option<Span>,
    /// What singular fields may still take, which may come any number of times.
    left: u64,
    /// Where the open lists and maps begin.
    marks: &'a mut Vec<usize>,
}

impl TreeSink<'_> {
    fn add(&mut self, field: &FieldPlan, item: Item) {
        self.resume();
        match self.left.checked_sub(Tree::ENTRY) {
            Some(left) => self.left = left,
            None => return,
        }
        self.tree.push(field.index, item);
    }

    /// Before anything is added to an open message.
    #[inline(always)]
    fn resume(&mut self) {
        if let Some(part) = self.closed.take() {
            self.tree.reopen(part);
        }
    }

    fn begin(&mut self) {
        self.resume();
        self.marks.push(self.tree.mark());
    }

    fn end(&mut self) -> usize {
        self.marks.pop().unwrap_or_default()
    }
}

impl Sink for TreeSink<'_> {
    /// Where the message's entries begin.
    type Frame = usize;
    const TABLES: bool = true;
    const PATHS: bool = false;

    fn open(&mut self, _: &MessagePlan) -> Option<usize> {
        self.resume();
        Some(self.tree.mark())
    }

    fn reopen(&mut self, _: usize, _: &FieldPlan, m: &MessagePlan) -> Option<usize> {
        self.open(m)
    }

    fn close(&mut self, frame: usize, m: &MessagePlan, _: u32, unknown: &[u8]) -> usize {
        self.resume();
        if !unknown.is_empty() {
            self.unknown(frame, unknown);
        }
        self.closed = Some(self.tree.close_message(frame, m, self.set));
        0
    }

    fn unknown(&mut self, _: usize, raw: &[u8]) {
        self.resume();
        let item = self.tree.add_bytes(raw);
        self.tree.push(Entry::UNKNOWN, item);
    }

    fn key(&mut self, _: usize, _: &FieldPlan) {}

    fn store(&mut self, _: usize, field: &FieldPlan) {
        if let Some(span) = self.closed.take() {
            self.add(field, Item::Message(span));
        }
    }

    fn has(&mut self, _: usize, _: &FieldPlan) -> bool {
        false
    }

    fn unset(&mut self, _: usize, _: &FieldPlan) {}

    fn scalar(&mut self, _: usize, field: &FieldPlan, value: Value) {
        self.add(field, Item::Scalar(value));
    }

    fn bytes(&mut self, _: usize, field: &FieldPlan, bytes: &[u8]) {
        let item = self.tree.add_bytes(bytes);
        self.add(field, item);
    }

    fn message(&mut self, _: usize, _: &FieldPlan, raw: &[u8], _: bool) -> usize {
        raw.len()
    }

    fn begin_list(&mut self, _: usize, _: &FieldPlan, _: usize) {
        self.begin();
    }

    fn reopen_list(&mut self, frame: usize, field: &FieldPlan) -> u64 {
        self.begin();
        let runs = self.tree.since(frame).iter().rev().take(LOOK_BACK).filter(|e| e.field == field.index);
        runs.map(|e| if let Item::List(span) = e.item { span.len() as u64 } else { 0 }).sum()
    }

    fn end_list(&mut self, _: usize, field: &FieldPlan, _: u64) {
        let mark = self.end();
        let span = self.tree.close_list(mark);
        if !span.is_empty() {
            self.tree.push(field.index, Item::List(span));
        }
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
        if let Some(span) = self.closed.take() {
            self.tree.push(field.index, Item::Message(span));
        }
        0
    }

    fn begin_map(&mut self, _: usize, _: &FieldPlan, _: usize, _: bool) {
        self.begin();
    }

    fn end_map(&mut self, _: usize, field: &FieldPlan, _: bool) {
        let mark = self.end();
        let span = self.tree.close_map(mark, self.sort_maps);
        if !span.is_empty() {
            self.tree.push(field.index, Item::Map(span));
        }
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
        if let Some(span) = self.closed.take() {
            self.tree.push(1, Item::Message(span));
        }
    }
}

/// Where the index of an element of a list in parts is told, so many entries are looked through for its other parts.
const LOOK_BACK: usize = 1000;
