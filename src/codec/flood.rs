//! Watches for keys and strings made to share a chain of one of Lua's tables, where each costs a walk past all before it.
//!
//! Of many a random few are looked at. How many steps all of them take is charged to the budget, so that time stays in
//! proportion to `max_bytes`.

use std::cell::RefCell;

use super::chains::{Chains, FREE, Sample};
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
    owed: u64,
    call: u64,
    /// How long its input is.
    input: usize,
}

impl<'a> Flood<'a> {
    /// Begins a call.
    #[inline(always)]
    pub fn new(watch: &'a RefCell<Watch>, input: &[u8]) -> Self {
        Flood { watch, left: FREE, owed: 0, call: 0, input: input.len() }
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

    /// The key on top is about to go into the table below it.
    ///
    /// # Safety
    /// Four free slots. May raise.
    #[inline(always)]
    pub unsafe fn key(&mut self, l: *mut lua_State) {
        self.left = self.left.wrapping_sub(1);
        if self.left == 0 {
            // SAFETY: as the caller promises.
            unsafe { self.look_at_key(l) };
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
                self.key(l);
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
        if !hash::STRINGS {
            return;
        }
        self.left = self.left.wrapping_sub(1);
        if self.left == 0 {
            // SAFETY: as the caller promises.
            unsafe { self.look_at_string(l, bytes) };
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn look_at_key(&mut self, l: *mut lua_State) {
        // SAFETY: as the caller promises.
        unsafe {
            let table = lua_topointer(l, -2) as usize;
            let sample = match lua_type(l, -1) {
                LUA_TNUMBER => {
                    let (hash, bits) = hash::number(l, -1);
                    Some(Sample::number(table, hash, bits))
                }
                LUA_TSTRING if hash::STRINGS => string_at(l, -1).map(|bytes| Sample::string(table, bytes)),
                _ => None,
            };
            self.look_at(l, sample);
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn look_at_string(&mut self, l: *mut lua_State, bytes: &[u8]) {
        let sample = hash::is_interned(bytes).then(|| Sample::string(0, bytes));
        // SAFETY: as the caller promises.
        unsafe { self.look_at(l, sample) };
    }

    unsafe fn look_at(&mut self, l: *mut lua_State, sample: Option<Sample>) {
        let known = self.watch.borrow().numbers;
        let numbers = match known {
            Some(numbers) => numbers,
            // SAFETY: as the caller promises; nothing is borrowed.
            None => unsafe { hash::Numbers::of(l) },
        };
        let mut watch = self.watch.borrow_mut();
        watch.numbers = Some(numbers);
        if self.call == 0 || watch.call != self.call {
            watch.call = watch.call.wrapping_add(1);
            watch.chains.clear();
            self.call = watch.call;
        }
        if let Some(sample) = sample {
            self.owed = self.owed.saturating_add(watch.chains.add(sample, numbers, self.input));
        }
        self.left = watch.chains.distance();
    }
}
