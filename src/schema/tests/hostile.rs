//! Descriptors that protoc would not write: an error, never a panic.

use prost::Message;
use prost_types::descriptor_proto::ExtensionRange;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, FieldDescriptorProto, FieldOptions, FileDescriptorProto, MessageOptions, MethodDescriptorProto,
    OneofDescriptorProto, ServiceDescriptorProto, UninterpretedOption,
};

use super::make::{enumeration, field, file, message, refused, typed};
use crate::schema::{Op, Registry};

fn error(file: &FileDescriptorProto) -> String {
    refused(&file.encode_to_vec())
}

/// The error for a message M with one field.
fn field_error(field: FieldDescriptorProto) -> String {
    error(&file(vec![message("M", vec![field])]))
}

#[test]
fn syntaxes() {
    let with = |syntax: &str| FileDescriptorProto { syntax: Some(syntax.into()), ..file(vec![]) };
    assert_eq!(error(&with("editions")), "x.proto: has no edition");
    assert_eq!(error(&with("proto4")), "x.proto: unknown syntax \"proto4\"");
    assert_eq!(Registry::new().changes(&with("").encode_to_vec()), Ok(true));
}

#[test]
fn names() {
    for bad in ["", "a.b", "a b", "\u{e9}", "a\"", "\n"] {
        assert_eq!(error(&file(vec![message(bad, vec![])])), format!("x.proto: {bad:?} is no name"));
        assert_eq!(field_error(field(bad, 1, Type::Int32)), format!("x.proto: M: {bad:?} is no name"));
    }
    for bad in [".", "a..b", "a.", "a/b"] {
        let file = FileDescriptorProto { package: Some(bad.into()), ..file(vec![]) };
        assert_eq!(error(&file), format!("x.proto: {bad:?} is no name for a package"));
    }
    let long = "a".repeat(100_000);
    assert_eq!(error(&file(vec![message(&long, vec![])])), "x.proto: a name within is too long");
    let file = FileDescriptorProto { package: Some(long), ..file(vec![]) };
    assert_eq!(error(&file), "x.proto: the package's name is too long");
    let file = FileDescriptorProto { name: file.package, ..FileDescriptorProto::default() };
    assert_eq!(error(&file), format!("{:?}...: the file's name is too long", "a".repeat(64)));
}

#[test]
fn field_numbers() {
    for bad in [0, -1, i32::MIN, 536_870_912, i32::MAX] {
        assert_eq!(
            field_error(field("f", bad, Type::Int32)),
            format!("x.proto: M.f: field number {bad} is out of range")
        );
    }
    for reserved in [19_000, 19_999] {
        let e = field_error(field("f", reserved, Type::Int32));
        assert_eq!(e, "x.proto: M.f: field numbers 19000 to 19999 are reserved");
    }
    let twice = message("M", vec![field("a", 1, Type::Int32), field("b", 1, Type::Int32)]);
    assert_eq!(error(&file(vec![twice])), "x.proto: M.b: field number '1' is already used");
}

#[test]
fn duplicate_names() {
    let twice = message("M", vec![field("a", 1, Type::Int32), field("a", 2, Type::Int32)]);
    assert!(error(&file(vec![twice])).starts_with("x.proto: "));
    assert_eq!(error(&file(vec![message("M", vec![]), message("M", vec![])])), "x.proto: name 'M' is defined twice");
    let mut clash = file(vec![message("M", vec![])]);
    clash.enum_type.push(enumeration("E", &[("M", 0)]));
    assert_eq!(error(&clash), "x.proto: name 'M' is defined twice");

    let mut registry = Registry::new();
    registry.register(&file(vec![message("M", vec![])]).encode_to_vec()).unwrap();
    let other = file(vec![message("M", vec![field("a", 1, Type::Int32)])]);
    let other = FileDescriptorProto { name: Some("y.proto".into()), ..other };
    let e = registry.register(&other.encode_to_vec()).unwrap_err().0;
    assert_eq!(e, "y.proto: name 'M' is already defined in file 'x.proto'");
}

#[test]
fn types() {
    let untyped = FieldDescriptorProto { r#type: None, ..field("f", 1, Type::Int32) };
    assert_eq!(field_error(untyped), "x.proto: M.f: has no type");
    let unknown = FieldDescriptorProto { r#type: Some(99), ..field("f", 1, Type::Int32) };
    assert_eq!(field_error(unknown), "x.proto: M.f: unknown type 99");
    let label = FieldDescriptorProto { label: Some(9), ..field("f", 1, Type::Int32) };
    assert_eq!(field_error(label), "x.proto: M.f: unknown label 9");
    for unnamed in [Type::Message, Type::Group, Type::Enum] {
        assert_eq!(field_error(field("f", 1, unnamed)), "x.proto: M.f: its type has no name");
    }
    let e = field_error(typed("f", 1, Type::Int32, ".M"));
    assert_eq!(e, "x.proto: M.f: a scalar type with the name of another type");
    for missing in [".Nowhere", "Nowhere"] {
        let e = field_error(typed("f", 1, Type::Message, missing));
        assert_eq!(e, format!("x.proto: M.f: name '{missing}' is not defined"));
    }
    for odd in [".", "..", ".M.", "M..M", "M.f", "f"] {
        assert!(field_error(typed("f", 1, Type::Message, odd)).starts_with("x.proto: M.f: "), "{odd}");
    }

    let with_enum =
        |f| FileDescriptorProto { enum_type: vec![enumeration("E", &[("Z", 0)])], ..file(vec![message("M", vec![f])]) };
    assert_eq!(error(&with_enum(typed("f", 1, Type::Enum, ".M"))), "x.proto: M.f: M is no enum");
    assert_eq!(error(&with_enum(typed("f", 1, Type::Message, ".E"))), "x.proto: M.f: E is no message");
    assert_eq!(error(&with_enum(typed("f", 1, Type::Group, ".E"))), "x.proto: M.f: E is no message");
    // A type that only has a name is whatever that names.
    for (name, op) in [("M", Op::Message), ("E", Op::Enum)] {
        let mut registry = Registry::new();
        let f = FieldDescriptorProto { r#type: None, ..typed("f", 1, Type::Enum, name) };
        registry.register(&with_enum(f).encode_to_vec()).unwrap();
        assert_eq!(registry.types().find_message("M").unwrap().fields[0].op, op);
    }
}

#[test]
fn proto3_has_less() {
    let with = |f| FileDescriptorProto { syntax: Some("proto3".into()), ..file(vec![message("M", vec![f])]) };
    let required = FieldDescriptorProto { label: Some(Label::Required as i32), ..field("f", 1, Type::Int32) };
    assert_eq!(error(&with(required)), "x.proto: M.f: proto3 has no required fields");
    let default = FieldDescriptorProto { default_value: Some("1".into()), ..field("f", 1, Type::Int32) };
    assert_eq!(error(&with(default)), "x.proto: M.f: proto3 has no declared defaults");
    assert_eq!(error(&with(typed("f", 1, Type::Group, ".M"))), "x.proto: M.f: proto3 has no groups");
    let mut file = with(field("f", 1, Type::Int32));
    file.enum_type.push(enumeration("E", &[("ONE", 1)]));
    assert_eq!(error(&file), "x.proto: E: the first value of a proto3 enum must be 0");
}

#[test]
fn defaults() {
    let with = |text: &str, ty| FieldDescriptorProto { default_value: Some(text.into()), ..field("f", 1, ty) };
    for (text, ty) in [
        ("x", Type::Int32),
        ("", Type::Double),
        ("2147483648", Type::Int32),
        ("TRUE", Type::Bool),
        ("\\777", Type::Bytes),
        ("\\x\u{e9}", Type::Bytes),
        ("\\", Type::Bytes),
    ] {
        assert_eq!(field_error(with(text, ty)), format!("x.proto: M.f: default {text:?} is no value of its type"));
    }
    let repeated = FieldDescriptorProto { label: Some(Label::Repeated as i32), ..with("1", Type::Int32) };
    assert_eq!(field_error(repeated), "x.proto: M.f: a repeated field has no default");
    let mut of_message = typed("f", 1, Type::Message, ".M");
    of_message.default_value = Some("M".into());
    assert_eq!(field_error(of_message), "x.proto: M.f: default \"M\" is no value of its type");
    let mut of_enum = typed("f", 1, Type::Enum, ".E");
    of_enum.default_value = Some("ONE".into());
    let mut file = file(vec![message("M", vec![of_enum])]);
    file.enum_type.push(enumeration("E", &[("Z", 0)]));
    assert_eq!(error(&file), "x.proto: M.f: default \"ONE\" is no value of its type");
}

#[test]
fn oneofs() {
    let member = |index| FieldDescriptorProto { oneof_index: Some(index), ..field("f", 1, Type::Int32) };
    for bad in [-1, 1, i32::MAX, i32::MIN] {
        let mut m = message("M", vec![member(bad)]);
        m.oneof_decl.push(OneofDescriptorProto { name: Some("o".into()), options: None });
        assert_eq!(error(&file(vec![m])), "x.proto: M.f: its oneof does not exist");
    }
    let mut m = message("M", vec![FieldDescriptorProto { label: Some(Label::Repeated as i32), ..member(0) }]);
    m.oneof_decl.push(OneofDescriptorProto { name: Some("o".into()), options: None });
    assert_eq!(error(&file(vec![m])), "x.proto: M.f: a member of a oneof can be neither required nor repeated");
    // Without members it is no oneof.
    let mut m = message("M", vec![field("f", 1, Type::Int32)]);
    m.oneof_decl.push(OneofDescriptorProto { name: Some("o".into()), options: None });
    let mut registry = Registry::new();
    registry.register(&file(vec![m]).encode_to_vec()).unwrap();
    assert!(registry.types().find_message("M").unwrap().oneofs.is_empty());
}

#[test]
fn map_entries() {
    let entry = |fields| DescriptorProto {
        options: Some(MessageOptions { map_entry: Some(true), ..MessageOptions::default() }),
        ..message("Entry", fields)
    };
    let map = |entry| {
        let f =
            FieldDescriptorProto { label: Some(Label::Repeated as i32), ..typed("map", 1, Type::Message, ".M.Entry") };
        file(vec![DescriptorProto { nested_type: vec![entry], ..message("M", vec![f]) }])
    };
    let key = || field("key", 1, Type::String);
    let value = || field("value", 2, Type::Int32);
    let bad = [
        vec![],
        vec![key()],
        vec![key(), field("value", 3, Type::Int32)],
        vec![field("key", 1, Type::Double), value()],
        vec![field("key", 1, Type::Bytes), value()],
        vec![typed("key", 1, Type::Message, ".M"), value()],
        vec![key(), typed("value", 2, Type::Group, ".M")],
        vec![key(), FieldDescriptorProto { label: Some(Label::Repeated as i32), ..value() }],
        vec![key(), value(), field("third", 3, Type::Int32)],
    ];
    for fields in bad {
        let e = error(&map(entry(fields)));
        assert!(e.starts_with("x.proto: M.Entry: a map's entries must have a key = 1"), "{e}");
    }
    let ops = |file: FileDescriptorProto| {
        let mut registry = Registry::new();
        registry.register(&file.encode_to_vec()).unwrap();
        registry.types().find_message("M").unwrap().fields.iter().map(|f| f.op).collect::<Vec<_>>()
    };
    assert_eq!(ops(map(entry(vec![value(), key()]))), [Op::Map]);
    // Neither a single entry, nor one as a group, nor that of another message is a map.
    let mut single = map(entry(vec![key(), value()]));
    single.message_type[0].field[0].label = None;
    assert_eq!(ops(single), [Op::Message]);
    let mut group = map(entry(vec![key(), value()]));
    group.message_type[0].field[0].r#type = Some(Type::Group as i32);
    assert_eq!(ops(group), [Op::Group]);
    let mut other = map(entry(vec![key(), value()]));
    let nested = std::mem::take(&mut other.message_type[0].nested_type);
    other.message_type.push(DescriptorProto { nested_type: nested, ..message("N", vec![]) });
    other.message_type[0].field[0].type_name = Some(".N.Entry".into());
    assert_eq!(ops(other), [Op::Message]);
}

#[test]
fn enums() {
    let with = |e| FileDescriptorProto { enum_type: vec![e], ..file(vec![]) };
    assert_eq!(error(&with(enumeration("E", &[]))), "x.proto: E: an enum needs a value");
    assert_eq!(error(&with(enumeration("E", &[("A", 1), ("B", 1)]))), "x.proto: E: number 1 is used twice");
    assert_eq!(error(&with(enumeration("E", &[("A", 1), ("A", 2)]))), "x.proto: name 'A' is defined twice");
}

#[test]
fn imports() {
    let with = |dependency: &[&str], public_dependency: Vec<i32>| FileDescriptorProto {
        dependency: dependency.iter().map(|d| (*d).into()).collect(),
        public_dependency,
        ..file(vec![])
    };
    assert_eq!(error(&with(&["x.proto"], vec![])), "x.proto: imports form a cycle: x.proto -> x.proto");
    let any = "google/protobuf/any.proto";
    assert_eq!(error(&with(&[any, any], vec![])), format!("x.proto: imports \"{any}\" twice"));
    for bad in [-1, 1] {
        assert_eq!(error(&with(&[any], vec![bad])), format!("x.proto: public import {bad} is none of its imports"));
    }
}

#[test]
fn public_imports_of_public_imports_do_not_multiply() {
    // Each imports the two before it publicly, and the last one all: paths are Fibonacci's.
    let mut registry = Registry::new();
    let mut names: Vec<String> = vec![];
    for i in 0..200 {
        let mut f = file(vec![message(&format!("M{i}"), vec![])]);
        f.name = Some(format!("f{i}.proto"));
        f.dependency = names.iter().rev().take(2).cloned().collect();
        f.public_dependency = (0..f.dependency.len() as i32).collect();
        registry.register(&f.encode_to_vec()).unwrap();
        names.extend(f.name);
    }
    let mut last = file(vec![message("M", vec![typed("f", 1, Type::Message, ".M0")])]);
    last.dependency = names;
    assert_eq!(registry.changes(&last.encode_to_vec()), Ok(true));
}

#[test]
fn services_and_extensions() {
    let method = |input: &str| MethodDescriptorProto {
        name: Some("Call".into()),
        input_type: Some(input.into()),
        output_type: Some(".M".into()),
        ..MethodDescriptorProto::default()
    };
    let with = |method| FileDescriptorProto {
        service: vec![ServiceDescriptorProto { name: Some("S".into()), method: vec![method], options: None }],
        ..file(vec![message("M", vec![])])
    };
    assert_eq!(error(&with(method(""))), "x.proto: S.Call: has no type");
    assert_eq!(error(&with(method(".N"))), "x.proto: S.Call: name '.N' is not defined");
    let extend = |extendee: Option<&str>| FileDescriptorProto {
        extension: vec![FieldDescriptorProto { extendee: extendee.map(Into::into), ..field("x", 5, Type::Int32) }],
        ..file(vec![message("M", vec![])])
    };
    assert_eq!(error(&extend(None)), "x.proto: x: extends nothing");
    assert_eq!(error(&extend(Some(".N"))), "x.proto: x: name '.N' is not defined");
    assert_eq!(error(&extend(Some(".M"))), "x.proto: x: message 'M' does not define '5' as an extension number");
    let own = FieldDescriptorProto { extendee: Some(".M".into()), ..field("f", 1, Type::Int32) };
    assert_eq!(field_error(own), "x.proto: M.f: a message's own field extends another message");
}

#[test]
fn extension_ranges() {
    let ranged = |start, end| DescriptorProto {
        extension_range: vec![ExtensionRange { start: Some(start), end: Some(end), options: None }],
        ..message("M", vec![field("f", 5, Type::Int32)])
    };
    for (start, end) in [(0, 3), (-1, 3), (3, 3), (4, 3), (i32::MAX, i32::MIN)] {
        assert_eq!(error(&file(vec![ranged(start, end)])), "x.proto: M: an extension range that is none");
    }
    assert_eq!(error(&file(vec![ranged(1, 6)])), "x.proto: M.f: its number is one of extensions");
    assert_eq!(Registry::new().changes(&file(vec![ranged(6, i32::MAX)]).encode_to_vec()), Ok(true));
}

#[test]
fn entries_of_maps_are_not_extended() {
    let entry = DescriptorProto {
        options: Some(MessageOptions { map_entry: Some(true), ..MessageOptions::default() }),
        extension_range: vec![ExtensionRange { start: Some(5), end: Some(9), options: None }],
        ..message("Entry", vec![field("key", 1, Type::Int32), field("value", 2, Type::Int32)])
    };
    let extension = FieldDescriptorProto { extendee: Some(".M.Entry".into()), ..field("e", 5, Type::Int32) };
    let m = DescriptorProto { nested_type: vec![entry], ..message("M", vec![]) };
    let file = FileDescriptorProto { extension: vec![extension], ..file(vec![m]) };
    assert_eq!(error(&file), "x.proto: e: a map's entries cannot be extended");
}

#[test]
fn long_scopes_do_not_multiply() {
    let messages = (0..20_000).map(|i| message(&format!("M{i}"), vec![])).collect();
    let file = FileDescriptorProto { package: Some("p".repeat(900)), ..file(messages) };
    assert_eq!(error(&file), "x.proto: its names within their scopes are too long");
}

#[test]
fn strange_options_do_not_matter() {
    let mut f = field("f", 1, Type::Int32);
    f.options = Some(FieldOptions {
        packed: Some(true),
        uninterpreted_option: vec![UninterpretedOption::default(); 3],
        ..FieldOptions::default()
    });
    let mut registry = Registry::new();
    registry.register(&file(vec![message("M", vec![f])]).encode_to_vec()).unwrap();
    let plan = registry.types().find_message("M").unwrap();
    assert_eq!((plan.fields[0].tag, plan.fields[0].alt), (8, 0));
}

#[test]
fn deep_nesting() {
    let nested = |depth| {
        let mut m = message("M", vec![]);
        for _ in 0..depth {
            m = DescriptorProto { nested_type: vec![m], ..message("M", vec![]) };
        }
        file(vec![m])
    };
    assert_eq!(Registry::new().changes(&nested(90).encode_to_vec()), Ok(true));
    let e = error(&nested(150));
    assert!(e.starts_with("x.proto: ") && e.contains("recursion limit"), "{e}");
    // Far beyond, by hand: encoding it would overflow the stack.
    let mut bytes = b"\x0a\x01M".to_vec();
    for _ in 0..50_000 {
        let mut outer = b"\x0a\x01M\x1a".to_vec();
        let mut len = bytes.len();
        while len >= 0x80 {
            outer.push(len as u8 | 0x80);
            len >>= 7;
        }
        outer.push(len as u8);
        if outer.len() + bytes.len() > 200_000 {
            break;
        }
        bytes.splice(0..0, outer);
    }
    let mut f = b"\x0a\x07x.proto\x22".to_vec();
    prost::encoding::encode_varint(bytes.len() as u64, &mut f);
    f.extend(bytes);
    assert!(Registry::new().register(&f).unwrap_err().0.contains("recursion limit"));
}

#[test]
fn too_many_fields() {
    let fields = |n: i32| {
        let numbers = (1..).filter(|n| !(19_000..20_000).contains(n)).take(n as usize);
        file(vec![message("M", numbers.map(|n| field(&format!("f{n}"), n, Type::Int32)).collect())])
    };
    assert_eq!(error(&fields(65_535)), "x.proto: M: more than 65,534 fields");
    let mut registry = Registry::new();
    registry.register(&fields(65_534).encode_to_vec()).unwrap();
    let plan = registry.types().find_message("M").unwrap();
    assert_eq!(plan.by_number(66_534).map(|f| f.index), Some(65_533));
    assert!(plan.by_number(66_535).is_none() && plan.by_number(19_500).is_none());
}

#[test]
fn every_prefix_and_every_changed_byte_of_a_real_set() {
    for bytes in [&include_bytes!("../../../descriptors/order.pb")[..], include_bytes!("../../../descriptors/world.pb")]
    {
        for end in 0..bytes.len() {
            let _ = Registry::new().register(&bytes[..end]);
        }
        for at in 0..bytes.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut bytes = bytes.to_vec();
                bytes[at] ^= change;
                let _ = Registry::new().register(&bytes);
            }
        }
    }
}
