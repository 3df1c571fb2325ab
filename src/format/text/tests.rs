//! Text to bytes and bytes to text.

use std::sync::Arc;

use super::super::tests::context;
use super::super::{Place, Tree, decode, encode};
use super::{Style, read, write};
use crate::error::{Text, Trace};
use crate::kernel::Budget;
use crate::schema::Types;
use crate::schema::tests::registry;
use crate::wire::Writer;

const SCHEMA: &str = r#"
    syntax = "proto2";
    package p;
    import "google/protobuf/any.proto";
    enum Color { RED = 0; GREEN = 1; }
    message M {
        optional int32 i32 = 1;
        optional uint32 u32 = 2;
        optional int64 i64 = 3;
        optional uint64 u64 = 4;
        optional sint32 s32 = 5;
        optional float f = 6;
        optional double d = 7;
        optional bool b = 8;
        optional string s = 9;
        optional bytes y = 10;
        optional Color e = 11;
        optional M m = 12;
        repeated int32 list = 13 [packed = true];
        repeated M ms = 14;
        map<string, int32> map = 15;
        map<uint32, M> map_m = 16;
        optional group Group = 17 { optional int32 a = 1; }
        repeated group ManyGroups = 18 { optional int32 a = 1; }
        oneof o { int32 x = 19; string z = 20; M om = 21; }
        repeated string names = 22;
        optional google.protobuf.Any any = 23;
        reserved "gone", "lost";
        extensions 100 to 199;
    }
    message Needs { required int32 id = 1; }
    extend M {
        optional int32 ext = 100;
        repeated M ext_ms = 101;
        optional group ExtGroup = 102 { optional int32 a = 1; }
    }
    message Scope { extend M { optional string inner = 103; } }
    message Set { option message_set_wire_format = true; extensions 4 to max; }
    extend Set { optional Needs item = 5; }
"#;

const OPEN: &str = r#"
    syntax = "proto3";
    package q;
    enum E { ZERO = 0; ONE = 1; }
    message P {
        int32 i = 1; string s = 2; bytes y = 3; double d = 4; E e = 5; optional int32 o = 6; bool b = 7;
        map<int32, E> es = 8; map<bool, string> bs = 9; repeated E list = 10; oneof x { int32 m = 11; }
    }
"#;

const MULTI: Style = Style { unknown: false, indent: Some("  "), sort_maps: true };
const LINE: Style = Style { unknown: false, indent: None, sort_maps: true };
const ALL: Style = Style { unknown: true, indent: None, sort_maps: true };

fn types(source: &str) -> Arc<Types> {
    registry(source).types().clone()
}

fn told(trace: &Trace, name: &str) -> String {
    let mut out = Text::new();
    trace.tell(name, None, &mut out);
    String::from_utf8_lossy(out.as_bytes()).into_owned()
}

/// The bytes that `text` is as the message `name`, or the error.
fn bytes_within(types: &Types, name: &str, text: &[u8], budget: Budget) -> Result<Vec<u8>, String> {
    let m = types.find_message(name).unwrap();
    let trace = Trace::default();
    let mut tree = Tree::default();
    let mut cx = context(&types.set, &trace);
    cx.budget = budget;
    let root = match read(text, m, types, &mut tree, &mut cx) {
        Ok(root) => root,
        Err(e) => {
            assert_eq!(tree.mark(), 0, "nothing stays open");
            return Err(format!("{} {}", told(&trace, name), Place::of(text, e.at)));
        }
    };
    assert_eq!(cx.budget.depth, budget.depth);
    let mut w = Writer::default();
    encode(&tree, root, m, &mut w, &mut cx).map_err(|_| told(&trace, name))?;
    Ok(w.written().to_vec())
}

fn bytes(types: &Types, name: &str, text: &str) -> Result<Vec<u8>, String> {
    bytes_within(types, name, text.as_bytes(), super::super::tests::ENOUGH)
}

/// The text that `bytes` are as the message `name`, or the error.
fn text(types: &Types, name: &str, bytes: &[u8], style: &Style) -> Result<String, String> {
    let m = types.find_message(name).unwrap();
    let trace = Trace::default();
    let mut tree = Tree::default();
    let mut cx = context(&types.set, &trace);
    let root = decode(bytes, m, &mut tree, style.sort_maps, &mut cx).unwrap();
    let mut out = String::new();
    match write(&tree, root, m, types, style, &mut out, &mut cx) {
        Ok(()) => {
            // An error within an Any that is written as it is leaves nothing behind.
            assert_eq!(told(&trace, ""), ": ");
            Ok(out)
        }
        Err(_) => Err(told(&trace, name)),
    }
}

fn escaped(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

#[test]
fn text_is_read() {
    let types = types(SCHEMA);
    for (from, to) in [
        ("", ""),
        ("\u{feff} # only a comment", ""),
        ("i32: 1", "\x08\x01"),
        ("i32:1,u32:2;i64:3 u64 : 4", "\x08\x01\x10\x02\x18\x03\x20\x04"),
        ("u32: 2 i32: 1", "\x08\x01\x10\x02"),
        (
            "i32 # one\n : # two\n\t- # three\r\n\x0b 1 # four\x0c",
            "\x08\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\x01",
        ),
        ("i32: 0", "\x08\\x00"),
        ("i32: -0", "\x08\\x00"),
        ("i32: 0x7fFFffff", "\x08\\xff\\xff\\xff\\xff\\x07"),
        ("i32: -0X80000000", "\x08\\x80\\x80\\x80\\x80\\xf8\\xff\\xff\\xff\\xff\x01"),
        ("u32: 037777777777", "\x10\\xff\\xff\\xff\\xff\\x0f"),
        ("u64: 18446744073709551615", "\x20\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\x01"),
        ("i64: -9223372036854775808", "\x18\\x80\\x80\\x80\\x80\\x80\\x80\\x80\\x80\\x80\x01"),
        ("s32: -2", "(\x03"),
        ("f: 1.5", "5\\x00\\x00\\xc0?"),
        ("f: -1.5F", "5\\x00\\x00\\xc0\\xbf"),
        ("f: 1f", "5\\x00\\x00\\x80?"),
        ("f: .5e+1f", "5\\x00\\x00\\xa0@"),
        ("f: 1e50", "5\\x00\\x00\\x80\\x7f"),
        ("f: -1e18446744073709551616", "5\\x00\\x00\\x80\\xff"),
        ("f: -1e-18446744073709551616", "5\\x00\\x00\\x00\\x80"),
        ("f: nAn", "5\\x00\\x00\\xc0\\x7f"),
        // By way of a double, this would be 16777216.
        ("f: 16777217.0000000001", "5\x01\\x00\\x80K"),
        ("d: -0", "9\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80"),
        ("d: 5.", "9\\x00\\x00\\x00\\x00\\x00\\x00\\x14@"),
        ("d: - INFinity", "9\\x00\\x00\\x00\\x00\\x00\\x00\\xf0\\xff"),
        ("d: 18446744073709551616", "9\\x00\\x00\\x00\\x00\\x00\\x00\\xf0C"),
        ("b: true", "@\x01"),
        ("b: True", "@\x01"),
        ("b: t", "@\x01"),
        ("b: 1", "@\x01"),
        ("b: 0x1", "@\x01"),
        ("b: false", "@\\x00"),
        ("b: False", "@\\x00"),
        ("b: f", "@\\x00"),
        ("b: 00", "@\\x00"),
        ("s: 'a\"b' \"c'd\" # and\n 'e'", "J\x07a\\\"bc\\'de"),
        ("s: 'ü'", "J\x02\\xc3\\xbc"),
        (r#"y: '\a\b\f\n\r\t\v\?\\\'\"'"#, "R\x0b\\x07\\x08\\x0c\\n\\r\\t\\x0b?\\\\\\'\\\""),
        (r#"y: "\0\18\1234\377\xfg\x1f2\XFF""#, "R\x0d\\x00\\x018S4\\xff\\x0fg\\x1f2\\xff"),
        (r#"y: "\u00fcx\U0001f389""#, "R\x07\\xc3\\xbcx\\xf0\\x9f\\x8e\\x89"),
        ("e: GREEN", "X\x01"),
        ("e: 1", "X\x01"),
        ("e: 0x1", "X\x01"),
        ("m { i32: 1 }", "b\x02\x08\x01"),
        ("m: < i32: 1, m {} ; >;", "b\x04\x08\x01b\\x00"),
        ("list: [1, 2] list: 3, list: [] list: [4]", "j\x04\x01\x02\x03\x04"),
        ("list: 1 i32: 1 list: 2", "\x08\x01j\x02\x01\x02"),
        ("list: []", ""),
        ("ms { i32: 1 } ms: [{}, <i32: 2>] ms []", "r\x02\x08\x01r\\x00r\x02\x08\x02"),
        ("map { key: 'a' value: 1 } map: [{ value: 2 key: 'b' }]", "z\x05\\n\x01a\x10\x01z\x05\\n\x01b\x10\x02"),
        ("map {} map { key: 'a' }", "z\x04\\n\\x00\x10\\x00z\x05\\n\x01a\x10\\x00"),
        ("map { key: 'a' value: 1 } i32: 1 map { value: 2, key: 'a' }", "\x08\x01z\x05\\n\x01a\x10\x02"),
        // The second replaces the first, it does not merge with it, and a key that is not there is 0.
        ("map_m { value { i32: 1 } } map_m { key: 0 value { u32: 1 } }", "\\x82\x01\x06\x08\\x00\x12\x02\x10\x01"),
        (
            "Group { a: 1 } ManyGroups { a: 2 } manygroups: {}",
            "\\x8b\x01\x08\x01\\x8c\x01\\x93\x01\x08\x02\\x94\x01\\x93\x01\\x94\x01",
        ),
        ("group: <>", "\\x8b\x01\\x8c\x01"),
        ("z: ''", "\\xa2\x01\\x00"),
        ("names: 'a' 'b' names: ['c', 'd' 'e']", "\\xb2\x01\x02ab\\xb2\x01\x01c\\xb2\x01\x02de"),
        ("[p.ext]: 1", "\\xa0\x06\x01"),
        ("[ p .e # comment ]\nxt ] : 1", "\\xa0\x06\x01"),
        ("[p.ext_ms] {} [p.ext_ms]: [{ i32: 1 }]", "\\xaa\x06\\x00\\xaa\x06\x02\x08\x01"),
        ("[p.extgroup] { a: 1 }", "\\xb3\x06\x08\x01\\xb4\x06"),
        ("[p.Scope.inner]: 'a'", "\\xba\x06\x01a"),
        ("gone: -12 i32: 1", "\x08\x01"),
        ("gone: [1.5, X, 'a' 'b', { a: 1 }] lost { [a.b/c] <> x: [] y [{}] z: - inf };", ""),
        ("m { gone: true gone: false, }", "b\\x00"),
    ] {
        let result = bytes(&types, "p.M", from).map(|b| escaped(&b));
        assert_eq!(result, Ok(to.escape_default().to_string().replace("\\\\", "\\").replace("\\u{", "\\x{")), "{from}");
    }
}
