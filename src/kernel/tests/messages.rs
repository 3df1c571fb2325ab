//! Messages and groups within messages: nested, in parts, malformed.

use super::{Schema, check, proto2, proto3};

fn schema() -> Schema {
    proto2(
        "message M { optional M sub = 1; optional int32 x = 2; repeated int32 list = 3 [packed = true];
         optional group G = 4 { optional int32 y = 1; optional group H = 2 { optional int32 z = 1; } optional M m = 3; }
         repeated group R = 5 { optional int32 y = 1; } repeated M subs = 6; map<int32, int32> map = 7; }",
    )
}

#[test]
fn parts_merge() {
    check(
        &schema(),
        &[
            ("0a 00", "1: M{ }"),
            ("0a 02 1001 0a 02 1002", "1: M{ 2=Int(1) } 1+M{ 2=Int(2) }"),
            // Parts that follow each other are closed once.
            ("0a 02 1001 0a 02 1002 0a 02 1003", "1: M{ 2=Int(1) } 1+M{ 2=Int(2) 2=Int(3) }"),
            ("0a 02 1001 0a 02 7801 0a 02 7802", r#"1: M{ 2=Int(1) } 1+M{ ?"x\x01" ?"x\x02" }"#),
            ("0a 02 1001 0a 02 1002 0a 02 1003 10 05", "1: M{ 2=Int(1) } 1+M{ 2=Int(2) 2=Int(3) } 2=Int(5)"),
            (
                "0a 02 1001 0a 02 1002 0a 02 1003 10 05 0a 00",
                "1: M{ 2=Int(1) } 1+M{ 2=Int(2) 2=Int(3) } 2=Int(5) 1+M{ }",
            ),
            ("0a 02 1001 10 05 0a 03 1a0109", "1: M{ 2=Int(1) } 2=Int(5) 1+M{ 3[1 1:Int(9) ] }"),
            // Lists and maps of the parts append.
            ("0a 03 1a0108 0a 03 1a0109", "1: M{ 3[1 1:Int(8) ] } 1+M{ 3+[ 2:Int(9) ] }"),
            ("0a 04 3a020801 0a 04 3a020802", "1: M{ 7(1 Int(1)-> Int(0) ; ) } 1+M{ 7+(1 Int(2)-> Int(0) ; ) }"),
            // Messages of the parts merge in turn; elements of lists do not.
            ("0a 04 0a021001 0a 05 0a031a0109", "1: M{ 1: M{ 2=Int(1) } } 1+M{ 1+M{ 3[1 1:Int(9) ] } }"),
            ("32 02 1001 32 02 1002", "6[2 M{ 2=Int(1) } @1 M{ 2=Int(2) } @2 ]"),
            // What the first part lacks is new in the second.
            ("0a 00 0a 04 0a021001", "1: M{ } 1+M{ 1: M{ 2=Int(1) } }"),
            ("0a 00 0a 03 1a0109", "1: M{ } 1+M{ 3[1 1:Int(9) ] }"),
        ],
    );
    let s = schema();
    assert_eq!(s.pattern("M sub", "0a 02 1001 10 05 0a 02 1002"), "1=<\"\\x10\\x01\"> 1+<\"\\x10\\x02\">");
}

#[test]
fn groups() {
    let s = schema();
    check(
        &s,
        &[
            ("23 24", "4: M.G{ }"),
            ("23 0805 24 10 01", "4: M.G{ 1=Int(5) } 2=Int(1)"),
            ("23 13 0806 14 0805 24", "4: M.G{ 2: M.G.H{ 1=Int(6) } 1=Int(5) }"),
            ("23 0805 24 23 0806 24", "4: M.G{ 1=Int(5) } 4+M.G{ 1=Int(6) }"),
            ("23 1a 02 1001 24", "4: M.G{ 3: M{ 2=Int(1) } }"),
            ("2b 0801 2c 2b 2c", "5[0 M.R{ 1=Int(1) } @1 M.R{ } @2 ]"),
            ("2b 0801 2c 10 05 2b 2c", "5[0 M.R{ 1=Int(1) } @1 ] 2=Int(5) 5+[ M.R{ } @2 ]"),
            // An end tag that is longer than need be.
            ("23 0805 a400 10 01", "4: M.G{ 1=Int(5) } 2=Int(1)"),
            // Field 4 within G is unknown there, and so is a group within it.
            ("23 23 24 24", "4: M.G{ ?\"#$\" }"),
        ],
    );
    assert_eq!(s.pattern("M g", "23 13 0806 14 0805 24"), "4=<\"\\x13\\x08\\x06\\x14\\x08\\x05\">");
    assert_eq!(s.pattern("M g x", "23 0805 a400 10 01"), "4=<\"\\x08\\x05\"> 2=Int(1)");
    assert_eq!(s.pattern("M r", "2b 0801 2c 2b 2c"), "5[0 1:<\"\\x08\\x01\"> 2:<\"\"> ]");
    assert_eq!(s.pattern("M x", "23 13 0806 14 0805 24 10 01"), "2=Int(1)");
}

#[test]
fn groups_that_do_not_match() {
    check(
        &schema(),
        &[
            ("23", "M.g: group without end, at byte 1"),
            ("23 0805", "M.g: group without end, at byte 3"),
            ("24", "M: unmatched end of group, at byte 1"),
            ("23 2c", "M.g: unmatched end of group, at byte 2"),
            ("23 13 24 14", "M.g.h: unmatched end of group, at byte 3"),
            ("2b", "M.r[1]: group without end, at byte 1"),
            // The end tag stands outside of the message that has the group.
            ("0a 01 23 24", "M.sub.g: group without end, at byte 3"),
            ("0a 01 24", "M.sub: unmatched end of group, at byte 3"),
            ("0a 03 1001 24", "M.sub: unmatched end of group, at byte 5"),
            // A group around the message's end tag.
            ("23 1a 01 24 24", "M.g.m: unmatched end of group, at byte 4"),
            // Groups that are unknown.
            ("4b", "M: group without end, at byte 1"),
            ("4b 54", "M: unmatched end of group, at byte 2"),
            ("4b 0801", "M: group without end, at byte 3"),
        ],
    );
    let s = schema();
    for pattern in ["M", "M g", "M g x", "M r"] {
        assert!(s.pattern(pattern, "23 2c").contains("unmatched end of group, at byte 2"), "{pattern}");
        assert!(s.pattern(pattern, "2b 0805").contains("group without end, at byte 3"), "{pattern}");
    }
}

#[test]
fn lengths_that_go_too_far() {
    check(
        &schema(),
        &[
            ("0a 01", "M.sub: truncated, 1 byte needed, 0 left, at byte 2"),
            ("0a 02 10", "M.sub: truncated, 2 bytes needed, 1 left, at byte 2"),
            // Not beyond the message within, though there is more outside.
            ("0a 01 10 01", "M.sub.x: truncated, 1 byte needed, 0 left, at byte 3"),
            ("0a 02 1a05 0102030405", "M.sub.list: truncated, 5 bytes needed, 0 left, at byte 4"),
            ("0a 02 0a01 00", "M.sub.sub: truncated, 1 byte needed, 0 left, at byte 4"),
            ("0a 8080808008", "M.sub: truncated, 2147483648 bytes needed, 0 left, at byte 6"),
            ("0a ffffffffffffffffff01", "M.sub: truncated, 18446744073709551615 bytes needed, 0 left, at byte 11"),
            ("0a 80808080808080808002", "M.sub: varint longer than 64 bits, at byte 1"),
        ],
    );
}

#[test]
fn dotted_names_enter_messages() {
    let s = proto3(
        "message M { M sub = 1; int32 x = 2; repeated M many = 3; oneof one { M b = 4; int32 c = 5; } }
         message N { repeated M many = 1; M sub = 2; }",
    );
    // A part after the first merges into it. What is not named is skipped.
    assert_eq!(s.pattern("M sub.x", "0a 04 1001 2805 10 05 0a 02 1002"), "1: M{ 2=Int(1) 1+M{ 2=Int(2)");
    assert_eq!(s.pattern("M many.x", "1a 02 1001 1a 00 1a 02 1003"), "3[3 M{ 2=Int(1) @1 M{ @2 M{ 2=Int(3) @3 ]");
    assert_eq!(s.pattern("M sub.sub many.x", "0a 02 0a00"), "1: M{ 1=<\"\">");
    // Another member of the oneof takes the entered one away.
    assert_eq!(s.pattern("M b.x", "22 02 1001 28 05"), "4: M{ 2=Int(1) -4");
    assert_eq!(s.pattern("M b.x c", "28 05 22 02 1001"), "5=Int(5) 4: M{ 2=Int(1) -5");
    assert_eq!(
        s.pattern("N many.sub.x sub.x", "0a 03 0a0110"),
        "N.many[1].sub.x: truncated, 1 byte needed, 0 left, at byte 5"
    );
}
