//! Message sets: items, in every order, in parts, unknown, malformed.

use super::{Budget, Call, ENOUGH, Schema, bytes, check, proto2};

/// Extension 4 is A, extension 100 is B, which has a set in turn.
fn schema() -> Schema {
    proto2(
        "message M { option message_set_wire_format = true; extensions 4 to max; }
         message A { optional int32 x = 1; repeated int32 list = 2; }
         message B { required int32 x = 1; optional M set = 2; optional string s = 3;
                     extend M { optional B b = 100; } }
         message Plain { optional A a = 4; }
         extend M { optional A a = 4; }",
    )
}

#[test]
fn items() {
    check(
        &schema(),
        &[
            ("0b 1004 1a00 0c", "4: A{ }"),
            ("0b 1004 1a02 0805 0c", "4: A{ 1=Int(5) }"),
            ("0b 1064 1a02 0807 0c 0b 1004 1a02 0805 0c", "100: B{ 1=Int(7) } 4: A{ 1=Int(5) }"),
            // The message first.
            ("0b 1a02 0805 1004 0c", "4: A{ 1=Int(5) }"),
            // The encoding of other messages.
            ("22 02 0805", "4: A{ 1=Int(5) }"),
            ("a206 02 0807", "100: B{ 1=Int(7) }"),
            // Tags and numbers that are longer than need be.
            ("8b00 9000 8400 9a00 8200 0805 8c00", "4: A{ 1=Int(5) }"),
            // Numbers that are too long lose their upper bits.
            ("0b 10 8480808010 1a02 0805 0c", "4: A{ 1=Int(5) }"),
            // Other fields of an item are passed over, whatever their wire type.
            ("0b 0801 1004 2a0178 33 0801 34 1a02 0805 2001 31 0102030405060708 0c", "4: A{ 1=Int(5) }"),
            ("0b 1200 18 05 1004 1a02 0805 0c", "4: A{ 1=Int(5) }"),
            ("0b 0b 1064 1a00 0c 1004 1a02 0805 0c", "4: A{ 1=Int(5) }"),
            // A set within a set.
            ("0b 1064 1a0c 0807 1208 0b10041a0208050c 0c", "100: B{ 1=Int(7) 2: M{ 4: A{ 1=Int(5) } } }"),
        ],
    );
}

#[test]
fn parts_merge() {
    check(
        &schema(),
        &[
            ("0b 1004 1a02 0805 0c 0b 1004 1a03 120109 0c", "4: A{ 1=Int(5) } 4+A{ 2[1 1:Int(9) ] }"),
            ("0b 1004 1a03 120108 0c 22 03 120109", "4: A{ 2[1 1:Int(8) ] } 4+A{ 2+[ 2:Int(9) ] }"),
            ("22 03 120108 0b 1004 1a03 120109 0c", "4: A{ 2[1 1:Int(8) ] } 4+A{ 2+[ 2:Int(9) ] }"),
            (
                "a206 0c 0801 1208 0b10041a0208050c a206 0b 1209 0b10041a031201090c",
                "100: B{ 1=Int(1) 2: M{ 4: A{ 1=Int(5) } } } 100+B{ 2+M{ 4+A{ 2[1 1:Int(9) ] } } }",
            ),
        ],
    );
}

#[test]
fn of_several_ids_or_messages_the_first_counts() {
    check(
        &schema(),
        &[
            ("0b 1004 1064 1a02 0805 0c", "4: A{ 1=Int(5) }"),
            ("0b 1004 1a02 0805 1a02 0806 0c", "4: A{ 1=Int(5) }"),
            ("0b 1a02 0805 1a02 0806 1004 1064 0c", "4: A{ 1=Int(5) }"),
        ],
    );
}

#[test]
fn items_that_lack_either_are_nothing() {
    check(
        &schema(),
        &[
            ("0b 0c", ""),
            ("0b 1004 0c", ""),
            ("0b 1005 0c", ""),
            ("0b 1a02 0805 0c", ""),
            // A type id or a message of another wire type is none.
            ("0b 1201 04 1a02 0805 0c", ""),
            ("0b 1004 1802 0c", ""),
            // What stands around them does not adjoin.
            ("5001 0b 0c 5002", "?\"P\\x01\" ?\"P\\x02\""),
        ],
    );
}

#[test]
fn unknown_items() {
    check(
        &schema(),
        &[
            ("0b 1005 1a02 0805 0c", "?\"\\x0b\\x10\\x05\\x1a\\x02\\x08\\x05\\x0c\""),
            // As they came, with all that is in them.
            (
                "0b 1a00 2001 ad00 00000000 1005 8c00",
                "?\"\\x0b\\x1a\\x00 \\x01\\xad\\x00\\x00\\x00\\x00\\x00\\x10\\x05\\x8c\\x00\"",
            ),
            // Numbers that no field can have.
            ("0b 10 8080808002 1a00 0c", "?\"\\x0b\\x10\\x80\\x80\\x80\\x80\\x02\\x1a\\x00\\x0c\""),
            ("0b 10 ffffffff07 1a00 0c", "?\"\\x0b\\x10\\xff\\xff\\xff\\xff\\x07\\x1a\\x00\\x0c\""),
            ("0b 10 ffffffff0f 1a00 0c", "?\"\\x0b\\x10\\xff\\xff\\xff\\xff\\x0f\\x1a\\x00\\x0c\""),
            // What adjoins comes in one piece.
            ("5001 0b10051a000c 0b10041a000c 5002", "4: A{ } ?\"P\\x01\\x0b\\x10\\x05\\x1a\\x00\\x0c\" ?\"P\\x02\""),
            // Fields 2 and 3 outside of an item, and extensions with a wire type that does not fit.
            ("1004 1a00 2005", "?\"\\x10\\x04\\x1a\\x00 \\x05\""),
            ("23 0805 24", "?\"#\\x08\\x05$\""),
        ],
    );
    // Elsewhere an item is a group.
    let s = schema();
    assert_eq!(s.call("Plain").tables(&bytes("0b 1004 1a00 0c")), "?\"\\x0b\\x10\\x04\\x1a\\x00\\x0c\"");
}

#[test]
fn malformed() {
    check(
        &schema(),
        &[
            ("0b", "M: group without end, at byte 1"),
            ("0b 1005 1a00", "M: group without end, at byte 5"),
            ("0c", "M: unmatched end of group, at byte 1"),
            ("0b 1004 14", "M.[a]: unmatched end of group, at byte 4"),
            ("0b 1005 14", "M: unmatched end of group, at byte 4"),
            ("0b 2b 0c", "M: unmatched end of group, at byte 3"),
            ("0b 10", "M: truncated, 1 byte needed, 0 left, at byte 2"),
            ("0b 1000 1a00 0c", "M: invalid field number, at byte 2"),
            ("0b 10 8080808010 1a00 0c", "M: invalid field number, at byte 2"),
            ("0b 10 ffffffffffffffffffff01", "M: varint longer than 64 bits, at byte 2"),
            ("0b 00 0c", "M: invalid field number, at byte 1"),
            ("0b 0e 0c", "M: invalid wire type 6, at byte 2"),
            // Once the extension is known, so is the path.
            ("0b 1004 1a05 0805 0c", "M.[a]: truncated, 5 bytes needed, 3 left, at byte 5"),
            ("0b 1004 1a02 0805", "M.[a]: group without end, at byte 7"),
            ("0b 1a02 08 0c", "M: group without end, at byte 5"),
            ("0b 1004 1a01 08 0c", "M.[a].x: truncated, 1 byte needed, 0 left, at byte 6"),
            ("0b 1a01 08 1004 0c", "M.[a].x: truncated, 1 byte needed, 0 left, at byte 4"),
            ("0b 1064 1a06 1204 0b 1a01 00 0c 0c", "M.[B.b].set: group without end, at byte 11"),
        ],
    );
    let s = schema();
    // However it is cut off, it is an error or less, never more.
    let whole = bytes("0b 1064 1a0c 0807 1208 0b10041a0208050c 0c 0b 1005 2b 0801 2c 1a00 0c");
    for n in 0..whole.len() {
        assert!(matches!(n, 0 | 18) != s.call("M").tables(&whole[..n]).starts_with("M"), "{n}");
    }
}

#[test]
fn required_fields_within_items() {
    let s = schema();
    for (hex, expected) in [
        ("0b 1064 1a00 0c", "M.[B.b].x: required field missing, at byte 6"),
        ("0b 1a00 1064 0c", "M.[B.b].x: required field missing, at byte 6"),
        ("a206 00", "M.[B.b].x: required field missing, at byte 3"),
        ("0b 1064 1a0a 1208 0b10641a0208050c 0c", "M.[B.b].x: required field missing, at byte 16"),
        ("0b 1064 1a0a 0801 1206 0b10641a000c 0c", "M.[B.b].set.[B.b].x: required field missing, at byte 16"),
    ] {
        assert_eq!(s.m(hex), expected, "{hex}");
        let lenient = Call { required: false, ..s.call("M") };
        assert!(!lenient.tables(&bytes(hex)).contains("required"), "{hex}");
    }
    // One part has what the other lacks.
    for hex in ["0b 1064 1a00 0c a206 02 0801", "a206 00 0b 1064 1a02 0801 0c", "0b 10641a000c 0b 1a020801 1064 0c"] {
        assert!(s.m(hex).starts_with("100: B{ }"), "{hex}");
    }
}

#[test]
fn limits() {
    let s = schema();
    let run = |budget: Budget, hex: &str| Call { budget, ..s.call("M") }.tables(&bytes(hex));
    // The item is no level besides that of its message.
    let known = "0b 1004 1a02 0805 0c";
    assert_eq!(run(Budget { depth: 1, ..ENOUGH }, known), "4: A{ 1=Int(5) }");
    for hex in [known, "0b 1005 1a00 0c"] {
        assert!(run(Budget { depth: 0, ..ENOUGH }, hex).ends_with("nested too deeply (option depth), at byte 1"));
    }
    let nested = "0b 33 34 1004 1a02 0805 0c";
    assert_eq!(run(Budget { depth: 2, ..ENOUGH }, nested), "4: A{ 1=Int(5) }");
    assert_eq!(run(Budget { depth: 1, ..ENOUGH }, nested), "M: nested too deeply (option depth), at byte 2");
    // 8 bytes of input, two tables and their fields.
    let needed = 8 + 2 * 64 + 2 * 40;
    assert_eq!(run(Budget { bytes: needed, ..ENOUGH }, known), "4: A{ 1=Int(5) }");
    assert_eq!(run(Budget { bytes: needed - 1, ..ENOUGH }, known), "M: too large for option max_bytes, at byte 8");
}

#[test]
fn patterns() {
    let s = schema();
    assert_eq!(s.pattern("M [a]", "0b 1004 1a02 0805 0c"), "4=<\"\\x08\\x05\">");
    assert_eq!(
        s.pattern("M [B.b] [a]", "0b10041a0208050c 22 02 0806 0b1a00 1064 0c"),
        "4=<\"\\x08\\x05\"> 4+<\"\\x08\\x06\"> 100=<\"\">"
    );
    assert_eq!(s.pattern("M [B.b]", "0b 1004 1a02 0805 0c"), "");
    assert_eq!(s.pattern("M [a]", "0b 1004 1a02 08"), "M.[a]: truncated, 2 bytes needed, 1 left, at byte 5");
}
