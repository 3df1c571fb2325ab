//! Every op, at its limits and beyond them.

use super::{Call, bytes, check, proto2, proto3};
use crate::schema::Flags;

#[test]
fn varints_lose_what_their_type_does_not_hold() {
    let s = proto3("message M { int32 a = 1; int64 b = 2; uint32 c = 3; uint64 d = 4; bool e = 5; }");
    check(
        &s,
        &[
            ("", ""),
            ("08 00", "1=Int(0)"),
            ("08 ffffffff07", "1=Int(2147483647)"),
            ("08 ffffffffffffffffff01", "1=Int(-1)"),
            ("08 80808080f8ffffffff01", "1=Int(-2147483648)"),
            // Five bytes, as some writers shorten it.
            ("08 ffffffff0f", "1=Int(-1)"),
            // 2^32 + 5 and 2^31.
            ("08 8580808010", "1=Int(5)"),
            ("08 8080808008", "1=Int(-2147483648)"),
            ("10 ffffffffffffffff7f", "2=Int(9223372036854775807)"),
            ("10 80808080808080808001", "2=Int(-9223372036854775808)"),
            ("18 ffffffff0f", "3=Int(4294967295)"),
            ("18 8580808010", "3=Int(5)"),
            ("18 ffffffffffffffffff01", "3=Int(4294967295)"),
            ("20 ffffffffffffffffff01", "4=Uint(18446744073709551615)"),
            ("28 00", "5=Bool(false)"),
            ("28 02", "5=Bool(true)"),
            // True though the low 32 bits are zero.
            ("28 8080808010", "5=Bool(true)"),
            // Longer than need be.
            ("08 85808080808080808000", "1=Int(5)"),
            ("88 80 80 80 00 05", "1=Int(5)"),
        ],
    );
}

#[test]
fn zigzag() {
    let s = proto3("message M { sint32 a = 1; sint64 b = 2; }");
    check(
        &s,
        &[
            ("08 01", "1=Int(-1)"),
            ("08 feffffff0f", "1=Int(2147483647)"),
            ("08 ffffffff0f", "1=Int(-2147483648)"),
            // 2^32 + 3: the upper bits are lost before zigzag.
            ("08 8380808010", "1=Int(-2)"),
            ("10 feffffffffffffffff01", "2=Int(9223372036854775807)"),
            ("10 ffffffffffffffffff01", "2=Int(-9223372036854775808)"),
        ],
    );
}

#[test]
fn fixed() {
    let s = proto3(
        "message M { fixed32 a = 1; fixed64 b = 2; sfixed32 c = 3; sfixed64 d = 4; float e = 5; double f = 6; }",
    );
    check(
        &s,
        &[
            ("0d 01020384", "1=Int(2214789633)"),
            ("11 0000000000000080", "2=Uint(9223372036854775808)"),
            ("1d ffffffff", "3=Int(-1)"),
            ("21 0000000000000080", "4=Int(-9223372036854775808)"),
            ("2d cdcccc3d", "5=Number(0.10000000149011612)"),
            ("2d 000080ff", "5=Number(-inf)"),
            ("2d 0000c07f", "5=Number(NaN)"),
            ("2d 00000080", "5=Number(-0.0)"),
            ("2d 01000000", "5=Number(1.401298464324817e-45)"),
            ("31 9a9999999999b93f", "6=Number(0.1)"),
        ],
    );
}

#[test]
fn strings_and_bytes() {
    let s = proto3("message M { string a = 1; bytes b = 2; }");
    check(
        &s,
        &[
            ("0a 00", "1=\"\""),
            ("0a 03 610062", "1=\"a\\x00b\""),
            ("0a 03 e282ac", "1=\"\\xe2\\x82\\xac\""),
            ("0a 03 eda080", "M.a: invalid UTF-8, at byte 2"),
            ("0a 02 c080", "M.a: invalid UTF-8, at byte 2"),
            ("12 02 c080", "2=\"\\xc0\\x80\""),
        ],
    );
    let lenient = Call { utf8: Flags(0), ..s.call("M") };
    assert_eq!(lenient.tables(&bytes("0a 02 c080")), "1=\"\\xc0\\x80\"");
    check(&proto2("message M { optional string a = 1; }"), &[("0a 02 c080", "1=\"\\xc0\\x80\"")]);
}

#[test]
fn order_does_not_matter_and_the_last_one_wins() {
    let s = proto3("message M { int32 a = 1; string b = 2; bool c = 3; double far = 536870911; }");
    check(
        &s,
        &[
            ("18 01 12 01 78 08 02", "3=Bool(true) 2=\"x\" 1=Int(2)"),
            ("08 01 08 02", "1=Int(1) 1=Int(2)"),
            ("f9ffffff0f 0000000000000840 08 01", "536870911=Number(3.0) 1=Int(1)"),
        ],
    );
}
