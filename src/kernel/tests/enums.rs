//! Enums: open ones take every number, closed ones send strangers to the unknown fields.

use super::{check, proto2, proto3};

#[test]
fn open() {
    let s = proto3(
        "message M { E a = 1; repeated E b = 2; repeated E c = 3 [packed = false]; map<int32, E> m = 4; }
         enum E { ZERO = 0; ONE = 1; MINUS = -1; }",
    );
    check(
        &s,
        &[
            ("08 01", "1=Enum(1)"),
            ("08 07", "1=Enum(7)"),
            ("08 ffffffffffffffffff01", "1=Enum(-1)"),
            ("08 ffffffff0f", "1=Enum(-1)"),
            ("08 8180808010", "1=Enum(1)"),
            ("12 03 010701", "2[3 1:Enum(1) 2:Enum(7) 3:Enum(1) ]"),
            ("18 01 18 07", "3[0 1:Enum(1) 2:Enum(7) ]"),
            ("22 04 0801 1007", "4(1 Int(1)-> Enum(7) ; )"),
            ("22 02 0801", "4(1 Int(1)-> Enum(0) ; )"),
        ],
    );
}

#[test]
fn closed() {
    let s = proto2(
        "message M { optional E a = 1; repeated E b = 2 [packed = true]; repeated E c = 3; map<int32, E> m = 4;
         optional int32 x = 5; oneof o { E d = 6; int32 y = 7; } }
         enum E { ONE = 1; TWO = 2; MINUS = -1; }",
    );
    check(
        &s,
        &[
            ("08 02", "1=Enum(2)"),
            ("08 ffffffffffffffffff01", "1=Enum(-1)"),
            // The low 32 bits count.
            ("08 8180808010", "1=Enum(1)"),
            ("08 07", "?\"\\x08\\x07\""),
            ("08 00", "?\"\\x08\\x00\""),
            ("08 01 08 07", "1=Enum(1) ?\"\\x08\\x07\""),
            ("08 07 28 01", "5=Int(1) ?\"\\x08\\x07\""),
            ("08 07 18 00", "3[0 ] ?\"\\x08\\x07\\x18\\x00\""),
            // In lists the others stay in their order.
            ("18 01 18 07 18 02", "3[0 1:Enum(1) 2:Enum(2) ] ?\"\\x18\\x07\""),
            ("18 07", "3[0 ] ?\"\\x18\\x07\""),
            ("18 07 18 01", "3[0 1:Enum(1) ] ?\"\\x18\\x07\""),
            ("18 01 18 07 18 08 18 02 18 09", "3[0 1:Enum(1) 2:Enum(2) ?\"\\x18\\x07\\x18\\x08\" ] ?\"\\x18\\t\""),
            // Packed ones turn into fields of their own.
            ("12 03 010702", "2[3 1:Enum(1) ?\"\\x10\\x07\" 2:Enum(2) ]"),
            ("12 01 07", "2[1 ?\"\\x10\\x07\" ]"),
            ("12 01 07 12 01 01", "2[1 ?\"\\x10\\x07\" ] 2[1 1:Enum(1) ]"),
            ("10 07 10 01", "2[0 1:Enum(1) ] ?\"\\x10\\x07\""),
            // The whole entry of a map.
            ("22 04 0801 1002", "4(1 Int(1)-> Enum(2) ; )"),
            ("22 04 0801 1007", "4(1 ) ?\"\\\"\\x04\\x08\\x01\\x10\\x07\""),
            ("22 04 0801 1007 22 04 0801 1002", "4(2 Int(1)-> Enum(2) ; ) ?\"\\\"\\x04\\x08\\x01\\x10\\x07\""),
            ("22 06 0801 1007 1002", "4(1 Int(1)-> Enum(2) ; )"),
            ("22 02 0801", "4(1 Int(1)-> Enum(1) ; )"),
            // No member of a oneof is set by one.
            ("38 05 30 07", "7=Int(5) ?\"0\\x07\""),
            ("38 05 30 01", "7=Int(5) 6=Enum(1) -7"),
        ],
    );
}
