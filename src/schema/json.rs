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
    /// Positions of the fields that may be written while they are absent.
    implicit: Box<[u16]>,
    /// No key has anything that JSON escapes.
    plain: bool,
    /// No field's name is the key of another.
    distinct: bool,
}

impl JsonNames {
    /// The key of `field`: its `json_name`, unless another has that too; of an extension its full name in brackets.
    pub fn key(&self, field: &FieldPlan) -> &str {
        self.keys.get(usize::from(field.index)).map_or("", |key| key)
    }

    /// The name of `field` in its message `m`, or its key if another has that name as key.
    pub fn name<'a>(&'a self, m: &'a MessagePlan, field: &FieldPlan) -> &'a str {
        let name = m.name_of(field);
        let is_others = || self.by_key.get(name).is_some_and(|index| *index != field.index);
        if !self.distinct && is_others() { self.key(field) } else { name }
    }

    /// Whether [`JsonNames::name`] is always a field's own name, which can be written between quotes as it is.
    pub fn distinct(&self) -> bool {
        self.distinct
    }

    /// Whether all keys can be written between quotes as they are.
    pub fn plain(&self) -> bool {
        self.plain
    }

    /// The positions of the fields that have no presence, extensions left out: they may be written while they are absent.
    pub fn implicit(&self) -> &[u16] {
        &self.implicit
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
            part_ways(&mut keys, &m.names);
            let by_key: HashMap<_, u16> = keys.iter().cloned().zip(0..).collect();
            let distinct = m.names.iter().zip(0..).all(|(name, at)| by_key.get(name).is_none_or(|index| *index == at));
            let plain = keys.iter().all(|key| key.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\'));
            let explicit = Flags::PRESENCE.with(Flags::EXTENSION);
            let implicit = m.fields.iter().filter(|f| !f.flags.has(explicit)).map(|f| f.index).collect();
            Box::new(JsonNames { keys: keys.into(), by_key, implicit, plain, distinct })
        })
    }
}

/// proto2 lets fields have one key: each goes by its own name then, and so does a field whose key that name is.
fn part_ways(keys: &mut [Box<str>], names: &[Box<str>]) {
    let mut holders: HashMap<Box<str>, Vec<usize>> = HashMap::with_capacity(keys.len());
    for (at, key) in keys.iter().enumerate() {
        holders.entry(key.clone()).or_default().push(at);
    }
    let mut parting: Vec<usize> = holders.values().filter(|fields| fields.len() > 1).flatten().copied().collect();
    while let Some(at) = parting.pop() {
        let (Some(key), Some(name)) = (keys.get_mut(at), names.get(at)) else { continue };
        *key = name.clone();
        parting.extend(holders.remove(name).into_iter().flatten().filter(|other| *other != at));
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use prost_types::FieldDescriptorProto;
    use prost_types::field_descriptor_proto::Type;

    use crate::schema::Registry;
    use crate::schema::tests::make::{field, file, message};
    use crate::schema::tests::registry;

    #[test]
    fn fields_of_one_key_go_by_their_names() {
        let mut swapped = [field("a", 4, Type::Int32), field("b", 5, Type::Int32)];
        swapped[0].json_name = Some("b".into());
        swapped[1].json_name = Some("a".into());
        let mut fields = vec![field("foo_bar", 1, Type::Int32), field("fooBar", 2, Type::Int32)];
        fields.push(field("other_one", 3, Type::Int32));
        fields.extend(swapped);
        let mut registry = Registry::new();
        registry.register(&file(vec![message("M", fields)]).encode_to_vec()).unwrap();
        let types = registry.types();
        let m = types.find_message("M").unwrap();
        let names = types.json_names(m);
        assert_eq!(names.keys().collect::<Vec<_>>(), ["foo_bar", "fooBar", "otherOne", "b", "a"]);
        for (key, number) in [("foo_bar", 1), ("fooBar", 2), ("otherOne", 3), ("other_one", 3), ("b", 4), ("a", 5)] {
            for next in 0..6 {
                assert_eq!(names.field(m, key, next).map(|f| f.number()), Some(number), "{key}");
            }
        }
        assert!(names.field(m, "otherone", 0).is_none());
    }

    #[test]
    fn a_name_that_another_field_has_as_key_is_not_written() {
        let mut fields = [field("a", 1, Type::Int32), field("key", 2, Type::Int32), field("c", 3, Type::Int32)];
        fields[0].json_name = Some("key".into());
        fields[1].json_name = Some("j".into());
        let mut registry = Registry::new();
        registry.register(&file(vec![message("M", fields.into())]).encode_to_vec()).unwrap();
        let m = registry.types().find_message("M").unwrap();
        let names = registry.types().json_names(m);
        let written: Vec<_> = m.fields.iter().map(|f| names.name(m, f)).collect();
        assert_eq!(written, ["a", "j", "c"]);
        for (at, key) in written.into_iter().enumerate() {
            assert_eq!(names.field(m, key, 3).map(|f| usize::from(f.index)), Some(at), "{key}");
        }
    }

    /// All others are not even looked at.
    #[test]
    fn fields_without_presence_are_known() {
        let registry = registry(
            r#"
            syntax = "proto3";
            package p;
            message M {
                int32 a = 1;
                optional int32 b = 2;
                M c = 3;
                repeated M d = 4;
                oneof o { int32 e = 5; }
                map<int32, int32> f = 6;
            }"#,
        );
        let m = registry.types().find_message("p.M").unwrap();
        assert_eq!(registry.types().json_names(m).implicit(), [0, 3, 5]);
    }

    #[test]
    fn a_name_that_is_the_key_of_another_field_is_told_from_it() {
        let named = [("a", "x"), ("b", "x"), ("c", "b"), ("d", "c"), ("e", "e")].into_iter().zip(1..);
        let fields = named.map(|((name, json), number)| {
            let json_name = Some(json.into());
            FieldDescriptorProto { json_name, ..field(name, number, Type::Int32) }
        });
        let mut registry = Registry::new();
        registry.register(&file(vec![message("M", fields.collect())]).encode_to_vec()).unwrap();
        let types = registry.types();
        let names = types.json_names(types.find_message("M").unwrap());
        assert_eq!(names.keys().collect::<Vec<_>>(), ["a", "b", "c", "d", "e"]);
    }
}
