//! Scratch memory of an instance, which lends it to calls.
//!
//! A call that ends with a raised error of Lua's, such as one for memory, gives nothing back. What it had is lent
//! again once it is certain that it ended, so that failing calls take no memory.

use std::cell::{Cell, RefCell};

use super::api::*;
use super::entry::{may_be_within_another, push_owner};

/// A lender has at most so many. Where they do not do, Lua's collector owns the next ones.
const MOST: usize = 8;

/// Scratch memory.
pub trait Scratch: Default {
    /// Empties it, and gives back what is too large to keep.
    fn clear(&mut self);
}

/// Scratch memory that is lent to one call at a time.
#[derive(Default)]
pub struct Lent<T> {
    /// The memory.
    pub scratch: T,
    /// The thread of the call that has it; null if none does. It may be gone, so it is only compared.
    holder: Cell<*mut lua_State>,
    /// It is not the instance's.
    collected: bool,
}

/// See above.
pub struct Lender<T: Scratch> {
    /// One that is free, mostly.
    ready: Cell<*mut Lent<T>>,
    all: RefCell<Vec<*mut Lent<T>>>,
}

impl<T: Scratch> Lender<T> {
    /// None yet.
    pub const fn new() -> Self {
        Lender { ready: Cell::new(std::ptr::null_mut()), all: RefCell::new(Vec::new()) }
    }

    /// Scratch memory for the running function alone, empty. May raise.
    ///
    /// # Safety
    /// Four free slots. The running function has a value at index 1 that it needs no more, and is a function of the
    /// instance that lends. It has taken no other.
    #[inline(always)]
    pub unsafe fn take(&self, l: *mut lua_State) -> *mut Lent<T> {
        let lent = self.ready.replace(std::ptr::null_mut());
        // SAFETY: what is ready is free and one of `all`.
        unsafe {
            if lent.is_null() {
                return self.take_other(l);
            }
            (*lent).holder.set(l);
        }
        lent
    }

    #[cold]
    #[inline(never)]
    unsafe fn take_other(&self, l: *mut lua_State) -> *mut Lent<T> {
        // SAFETY: those of `all` live as long as this. One of a call on this thread is free if no function of the
        // instance is being called there but the running one, which has none: that call ended.
        unsafe {
            let held_by = |holder| self.all.borrow().iter().copied().find(|lent| (**lent).holder.get() == holder);
            let free = held_by(std::ptr::null_mut());
            if let Some(lent) = free.or_else(|| held_by(l).filter(|_| !may_be_within_another(l))) {
                (*lent).scratch.clear();
                (*lent).holder.set(l);
                return lent;
            }
            if self.all.borrow().len() < MOST {
                let lent = Box::into_raw(Box::<Lent<T>>::default());
                (*lent).holder.set(l);
                self.all.borrow_mut().push(lent);
                return lent;
            }
            let lent = push_owner(l, || Lent { collected: true, ..Lent::default() });
            lua_replace(l, 1);
            lent.cast_mut()
        }
    }

    /// Gives it back.
    ///
    /// # Safety
    /// It was taken from this and is used no more.
    #[inline(always)]
    pub unsafe fn give(&self, lent: *mut Lent<T>) {
        // SAFETY: as the caller promises.
        unsafe {
            if (*lent).collected {
                // Lua does not know how much its owner holds, which may live for long.
                (*lent).scratch = T::default();
                return;
            }
            (*lent).scratch.clear();
            (*lent).holder.set(std::ptr::null_mut());
        }
        self.ready.set(lent);
    }
}

impl<T: Scratch> Drop for Lender<T> {
    fn drop(&mut self) {
        for lent in self.all.take() {
            // SAFETY: each was made by `take_other` and is in this list once; no call uses it any more, for its
            // function would keep the instance.
            drop(unsafe { Box::from_raw(lent) });
        }
    }
}

impl Scratch for Vec<u8> {
    fn clear(&mut self) {
        // As much as a writer keeps.
        const KEPT: usize = 1 << 20;
        if self.capacity() > KEPT {
            *self = Vec::new();
        }
        Vec::clear(self);
    }
}
