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
        ("", &b""[..]),
        ("\u{feff} # only a comment", b""),
        ("i32: 1", b"\x08\x01"),
        ("i32:1,u32:2;i64:3 u64 : 4", b"\x08\x01\x10\x02\x18\x03 \x04"),
        ("u32: 2 i32: 1", b"\x08\x01\x10\x02"),
        ("i32 # one\n : # two\n\t- # three\r\n\x0b 1 # four\x0c", b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("i32: 0", b"\x08\x00"),
        ("i32: -0", b"\x08\x00"),
        ("i32: 0x7fFFffff", b"\x08\xff\xff\xff\xff\x07"),
        ("i32: -0X80000000", b"\x08\x80\x80\x80\x80\xf8\xff\xff\xff\xff\x01"),
        ("u32: 037777777777", b"\x10\xff\xff\xff\xff\x0f"),
        ("u64: 18446744073709551615", b" \xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("i64: -9223372036854775808", b"\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"),
        ("s32: -2", b"(\x03"),
        ("f: 1.5", b"5\x00\x00\xc0?"),
        ("f: -1.5F", b"5\x00\x00\xc0\xbf"),
        ("f: 1f", b"5\x00\x00\x80?"),
        ("f: .5e+1f", b"5\x00\x00\xa0@"),
        ("f: 1e50", b"5\x00\x00\x80\x7f"),
        ("f: -1e18446744073709551616", b"5\x00\x00\x80\xff"),
        ("f: -1e-18446744073709551616", b"5\x00\x00\x00\x80"),
        ("f: nAn", b"5\x00\x00\xc0\x7f"),
        // By way of a double, this would be 16777216.
        ("f: 16777217.0000000001", b"5\x01\x00\x80K"),
        ("d: -0", b"9\x00\x00\x00\x00\x00\x00\x00\x80"),
        ("d: 5.", b"9\x00\x00\x00\x00\x00\x00\x14@"),
        ("d: - INFinity", b"9\x00\x00\x00\x00\x00\x00\xf0\xff"),
        ("d: 18446744073709551616", b"9\x00\x00\x00\x00\x00\x00\xf0C"),
        ("b: true", b"@\x01"),
        ("b: True", b"@\x01"),
        ("b: t", b"@\x01"),
        ("b: 1", b"@\x01"),
        ("b: 0x1", b"@\x01"),
        ("b: false", b"@\x00"),
        ("b: False", b"@\x00"),
        ("b: f", b"@\x00"),
        ("b: 00", b"@\x00"),
        ("s: 'a\"b' \"c'd\" # and\n 'e'", b"J\x07a\"bc'de"),
        ("s: 'ü'", b"J\x02\xc3\xbc"),
        (r#"y: '\a\b\f\n\r\t\v\?\\\'\"'"#, b"R\x0b\x07\x08\x0c\n\r\t\x0b?\\'\""),
        (r#"y: "\0\18\1234\377\xfg\x1f2\XFF""#, b"R\x0b\x00\x018S4\xff\x0fg\x1f2\xff"),
        (r#"y: "\u00fcx\U0001f389""#, b"R\x07\xc3\xbcx\xf0\x9f\x8e\x89"),
        ("e: GREEN", b"X\x01"),
        ("e: 1", b"X\x01"),
        ("e: 0x1", b"X\x01"),
        ("m { i32: 1 }", b"b\x02\x08\x01"),
        ("m: < i32: 1, m {} ; >;", b"b\x04\x08\x01b\x00"),
        ("list: [1, 2] list: 3, list: [] list: [4]", b"j\x04\x01\x02\x03\x04"),
        ("list: 1 i32: 1 list: 2", b"\x08\x01j\x02\x01\x02"),
        ("list: []", b""),
        ("ms { i32: 1 } ms: [{}, <i32: 2>] ms []", b"r\x02\x08\x01r\x00r\x02\x08\x02"),
        ("map { key: 'a' value: 1 } map: [{ value: 2 key: 'b' }]", b"z\x05\n\x01a\x10\x01z\x05\n\x01b\x10\x02"),
        ("map {} map { key: 'a' }", b"z\x04\n\x00\x10\x00z\x05\n\x01a\x10\x00"),
        ("map { key: 'a' value: 1 } i32: 1 map { value: 2, key: 'a' }", b"\x08\x01z\x05\n\x01a\x10\x02"),
        // The second replaces the first, it does not merge with it, and a key that is not there is 0.
        ("map_m { value { i32: 1 } } map_m { key: 0 value { u32: 1 } }", b"\x82\x01\x06\x08\x00\x12\x02\x10\x01"),
        (
            "Group { a: 1 } ManyGroups { a: 2 } manygroups: {}",
            b"\x8b\x01\x08\x01\x8c\x01\x93\x01\x08\x02\x94\x01\x93\x01\x94\x01",
        ),
        ("group: <>", b"\x8b\x01\x8c\x01"),
        ("z: ''", b"\xa2\x01\x00"),
        ("names: 'a' 'b' names: ['c', 'd' 'e']", b"\xb2\x01\x02ab\xb2\x01\x01c\xb2\x01\x02de"),
        ("[p.ext]: 1", b"\xa0\x06\x01"),
        ("[ p .e # comment ]\nxt ] : 1", b"\xa0\x06\x01"),
        ("[p.ext_ms] {} [p.ext_ms]: [{ i32: 1 }]", b"\xaa\x06\x00\xaa\x06\x02\x08\x01"),
        ("[p.extgroup] { a: 1 }", b"\xb3\x06\x08\x01\xb4\x06"),
        ("[p.Scope.inner]: 'a'", b"\xba\x06\x01a"),
        ("gone: -12 i32: 1", b"\x08\x01"),
        ("gone: [1.5, X, 'a' 'b', { a: 1 }] lost { [a.b/c] <> x: [] y [{}] z: - inf };", b""),
        ("m { gone: true gone: false, }", b"b\x00"),
    ] {
        let result = bytes(&types, "p.M", from).map(|b| escaped(&b));
        assert_eq!(result, Ok(escaped(to)), "{from}");
    }
}

#[test]
fn text_is_refused() {
    let types = types(SCHEMA);
    let set = |text: &str| bytes(&types, "p.Set", text);
    assert_eq!(set("[p.item] { id: 1 }").map(|b| escaped(&b)), Ok(escaped(b"\x0b\x10\x05\x1a\x02\x08\x01\x0c")));
    for (from, error) in [
        ("i32", r#"p.M.i32: expected ":", got the end of the text at line 1 column 4"#),
        ("i32:", "p.M.i32: expected a whole number, got the end of the text at line 1 column 5"),
        ("i32: 'x'", r#"p.M.i32: expected a whole number, got "x" at line 1 column 6"#),
        ("i32: x", "p.M.i32: expected a whole number, got x at line 1 column 6"),
        ("i32: 1.0", "p.M.i32: expected a whole number, got 1.0 at line 1 column 6"),
        ("i32: 1f", "p.M.i32: expected a whole number, got 1f at line 1 column 6"),
        ("i32: 2147483648", "p.M.i32: 2147483648 is out of range for int32 at line 1 column 6"),
        ("i32: - 2147483649", "p.M.i32: -2147483649 is out of range for int32 at line 1 column 6"),
        ("u32: -1", "p.M.u32: -1 is out of range for uint32 at line 1 column 6"),
        ("u32: 0x100000000", "p.M.u32: 0x100000000 is out of range for uint32 at line 1 column 6"),
        (
            "u64: 02000000000000000000000",
            "p.M.u64: 02000000000000000000000 is out of range for uint64 at line 1 column 6",
        ),
        ("i64: 9223372036854775808", "p.M.i64: 9223372036854775808 is out of range for int64 at line 1 column 6"),
        ("i32: 08", r#"p.M.i32: malformed octal number "08" at line 1 column 6"#),
        ("i32: 0x", r#"p.M.i32: hexadecimal number without digits "0x" at line 1 column 6"#),
        ("i32: 10m: {}", r#"p.M.i32: malformed number "10m" at line 1 column 6"#),
        ("i32: 1.2.3", r#"p.M.i32: malformed number "1.2.3" at line 1 column 6"#),
        ("d: 1e", r#"p.M.d: exponent without digits "1e" at line 1 column 4"#),
        ("d: 0x1", "p.M.d: expected a decimal number, got 0x1 at line 1 column 4"),
        ("d: -012", "p.M.d: expected a decimal number, got 012 at line 1 column 5"),
        ("d: infx", "p.M.d: expected a number, got infx at line 1 column 4"),
        ("d: .", "p.M.d: expected a number, got . at line 1 column 4"),
        ("b: 2", "p.M.b: expected true or false, got 2 at line 1 column 4"),
        ("b: TRUE", "p.M.b: expected true or false, got TRUE at line 1 column 4"),
        ("b: -0", "p.M.b: expected true or false, got - at line 1 column 4"),
        ("s: x", "p.M.s: expected a string, got x at line 1 column 4"),
        ("s: 'ab", "p.M.s: string without end at line 1 column 4"),
        ("s: 'ab\\", "p.M.s: string without end at line 1 column 4"),
        ("s: 'a\nb'", r"p.M.s: line break in a string (write \n) at line 1 column 4"),
        ("s: 'a\\\nb'", r"p.M.s: line break in a string (write \n) at line 1 column 4"),
        ("s: 'a\0b'", r"p.M.s: zero byte in a string (write \000) at line 1 column 4"),
        (r"s: 'ok' 'a\q'", "p.M.s: unknown escape at line 1 column 11"),
        (r"s: '\400'", r"p.M.s: octal escape beyond \377 at line 1 column 5"),
        (r"s: '\xg'", r"p.M.s: escape \x without digits at line 1 column 5"),
        (r"s: '\u12'", r"p.M.s: escape \u without four digits at line 1 column 5"),
        (r"s: '\U0001234'", r"p.M.s: escape \U without eight digits at line 1 column 5"),
        (r"s: '\U00110000'", "p.M.s: escape of what is no character of Unicode at line 1 column 5"),
        (r"y: '\ud801\udc37'", "p.M.y: escape of what is no character of Unicode at line 1 column 5"),
        ("e: BLUE", r#"p.M.e: unknown value "BLUE" of enum p.Color at line 1 column 4"#),
        ("e: GREN", r#"p.M.e: unknown value "GREN" of enum p.Color (did you mean "GREEN"?) at line 1 column 4"#),
        ("e: 2", "p.M.e: unknown value 2 of enum p.Color at line 1 column 4"),
        ("e: 1.5", "p.M.e: expected the name or number of an enum's value, got 1.5 at line 1 column 4"),
        ("e: 4294967296", "p.M.e: 4294967296 is out of range for enum at line 1 column 4"),
        ("i32: 1 i32: 2", "p.M.i32: given twice at line 1 column 8"),
        ("m {} m {}", "p.M.m: given twice at line 1 column 6"),
        ("x: 1 om {}", r#"p.M.om: oneof o: "x" is set already at line 1 column 6"#),
        ("i32: [1]", "p.M.i32: expected a whole number, got [ at line 1 column 6"),
        ("list [1]", r#"p.M.list: expected ":", got [ at line 1 column 6"#),
        ("list: [1,]", "p.M.list[2]: expected a whole number, got ] at line 1 column 10"),
        ("list: [1; 2]", r#"p.M.list: expected "," or "]", got ; at line 1 column 9"#),
        ("list: [1 2]", r#"p.M.list: expected "," or "]", got 2 at line 1 column 10"#),
        ("list: [[1]]", "p.M.list[1]: expected a whole number, got [ at line 1 column 8"),
        (
            "list: [1, 2] list: 3 i32: 1 list: 4 list: x",
            "p.M.list[5]: expected a whole number, got x at line 1 column 43",
        ),
        (
            "ms {} ms {} ms { m { u32: true } }",
            "p.M.ms[3].m.u32: expected a whole number, got true at line 1 column 27",
        ),
        ("ms: 1", r#"p.M.ms[1]: expected "{", got 1 at line 1 column 5"#),
        ("map { key: 'a' value: x }", r#"p.M.map["a"]: expected a whole number, got x at line 1 column 23"#),
        ("map { key: 1 }", "p.M.map: expected a string, got 1 at line 1 column 12"),
        ("map { key: 'a' key: 'b' }", r#"p.M.map["a"]: given twice at line 1 column 16"#),
        ("map { value: 1 x: 1 }", r#"p.M.map: unknown field "x" at line 1 column 16"#),
        (
            "map_m { key: 7 value { m { e: X } } }",
            r#"p.M.map_m[7].m.e: unknown value "X" of enum p.Color at line 1 column 31"#,
        ),
        ("map_m { value { i32: 1 b: 2 } key: 7 }", "p.M.map_m.b: expected true or false, got 2 at line 1 column 27"),
        ("nmaes: 'a'", r#"p.M: unknown field "nmaes" (did you mean "names"?) at line 1 column 1"#),
        ("m {\n  grüße: 1\n}", r#"p.M.m: unknown field "gr" at line 2 column 3"#),
        ("m {\n  i32: 1 ü\n}", r#"p.M.m: unexpected character "ü" at line 2 column 10"#),
        ("\x01", r#"p.M: control character "\u{1}" at line 1 column 1"#),
        ("extgroup {}", r#"p.M: unknown field "extgroup" (did you mean "[p.extgroup]"?) at line 1 column 1"#),
        ("GROUP {}", r#"p.M: unknown field "GROUP" (did you mean "Group"?) at line 1 column 1"#),
        ("[p.ExtGroup] {}", r#"p.M: unknown field "[p.ExtGroup]" (did you mean "[p.extgroup]"?) at line 1 column 1"#),
        ("[ext]: 1", r#"p.M: unknown field "[ext]" (did you mean "[p.ext]"?) at line 1 column 1"#),
        ("ext: 1", r#"p.M: unknown field "ext" (did you mean "[p.ext]"?) at line 1 column 1"#),
        ("[i32]: 1", r#"p.M: unknown field "[i32]" (did you mean "i32"?) at line 1 column 1"#),
        ("[p.ext: 1", r#"p.M: expected "]", got : at line 1 column 7"#),
        ("1: 2", "p.M: expected a field name, got 1 at line 1 column 1"),
        ("i32: 1,, u32: 2", "p.M: expected a field name, got , at line 1 column 8"),
        ("m { i32: 1 >", r#"p.M.m: expected a field name or "}", got > at line 1 column 12"#),
        ("m { i32: 1", r#"p.M.m: expected a field name or "}", got the end of the text at line 1 column 11"#),
        ("m: {}}", "p.M: expected a field name, got } at line 1 column 6"),
        ("{ i32: 1 }", "p.M: expected a field name, got { at line 1 column 1"),
        ("gone", r#"p.M: expected "{", got the end of the text at line 1 column 5"#),
        ("gone: [1,]", "p.M: expected a value, got ] at line 1 column 10"),
        ("gone: -x", "p.M: expected a value, got x at line 1 column 8"),
        (r"gone: '\q'", "p.M: unknown escape at line 1 column 8"),
        ("gone { x: 1", "p.M: expected a field name, got the end of the text at line 1 column 12"),
    ] {
        assert_eq!(bytes(&types, "p.M", from), Err(error.into()), "{from}");
    }
    let raw = |text: &[u8]| bytes_within(&types, "p.M", text, super::super::tests::ENOUGH);
    assert_eq!(raw(b"y: '\xff'").map(|b| escaped(&b)), Ok(escaped(b"R\x01\xff")));
    assert_eq!(raw(b"\xff\xfe"), Err(r#"p.M: unexpected character "\xff" at line 1 column 1"#.into()));
    assert_eq!(set("[p.item] { }"), Err("p.Set.[p.item].id: required field missing".into()));
}

#[test]
fn open_enums_and_valid_strings() {
    let types = types(OPEN);
    let one = |text: &str| bytes(&types, "q.P", text).map(|b| escaped(&b));
    for (from, to) in [
        ("i: 0 s: '' y: '' d: 0 e: ZERO b: false", &b""[..]),
        ("o: 0", b"\x30\x00"),
        ("e: 42", b"\x28\x2a"),
        ("list: [ONE, 7, -1]", b"\x52\x0c\x01\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ("es { key: 5 value: 9 } es { key: 6 }", b"\x42\x04\x08\x05\x10\x09\x42\x04\x08\x06\x10\x00"),
        ("bs { key: t value: 'x' } bs { key: True value: 'y' }", b"\x4a\x05\x08\x01\x12\x01y"),
        (r"y: '\300'", b"\x1a\x01\xc0"),
    ] {
        assert_eq!(one(from), Ok(escaped(to)), "{from}");
    }
    assert_eq!(one(r"s: 'a' '\300'"), Err("q.P.s: invalid UTF-8 at line 1 column 4".into()));
    assert_eq!(one(r"bs { key: true value: '\xff' }"), Err("q.P.bs[true]: invalid UTF-8 at line 1 column 23".into()));
    // Two literals may be one character.
    assert_eq!(one(r"s: '\303' '\274'"), Ok(escaped("\x12\x02ü".as_bytes())));
    for (bytes, line) in [
        (&b"\x08\x00\x12\x00\x1a\x00\x21\x00\x00\x00\x00\x00\x00\x00\x00\x28\x00\x38\x00"[..], ""),
        (b"\x21\x00\x00\x00\x00\x00\x00\x00\x80\x30\x00\x58\x00", "d: -0 o: 0 m: 0"),
        (b"\x28\x2a\x52\x02\x01\x07", "e: 42 list: ONE list: 7"),
        (b"\x42\x02\x08\x05\x42\x02\x10\x01", "es { key: 0 value: ONE } es { key: 5 value: ZERO }"),
    ] {
        assert_eq!(text(&types, "q.P", bytes, &LINE), Ok(line.into()), "{line}");
    }
}

#[test]
fn bytes_are_written() {
    let types = types(SCHEMA);
    for (from, line) in [
        ("", ""),
        ("i32: -1 u32: 2 i64: -3 u64: 18446744073709551615", "i32: -1 u32: 2 i64: -3 u64: 18446744073709551615"),
        ("f: 0.1 d: 0.1", "f: 0.1 d: 0.1"),
        ("f: -inf d: nan", "f: -inf d: nan"),
        ("f: inf d: -nan", "f: inf d: nan"),
        ("d: 1e100 b: t", "d: 1e100 b: true"),
        (
            r#"s: '\'"\n\r\t\\\0\1771ü🎉\u0085' y: 'ü\0011\n'"#,
            "s: \"'\\\"\\n\\r\\t\\\\\\000\\1771ü🎉\u{85}\" y: \"\\303\\274\\0011\\n\"",
        ),
        (r#"s: 'ü\3009'"#, r#"s: "ü\3009""#),
        ("e: 1 m { m { } }", "e: GREEN m { m {} }"),
        ("list: [1, 2] ms: [{}, { i32: 1 }]", "list: 1 list: 2 ms {} ms { i32: 1 }"),
        ("map { key: 'a' } map { key: 'b' value: 2 }", r#"map { key: "a" value: 0 } map { key: "b" value: 2 }"#),
        ("map_m { key: 4294967295 }", "map_m { key: 4294967295 value {} }"),
        ("Group { a: 1 } ManyGroups {}", "Group { a: 1 } ManyGroups {}"),
        (
            "[p.extgroup] { a: 1 } [p.ext]: 1 [p.Scope.inner]: 'a'",
            r#"[p.ext]: 1 [p.extgroup] { a: 1 } [p.Scope.inner]: "a""#,
        ),
    ] {
        let bytes = bytes(&types, "p.M", from).unwrap();
        let written = text(&types, "p.M", &bytes, &LINE).unwrap();
        assert_eq!(written, line, "{from}");
        assert_eq!(super::tests::bytes(&types, "p.M", &written), Ok(bytes), "{from}");
    }
    let bytes = bytes(&types, "p.M", "m { list: [1, 2] m {} ms { i32: 1 } } e: 0").unwrap();
    let lines = "e: RED\nm {\n  m {}\n  list: 1\n  list: 2\n  ms {\n    i32: 1\n  }\n}\n";
    assert_eq!(text(&types, "p.M", &bytes, &MULTI), Ok(lines.into()));
    assert_eq!(text(&types, "p.Set", b"\x0b\x10\x05\x1a\x02\x08\x01\x0c", &LINE), Ok("[p.item] { id: 1 }".into()));
}

#[test]
fn anys_are_expanded() {
    let types = types(SCHEMA);
    let url = "type.googleapis.com/p.M";
    let raw = |url: &str, value: &str| format!(r#"any {{ type_url: "{url}" value: "{value}" }}"#);
    for (from, same) in [
        ("any { [type.googleapis.com/p.M] { i32: 1 } }", raw(url, r"\x08\x01")),
        ("any: < [type.googleapis.com/p.M]: <> ; >", format!(r#"any {{ type_url: "{url}" }}"#)),
        ("any { [ type.goo # x ]\ngleapis.com/\tp . M ] { i32: 1 }, }", raw(url, r"\x08\x01")),
        ("any { [a.b/%2F-~!$&()*+,;=/p.M] { i32: 1 } }", raw("a.b/%2F-~!$&()*+,;=/p.M", r"\x08\x01")),
        (
            "any { [a/google.protobuf.Any] { [b/p.Needs] { id: 1 } } }",
            raw("a/google.protobuf.Any", r"\x0a\x09b/p.Needs\x12\x02\x08\x01"),
        ),
    ] {
        assert_eq!(bytes(&types, "p.M", from), bytes(&types, "p.M", &same), "{from}");
        assert!(bytes(&types, "p.M", from).is_ok(), "{from}");
    }
    assert_eq!(bytes(&types, "google.protobuf.Any", "[a/p.M] {}").map(|b| escaped(&b)), Ok(escaped(b"\x0a\x05a/p.M")));
    for (from, error) in [
        ("any { [p.M] {} }", r#"p.M.any: type URL without a prefix: "p.M" at line 1 column 7"#),
        ("any { [/p.M] {} }", r#"p.M.any: type URL that begins with /: "/p.M" at line 1 column 7"#),
        (
            "any { [a/%2/p.M] {} }",
            "p.M.any: type URL with a % that no two hexadecimal digits follow: \"a/%2/p.M\" at line 1 column 7",
        ),
        ("any { [a/] {} }", r#"p.M.any: type URL without the name of a type: "a/" at line 1 column 7"#),
        ("any { [a/.p.M] {} }", r#"p.M.any: type URL without the name of a type: "a/.p.M" at line 1 column 7"#),
        ("any { [a/p.N] {} }", r#"p.M.any: unknown type "p.N" (did you mean "p.M"?) at line 1 column 7"#),
        ("any { [a/p.M.MapEntry] {} }", r#"p.M.any: p.M.MapEntry is the entry of a map at line 1 column 7"#),
        ("any { [a/p.M] {} [a/p.M] {} }", "p.M.any: a type in brackets must stand alone at line 1 column 18"),
        ("any { type_url: 'a/p.M' [a/p.M] {} }", "p.M.any: a type in brackets must stand alone at line 1 column 25"),
        ("any { [a/p.M] {} value: '' }", "p.M.any.value: given twice at line 1 column 18"),
        (
            "any { [a/p.M] { list: [1, x] } }",
            "p.M.any.[p.M].list[2]: expected a whole number, got x at line 1 column 27",
        ),
        ("any { [a/p.Needs] {} }", "p.M.any.[p.Needs].id: required field missing at line 1 column 7"),
        ("any { [a/p.M] 1 }", r#"p.M.any.[p.M]: expected "{", got 1 at line 1 column 15"#),
        ("any { [a/p.M \"x\"] {} }", r#"p.M.any: expected "]", got "x" at line 1 column 14"#),
        ("m { [a/p.M] {} }", r#"p.M.m: unknown field "[a/p.M]" at line 1 column 5"#),
    ] {
        assert_eq!(bytes(&types, "p.M", from), Err(error.into()), "{from}");
    }
    for (from, line) in [
        (raw(url, r"\x08\x01"), format!("any {{ [{url}] {{ i32: 1 }} }}")),
        (raw(url, ""), format!("any {{ [{url}] {{}} }}")),
        // What cannot be read, has no type, or has another's name.
        (raw(url, r"\x08"), format!(r#"any {{ type_url: "{url}" value: "\010" }}"#)),
        (raw("a/p.Needs", ""), r#"any { type_url: "a/p.Needs" }"#.into()),
        (raw("a/p.X", "a"), r#"any { type_url: "a/p.X" value: "a" }"#.into()),
        (raw("a/p.M.MapEntry", "a"), r#"any { type_url: "a/p.M.MapEntry" value: "a" }"#.into()),
        (raw("p.M", ""), r#"any { type_url: "p.M" }"#.into()),
        // In brackets, these would read as others.
        (raw("a b/p.M", ""), r#"any { type_url: "a b/p.M" }"#.into()),
        (raw("a#/p.M", ""), r#"any { type_url: "a#/p.M" }"#.into()),
        ("any {}".into(), "any {}".into()),
    ] {
        let bytes = bytes(&types, "p.M", &from).unwrap();
        let written = text(&types, "p.M", &bytes, &LINE).unwrap();
        assert_eq!(written, line);
        assert_eq!(super::tests::bytes(&types, "p.M", &written), Ok(bytes), "{from}");
    }
}

#[test]
fn unknown_fields_are_written_by_number() {
    let types = types(SCHEMA);
    let unknown = |bytes: &[u8]| text(&types, "p.Needs", &[b"\x08\x01", bytes].concat(), &ALL);
    for (bytes, line) in [
        (&b""[..], "id: 1"),
        (b"\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "id: 1 5: 18446744073709551615"),
        (b"\x2d\x0f\x00\x00\x00", "id: 1 5: 0x0000000f"),
        (b"\x29\x0f\x00\x00\x00\x00\x00\x00\x00", "id: 1 5: 0x000000000000000f"),
        (b"\x2a\x05hello", "id: 1 5: \"hello\""),
        (b"\x2a\x02\x08\x01", "id: 1 5 { 1: 1 }"),
        (b"\x2a\x00", "id: 1 5: \"\""),
        (b"\x2a\x02\xc3\xbc", "id: 1 5: \"\\303\\274\""),
        (b"\x2b\x08\x01\x2c", "id: 1 5 { 1: 1 }"),
        (b"\x2b\x33\x34\x2c\x30\x07", "id: 1 5 { 6 {} } 6: 7"),
        (b"\x2a\x03\x2b\x2c\x2b", "id: 1 5: \"+,+\""),
    ] {
        assert_eq!(unknown(bytes), Ok(line.into()));
        assert_eq!(text(&types, "p.Needs", &[b"\x08\x01", bytes].concat(), &LINE), Ok("id: 1".into()));
    }
    let any = b"\xba\x01\x0b\x0a\x05a/p.M\x12\x02\x30\x01";
    assert_eq!(text(&types, "p.M", any, &ALL), Ok("any { [a/p.M] { 6: 1 } }".into()));
    // Strings within strings look like messages; beyond ten levels nobody looks.
    let mut bytes = b"\x0a\x00".to_vec();
    for _ in 0..20 {
        bytes = [&[0x0a, u8::try_from(bytes.len()).unwrap()], &*bytes].concat();
    }
    let bytes = [b"\x12", &[u8::try_from(bytes.len()).unwrap()], &*bytes].concat();
    let line = unknown(&bytes).unwrap();
    assert_eq!(line.matches('{').count(), 10, "{line}");
}

fn budget(depth: u32, bytes: u64) -> Budget {
    Budget { depth, bytes }
}

#[test]
fn depth_is_limited() {
    let types = types(SCHEMA);
    let nested = |open: &str, close: &str, n| [open.repeat(n), close.repeat(n)].concat();
    for (open, close) in [
        ("m{", "}"),
        ("ms:[<", ">]"),
        ("map_m{value{", "}}"),
        ("Group{", "}"),
        ("gone{", "}"),
        ("gone:[{a<", ">}]"),
        ("any{[a/p.M]{", "}}"),
    ] {
        // Groups hold no groups, and an Any is a level too.
        let group = open == "Group{";
        let per = nested(open, "", 1).matches(['{', '<']).count() - usize::from(open.starts_with("map"));
        let n = if group { 1 } else { 6 };
        let deep = nested(open, close, n);
        let levels = u32::try_from(per * n).unwrap();
        let run = |depth| bytes_within(&types, "p.M", deep.as_bytes(), budget(depth, 1 << 30));
        assert!(run(levels).is_ok(), "{:?}", run(levels));
        let error = run(levels - 1).unwrap_err();
        assert!(error.contains(": nested too deeply (option depth) at line 1"), "{error}");
    }
    // The stack holds what the option may allow, and no text goes deeper.
    let most = budget(1000, 1 << 30);
    let bytes = bytes_within(&types, "p.M", nested("m{", "}", 1000).as_bytes(), most).unwrap();
    assert!(bytes.len() > 2000);
    for open in ["m{", "m<", "any{[a/p.M]{", "gone{", "gone{a:[{", "[p.ext_ms]:[{", "map_m{value{"] {
        let error = bytes_within(&types, "p.M", open.repeat(500_000).as_bytes(), most).unwrap_err();
        assert!(error.contains(": nested too deeply"), "{error}");
    }
    for text in ["gone:", "list:[", "m:", "gone:[", "[", "m:[", "'", "-", "\\"] {
        assert!(bytes_within(&types, "p.M", text.repeat(500_000).as_bytes(), most).is_err());
    }
}

#[test]
fn depth_is_limited_when_writing() {
    let types = types(SCHEMA);
    let m = types.find_message("p.M").unwrap();
    let trace = Trace::default();
    let mut tree = Tree::default();
    let mut cx = context(&types.set, &trace);
    let from = b"ms { map_m { key: 1 value { m {} } } }";
    let root = read(from, m, &types, &mut tree, &mut cx).unwrap();
    for (depth, bytes, error) in [
        (3, 1 << 20, None),
        (2, 1 << 20, Some("p.M.ms[1].map_m[1].m: nested too deeply (option depth)")),
        (1, 1 << 20, Some("p.M.ms[1].map_m[1]: nested too deeply (option depth)")),
        (0, 1 << 20, Some("p.M.ms[1]: nested too deeply (option depth)")),
        (3, 10, Some("p.M.ms[1].map_m[1]: too large for option max_bytes")),
    ] {
        cx.budget = budget(depth, bytes);
        let told = match write(&tree, root, m, &types, &MULTI, &mut String::new(), &mut cx) {
            Ok(()) => None,
            Err(_) => Some(told(&trace, "p.M")),
        };
        assert_eq!(told.as_deref(), error);
    }
}

#[test]
fn memory_is_limited() {
    let types = types(SCHEMA);
    for text in [
        "i32: 1 ".into(),
        "list: [1, 2]".into(),
        "map { }".into(),
        "ms {} ".repeat(10),
        format!("s: '{}'", "x".repeat(100)),
        format!("any {{ [a/p.M] {{ s: '{}' }} }}", "x".repeat(100)),
    ] {
        let run = |bytes| bytes_within(&types, "p.M", text.as_bytes(), budget(10, bytes));
        assert!(run(1 << 20).is_ok());
        let least = (0..).find(|bytes| run(*bytes).is_ok()).unwrap();
        assert!(least >= Tree::ENTRY && least as usize >= text.len().saturating_sub(30), "{least}: {text}");
        let error = run(least - 1).unwrap_err();
        assert!(error.contains("too large for option max_bytes at line 1"), "{error}");
    }
}

#[test]
fn large_texts_take_linear_time() {
    const MANY: usize = 200_000;
    let types = types(SCHEMA);
    let start = std::time::Instant::now();
    let ok = |text: String| bytes_within(&types, "p.M", text.as_bytes(), budget(10, 1 << 32)).unwrap().len();
    assert_eq!(ok("list: 1 ".repeat(MANY)), MANY + 4);
    assert_eq!(ok("list: 1 [p.ext_ms] {}".repeat(MANY)), MANY + 4 + 3 * MANY);
    assert_eq!(ok("ms { list: 1 } ".repeat(MANY)), 5 * MANY);
    assert_eq!(ok(format!("list: [{}1]", "1,".repeat(MANY))), MANY + 5);
    assert_eq!(ok((0..MANY).map(|i| format!("map {{ key: '{:06}' }} ", i / 2)).collect()), MANY / 2 * 12);
    assert_eq!(ok("map { key: 'a' } ms {}".repeat(MANY)), 7 + 2 * MANY);
    assert_eq!(ok(format!("s: {}", "'x' ".repeat(MANY))), MANY + 4);
    assert_eq!(ok("gone: 'x' ".repeat(MANY)), 0);
    assert_eq!(ok(format!("f: 0.{}", "1".repeat(MANY))), 5);
    assert_eq!(ok(format!("f: {}", "1".repeat(MANY))), 5);
    let fails = |text: String| bytes_within(&types, "p.M", text.as_bytes(), budget(10, 1 << 32)).unwrap_err().len();
    assert!(fails(format!("i32: {}", "1".repeat(MANY))) < 200);
    assert!(fails(format!("i32: {}", "x".repeat(MANY))) < 200);
    assert!(fails(format!("i32: 1{}", "x".repeat(MANY))) < 200);
    assert!(fails(format!("i32: '{}'", "x".repeat(MANY))) < 200);
    assert!(fails(format!("[{}]: 1", "x".repeat(MANY))) < 200);
    assert!(fails("x".repeat(MANY)) < 200);
    // Minutes, if anything were quadratic.
    assert!(start.elapsed().as_secs() < 60);
}

#[test]
fn messages_of_many_fields() {
    use std::fmt::Write;
    let mut source = String::from("syntax = \"proto3\"; package w; message W { ");
    for i in 1..=100 {
        let _ = write!(source, "optional int32 f{i} = {i}; ");
    }
    source.push_str("oneof o { int32 a = 101; int32 b = 102; } oneof q { int32 c = 103; int32 d = 104; } }");
    let types = types(&source);
    for i in [1, 64, 65, 100] {
        let error = format!("w.W.f{i}: given twice at line 1 column ");
        assert!(bytes(&types, "w.W", &format!("f{i}: 1 f2: 1 f{i}: 2")).unwrap_err().starts_with(&error), "{i}");
    }
    assert_eq!(bytes(&types, "w.W", "a: 1 c: 2").map(|b| b.len()), Ok(6));
    for (a, b, o) in [("a", "b", "o"), ("d", "c", "q")] {
        let error = format!("w.W.{b}: oneof {o}: \"{a}\" is set already at line 1 column 12");
        assert_eq!(bytes(&types, "w.W", &format!("{a}: 1 f9: 2 {b}: 2")), Err(error));
    }
}

/// No text makes it panic: pieces of all kinds in any order.
#[test]
fn any_text_is_read_or_refused() {
    let types = types(SCHEMA);
    let pieces: &[&[u8]] = &[
        b"m",
        b"ms",
        b"map_m",
        b"any",
        b"i32",
        b"s",
        b"gone",
        b"value",
        b"key",
        b"[a/p.M]",
        b"[p.ext]",
        b"{",
        b"}",
        b"<",
        b">",
        b"[",
        b"]",
        b":",
        b",",
        b";",
        b"-",
        b"1",
        b"0x",
        b"1.5f",
        b"'a'",
        b"\"",
        b"\\",
        b" ",
        b"\n",
        b"#",
        b"\xff",
        b"nan",
        b"Group",
        b"\0",
        b"{}",
        b": {",
        b"list: [1",
    ];
    let mut state = 1u64;
    for _ in 0..20_000 {
        let mut text = Vec::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.extend_from_slice(pieces[(state >> 33) as usize % pieces.len()]);
            text.extend_from_slice(if state >> 63 == 0 { b" " } else { b"" });
        }
        if let Ok(bytes) = bytes_within(&types, "p.M", &text, super::super::tests::ENOUGH) {
            let written = super::tests::text(&types, "p.M", &bytes, &MULTI).unwrap();
            assert_eq!(super::tests::bytes(&types, "p.M", &written), Ok(bytes), "{written}");
        }
    }
}
