//! UTF-8 validation, quick for ASCII.

/// Whether `bytes` are valid UTF-8. Most strings are short and ASCII, so that is tried first,
/// with reads that overlap instead of loops over the rest.
#[inline(always)]
pub fn is_utf8(bytes: &[u8]) -> bool {
    let high = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) if bytes.len() <= 16 => {
            (u64::from_le_bytes(*first) | u64::from_le_bytes(*last)) & HIGH_BITS
        }
        (Some(_), Some(last)) => u64::from_le_bytes(*last) & HIGH_BITS | high_bits(bytes),
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) => u64::from(u32::from_le_bytes(*first) | u32::from_le_bytes(*last)) & HIGH_BITS,
            _ => match *bytes {
                [] => 0,
                [a] => u64::from(a) & HIGH_BITS,
                [a, b] => u64::from(a | b) & HIGH_BITS,
                [a, b, c, ..] => u64::from(a | b | c) & HIGH_BITS,
            },
        },
    };
    high == 0 || full(bytes)
}

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// The high bits of all bytes but the last few.
#[inline(never)]
fn high_bits(bytes: &[u8]) -> u64 {
    let (chunks, _) = bytes.as_chunks::<8>();
    chunks.iter().fold(0, |high, chunk| high | u64::from_le_bytes(*chunk)) & HIGH_BITS
}

#[cold]
#[inline(never)]
fn full(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::is_utf8;

    #[test]
    fn agrees_with_std_at_every_length_and_position() {
        for len in 0..40 {
            let ascii = vec![b'a'; len];
            assert!(is_utf8(&ascii));
            for at in 0..len {
                for bad in [0x80, 0xc3, 0xff] {
                    let mut bytes = ascii.clone();
                    bytes[at] = bad;
                    assert!(!is_utf8(&bytes), "{bytes:?}");
                }
            }
        }
        assert!(is_utf8("grüße, 世界 🎉".as_bytes()));
        assert!(!is_utf8(b"\xed\xa0\x80"), "a surrogate");
        assert!(!is_utf8(b"\xc0\x80"), "an overlong zero");
    }
}
