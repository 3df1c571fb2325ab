//! Patterns: the fields of a type that a flat call names.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::paths::{Paths, Tree};
use super::plan::{FieldPlan, Flags, MessagePlan};
use super::set::Set;
use super::types::Types;
use super::unknown::unknown_type;
use crate::error::SchemaError;

/// A type and some of its fields, compiled.
#[derive(Debug)]
pub struct Pattern {
    /// The set in which the fields' types are: where there are dotted names, one of its own.
    pub set: Arc<Set>,
    /// The named fields in number order, their `slot` being their place in the pattern.
    /// Nothing is required. Where a member of a oneof is named, the others are there too,
    /// as [`Flags::GHOST`].
    pub plan: MessagePlan,
    /// The positions in `plan` of the named fields, in the order of the pattern. Dotted names
    /// have none.
    pub slots: Box<[u16]>,
    /// How many values the pattern stands for.
    pub count: u16,
    /// Where values go, if there are dotted names.
    pub paths: Option<Box<Paths>>,
}

impl Pattern {
    /// Compiles "pkg.Type field field".
    ///
    /// # Errors
    /// A type or field that `types` does not have, or a field named twice.
    pub fn compile(types: &Types, text: &str) -> Result<Pattern, SchemaError> {
        let mut words = text.split_ascii_whitespace();
        let Some(name) = words.next() else {
            return Err(SchemaError("the pattern is empty".into()));
        };
        let whole = types.find_message(name).ok_or_else(|| unknown_type(types, name))?;
        let mut tree = Tree::new(&types.set, whole);
        for word in words {
            tree.add(word)?;
        }
        let count = tree.count;
        let (plan, dotted) = tree.compile();
        let mut named: Vec<_> = plan.fields.iter().filter(|f| f.slot != MessagePlan::NONE).collect();
        named.sort_by_key(|f| f.slot);
        let slots = named.iter().map(|f| f.index).collect();
        Ok(match dotted {
            None => Pattern { set: types.set.clone(), plan, slots, count, paths: None },
            Some((set, paths)) => Pattern { set, plan, slots, count, paths: Some(paths) },
        })
    }
}

/// What becomes of a field in a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// It is there for its oneof alone.
    Ghost,
    /// It is a value of the pattern, at this position.
    Value(u16),
    /// Fields of it are named; the position of its message among those.
    Enter(usize),
}

/// The plan of those fields of `whole` that `slots` keeps by their positions; `sub` tells where
/// their types are.
pub(super) fn reduce(
    whole: &MessagePlan,
    index: u32,
    mut slots: BTreeMap<u16, Slot>,
    mut sub: impl FnMut(&FieldPlan) -> u32,
) -> MessagePlan {
    let mut oneofs = Vec::new();
    let mut positions = vec![MessagePlan::NONE; whole.oneofs.len()];
    for (oneof, position) in whole.oneofs.iter().zip(&mut positions) {
        if !oneof.members.iter().any(|m| slots.contains_key(m)) {
            continue;
        }
        for member in &oneof.members {
            slots.entry(*member).or_insert(Slot::Ghost);
        }
        *position = u16::try_from(oneofs.len()).unwrap_or(MessagePlan::NONE);
        oneofs.push((oneof.name.clone(), Vec::new()));
    }

    let (mut fields, mut names, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
    let parts = whole.fields.iter().zip(&whole.names).zip(&whole.defaults);
    for ((field, name), default) in parts {
        let Some(slot) = slots.get(&field.index) else { continue };
        let mut field = *field;
        field.index = u16::try_from(fields.len()).unwrap_or(MessagePlan::NONE);
        field.slot = MessagePlan::NONE;
        field.flags = Flags(field.flags.0 & !Flags::REQUIRED.0);
        match slot {
            Slot::Value(slot) => field.slot = *slot,
            Slot::Ghost => field.flags = field.flags.with(Flags::GHOST),
            Slot::Enter(_) => field.flags = field.flags.with(Flags::ENTER),
        }
        field.sub = match slot {
            Slot::Enter(position) => u32::try_from(*position).unwrap_or(u32::MAX),
            _ => sub(&field),
        };
        if field.flags.has(Flags::ONEOF) {
            field.oneof = positions.get(usize::from(field.oneof)).copied().unwrap_or(MessagePlan::NONE);
            if let Some((_, members)) = oneofs.get_mut(usize::from(field.oneof)) {
                members.push(field.index);
            }
        }
        fields.push(field);
        names.push(name.clone());
        defaults.push(default.clone());
    }
    let mut plan = MessagePlan::assemble(index, whole.name.clone(), fields, names, defaults, oneofs);
    plan.message_set = whole.message_set;
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Default, Registry};

    fn types() -> Arc<Types> {
        let source = r#"
            syntax = "proto2";
            package p;
            message M {
                required int32 id = 5;
                optional string name = 2 [default = "x"];
                oneof one { int32 a = 7; M b = 3; string c = 9; }
                oneof two { int32 d = 10; int32 e = 11; }
                repeated int32 list = 200;
            }
            enum E { ZERO = 0; }
        "#;
        let mut registry = Registry::new();
        registry.register(&crate::schema::tests::compile(&[("p.proto", source)])).unwrap();
        registry.types().clone()
    }

    fn error(text: &str) -> String {
        Pattern::compile(&types(), text).unwrap_err().0
    }

    #[test]
    fn fields_are_in_number_order_and_slots_in_that_of_the_pattern() {
        let pattern = Pattern::compile(&types(), "  .p.M\tlist id  name ").unwrap();
        assert_eq!(*pattern.slots, [2, 1, 0]);
        let plan = &pattern.plan;
        assert_eq!(&*plan.name, "p.M");
        let whole = types().find_message("p.M").cloned().unwrap();
        assert_eq!(plan.index, whole.index);
        assert_ne!(plan.id, whole.id);
        let fields: Vec<_> =
            plan.fields.iter().map(|f| (f.number(), f.index, f.slot, f.mask.trailing_zeros())).collect();
        assert_eq!(fields, [(2, 0, 2, 1), (5, 1, 1, 2), (200, 2, 0, 0)]);
        assert_eq!(plan.names.iter().map(|n| &**n).collect::<Vec<_>>(), ["name", "id", "list"]);
        assert_eq!(&*plan.defaults, [Default::Bytes(Box::from(*b"x")), Default::Int(0), Default::None]);
        assert_eq!((plan.required, plan.required_unmarked), (0, false));
        assert!(!plan.fields[1].flags.has(Flags::REQUIRED) && plan.fields[1].flags.has(Flags::PRESENCE));
        assert_eq!(plan.by_number(200).map(|f| f.index), Some(2));
        assert_eq!(plan.by_name("id").map(|f| f.index), Some(1));
        assert!(plan.by_number(7).is_none() && plan.by_name("a").is_none());
        assert!(plan.oneofs.is_empty());
    }

    #[test]
    fn other_members_of_a_oneof_are_ghosts() {
        let pattern = Pattern::compile(&types(), "p.M e a c").unwrap();
        let plan = &pattern.plan;
        let fields: Vec<_> = plan
            .fields
            .iter()
            .map(|f| (plan.name_of(f), f.slot, f.oneof, f.flags.has(Flags::GHOST), f.mask.trailing_zeros()))
            .collect();
        let none = u16::MAX;
        assert_eq!(
            fields,
            [
                ("b", none, 0, true, 0),
                ("a", 1, 0, false, 1),
                ("c", 2, 0, false, 2),
                ("d", none, 1, true, 3),
                ("e", 0, 1, false, 4)
            ]
        );
        let oneofs: Vec<_> = plan.oneofs.iter().map(|o| (&*o.name, &*o.members, o.mask)).collect();
        assert_eq!(oneofs, [("one", &[0, 1, 2][..], 0b00111), ("two", &[3, 4][..], 0b11000)]);

        let pattern = Pattern::compile(&types(), "p.M d").unwrap();
        assert_eq!(pattern.plan.oneofs.len(), 1);
        assert_eq!(pattern.plan.fields.iter().map(|f| f.oneof).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(Pattern::compile(&types(), "p.M").unwrap().plan.fields.len(), 0);
    }

    #[test]
    fn errors_say_what_is_wrong() {
        assert_eq!(error(" \t"), "the pattern is empty");
        assert_eq!(error("p.N a"), "unknown type \"p.N\" (did you mean \"p.M\"?)");
        let long = r#"
            package some.long.name;
            message Role { message Inner { message Twice {} } message Twice {} }
        "#;
        let types = crate::schema::tests::registry(long).types().clone();
        let error_in = |text: &str| Pattern::compile(&types, text).unwrap_err().0;
        assert_eq!(error_in("Role"), "unknown type \"Role\" (did you mean \"some.long.name.Role\"?)");
        assert_eq!(error_in("Role.Inner"), "unknown type \"Role.Inner\" (did you mean \"some.long.name.Role.Inner\"?)");
        for name in ["Twice", "ole", "."] {
            assert_eq!(error_in(name), format!("unknown type {name:?}"));
        }
        assert_eq!(error("p.E"), "p.E is an enum, not a message");
        assert_eq!(error("p.M nmae"), "p.M: unknown field \"nmae\" (did you mean \"name\"?)");
        assert_eq!(error("p.M something"), "p.M: unknown field \"something\"");
        assert_eq!(error("p.M id name id"), "p.M: field \"id\" is named twice");
        assert_eq!(error(&format!("p.M {}", "x".repeat(1000))), format!("p.M: unknown field {:?}...", "x".repeat(64)));
    }
}
