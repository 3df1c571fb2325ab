//! Maps: entries are messages, and may come in any shape that messages may.

use super::{check, proto2, proto3};

#[test]
fn entries() {
    let s =
        proto3("message M { map<int32, string> a = 1; map<string, M> b = 2; int32 x = 3; map<bool, double> c = 4; }");
    check(
        &s,
        &[
            ("0a 05 0801 120178", "1(1 Int(1)-> \"x\" ; )"),
            // Value first.
            ("0a 05 120178 0801", "1(1 Int(1)-> \"x\" ; )"),
            // Nothing, key alone, value alone.
            ("0a 00", "1(1 Int(0)-> \"\" ; )"),
            ("0a 02 0801", "1(1 Int(1)-> \"\" ; )"),
            ("0a 03 120178", "1(1 Int(0)-> \"x\" ; )"),
            ("22 00", "4(1 Bool(false)-> Number(0.0) ; )"),
            // The last key and the last value.
            ("0a 0a 0801 120178 0802 120179", "1(1 Int(2)-> \"y\" ; )"),
            ("0a 07 0801 120178 0802", "1(1 Int(2)-> \"x\" ; )"),
            // Several entries, in a run and apart; of equal keys it is the sink that lets the last win.
            ("0a 02 0801 0a 02 0802", "1(2 Int(1)-> \"\" ; Int(2)-> \"\" ; )"),
            ("0a 02 0801 18 05 0a 02 0801", "1(1 Int(1)-> \"\" ; ) 3=Int(5) 1+(1 Int(1)-> \"\" ; )"),
            // Unknown fields in an entry are lost with it, wrong wire types among them.
            ("0a 07 0801 1805 120178", "1(1 Int(1)-> \"x\" ; )"),
            ("0a 05 0a0101 1000", "1(1 Int(0)-> \"\" ; )"),
            // Keys beyond their type.
            ("0a 06 088180808010", "1(1 Int(1)-> \"\" ; )"),
        ],
    );
}

#[test]
fn messages_as_values() {
    let s = proto3("message M { map<string, M> b = 2; int32 x = 3; repeated int32 l = 4; }");
    check(
        &s,
        &[
            ("12 07 0a0178 12021805", "2(1 \"x\"-> M{ 3=Int(5) } ; )"),
            ("12 03 0a0178", "2(1 \"x\"-> M{ } ; )"),
            ("12 00", "2(1 \"\"-> M{ } ; )"),
            // In two parts, which merge.
            ("12 0c 12021805 0a0178 1203220107", "2(1 \"x\"-> M{ 3=Int(5) 4[1 1:Int(7) ] } ; )"),
            // A map within.
            ("12 09 0a0178 1204 12020a00", "2(1 \"x\"-> M{ 2(1 \"\"-> M{ } ; ) } ; )"),
        ],
    );
    assert_eq!(s.pattern("M b", "12 07 0a0178 12021805"), "2(1 \"x\"-> <\"\\x18\\x05\"> ; )");
    assert_eq!(
        s.pattern("M b", "12 0c 12021805 0a0178 1203220107"),
        "2(1 \"x\"-> <\"\\x18\\x05\"> +<\"\\\"\\x01\\x07\"> ; )"
    );
    assert_eq!(s.pattern("M b", "12 03 0a0178"), "2(1 \"x\"-> <\"\"> ; )");
}

#[test]
fn every_type_of_key() {
    let types = [
        "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64", "bool",
        "string",
    ];
    let fields: String = types.iter().zip(1..).map(|(t, i)| format!("map<{t}, bool> f{i} = {i};")).collect();
    let s = proto3(&format!("message M {{ {fields} }}"));
    check(
        &s,
        &[
            ("0a 0b 08 ffffffffffffffffff01", "1(1 Int(-1)-> Bool(false) ; )"),
            ("12 0b 08 80808080808080808001", "2(1 Int(-9223372036854775808)-> Bool(false) ; )"),
            ("1a 06 08 ffffffff0f", "3(1 Int(4294967295)-> Bool(false) ; )"),
            ("22 0b 08 ffffffffffffffffff01", "4(1 Uint(18446744073709551615)-> Bool(false) ; )"),
            ("2a 02 0801", "5(1 Int(-1)-> Bool(false) ; )"),
            ("32 02 0801", "6(1 Int(-1)-> Bool(false) ; )"),
            ("3a 05 0d ffffffff", "7(1 Int(4294967295)-> Bool(false) ; )"),
            ("42 09 09 ffffffffffffffff", "8(1 Uint(18446744073709551615)-> Bool(false) ; )"),
            ("4a 05 0d ffffffff", "9(1 Int(-1)-> Bool(false) ; )"),
            ("52 09 09 ffffffffffffffff", "10(1 Int(-1)-> Bool(false) ; )"),
            ("5a 04 0801 1001", "11(1 Bool(true)-> Bool(true) ; )"),
            ("62 03 0a0178", "12(1 \"x\"-> Bool(false) ; )"),
            ("22 00", "4(1 Uint(0)-> Bool(false) ; )"),
            ("62 00", "12(1 \"\"-> Bool(false) ; )"),
        ],
    );
}

#[test]
fn errors_name_the_key() {
    let s =
        proto3("message M { map<string, M> b = 2; map<uint64, string> c = 3; map<bool, string> d = 4; int32 x = 5; }");
    check(
        &s,
        &[
            ("12 01", "M.b: truncated, 1 byte needed, 0 left, at byte 2"),
            ("12 02 0a05", "M.b: truncated, 5 bytes needed, 0 left, at byte 4"),
            ("12 03 0a01ff", "M.b: invalid UTF-8, at byte 4"),
            ("12 06 0a0178 120128", "M.b[\"x\"].x: truncated, 1 byte needed, 0 left, at byte 8"),
            ("1a 05 0807 1201ff", "M.c[7]: invalid UTF-8, at byte 6"),
            ("22 05 0801 1201ff", "M.d[true]: invalid UTF-8, at byte 6"),
            ("12 01 0c", "M.b: unmatched end of group, at byte 3"),
            ("12 01 00", "M.b: invalid field number, at byte 2"),
        ],
    );
}

#[test]
fn proto2_maps_do_not_check_strings() {
    check(
        &proto2("message M { map<string, string> a = 1; }"),
        &[("0a 06 0a01ff 1201fe", "1(1 \"\\xff\"-> \"\\xfe\" ; )")],
    );
}
