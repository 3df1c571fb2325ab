//! All that can be asked of what is registered.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use prost::encoding::encode_varint;
use protobuf_lua::format::{json, text};
use protobuf_lua::kernel::Budget;
use protobuf_lua::schema::{FieldPlan, MessagePlan, Named, Op, Pattern, Registry, Types};

use crate::round::{Format, Round};

/// So many types are looked at, and so many members of each.
const MOST_TYPES: usize = 24;
const MOST_MEMBERS: usize = 24;

static BUILT_IN: LazyLock<Arc<Types>> = LazyLock::new(|| Registry::new().types().clone());

/// Asks everything about the types that `types` has beside the built-in ones, and uses them.
pub fn ask(types: &Types) {
    for name in types.names(Named::Any, false).into_iter().take(MOST_TYPES) {
        member(types, name, None);
        match (types.find_message(name), types.find_enum(name)) {
            (Some(m), _) => message(types, m),
            (None, Some(e)) => {
                let values = types.values(name).expect("an enum has values");
                assert!(!values.is_empty(), "{name} has no value");
                for value in values.iter().take(MOST_MEMBERS) {
                    assert_eq!(e.number(&value.name), Some(value.number), "{name}.{}", value.name);
                    let first = e.name(value.number).expect("it has a name");
                    assert_eq!(e.number(first), Some(value.number));
                    member(types, name, Some(&value.name));
                }
            }
            (None, None) => {
                for method in types.methods(name).expect("what is no type is a service").iter().take(MOST_MEMBERS) {
                    assert!(types.find_message(&method.input).is_some(), "{}", method.input);
                    assert!(types.find_message(&method.output).is_some(), "{}", method.output);
                    member(types, name, Some(&method.name));
                }
            }
        }
    }
    for built_in in BUILT_IN.names(Named::Type, true) {
        assert!(types.find(built_in).is_some(), "{built_in} is gone");
    }
}

/// Options and comment, of what is known to be there.
fn member(types: &Types, name: &str, member: Option<&str>) {
    let told = || format!("{name} {member:?}");
    types.comment(name, member).unwrap_or_else(|e| panic!("{}: {}", told(), e.0));
    let options = types.options(name, member).unwrap_or_else(|e| panic!("{}: {}", told(), e.0));
    let plan = types.find_message(&options.plan.name).expect("options have a type");
    if options.bytes.is_empty() {
        return;
    }
    for round in rounds(types) {
        round.bytes(plan, &options.bytes, LITTLE);
    }
}

const LITTLE: Budget = Budget { depth: 3, bytes: 1 << 12 };

fn rounds(types: &Types) -> impl Iterator<Item = Round<'_>> {
    let every = json::Style { defaults: true, proto_names: true, enum_numbers: true, ..Default::default() };
    let formats = [
        Format::Json { style: json::Style::default(), ignore_unknown: false },
        Format::Json { style: every, ignore_unknown: true },
        Format::Text(text::Style::default()),
    ];
    let round = |format| Round { types, format, required: false, utf8: true, sort_maps: true };
    formats.into_iter().filter(|format| matches!(format, Format::Json { .. }) || !has_digits(types)).map(round)
}

/// Whether a name may begin with a digit, as descriptors can have it, and text cannot.
fn has_digits(types: &Types) -> bool {
    let digit = |name: &str| name.split('.').any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let fields = types.messages().any(|m| m.names.iter().any(|name| digit(name)));
    fields || types.names(Named::Any, false).iter().any(|name| digit(name) || has_digit_value(types, name, digit))
}

fn has_digit_value(types: &Types, name: &str, digit: impl Fn(&str) -> bool) -> bool {
    types.find_enum(name).is_some_and(|e| e.values().any(|(name, _)| digit(name)))
}

fn message(types: &Types, m: &MessagePlan) {
    let name = &*m.name;
    let fields = types.fields(name).expect("it has fields");
    assert_eq!(fields.len(), m.fields.len(), "{name}");
    let mut pattern = name.to_owned();
    for (at, field) in fields.iter().take(MOST_MEMBERS).enumerate() {
        let plan = m.by_number(field.plan.number()).expect("a field is found by its number");
        assert_eq!(plan.index, field.plan.index, "{name}.{}", field.name);
        let found = m.by_name(&field.name).expect("a field is found by its name");
        assert_eq!(found.index, plan.index, "{name}.{}", field.name);
        member(types, name, Some(&field.name));
        for name in [&field.value.type_name, &entry_type(field, 0), &entry_type(field, 1)].into_iter().flatten() {
            assert!(types.find(name).is_some(), "{name} is not registered");
        }
        if at < 8 {
            pattern.push(' ');
            pattern.push_str(m.name_of(plan));
        }
    }
    let compiled = Pattern::compile(types, &pattern).unwrap_or_else(|e| panic!("{pattern}: {}", e.0));
    assert_eq!(usize::from(compiled.count), fields.len().min(8), "{pattern}");
    let _ = types.reserved_names(name).count();
    let names = types.json_names(m);
    for (at, plan) in m.fields.iter().enumerate().take(MOST_MEMBERS) {
        let found = names.field(m, names.key(plan), at).expect("a field is found by its key");
        assert_eq!(found.index, plan.index, "{name}: {}", names.key(plan));
    }
    let bytes: Vec<u8> = m.fields.iter().take(MOST_MEMBERS).flat_map(|f| sample(types, f)).collect();
    let twice = [&*bytes, &bytes].concat();
    for round in rounds(types) {
        round.bytes(m, &bytes, LITTLE);
        round.bytes(m, &twice, LITTLE);
        round.text(m, b"{}", LITTLE);
    }
}

fn entry_type(field: &protobuf_lua::schema::Field, part: usize) -> Option<Arc<str>> {
    field.entry.as_ref()?.get(part)?.type_name.clone()
}

/// A value of the field, as the wire has it.
fn sample(types: &Types, f: &FieldPlan) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_varint(f.element_tag().into(), &mut bytes);
    match f.element_tag() & 7 {
        0 => bytes.push(1),
        1 => bytes.extend([1, 0, 0, 0, 0, 0, 0xf0, 0x3f]),
        2 => match f.op {
            Op::Map => {
                let entry = types.set.message(f.sub).expect("a map has entries");
                let entry: Vec<u8> = entry.fields.iter().flat_map(sample_of_entry).collect();
                encode_varint(entry.len() as u64, &mut bytes);
                bytes.extend(entry);
            }
            Op::Message => bytes.push(0),
            _ => bytes.extend(b"\x01a"),
        },
        3 => encode_varint((f.element_tag() + 1).into(), &mut bytes),
        5 => bytes.extend([0, 0, 0x80, 0x3f]),
        wire => panic!("wire type {wire}"),
    }
    bytes
}

fn sample_of_entry(f: &FieldPlan) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_varint(f.element_tag().into(), &mut bytes);
    match f.element_tag() & 7 {
        0 => bytes.push(1),
        1 => bytes.extend([0; 8]),
        2 => bytes.push(0),
        _ => bytes.extend([0; 4]),
    }
    bytes
}

/// What `types` has beside the built-in types, so that it can be compared with that of another registry.
pub fn summary(types: &Types) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for name in types.names(Named::Any, false) {
        let told = match (types.find_message(name), types.find_enum(name)) {
            (Some(m), _) => {
                let fields = types.fields(name).expect("it has fields");
                let fields = fields.iter().map(|f| {
                    let p = &f.plan;
                    let plan = (p.tag, p.alt, p.op, p.flags.0, p.index, f.is_extension());
                    let read = (f.packed, f.presence, &f.default, &f.oneof, &f.json_name);
                    format!("{:?}", (&f.name, &f.value, f.label, &f.entry, read, plan))
                });
                let fields: Vec<String> = fields.collect();
                format!("{fields:?} {} {}", m.message_set, m.required_unmarked)
            }
            (None, Some(_)) => format!("{:?}", types.values(name)),
            (None, None) => format!("{:?}", types.methods(name)),
        };
        all.insert(name.to_string(), told);
    }
    all
}
