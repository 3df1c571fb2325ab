//! What the encoder asks.

use crate::error::{EncodeError, Trace};
use crate::schema::{EnumPlan, FieldPlan, Flags, MessagePlan};

/// Result of everything that encodes.
pub type Result<T> = std::result::Result<T, EncodeError>;

/// The set fields of one message, as its source found them.
#[derive(Clone, Copy)]
pub struct Fields {
    /// (position in the plan << 5 | slot), ascending; `len` of them.
    order: [u16; Fields::MOST],
    len: usize,
    /// Bits of the set fields.
    pub seen: u64,
    /// There are too many of them: the plan's fields are to be asked for one by one.
    pub all: bool,
    /// Their values are in no slots, so `order` has positions alone, and they are to be fetched.
    pub(super) noted: bool,
    /// The message holds unknown fields.
    pub unknown: bool,
}

impl Fields {
    /// How many fit.
    pub const MOST: usize = 32;
    /// Of a message with more fields, the set ones are noted.
    pub const MOST_DECLARED: usize = 1 << 11;

    /// None yet.
    #[inline(always)]
    pub fn new() -> Self {
        Fields { order: [0; Self::MOST], len: 0, seen: 0, all: false, noted: false, unknown: false }
    }

    /// How many were added.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds `field`, whose value is in the next slot; false if it does not fit.
    #[inline(always)]
    pub fn add(&mut self, field: &FieldPlan) -> bool {
        let n = self.len;
        if n >= Self::MOST {
            return false;
        }
        self.seen |= field.mask;
        self.insert(field.index << 5 | n as u16);
        true
    }

    /// Notes that `field` is set, whose value is in no slot; none is added then. Answers whether it was noted before.
    pub fn note(&mut self, field: &FieldPlan) -> bool {
        self.noted = true;
        self.seen |= field.mask;
        if self.all {
            return false;
        }
        if self.order.iter().take(self.len).any(|position| *position == field.index) {
            return true;
        }
        if self.len < Self::MOST {
            self.insert(field.index);
        } else {
            self.all = true;
        }
        false
    }

    /// Puts `entry` where it belongs; there is room.
    #[inline(always)]
    fn insert(&mut self, entry: u16) {
        let n = self.len;
        // Insertion sort: tables mostly come in about the order of their fields.
        let mut at = n;
        while let Some(before) = at.checked_sub(1) {
            match self.order.get(before) {
                Some(e) if *e > entry => {
                    let e = *e;
                    if let Some(to) = self.order.get_mut(at) {
                        *to = e;
                    }
                    at = before;
                }
                _ => break,
            }
        }
        if let Some(to) = self.order.get_mut(at) {
            *to = entry;
        }
        self.len = n.wrapping_add(1);
    }

    /// The positions in the plan of the fields that were added more than once.
    pub fn twice(&self) -> impl Iterator<Item = usize> {
        let pairs = self.order.iter().zip(self.order.iter().skip(1)).take(self.len.saturating_sub(1));
        pairs.filter(|(a, b)| **a >> 5 == **b >> 5).map(|(a, _)| usize::from(*a >> 5))
    }

    /// Whether two of them are members of one oneof of `m`.
    pub(super) fn share_oneof(&self, m: &MessagePlan) -> bool {
        let oneof = |i: usize| {
            let f = m.fields.get(self.position(i))?;
            f.flags.has(Flags::ONEOF).then_some(f.oneof)
        };
        (0..self.len).any(|i| oneof(i).is_some_and(|this| (0..i).any(|before| oneof(before) == Some(this))))
    }

    /// The position in the plan of the `i`-th field in its order.
    pub(super) fn position(&self, i: usize) -> usize {
        if self.noted { self.order.get(i).copied().unwrap_or_default().into() } else { self.get(i).0 }
    }

    /// The `i`-th field in the plan's order, if it was added: its position in the plan and its slot.
    #[inline(always)]
    pub(super) fn get(&self, i: usize) -> (usize, usize) {
        let entry = self.order.get(i).copied().unwrap_or_default();
        (usize::from(entry >> 5), usize::from(entry & 31))
    }
}

impl Default for Fields {
    fn default() -> Self {
        Self::new()
    }
}

/// How a source gives a message value.
pub enum Nested<'a> {
    /// It can be opened.
    Open,
    /// Its bytes.
    Raw(&'a [u8]),
    /// It counts as absent.
    Absent,
}

/// Gives the values of one encoding. Errors put their text into the trace.
///
/// As with [`super::Sink`], no destructor may be needed.
pub trait Source {
    /// Where a value is.
    type At: Copy;
    /// An open message.
    type Frame: Copy;
    /// An open list or map.
    type List: Copy;

    /// Whether every message is asked for all fields of its plan.
    const ALL: bool;

    /// Opens the message at `at` and collects its set fields.
    fn open(&mut self, at: Self::At, m: &MessagePlan, fields: &mut Fields) -> Result<Self::Frame>;
    /// The value of the `slot`-th field that was added, from 0.
    fn slot(&mut self, frame: Self::Frame, slot: usize) -> Self::At;
    /// The value of `field` of an open message, if it is set. A value that is only found to be
    /// absent when it is looked at gives [`EncodeError::Absent`] then.
    fn fetch(&mut self, frame: Self::Frame, field: &FieldPlan) -> Option<Self::At>;
    /// The unknown fields of an open message.
    fn unknown(&mut self, frame: Self::Frame) -> Result<&[u8]>;
    /// Forgets all that was opened or fetched since the message was opened.
    fn settle(&mut self, frame: Self::Frame);

    /// A whole number. The encoder checks that it fits the field.
    fn int(&mut self, at: Self::At, field: &FieldPlan) -> Result<i64>;
    /// A whole number from 0 to 2^64 - 1.
    fn uint(&mut self, at: Self::At, field: &FieldPlan) -> Result<u64>;
    /// A number.
    fn number(&mut self, at: Self::At, field: &FieldPlan) -> Result<f64>;
    /// A boolean.
    fn boolean(&mut self, at: Self::At, field: &FieldPlan) -> Result<bool>;
    /// The number of an enum's value.
    fn enumeration(&mut self, at: Self::At, field: &FieldPlan, plan: &EnumPlan) -> Result<i32>;
    /// A string.
    fn bytes(&mut self, at: Self::At, field: &FieldPlan) -> Result<&[u8]>;
    /// A message; a `singular` one, that is no element or value of a map, may count as absent.
    fn message(&mut self, at: Self::At, field: &FieldPlan, m: &MessagePlan, singular: bool) -> Result<Nested<'_>>;
    /// The error of a number that does not fit its field.
    fn out_of_range(&mut self, at: Self::At, field: &FieldPlan) -> EncodeError;

    /// Opens the list at `at`, answers how many elements it has, and that it has no other keys.
    fn list(&mut self, at: Self::At) -> Result<(Self::List, u64)>;
    /// Element `index`, to be asked for from the count down to 1. Those got before may be gone.
    fn element(&mut self, list: Self::List, index: u64) -> Self::At;

    /// Opens the map at `at`; `entry` is its entry message.
    fn map(&mut self, at: Self::At, entry: &MessagePlan) -> Result<Self::List>;
    /// The next entry, its key and value (`None`: absent); the last comes first where they are sorted.
    #[allow(clippy::type_complexity)]
    fn next_entry(&mut self, map: Self::List) -> Result<Option<(Option<Self::At>, Option<Self::At>)>>;
    /// A string as a map's key.
    fn key_bytes(&mut self, at: Self::At, field: &FieldPlan) -> Result<&[u8]>;
    /// Tells `trace` that the error arose in the entry of map `name` with the key at `at`.
    fn within_entry(&mut self, at: Self::At, name: &str, trace: &Trace);
}
