//! Errors: the path, what is wrong, and the byte in the whole input.

use super::{check, proto3};

#[test]
fn paths_and_offsets() {
    let s = proto3(
        "message M { M m = 1; repeated M list = 2; map<string, M> map = 3; string s = 4; int32 x = 5; double d = 6;
         repeated fixed32 f = 7; oneof o { M c = 8; } }",
    );
    check(
        &s,
        &[
            ("28", "M.x: truncated, 1 byte needed, 0 left, at byte 1"),
            ("28 80", "M.x: truncated, 1 byte needed, 0 left, at byte 2"),
            ("28 80808080808080808002", "M.x: varint longer than 64 bits, at byte 1"),
            ("31 00000000", "M.d: truncated, 8 bytes needed, 4 left, at byte 1"),
            ("28 01 22 02 61", "M.s: truncated, 2 bytes needed, 1 left, at byte 4"),
            ("22 03 6162ff", "M.s: invalid UTF-8, at byte 2"),
            ("0a 04 2202 6162", "1: M{ 4=\"ab\" }"),
            ("0a 04 2202 61ff", "M.m.s: invalid UTF-8, at byte 4"),
            ("12 00 12 00 12 04 2202 61ff", "M.list[3].s: invalid UTF-8, at byte 8"),
            ("12 00 28 01 12 01 28", "M.list[2].x: truncated, 1 byte needed, 0 left, at byte 7"),
            ("0a 10 12 0e 1a0c 0a036b6579 1205 0a03 2201ff", "M.m.list[1].map[\"key\"].m.s: invalid UTF-8, at byte 17"),
            ("3a 08 01000000 02000000 3d 0300", "M.f[3]: truncated, 4 bytes needed, 2 left, at byte 11"),
            ("42 01 28", "M.c.x: truncated, 1 byte needed, 0 left, at byte 3"),
        ],
    );
}
