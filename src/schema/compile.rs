//! Compiling: the plans of a file's types. Its names, and all that it imports, are in the set by then.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use super::check::{is_map_entry, scalar_op};
use super::default;
use super::editions::Scope;
use super::extend::Extension;
use super::features::{Features, Presence};
use super::hint::quoted;
use super::link::Names;
use super::plan::{Default, EnumPlan, FieldPlan, Flags, MessagePlan, OneofPlan, Op};
use super::set::Symbol;
use crate::error::SchemaError;
use crate::wire::{WireType, tag};

type Result<T> = std::result::Result<T, SchemaError>;

/// What a file adds to its set.
#[derive(std::default::Default)]
pub(super) struct Compiled {
    /// The plans of its messages, in the order in which they were declared.
    pub(super) messages: Vec<Arc<MessagePlan>>,
    pub(super) extensions: Vec<Extension>,
}

/// Compiles the messages and extensions of `file`, which is `own`, and looks at its services.
pub(super) fn compile(names: &Names, file: &FileDescriptorProto, own: Scope) -> Result<Compiled> {
    let mut compiler = Compiler { names, file, new: Compiled::default() };
    for (at, message) in file.message_type.iter().enumerate() {
        compiler.message(message, file.package(), own.message(at))?;
    }
    compiler.extensions(&file.extension, file.package(), own)?;
    for service in &file.service {
        let scope = full_name(file.package(), service.name());
        for method in &service.method {
            for name in [method.input_type(), method.output_type()] {
                names.message(&scope, name).map_err(|e| compiler.fail(&scope, method.name(), &e))?;
            }
        }
    }
    Ok(compiler.new)
}

/// The plan of an enum called `name`.
pub(super) fn enumeration(proto: &EnumDescriptorProto, name: Arc<str>, closed: bool) -> EnumPlan {
    // The sort is stable, so of each number's names the first declared one is kept.
    let mut values: Vec<_> = proto.value.iter().map(|v| (v.number(), v.name())).collect();
    values.sort_by_key(|(number, _)| *number);
    values.dedup_by_key(|(number, _)| *number);
    EnumPlan {
        id: next_id(),
        name,
        numbers: values.iter().map(|(number, _)| *number).collect(),
        names: values.iter().map(|(_, name)| Box::from(*name)).collect(),
        first: proto.value.first().map_or(0, |v| v.number()),
        closed,
        by_name: proto.value.iter().map(|v| (Box::from(v.name()), v.number())).collect(),
    }
}

struct Compiler<'a> {
    names: &'a Names<'a>,
    file: &'a FileDescriptorProto,
    new: Compiled,
}

impl Compiler<'_> {
    fn fail(&self, scope: &str, name: &str, what: &str) -> SchemaError {
        SchemaError(format!("{}: {}: {what}", self.file.name(), full_name(scope, name)))
    }

    fn message(&mut self, message: &DescriptorProto, scope: &str, own: Scope) -> Result<()> {
        let name = full_name(scope, message.name());
        let within = |what: &str| SchemaError(format!("{}: {name}: {what}", self.file.name()));
        let Some((name, (Symbol::Message(index), _))) = self.names.set().names.get(&name) else {
            return Err(within("is not declared"));
        };
        let (mut oneofs, oneof_of) = real_oneofs(message);
        let context = Context {
            scope: name,
            map_entry: is_map_entry(message),
            entries: message
                .nested_type
                .iter()
                .filter(|nested| is_map_entry(nested))
                .map(|nested| nested.name())
                .collect(),
            oneof_of,
        };

        let fields = message.field.iter().enumerate();
        let mut declared: Vec<_> = fields.map(|(at, field)| (field, own.field(at, field))).collect();
        declared.sort_by_key(|(field, _)| field.number());
        let mut pairs = declared.iter().zip(declared.iter().skip(1));
        if let Some((_, (twice, _))) = pairs.find(|((a, _), (b, _))| a.number() == b.number()) {
            let what = format!("field number '{}' is already used", twice.number());
            return Err(self.fail(name, twice.name(), &what));
        }
        let mut fields = Vec::with_capacity(declared.len());
        let mut defaults = Vec::with_capacity(declared.len());
        for ((proto, own), index) in declared.iter().zip(0u16..) {
            let compiled = self.field(proto, index, *own, &context);
            let (field, default) = compiled.map_err(|e| self.fail(name, proto.name(), &e))?;
            if field.flags.has(Flags::ONEOF)
                && let Some((_, members)) = oneofs.get_mut(usize::from(field.oneof))
            {
                members.push(index);
            }
            fields.push(field);
            defaults.push(default);
        }
        let names = declared.iter().map(|(f, _)| Box::from(f.name())).collect();
        let mut plan = MessagePlan::assemble(index, name.clone(), fields, names, defaults, oneofs);
        plan.map_entry = context.map_entry;
        plan.message_set = message.options.as_ref().is_some_and(|o| o.message_set_wire_format());
        plan.extension_ranges = extension_ranges(message);
        if let Some((field, _)) = declared.iter().find(|(f, _)| plan.is_extension_number(f.number())) {
            return Err(self.fail(name, field.name(), "its number is one of extensions"));
        }
        if plan.message_set && !declared.is_empty() {
            return Err(within("a message set has no fields of its own"));
        }
        self.new.messages.push(Arc::new(plan));
        for (at, nested) in message.nested_type.iter().enumerate() {
            self.message(nested, name, own.message(at))?;
        }
        self.extensions(&message.extension, name, own)
    }

    fn extensions(&mut self, extensions: &[FieldDescriptorProto], scope: &str, outer: Scope) -> Result<()> {
        for (at, proto) in extensions.iter().enumerate() {
            let fail = |what: String| self.fail(scope, proto.name(), &what);
            let (_, extendee) = self.names.message(scope, proto.extendee()).map_err(fail)?;
            let context = Context { scope, map_entry: false, entries: HashSet::new(), oneof_of: Vec::new() };
            let own = outer.extension(at, proto);
            let (mut field, default) = self.field(proto, 0, own, &context).map_err(fail)?;
            field.flags = field.flags.with(Flags::EXTENSION);
            let name = full_name(scope, proto.name()).into();
            self.new.extensions.push(Extension { extendee, field, name, default });
        }
        Ok(())
    }

    /// What the values of a field are.
    fn field_type(
        &self,
        proto: &FieldDescriptorProto,
        features: Features,
        context: &Context,
    ) -> std::result::Result<FieldType<'_>, String> {
        let declared = proto.r#type.and_then(|t| Type::try_from(t).ok());
        if proto.type_name().is_empty() {
            let op = declared.and_then(scalar_op).ok_or("has no type")?;
            return Ok(FieldType { op, sub: 0, enumeration: None, group_like: false });
        }
        let (name, symbol) = self.names.resolve(context.scope, proto.type_name())?;
        match (symbol, declared) {
            (Symbol::Message(sub), Some(Type::Message | Type::Group) | None) => {
                let op = match declared {
                    Some(Type::Group) => Op::Group,
                    _ if proto.label() == Label::Repeated && context.is_entry(name) => Op::Map,
                    // What maps hold is never a group.
                    _ if features.delimited && !context.map_entry => Op::Group,
                    _ => Op::Message,
                };
                let group_like = op == Op::Group && context.has_beside(name, proto.name()) && self.names.own(name);
                Ok(FieldType { op, sub, enumeration: None, group_like })
            }
            (Symbol::Enum(sub), Some(Type::Enum) | None) => {
                let enumeration = self.names.set().enumeration(sub);
                Ok(FieldType { op: Op::Enum, sub, enumeration, group_like: false })
            }
            (Symbol::Message(_), _) => Err(format!("{name} is no enum")),
            (_, _) => Err(format!("{name} is no message")),
        }
    }

    fn field(
        &self,
        proto: &FieldDescriptorProto,
        index: u16,
        own: Scope,
        context: &Context,
    ) -> std::result::Result<(FieldPlan, Default), String> {
        let features = own.features;
        let number = proto.number().cast_unsigned();
        let repeated = proto.label() == Label::Repeated;
        let FieldType { op, sub, enumeration, group_like } = self.field_type(proto, features, context)?;

        let oneof = proto.oneof_index.and_then(|i| context.oneof_of.get(usize::try_from(i).ok()?).copied().flatten());
        let packed = repeated && op.packable() && features.packed;
        let message = matches!(op, Op::Message | Op::Group);
        let explicit = message || oneof.is_some() || proto.extendee.is_some();
        let implicit = features.presence == Presence::Implicit && !repeated && !explicit;
        let closed = enumeration.is_some_and(|e| e.closed);
        if let Some(what) = own.refuses_type(op, closed, implicit, context.map_entry) {
            return Err(what.into());
        }
        let presence = !repeated && (!implicit || context.map_entry);
        let required = !repeated && features.presence == Presence::Required && !context.map_entry;
        let flags = [
            (repeated, Flags::REPEATED),
            (packed, Flags::PACKED),
            (op == Op::String && features.utf8, Flags::UTF8),
            (presence, Flags::PRESENCE),
            (required, Flags::REQUIRED),
            (oneof.is_some(), Flags::ONEOF),
            (closed, Flags::CLOSED),
            (group_like, Flags::GROUP_LIKE),
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
}

/// What the values of a field are.
struct FieldType<'a> {
    op: Op,
    /// The type's position, if it has a name.
    sub: u32,
    enumeration: Option<&'a EnumPlan>,
    group_like: bool,
}

/// What a message's fields are compiled with.
struct Context<'a> {
    /// The full name of the message, or of what an extension stands in.
    scope: &'a str,
    map_entry: bool,
    /// Names of the entry messages within it.
    entries: HashSet<&'a str>,
    /// For each declared oneof its position in the plan.
    oneof_of: Vec<Option<u16>>,
}

impl Context<'_> {
    /// Whether the type called `name` stands where `field` does, which has its name in lower case.
    fn has_beside(&self, name: &str, field: &str) -> bool {
        let (scope, last) = name.rsplit_once('.').unwrap_or(("", name));
        scope == self.scope && last.to_ascii_lowercase() == field
    }

    /// Whether the message called `name` is one of the entry messages within this one.
    fn is_entry(&self, name: &str) -> bool {
        let nested = name.strip_prefix(self.scope).and_then(|rest| rest.strip_prefix('.'));
        nested.is_some_and(|nested| self.entries.contains(nested))
    }
}

/// A oneof's name, and its members' positions.
pub(super) type Oneof = (Box<str>, Vec<u16>);

/// Ascending, and joined where they overlap.
fn extension_ranges(message: &DescriptorProto) -> Box<[(i32, i32)]> {
    let mut ranges: Vec<_> = message.extension_range.iter().map(|r| (r.start(), r.end())).collect();
    ranges.sort_unstable();
    ranges.dedup_by(|next, range| {
        let overlap = next.0 <= range.1;
        if overlap {
            range.1 = range.1.max(next.1);
        }
        overlap
    });
    ranges.into()
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
        name: Arc<str>,
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
        let mut oneofs: Box<[_]> = oneofs
            .into_iter()
            .map(|(name, members)| OneofPlan { name, mask: mask(&members), members: members.into(), remembered: None })
            .collect();
        remember_largest(&mut oneofs);
        let required = fields.iter().filter(|f| f.flags.has(Flags::REQUIRED));
        MessagePlan {
            id: next_id(),
            index,
            name,
            required: required.clone().fold(0, |mask, f| mask | f.mask),
            required_unmarked: required.clone().any(|f| f.mask == 0),
            map_entry: false,
            message_set: false,
            dense: dense(&fields),
            by_name: by_name(&fields, &names),
            extension_ranges: Box::default(),
            json: OnceLock::new(),
            fields: fields.into(),
            names: names.into(),
            defaults: defaults.into(),
            oneofs,
        }
    }
}

/// Positions by names; extensions have two.
fn by_name(fields: &[FieldPlan], names: &[Box<str>]) -> HashMap<Box<str>, u16> {
    let mut all: HashMap<_, _> = names.iter().cloned().zip(0..).collect();
    let extensions =
        fields.iter().zip(names).filter(|(f, name)| f.flags.has(Flags::EXTENSION) && !name.starts_with('['));
    all.extend(extensions.map(|(f, name)| (format!("[{name}]").into(), f.index)));
    all
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

/// Of the oneofs that lack bits, the largest ones are remembered.
fn remember_largest(oneofs: &mut [OneofPlan]) {
    for place in 0..OneofPlan::REMEMBERED as u8 {
        let others = oneofs.iter_mut().filter(|oneof| !oneof.marked() && oneof.remembered.is_none());
        // Of several, the first.
        if let Some(largest) = others.rev().max_by_key(|oneof| oneof.members.len()) {
            largest.remembered = Some(place);
        }
    }
}

fn mark_plain(field: &mut FieldPlan) {
    field.flags = Flags(field.flags.0 & !Flags::PLAIN.0);
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

pub(super) fn full_name(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_string() } else { format!("{scope}.{name}") }
}

pub(super) fn position(len: usize) -> Result<u32> {
    u32::try_from(len).map_err(|_| SchemaError("too many types".into()))
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
