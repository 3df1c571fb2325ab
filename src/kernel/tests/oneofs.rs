//! Oneofs: the last member on the wire displaces the others.

use super::{Schema, bytes, check, proto2, proto3};

#[test]
fn the_last_member_wins() {
    let s = proto3(
        "message M { oneof o { int32 a = 1; string b = 2; M c = 3; bytes d = 4; } int32 x = 5;
         oneof p { int32 e = 6; int32 f = 7; } }",
    );
    check(
        &s,
        &[
            ("08 01", "1=Int(1)"),
            ("08 00", "1=Int(0)"),
            ("08 01 12 01 78", "1=Int(1) 2=\"x\" -1"),
            ("12 01 78 08 01 12 01 79", "2=\"x\" 1=Int(1) -2 2=\"y\" -1"),
            ("08 01 08 02", "1=Int(1) 1=Int(2)"),
            ("08 01 30 02", "1=Int(1) 6=Int(2)"),
            ("08 01 28 03 12 00", "1=Int(1) 5=Int(3) 2=\"\" -1"),
            // Parts of a member merge, unless another stood between them.
            ("1a 02 2801 1a 02 2802", "3: M{ 5=Int(1) } 3+M{ 5=Int(2) }"),
            ("1a 02 2801 08 01 1a 02 2802", "3: M{ 5=Int(1) } 1=Int(1) -3 3: M{ 5=Int(2) } -1"),
            // In a message that comes in parts.
            ("1a 02 0801 1a 02 1200", "3: M{ 1=Int(1) } 3+M{ 2=\"\" -1 }"),
            ("1a 02 0801 1a 02 3001", "3: M{ 1=Int(1) } 3+M{ 6=Int(1) }"),
        ],
    );
}

#[test]
fn members_that_are_not_asked_for_displace_those_that_are() {
    let s = proto2(
        "message M { oneof o { int32 a = 1; string b = 2; M c = 3; E e = 4; group G = 5 {} } optional int32 x = 6; }
         enum E { ZERO = 0; ONE = 1; }",
    );
    let rows = [
        ("M a", "08 01", "1=Int(1)"),
        ("M a", "08 01 12 01 78", "1=Int(1) -1"),
        ("M a", "12 01 78 08 01", "1=Int(1)"),
        ("M a x", "08 01 1a 00 30 05", "1=Int(1) -1 6=Int(5)"),
        ("M a", "08 01 2b 2c", "1=Int(1) -1"),
        ("M a", "08 01 20 01", "1=Int(1) -1"),
        // Not asked for, they are checked no further than their bounds; but one that a closed enum lacks is no member.
        ("M a", "08 01 20 07", "1=Int(1)"),
        ("M a b", "08 01 12 01 78 1a 00", "1=Int(1) 2=\"x\" -1 -2"),
        ("M c", "1a 02 3001 08 01 1a 02 3002", "3=<\"0\\x01\"> -3 3=<\"0\\x02\">"),
        ("M x", "08 01 12 00 30 01", "6=Int(1)"),
        ("M a", "08 01 12 05 78", "M: truncated, 5 bytes needed, 1 left, at byte 4"),
    ];
    for (pattern, hex, expected) in rows {
        assert_eq!(s.pattern(pattern, hex), expected, "{pattern}: {hex}");
    }
}

/// A message with `oneofs` oneofs of `members` members each, numbered from 1 on, and itself as field 1000.
fn large(oneofs: usize, members: usize) -> Schema {
    let mut numbers = 1..;
    let mut oneof = |name: usize| {
        let members: String = numbers.by_ref().take(members).map(|i| format!("int32 a{i} = {i};")).collect();
        format!("oneof o{name} {{ {members} }}")
    };
    let oneofs: String = (0..oneofs).map(&mut oneof).collect();
    proto3(&format!("message M {{ {oneofs} M sub = 1000; }}"))
}

#[test]
fn more_members_than_bits() {
    let s = large(1, 70);
    check(
        &s,
        &[
            ("08 01 b004 02", "1=Int(1) 70=Int(2) -1"),
            ("b004 02 08 01", "70=Int(2) 1=Int(1) -70"),
            ("a804 02 b004 03", "69=Int(2) 70=Int(3) -69"),
            ("08 01 10 02", "1=Int(1) 2=Int(2) -1"),
            ("b004 02 b004 03 08 01 b004 04", "70=Int(2) 70=Int(3) 1=Int(1) -70 70=Int(4) -1"),
            // In a message that comes in parts.
            (
                "c23e 03 b00401 c23e 02 0802 c23e 05 a80403 0804",
                "1000: M{ 70=Int(1) } 1000+M{ 1=Int(2) -70 69=Int(3) -1 1=Int(4) -69 }",
            ),
            ("c23e 03 b00401 c23e 00 c23e 03 a80402", "1000: M{ 70=Int(1) } 1000+M{ 69=Int(2) -70 }"),
            // The same oneof of another message is another.
            ("08 01 c23e 03 b00402 10 03", "1=Int(1) 1000: M{ 70=Int(2) } 2=Int(3) -1"),
        ],
    );
    for (hex, expected) in
        [("08 01 b004 02", "1=Int(1) -1"), ("08 01 b004 02 a804 03 08 04 10 05", "1=Int(1) -1 1=Int(4) -1")]
    {
        assert_eq!(s.pattern("M a1", hex), expected, "{hex}");
    }
}

#[test]
fn messages_among_more_members_than_bits() {
    let members: String = (2..=70).map(|i| format!("int32 a{i} = {i};")).collect();
    let s = proto3(&format!("message M {{ oneof o {{ {members} M first = 1; M last = 80; }} }}"));
    check(
        &s,
        &[
            ("8205 02 1001 8205 02 1802", "80: M{ 2=Int(1) } 80+M{ 3=Int(2) -2 }"),
            ("8205 02 1001 10 01 8205 02 1802", "80: M{ 2=Int(1) } 2=Int(1) -80 80: M{ 3=Int(2) } -2"),
            ("0a 00 8205 00 0a 00", "1: M{ } 80: M{ } -1 1: M{ } -80"),
        ],
    );
}

#[test]
fn more_such_oneofs_than_are_remembered() {
    check(
        &large(10, 70),
        &[
            // Number 631 is the first of the last oneof, 561 of that before.
            ("b827 01 b827 02 c027 03", "631=Int(1) 631=Int(2) 632=Int(3) -631"),
            ("8823 01 b827 02 9023 03 c027 04", "561=Int(1) 631=Int(2) 562=Int(3) -561 632=Int(4) -631"),
        ],
    );
}

#[test]
fn asking_for_other_members_is_rare_or_charged() {
    let rounds = 100;
    let costs = |members, hex| large(1, members).call("M").costs(&bytes(hex).repeat(rounds));
    for hex in ["08 01", "08 01 10 02", "b004 01 b804 02"] {
        let (asked, charged) = costs(210, hex);
        assert!(asked <= 2 * rounds, "{hex}: {asked}");
        assert_eq!(costs(700, hex), (asked, charged), "{hex}");
    }
    // What another part of a message had is not remembered.
    let ((few, low), (many, high)) = (costs(210, "c23e 02 0801"), costs(700, "c23e 02 0801"));
    assert_eq!(high - low, 16 * (many - few) as u64);
    assert!(many - few <= rounds * 700);
}
