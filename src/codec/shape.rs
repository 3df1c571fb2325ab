//! The keys of a type's tables in the order in which they came lately. Tables made at one place
//! of a program mostly have the same keys in the same order; then no key is looked up and none
//! is sorted.

use std::cell::Cell;

use crate::kernel::Fields;

/// A guess of the keys of the next table.
pub struct Shape {
    keys: [Cell<usize>; Shape::MOST],
    len: Cell<usize>,
    fields: Cell<Fields>,
    /// How often in a row the guess was wrong.
    misses: Cell<u8>,
}

impl Shape {
    /// Tables with more keys are not guessed.
    pub const MOST: usize = 16;
    /// Not the address of a string.
    const NONE: usize = usize::MAX;
    /// A new guess is made after that many wrong ones, so that two kinds of tables in turn do
    /// not cost one each time.
    const PATIENCE: u8 = 4;

    /// No guess yet.
    pub fn new() -> Self {
        Shape {
            keys: std::array::from_fn(|_| Cell::new(Self::NONE)),
            len: Cell::new(0),
            fields: Cell::new(Fields::new()),
            misses: Cell::new(Self::PATIENCE),
        }
    }

    /// Whether key `n` is guessed to be the string at `address`.
    #[inline(always)]
    pub fn expects(&self, n: usize, address: usize) -> bool {
        n < self.len.get() && self.keys.get(n).is_some_and(|key| key.get() == address)
    }

    /// The address of guessed key `n`.
    pub fn key(&self, n: usize) -> usize {
        self.keys.get(n).map_or(Self::NONE, Cell::get)
    }

    /// The fields of a table whose `n` keys all were as guessed, if there are no more guessed.
    #[inline(always)]
    pub fn fields(&self, n: usize) -> Option<Fields> {
        if n != self.len.get() {
            return None;
        }
        self.misses.set(0);
        Some(self.fields.get())
    }

    /// Notes a wrong guess; answers whether it is time for another.
    pub fn miss(&self) -> bool {
        let misses = self.misses.get().saturating_add(1);
        self.misses.set(misses);
        misses > Self::PATIENCE
    }

    /// Guesses `keys`, the addresses of anchored strings, which stand for `fields`.
    pub fn learn(&self, keys: impl Iterator<Item = usize>, fields: &Fields) {
        let mut len = 0;
        for (to, key) in self.keys.iter().zip(keys.chain(std::iter::repeat(Self::NONE))) {
            to.set(key);
            len += usize::from(key != Self::NONE);
        }
        self.len.set(len);
        self.fields.set(*fields);
        self.misses.set(0);
    }
}
