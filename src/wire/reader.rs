//! Reading: every read is checked against the end of the message.

use super::tag::{MAX_FIELD_NUMBER, WireType};
use crate::error::{DecodeError, Kind};

type Result<T> = std::result::Result<T, DecodeError>;

/// A position in the bytes of one message.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from their start.
    #[inline(always)]
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// The bytes not read yet.
    #[inline(always)]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether all is read.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// An error at this position.
    #[cold]
    #[inline(never)]
    pub fn fail<T>(self, kind: Kind) -> Result<T> {
        Err(DecodeError { kind, at: self.rest.as_ptr() as usize })
    }

    #[cold]
    #[inline(never)]
    fn short<T>(self, needed: u64) -> Result<T> {
        self.fail(Kind::Truncated { needed, left: self.rest.len() as u64 })
    }

    /// One varint.
    ///
    /// # Errors
    /// Truncated, or longer than 64 bits.
    #[inline(always)]
    pub fn varint(&mut self) -> Result<u64> {
        match *self.rest {
            [a, ref rest @ ..] if a < 0x80 => {
                self.rest = rest;
                Ok(u64::from(a))
            }
            [a, b, ref rest @ ..] if b < 0x80 => {
                self.rest = rest;
                Ok(u64::from(a & 0x7f) | u64::from(b) << 7)
            }
            _ => {
                let (value, rest) = self.long_varint()?;
                self.rest = rest;
                Ok(value)
            }
        }
    }

    // What is not inlined takes and gives readers by value, so that they can stay in registers.
    #[inline(never)]
    fn long_varint(self) -> Result<(u64, &'a [u8])> {
        let mut value = 0u64;
        let mut rest = self.rest;
        for shift in (0..64).step_by(7) {
            let Some((&b, tail)) = rest.split_first() else {
                return Reader { rest }.short(1);
            };
            if shift == 63 && b > 1 {
                break;
            }
            value |= u64::from(b & 0x7f) << shift;
            rest = tail;
            if b < 0x80 {
                return Ok((value, rest));
            }
        }
        self.fail(Kind::Varint)
    }

    /// One tag, its field number within bounds, its wire type unchecked.
    ///
    /// # Errors
    /// Those of [`Reader::varint`], and [`Kind::FieldNumber`].
    #[inline(always)]
    pub fn tag(&mut self) -> Result<u32> {
        let start = *self;
        match self.varint() {
            Ok(v) if v >= 8 && v <= u64::from(u32::MAX) => Ok(v as u32),
            Ok(_) => start.fail(Kind::FieldNumber),
            Err(e) => Err(e),
        }
    }

    /// Four bytes, little endian.
    ///
    /// # Errors
    /// Truncated.
    #[inline(always)]
    pub fn fixed32(&mut self) -> Result<u32> {
        match self.rest.split_first_chunk::<4>() {
            Some((chunk, rest)) => {
                self.rest = rest;
                Ok(u32::from_le_bytes(*chunk))
            }
            None => self.short(4),
        }
    }

    /// Eight bytes, little endian.
    ///
    /// # Errors
    /// Truncated.
    #[inline(always)]
    pub fn fixed64(&mut self) -> Result<u64> {
        match self.rest.split_first_chunk::<8>() {
            Some((chunk, rest)) => {
                self.rest = rest;
                Ok(u64::from_le_bytes(*chunk))
            }
            None => self.short(8),
        }
    }

    /// A length, and that many bytes.
    ///
    /// # Errors
    /// Those of [`Reader::varint`]; truncated when the length goes past the end.
    #[inline(always)]
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.varint()?;
        match usize::try_from(n).ok().and_then(|n| self.rest.split_at_checked(n)) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => self.short(n),
        }
    }

    /// Skips the value of `tag`, which is already read. `depth` is how deep groups may nest.
    ///
    /// # Errors
    /// Malformed or truncated values, wire types that do not exist, an end-group tag
    /// that closes nothing, and [`Kind::Depth`].
    #[inline(always)]
    pub fn skip(&mut self, tag: u32, depth: u32) -> Result<()> {
        *self = self.skipped(tag, depth)?;
        Ok(())
    }

    #[inline(never)]
    fn skipped(mut self, tag: u32, depth: u32) -> Result<Self> {
        match tag & 7 {
            0 => self.varint().map(drop)?,
            1 => self.fixed64().map(drop)?,
            2 => self.bytes().map(drop)?,
            3 => return self.group_skipped(tag, depth),
            4 => return self.fail(Kind::EndGroup),
            5 => self.fixed32().map(drop)?,
            other => return self.fail(Kind::WireType(other as u8)),
        }
        Ok(self)
    }

    fn group_skipped(mut self, start_tag: u32, depth: u32) -> Result<Self> {
        let Some(depth) = depth.checked_sub(1) else {
            return self.fail(Kind::Depth);
        };
        let end_tag = start_tag ^ (WireType::StartGroup as u32 ^ WireType::EndGroup as u32);
        loop {
            if self.is_empty() {
                return self.fail(Kind::OpenGroup);
            }
            let tag = self.tag()?;
            if tag == end_tag {
                return Ok(self);
            }
            self = self.skipped(tag, depth)?;
        }
    }

    /// How many varints the rest holds, when it holds nothing else.
    #[inline(never)]
    pub fn count_varints(self) -> usize {
        self.rest.iter().filter(|b| **b < 0x80).count()
    }

    /// How many length-delimited values of `tag` follow each other from here; the tag
    /// of the first is already read. At least 1.
    #[inline(never)]
    pub fn count_run(self, tag: u32) -> usize {
        let mut ahead = self;
        let mut n = 0usize;
        while ahead.bytes().is_ok() {
            n = n.saturating_add(1);
            match ahead.varint() {
                Ok(t) if t == u64::from(tag) => {}
                _ => break,
            }
        }
        n.max(1)
    }
}

const _: () = assert!(MAX_FIELD_NUMBER == u32::MAX >> 3, "a tag that fits 32 bits has a valid number");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_of_every_length() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                let mut v = value;
                while v >= 0x80 {
                    bytes.push(v as u8 | 0x80);
                    v >>= 7;
                }
                bytes.push(v as u8);
                let mut r = Reader::new(&bytes);
                assert_eq!(r.varint(), Ok(value));
                assert!(r.is_empty());
                for cut in 0..bytes.len() {
                    let e = Reader::new(&bytes[..cut]).varint().unwrap_err();
                    assert_eq!(e.kind, Kind::Truncated { needed: 1, left: 0 });
                    assert_eq!(e.offset(&bytes), cut);
                }
            }
        }
    }

    #[test]
    fn overlong_varints_are_read_up_to_ten_bytes() {
        assert_eq!(Reader::new(b"\x81\x80\x80\x80\x00").varint(), Ok(1));
        let ten = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
        assert_eq!(Reader::new(&ten).varint(), Ok(1 << 63));
        let too_big = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02];
        assert_eq!(Reader::new(&too_big).varint().unwrap_err().kind, Kind::Varint);
        assert_eq!(Reader::new(&[0x80; 11]).varint().unwrap_err().kind, Kind::Varint);
    }

    #[test]
    fn tags_have_a_field_number() {
        assert_eq!(Reader::new(b"\x08").tag(), Ok(8));
        assert_eq!(Reader::new(b"\x07").tag().unwrap_err().kind, Kind::FieldNumber);
        assert_eq!(Reader::new(b"\xff\xff\xff\xff\x0f").tag(), Ok(u32::MAX));
        assert_eq!(Reader::new(b"\xff\xff\xff\xff\x1f").tag().unwrap_err().kind, Kind::FieldNumber);
    }

    #[test]
    fn lengths_past_the_end() {
        assert_eq!(Reader::new(b"\x02ab!").bytes(), Ok(&b"ab"[..]));
        let e = Reader::new(b"\x05a").bytes().unwrap_err();
        assert_eq!(e.kind, Kind::Truncated { needed: 5, left: 1 });
        let e = Reader::new(b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01").bytes().unwrap_err();
        assert_eq!(e.kind, Kind::Truncated { needed: 1 << 63, left: 0 });
    }

    #[test]
    fn skipping_checks_groups() {
        // group 1 { varint 2, group 3 {} }
        let mut r = Reader::new(b"\x10\x05\x1b\x1c\x0c\x08");
        assert_eq!(r.skip(0x0b, 2), Ok(()));
        assert_eq!(r.rest(), b"\x08");
        let kinds = [
            (&b"\x10\x05\x1b\x1c\x0c"[..], 1, Kind::Depth),
            (b"\x10\x05", 9, Kind::OpenGroup),
            (b"\x14", 9, Kind::EndGroup),
            (b"\x16", 9, Kind::WireType(6)),
        ];
        for (bytes, depth, kind) in kinds {
            assert_eq!(Reader::new(bytes).skip(0x0b, depth).unwrap_err().kind, kind, "{bytes:?}");
        }
    }

    #[test]
    fn counting_ahead() {
        assert_eq!(Reader::new(b"\x01\x80\x01\x00").count_varints(), 3);
        assert_eq!(Reader::new(b"\x01a\x0a\x00\x0a\x01b\x12\x00").count_run(0x0a), 3);
        assert_eq!(Reader::new(b"\x09").count_run(0x0a), 1);
    }
}
