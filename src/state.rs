//! What one instance of the module holds: its types, its options and its scratch memory.
//!
//! The types are an [`Epoch`]: a set that never changes, and how its types are bound in this Lua
//! state. Registering makes a new one. A call keeps the table of pins of its epoch on the stack,
//! and with it the epoch, so that a finalizer may register or clear while it runs.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::codec::{
    Bindings, FIRST_FREE_PIN, PIN_ARRAY, PIN_EPOCH, PIN_MAP, PIN_METAS, PIN_SET, PIN_UNKNOWN, Rules, UNKNOWN_KEY,
};
use crate::error::{SchemaError, Text, Trace};
use crate::kernel::Budget;
use crate::schema::{Flags, MessagePlan, Pattern, Registry, Set, TypeRef};
use crate::vm::api::*;
use crate::vm::{
    PIN_BOXED, PIN_INT64, PIN_UINT64, Pins, pop, push_owner, set_bytes, spread, string_address, string_at, upvalue,
};
use crate::wire::Writer;

/// Pin of the list of the instance's functions, whose pins change with the epoch.
pub const PIN_FUNCTIONS: Slot = 10;
/// Pins of the names in the cache of types.
const PIN_TYPES: Slot = FIRST_FREE_PIN;
/// Pins of the patterns in their cache: text and owner in turn.
const PIN_PATTERNS: Slot = PIN_TYPES + CACHED as Slot;
const FIRST_PIN: Slot = PIN_PATTERNS + 2 * CACHED as Slot;

/// Entries of the caches of types and of patterns; a power of two.
const CACHED: usize = 64;
/// Patterns that are kept compiled by their text beside the cache.
const KEPT_PATTERNS: usize = 1024;

/// The options that an instance starts with and those that it has.
#[derive(Clone, Copy)]
pub struct Options {
    /// How values are given and taken.
    pub rules: Rules,
    /// Whether required fields are checked.
    pub required: bool,
    /// Whether strings are checked to be UTF-8.
    pub utf8: bool,
    /// How deep messages may nest, the outermost being 0.
    pub depth: u32,
    /// How many bytes of memory one decode may build, estimated.
    pub max_bytes: u64,
}

impl Options {
    /// Nothing nests deeper, whatever option `depth` says.
    pub const DEEPEST: u32 = 1000;

    /// The library's defaults.
    pub const fn new() -> Self {
        Options { rules: Rules::new(), required: true, utf8: true, depth: 100, max_bytes: 512 << 20 }
    }

    /// The strings to be checked.
    pub fn utf8(&self) -> Flags {
        if self.utf8 { Flags::UTF8 } else { Flags(0) }
    }

    /// What one call may use.
    pub fn budget(&self) -> Budget {
        Budget { depth: self.depth, bytes: self.max_bytes }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// One independent instance of the module.
pub struct Instance {
    registry: RefCell<Registry>,
    /// The options.
    pub options: Cell<Options>,
    epoch: Cell<*const Epoch>,
    /// Where errors are told.
    pub trace: Trace,
    /// See [`crate::codec::TableSink`].
    pub unknown: RefCell<Vec<u8>>,
    last_error: RefCell<Option<Box<[u8]>>>,
    writer: Cell<*mut Writer>,
    writers: RefCell<Writers>,
}

#[derive(Default)]
struct Writers {
    all: Vec<*mut Writer>,
    free: Vec<*mut Writer>,
}

/// What registering came to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Registered {
    /// There are new types.
    Changed,
    /// All was known.
    Known,
    /// It failed; the text is the last error.
    Failed,
}

impl Instance {
    /// An instance without types. Its first epoch must be set before it is used.
    pub fn new() -> Self {
        Instance {
            registry: RefCell::new(Registry::new()),
            options: Cell::new(Options::new()),
            epoch: Cell::new(std::ptr::null()),
            trace: Trace::default(),
            unknown: RefCell::default(),
            last_error: RefCell::default(),
            writer: Cell::new(std::ptr::null_mut()),
            writers: RefCell::default(),
        }
    }

    /// The instance of the running function.
    ///
    /// # Safety
    /// The running function is one of an instance's.
    #[inline(always)]
    pub unsafe fn of<'a>(l: *mut lua_State) -> &'a Instance {
        // SAFETY: upvalue 1 of all functions of an instance is its owner.
        unsafe { upvalue(l, 1) }
    }

    /// The current epoch, which lives as long as its table of pins.
    ///
    /// # Safety
    /// The caller keeps upvalue 2, the table of pins, on the stack before it calls what may collect.
    #[inline(always)]
    pub unsafe fn epoch<'a>(&self) -> &'a Epoch {
        // SAFETY: `renew` set it; the current table of pins owns it.
        unsafe { &*self.epoch.get() }
    }

    /// A writer for the caller alone, empty. One that an error keeps from being given back is
    /// freed with the instance.
    #[inline(always)]
    pub fn take_writer(&self) -> *mut Writer {
        let writer = self.writer.replace(std::ptr::null_mut());
        if writer.is_null() { self.other_writer() } else { writer }
    }

    #[cold]
    fn other_writer(&self) -> *mut Writer {
        let mut writers = self.writers.borrow_mut();
        writers.free.pop().unwrap_or_else(|| {
            let writer = Box::into_raw(Box::<Writer>::default());
            writers.all.push(writer);
            writer
        })
    }

    /// Gives a writer back.
    ///
    /// # Safety
    /// It was taken from this instance and is used no more.
    #[inline(always)]
    pub unsafe fn give_writer(&self, writer: *mut Writer) {
        // SAFETY: as the caller promises.
        unsafe { (*writer).clear() };
        let other = self.writer.replace(writer);
        if !other.is_null() {
            self.writers.borrow_mut().free.push(other);
        }
    }

    /// Registers `bytes`. Calls nothing of Lua's; a panic of the linker is an error.
    pub fn register(&self, bytes: &[u8]) -> Registered {
        self.protected(|| self.registry.borrow_mut().register(bytes))
    }

    /// Registers the file at `path`, likewise.
    pub fn register_file(&self, path: &[u8]) -> Registered {
        self.protected(|| {
            let shown = String::from_utf8_lossy(path);
            let named = |e: &dyn std::fmt::Display| SchemaError(format!("{shown}: {e}"));
            let bytes = std::fs::read(&*shown).map_err(|e| named(&e))?;
            self.registry.borrow_mut().register(&bytes).map_err(|e| named(&e))
        })
    }

    fn protected(&self, register: impl FnOnce() -> Result<bool, SchemaError>) -> Registered {
        let result = catch_unwind(AssertUnwindSafe(register));
        match result.unwrap_or_else(|_| Err(SchemaError("internal error in the linker".into()))) {
            Ok(true) => Registered::Changed,
            Ok(false) => Registered::Known,
            Err(error) => {
                self.set_last_error(error.0.as_bytes());
                Registered::Failed
            }
        }
    }

    /// Forgets all types.
    pub fn clear(&self) {
        self.registry.borrow_mut().clear();
    }

    /// Remembers the text of an error that was reported, not raised.
    pub fn set_last_error(&self, text: &[u8]) {
        *self.last_error.borrow_mut() = Some(text.into());
    }

    /// The text that was remembered last.
    pub fn last_error(&self) -> Option<Text> {
        let text = self.last_error.borrow();
        text.as_deref().map(|t| Text::of(String::from_utf8_lossy(t)))
    }

    /// Starts an epoch with the types that are registered by now, and gives its pins to all
    /// functions. May raise; then the old epoch stays.
    ///
    /// # Safety
    /// The old table of pins is at `old`, or nil where there is none; 20 free slots.
    pub unsafe fn renew(&self, l: *mut lua_State, old: c_int) {
        // SAFETY: all that may raise comes before the epoch changes. The set is cloned into its
        // owners by `push_owner`, which lets nothing jump over it.
        unsafe {
            let top = lua_gettop(l);
            let first = lua_type(l, old) != LUA_TTABLE;
            lua_createtable(l, FIRST_PIN as c_int, 0);
            let pins = top + 1;
            for pin in [PIN_INT64, PIN_UINT64, PIN_BOXED, PIN_METAS, PIN_ARRAY, PIN_MAP, PIN_FUNCTIONS] {
                if !first {
                    lua_rawgeti(l, old, pin);
                    lua_rawseti(l, pins, pin);
                }
            }
            set_bytes(l, pins, PIN_UNKNOWN, UNKNOWN_KEY.as_bytes());
            push_owner(l, || self.registry.borrow().set().clone());
            lua_rawseti(l, pins, PIN_SET);
            let epoch = push_owner(l, || Epoch::new(self.registry.borrow().set().clone()));
            lua_rawseti(l, pins, PIN_EPOCH);
            // Room for the caches, so that no later write to them allocates.
            for pin in PIN_TYPES..FIRST_PIN {
                lua_pushboolean(l, 0);
                lua_rawseti(l, pins, pin);
            }
            if first {
                lua_settop(l, pins);
                self.epoch.set(epoch);
                return;
            }
            lua_rawgeti(l, pins, PIN_FUNCTIONS);
            let functions = lua_gettop(l);
            self.epoch.set(epoch);
            for i in 1..=raw_len(l, functions) {
                lua_rawgeti(l, functions, i as Slot);
                lua_pushvalue(l, pins);
                lua_setupvalue(l, -2, 2);
                pop(l, 1);
            }
            lua_settop(l, top);
        }
    }
}

impl Default for Instance {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        for writer in std::mem::take(&mut self.writers.borrow_mut().all) {
            // SAFETY: each was made by `other_writer` and is in this list once; no call uses it
            // any more, for its function would keep the instance.
            drop(unsafe { Box::from_raw(writer) });
        }
    }
}

/// A set of types, and how they are used in this Lua state.
pub struct Epoch {
    /// The types.
    pub bindings: Bindings,
    /// Types by the addresses of their names.
    types: [Cell<(usize, u32)>; CACHED],
    /// Patterns by the addresses of their texts.
    patterns: [Cell<(usize, *const Pattern)>; CACHED],
    /// Pins of the owners of patterns, by text.
    kept: RefCell<HashMap<Box<[u8]>, Kept>>,
}

/// The pin of a pattern's owner, and the pattern.
type Kept = (Slot, *const Pattern);

/// Not the address of a string.
const FREE: usize = usize::MAX;

impl Epoch {
    fn new(set: Arc<Set>) -> Self {
        Epoch {
            bindings: Bindings::new(set, FIRST_PIN),
            types: std::array::from_fn(|_| Cell::new((FREE, 0))),
            patterns: std::array::from_fn(|_| Cell::new((FREE, std::ptr::null()))),
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
            let (known, message) = self.types[entry].get();
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
            let TypeRef::Message(message) = self.set().find(name)? else { return None };
            lua_pushvalue(l, index);
            lua_rawseti(l, lua_upvalueindex(2), PIN_TYPES + entry as Slot);
            self.types[entry].set((address, message));
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
        // SAFETY: the pushed owner keeps the pattern while the caller uses it.
        unsafe {
            let address = string_address(l, index);
            let entry = spread(address) % CACHED;
            let (known, pattern) = self.patterns[entry].get();
            if known == address {
                lua_rawgeti(l, lua_upvalueindex(2), pattern_pin(entry) + 1);
                return Ok(&*pattern);
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
        let pins = lua_upvalueindex(2);
        // SAFETY: `kept` is borrowed only where nothing may raise.
        unsafe {
            let text = string_at(l, index).ok_or(())?;
            let kept = self.kept.borrow().get(text).copied();
            let pattern = match kept {
                Some((pin, pattern)) => {
                    lua_rawgeti(l, pins, pin);
                    pattern
                }
                None => {
                    let owner = push_owner(l, || Cell::new(None));
                    if !compile(&self.bindings.set, text, &*owner, trace) {
                        return Err(());
                    }
                    let pattern = (*(*owner).as_ptr()).as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
                    self.keep(l, text, pattern);
                    pattern
                }
            };
            // Text and owner: from here on the pattern is found by its address.
            lua_pushvalue(l, index);
            lua_rawseti(l, pins, pattern_pin(entry));
            lua_pushvalue(l, -1);
            lua_rawseti(l, pins, pattern_pin(entry) + 1);
            self.patterns[entry].set((address, pattern));
            Ok(&*pattern)
        }
    }

    /// Keeps the pattern whose owner is on top, as long as they are not too many.
    unsafe fn keep(&self, l: *mut lua_State, text: &[u8], pattern: *const Pattern) {
        if self.kept.borrow().len() >= KEPT_PATTERNS {
            return;
        }
        let pin = self.bindings.take_pins(1);
        // SAFETY: the owner is on top; what may raise comes before the map is touched.
        unsafe {
            lua_pushvalue(l, -1);
            lua_rawseti(l, lua_upvalueindex(2), pin);
        }
        self.kept.borrow_mut().insert(text.into(), (pin, pattern));
    }
}

const fn pattern_pin(entry: usize) -> Slot {
    PIN_PATTERNS + 2 * entry as Slot
}

/// Compiles `text` into `owner`. Calls nothing of Lua's.
fn compile(set: &Arc<Set>, text: &[u8], owner: &Cell<Option<Pattern>>, trace: &Trace) -> bool {
    match Pattern::compile(set, &String::from_utf8_lossy(text)) {
        Ok(pattern) => {
            owner.set(Some(pattern));
            true
        }
        Err(error) => {
            trace.detail(format_args!("{error}"));
            false
        }
    }
}

/// The pins of the running function, as upvalue.
pub const UPVALUE_PINS: Pins = Pins { table: lua_upvalueindex(2) };
