//! An epoch: a set of types, how they are used in this Lua state, and the caches by which a call
//! finds its type or pattern.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;
use std::rc::Rc;
use std::sync::Arc;

use crate::codec::{Bindings, FIRST_FREE_PIN};
use crate::error::Trace;
use crate::schema::{MessagePlan, Pattern, Set, TypeRef, Types};
use crate::vm::api::*;
use crate::vm::{push_owner, spread, string_address, string_at};

/// Pins of the names in the cache of types.
pub(super) const PIN_TYPES: Slot = FIRST_FREE_PIN;
/// Pins of the patterns in their cache: text and owner in turn.
const PIN_PATTERNS: Slot = PIN_TYPES + CACHED as Slot;
pub(super) const FIRST_PIN: Slot = PIN_PATTERNS + 2 * CACHED as Slot;

/// Entries of the caches of types and of patterns; a power of two.
const CACHED: usize = 64;
/// Patterns that are kept compiled by their text beside the cache.
const KEPT_PATTERNS: usize = 1024;

/// A set of types, and how they are used in this Lua state.
pub struct Epoch {
    /// What is registered.
    pub types: Arc<Types>,
    /// The types of its set.
    pub bindings: Bindings,
    /// Messages by the addresses of their names.
    messages: [Cell<(usize, u32)>; CACHED],
    /// Patterns by the addresses of their texts; null where there is none.
    patterns: [Cell<(usize, *const Pattern)>; CACHED],
    /// Those patterns once more, so that they live as long as they are found there.
    cached: RefCell<Box<[Option<Rc<Pattern>>]>>,
    /// Patterns by text, with the pins of their owners.
    kept: RefCell<HashMap<Box<[u8]>, Kept>>,
}

/// The pin of a pattern's owner, and the pattern.
type Kept = (Slot, Rc<Pattern>);

/// The address of no string, and of no type.
const FREE: (usize, u32) = (usize::MAX, u32::MAX);

impl Epoch {
    pub(super) fn new(types: Arc<Types>) -> Self {
        Epoch {
            bindings: Bindings::new(types.set.clone(), FIRST_PIN),
            types,
            messages: std::array::from_fn(|_| Cell::new(FREE)),
            patterns: std::array::from_fn(|_| Cell::new((FREE.0, std::ptr::null()))),
            cached: RefCell::new(vec![None; CACHED].into()),
            kept: RefCell::default(),
        }
    }

    /// The types.
    #[inline(always)]
    pub fn set(&self) -> &Set {
        &self.bindings.set
    }

    /// The message type whose name is the string at `index`; `None` if it is none.
    ///
    /// # Safety
    /// A valid index, upvalue 2 is the epoch's table of pins, two free slots.
    #[inline(always)]
    pub unsafe fn message(&self, l: *mut lua_State, index: c_int) -> Option<&MessagePlan> {
        // SAFETY: as the caller promises.
        unsafe {
            let address = string_address(l, index);
            let entry = spread(address) % CACHED;
            let (known, message) = self.messages.get(entry)?.get();
            if known == address {
                return self.set().message(message);
            }
            self.other_message(l, index, address, entry)
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn other_message(
        &self,
        l: *mut lua_State,
        index: c_int,
        address: usize,
        entry: usize,
    ) -> Option<&MessagePlan> {
        // SAFETY: the pin's slot exists, so writing it allocates nothing.
        unsafe {
            let name = std::str::from_utf8(string_at(l, index)?).ok()?;
            let TypeRef::Message(message) = self.types.find(name)? else { return None };
            lua_pushvalue(l, index);
            lua_rawseti(l, lua_upvalueindex(2), PIN_TYPES + entry as Slot);
            self.messages.get(entry)?.set((address, message));
            self.set().message(message)
        }
    }

    /// The pattern whose text is the string at `index`, with its owner pushed. May raise.
    ///
    /// # Errors
    /// The text of the error is the trace's detail, if there is a string.
    ///
    /// # Safety
    /// A valid index, upvalue 2 is the epoch's table of pins, six free slots.
    #[inline(always)]
    pub unsafe fn pattern<'a>(&self, l: *mut lua_State, index: c_int, trace: &Trace) -> Result<&'a Pattern, ()> {
        // SAFETY: the pushed owner keeps the pattern while the caller uses it, and so does the cache
        // where Lua is closing and the owner is gone.
        unsafe {
            let address = string_address(l, index);
            let entry = spread(address) % CACHED;
            let (known, pattern) = self.patterns.get(entry).ok_or(())?.get();
            if known == address
                && let Some(pattern) = pattern.as_ref()
            {
                lua_rawgeti(l, lua_upvalueindex(2), pattern_pin(entry) + 1);
                return Ok(pattern);
            }
            self.other_pattern(l, index, address, entry, trace)
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn other_pattern<'a>(
        &self,
        l: *mut lua_State,
        index: c_int,
        address: usize,
        entry: usize,
        trace: &Trace,
    ) -> Result<&'a Pattern, ()> {
        // SAFETY: the pins on the stack keep this epoch, whatever a finalizer does to the instance.
        // Nothing is borrowed where Lua is called.
        unsafe {
            let text = string_at(l, index).ok_or(())?;
            lua_pushvalue(l, lua_upvalueindex(2));
            let pins = lua_gettop(l);
            let kept = self.kept.borrow().get(text).map(|(pin, pattern)| (*pin, Rc::as_ptr(pattern)));
            let pattern = match kept {
                Some((pin, pattern)) => {
                    lua_rawgeti(l, pins, pin);
                    pattern
                }
                None => {
                    let owner = &*push_owner(l, OnceCell::<Rc<Pattern>>::new);
                    if !compile(&self.types, text, owner, trace) {
                        return Err(());
                    }
                    let Some(pattern) = owner.get() else { return Err(()) };
                    self.keep(l, pins, text, pattern);
                    Rc::as_ptr(pattern)
                }
            };
            // Text and owner: from here on the pattern is found by its address.
            lua_pushvalue(l, index);
            lua_rawseti(l, pins, pattern_pin(entry));
            lua_pushvalue(l, -1);
            lua_rawseti(l, pins, pattern_pin(entry) + 1);
            self.patterns.get(entry).ok_or(())?.set((address, pattern));
            self.cache(entry, pattern);
            lua_remove(l, pins);
            Ok(&*pattern)
        }
    }

    /// Lets `pattern` live as long as it is found at `entry`.
    ///
    /// # Safety
    /// `pattern` is that of a living `Rc`.
    unsafe fn cache(&self, entry: usize, pattern: *const Pattern) {
        // SAFETY: as the caller promises; one more owner is counted before it is made.
        let owner = unsafe {
            Rc::increment_strong_count(pattern);
            Rc::from_raw(pattern)
        };
        if let Some(to) = self.cached.borrow_mut().get_mut(entry) {
            *to = Some(owner);
        }
    }

    /// Keeps the pattern whose owner is on top, as long as they are not too many.
    unsafe fn keep(&self, l: *mut lua_State, pins: c_int, text: &[u8], pattern: &Rc<Pattern>) {
        if self.kept.borrow().len() >= KEPT_PATTERNS {
            return;
        }
        // SAFETY: the owner is on top; what may raise comes before the map is touched.
        let pin = unsafe {
            lua_pushvalue(l, -1);
            self.bindings.pin(l, pins)
        };
        self.kept.borrow_mut().insert(text.into(), (pin, pattern.clone()));
    }
}

const fn pattern_pin(entry: usize) -> Slot {
    PIN_PATTERNS + 2 * entry as Slot
}

/// Compiles `text` into `owner`. Calls nothing of Lua's.
fn compile(types: &Types, text: &[u8], owner: &OnceCell<Rc<Pattern>>, trace: &Trace) -> bool {
    match Pattern::compile(types, &String::from_utf8_lossy(text)) {
        Ok(pattern) => owner.set(Rc::new(pattern)).is_ok(),
        Err(error) => {
            trace.detail(format_args!("{error}"));
            false
        }
    }
}
