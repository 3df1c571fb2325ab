//! Every fact of a plan, against what protoc's documentation says of the source.

use super::registry;
use crate::schema::{Default, FieldPlan, Flags, MessagePlan, Op, Registry, TypeRef, Types};

pub(super) const REPEATED: u16 = Flags::REPEATED.0;
pub(super) const PACKED: u16 = Flags::PACKED.0;
pub(super) const UTF8: u16 = Flags::UTF8.0;
pub(super) const PRESENCE: u16 = Flags::PRESENCE.0;
pub(super) const REQUIRED: u16 = Flags::REQUIRED.0;
pub(super) const ONEOF: u16 = Flags::ONEOF.0;
pub(super) const CLOSED: u16 = Flags::CLOSED.0;
pub(super) const GROUP_LIKE: u16 = Flags::GROUP_LIKE.0;
pub(super) const EXTENSION: u16 = Flags::EXTENSION.0;

/// Name, tag, other tag, op and flags of each field; `PLAIN` follows from the rest.
pub(super) fn facts(plan: &MessagePlan) -> Vec<(&str, u32, u32, Op, u16)> {
    let flags = |f: &FieldPlan| f.flags.0 & !Flags::PLAIN.0;
    plan.fields.iter().map(|f| (plan.name_of(f), f.tag, f.alt, f.op, flags(f))).collect()
}

pub(super) fn message<'a>(types: &'a Types, name: &str) -> &'a MessagePlan {
    types.find_message(name).unwrap()
}

#[test]
fn fields_of_proto2() {
    let r = registry(
        r#"syntax = "proto2";
        message M {
            required int32 need = 2;
            optional string text = 1;
            repeated sint64 list = 3;
            repeated fixed32 fixed = 4 [packed = true];
            repeated string texts = 5;
            optional group Part = 6 { optional bool b = 1; }
            repeated group Parts = 7 {}
            optional M self = 8;
            oneof choice { double x = 9; E e = 10; }
            enum E { ONE = 1; }
            repeated E es = 11 [packed = true];
            map<string, E> by_name = 12;
            optional float far = 536870911;
        }"#,
    );
    let types = r.types();
    let m = message(types, ".M");
    assert_eq!(
        facts(m),
        [
            ("text", 1 << 3 | 2, 0, Op::String, PRESENCE),
            ("need", 2 << 3, 0, Op::Int32, PRESENCE | REQUIRED),
            ("list", 3 << 3, 3 << 3 | 2, Op::Sint64, REPEATED),
            ("fixed", 4 << 3 | 2, 4 << 3 | 5, Op::Fixed32, REPEATED | PACKED),
            ("texts", 5 << 3 | 2, 0, Op::String, REPEATED),
            ("part", 6 << 3 | 3, 0, Op::Group, PRESENCE | GROUP_LIKE),
            ("parts", 7 << 3 | 3, 0, Op::Group, REPEATED | GROUP_LIKE),
            ("self", 8 << 3 | 2, 0, Op::Message, PRESENCE),
            ("x", 9 << 3 | 1, 0, Op::Double, PRESENCE | ONEOF),
            ("e", 10 << 3, 0, Op::Enum, PRESENCE | ONEOF | CLOSED),
            ("es", 11 << 3 | 2, 11 << 3, Op::Enum, REPEATED | PACKED | CLOSED),
            ("by_name", 12 << 3 | 2, 0, Op::Map, REPEATED),
            ("far", 536870911 << 3 | 5, 0, Op::Float, PRESENCE),
        ]
    );
    assert_eq!(m.required, m.by_name("need").unwrap().mask);
    assert!(!m.required_unmarked && !m.map_entry);
    let field = |name| m.by_name(name).unwrap();
    let sub = |name| &*types.set.message(field(name).sub).unwrap().name;
    assert_eq!((sub("part"), sub("parts"), sub("self"), sub("by_name")), ("M.Part", "M.Parts", "M", "M.ByNameEntry"));
    assert_eq!(&*types.set.enumeration(field("e").sub).unwrap().name, "M.E");

    let entry = message(types, "M.ByNameEntry");
    assert!(entry.map_entry);
    assert_eq!(
        facts(entry),
        [("key", 1 << 3 | 2, 0, Op::String, PRESENCE), ("value", 2 << 3, 0, Op::Enum, PRESENCE | CLOSED)]
    );
    assert_eq!(&*entry.defaults, [Default::Bytes(Box::from([])), Default::Enum(1)]);

    let [oneof] = &*m.oneofs else { panic!() };
    assert_eq!((&*oneof.name, &*oneof.members, oneof.mask), ("choice", &[8, 9][..], field("x").mask | field("e").mask));
    assert_eq!((field("x").oneof, field("need").oneof), (0, MessagePlan::NONE));
    assert!(m.fields.iter().zip(0..).all(|(f, i)| f.index == i && f.slot == i));
    assert_eq!(m.by_number(12).map(|f| f.index), Some(11));
    assert_eq!(m.by_number(536870911).map(|f| f.index), Some(12));
    for absent in [0, 13, 64, 65, 1000, 536870910] {
        assert!(m.by_number(absent).is_none(), "{absent}");
    }
}

#[test]
fn fields_of_proto3() {
    let r = registry(
        r#"syntax = "proto3";
        package p.q;
        message M {
            int32 implicit = 1;
            optional int32 explicit = 2;
            string text = 3;
            bytes data = 4;
            repeated bool bits = 5;
            repeated E loose = 6 [packed = false];
            M self = 7;
            oneof one { string a = 8; }
            map<int64, M> tree = 9;
            repeated string texts = 10;
            optional M maybe = 11;
            E e = 12;
            map<string, bytes> blobs = 13;
        }
        enum E { ZERO = 0; }"#,
    );
    let types = r.types();
    let m = message(types, "p.q.M");
    assert_eq!(
        facts(m),
        [
            ("implicit", 8, 0, Op::Int32, 0),
            ("explicit", 16, 0, Op::Int32, PRESENCE),
            ("text", 26, 0, Op::String, UTF8),
            ("data", 34, 0, Op::Bytes, 0),
            ("bits", 42, 40, Op::Bool, REPEATED | PACKED),
            ("loose", 48, 50, Op::Enum, REPEATED),
            ("self", 58, 0, Op::Message, PRESENCE),
            ("a", 66, 0, Op::String, UTF8 | PRESENCE | ONEOF),
            ("tree", 74, 0, Op::Map, REPEATED),
            ("texts", 82, 0, Op::String, REPEATED | UTF8),
            ("maybe", 90, 0, Op::Message, PRESENCE),
            ("e", 96, 0, Op::Enum, 0),
            ("blobs", 106, 0, Op::Map, REPEATED),
        ]
    );
    assert_eq!(m.oneofs.iter().map(|o| (&*o.name, &*o.members)).collect::<Vec<_>>(), [("one", &[7][..])]);
    assert_eq!(
        facts(message(types, "p.q.M.TreeEntry")),
        [("key", 8, 0, Op::Int64, PRESENCE), ("value", 18, 0, Op::Message, PRESENCE)]
    );
    assert_eq!(
        facts(message(types, "p.q.M.BlobsEntry")),
        [("key", 10, 0, Op::String, UTF8 | PRESENCE), ("value", 18, 0, Op::Bytes, PRESENCE)]
    );
    assert_eq!(types.find("p.q"), None);
    assert!(matches!(types.find("p.q.E"), Some(TypeRef::Enum(_))));
}

#[test]
fn declared_defaults() {
    let mut registry = Registry::new();
    registry.register(include_bytes!("../../../descriptors/every2.pb")).unwrap();
    let all = message(registry.types(), "every2.All");
    let default = |name: &str| &all.defaults[usize::from(all.by_name(name).unwrap().index)];
    let expected = [
        ("o_double", Default::Number(0.0)),
        ("o_int32", Default::Int(0)),
        ("o_fixed64", Default::Uint(0)),
        ("o_bool", Default::Bool(false)),
        ("o_string", Default::Bytes(Box::from([]))),
        ("o_color", Default::Enum(0)),
        ("o_inner", Default::None),
        ("ogroup", Default::None),
        ("r_int32", Default::None),
        ("k_int32", Default::None),
        ("signed", Default::Enum(-1)),
        ("d_double", Default::Number(-2.5e100)),
        ("d_float", Default::Number(1.5)),
        ("d_int32", Default::Int(-42)),
        ("d_int64", Default::Int(i64::MIN)),
        ("d_uint32", Default::Int(4294967295)),
        ("d_uint64", Default::Uint(u64::MAX)),
        ("d_sint32", Default::Int(-2147483648)),
        ("d_sint64", Default::Int(9007199254740993)),
        ("d_bool", Default::Bool(true)),
        ("d_string", Default::Bytes(Box::from(*b"a\"b\\c\n\t\x01\xc3\xa9'?"))),
        ("d_bytes", Default::Bytes(Box::from(*b"\x00\xff\x80abc\n"))),
        ("d_color", Default::Enum(2)),
        ("d_inf", Default::Number(f64::INFINITY)),
        ("d_minus_inf", Default::Number(f64::NEG_INFINITY)),
    ];
    for (name, value) in expected {
        assert_eq!(default(name), &value, "{name}");
    }
    assert!(matches!(default("d_nan"), Default::Number(n) if n.is_nan()));
}

#[test]
fn enums() {
    let r = registry(
        r#"syntax = "proto2";
        enum E { option allow_alias = true; TWO = 2; MINUS = -1; ZWEI = 2; FAR = 2147483647; }"#,
    );
    let e = r.types().find_enum("E").unwrap();
    assert_eq!(&*e.numbers, [-1, 2, 2147483647]);
    assert_eq!(e.names.iter().map(|n| &**n).collect::<Vec<_>>(), ["MINUS", "TWO", "FAR"]);
    assert_eq!((e.first, e.closed), (2, true));
    assert_eq!((e.number("ZWEI"), e.number("TWO"), e.number("DREI")), (Some(2), Some(2), None));
    assert_eq!((e.name(2), e.name(-1), e.name(2147483647), e.name(3)), (Some("TWO"), Some("MINUS"), Some("FAR"), None));
    assert_eq!(e.values().count(), 4);
}

#[test]
fn bits_go_to_those_that_need_them_most() {
    let mut source = String::from("syntax = \"proto2\"; message M {\n");
    for i in 1..=40 {
        source += &format!("optional int32 plain{i} = {i};\nrepeated int32 list{i} = {};\n", 100 + i);
    }
    source += "required int32 need = 200; oneof o { int32 a = 300; int32 b = 301; } optional M sub = 400; }";
    let r = registry(&source);
    let m = message(r.types(), "M");
    let bit = |name: &str| m.by_name(name).unwrap().mask.trailing_zeros();
    assert_eq!((bit("need"), bit("a"), bit("b"), bit("list1"), bit("list40"), bit("sub")), (0, 1, 2, 3, 42, 43));
    assert_eq!((bit("plain1"), bit("plain20"), bit("plain21")), (44, 63, u64::BITS));
    assert_eq!(m.by_name("plain21").unwrap().mask, 0);
    assert_eq!((m.required, m.required_unmarked), (1, false));
    assert_eq!(m.oneofs[0].mask, 0b110);

    let fields: String = (1..=65).map(|i| format!("required int32 f{i} = {i};")).collect();
    let r = registry(&format!("syntax = \"proto2\"; message M {{ {fields} }}"));
    let m = message(r.types(), "M");
    assert_eq!((m.required, m.required_unmarked), (u64::MAX, true));
}

#[test]
fn the_largest_oneofs_without_bits_are_remembered() {
    let mut numbers = 1..;
    let oneof = |members: usize| {
        let members: String = numbers.by_ref().take(members).map(|i| format!("int32 a{i} = {i};")).collect();
        format!("oneof o{} {{ {members} }}", members.len())
    };
    let oneofs: String = [64, 5, 2, 8, 3, 9, 4, 10, 6, 11, 7].map(oneof).concat();
    let r = registry(&format!("syntax = \"proto3\"; message M {{ {oneofs} }}"));
    let mut remembered: Vec<_> =
        message(r.types(), "M").oneofs.iter().map(|o| (o.members.len(), o.remembered)).collect();
    remembered.sort();
    let largest = (4..=11).zip((0..8).rev().map(Some));
    let expected: Vec<_> = [(2, None), (3, None)].into_iter().chain(largest).chain([(64, None)]).collect();
    assert_eq!(remembered, expected);
}

#[test]
fn every_field_is_found_by_number_and_name() {
    for bytes in [
        &include_bytes!("../../../descriptors/every2.pb")[..],
        include_bytes!("../../../descriptors/every3.pb"),
        include_bytes!("../../../descriptors/order.pb"),
    ] {
        let mut registry = Registry::new();
        registry.register(bytes).unwrap();
        let types = registry.types();
        let mut ids = std::collections::HashSet::new();
        for (plan, index) in types.set.messages.iter().zip(0..) {
            assert_eq!(plan.index, index);
            assert_eq!(types.find(&plan.name), Some(TypeRef::Message(index)));
            assert!(ids.insert(plan.id));
            assert!(plan.fields.is_sorted_by_key(FieldPlan::number));
            for field in &plan.fields {
                assert_eq!(plan.by_number(field.number()).map(|f| f.index), Some(field.index));
                assert_eq!(plan.by_name(plan.name_of(field)).map(|f| f.index), Some(field.index));
                let nested = matches!(field.op, Op::Message | Op::Group | Op::Map);
                let special = field.flags.has(Flags::REPEATED.with(Flags::ONEOF).with(Flags::CLOSED));
                assert_eq!(field.flags.has(Flags::PLAIN), field.mask != 0 && !nested && !special);
                match field.op {
                    Op::Enum => assert!(types.set.enumeration(field.sub).is_some()),
                    Op::Message | Op::Group => assert!(types.set.message(field.sub).is_some()),
                    Op::Map => assert!(types.set.message(field.sub).unwrap().map_entry),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn message_sets_have_no_fields() {
    let r = registry("syntax = \"proto2\"; message M { option message_set_wire_format = true; extensions 4 to max; }");
    assert_eq!(message(r.types(), "M").fields.len(), 0);
}
