//! The keys of a message's fields in JSON, made when they are first asked for.

use std::collections::HashMap;

use super::plan::{FieldPlan, Flags, MessagePlan};
use super::types::Types;

/// How JSON calls the fields of a message.
#[derive(Debug)]
pub struct JsonNames {
    /// In the order of the plan's fields.
    keys: Box<[Box<str>]>,
    by_key: HashMap<Box<str>, u16>,
    /// No key has anything that JSON escapes.
    plain: bool,
}

impl JsonNames {
    /// The key of `field`: its `json_name`, of an extension its full name in brackets.
    pub fn key(&self, field: &FieldPlan) -> &str {
        self.keys.get(usize::from(field.index)).map_or("", |key| key)
    }

    /// Whether all keys can be written between quotes as they are.
    pub fn plain(&self) -> bool {
        self.plain
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| &**key)
    }

    /// The field of `m`, whose names these are, that is meant by `key`: its key, or the name that the schema gives it.
    /// The field at position `next` is tried first: writers mostly write in order.
    pub fn field<'m>(&self, m: &'m MessagePlan, key: &str, next: usize) -> Option<&'m FieldPlan> {
        if self.keys.get(next).is_some_and(|next| **next == *key) {
            return m.fields.get(next);
        }
        match self.by_key.get(key) {
            Some(index) => m.fields.get(usize::from(*index)),
            // An extension's name without brackets is no key.
            None => m.by_name(key).filter(|f| !f.flags.has(Flags::EXTENSION)),
        }
    }
}

impl Types {
    /// The keys of the fields of `m`, one of the messages of these types.
    pub fn json_names<'m>(&self, m: &'m MessagePlan) -> &'m JsonNames {
        m.json.get_or_init(|| {
            let mut keys = vec![Box::default(); m.fields.len()];
            for field in self.fields(&m.name).unwrap_or_default() {
                if let Some(key) = keys.get_mut(usize::from(field.plan.index)) {
                    *key = field.json_name;
                }
            }
            // Of fields with one key, the first has it.
            let mut by_key = HashMap::with_capacity(keys.len());
            for (key, index) in keys.iter().zip(0..) {
                by_key.entry(Clone::clone(key)).or_insert(index);
            }
            let plain = keys.iter().all(|key| key.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\'));
            JsonNames { keys: keys.into(), by_key, plain }
        })
    }
}
