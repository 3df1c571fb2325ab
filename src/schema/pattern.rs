//! Patterns: the fields of a type that a flat call names.

use std::sync::Arc;

use super::hint::{did_you_mean, quoted};
use super::plan::{FieldPlan, Flags, MessagePlan};
use super::set::Set;
use super::types::Types;
use crate::error::SchemaError;

/// A type and some of its fields, compiled.
#[derive(Debug)]
pub struct Pattern {
    /// The set in which the fields' types are.
    pub set: Arc<Set>,
    /// The named fields in number order, their `slot` being their place in the pattern.
    /// Nothing is required. Where a member of a oneof is named, the others are there too,
    /// as [`Flags::GHOST`].
    pub plan: MessagePlan,
    /// The positions in `plan` of the named fields, in the order of the pattern.
    pub slots: Box<[u16]>,
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
        let mut slots = vec![Slot::Unused; whole.fields.len()];
        let mut count = 0u16;
        for word in words {
            let field = find(whole, word)?;
            match slots.get_mut(usize::from(field.index)) {
                Some(Slot::Value(_)) => {
                    return Err(fail(whole, format_args!("field {word:?} is named twice")));
                }
                Some(slot) => *slot = Slot::Value(count),
                None => {}
            }
            count = count.saturating_add(1);
        }
        let plan = reduce(whole, slots);
        let mut named: Vec<_> = plan.fields.iter().filter(|f| !f.flags.has(Flags::GHOST)).collect();
        named.sort_by_key(|f| f.slot);
        let slots = named.iter().map(|f| f.index).collect();
        Ok(Pattern { set: types.set.clone(), plan, slots })
    }
}

/// What becomes of a field in a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Unused,
    Ghost,
    Value(u16),
}

fn fail(whole: &MessagePlan, what: std::fmt::Arguments) -> SchemaError {
    SchemaError(format!("{}: {what}", whole.name))
}

/// The error of a name that is no message of `types`: why it cannot be used yet, or the name that was probably meant.
pub fn unknown_type(types: &Types, name: &str) -> SchemaError {
    if types.find_enum(name).is_some() {
        return SchemaError(format!("{name} is an enum, not a message"));
    }
    if let Some(why) = types.why_not(name) {
        return why;
    }
    let messages = || types.messages().map(|m| &*m.name);
    let mut hint = did_you_mean(name, messages());
    if hint.is_empty() {
        // The package was left out, if only one type can be meant.
        let mut same = messages().filter(|t| t.strip_suffix(name).is_some_and(|scope| scope.ends_with('.')));
        if let (Some(full), None) = (same.next(), same.next()) {
            hint = format!(" (did you mean {full:?}?)");
        }
    }
    SchemaError(format!("unknown type {}{hint}", quoted(name)))
}

fn find<'a>(whole: &'a MessagePlan, word: &str) -> Result<&'a FieldPlan, SchemaError> {
    if let Some(field) = whole.by_name(word) {
        return Ok(field);
    }
    let word_quoted = quoted(word);
    if word.starts_with('[') {
        return Err(fail(whole, format_args!("extensions in patterns are not supported yet: {word_quoted}")));
    }
    if word.contains('.') {
        return Err(fail(whole, format_args!("dotted names are not supported yet: {word_quoted}")));
    }
    let hint = did_you_mean(word, whole.names.iter().map(|n| &**n));
    Err(fail(whole, format_args!("unknown field {word_quoted}{hint}")))
}

/// The plan of those fields of `whole` that `slots` keeps.
fn reduce(whole: &MessagePlan, mut slots: Vec<Slot>) -> MessagePlan {
    let mut oneofs = Vec::new();
    let mut positions = vec![MessagePlan::NONE; whole.oneofs.len()];
    for (oneof, position) in whole.oneofs.iter().zip(&mut positions) {
        let slot = |slots: &[Slot], member: &u16| slots.get(usize::from(*member)).copied();
        if !oneof.members.iter().any(|m| matches!(slot(&slots, m), Some(Slot::Value(_)))) {
            continue;
        }
        for member in &oneof.members {
            if let Some(slot @ Slot::Unused) = slots.get_mut(usize::from(*member)) {
                *slot = Slot::Ghost;
            }
        }
        *position = u16::try_from(oneofs.len()).unwrap_or(MessagePlan::NONE);
        oneofs.push((oneof.name.clone(), Vec::new()));
    }

    let (mut fields, mut names, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
    let parts = whole.fields.iter().zip(&whole.names).zip(&whole.defaults).zip(slots);
    for (((field, name), default), slot) in parts.filter(|(_, slot)| *slot != Slot::Unused) {
        let mut field = *field;
        field.index = u16::try_from(fields.len()).unwrap_or(MessagePlan::NONE);
        field.flags = Flags(field.flags.0 & !Flags::REQUIRED.0);
        match slot {
            Slot::Value(slot) => field.slot = slot,
            _ => {
                field.slot = MessagePlan::NONE;
                field.flags = field.flags.with(Flags::GHOST);
            }
        }
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
    MessagePlan::assemble(whole.index, whole.name.clone(), fields, names, defaults, oneofs)
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
        assert_eq!(error("p.M b.id"), "p.M: dotted names are not supported yet: \"b.id\"");
        assert_eq!(error("p.M [p.ext]"), "p.M: extensions in patterns are not supported yet: \"[p.ext]\"");
        assert_eq!(error(&format!("p.M {}", "x".repeat(1000))), format!("p.M: unknown field {:?}...", "x".repeat(64)));
    }
}
