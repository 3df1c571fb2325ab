//! A message as a tree of values, between the wire and text: what sinks build and sources read.
//!
//! While a message, list or map is open, its entries are the last ones of `open`. When it is
//! closed they move to `entries`, and a span of these stands for it. So nothing is moved twice but
//! what comes in parts, and a message has no memory of its own.

use super::merge;
use crate::error::Trace;
use crate::kernel::{Key, Value};
use crate::schema::{FieldPlan, Flags, MessagePlan, Set};

/// A part of a tree's bytes or entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    start: u32,
    len: u32,
}

impl Span {
    fn new(start: usize, len: usize) -> Self {
        // Budgets keep trees below 4 GiB, see [`Tree::LARGEST`].
        Span { start: u32::try_from(start).unwrap_or(u32::MAX), len: u32::try_from(len).unwrap_or(0) }
    }

    /// The position of the first.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Takes the last two off; answers where they are.
    pub(super) fn pop_pair(&mut self) -> Option<usize> {
        self.len = self.len.checked_sub(2)?;
        Some(self.start().saturating_add(self.len()))
    }

    fn range(self) -> std::ops::Range<usize> {
        self.start()..self.start().saturating_add(self.len())
    }
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item {
    /// A scalar that is no string.
    Scalar(Value),
    /// A string or bytes.
    Bytes(Span),
    /// A message or group: its fields, in the order of their numbers, each once, and at last its
    /// unknown fields.
    Message(Span),
    /// A list.
    List(Span),
    /// A map: keys and values in turns.
    Map(Span),
}

/// A field of a message; in lists and maps, an element, key or value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The field's position in its plan; [`Entry::UNKNOWN`] for unknown fields; no matter in lists and maps.
    pub field: u16,
    /// Its value.
    pub item: Item,
}

impl Entry {
    /// Stands for the unknown fields of a message, whose bytes are one item.
    pub const UNKNOWN: u16 = u16::MAX;
}

/// Messages, and what is open of them.
#[derive(Default, Debug)]
pub struct Tree {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    open: Vec<Entry>,
    sort_maps: bool,
}

impl Tree {
    /// What an entry takes, in bytes.
    pub const ENTRY: u64 = size_of::<Entry>() as u64;
    /// What may be charged for one tree: positions in it have 32 bits.
    pub const LARGEST: u64 = u32::MAX as u64;

    /// An empty one. With `sort_maps`, maps are kept in the order of their keys.
    pub fn new(sort_maps: bool) -> Self {
        Tree { sort_maps, ..Tree::default() }
    }

    /// Whether maps are kept in the order of their keys.
    pub fn sorts_maps(&self) -> bool {
        self.sort_maps
    }

    /// How many bytes of memory it fills.
    pub fn size(&self) -> u64 {
        let entries = self.entries.len().saturating_add(self.open.len()) as u64;
        entries.saturating_mul(Self::ENTRY).saturating_add(self.bytes.len() as u64)
    }

    /// How many bytes what was open took at most.
    #[cfg(test)]
    pub(super) fn most_open(&self) -> u64 {
        self.open.capacity() as u64 * Self::ENTRY
    }

    /// The bytes of a string.
    pub fn bytes(&self, span: Span) -> &[u8] {
        self.bytes.get(span.range()).unwrap_or_default()
    }

    /// The fields of a message, the elements of a list, the keys and values of a map.
    pub fn entries(&self, span: Span) -> &[Entry] {
        self.entries.get(span.range()).unwrap_or_default()
    }

    /// The entry at that position.
    pub fn entry(&self, at: usize) -> Option<Entry> {
        self.entries.get(at).copied()
    }

    /// The value of the field at `index` of a message's plan.
    pub fn field(&self, message: Span, index: u16) -> Option<Item> {
        self.entry(self.position(message, index)?).map(|e| e.item)
    }

    /// The position of the field at `index` of a message's plan.
    pub fn position(&self, message: Span, index: u16) -> Option<usize> {
        let at = self.entries(message).binary_search_by_key(&index, |e| e.field).ok()?;
        Some(message.start().saturating_add(at))
    }

    /// Whether `item`, of `f`, is how the wire may write a field that is absent: zero, without presence.
    pub fn is_absent(&self, f: &FieldPlan, item: Item) -> bool {
        if f.repeated() || f.flags.has(Flags::PRESENCE) {
            return false;
        }
        match item {
            Item::Scalar(Value::Int(v)) => v == 0,
            Item::Scalar(Value::Uint(v)) => v == 0,
            Item::Scalar(Value::Number(v)) => v.to_bits() == 0,
            Item::Scalar(Value::Bool(v)) => !v,
            Item::Scalar(Value::Enum(v)) => v == 0,
            Item::Bytes(span) => span.is_empty(),
            Item::Message(_) | Item::List(_) | Item::Map(_) => false,
        }
    }

    /// Keeps a copy of `bytes`.
    pub fn add_bytes(&mut self, bytes: &[u8]) -> Item {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        Item::Bytes(Span::new(start, bytes.len()))
    }

    /// What is opened from here on can be closed with this.
    pub fn mark(&self) -> usize {
        self.open.len()
    }

    /// Adds a field, element, key or value to what is open.
    pub fn push(&mut self, field: u16, item: Item) {
        self.open.push(Entry { field, item });
    }

    /// The entries since `mark`.
    pub fn since(&self, mark: usize) -> &[Entry] {
        self.open.get(mark..).unwrap_or_default()
    }

    /// Takes the last entry back, if it is one since `mark`.
    pub fn pop(&mut self, mark: usize) -> Option<Entry> {
        if self.open.len() > mark { self.open.pop() } else { None }
    }

    /// Closes the list that was opened at `mark`.
    pub fn close_list(&mut self, mark: usize) -> Span {
        let start = self.entries.len();
        self.entries.extend_from_slice(self.open.get(mark..).unwrap_or_default());
        self.open.truncate(mark);
        Span::new(start, self.entries.len().saturating_sub(start))
    }

    /// Closes the map that was opened at `mark`: of entries with the same key the last one counts.
    pub fn close_map(&mut self, mark: usize) -> Span {
        if self.since(mark).len() > 2 {
            merge::entries_of_map(self, mark);
        }
        self.close_list(mark)
    }

    /// A key that two entries of the map have that was opened at `mark`.
    pub fn key_twice(&self, mark: usize) -> Option<Item> {
        merge::key_twice(self, self.since(mark))
    }

    /// Closes the message of type `m` that was opened at `mark`. Fields may have come in any order and
    /// several times: scalars replace each other, messages merge, lists and maps go on ("Last One Wins").
    pub fn close_message(&mut self, mark: usize, m: &MessagePlan, set: &Set) -> Span {
        if !merge::is_normal(self.since(mark), m) {
            merge::normalize(self, mark, m, set);
        }
        self.close_list(mark)
    }

    /// Tells `trace` that an error arose in the entry of map `name` with that key.
    #[cold]
    pub fn step_entry(&self, key: Item, name: &str, trace: &Trace) {
        self.key(key).step(name, trace);
    }

    /// The key of a map's entry. Those of one map are all of one kind.
    pub(super) fn key(&self, item: Item) -> Key<'_> {
        match item {
            Item::Bytes(span) => Key::Name(self.bytes(span)),
            Item::Scalar(Value::Int(v)) => Key::Int(v),
            Item::Scalar(Value::Uint(v)) => Key::Uint(v),
            Item::Scalar(Value::Bool(v)) => Key::Bool(v),
            _ => Key::Bool(false),
        }
    }

    /// Takes all entries since `mark` out.
    pub(super) fn take(&mut self, mark: usize) -> Vec<Entry> {
        self.open.split_off(mark.min(self.open.len()))
    }

    /// Opens what was closed once more, behind what is open.
    pub(super) fn reopen(&mut self, span: Span) {
        self.open.extend_from_slice(self.entries.get(span.range()).unwrap_or_default());
    }
}
