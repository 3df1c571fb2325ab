//! Text that is none of a message: what is told, and where.

use super::{ENOUGH, SCHEMA, bytes, bytes_within, escaped, types};

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
        (r"s: '\U00110000'", "p.M.s: escape of what is not a Unicode character at line 1 column 5"),
        (r"y: '\ud801\udc37'", "p.M.y: escape of what is not a Unicode character at line 1 column 5"),
        ("e: BLUE", r#"p.M.e: unknown name "BLUE" of enum p.Color at line 1 column 4"#),
        ("e: GREN", r#"p.M.e: unknown name "GREN" of enum p.Color (did you mean "GREEN"?) at line 1 column 4"#),
        ("e: 2", "p.M.e: unknown number 2 of enum p.Color at line 1 column 4"),
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
            r#"p.M.map_m[7].m.e: unknown name "X" of enum p.Color at line 1 column 31"#,
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
    let raw = |text: &[u8]| bytes_within(&types, "p.M", text, ENOUGH);
    assert_eq!(raw(b"y: '\xff'").map(|b| escaped(&b)), Ok(escaped(b"R\x01\xff")));
    assert_eq!(raw(b"\xff\xfe"), Err(r#"p.M: unexpected character "\xff" at line 1 column 1"#.into()));
    assert_eq!(set("[p.item] { }"), Err("p.Set.[p.item].id: required field missing".into()));
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

#[test]
fn anys_are_refused() {
    let types = types(SCHEMA);
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
}
