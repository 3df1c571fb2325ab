//! Lists, packed or not, whatever the schema says.

use super::{check, proto2, proto3};

#[test]
fn packed_and_unpacked_and_mixed() {
    for option in ["true", "false"] {
        let s = proto3(&format!("message M {{ repeated int32 a = 1 [packed = {option}]; int32 b = 2; }}"));
        check(
            &s,
            &[
                ("0a 03 01 8002", "1[2 1:Int(1) 2:Int(256) ]"),
                ("08 01 08 8002", "1[0 1:Int(1) 2:Int(256) ]"),
                ("08 01 0a 02 0203 08 04", "1[0 1:Int(1) ] 1+[ 2:Int(2) 3:Int(3) ] 1+[ 4:Int(4) ]"),
                ("08 01 10 05 08 02", "1[0 1:Int(1) ] 2=Int(5) 1+[ 2:Int(2) ]"),
                ("0a 00", "1[0 ]"),
                ("0a 00 08 07", "1[0 ] 1[0 1:Int(7) ]"),
                ("08 07 0a 00 08 08", "1[0 1:Int(7) ] 1+[ ] 1+[ 2:Int(8) ]"),
                ("0a 02 01 80", "M.a[2]: truncated, 1 byte needed, 0 left, at byte 4"),
                ("0a 05 01", "M.a: truncated, 5 bytes needed, 1 left, at byte 2"),
                ("08 01 08 80", "M.a[2]: truncated, 1 byte needed, 0 left, at byte 4"),
            ],
        );
    }
}

#[test]
fn every_packable_op() {
    let s = proto2(
        "message M { repeated sint32 a = 1; repeated sint64 b = 2; repeated uint64 c = 3; repeated bool d = 4;
         repeated fixed32 e = 5; repeated sfixed64 f = 6; repeated float g = 7; repeated double h = 8; }",
    );
    check(
        &s,
        &[
            ("0a 02 0102", "1[2 1:Int(-1) 2:Int(1) ]"),
            ("12 02 0302", "2[2 1:Int(-2) 2:Int(1) ]"),
            ("1a 0a ffffffffffffffffff01", "3[1 1:Uint(18446744073709551615) ]"),
            ("22 02 0001", "4[2 1:Bool(false) 2:Bool(true) ]"),
            ("2a 08 01000000 ffffffff", "5[2 1:Int(1) 2:Int(4294967295) ]"),
            ("2d 01000000", "5[0 1:Int(1) ]"),
            ("32 08 ffffffffffffffff", "6[1 1:Int(-1) ]"),
            ("3a 04 0000803f", "7[1 1:Number(1.0) ]"),
            ("42 08 000000000000f03f", "8[1 1:Number(1.0) ]"),
            ("41 000000000000f03f 41 0000000000000040", "8[0 1:Number(1.0) 2:Number(2.0) ]"),
            ("2a 06 01000000 0200", "M.e[2]: truncated, 4 bytes needed, 2 left, at byte 6"),
            ("42 04 00000000", "M.h[1]: truncated, 8 bytes needed, 4 left, at byte 2"),
        ],
    );
}

#[test]
fn strings_and_messages() {
    let s = proto3("message M { repeated string a = 1; repeated M b = 2; int32 c = 3; }");
    check(
        &s,
        &[
            ("0a 01 78 0a 00 0a 01 79", "1[3 1:\"x\" 2:\"\" 3:\"y\" ]"),
            ("0a 01 78 18 01 0a 01 79", "1[1 1:\"x\" ] 3=Int(1) 1+[ 2:\"y\" ]"),
            ("12 02 1801 12 00", "2[2 M{ 3=Int(1) } @1 M{ } @2 ]"),
            ("12 04 1202 1801", "2[1 M{ 2[1 M{ 3=Int(1) } @1 ] } @1 ]"),
            ("12 00 0a 00 12 00", "2[1 M{ } @1 ] 1[1 1:\"\" ] 2+[ M{ } @2 ]"),
            ("0a 01 78 0a 01 ff", "M.a[2]: invalid UTF-8, at byte 5"),
            ("12 00 12 03 1801 18", "M.b[2].c: truncated, 1 byte needed, 0 left, at byte 7"),
        ],
    );
    assert_eq!(s.pattern("M b", "12 02 1801 18 05 12 00"), "2[1 1:<\"\\x18\\x01\"> ] 2+[ 2:<\"\"> ]");
    assert_eq!(s.pattern("M", "12 02 1801 0a 01 ff"), "");
}

#[test]
fn a_packed_tag_means_nothing_to_lists_that_cannot_be_packed() {
    let s = proto2("message M { repeated string a = 1; repeated group G = 2 { optional int32 x = 1; } }");
    check(&s, &[("08 01", "?\"\\x08\\x01\""), ("12 02 0801", "?\"\\x12\\x02\\x08\\x01\"")]);
}
