//! UTF-8 validation, quick for ASCII.

/// Whether `bytes` are valid UTF-8. Most strings are ASCII, so that is tried first,
/// eight bytes at a time.
#[inline(always)]
pub fn is_utf8(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let mut high = 0u64;
    while let Some((chunk, tail)) = rest.split_first_chunk::<8>() {
        high |= u64::from_le_bytes(*chunk);
        rest = tail;
    }
    let mut last = 0u8;
    for b in rest {
        last |= b;
    }
    if high & 0x8080_8080_8080_8080 == 0 && last < 0x80 {
        return true;
    }
    full(bytes)
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
        for len in 0..20 {
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
