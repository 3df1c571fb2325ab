//! Encoding a tree.

use super::tree::{Entry, Item, Span, Tree};
use crate::error::{EncodeError, Trace};
use crate::kernel::{self, Context, Fields, Nested, Source, Value};
use crate::schema::{EnumPlan, FieldPlan, MessagePlan};
use crate::wire::Writer;

type Result<T> = std::result::Result<T, EncodeError>;

/// Encodes the message `root` of type `m` in front of what `w` holds.
///
/// # Errors
/// Those of [`kernel::encode`].
pub fn encode(tree: &Tree, root: Span, m: &MessagePlan, w: &mut Writer, cx: &mut Context) -> Result<()> {
    let mut source = TreeSource { tree, cursors: &mut Vec::new() };
    kernel::encode(&mut source, At::Root(root), m, w, cx)
}

/// Reads trees, in which every value is one of its field's type.
struct TreeSource<'a> {
    tree: &'a Tree,
    /// What is left of the open maps.
    cursors: &'a mut Vec<Span>,
}

/// Where a value is.
#[derive(Clone, Copy)]
enum At {
    /// The outermost message.
    Root(Span),
    /// The position of an entry.
    Entry(usize),
}

impl TreeSource<'_> {
    fn item(&self, at: At) -> Result<Item> {
        match at {
            At::Root(span) => Ok(Item::Message(span)),
            At::Entry(at) => self.tree.entry(at).map(|e| e.item).ok_or(EncodeError::Absent),
        }
    }

    fn scalar(&self, at: At) -> Result<Value> {
        match self.item(at)? {
            Item::Scalar(value) => Ok(value),
            _ => Err(EncodeError::Absent),
        }
    }

    fn within(&self, at: At) -> Result<Span> {
        match self.item(at)? {
            Item::Message(span) | Item::List(span) | Item::Map(span) => Ok(span),
            _ => Err(EncodeError::Absent),
        }
    }
}

impl Source for TreeSource<'_> {
    type At = At;
    type Frame = Span;
    type List = Span;
    const ALL: bool = false;

    fn open(&mut self, at: At, m: &MessagePlan, fields: &mut Fields) -> Result<Span> {
        let message = self.within(at)?;
        for entry in self.tree.entries(message) {
            let Some(f) = m.fields.get(usize::from(entry.field)) else {
                fields.unknown = true;
                continue;
            };
            fields.seen |= f.mask;
            if m.fields.len() > Fields::MOST_DECLARED {
                fields.note(f);
            } else {
                fields.all |= !fields.add(f);
            }
        }
        Ok(message)
    }

    fn slot(&mut self, frame: Span, slot: usize) -> At {
        At::Entry(frame.start().saturating_add(slot))
    }

    fn fetch(&mut self, frame: Span, field: &FieldPlan) -> Option<At> {
        self.tree.position(frame, field.index).map(At::Entry)
    }

    fn unknown(&mut self, frame: Span) -> Result<&[u8]> {
        match self.tree.field(frame, Entry::UNKNOWN) {
            Some(Item::Bytes(span)) => Ok(self.tree.bytes(span)),
            _ => Ok(&[]),
        }
    }

    fn settle(&mut self, _: Span) {}

    fn int(&mut self, at: At, _: &FieldPlan) -> Result<i64> {
        match self.scalar(at)? {
            Value::Int(v) => Ok(v),
            _ => Err(EncodeError::Absent),
        }
    }

    fn uint(&mut self, at: At, _: &FieldPlan) -> Result<u64> {
        match self.scalar(at)? {
            Value::Uint(v) => Ok(v),
            _ => Err(EncodeError::Absent),
        }
    }

    fn number(&mut self, at: At, _: &FieldPlan) -> Result<f64> {
        match self.scalar(at)? {
            Value::Number(v) => Ok(v),
            _ => Err(EncodeError::Absent),
        }
    }

    fn boolean(&mut self, at: At, _: &FieldPlan) -> Result<bool> {
        match self.scalar(at)? {
            Value::Bool(v) => Ok(v),
            _ => Err(EncodeError::Absent),
        }
    }

    fn enumeration(&mut self, at: At, _: &FieldPlan, _: &EnumPlan) -> Result<i32> {
        match self.scalar(at)? {
            Value::Enum(v) => Ok(v),
            _ => Err(EncodeError::Absent),
        }
    }

    fn bytes(&mut self, at: At, _: &FieldPlan) -> Result<&[u8]> {
        match self.item(at)? {
            Item::Bytes(span) => Ok(self.tree.bytes(span)),
            _ => Err(EncodeError::Absent),
        }
    }

    fn message(&mut self, _: At, _: &FieldPlan, _: &MessagePlan, _: bool) -> Result<Nested<'_>> {
        Ok(Nested::Open)
    }

    fn out_of_range(&mut self, _: At, _: &FieldPlan) -> EncodeError {
        EncodeError::Absent
    }

    fn list(&mut self, at: At) -> Result<(Span, u64)> {
        let list = self.within(at)?;
        Ok((list, list.len() as u64))
    }

    fn element(&mut self, list: Span, index: u64) -> At {
        At::Entry(list.start().saturating_add(index as usize).saturating_sub(1))
    }

    fn map(&mut self, at: At, _: &MessagePlan) -> Result<Span> {
        let map = self.within(at)?;
        self.cursors.push(map);
        Ok(map)
    }

    #[allow(clippy::type_complexity)]
    fn next_entry(&mut self, _: Span) -> Result<Option<(Option<At>, Option<At>)>> {
        let Some(left) = self.cursors.last_mut() else { return Ok(None) };
        match left.pop_pair() {
            Some(at) => Ok(Some((Some(At::Entry(at)), Some(At::Entry(at.saturating_add(1)))))),
            None => {
                self.cursors.pop();
                Ok(None)
            }
        }
    }

    fn key_bytes(&mut self, at: At, field: &FieldPlan) -> Result<&[u8]> {
        self.bytes(at, field)
    }

    fn within_entry(&mut self, at: At, name: &str, trace: &Trace) {
        if let Ok(key) = self.item(at) {
            self.tree.step_entry(key, name, trace);
        }
    }
}
