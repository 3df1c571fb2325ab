//! Limits, and text from those who want to break them.

use super::{ALL, ENOUGH, LINE, MULTI, SCHEMA, bytes_within, context, told, types};
use crate::error::Trace;
use crate::format::text::{read, write};
use crate::format::{Tree, decode};
use crate::kernel::Budget;

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

/// What an Any holds is decoded to find out whether it can be.
#[test]
fn anys_that_cannot_be_read_are_charged() {
    let types = types(SCHEMA);
    let m = types.find_message("p.M").unwrap();
    // A hundred messages, and a field that ends too early.
    let value = [&b"\x72\0".repeat(100), &b"\x08"[..]].concat();
    let any = format!("any {{ type_url: 'a/p.M' value: '{}' }}", super::escaped(&value));
    let trace = Trace::default();
    let mut tree = Tree::default();
    let mut cx = context(&types.set, &trace);
    let root = read(any.as_bytes(), m, &types, &mut tree, &mut cx).unwrap();
    cx.budget = budget(10, 1 << 20);
    let mut out = String::new();
    write(&tree, root, m, &types, &LINE, &mut out, &mut cx).unwrap();
    assert!(out.starts_with("any { type_url: \"a/p.M\" value: "), "{out}");
    let charged = (1 << 20) - cx.budget.bytes;
    assert!(charged > 100 * Tree::ENTRY, "{charged}");
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
    let mut random = randoms();
    for _ in 0..20_000 {
        let mut text = Vec::new();
        for _ in 0..12 {
            text.extend_from_slice(pieces[random() % pieces.len()]);
            text.extend_from_slice([&b" "[..], b""][random() % 2]);
        }
        if let Ok(bytes) = bytes_within(&types, "p.M", &text, ENOUGH) {
            let written = super::text(&types, "p.M", &bytes, &MULTI).unwrap();
            assert_eq!(super::bytes(&types, "p.M", &written), Ok(bytes), "{written}");
        }
    }
}

/// Whatever is read from bytes can be written, unknown fields too.
#[test]
fn any_message_is_written() {
    let types = types(SCHEMA);
    let mut random = randoms();
    let mut written = 0;
    for _ in 0..20_000 {
        let bytes: Vec<u8> =
            (0..12).map(|_| [0, 1, 2, 3, 8, 0x0b, 0x0c, 0x0a, 0x62, 0x72, 0xba][random() % 11]).collect();
        let trace = Trace::default();
        let mut tree = Tree::default();
        let mut cx = context(&types.set, &trace);
        let m = types.find_message("p.M").unwrap();
        if let Ok(root) = decode(&bytes, m, &mut tree, &mut cx) {
            let mut out = String::new();
            write(&tree, root, m, &types, &ALL, &mut out, &mut cx).unwrap();
            written += usize::from(!out.is_empty());
        }
    }
    assert!(written > 100, "{written}");
}

/// Numbers without pattern, the same each time.
fn randoms() -> impl FnMut() -> usize {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    }
}
