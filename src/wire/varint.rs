//! Varints outside of messages under way, and ZigZag, the mapping of signed to unsigned numbers of sint32 and sint64
//! ("Base 128 Varints", "Signed Integers").

/// The most bytes of a varint.
pub const MOST_VARINT: usize = 10;

/// Writes `v` to the front of `out`, which has room. Answers how many bytes it has.
pub fn put_varint(out: &mut [u8], mut v: u64) -> usize {
    let mut count = 0usize;
    for byte in out {
        count = count.wrapping_add(1);
        *byte = v as u8 | 0x80;
        v >>= 7;
        if v == 0 {
            *byte &= 0x7f;
            break;
        }
    }
    count
}

/// Maps 0, -1, 1, -2 ... to 0, 1, 2, 3 ...
#[inline(always)]
pub const fn zigzag32(v: i32) -> u32 {
    ((v << 1) ^ (v >> 31)) as u32
}

/// The inverse of [`zigzag32`].
#[inline(always)]
pub const fn unzigzag32(v: u32) -> i32 {
    (v >> 1) as i32 ^ (v as i32 & 1).wrapping_neg()
}

/// [`zigzag32`] for 64 bits.
#[inline(always)]
pub const fn zigzag64(v: i64) -> u64 {
    ((v << 1) ^ (v >> 63)) as u64
}

/// The inverse of [`zigzag64`].
#[inline(always)]
pub const fn unzigzag64(v: u64) -> i64 {
    (v >> 1) as i64 ^ (v as i64 & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_have_as_many_bytes_as_they_need() {
        for (v, expected) in [
            (0, &b"\x00"[..]),
            (127, b"\x7f"),
            (128, b"\x80\x01"),
            (300, b"\xac\x02"),
            (u64::MAX, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ] {
            let mut out = [7; MOST_VARINT + 1];
            let n = put_varint(&mut out, v);
            assert_eq!((&out[..n], out[n]), (expected, 7), "{v}");
        }
    }

    #[test]
    fn zigzag_alternates() {
        for (signed, mapped) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (i32::MAX, u32::MAX - 1), (i32::MIN, u32::MAX)] {
            assert_eq!(zigzag32(signed), mapped);
            assert_eq!(unzigzag32(mapped), signed);
        }
        for (signed, mapped) in [(0, 0), (-1, 1), (1, 2), (i64::MAX, u64::MAX - 1), (i64::MIN, u64::MAX)] {
            assert_eq!(zigzag64(signed), mapped);
            assert_eq!(unzigzag64(mapped), signed);
        }
    }
}
