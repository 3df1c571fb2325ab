//! A tree beside the message that prost-reflect read.

use prost_reflect::{DynamicMessage, MapKey, ReflectMessage, Value as Theirs};
use protobuf_lua::format::{Entry, Item, Span, Tree};
use protobuf_lua::kernel::Value;
use protobuf_lua::schema::{MessagePlan, Set};

use crate::reflected::same_number;

/// A tree and the types of what is in it.
pub struct Ours<'a> {
    pub tree: &'a Tree,
    pub set: &'a Set,
}

impl Ours<'_> {
    /// Whether the message has the same known fields with the same values.
    pub fn same(&self, span: Span, m: &MessagePlan, theirs: &DynamicMessage) -> bool {
        let entries = self.tree.entries(span);
        let mut known = entries.iter().filter(|entry| entry.field != Entry::UNKNOWN);
        let mut count = 0;
        known.all(|entry| {
            let Some(field) = m.fields.get(usize::from(entry.field)) else { return false };
            let Some(desc) = theirs.descriptor().get_field(field.number()) else { return false };
            let sub = self.set.message(field.sub);
            // Zeros without presence count as absent there.
            count += usize::from(theirs.has_field(&desc));
            (!desc.supports_presence() || theirs.has_field(&desc))
                && self.same_item(entry.item, sub, &theirs.get_field(&desc))
        }) && count == theirs.fields().count()
    }

    fn same_item(&self, item: Item, sub: Option<&MessagePlan>, theirs: &Theirs) -> bool {
        match (item, theirs) {
            (Item::Scalar(value), theirs) => same_scalar(value, theirs),
            (Item::Bytes(span), Theirs::String(text)) => self.tree.bytes(span) == text.as_bytes(),
            (Item::Bytes(span), Theirs::Bytes(bytes)) => self.tree.bytes(span) == &bytes[..],
            (Item::Message(span), Theirs::Message(theirs)) => sub.is_some_and(|m| self.same(span, m, theirs)),
            (Item::List(span), Theirs::List(list)) => {
                let entries = self.tree.entries(span);
                entries.len() == list.len() && entries.iter().zip(list).all(|(e, v)| self.same_item(e.item, sub, v))
            }
            (Item::Map(span), Theirs::Map(map)) => {
                let value = sub.and_then(|entry| self.set.message(entry.fields.get(1)?.sub));
                let entries = self.tree.entries(span);
                entries.len() == 2 * map.len()
                    && entries.chunks_exact(2).all(|pair| {
                        let key = self.key(pair[0].item, map.keys().next());
                        let found = key.and_then(|key| map.get(&key));
                        found.is_some_and(|v| self.same_item(pair[1].item, value, v))
                    })
            }
            _ => false,
        }
    }

    /// The key as one of the kind of `other`; those of one map are all of one kind.
    fn key(&self, item: Item, other: Option<&MapKey>) -> Option<MapKey> {
        Some(match (item, other?) {
            (Item::Scalar(Value::Int(v)), MapKey::I32(_)) => MapKey::I32(v.try_into().ok()?),
            (Item::Scalar(Value::Int(v)), MapKey::I64(_)) => MapKey::I64(v),
            (Item::Scalar(Value::Int(v)), MapKey::U32(_)) => MapKey::U32(v.try_into().ok()?),
            (Item::Scalar(Value::Uint(v)), MapKey::U64(_)) => MapKey::U64(v),
            (Item::Scalar(Value::Bool(v)), MapKey::Bool(_)) => MapKey::Bool(v),
            (Item::Bytes(span), MapKey::String(_)) => {
                MapKey::String(String::from_utf8(self.tree.bytes(span).to_vec()).ok()?)
            }
            _ => return None,
        })
    }
}

fn same_scalar(ours: Value, theirs: &Theirs) -> bool {
    match (ours, theirs) {
        (Value::Int(a), Theirs::I32(b)) => a == i64::from(*b),
        (Value::Int(a), Theirs::I64(b)) => a == *b,
        (Value::Int(a), Theirs::U32(b)) => a == i64::from(*b),
        (Value::Uint(a), Theirs::U64(b)) => a == *b,
        (Value::Number(a), Theirs::F32(b)) => same_number(a, f64::from(*b)),
        (Value::Number(a), Theirs::F64(b)) => same_number(a, *b),
        (Value::Bool(a), Theirs::Bool(b)) => a == *b,
        (Value::Enum(a), Theirs::EnumNumber(b)) => a == *b,
        _ => false,
    }
}
