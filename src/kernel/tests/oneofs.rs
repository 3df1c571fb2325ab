//! Oneofs: the last member on the wire displaces the others.

use super::{check, proto2, proto3};

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

#[test]
fn more_members_than_bits() {
    let members: String = (1..=70).map(|i| format!("int32 a{i} = {i};")).collect();
    let s = proto3(&format!("message M {{ oneof o {{ {members} }} M sub = 80; }}"));
    check(
        &s,
        &[
            ("08 01 b004 02", "1=Int(1) 70=Int(2) -1"),
            ("b004 02 08 01", "70=Int(2) 1=Int(1) -70"),
            ("a804 02 b004 03", "69=Int(2) 70=Int(3) -69"),
            ("08 01 10 02", "1=Int(1) 2=Int(2) -1"),
        ],
    );
}
