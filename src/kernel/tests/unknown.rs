//! Unknown fields: what is told of them, and which known fields count as unknown.

use super::{check, proto2, proto3};

#[test]
fn runs() {
    let s = proto3("message M { int32 a = 1; repeated string b = 2; M c = 3; }");
    check(
        &s,
        &[
            ("50 07", "?\"P\\x07\""),
            // What adjoins comes in one piece.
            ("50 07 5a 01 78 51 0102030405060708", "?\"P\\x07Z\\x01xQ\\x01\\x02\\x03\\x04\\x05\\x06\\x07\\x08\""),
            // What does not comes apart, the last piece when the message closes.
            ("50 07 08 01 50 08", "1=Int(1) ?\"P\\x07\" ?\"P\\x08\""),
            ("08 01 50 07 12 00 50 08 08 02", "1=Int(1) 2[1 1:\"\" ] ?\"P\\x07\" 1=Int(2) ?\"P\\x08\""),
            ("08 01 50 07 08 02", "1=Int(1) 1=Int(2) ?\"P\\x07\""),
            // Each message has its own.
            ("50 07 1a 02 5008 50 09", "3: M{ ?\"P\\x08\" } ?\"P\\x07\" ?\"P\\t\""),
            // Every wire type, with groups and their contents.
            ("55 01020304", "?\"U\\x01\\x02\\x03\\x04\""),
            ("53 0801 53 54 54", "?\"S\\x08\\x01STT\""),
            ("f8ffffff0f 01", "?\"\\xf8\\xff\\xff\\xff\\x0f\\x01\""),
        ],
    );
}

#[test]
fn malformed() {
    let s = proto3("message M { int32 a = 1; M c = 3; }");
    check(
        &s,
        &[
            ("00", "M: invalid field number, at byte 0"),
            ("00 01", "M: invalid field number, at byte 0"),
            ("07", "M: invalid field number, at byte 0"),
            ("8000 01", "M: invalid field number, at byte 0"),
            ("f8ffffff1f 01", "M: invalid field number, at byte 0"),
            ("1a 02 0001", "M.c: invalid field number, at byte 2"),
            ("08 01 56", "M: invalid wire type 6, at byte 3"),
            ("57", "M: invalid wire type 7, at byte 1"),
            ("0e 01", "M: invalid wire type 6, at byte 1"),
            ("50", "M: truncated, 1 byte needed, 0 left, at byte 1"),
            ("50 80", "M: truncated, 1 byte needed, 0 left, at byte 2"),
            ("80", "M: truncated, 1 byte needed, 0 left, at byte 1"),
            ("51 010203", "M: truncated, 8 bytes needed, 3 left, at byte 1"),
            ("55 010203", "M: truncated, 4 bytes needed, 3 left, at byte 1"),
            ("52 05 0102", "M: truncated, 5 bytes needed, 2 left, at byte 2"),
            ("50 ffffffffffffffffffff01", "M: varint longer than 64 bits, at byte 1"),
            ("ffffffffffffffffffff01", "M: varint longer than 64 bits, at byte 0"),
            ("53 00", "M: invalid field number, at byte 1"),
            ("53 56 54", "M: invalid wire type 6, at byte 2"),
        ],
    );
}

#[test]
fn wrong_wire_types_are_unknown() {
    let s = proto2(
        "message M { optional int32 a = 1; optional fixed32 b = 2; optional fixed64 c = 3; optional string d = 4;
         optional M e = 5; optional group F = 6 {} repeated M g = 7; map<int32, int32> h = 8; repeated int32 i = 9;
         optional bytes j = 10; oneof o { int32 k = 11; string l = 12; } }",
    );
    // By wire type, a value of it.
    let values = [(0, "05"), (1, "0102030405060708"), (2, "0105"), (3, ""), (5, "01020304")];
    let right: [&[u32]; 12] = [&[0], &[5], &[1], &[2], &[2], &[3], &[2], &[2], &[0, 2], &[2], &[0], &[2]];
    for (number, right) in (1..).zip(right) {
        for (wire_type, value) in values {
            let tag = number << 3 | wire_type;
            let end = if wire_type == 3 { format!("{:02x}", tag + 1) } else { String::new() };
            let hex = format!("{tag:02x} {value} {end}");
            let events = s.m(&hex);
            if right.contains(&wire_type) {
                let taken = events.starts_with(&number.to_string()) || events.starts_with("M.");
                assert!(taken, "{hex}: {events}");
            } else {
                let raw = super::bytes(&hex).escape_ascii().to_string();
                assert_eq!(events, format!("?\"{raw}\""), "{hex}");
            }
        }
    }
    // They displace no member of a oneof and complete no list.
    check(
        &s,
        &[
            ("58 01 60 05", "11=Int(1) ?\"`\\x05\""),
            ("48 01 4d 01020304 48 02", "9[0 1:Int(1) ] 9+[ 2:Int(2) ] ?\"M\\x01\\x02\\x03\\x04\""),
        ],
    );
}
