//! Required fields count on the merged whole.

use super::{Call, Schema, bytes, proto2};

fn schema() -> Schema {
    proto2(
        "message M { optional R one = 1; repeated R many = 2; map<int32, R> map = 3; oneof o { R pick = 4; int32 n = 5; }
         optional group G = 6 { required int32 a = 1; } optional M deep = 7; repeated group H = 8 { required int32 a = 1; } }
         message R { required int32 a = 1; required string b = 2; optional R r = 3; }
         message Wide { required E e = 1; } enum E { ONE = 1; }",
    )
}

/// Whether the bytes are complete: "" or the error.
fn missing(hex: &str) -> String {
    let s = schema();
    let text = s.m(hex);
    let lenient = Call { required: false, ..s.call("M") }.tables(&bytes(hex));
    assert!(!lenient.contains("required"), "{lenient}");
    if text.starts_with("M.") { text } else { String::new() }
}

#[test]
fn complete() {
    for hex in [
        "",
        "0a 05 0801 120178",
        "0a 05 120178 0801",
        // In parts, however they are cut.
        "0a 02 0801 0a 03 120178",
        "0a 02 0801 2a 00 0a 03 120178",
        "0a 0b 1a02 0801 1a03 120178 0801 0a 03 120178",
        "3a 04 0a02 0801 3a 05 0a03 120178",
        "12 05 0801 120178 12 05 0801 120178",
        "33 0801 34",
        "33 34 33 0801 34",
        "43 0801 44 43 0802 44",
        "1a 09 0801 1205 0801 120178",
        // An entry's value in parts.
        "1a 0b 1202 0801 1203 120178 0801",
        // An incomplete entry that a later one replaces.
        "1a 02 0801 1a 09 0801 1205 0801 120178",
        // An incomplete member of a oneof that another displaces.
        "22 02 0801 28 05",
        "22 02 0801 22 03 120178",
    ] {
        assert_eq!(missing(hex), "", "{hex}");
    }
}

#[test]
fn incomplete() {
    for (hex, path) in [
        ("0a 00", "M.one.a: required field missing, at byte 2"),
        ("0a 02 0801", "M.one.b: required field missing, at byte 4"),
        ("0a 03 120178", "M.one.a: required field missing, at byte 5"),
        ("0a 07 0801 120178 1a00", "M.one.r.a: required field missing, at byte 9"),
        ("0a 02 0801 0a 02 0802", "M.one.b: required field missing, at byte 8"),
        // Elements of lists do not merge.
        ("12 02 0801 12 03 120178", "M.many[1].b: required field missing, at byte 4"),
        ("12 05 0801 120178 12 02 0801", "M.many[2].b: required field missing, at byte 11"),
        ("33 34", "M.g.a: required field missing, at byte 2"),
        ("43 44", "M.h[1].a: required field missing, at byte 2"),
        ("1a 02 0801", "M.map[1].a: required field missing, at byte 4"),
        ("1a 00", "M.map[0].a: required field missing, at byte 2"),
        // A complete entry that an incomplete one replaces.
        ("1a 09 0801 1205 0801 120178 1a 02 0801", "M.map[1].a: required field missing, at byte 15"),
        ("22 02 0801", "M.pick.b: required field missing, at byte 4"),
        // What another member displaced does not come back.
        ("22 02 0801 28 05 22 03 120178", "M.pick.a: required field missing, at byte 11"),
        ("3a 04 0a02 0801", "M.deep.one.b: required field missing, at byte 6"),
    ] {
        assert_eq!(missing(hex), path, "{hex}");
    }
}

#[test]
fn the_first_field_is_told() {
    let s = proto2(
        "message M { optional R early = 1; required int32 a = 2; optional R late = 3; map<int32, R> map = 4;
         required int32 b = 5; } message R { required int32 x = 1; }",
    );
    for (hex, path) in [
        ("0a00", "M.early.x: required field missing, at byte 2"),
        ("1a00", "M.a: required field missing, at byte 2"),
        ("1001 1a00", "M.late.x: required field missing, at byte 4"),
        ("1001 2200", "M.map[0].x: required field missing, at byte 4"),
        ("2801 1a00", "M.a: required field missing, at byte 4"),
        ("1001 1a02 0801", "M.b: required field missing, at byte 6"),
    ] {
        assert_eq!(s.m(hex), path, "{hex}");
    }
}

#[test]
fn a_closed_enum_is_not_there_unless_its_number_has_a_name() {
    let s = schema();
    assert_eq!(s.call("Wide").tables(&bytes("08 01")), "1=Enum(1)");
    assert_eq!(s.call("Wide").tables(&bytes("08 07")), "Wide.e: required field missing, at byte 2");
}

#[test]
fn more_required_fields_than_bits() {
    let fields: String = (1..=70).map(|i| format!("required int32 a{i} = {i};")).collect();
    let s = proto2(&format!("message M {{ {fields} }}"));
    let all = |skip: u32| -> Vec<u8> {
        let numbers = (1..=70u32).filter(|i| *i != skip);
        numbers
            .flat_map(|i| {
                let tag = i << 3;
                if tag < 128 { vec![tag as u8, 1] } else { vec![(tag & 127 | 128) as u8, (tag >> 7) as u8, 1] }
            })
            .collect()
    };
    assert!(!s.call("M").tables(&all(0)).contains("required"));
    for skip in [1, 64, 65, 70] {
        let bytes = all(skip);
        let expected = format!("M.a{skip}: required field missing, at byte {}", bytes.len());
        assert_eq!(s.call("M").tables(&bytes), expected);
    }
}
