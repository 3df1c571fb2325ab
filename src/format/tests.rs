//! Bytes to trees and back to bytes.

use super::{Tree, decode, encode};
use crate::error::Trace;
use crate::kernel::{Budget, Context};
use crate::schema::tests::registry;
use crate::schema::{Flags, MessagePlan, Set};
use crate::wire::Writer;

pub(super) const ENOUGH: Budget = Budget { depth: 100, bytes: 1 << 30 };

pub(super) fn context<'a>(set: &'a Set, trace: &'a Trace) -> Context<'a> {
    Context { set, trace, budget: ENOUGH, required: true, utf8: Flags::UTF8 }
}

/// What `bytes` are after a tree was made of them.
fn again(set: &Set, m: &MessagePlan, bytes: &[u8]) -> Vec<u8> {
    let trace = Trace::default();
    let mut tree = Tree::new(true);
    let root = decode(bytes, m, &mut tree, &mut context(set, &trace)).unwrap();
    let mut w = Writer::default();
    encode(&tree, root, m, &mut w, &mut context(set, &trace)).unwrap();
    w.written().to_vec()
}

#[test]
fn parts_become_one() {
    let registry = registry(
        r#"
        syntax = "proto3";
        package p;
        message M {
            int32 a = 1;
            repeated int32 list = 2;
            M m = 3;
            map<int32, M> map = 4;
            oneof o { M x = 5; int32 y = 6; M z = 7; }
            string s = 8;
        }"#,
    );
    let types = registry.types();
    let m = types.find_message("p.M").unwrap();
    for (what, from, to) in [
        ("scalars replace", "\x08\x01\x08\x02", "\x08\x02"),
        ("any order", "\x42\x01s\x08\x01", "\x08\x01\x42\x01s"),
        ("lists go on", "\x10\x01\x08\x07\x12\x02\x02\x03", "\x08\x07\x12\x03\x01\x02\x03"),
        ("messages merge", "\x1a\x02\x08\x01\x08\x07\x1a\x03\x42\x01s", "\x08\x07\x1a\x05\x08\x01\x42\x01s"),
        (
            "messages in messages merge",
            "\x1a\x04\x1a\x02\x08\x01\x1a\x05\x1a\x03\x42\x01s",
            "\x1a\x07\x1a\x05\x08\x01\x42\x01s",
        ),
        (
            "the last entry of a key counts, and keys are sorted",
            "\x22\x06\x08\x02\x12\x02\x08\x01\x22\x04\x08\x01\x12\x00\x22\x04\x08\x02\x12\x00",
            "\x22\x04\x08\x01\x12\x00\x22\x04\x08\x02\x12\x00",
        ),
        (
            "maps go on",
            "\x22\x02\x08\x01\x08\x07\x22\x02\x08\x02",
            "\x08\x07\x22\x04\x08\x01\x12\x00\x22\x04\x08\x02\x12\x00",
        ),
        (
            "an entry's value in parts",
            "\x22\x0d\x12\x02\x08\x01\x12\x05\x1a\x03\x42\x01t\x08\x03",
            "\x22\x0b\x08\x03\x12\x07\x08\x01\x1a\x03\x42\x01t",
        ),
        (
            "maps that go on are sorted too",
            "\x22\x04\x08\x02\x12\x00\x08\x07\x22\x04\x08\x01\x12\x00",
            "\x08\x07\x22\x04\x08\x01\x12\x00\x22\x04\x08\x02\x12\x00",
        ),
        ("the last member counts", "\x2a\x02\x08\x01\x30\x02", "\x30\x02"),
        ("a member goes on", "\x2a\x02\x08\x01\x2a\x03\x42\x01s", "\x2a\x05\x08\x01\x42\x01s"),
        ("but not beyond another", "\x2a\x02\x08\x01\x3a\x00\x2a\x03\x42\x01s", "\x2a\x03\x42\x01s"),
        ("unknown fields", "\x78\x01\x08\x01\x78\x02", "\x08\x01\x78\x01\x78\x02"),
    ] {
        let bytes = again(&types.set, m, from.as_bytes());
        assert_eq!(bytes.escape_ascii().to_string(), to.as_bytes().escape_ascii().to_string(), "{what}");
    }
}

#[test]
fn stray_values_of_closed_enums_are_unknown_fields() {
    // Of which those come first whose number the type has.
    let registry = registry(
        r#"
        syntax = "proto2";
        package p;
        enum E { ZERO = 0; ONE = 1; }
        message M {
            repeated E packed = 1 [packed = true];
            repeated E each = 2;
            map<int32, E> map = 3;
            repeated M ms = 4;
        }"#,
    );
    let types = registry.types();
    let m = types.find_message("p.M").unwrap();
    for (what, from, to) in [
        ("packed", "\x0a\x03\x05\x01\x06", "\x08\x05\x08\x06\x0a\x01\x01"),
        ("not packed", "\x10\x05\x10\x01\x10\x06\x10\x00", "\x10\x05\x10\x06\x10\x01\x10\x00"),
        (
            "in a map",
            "\x1a\x04\x08\x01\x10\x05\x1a\x04\x08\x02\x10\x01\x1a\x04\x08\x03\x10\x06\x1a\x04\x08\x04\x10\x00",
            "\x1a\x04\x08\x01\x10\x05\x1a\x04\x08\x03\x10\x06\x1a\x04\x08\x02\x10\x01\x1a\x04\x08\x04\x10\x00",
        ),
        (
            "in messages of a list",
            "\x22\x04\x10\x05\x10\x01\x22\x00\x10\x06\x22\x03\x0a\x01\x05",
            "\x10\x06\x22\x04\x10\x05\x10\x01\x22\x00\x22\x02\x08\x05",
        ),
    ] {
        let bytes = again(&types.set, m, from.as_bytes());
        assert_eq!(bytes.escape_ascii().to_string(), to.as_bytes().escape_ascii().to_string(), "{what}");
    }
}

#[test]
fn parts_cost_what_they_take() {
    let registry = registry(
        r#"
        syntax = "proto3";
        package p;
        message M { map<int32, M> map = 1; repeated int32 list = 2; M m = 3; int32 a = 4; int32 b = 5; }"#,
    );
    let types = registry.types();
    let m = types.find_message("p.M").unwrap();
    let field = |tag: u8, bytes: &[u8]| {
        let mut w = Writer::default();
        w.delimited(bytes);
        w.varint(tag.into());
        w.written().to_vec()
    };
    // A map's value in many parts, each with an element and an unknown field.
    let part = field(0x12, b"\x10\x01\x78\x01");
    let value = field(0x0a, &part.repeat(20_000));
    // The same, of a message within as many; and two scalars in turns.
    let message = field(0x1a, &field(0x1a, b"\x10\x01\x78\x01")).repeat(20_000);
    let scalars = b"\x20\x01\x28\x01".repeat(1_000_000);
    // A long list, and at each level a second part that goes down to it.
    let mut deep = b"\x10\x01".repeat(20_000);
    let mut path = b"\x10\x01".to_vec();
    for _ in 0..90 {
        deep = [field(0x1a, &deep), field(0x1a, &path)].concat();
        path = field(0x1a, &path);
    }
    for (what, bytes, fits) in
        [("entry", value, true), ("message", message, true), ("scalars", scalars, false), ("deep", deep, false)]
    {
        let start = std::time::Instant::now();
        let trace = Trace::default();
        let mut tree = Tree::default();
        let mut cx = context(&types.set, &trace);
        cx.budget.bytes = 8 << 20;
        let decoded = decode(&bytes, m, &mut tree, &mut cx);
        assert_eq!(decoded.is_ok(), fits, "{what}: {decoded:?}");
        assert!(tree.most_open() < 24 << 20, "{what}: {} bytes", tree.most_open());
        assert!(tree.size() < 24 << 20, "{what}: {} bytes, {decoded:?}", tree.size());
        assert!(start.elapsed().as_secs() < 10, "{what}: {:?}", start.elapsed());
    }
}
