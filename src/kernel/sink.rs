//! What the decoder tells.

use crate::schema::{Default, FieldPlan, Flags, MessagePlan, Op};

/// A scalar that is no string.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A signed number, or an unsigned one of 32 bits.
    Int(i64),
    /// An unsigned number of 64 bits.
    Uint(u64),
    /// A float or double.
    Number(f64),
    /// A boolean.
    Bool(bool),
    /// An enum's number; the field tells the enum.
    Enum(i32),
}

impl Value {
    /// What an absent scalar reads as; `None` for strings, and for what is no scalar.
    pub fn of(default: &Default) -> Option<Value> {
        Some(match default {
            Default::Int(v) => Value::Int(*v),
            Default::Uint(v) => Value::Uint(*v),
            Default::Number(v) => Value::Number(*v),
            Default::Bool(v) => Value::Bool(*v),
            Default::Enum(v) => Value::Enum(*v),
            Default::Bytes(_) | Default::None => return None,
        })
    }
}

/// Receives the events of one decoding.
///
/// A message's events come between `open` (or `reopen`) and `close`, those of parts that follow each other between one
/// pair of them; those of a nested message between `key` and `store`, `store_element` or `store_entry`. An event may leave
/// its frame without unwinding through it (a Lua error), so a sink has no destructor, and neither has any kernel frame.
pub trait Sink {
    /// What the sink keeps of an open message.
    type Frame: Copy;

    /// Whether messages become tables of their own, in which messages are opened. If not, `close`
    /// is not called, and `message` and its like get the bytes of messages within.
    const TABLES: bool;
    /// Whether messages of fields with [`Flags::ENTER`] are opened, even if others stay bytes. They
    /// have no table, so `close` is not called.
    const PATHS: bool;

    /// Whether values of that kind may make the sink owe something; for unknown fields it is asked of bytes. Entries of
    /// maps always may.
    #[inline(always)]
    fn may_owe(_: Op) -> bool {
        false
    }
    /// Bytes of memory to be charged for what came since it was asked last, beyond what the kernel charges.
    #[inline(always)]
    fn owed(&mut self) -> u64 {
        0
    }

    /// Opens a message. `None` if there is no room for another level.
    fn open(&mut self, m: &MessagePlan) -> Option<Self::Frame>;
    /// Opens once more the message of singular `field`, to merge into it.
    fn reopen(&mut self, frame: Self::Frame, field: &FieldPlan, m: &MessagePlan) -> Option<Self::Frame>;
    /// Ends a message in which `count` fields were met. `unknown` are unknown fields, which
    /// come after those that [`Sink::unknown`] got. Answers how many bytes of memory it took to
    /// join them to those of an earlier part of the message, or for what else the sink adds.
    fn close(&mut self, frame: Self::Frame, m: &MessagePlan, count: u32, unknown: &[u8]) -> usize;
    /// Unknown fields, tags and values. They may come while a list or map is open. May raise, as others here: callers own
    /// no memory.
    fn unknown(&mut self, frame: Self::Frame, raw: &[u8]);
    /// The next message that opens belongs to singular `field`.
    fn key(&mut self, frame: Self::Frame, field: &FieldPlan);
    /// The message that closed is complete.
    fn store(&mut self, frame: Self::Frame, field: &FieldPlan);

    /// Whether `field` holds a value already.
    fn has(&mut self, frame: Self::Frame, field: &FieldPlan) -> bool;
    /// Takes the value of `field` away, for another member of its oneof was met.
    fn unset(&mut self, frame: Self::Frame, field: &FieldPlan);
    /// A singular scalar.
    fn scalar(&mut self, frame: Self::Frame, field: &FieldPlan, value: Value);
    /// A singular string.
    fn bytes(&mut self, frame: Self::Frame, field: &FieldPlan, bytes: &[u8]);
    /// A singular message as bytes; `again` if it has some already, to be put before them.
    /// Answers how many it has now.
    fn message(&mut self, frame: Self::Frame, field: &FieldPlan, raw: &[u8], again: bool) -> usize;

    /// How many lists of the sink's one list of `field` fills.
    #[inline(always)]
    fn width(&self, _: &FieldPlan) -> usize {
        1
    }
    /// Opens a list that will get about `n` elements.
    fn begin_list(&mut self, frame: Self::Frame, field: &FieldPlan, n: usize);
    /// Opens a list again; returns how many elements it has.
    fn reopen_list(&mut self, frame: Self::Frame, field: &FieldPlan) -> u64;
    /// Ends a list, which has `n` elements; one without elements is absent.
    fn end_list(&mut self, frame: Self::Frame, field: &FieldPlan, n: u64);
    /// Element `index`, from 1.
    fn element(&mut self, field: &FieldPlan, index: u64, value: Value);
    /// A string as element `index`.
    fn element_bytes(&mut self, field: &FieldPlan, index: u64, bytes: &[u8]);
    /// A message's bytes as element `index`.
    fn element_message(&mut self, field: &FieldPlan, index: u64, raw: &[u8]);
    /// The message that closed is element `index`. Answers how many bytes of memory it took beyond
    /// what its fields did.
    fn store_element(&mut self, field: &FieldPlan, index: u64) -> usize;

    /// Opens a map that will get about `n` entries, again if `again`.
    fn begin_map(&mut self, frame: Self::Frame, field: &FieldPlan, n: usize, again: bool);
    /// Ends a map, which is absent unless it has `any` entry.
    fn end_map(&mut self, frame: Self::Frame, field: &FieldPlan, any: bool);
    /// The key of the next entry; `field` is the key's.
    fn map_key(&mut self, field: &FieldPlan, value: Value);
    /// A string as key.
    fn map_key_bytes(&mut self, field: &FieldPlan, bytes: &[u8]);
    /// The value of the entry; `field` is the value's.
    fn map_value(&mut self, field: &FieldPlan, value: Value);
    /// A string as value.
    fn map_value_bytes(&mut self, field: &FieldPlan, bytes: &[u8]);
    /// A message's bytes as value, to be appended if `again`; answers how many there are now.
    fn map_value_message(&mut self, field: &FieldPlan, raw: &[u8], again: bool) -> usize;
    /// The entry is complete.
    fn store_entry(&mut self);
}

/// Whether the messages of `f` are opened, rather than taken as bytes.
#[inline(always)]
pub(super) const fn opens<S: Sink>(f: &FieldPlan) -> bool {
    S::TABLES || S::PATHS && f.flags.has(Flags::ENTER)
}
