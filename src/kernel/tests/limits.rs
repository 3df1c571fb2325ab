//! Depth and memory: what just fits, and what does not.

use super::{Call, ENOUGH, Schema, bytes, proto2};
use crate::kernel::Budget;

fn schema() -> Schema {
    proto2(
        "message M { optional M m = 1; optional group G = 2 { optional M m = 1; optional group H = 2 {} }
         map<int32, M> map = 3; repeated M list = 4; optional string s = 5; repeated int32 n = 6; optional int32 x = 7; }",
    )
}

/// The bytes of `levels` messages in one another, each as the field with `tag`.
fn nested(tag: u8, levels: usize) -> Vec<u8> {
    (0..levels).fold(Vec::new(), |inner, _| {
        assert!(inner.len() < 128);
        [&[tag, inner.len() as u8], &*inner].concat()
    })
}

/// The least depth with which the bytes are decoded; one less must say so.
fn depth_of(s: &Schema, input: &[u8]) -> u32 {
    let with = |depth| Call { budget: Budget { depth, ..ENOUGH }, ..s.call("M") }.tables(input);
    let depth = (0..=100).find(|depth| !with(*depth).contains("nested too deeply")).unwrap();
    assert!(!with(depth).contains(", at byte"), "{}", with(depth));
    assert!((0..depth).all(|depth| with(depth).contains("nested too deeply (option depth), at byte")));
    depth
}

#[test]
fn depth_counts_messages_and_groups() {
    let s = schema();
    assert_eq!(depth_of(&s, b""), 0);
    assert_eq!(depth_of(&s, &bytes("38 05")), 0);
    for levels in [1, 2, 30] {
        assert_eq!(depth_of(&s, &nested(0x0a, levels)), levels as u32);
        assert_eq!(depth_of(&s, &nested(0x22, levels)), levels as u32);
        // Unknown groups count too, unknown lengths hold no levels.
        assert_eq!(depth_of(&s, &[vec![0x53; levels], vec![0x54; levels]].concat()), levels as u32);
        assert_eq!(depth_of(&s, &nested(0x52, levels)), 0);
    }
    assert_eq!(depth_of(&s, &bytes("13 14")), 1);
    assert_eq!(depth_of(&s, &bytes("13 13 14 14")), 2);
    assert_eq!(depth_of(&s, &bytes("13 0a 00 14")), 2);
    assert_eq!(depth_of(&s, &bytes("13 53 54 14")), 2);
    assert_eq!(depth_of(&s, &bytes("1a 02 0801")), 1);
    assert_eq!(depth_of(&s, &bytes("1a 04 1202 0a00")), 2);
    // Side by side is not deep.
    assert_eq!(depth_of(&s, &bytes("0a 00 0a 00 22 00 22 00 13 14 1a 00")), 1);
}

#[test]
fn depth_errors_say_where() {
    let s = schema();
    let call = Call { budget: Budget { depth: 1, ..ENOUGH }, ..s.call("M") };
    assert_eq!(call.tables(&bytes("38 05 0a 02 0a00")), "M.m.m: nested too deeply (option depth), at byte 6");
    assert_eq!(call.tables(&bytes("22 02 2200")), "M.list[1].list[1]: nested too deeply (option depth), at byte 4");
    assert_eq!(call.tables(&bytes("53 53 54 54")), "M: nested too deeply (option depth), at byte 2");
}

/// The least memory with which the bytes are decoded; one byte less must say so.
fn memory_of(s: &Schema, input: &[u8]) -> u64 {
    let with = |bytes| Call { budget: Budget { bytes, ..ENOUGH }, ..s.call("M") }.tables(input);
    let (mut low, mut high) = (0, 1 << 20);
    while low < high {
        let middle = (low + high) / 2;
        if with(middle).contains("max_bytes") { low = middle + 1 } else { high = middle }
    }
    assert!(!with(low).contains(", at byte"), "{}", with(low));
    assert!(low == 0 || with(low - 1).contains("too large for option max_bytes, at byte"));
    low
}

#[test]
fn memory_is_counted_for_all_that_is_built() {
    let s = schema();
    let empty = memory_of(&s, b"");
    assert!((40..=100).contains(&empty), "an empty table takes {empty}");
    // What two bytes of input can become.
    let each = |hex: &str| memory_of(&s, &bytes(hex).repeat(100)).saturating_sub(empty) / 100;
    let costs = [
        ("0a 00", "a message again"),
        ("22 00", "a message in a list"),
        ("13 14", "a group"),
        ("1a 00", "an entry with a message"),
        ("30 01", "an element"),
    ];
    let found: Vec<u64> = costs.iter().map(|(hex, _)| each(hex)).collect();
    assert!(found[1] >= empty + 16, "{found:?}");
    assert!(found[3] >= empty + 40, "{found:?}");
    assert!(found[4] >= 16, "{found:?}");
    // The bytes of strings are those of the input.
    let string = [&[0x2a, 0x7f][..], &[b'a'; 127]].concat();
    assert!(memory_of(&s, &string) >= 129 + empty);
    // A packed list is charged before it is read.
    let packed = [&[0x32, 0x7f][..], &[0; 127]].concat();
    assert!(memory_of(&s, &packed) >= 127 * 16 + empty);
}

#[test]
fn memory_ends_a_decoding_early() {
    let s = schema();
    let input = bytes("22 00").repeat(10_000);
    let call = Call { budget: Budget { bytes: input.len() as u64 + 200_000, ..ENOUGH }, ..s.call("M") };
    assert!(call.tables(&input).contains("too large for option max_bytes"));
    assert!(
        Call { budget: Budget { bytes: 19_999, ..ENOUGH }, ..s.call("M") }.tables(&input).starts_with("M: too large")
    );
}
