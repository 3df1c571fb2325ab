//! Bytes to text.

use super::{ALL, LINE, MULTI, OPEN, SCHEMA, bytes, text, types};

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
        assert_eq!(super::bytes(&types, "p.M", &written), Ok(bytes), "{from}");
    }
    // A key that is not there is the same as 0.
    let twice = b"\x82\x01\x02\x12\x00\x82\x01\x06\x08\x00\x12\x02\x08\x01";
    assert_eq!(text(&types, "p.M", twice, &LINE), Ok("map_m { key: 0 value { i32: 1 } }".into()));
    let bytes = bytes(&types, "p.M", "m { list: [1, 2] m {} ms { i32: 1 } } e: 0").unwrap();
    let lines = "e: RED\nm {\n  m {}\n  list: 1\n  list: 2\n  ms {\n    i32: 1\n  }\n}\n";
    assert_eq!(text(&types, "p.M", &bytes, &MULTI), Ok(lines.into()));
    assert_eq!(text(&types, "p.Set", b"\x0b\x10\x05\x1a\x02\x08\x01\x0c", &LINE), Ok("[p.item] { id: 1 }".into()));
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

#[test]
fn open_messages_are_written() {
    let types = types(OPEN);
    for (bytes, line) in [
        (&b"\x08\x00\x12\x00\x1a\x00\x21\x00\x00\x00\x00\x00\x00\x00\x00\x28\x00\x38\x00"[..], ""),
        (b"\x21\x00\x00\x00\x00\x00\x00\x00\x80\x30\x00\x58\x00", "d: -0.0 o: 0 m: 0"),
        (b"\x28\x2a\x52\x02\x01\x07", "e: 42 list: ONE list: 7"),
        (b"\x42\x02\x08\x05\x42\x02\x10\x01", "es { key: 0 value: ONE } es { key: 5 value: ZERO }"),
    ] {
        assert_eq!(text(&types, "q.P", bytes, &LINE), Ok(line.into()), "{line}");
    }
}

#[test]
fn anys_are_written() {
    let types = types(SCHEMA);
    let url = "type.googleapis.com/p.M";
    let raw = |url: &str, value: &str| format!(r#"any {{ type_url: "{url}" value: "{value}" }}"#);
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
        assert_eq!(super::bytes(&types, "p.M", &written), Ok(bytes), "{from}");
    }
}
