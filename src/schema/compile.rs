//! Compiling: linked files to plans.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prost_reflect::{DescriptorPool, Kind, MessageDescriptor};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use super::check::{Syntax, scalar_op, syntax};
use super::default;
use super::hint::quoted;
use super::plan::{Default, EnumPlan, FieldPlan, Flags, MessagePlan, OneofPlan, Op, Set, TypeRef};
use crate::error::SchemaError;
use crate::wire::{WireType, tag};

type Result<T> = std::result::Result<T, SchemaError>;

/// New types, to be put at the end of the set that they were compiled for.
#[derive(Debug, std::default::Default)]
pub(super) struct Addition {
    messages: Vec<Arc<MessagePlan>>,
    enums: Vec<Arc<EnumPlan>>,
    names: HashMap<Arc<str>, TypeRef>,
}

impl Set {
    /// Adds new types behind those that are there.
    pub(super) fn add(&mut self, new: Addition) {
        self.messages.extend(new.messages);
        self.enums.extend(new.enums);
        self.names.extend(new.names);
    }
}

/// Compiles all types of `files`, which are linked in `pool`, as additions to `set`.
pub(super) fn compile(pool: &DescriptorPool, set: &Set, files: &[&FileDescriptorProto]) -> Result<Addition> {
    let mut compiler = Compiler { pool, set, new: Addition::default(), messages: 0 };
    // Every type gets its position before any field refers to it.
    for file in files {
        let closed = syntax(file)? == Syntax::Proto2;
        for enumeration in &file.enum_type {
            compiler.enumeration(enumeration, file.package(), closed)?;
        }
        for message in &file.message_type {
            compiler.declare(message, file.package(), closed)?;
        }
    }
    for file in files {
        let proto3 = syntax(file)? == Syntax::Proto3;
        for message in &file.message_type {
            compiler.message(file, message, file.package(), proto3)?;
        }
    }
    Ok(compiler.new)
}

struct Compiler<'a> {
    pool: &'a DescriptorPool,
    set: &'a Set,
    new: Addition,
    /// How many messages were declared.
    messages: usize,
}

impl Compiler<'_> {
    fn declare(&mut self, message: &DescriptorProto, scope: &str, closed: bool) -> Result<()> {
        let name = full_name(scope, message.name());
        let index = position(self.set.messages.len().saturating_add(self.messages))?;
        self.messages = self.messages.saturating_add(1);
        for enumeration in &message.enum_type {
            self.enumeration(enumeration, &name, closed)?;
        }
        for nested in &message.nested_type {
            self.declare(nested, &name, closed)?;
        }
        self.new.names.insert(name.into(), TypeRef::Message(index));
        Ok(())
    }

    fn enumeration(&mut self, enumeration: &EnumDescriptorProto, scope: &str, closed: bool) -> Result<()> {
        let name = full_name(scope, enumeration.name());
        let index = position(self.set.enums.len().saturating_add(self.new.enums.len()))?;
        // The sort is stable, so of each number's names the first declared one is kept.
        let mut values: Vec<_> = enumeration.value.iter().map(|v| (v.number(), v.name())).collect();
        values.sort_by_key(|(number, _)| *number);
        values.dedup_by_key(|(number, _)| *number);
        self.new.names.insert(name.as_str().into(), TypeRef::Enum(index));
        self.new.enums.push(Arc::new(EnumPlan {
            id: next_id(),
            name: name.into(),
            numbers: values.iter().map(|(number, _)| *number).collect(),
            names: values.iter().map(|(_, name)| Box::from(*name)).collect(),
            first: enumeration.value.first().map_or(0, |v| v.number()),
            closed,
            by_name: enumeration.value.iter().map(|v| (Box::from(v.name()), v.number())).collect(),
        }));
        Ok(())
    }

    fn message(
        &mut self,
        file: &FileDescriptorProto,
        message: &DescriptorProto,
        scope: &str,
        proto3: bool,
    ) -> Result<()> {
        let name = full_name(scope, message.name());
        let within = |e: String| SchemaError(format!("{}: {name}{e}", file.name()));
        let linked = self.pool.get_message_by_name(&name).ok_or_else(|| within(": is not linked".into()))?;
        let (mut oneofs, oneof_of) = real_oneofs(message);
        let context = Context {
            linked,
            proto3,
            map_entry: is_map_entry(message),
            entries: message
                .nested_type
                .iter()
                .filter(|nested| is_map_entry(nested))
                .map(|nested| full_name(&name, nested.name()))
                .collect(),
            oneof_of,
        };

        let mut declared: Vec<&FieldDescriptorProto> = message.field.iter().collect();
        declared.sort_by_key(|f| f.number());
        let mut fields = Vec::with_capacity(declared.len());
        let mut defaults = Vec::with_capacity(declared.len());
        for (proto, index) in declared.iter().zip(0u16..) {
            let (field, default) =
                self.field(proto, index, &context).map_err(|e| within(format!(".{}: {e}", proto.name())))?;
            if field.flags.has(Flags::ONEOF)
                && let Some((_, members)) = oneofs.get_mut(usize::from(field.oneof))
            {
                members.push(index);
            }
            fields.push(field);
            defaults.push(default);
        }
        let names = declared.iter().map(|f| Box::from(f.name())).collect();
        let index = position(self.set.messages.len().saturating_add(self.new.messages.len()))?;
        let mut plan = MessagePlan::assemble(index, &name, fields, names, defaults, oneofs);
        plan.map_entry = context.map_entry;
        self.new.messages.push(Arc::new(plan));
        for nested in &message.nested_type {
            self.message(file, nested, &name, proto3)?;
        }
        Ok(())
    }

    fn field(
        &self,
        proto: &FieldDescriptorProto,
        index: u16,
        context: &Context,
    ) -> std::result::Result<(FieldPlan, Default), String> {
        let number = proto.number().cast_unsigned();
        let repeated = proto.label() == Label::Repeated;
        let kind = context.linked.get_field(number).ok_or("is not linked")?.kind();
        let declared = proto.r#type.and_then(|t| Type::try_from(t).ok());
        let (op, type_name) = match (&kind, declared) {
            (Kind::Message(m), Some(Type::Group)) => (Op::Group, m.full_name()),
            (Kind::Message(m), Some(Type::Message) | None) => {
                let map = repeated && context.entries.contains(m.full_name());
                (if map { Op::Map } else { Op::Message }, m.full_name())
            }
            (Kind::Enum(e), Some(Type::Enum) | None) => (Op::Enum, e.full_name()),
            (Kind::Message(m), _) => return Err(format!("{} is no enum", m.full_name())),
            (Kind::Enum(e), _) => return Err(format!("{} is no message", e.full_name())),
            (_, declared) => (declared.and_then(scalar_op).ok_or("has no type")?, ""),
        };
        let mut enumeration = None;
        let sub = match self.find(type_name) {
            Some(TypeRef::Message(index)) => index,
            Some(TypeRef::Enum(index)) => {
                enumeration = self.enum_at(index);
                index
            }
            None if type_name.is_empty() => 0,
            None => return Err(format!("{type_name} is not compiled")),
        };

        let oneof = proto.oneof_index.and_then(|i| context.oneof_of.get(usize::try_from(i).ok()?).copied().flatten());
        let packed =
            repeated && op.packable() && proto.options.as_ref().and_then(|o| o.packed).unwrap_or(context.proto3);
        let message = matches!(op, Op::Message | Op::Group);
        let presence = !repeated
            && (!context.proto3 || message || oneof.is_some() || proto.proto3_optional() || context.map_entry);
        let flags = [
            (repeated, Flags::REPEATED),
            (packed, Flags::PACKED),
            (op == Op::String && context.proto3, Flags::UTF8),
            (presence, Flags::PRESENCE),
            (proto.label() == Label::Required, Flags::REQUIRED),
            (oneof.is_some(), Flags::ONEOF),
            (enumeration.is_some_and(|e| e.closed), Flags::CLOSED),
        ];
        let flags = flags.iter().filter(|(set, _)| *set).fold(Flags(0), |all, (_, flag)| all.with(*flag));

        let single = tag(number, op.wire_type());
        let list = tag(number, WireType::Len);
        let (tag, alt) = match (repeated && op.packable(), packed) {
            (true, true) => (list, single),
            (true, false) => (single, list),
            (false, _) => (single, 0),
        };
        let default = match &proto.default_value {
            _ if repeated => Default::None,
            None => default::zero(op, enumeration),
            Some(text) => default::parse(op, text, enumeration)
                .ok_or_else(|| format!("default {} is no value of its type", quoted(text)))?,
        };
        let oneof = oneof.unwrap_or(MessagePlan::NONE);
        let field = FieldPlan { tag, alt, mask: 0, op, flags, index, slot: index, oneof, sub };
        Ok((field, default))
    }

    fn find(&self, name: &str) -> Option<TypeRef> {
        self.new.names.get(name).or_else(|| self.set.names.get(name)).copied()
    }

    fn enum_at(&self, index: u32) -> Option<&EnumPlan> {
        let index = index as usize;
        match index.checked_sub(self.set.enums.len()) {
            Some(new) => self.new.enums.get(new),
            None => self.set.enums.get(index),
        }
        .map(|e| &**e)
    }
}

/// What a message's fields are compiled with.
struct Context {
    linked: MessageDescriptor,
    proto3: bool,
    map_entry: bool,
    /// Full names of the entry messages within it.
    entries: HashSet<String>,
    /// For each declared oneof its position in the plan.
    oneof_of: Vec<Option<u16>>,
}

/// A oneof's name, and its members' positions.
pub(super) type Oneof = (Box<str>, Vec<u16>);

fn is_map_entry(message: &DescriptorProto) -> bool {
    message.options.as_ref().is_some_and(|o| o.map_entry())
}

/// The oneofs that are not merely how proto3 `optional` is written, their members to be
/// filled in, and for each declared one its position among them.
fn real_oneofs(message: &DescriptorProto) -> (Vec<Oneof>, Vec<Option<u16>>) {
    // For each declared one the members, and how many are proto3 optional.
    let mut counts = vec![(0usize, 0usize); message.oneof_decl.len()];
    for field in &message.field {
        let index = field.oneof_index.and_then(|i| usize::try_from(i).ok());
        if let Some((members, optional)) = index.and_then(|i| counts.get_mut(i)) {
            *members = members.saturating_add(1);
            *optional = optional.saturating_add(field.proto3_optional().into());
        }
    }
    let mut oneofs = Vec::new();
    let positions = message
        .oneof_decl
        .iter()
        .zip(counts)
        .map(|(oneof, count)| {
            if matches!(count, (0, _) | (1, 1)) {
                return None;
            }
            let position = u16::try_from(oneofs.len()).ok()?;
            oneofs.push((Box::from(oneof.name()), Vec::new()));
            Some(position)
        })
        .collect();
    (oneofs, positions)
}

impl MessagePlan {
    /// A plan of `fields`, which are in number order and have everything but their bits.
    pub(super) fn assemble(
        index: u32,
        name: &str,
        mut fields: Vec<FieldPlan>,
        names: Vec<Box<str>>,
        defaults: Vec<Default>,
        oneofs: Vec<Oneof>,
    ) -> MessagePlan {
        assign_bits(&mut fields);
        fields.iter_mut().for_each(mark_plain);
        let mask = |members: &[u16]| {
            members.iter().filter_map(|m| fields.get(usize::from(*m))).fold(0, |mask, f| mask | f.mask)
        };
        let oneofs = oneofs
            .into_iter()
            .map(|(name, members)| OneofPlan { name, mask: mask(&members), members: members.into() })
            .collect();
        let required = fields.iter().filter(|f| f.flags.has(Flags::REQUIRED));
        MessagePlan {
            id: next_id(),
            index,
            name: name.into(),
            required: required.clone().fold(0, |mask, f| mask | f.mask),
            required_unmarked: required.clone().any(|f| f.mask == 0),
            map_entry: false,
            message_set: false,
            dense: dense(&fields),
            by_name: names.iter().cloned().zip(0..).collect(),
            fields: fields.into(),
            names: names.into(),
            defaults: defaults.into(),
            oneofs,
        }
    }
}

/// Bits go first where lacking one costs most.
fn assign_bits(fields: &mut [FieldPlan]) {
    let rank = |f: &FieldPlan| match f.op {
        _ if f.flags.has(Flags::REQUIRED) => 0,
        _ if f.flags.has(Flags::ONEOF) => 1,
        _ if f.repeated() => 2,
        Op::Message | Op::Group => 2,
        _ => 3,
    };
    let mut masks = (0..u64::BITS).map(|bit| 1 << bit);
    for wanted in 0..=3 {
        for field in fields.iter_mut().filter(|f| rank(f) == wanted) {
            field.mask = masks.next().unwrap_or(0);
        }
    }
}

fn mark_plain(field: &mut FieldPlan) {
    let special = Flags::REPEATED.with(Flags::ONEOF).with(Flags::CLOSED);
    if field.mask != 0 && !field.flags.has(special) && !matches!(field.op, Op::Message | Op::Group | Op::Map) {
        field.flags = field.flags.with(Flags::PLAIN);
    }
}

/// The table of positions by number, as far as it is well filled or small.
fn dense(fields: &[FieldPlan]) -> Box<[u16]> {
    let limit = fields.len().saturating_mul(4).max(64);
    let mut table = Vec::new();
    for field in fields {
        let number = field.number() as usize;
        if number <= limit {
            table.resize(number, MessagePlan::NONE);
            table.push(field.index);
        }
    }
    table.into()
}

fn full_name(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_string() } else { format!("{scope}.{name}") }
}

fn position(len: usize) -> Result<u32> {
    u32::try_from(len).map_err(|_| SchemaError("too many types".into()))
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
