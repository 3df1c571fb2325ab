//! Text to bytes.

use super::{OPEN, SCHEMA, bytes, escaped, types};

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
}
