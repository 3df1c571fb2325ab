//! JSON to bytes and bytes to JSON, by way of trees.

use super::{Style, read, write};
use crate::error::{Text, Trace};
use crate::format::tests::context;
use crate::format::{Indent, Place, Tree, decode, encode};
use crate::schema::Types;
use crate::schema::tests::registry;
use crate::wire::Writer;

const SCHEMA: &str = r#"
    syntax = "proto2";
    package p;
    import "google/protobuf/any.proto";
    import "google/protobuf/duration.proto";
    import "google/protobuf/field_mask.proto";
    import "google/protobuf/struct.proto";
    import "google/protobuf/timestamp.proto";
    import "google/protobuf/wrappers.proto";
    message M {
        optional int32 foo_bar = 1;
        optional sint64 s64 = 2;
        optional fixed64 u64 = 3;
        optional float f = 4;
        optional double d = 5;
        optional bool ok = 6;
        optional string s = 7;
        optional bytes b = 8;
        optional E e = 9;
        repeated uint32 list = 10;
        map<string, M> names = 11;
        map<bool, int64> flags = 12;
        map<fixed32, E> numbers = 13;
        oneof o { M m = 14; int32 i = 15; google.protobuf.NullValue nil = 16; }
        optional group Gr = 17 { optional int32 a = 1; }
        optional string named = 18 [json_name = "@x"];
        repeated E es = 19;
        optional google.protobuf.Any any = 20;
        optional google.protobuf.Timestamp time = 21;
        optional google.protobuf.Duration span = 22;
        optional google.protobuf.FieldMask mask = 23;
        optional google.protobuf.Struct object = 24;
        optional google.protobuf.Value value = 25;
        optional google.protobuf.ListValue values = 26;
        optional google.protobuf.UInt64Value wrapped = 27;
        repeated google.protobuf.Value each = 28;
        extensions 100 to 200;
    }
    enum E { ZERO = 0; ONE = 1; }
    extend M { optional int32 ext = 100; }
    message Needs { required int32 a = 1; }
"#;

fn types() -> std::sync::Arc<Types> {
    registry(SCHEMA).types().clone()
}

/// Bytes of what `text` is as the type called `name`, escaped, or the error.
fn from(types: &Types, name: &str, text: &[u8], lenient: bool) -> String {
    let (trace, mut tree, mut w) = (Trace::default(), Tree::default(), Writer::default());
    let m = types.find_message(name).unwrap();
    let mut told = Text::new();
    let root = match read(text, m, types, lenient, &mut tree, &mut context(&types.set, &trace)) {
        Ok(root) => root,
        Err(wrong) => {
            trace.tell(&m.name, None, &mut told);
            return format!("{}, {}", String::from_utf8_lossy(told.as_bytes()), Place::of(text, wrong.at));
        }
    };
    match encode(&tree, root, m, &mut w, &mut context(&types.set, &trace)) {
        Ok(()) => w.written().escape_ascii().to_string(),
        Err(_) => {
            trace.tell(&m.name, None, &mut told);
            String::from_utf8_lossy(told.as_bytes()).into_owned()
        }
    }
}

/// JSON of the type called `name`, or the error.
fn to(types: &Types, name: &str, bytes: &[u8], style: &Style) -> String {
    let (trace, mut tree, mut out) = (Trace::default(), Tree::default(), Vec::new());
    let m = types.find_message(name).unwrap();
    let Ok(root) = decode(bytes, m, &mut tree, &mut context(&types.set, &trace)) else {
        return "malformed".to_owned();
    };
    if write(&tree, root, m, types, style, &mut out, &mut context(&types.set, &trace)).is_err() {
        let mut told = Text::new();
        trace.tell(&m.name, None, &mut told);
        return String::from_utf8_lossy(told.as_bytes()).into_owned();
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn values_go_both_ways() {
    let types = types();
    for (json, bytes) in [
        ("{}", &b""[..]),
        (r#"{"fooBar":-2}"#, b"\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        (r#"{"s64":"-9223372036854775808"}"#, b"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        (r#"{"u64":"18446744073709551615"}"#, b"\x19\xff\xff\xff\xff\xff\xff\xff\xff"),
        (r#"{"f":0.1}"#, b"\x25\xcd\xcc\xcc\x3d"),
        (r#"{"f":3.4028235e38}"#, b"\x25\xff\xff\x7f\x7f"),
        (r#"{"d":-0.0}"#, b"\x29\0\0\0\0\0\0\0\x80"),
        (r#"{"d":"NaN"}"#, b"\x29\0\0\0\0\0\0\xf8\x7f"),
        (r#"{"d":"-Infinity"}"#, b"\x29\0\0\0\0\0\0\xf0\xff"),
        (r#"{"ok":false}"#, b"\x30\0"),
        (r#"{"s":"é\"\\\n\u0001"}"#, b"\x3a\x06\xc3\xa9\"\\\n\x01"),
        (r#"{"b":"+/8="}"#, b"\x42\x02\xfb\xff"),
        (r#"{"e":"ONE"}"#, b"\x48\x01"),
        (r#"{"list":[1,4294967295]}"#, b"\x50\x01\x50\xff\xff\xff\xff\x0f"),
        (r#"{"names":{"a":{"fooBar":1},"":{}}}"#, b"\x5a\x07\x0a\x01a\x12\x02\x08\x01\x5a\x04\x0a\0\x12\0"),
        (r#"{"flags":{"true":"1"}}"#, b"\x62\x04\x08\x01\x10\x01"),
        (r#"{"numbers":{"4294967295":"ZERO"}}"#, b"\x6a\x07\x0d\xff\xff\xff\xff\x10\0"),
        (r#"{"m":{"i":3}}"#, b"\x72\x02\x78\x03"),
        (r#"{"nil":null}"#, b"\x80\x01\0"),
        (r#"{"nil":5}"#, b"\x80\x01\x05"),
        (r#"{"gr":{"a":5}}"#, b"\x8b\x01\x08\x05\x8c\x01"),
        (r#"{"@x":"y"}"#, b"\x92\x01\x01y"),
        (r#"{"[p.ext]":7}"#, b"\xa0\x06\x07"),
        (r#"{"time":"1970-01-01T00:00:01.500Z"}"#, b"\xaa\x01\x08\x08\x01\x10\x80\xca\xb5\xee\x01"),
        (r#"{"span":"-1s"}"#, b"\xb2\x01\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        (r#"{"mask":"a,"}"#, b"\xba\x01\x05\x0a\x01a\x0a\0"),
        (r#"{"mask":"a.bC,d"}"#, b"\xba\x01\x0a\x0a\x05a.b_c\x0a\x01d"),
        (r#"{"object":{"a":null}}"#, b"\xc2\x01\x09\x0a\x07\x0a\x01a\x12\x02\x08\0"),
        (
            r#"{"value":[1.5,"x",true,{}]}"#,
            b"\xca\x01\x1a2\x18\x0a\x09\x11\0\0\0\0\0\0\xf8?\x0a\x03\x1a\x01x\x0a\x02 \x01\x0a\x02*\0",
        ),
        (r#"{"value":null}"#, b"\xca\x01\x02\x08\0"),
        (r#"{"values":[]}"#, b"\xd2\x01\0"),
        (r#"{"wrapped":"5"}"#, b"\xda\x01\x02\x08\x05"),
        (r#"{"each":[null,"a"]}"#, b"\xe2\x01\x02\x08\0\xe2\x01\x03\x1a\x01a"),
        (r#"{"any":{}}"#, b"\xa2\x01\0"),
        (r#"{"any":{"@type":"x/p.M","fooBar":1}}"#, b"\xa2\x01\x0b\x0a\x05x/p.M\x12\x02\x08\x01"),
        (
            r#"{"any":{"@type":"x/google.protobuf.Duration","value":"1s"}}"#,
            b"\xa2\x01\x20\x0a\x1ax/google.protobuf.Duration\x12\x02\x08\x01",
        ),
        (
            r#"{"any":{"@type":"x/google.protobuf.Any","value":{"@type":"x/p.M","i":2}}}"#,
            b"\xa2\x01\x24\x0a\x15x/google.protobuf.Any\x12\x0b\x0a\x05x/p.M\x12\x02\x78\x02".as_slice(),
        ),
    ] {
        assert_eq!(to(&types, "p.M", bytes, &Style::default()), json);
        let read = from(&types, "p.M", json.as_bytes(), false);
        assert_eq!(read, bytes.escape_ascii().to_string(), "{json}");
    }
}

#[test]
fn other_spellings_are_read() {
    let types = types();
    for (json, bytes) in [
        (" \t\r\n{ \"foo_bar\" : 1 , \"s\":\"\" } \n", &b"\x08\x01\x3a\0"[..]),
        (r#"{"fooBar":"1"}"#, b"\x08\x01"),
        (r#"{"fooBar":1.0e2}"#, b"\x08\x64"),
        (r#"{"u64":1.8446744073709551615e19}"#, b"\x19\xff\xff\xff\xff\xff\xff\xff\xff"),
        (r#"{"f":"1.5"}"#, b"\x25\0\0\xc0?"),
        (r#"{"b":"-_8"}"#, b"\x42\x02\xfb\xff"),
        (r#"{"e":1,"es":[0,"ONE"]}"#, b"\x48\x01\x98\x01\0\x98\x01\x01"),
        (r#"{"named":"y"}"#, b"\x92\x01\x01y"),
        (r#"{"fooBar":null,"list":null,"names":null,"m":null,"time":null,"wrapped":null,"any":null}"#, b""),
        (r#"{"m":null,"i":1}"#, b"\x78\x01"),
        (r#"{"nil":"NULL_VALUE"}"#, b"\x80\x01\0"),
        (r#"{"any":{"fooBar":1,"@type":"x/p.M"}}"#, b"\xa2\x01\x0b\x0a\x05x/p.M\x12\x02\x08\x01"),
        (r#"{"\u0073":"\ud83d\ude01\/"}"#, b"\x3a\x05\xf0\x9f\x98\x81/"),
        (r#"{"values":[[]]}"#, b"\xd2\x01\x04\x0a\x022\0"),
    ] {
        assert_eq!(from(&types, "p.M", json.as_bytes(), false), bytes.escape_ascii().to_string(), "{json}");
    }
}

#[test]
fn errors_tell_path_and_place() {
    let types = types();
    for (json, told) in [
        ("", "p.M: expected object, got the end, at line 1 column 1"),
        ("null", "p.M: expected object, got null, at line 1 column 1"),
        ("{", "p.M: expected a key in double quotes, got the end, at line 1 column 2"),
        ("{}}", "p.M: expected the end, got '}', at line 1 column 3"),
        ("{\"s\":\"\",}", "p.M: expected a key in double quotes, got '}', at line 1 column 9"),
        ("{'s':1}", "p.M: expected a key in double quotes, got '\\'', at line 1 column 2"),
        ("{\"s\" \"\"}", "p.M: expected ':', got string, at line 1 column 6"),
        ("{\"s\":\"\" \"b\":\"\"}", "p.M: expected ',' or '}', got string, at line 1 column 9"),
        ("{\n \"s\":\n  1}", "p.M.s: expected string, got number, at line 3 column 3"),
        (r#"{"fooBa":1}"#, r#"p.M: unknown field "fooBa" (did you mean "fooBar"?), at line 1 column 2"#),
        (r#"{"?unknown":"a"}"#, r#"p.M: unknown field "?unknown", at line 1 column 2"#),
        (r#"{"p.ext":1}"#, r#"p.M: unknown field "p.ext" (did you mean "[p.ext]"?), at line 1 column 2"#),
        (r#"{"fooBar":1,"foo_bar":1}"#, r#"p.M: key "foo_bar" comes twice, at line 1 column 13"#),
        (r#"{"m":{},"i":1}"#, r#"p.M: oneof o: both "m" and "i" are set, at line 1 column 9"#),
        (r#"{"fooBar":2147483648}"#, "p.M.foo_bar: expected int32, got 2147483648 (out of range), at line 1 column 11"),
        (r#"{"fooBar":1.5}"#, "p.M.foo_bar: expected int32, got 1.5 (not a whole number), at line 1 column 11"),
        (r#"{"fooBar":" 1"}"#, "p.M.foo_bar: expected int32, got \" 1\", at line 1 column 11"),
        (r#"{"fooBar":true}"#, "p.M.foo_bar: expected int32, got true, at line 1 column 11"),
        (r#"{"fooBar":01}"#, "p.M.foo_bar: malformed number, at line 1 column 11"),
        (r#"{"fooBar":""}"#, "p.M.foo_bar: expected int32, got \"\", at line 1 column 11"),
        (r#"{"fooBar":"1.5"}"#, "p.M.foo_bar: expected int32, got \"1.5\" (not a whole number), at line 1 column 11"),
        (r#"{"d":""}"#, "p.M.d: expected double, got \"\", at line 1 column 6"),
        ("{\"s\":\"a", "p.M.s: string without end, at line 1 column 6"),
        ("{\"s\":\"a\\", "p.M.s: string without end, at line 1 column 6"),
        ("{\"s\":\"ab\u{1}\"}", "p.M.s: control character in a string (write \\n, \\t, \\u0000), at line 1 column 9"),
        ("{\"s\":\"a\\x\"}", "p.M.s: malformed escape in a string, at line 1 column 9"),
        ("{\"s\":\"\\\"\n\"}", "p.M.s: control character in a string (write \\n, \\t, \\u0000), at line 1 column 9"),
        (r#"{"span":"1"}"#, "p.M.span: \"1\" is no duration like 1.5s, at line 1 column 9"),
        (r#"{"u64":-1}"#, "p.M.u64: expected fixed64, got -1 (out of range), at line 1 column 8"),
        (r#"{"f":3.5e38}"#, "p.M.f: expected float, got 3.5e38 (out of range), at line 1 column 6"),
        (r#"{"d":"inf"}"#, "p.M.d: expected double, got \"inf\", at line 1 column 6"),
        (r#"{"ok":1}"#, "p.M.ok: expected boolean, got number, at line 1 column 7"),
        (r#"{"ok":truex}"#, "p.M.ok: expected boolean, got truex, at line 1 column 7"),
        (r#"{"ok":true false}"#, "p.M: expected ',' or '}', got false, at line 1 column 12"),
        (r#"{"value":nan}"#, "p.M.value: expected value, got nan, at line 1 column 10"),
        ("\u{feff}{}", "p.M: expected object, got a byte order mark, at line 1 column 1"),
        (r#"{"e":"TWO"}"#, r#"p.M.e: unknown name "TWO" of enum p.E, at line 1 column 6"#),
        (r#"{"e":7}"#, "p.M.e: unknown number 7 of enum p.E, at line 1 column 6"),
        (r#"{"b":"a*=="}"#, "p.M.b: malformed base64, at line 1 column 6"),
        (r#"{"list":[1,null]}"#, "p.M.list[2]: expected uint32, got null, at line 1 column 12"),
        (r#"{"list":1}"#, "p.M.list: expected array, got number, at line 1 column 9"),
        (r#"{"list":[1,]}"#, "p.M.list[2]: expected uint32, got ']', at line 1 column 12"),
        (r#"{"names":{"a":null}}"#, r#"p.M.names["a"]: expected object, got null, at line 1 column 15"#),
        (r#"{"names":{"a":{"s":1}}}"#, r#"p.M.names["a"].s: expected string, got number, at line 1 column 20"#),
        (r#"{"names":[]}"#, "p.M.names: expected object, got array, at line 1 column 10"),
        (r#"{"flags":{"1":1}}"#, r#"p.M.flags["1"]: expected "true" or "false" as key, at line 1 column 11"#),
        (r#"{"numbers":{"1":"ONE","1e0":"ONE"}}"#, "p.M.numbers[1]: the key comes twice, at line 1 column 12"),
        (
            r#"{"time":"1970-01-01"}"#,
            r#"p.M.time: "1970-01-01" is no timestamp like 1970-01-01T00:00:00Z, at line 1 column 9"#,
        ),
        (r#"{"span":1}"#, "p.M.span: expected string with a duration, got number, at line 1 column 9"),
        (r#"{"mask":"a_b"}"#, r#"p.M.mask: "a_b" is no path of a field mask, at line 1 column 9"#),
        (r#"{"object":[]}"#, "p.M.object: expected object, got array, at line 1 column 11"),
        (
            r#"{"object":{"a":[{"b":tru}]}}"#,
            "p.M.object.fields[\"a\"].values[1].fields[\"b\"]: expected value, got tru, at line 1 column 22",
        ),
        (r#"{"any":{"fooBar":1}}"#, r#"p.M.any: an Any without "@type", at line 1 column 8"#),
        (r#"{"any":{"@type":"p.M"}}"#, "p.M.any: type URL \"p.M\" without prefix and type, at line 1 column 17"),
        (r#"{"any":{"@type":"x/p.M","@type":"x/p.M"}}"#, "p.M.any: unknown field \"@type\", at line 1 column 25"),
        (
            r#"{"any":{"i":1,"@type":"x/p.M","@type":"x/p.M"}}"#,
            "p.M.any: key \"@type\" comes twice, at line 1 column 31",
        ),
        (r#"{"any":{"@type":1}}"#, "p.M.any: expected string with a type URL, got number, at line 1 column 17"),
        (r#"{"any":{"@type":"x/p.N"}}"#, "p.M.any: unknown type \"p.N\" (did you mean \"p.M\"?), at line 1 column 17"),
        (r#"{"any":{"@type":"x/p.M","i":"a"}}"#, "p.M.any.i: expected int32, got \"a\", at line 1 column 29"),
        (r#"{"any":{"@type":"x/p.Needs"}}"#, "p.M.any.a: required field missing, at line 1 column 8"),
        (
            r#"{"any":{"@type":"x/google.protobuf.Duration"}}"#,
            "p.M.any: an Any of google.protobuf.Duration without \"value\", at line 1 column 8",
        ),
        ("{\"s\":\"a\nb\"}", "p.M.s: control character in a string (write \\n, \\t, \\u0000), at line 1 column 8"),
        ("{\"s\":\"\\ud800\"}", "p.M.s: malformed escape in a string, at line 1 column 13"),
        ("{\"s\":\"\\u\"\n\n}", "p.M.s: malformed escape in a string, at line 1 column 9"),
    ] {
        assert_eq!(from(&types, "p.M", json.as_bytes(), false), told, "{json}");
    }
    assert_eq!(from(&types, "p.M", b"{\"s\":\"\xff\"}", false), "p.M.s: invalid UTF-8, at line 1 column 7");
    assert_eq!(from(&types, "p.Needs", b"{}", false), "p.Needs.a: required field missing");
}

#[test]
fn unknown_members_and_names_can_be_ignored() {
    let types = types();
    for (json, bytes) in [
        (r#"{"new":{"a":[1,"x",null,true,false,{"b":-1e5}]},"i":1}"#, &b"\x78\x01"[..]),
        (r#"{"e":"TWO","es":["ONE","TWO"],"numbers":{"1":"TWO"}}"#, b"\x98\x01\x01"),
        (r#"{"any":{"@type":"x/p.M","new":1,"i":2}}"#, b"\xa2\x01\x0b\x0a\x05x/p.M\x12\x02\x78\x02"),
    ] {
        assert_eq!(from(&types, "p.M", json.as_bytes(), true), bytes.escape_ascii().to_string(), "{json}");
    }
    let told = from(&types, "p.M", br#"{"new":[1,}]}"#, true);
    assert_eq!(told, "p.M: expected value, got '}', at line 1 column 11");
}

#[test]
fn styles_change_what_is_written() {
    let types = types();
    let write = |bytes: &[u8], style| to(&types, "p.M", bytes, &style);
    let plain = Style::default();
    let bytes = b"\x08\x01\x48\x01\x50\x01\x5a\x07\x0a\x01a\x12\x02\x48\0";
    assert_eq!(
        write(bytes, Style { proto_names: true, enum_numbers: true, ..plain }),
        r#"{"foo_bar":1,"e":1,"list":[1],"names":{"a":{"e":0}}}"#
    );
    let lines = "{\n \"fooBar\": 1,\n \"e\": \"ONE\",\n \"list\": [\n  1\n ],\n \"names\": {\n  \"a\": {\n   \"e\": \"ZERO\"\n  }\n }\n}";
    assert_eq!(write(bytes, Style { indent: Indent::spaces(1), ..plain }), lines);
    assert_eq!(write(b"", Style { indent: Indent::spaces(1), ..plain }), "{}");
    // Only fields without presence have a default to write.
    let all = r#"{"list":[],"names":{},"flags":{},"numbers":{},"i":1,"es":[],"each":[]}"#;
    assert_eq!(write(b"\x78\x01", Style { defaults: true, ..plain }), all);

    let unknown = b"\x72\x05\x78\x01\xf8\x01\x05";
    assert_eq!(write(unknown, plain), r#"{"m":{"i":1}}"#);
    let told = "p.M.m: unknown fields, for which JSON has no place";
    assert_eq!(write(unknown, Style { refuse_unknown: true, ..plain }), told);
}

#[test]
fn what_json_cannot_hold_is_an_error() {
    let types = types();
    for (bytes, told) in [
        (&b"\x3a\x01\xff"[..], "p.M.s: invalid UTF-8"),
        (b"\x5a\x0a\x0a\x01a\x12\x05\x72\x03\x3a\x01\xff", r#"p.M.names["a"].m.s: invalid UTF-8"#),
        (b"\x5a\x05\x0a\x01\xff\x12\0", r#"p.M.names["\xff"]: invalid UTF-8"#),
        (
            b"\xaa\x01\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            "p.M.time: seconds 9223372036854775807 and nanos 0 are out of range",
        ),
        (b"\xb2\x01\x04\x08\x01\x10\0", r#"{"span":"1s"}"#),
        (b"\xba\x01\x04\x0a\x02aB", r#"p.M.mask: path "aB" has no form in JSON that reads as the same path"#),
        (b"\xba\x01\x02\x0a\0", "p.M.mask: path \"\" has no form in JSON that reads as the same path"),
        (b"\xca\x01\0", "p.M.value: a google.protobuf.Value without value"),
        (b"\xca\x01\x09\x11\0\0\0\0\0\0\xf8\x7f", "p.M.value: number NaN cannot be in a google.protobuf.Value in JSON"),
        (b"\xa2\x01\x07\x0a\x05x/p.N", "p.M.any: unknown type \"p.N\" (did you mean \"p.M\"?)"),
        (b"\xa2\x01\x0a\x0a\x05x/p.M\x12\x01\x08", "p.M.any.foo_bar: truncated, 1 byte needed, 0 left"),
        (b"\xa2\x01\x02\x12\0", r#"{"any":{}}"#),
        (b"\xa2\x01\x03\x12\x01a", "p.M.any: type URL \"\" without prefix and type"),
    ] {
        assert_eq!(to(&types, "p.M", bytes, &Style::default()), told, "{}", bytes.escape_ascii());
    }
}

#[test]
fn nothing_nests_beyond_the_depth() {
    let types = types();
    let nested = |n: usize| format!("{}{{}}{}", "{\"m\":".repeat(n), "}".repeat(n));
    assert!(from(&types, "p.M", nested(100).as_bytes(), false).starts_with("r\\x"));
    let told = from(&types, "p.M", nested(101).as_bytes(), false);
    assert!(told.ends_with(".m: nested too deeply (option depth), at line 1 column 506"), "{told}");
    for open in ["{\"new\":", "[", "{\"value\":{\"a\":", "{\"any\":{\"@type\":\"x/p.M\",\"any\":"] {
        let text = format!("{{\"x\":{}", open.repeat(100_000));
        assert!(from(&types, "p.M", text.as_bytes(), true).contains("nested too deeply"), "{open}");
    }

    // A type within an Any is one level more, both ways.
    let anys = |n: usize| format!("{}{{}}{}", r#"{"any":{"@type":"x/p.M","m":"#.repeat(n), "}}".repeat(n));
    let bytes = from(&types, "p.M", anys(33).as_bytes(), false);
    assert!(bytes.starts_with("\\xa2\\x01"), "{bytes}");
    assert!(from(&types, "p.M", anys(34).as_bytes(), false).contains("nested too deeply"));

    // An Any in an Any, as deep as that goes: each wraps another one.
    let mut any = Vec::new();
    for _ in 0..200 {
        let url = b"x/google.protobuf.Any";
        let mut w = Writer::default();
        w.delimited(&any);
        w.varint(0x12);
        w.delimited(url);
        w.varint(0x0a);
        any = w.written().to_vec();
    }
    let told = to(&types, "google.protobuf.Any", &any, &Style::default());
    assert_eq!(told, "google.protobuf.Any: nested too deeply (option depth)");
}

#[test]
fn large_texts_take_linear_time() {
    let types = types();
    let many = |open: &str, each: &str, close: &str| format!("{open}{}{close}", each.repeat(200_000));
    let start = std::time::Instant::now();
    for text in [
        many("{\"list\":[", "1,", "1]}"),
        many("{\"new\":[", "{\"a\":\"\\n\"},", "1]}"),
        many("{\"new\":\"", "\\u00e9", "\"}"),
        many("{\"object\":{", "", "}}")
            .replace("{}", &(0..100_000).map(|i| format!("\"{i}\":{i},")).collect::<String>()),
        many("{\"fooBar\":0.", "0", "e5}"),
        many("{\"fooBar\":", "1", "}"),
        many("{\"d\":0.", "3", "}"),
        many("{\"b\":\"", "AAAA", "\"}"),
        many("", " \n", "x"),
        // The type of each Any comes last, so that all within is gone through once more.
        format!("{}{{}}{}", "{\"any\":{\"m\":".repeat(40), ",\"@type\":\"x/p.M\"}}".repeat(40)),
        many("{\"names\":{", "\"a\":{},", "\"b\":{}}}"),
    ] {
        from(&types, "p.M", text.as_bytes(), true);
        assert!(start.elapsed().as_secs() < 30, "{:?} of {}", start.elapsed(), &text[..20]);
    }
}

#[test]
fn sizes_are_limited_by_the_budget() {
    let types = types();
    let m = types.find_message("p.M").unwrap();
    let text = format!("{{\"list\":[{}1]}}", "1,".repeat(1000));
    let trace = Trace::default();
    let mut cx = context(&types.set, &trace);
    cx.budget.bytes = 20_000;
    assert!(read(text.as_bytes(), m, &types, false, &mut Tree::default(), &mut cx).is_err());
    let mut told = Text::new();
    trace.tell("p.M", None, &mut told);
    assert_eq!(told.as_bytes(), b"p.M.list[750]: too large for option max_bytes");

    // The type of each Any comes last, so that all within is gone through once more.
    let levels = 30;
    let text = format!(
        r#"{}{{"s":"{}"}}{}"#,
        r#"{"any":{"m":"#.repeat(levels),
        "x".repeat(10_000),
        r#","@type":"x/p.M"}}"#.repeat(levels)
    );
    let mut cx = context(&types.set, &trace);
    let before = cx.budget.bytes;
    read(text.as_bytes(), m, &types, false, &mut Tree::default(), &mut cx).unwrap();
    // Once more for the bytes that each has.
    let charged = before - cx.budget.bytes;
    assert!(charged > 10_000 * 2 * levels as u64, "{charged}");

    // Few bytes make much text, by indentation and defaults.
    let (mut tree, mut out) = (Tree::default(), Vec::new());
    let bytes = [b"\x72\x00".as_slice(), &b"\xe2\x01\x02\x32\x00".repeat(1000)].concat();
    let root = decode(&bytes, m, &mut tree, &mut context(&types.set, &trace)).unwrap();
    let style = Style { indent: Indent::spaces(16), defaults: true, ..Style::default() };
    let mut cx = context(&types.set, &trace);
    cx.budget.bytes = 20_000;
    assert!(write(&tree, root, m, &types, &style, &mut out, &mut cx).is_err());
    assert!(out.len() < 21_000, "{}", out.len());
}

#[test]
fn the_deepest_message_goes_both_ways() {
    let types = types();
    let deep = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        let (trace, mut tree, mut w, mut out) = (Trace::default(), Tree::default(), Writer::default(), Vec::new());
        let m = types.find_message("p.M").unwrap();
        let mut cx = context(&types.set, &trace);
        cx.budget.depth = 1000;
        let json = format!("{}{{}}{}", "{\"names\":{\"\":".repeat(1000), "}}".repeat(1000));
        let root = read(json.as_bytes(), m, &types, false, &mut tree, &mut { cx }).unwrap();
        encode(&tree, root, m, &mut w, &mut { cx }).unwrap();
        let mut tree = Tree::default();
        let root = decode(w.written(), m, &mut tree, &mut { cx }).unwrap();
        write(&tree, root, m, &types, &Style::default(), &mut out, &mut { cx }).unwrap();
        assert_eq!(out, json.as_bytes());
    });
    deep.unwrap().join().unwrap();
}
