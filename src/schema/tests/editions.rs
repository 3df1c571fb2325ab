//! Features of editions: what each definition gets, and what is refused.

use prost::Message;
use prost_types::descriptor_proto::ExtensionRange;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumOptions, FieldDescriptorProto, FieldOptions, FileDescriptorProto,
    MessageOptions, OneofDescriptorProto,
};

use super::make::{enumeration, field, file, message, part, refused, typed};
use super::plans::{
    CLOSED, EXTENSION, GROUP_LIKE, ONEOF, PACKED, PRESENCE, REPEATED, REQUIRED, UTF8, facts, message as plan,
};
use super::registry;
use crate::schema::{Op, Registry};

const EXPLICIT: &[u8] = &[1 << 3, 1];
const IMPLICIT: &[u8] = &[1 << 3, 2];
const LEGACY_REQUIRED: &[u8] = &[1 << 3, 3];
const OPEN: &[u8] = &[2 << 3, 1];
const CLOSE: &[u8] = &[2 << 3, 2];
const PACK: &[u8] = &[3 << 3, 1];
const EXPAND: &[u8] = &[3 << 3, 2];
const NO_UTF8: &[u8] = &[4 << 3, 3];
const DELIMITED: &[u8] = &[5 << 3, 2];

/// The bytes of `of`, with `features` in its options: the numbers are those of options and of features within.
fn with(of: &impl Message, (options, number): (u32, u32), features: &[u8]) -> Vec<u8> {
    let mut bytes = of.encode_to_vec();
    bytes.extend(part(options, &part(number, features)));
    bytes
}

fn field_with(field: &FieldDescriptorProto, features: &[u8]) -> Vec<u8> {
    part(2, &with(field, (8, 21), features))
}

/// The message M with `features`, and with `inner`, serialized parts of it.
fn m(features: &[u8], inner: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = with(&message("M", vec![]), (7, 12), features);
    bytes.extend(inner.concat());
    part(4, &bytes)
}

fn enum_with(proto: &EnumDescriptorProto, features: &[u8]) -> Vec<u8> {
    with(proto, (3, 7), features)
}

/// A file of edition 2023 with `features`, and with `inner`, serialized parts of it.
fn edition(features: &[u8], inner: &[Vec<u8>]) -> Vec<u8> {
    let editions = FileDescriptorProto { syntax: Some("editions".into()), ..file(vec![]) };
    let mut bytes = with(&editions, (8, 50), features);
    bytes.extend([14 << 3, 0xe8, 0x07]);
    bytes.extend(inner.concat());
    bytes
}

fn repeated(name: &str, number: i32, r#type: Type) -> FieldDescriptorProto {
    FieldDescriptorProto { label: Some(Label::Repeated as i32), ..field(name, number, r#type) }
}

fn registered(bytes: &[u8]) -> Registry {
    let mut registry = Registry::new();
    registry.register(bytes).unwrap();
    registry
}

/// The field `f` of M, a map, with its entries.
fn map(features: &[u8]) -> Vec<u8> {
    let entry = DescriptorProto {
        options: Some(MessageOptions { map_entry: Some(true), ..MessageOptions::default() }),
        ..message("FEntry", vec![field("key", 1, Type::Int32), field("value", 2, Type::String)])
    };
    let list = Some(Label::Repeated as i32);
    let map = FieldDescriptorProto { label: list, ..typed("f", 1, Type::Message, ".M.FEntry") };
    [field_with(&map, features), part(3, &entry.encode_to_vec())].concat()
}

/// The error for a message M with one field of these features, in a file with `others`.
fn field_error(field: &FieldDescriptorProto, features: &[u8], others: &[Vec<u8>]) -> String {
    let e = refused(&edition(&[], &[others.concat(), m(&[], &[field_with(field, features)])]));
    e.strip_prefix("x.proto: M.f: ").unwrap_or_else(|| panic!("{e}")).to_owned()
}

#[test]
fn what_the_edition_says() {
    let r = registered(include_bytes!("../../../descriptors/edition2023.pb"));
    assert_eq!(
        facts(plan(r.types(), "edition2023.Defaults")),
        [
            ("number", 1 << 3, 0, Op::Int32, PRESENCE),
            ("text", 2 << 3 | 2, 0, Op::String, PRESENCE | UTF8),
            ("open", 3 << 3, 0, Op::Enum, PRESENCE),
            ("packed", 4 << 3 | 2, 4 << 3, Op::Int32, REPEATED | PACKED),
            ("opens", 5 << 3 | 2, 5 << 3, Op::Enum, REPEATED | PACKED),
            ("texts", 6 << 3 | 2, 0, Op::String, REPEATED | UTF8),
            ("self", 7 << 3 | 2, 0, Op::Message, PRESENCE),
            ("map", 8 << 3 | 2, 0, Op::Map, REPEATED),
            ("a", 9 << 3, 0, Op::Int32, PRESENCE | ONEOF),
            ("b", 10 << 3 | 2, 0, Op::String, PRESENCE | ONEOF | UTF8),
            ("declared", 11 << 3, 0, Op::Int32, PRESENCE),
        ]
    );
    assert_eq!(
        facts(plan(r.types(), "edition2023.Required")),
        [
            ("id", 1 << 3, 0, Op::Int32, PRESENCE | REQUIRED),
            ("part", 2 << 3 | 2, 0, Op::Message, PRESENCE | REQUIRED),
            ("note", 3 << 3 | 2, 0, Op::String, PRESENCE | UTF8),
        ]
    );
}

#[test]
fn what_a_file_says() {
    let r = registered(include_bytes!("../../../descriptors/edition2023_all.pb"));
    let all = facts(plan(r.types(), "edition2023_all.All"));
    assert_eq!(
        all,
        [
            ("implicit", 1 << 3, 0, Op::Int32, 0),
            ("explicit", 2 << 3, 0, Op::Int32, PRESENCE),
            ("text", 3 << 3 | 2, 0, Op::String, 0),
            ("verified", 4 << 3 | 2, 0, Op::String, UTF8),
            ("open", 5 << 3, 0, Op::Enum, 0),
            ("closed", 6 << 3, 0, Op::Enum, PRESENCE | CLOSED),
            ("expanded", 7 << 3, 7 << 3 | 2, Op::Int32, REPEATED),
            ("packed", 8 << 3 | 2, 8 << 3, Op::Int32, REPEATED | PACKED),
            ("closeds", 9 << 3, 9 << 3 | 2, Op::Enum, REPEATED | CLOSED),
            ("self", 10 << 3 | 3, 0, Op::Group, PRESENCE),
            ("prefixed", 11 << 3 | 2, 0, Op::Message, PRESENCE),
            ("list", 12 << 3 | 3, 0, Op::Group, REPEATED),
            ("map", 13 << 3 | 2, 0, Op::Map, REPEATED),
            ("a", 14 << 3, 0, Op::Int32, PRESENCE | ONEOF),
            ("b", 15 << 3 | 3, 0, Op::Group, PRESENCE | ONEOF),
            ("c", 16 << 3, 0, Op::Enum, PRESENCE | ONEOF | CLOSED),
            ("inner", 17 << 3 | 3, 0, Op::Group, PRESENCE | GROUP_LIKE),
            ("outside", 18 << 3 | 3, 0, Op::Group, PRESENCE),
            ("needed", 19 << 3, 0, Op::Int32, PRESENCE | REQUIRED),
            ("[edition2023_all.number]", 100 << 3, 0, Op::Int32, PRESENCE | EXTENSION),
            ("[edition2023_all.numbers]", 101 << 3, 101 << 3 | 2, Op::Int32, REPEATED | EXTENSION),
            // Beside its type and called like it.
            ("[edition2023_all.all]", 102 << 3 | 3, 0, Op::Group, PRESENCE | GROUP_LIKE | EXTENSION),
            // Called like its type, which another file has.
            ("[edition2023_all.outside]", 103 << 3 | 3, 0, Op::Group, PRESENCE | EXTENSION),
            ("[edition2023_all.closed]", 104 << 3, 0, Op::Enum, PRESENCE | CLOSED | EXTENSION),
        ]
    );
    assert_eq!(
        facts(plan(r.types(), "edition2023_all.All.MapEntry")),
        [("key", 1 << 3 | 2, 0, Op::String, PRESENCE), ("value", 2 << 3 | 2, 0, Op::Message, PRESENCE)]
    );
}

#[test]
fn which_groups_are_called_by_their_types() {
    let group_like = |r: &Registry, name: &str| {
        let plan = plan(r.types(), name);
        let fields = plan.fields.iter().filter(|f| f.flags.0 & GROUP_LIKE != 0);
        fields.map(|f| plan.name_of(f).to_owned()).collect::<Vec<_>>()
    };
    let r = registered(include_bytes!("../../../descriptors/edition2023.pb"));
    assert_eq!(group_like(&r, "edition2023.Delimited"), ["grouplike"]);
    assert_eq!(group_like(&r, "edition2023.Extended"), ["[edition2023.outside]", "[edition2023.Scope.inside]"]);
    let r = registry(
        "syntax = \"proto2\"; message M { optional group Part = 1 {} oneof o { group Other = 2 {} } extensions 5 to 9; }
         extend M { optional group Far = 5 {} } message N { extend M { repeated group Near = 6 {} optional M m = 7; } }",
    );
    assert_eq!(group_like(&r, "M"), ["part", "other", "[far]", "[N.near]"]);

    // A type of the same package, but of another file.
    let range = ExtensionRange { start: Some(1), end: Some(9), options: None };
    let mut r = registered(&edition(&[], &[m(&[], &[part(5, &range.encode_to_vec())])]));
    let extension = |number, r#type: &str| {
        let name = r#type.trim_start_matches('.').to_lowercase();
        let field = FieldDescriptorProto { extendee: Some(".M".into()), ..typed(&name, number, Type::Message, r#type) };
        part(7, &field.encode_to_vec())
    };
    let own = part(4, &message("Own", vec![]).encode_to_vec());
    let inner = [part(1, b"y.proto"), part(3, b"x.proto"), own, extension(1, ".M"), extension(2, ".Own")];
    r.register(&edition(DELIMITED, &inner)).unwrap();
    assert_eq!(group_like(&r, "M"), ["[own]"]);
}

#[test]
fn what_stands_within_inherits() {
    // IMPLICIT, EXPAND and NO_UTF8 of the file are passed on but for what messages, oneofs and fields say.
    let nested = part(3, &{
        let mut nested = with(&message("N", vec![]), (7, 12), &[EXPLICIT, CLOSE].concat());
        nested.extend(part(2, &field("inherited", 1, Type::Int32).encode_to_vec()));
        nested.extend(part(4, &enumeration("E", &[("TWO", 2)]).encode_to_vec()));
        nested
    });
    let member = |name, number, features: &[u8]| {
        field_with(&FieldDescriptorProto { oneof_index: Some(1), ..field(name, number, Type::String) }, features)
    };
    let extension =
        FieldDescriptorProto { extendee: Some(".M".into()), ..typed("extension", 100, Type::Message, ".M") };
    let range = ExtensionRange { start: Some(100), end: Some(200), options: None };
    let message = m(
        &[PACK, DELIMITED].concat(),
        &[
            part(2, &field("implicit", 1, Type::Int32).encode_to_vec()),
            part(2, &repeated("packed", 2, Type::Int32).encode_to_vec()),
            field_with(&repeated("expanded", 3, Type::Int32), EXPAND),
            part(2, &typed("group", 4, Type::Message, ".M").encode_to_vec()),
            part(8, &OneofDescriptorProto { name: Some("other".into()), options: None }.encode_to_vec()),
            part(8, &with(&OneofDescriptorProto { name: Some("o".into()), options: None }, (2, 1), &[4 << 3, 2])),
            member("utf8", 5, &[]),
            member("any", 6, NO_UTF8),
            part(2, &typed("closed", 7, Type::Enum, ".M.N.E").encode_to_vec()),
            part(2, &field("text", 8, Type::String).encode_to_vec()),
            part(5, &range.encode_to_vec()),
            part(6, &extension.encode_to_vec()),
            nested.clone(),
        ],
    );
    let e = refused(&edition(&[IMPLICIT, EXPAND, NO_UTF8].concat(), std::slice::from_ref(&message)));
    assert_eq!(e, "x.proto: M.closed: a closed enum has no implicit presence");

    let r = registered(&edition(&[EXPLICIT, EXPAND, NO_UTF8].concat(), std::slice::from_ref(&message)));
    assert_eq!(
        facts(plan(r.types(), "M")),
        [
            ("implicit", 1 << 3, 0, Op::Int32, PRESENCE),
            ("packed", 2 << 3 | 2, 2 << 3, Op::Int32, REPEATED | PACKED),
            ("expanded", 3 << 3, 3 << 3 | 2, Op::Int32, REPEATED),
            ("group", 4 << 3 | 3, 0, Op::Group, PRESENCE),
            ("utf8", 5 << 3 | 2, 0, Op::String, PRESENCE | ONEOF | UTF8),
            ("any", 6 << 3 | 2, 0, Op::String, PRESENCE | ONEOF),
            ("closed", 7 << 3, 0, Op::Enum, PRESENCE | CLOSED),
            ("text", 8 << 3 | 2, 0, Op::String, PRESENCE),
            ("[M.extension]", 100 << 3 | 3, 0, Op::Group, PRESENCE | EXTENSION),
        ]
    );
    let inner = m(IMPLICIT, &[part(2, &field("implicit", 1, Type::Int32).encode_to_vec()), nested]);
    let r = registered(&edition(&[], &[inner]));
    assert_eq!(facts(plan(r.types(), "M")), [("implicit", 1 << 3, 0, Op::Int32, 0)]);
    assert_eq!(facts(plan(r.types(), "M.N")), [("inherited", 1 << 3, 0, Op::Int32, PRESENCE)]);
    assert!(r.types().find_enum("M.N.E").unwrap().closed);
}

#[test]
fn options_in_parts_are_one() {
    // Options twice, the second with features twice: what comes last holds, of each feature.
    let mut bytes = with(&field("f", 1, Type::Int32), (8, 21), IMPLICIT);
    let twice = [part(21, LEGACY_REQUIRED), vec![1 << 3, 0], part(21, &[EXPLICIT, &[0x82, 0x06, 0]].concat())];
    bytes.extend(part(8, &twice.concat()));
    let r = registered(&edition(&[], &[m(&[], &[part(2, &bytes)])]));
    assert_eq!(facts(plan(r.types(), "M")), [("f", 1 << 3, 0, Op::Int32, PRESENCE)]);
}

#[test]
fn editions() {
    let with = |syntax: &str, edition: &[u8]| {
        let mut bytes = FileDescriptorProto { syntax: Some(syntax.into()), ..file(vec![]) }.encode_to_vec();
        bytes.extend_from_slice(edition);
        bytes
    };
    let only = "is not supported (proto2, proto3 and edition 2023 are)";
    for (edition, name) in [
        (&[0x70, 0][..], "number 0"),
        (&[0x70, 0xe6, 0x07], "PROTO2"),
        (&[0x70, 0xe7, 0x07], "PROTO3"),
        (&[0x70, 0xe9, 0x07], "2024"),
        (&[0x70, 0xea, 0x07], "2026"),
        (&[0x70, 0x8f, 0x4e], "number 9999"),
    ] {
        assert_eq!(refused(&with("editions", edition)), format!("x.proto: edition {name} {only}"));
    }
    assert_eq!(refused(&with("editions", &[])), "x.proto: has no edition");
    assert_eq!(refused(&with("proto2", &[0x70, 0xe8, 0x07])), "x.proto: edition 2023 without syntax \"editions\"");
    assert_eq!(refused(&with("proto3", &[0x70, 0xe6, 0x07])), "x.proto: edition PROTO2 without syntax \"editions\"");
    assert_eq!(refused(&with("proto4", &[0x70, 0xe8, 0x07])), "x.proto: unknown syntax \"proto4\"");
    for (syntax, edition) in
        [("proto2", &[0x70, 0xe6, 0x07]), ("proto3", &[0x70, 0xe7, 0x07]), ("editions", &[0x70, 0xe8, 0x07])]
    {
        assert_eq!(Registry::new().changes(&with(syntax, edition)), Ok(true));
    }
}

#[test]
fn rules_for_fields() {
    let f = |r#type| field("f", 1, r#type);
    let label = |label: Label| FieldDescriptorProto { label: Some(label as i32), ..f(Type::Int32) };
    let declared = FieldDescriptorProto { default_value: Some("1".into()), ..f(Type::Int32) };
    let packed = FieldOptions { packed: Some(true), ..FieldOptions::default() };
    let packed = FieldDescriptorProto { options: Some(packed), ..label(Label::Repeated) };
    let optional = FieldDescriptorProto { proto3_optional: Some(true), ..f(Type::Int32) };
    for (field, features, error) in [
        (label(Label::Required), &[][..], "editions have features.field_presence = LEGACY_REQUIRED, not required"),
        (typed("f", 1, Type::Group, ".M"), &[], "editions have features.message_encoding = DELIMITED, not groups"),
        (packed, &[], "editions have features.repeated_field_encoding, not the option packed"),
        (optional, &[], "editions have features.field_presence, not proto3_optional"),
        (declared, IMPLICIT, "a field with implicit presence has no declared default"),
        (
            label(Label::Repeated),
            EXPLICIT,
            "features.field_presence is not for lists, members of oneofs and extensions",
        ),
        (f(Type::Int32), EXPAND, "features.repeated_field_encoding is for lists"),
        (repeated("f", 1, Type::String), PACK, "a list of its type cannot be packed"),
        (f(Type::Bytes), NO_UTF8, "features.utf8_validation is for strings"),
        (f(Type::Int32), DELIMITED, "features.message_encoding is for messages, and not for maps"),
        (typed("f", 1, Type::Message, ".M"), IMPLICIT, "a message has no implicit presence"),
    ] {
        assert_eq!(field_error(&field, features, &[]), error);
    }
    let closed = part(5, &enum_with(&enumeration("E", &[("ONE", 1)]), CLOSE));
    let e = field_error(&typed("f", 1, Type::Enum, ".E"), IMPLICIT, &[closed]);
    assert_eq!(e, "a closed enum has no implicit presence");
    let of_map = |features| edition(&[], &[m(&[], &[map(features)])]);
    let e = "x.proto: M.f: features.message_encoding is for messages, and not for maps";
    assert_eq!(refused(&of_map(DELIMITED)), e);
    assert_eq!(refused(&of_map(PACK)), "x.proto: M.f: a list of its type cannot be packed");
    registered(&of_map(NO_UTF8));
}

#[test]
fn what_cannot_be_required() {
    let oneof = part(8, &OneofDescriptorProto { name: Some("o".into()), options: None }.encode_to_vec());
    let member = FieldDescriptorProto { oneof_index: Some(0), ..field("f", 1, Type::Int32) };
    let e = refused(&edition(&[], &[m(LEGACY_REQUIRED, &[part(2, &member.encode_to_vec()), oneof])]));
    assert_eq!(e, "x.proto: M.f: a member of a oneof cannot be required");
    let extension = FieldDescriptorProto { extendee: Some(".M".into()), ..field("f", 1, Type::Int32) };
    let range = ExtensionRange { start: Some(1), end: Some(9), options: None };
    let range = part(5, &range.encode_to_vec());
    let e = refused(&edition(&[], &[m(&[], &[range]), part(7, &with(&extension, (8, 21), LEGACY_REQUIRED))]));
    assert_eq!(e, "x.proto: f: an extension cannot be required");
    // Lists and what maps hold are not, whatever their message says.
    let list = part(2, &repeated("list", 2, Type::Int32).encode_to_vec());
    let r = registered(&edition(&[], &[m(LEGACY_REQUIRED, &[map(&[]), list])]));
    assert_eq!((plan(r.types(), "M").required, plan(r.types(), "M.FEntry").required), (0, 0));
    let e = refused(&edition(LEGACY_REQUIRED, &[]));
    assert_eq!(e, "x.proto: features.field_presence = LEGACY_REQUIRED is for fields, not for a file");
}

#[test]
fn open_enums_begin_with_zero() {
    let one = enumeration("E", &[("ONE", 1)]);
    let e = "x.proto: E: the first value of an open enum must be 0";
    assert_eq!(refused(&edition(&[], &[part(5, &one.encode_to_vec())])), e);
    assert_eq!(refused(&edition(CLOSE, &[part(5, &enum_with(&one, OPEN))])), e);
    let r = registered(&edition(&[], &[part(5, &enum_with(&one, CLOSE))]));
    assert!(r.types().find_enum("E").unwrap().closed);
}

#[test]
fn features_have_values() {
    let f = field("f", 1, Type::Int32);
    for (features, name) in [
        (&[1 << 3, 0][..], "field_presence has no value 0"),
        (&[1 << 3, 4], "field_presence has no value 4"),
        (&[2 << 3, 0], "enum_type has no value 0"),
        (&[3 << 3, 3], "repeated_field_encoding has no value 3"),
        (&[4 << 3, 1], "utf8_validation has no value 1"),
        (&[5 << 3, 0], "message_encoding has no value 0"),
        (&[6 << 3, 3], "json_format has no value 3"),
        (&[1 << 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "field_presence has no value -1"),
    ] {
        assert_eq!(field_error(&f, features, &[]), format!("features.{name}"));
        assert_eq!(refused(&edition(features, &[])), format!("x.proto: features.{name}"));
    }
    for malformed in [&[1 << 3][..], &[1 << 3 | 2, 0], &[0], &[7 << 3 | 2, 5], &[1 << 3 | 5, 0, 0, 0, 0]] {
        assert_eq!(field_error(&f, malformed, &[]), "its features are malformed");
    }
    let mut number = f.encode_to_vec();
    number.extend(part(8, &[0xa8, 0x01, 1]));
    let e = refused(&edition(&[], &[m(&[], &[part(2, &number)])]));
    assert_eq!(e, "x.proto: M.f: its features are malformed");
}

#[test]
fn proto2_and_proto3_have_no_features() {
    let named = |name: &str| part(1, name.as_bytes());
    let features = |options, number| part(options, &part(number, &[]));
    for (inner, name) in [
        (features(8, 50), ""),
        (part(4, &[named("M"), features(7, 12)].concat()), "p.M: "),
        (part(4, &[named("M"), part(3, &[named("N"), features(7, 12)].concat())].concat()), "p.M.N: "),
        (part(4, &[named("M"), part(2, &[named("f"), features(8, 21)].concat())].concat()), "p.M.f: "),
        (part(4, &[named("M"), part(6, &[named("x"), features(8, 21)].concat())].concat()), "p.M.x: "),
        (part(4, &[named("M"), part(8, &[named("o"), features(2, 1)].concat())].concat()), "p.M.o: "),
        (part(4, &[named("M"), part(5, &features(3, 50))].concat()), "p.M: "),
        (part(7, &[named("x"), features(8, 21)].concat()), "p.x: "),
        (part(5, &[named("E"), features(3, 7)].concat()), "p.E: "),
        (part(5, &[named("E"), part(2, &[named("A"), features(3, 2)].concat())].concat()), "p.E.A: "),
        (part(6, &[named("S"), features(3, 34)].concat()), "p.S: "),
        (part(6, &[named("S"), part(2, &[named("D"), features(4, 35)].concat())].concat()), "p.S.D: "),
    ] {
        for syntax in ["proto2", "proto3"] {
            let file = FileDescriptorProto { package: Some("p".into()), syntax: Some(syntax.into()), ..file(vec![]) };
            let e = refused(&[file.encode_to_vec(), inner.clone()].concat());
            assert_eq!(e, format!("x.proto: {name}features are for editions, not for proto2 and proto3"));
        }
    }
    // What is no features is left alone.
    let deprecated = EnumOptions { deprecated: Some(true), ..EnumOptions::default() };
    let plain = EnumDescriptorProto { options: Some(deprecated), ..enumeration("E", &[("A", 0)]) };
    registered(&FileDescriptorProto { enum_type: vec![plain], ..file(vec![]) }.encode_to_vec());
}

#[test]
fn features_of_languages_register() {
    let r = registered(include_bytes!("../../../descriptors/edition2023_languages.pb"));
    let features = plan(r.types(), "google.protobuf.FeatureSet");
    for name in ["pb.cpp", "pb.java", "pb.go"] {
        assert!(features.by_name(name).is_some(), "{name}");
    }
}
