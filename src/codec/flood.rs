//! Watches for keys and strings made to share a chain of one of Lua's tables, where each costs a walk past all before it.
//!
//! Some are looked at, at random. How many steps all of them take is charged to the budget, so that time stays in
//! proportion to `max_bytes`.

use std::cell::{RefCell, RefMut};
use std::hash::{BuildHasher, RandomState};

use super::chains::{Chains, FREE, Key};
use crate::kernel::Value;
use crate::schema::Op;
use crate::vm::api::*;
use crate::vm::{hash, string_at};

/// What a state keeps for its calls.
#[derive(Default)]
pub struct Watch {
    numbers: Option<hash::Numbers>,
    chains: Chains,
    /// The call that `chains` are of, since calls may interrupt each other.
    call: u64,
}

/// Watches one call.
pub struct Flood<'a> {
    watch: &'a RefCell<Watch>,
    /// How many go by before the next is looked at.
    left: u32,
    /// Whose random number is below is taken into the sample; none is until the call has had some keys.
    bound: u64,
    secret: [u64; 2],
    owed: u64,
    call: u64,
}

impl<'a> Flood<'a> {
    /// Begins a call.
    #[inline(always)]
    pub fn new(watch: &'a RefCell<Watch>) -> Self {
        Flood { watch, left: FREE, bound: 0, secret: [0; 2], owed: 0, call: 0 }
    }

    /// Whether values of that kind are watched.
    #[inline(always)]
    pub fn may_owe(op: Op) -> bool {
        hash::STRINGS && matches!(op, Op::String | Op::Bytes | Op::Message | Op::Group)
    }

    /// What is to be charged now.
    #[inline(always)]
    pub fn owed(&mut self) -> u64 {
        std::mem::take(&mut self.owed)
    }

    /// The table on top was made as a map for `count` keys.
    ///
    /// # Safety
    /// It is there.
    #[inline(always)]
    pub unsafe fn sized(&mut self, l: *mut lua_State, count: usize) {
        if count > FREE as usize {
            // SAFETY: as the caller promises.
            let table = unsafe { lua_topointer(l, -1) } as usize;
            if let Some(mut watch) = self.enter() {
                watch.chains.sized(table, count);
            }
        }
    }

    /// The map on top, which was made before, is put more into.
    ///
    /// # Safety
    /// It is there.
    #[cold]
    pub unsafe fn resized(&mut self, l: *mut lua_State) {
        // SAFETY: as the caller promises.
        let table = unsafe { lua_topointer(l, -1) } as usize;
        if let Some(mut watch) = self.enter() {
            watch.chains.resized(table);
        }
    }

    /// `value`, which is on top, is about to go into the table below it as a key.
    ///
    /// # Safety
    /// Four free slots. May raise.
    #[inline(always)]
    pub unsafe fn key(&mut self, l: *mut lua_State, value: Value) {
        let number = match value {
            Value::Int(v) => v as u64,
            Value::Uint(v) => v,
            _ => 0,
        };
        let random = self.mixed(number);
        if self.passes(random) {
            // SAFETY: as the caller promises.
            unsafe { self.note_number(l, number, random) };
        }
    }

    /// Pushes a string that is about to go into the table on top as a key.
    ///
    /// # Safety
    /// Five free slots. May raise.
    #[inline(always)]
    pub unsafe fn push_key(&mut self, l: *mut lua_State, bytes: &[u8]) {
        // SAFETY: as the caller promises.
        unsafe {
            push_bytes(l, bytes);
            if hash::STRINGS {
                let table = if hash::is_interned(bytes) { 0 } else { lua_topointer(l, -2) as usize };
                self.text(l, bytes, table);
            }
        }
    }

    /// Pushes a string.
    ///
    /// # Safety
    /// Five free slots. May raise.
    #[inline(always)]
    pub unsafe fn push(&mut self, l: *mut lua_State, bytes: &[u8]) {
        // SAFETY: as the caller promises.
        unsafe {
            push_bytes(l, bytes);
            self.string(l, bytes);
        }
    }

    /// A string was made.
    ///
    /// # Safety
    /// Four free slots. May raise.
    #[inline(always)]
    pub unsafe fn string(&mut self, l: *mut lua_State, bytes: &[u8]) {
        if hash::STRINGS && hash::is_interned(bytes) {
            // SAFETY: as the caller promises.
            unsafe { self.text(l, bytes, 0) };
        }
    }

    #[inline(always)]
    unsafe fn text(&mut self, l: *mut lua_State, bytes: &[u8], table: usize) {
        let random = if self.bound == 0 { 0 } else { self.random(bytes) };
        if self.passes(random) {
            // SAFETY: as the caller promises.
            unsafe { self.note_text(l, bytes, table, random) };
        }
    }

    /// Counts a key. Answers whether something is to be done about it.
    #[inline(always)]
    fn passes(&mut self, random: u64) -> bool {
        self.left = self.left.wrapping_sub(1);
        self.left == 0 || random < self.bound
    }

    /// A random function of a number.
    #[inline(always)]
    fn mixed(&self, number: u64) -> u64 {
        let wide = u128::from(number ^ self.secret[0]).wrapping_mul(u128::from(self.secret[1]));
        wide as u64 ^ (wide >> 64) as u64
    }

    /// A random function of a string.
    fn random(&self, bytes: &[u8]) -> u64 {
        let (words, rest) = bytes.as_chunks::<8>();
        // The last may overlap.
        let last = bytes.last_chunk::<8>().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            last
        });
        let start = bytes.len() as u64;
        let all = words.iter().fold(start, |sum, word| self.mixed(sum ^ u64::from_le_bytes(*word)));
        self.mixed(all ^ u64::from_le_bytes(last))
    }

    #[cold]
    #[inline(never)]
    unsafe fn note_number(&mut self, l: *mut lua_State, number: u64, random: u64) {
        // SAFETY: as the caller promises.
        unsafe {
            let key = match lua_type(l, -1) {
                LUA_TNUMBER => {
                    let table = lua_topointer(l, -2) as usize;
                    Some(Key { table, random, hash: hash::number(l, -1), number, length: None })
                }
                // A number that Lua has no number for.
                LUA_TSTRING if hash::STRINGS => string_at(l, -1).map(|text| text_key(text, 0, random)),
                _ => None,
            };
            self.note(l, key);
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn note_text(&mut self, l: *mut lua_State, bytes: &[u8], table: usize, random: u64) {
        // SAFETY: as the caller promises.
        unsafe { self.note(l, Some(text_key(bytes, table, random))) };
    }

    unsafe fn note(&mut self, l: *mut lua_State, key: Option<Key>) {
        let known = self.watch.try_borrow().map_or(None, |watch| watch.numbers);
        let numbers = match known {
            Some(numbers) => numbers,
            // SAFETY: as the caller promises; nothing is borrowed.
            None => unsafe { hash::Numbers::of(l) },
        };
        let Some(mut watch) = self.enter() else { return };
        watch.numbers = Some(numbers);
        if let Some(key) = key
            && self.bound != 0
        {
            if key.random < self.bound {
                watch.chains.keep(key);
            }
            if self.left == 0 {
                self.owed = self.owed.saturating_add(watch.chains.look(key, numbers));
            }
        }
        if self.left == 0 {
            self.left = watch.chains.distance();
        }
        self.bound = watch.chains.bound();
    }

    /// The sample, which is made this call's if it is not. None if it is borrowed, which it never is where something is
    /// called that could come back to it.
    #[cold]
    #[inline(never)]
    fn enter(&mut self) -> Option<RefMut<'a, Watch>> {
        let mut watch = self.watch.try_borrow_mut().ok()?;
        if self.call == 0 || watch.call != self.call {
            watch.call = watch.call.wrapping_add(1);
            let random = RandomState::new();
            watch.chains.begin(random.hash_one(0) | 1);
            self.secret = [random.hash_one(1), random.hash_one(2) | 1];
            self.call = watch.call;
            // What was random before is not.
            self.bound = 0;
        }
        Some(watch)
    }
}

fn text_key(bytes: &[u8], table: usize, random: u64) -> Key {
    Key { table, random, hash: hash::string(bytes), number: 0, length: Some(bytes.len()) }
}
