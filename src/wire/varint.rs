//! ZigZag, the mapping of signed to unsigned numbers of sint32 and sint64 ("Signed Integers").

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
