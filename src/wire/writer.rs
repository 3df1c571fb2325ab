//! Writing backwards: a message is written from its last byte to its first, so the
//! length of each part is known when its turn comes.
//!
//! What comes forwards all the same is gathered in the free space at the front of the buffer
//! and moved before the rest when it is complete.

/// A buffer that fills from its end.
#[derive(Default)]
pub struct Writer {
    buffer: Vec<u8>,
    /// Where the written bytes begin.
    start: usize,
    /// How many bytes are gathered at the front.
    front: usize,
}

/// A buffer larger than this is given back once its message is done.
const KEPT: usize = 1 << 20;

impl Writer {
    /// Forgets what was written, and gives back the memory that a huge message took.
    pub fn clear(&mut self) {
        if self.buffer.len() > KEPT {
            self.buffer = Vec::new();
        }
        self.start = self.buffer.len();
        self.front = 0;
    }

    /// What is written so far.
    #[inline(always)]
    pub fn written(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// How many bytes are written so far.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.buffer.len().saturating_sub(self.start)
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, n: usize) {
        let used = self.len();
        let needed = used.saturating_add(self.front).saturating_add(n);
        let size = self.buffer.len().saturating_mul(2).max(needed.saturating_add(256));
        let mut buffer = vec![0; size];
        let start = size.saturating_sub(used);
        if let Some(to) = buffer.get_mut(start..) {
            to.copy_from_slice(self.written());
        }
        if let (Some(to), Some(from)) = (buffer.get_mut(..self.front), self.buffer.get(..self.front)) {
            to.copy_from_slice(from);
        }
        self.buffer = buffer;
        self.start = start;
    }

    #[inline(always)]
    fn free(&self) -> usize {
        self.start.saturating_sub(self.front)
    }

    #[inline(always)]
    fn take(&mut self, n: usize) -> &mut [u8] {
        if self.free() < n {
            self.grow(n);
        }
        let end = self.start;
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

    /// Puts a length and `bytes` before what is written.
    #[inline(always)]
    pub fn delimited(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
        self.varint(bytes.len() as u64);
    }

    /// Puts a varint before what is written.
    #[inline(always)]
    pub fn varint(&mut self, v: u64) {
        if v < 0x80 {
            if let [b] = self.take(1) {
                *b = v as u8;
            }
        } else {
            self.long_varint(v);
        }
    }

    #[inline(always)]
    fn long_varint(&mut self, v: u64) {
        let bits = u64::BITS.saturating_sub(v.leading_zeros());
        let n = bits.div_ceil(7) as usize;
        fill_varint(self.take(n), v);
    }

    /// Gathers `bytes` at the front.
    #[inline(always)]
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        let to = self.room(bytes.len());
        if to.len() == bytes.len() {
            to.copy_from_slice(bytes);
            self.front = self.front.saturating_add(bytes.len());
        }
    }

    #[inline(always)]
    fn room(&mut self, n: usize) -> &mut [u8] {
        if self.free() < n {
            self.grow(n);
        }
        let end = self.front.saturating_add(n);
        self.buffer.get_mut(self.front..end).unwrap_or_default()
    }

    /// Moves what was gathered at the front before what is written; returns its length.
    #[inline(always)]
    pub fn finish_front(&mut self) -> usize {
        let n = self.front;
        self.front = 0;
        self.start = self.start.saturating_sub(n);
        if self.start.saturating_add(n) <= self.buffer.len() {
            self.buffer.copy_within(..n, self.start);
        }
        n
    }

    /// Takes back what was written last, until `len` bytes are left.
    pub fn truncate(&mut self, len: usize) {
        self.start = self.buffer.len().saturating_sub(len).max(self.start);
    }
}

#[inline(always)]
fn fill_varint(to: &mut [u8], mut v: u64) {
    for b in to.iter_mut() {
        *b = v as u8 | 0x80;
        v >>= 7;
    }
    if let Some(last) = to.last_mut() {
        *last &= 0x7f;
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
        w.truncate(6);
        assert_eq!(w.written(), b"\x05world");
        w.clear();
        assert!(w.is_empty());
    }

    #[test]
    fn varints_of_every_length() {
        let mut w = Writer::default();
        for shift in 0..64 {
            for value in [1u64 << shift, (1u64 << shift) - 1, u64::MAX >> shift] {
                w.clear();
                w.varint(value);
                let back = w.written().to_vec();
                assert_eq!(crate::wire::Reader::new(&back).varint(), Ok(value));
            }
        }
    }

    #[test]
    fn front_joins_the_rest_also_across_growth() {
        for size in [1, 100, 200, 300, 1000, 100_000] {
            let mut w = Writer::default();
            w.bytes(b"end");
            for i in 0..size {
                w.push_bytes(&[i as u8 & 0x7f]);
            }
            w.push_bytes(b"xyz");
            assert_eq!(w.finish_front(), size + 3);
            let expected: Vec<u8> = (0..size).map(|i| i as u8 & 0x7f).chain(*b"xyzend").collect();
            assert_eq!(w.written(), expected);
        }
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
