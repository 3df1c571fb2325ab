//! Writing backwards: a message is written from its last byte to its first, so the
//! length of each part is known when its turn comes.

/// A buffer that fills from its end.
#[derive(Default)]
pub struct Writer {
    buffer: Vec<u8>,
    /// Where the written bytes begin.
    start: usize,
    failure: Option<Failure>,
}

/// Why a writer takes nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The message would have more than 2 GiB.
    TooLarge,
    /// There is no memory left.
    NoMemory,
}

/// The largest message, 2 GiB less a byte ("Total Size").
const LARGEST: usize = i32::MAX as usize;

/// A buffer larger than this is given back once its message is done.
const KEPT: usize = 1 << 20;

impl Writer {
    /// Forgets what was written, and gives back the memory that a huge message took.
    #[inline(always)]
    pub fn clear(&mut self) {
        if self.buffer.len() > KEPT {
            self.buffer = Vec::new();
        }
        self.start = self.buffer.len();
        self.failure = None;
    }

    /// Why what is written is not what was to be written, if so.
    #[inline(always)]
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// What is written so far.
    #[inline(always)]
    pub fn written(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// How many bytes are written so far.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.buffer.len().wrapping_sub(self.start)
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for `n` bytes.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, n: usize) {
        let used = self.len();
        let needed = used.saturating_add(n);
        if needed > LARGEST {
            return self.fail(Failure::TooLarge);
        }
        let size = self.buffer.len().saturating_mul(2).min(LARGEST).max(needed.saturating_add(256));
        let mut buffer = Vec::new();
        if buffer.try_reserve_exact(size).is_err() {
            return self.fail(Failure::NoMemory);
        }
        buffer.resize(size, 0);
        let start = size.saturating_sub(used);
        let written = self.written();
        if let Some(to) = buffer.get_mut(start..).filter(|to| to.len() == written.len()) {
            to.copy_from_slice(written);
        }
        self.buffer = buffer;
        self.start = start;
    }

    fn fail(&mut self, failure: Failure) {
        self.failure = Some(failure);
        self.start = self.buffer.len();
    }

    /// The `n` bytes before what is written, to be filled.
    #[inline(always)]
    pub fn take(&mut self, n: usize) -> &mut [u8] {
        if self.start < n {
            self.grow(n);
        }
        let end = self.start;
        // Only a failure leaves no room here.
        self.start = end.saturating_sub(n);
        self.buffer.get_mut(self.start..end).unwrap_or_default()
    }

    /// Puts `bytes` before what is written.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        let to = self.take(bytes.len());
        if to.len() == bytes.len() {
            to.copy_from_slice(bytes);
        }
    }

    /// Puts four or eight bytes before what is written.
    #[inline(always)]
    pub fn fixed<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(to) = self.take(N).first_chunk_mut::<N>() {
            *to = bytes;
        }
    }

    /// Puts a length and `bytes` before what is written.
    #[inline(always)]
    pub fn delimited(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
        self.varint(bytes.len() as u64);
    }

    /// Puts a varint before what is written.
    #[inline(always)]
    pub fn varint(&mut self, v: u64) {
        if v < 0x80
            && let Some(b) = self.buffer.get_mut(self.start.wrapping_sub(1))
        {
            *b = v as u8;
            self.start = self.start.wrapping_sub(1);
        } else if (0x80..0x4000).contains(&v)
            && let [a, b] = self.take(2)
        {
            *a = v as u8 | 0x80;
            *b = (v >> 7) as u8;
        } else {
            self.long_varint(v);
        }
    }

    #[inline(never)]
    fn long_varint(&mut self, mut v: u64) {
        // Seven bits a byte, and one byte for zero.
        let bits = u64::BITS.wrapping_sub((v | 1).leading_zeros());
        let n = bits.wrapping_mul(9).wrapping_add(64) >> 6;
        let to = self.take(n as usize);
        for b in to.iter_mut() {
            *b = v as u8 | 0x80;
            v >>= 7;
        }
        if let Some(last) = to.last_mut() {
            *last &= 0x7f;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_in_reverse_order_of_writing() {
        let mut w = Writer::default();
        w.bytes(b"world");
        w.varint(5);
        w.bytes(b"hello ");
        assert_eq!(w.written(), b"hello \x05world");
        w.clear();
        assert!(w.is_empty());
    }

    #[test]
    fn varints_of_every_length() {
        let literal: [(u64, &[u8]); 6] = [
            (0, b"\x00"),
            (1, b"\x01"),
            (127, b"\x7f"),
            (128, b"\x80\x01"),
            (16384, b"\x80\x80\x01"),
            (u64::MAX, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ];
        for (value, bytes) in literal {
            // The first write to a writer finds no buffer.
            let mut w = Writer::default();
            w.varint(value);
            assert_eq!(w.written(), bytes);
        }
        let mut w = Writer::default();
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, u64::MAX >> shift] {
                w.clear();
                w.varint(value);
                let mut r = crate::wire::Reader::new(w.written());
                assert_eq!(r.varint(), Ok(value));
                assert!(r.is_empty());
            }
        }
    }

    #[test]
    fn what_is_written_survives_growth() {
        let mut w = Writer::default();
        let mut expected = Vec::new();
        for size in [1, 100, 200, 300, 1000, 100_000] {
            let part: Vec<u8> = (0..size).map(|i| i as u8).collect();
            w.bytes(&part);
            w.varint(1);
            w.fixed([1, 2, 3, 4]);
            expected = [&[1, 2, 3, 4, 1], &part[..], &expected].concat();
            assert_eq!(w.written(), expected);
        }
    }

    #[test]
    fn more_than_the_largest_message_fails() {
        let mut w = Writer::default();
        w.bytes(b"x");
        w.take(LARGEST);
        assert_eq!(w.failure(), Some(Failure::TooLarge));
        w.clear();
        assert_eq!(w.failure(), None);
    }

    #[test]
    fn memory_of_a_huge_message_is_given_back() {
        let mut w = Writer::default();
        w.bytes(&vec![1; 5 << 20]);
        w.clear();
        assert_eq!(w.buffer.capacity(), 0);
        w.bytes(&[1; 1000]);
        w.clear();
        assert!(w.buffer.capacity() >= 1000);
    }
}
