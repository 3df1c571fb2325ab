//! What one instance of the module holds: its types, its options and its scratch memory.
//!
//! The types are an [`Epoch`]: a set that never changes, and how its types are bound in this Lua
//! state. Registering makes a new one. A call keeps the table of pins of its epoch on the stack,
//! and with it the epoch, so that a finalizer may register or clear while it runs.

#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod epoch;
mod options;

pub use epoch::Epoch;
pub use options::Options;

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use crate::codec::{PIN_ARRAY, PIN_EPOCH, PIN_MAP, PIN_METAS, PIN_SET, PIN_UNKNOWN, UNKNOWN_KEY, Watch};
use crate::error::{SchemaError, Text, Trace};
#[cfg(feature = "proto")]
use crate::schema::Sources;
use crate::schema::{Registry, Report, io_error};
use crate::vm::api::*;
use crate::vm::{Lender, PIN_BOXED, PIN_INT64, PIN_UINT64, Pins, Scratch, pop, push_owner, raise, set_bytes, upvalue};
use crate::wire::Writer;
use epoch::{FIRST_PIN, PIN_TYPES};

/// Pin of the list of the instance's functions, whose pins change with the epoch.
pub const PIN_FUNCTIONS: Slot = 10;

#[cfg(not(feature = "proto"))]
const NO_COMPILER: &str = "this build of protobuf compiles no .proto text (its cargo feature \"proto\" is off)";

/// One independent instance of the module.
pub struct Instance {
    registry: RefCell<Registry>,
    /// The options.
    pub options: Cell<Options>,
    /// The current epoch, as its owner has it and for quick access. The pins own it too.
    current: RefCell<Option<Rc<Epoch>>>,
    epoch: Cell<*const Epoch>,
    /// How many functions of the program are being called by encodes under way: metamethods.
    pub nesting: Cell<u32>,
    /// Where errors are told.
    pub trace: Trace,
    /// See [`crate::codec::TableSink`].
    pub unknown: Lender<Vec<u8>>,
    /// See [`crate::codec::Flood`].
    pub watch: RefCell<Watch>,
    last_error: RefCell<Option<Box<[u8]>>>,
    /// Files that were replaced, as long as no call has told so: memory may fail before it does.
    untold: RefCell<Vec<Arc<str>>>,
    /// What encodes write to.
    pub writers: Lender<Writer>,
}

#[cold]
#[inline(never)]
unsafe fn gone(l: *mut lua_State) -> ! {
    // SAFETY: the caller's frames hold no value with a destructor.
    unsafe { raise(l, &Text::of("this instance of protobuf is closed")) }
}

/// What registering came to. The text of an error is also the last error.
pub type Registered = Result<Report, SchemaError>;

impl Instance {
    /// An instance without types. Its first epoch must be set before it is used.
    pub fn new() -> Self {
        Instance {
            registry: RefCell::new(Registry::new()),
            options: Cell::new(Options::new()),
            current: RefCell::default(),
            epoch: Cell::new(std::ptr::null()),
            nesting: Cell::new(0),
            trace: Trace::default(),
            unknown: Lender::new(),
            watch: RefCell::default(),
            last_error: RefCell::default(),
            untold: RefCell::default(),
            writers: Lender::new(),
        }
    }

    /// The instance of the running function. Raises if that is gone: a finalizer may call it when
    /// the Lua state closes, or when both are collected together.
    ///
    /// # Safety
    /// The running function is one of an instance's; no frame below holds a value with a destructor.
    #[inline(always)]
    pub unsafe fn of<'a>(l: *mut lua_State) -> &'a Instance {
        // SAFETY: upvalue 1 of all functions of an instance is its owner.
        match unsafe { upvalue(l, 1) } {
            Some(instance) => instance,
            // SAFETY: as the caller promises.
            None => unsafe { gone(l) },
        }
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

    /// Whether registering `bytes` would change nothing, and no file waits. Calls nothing of Lua's.
    pub fn knows(&self, bytes: &[u8]) -> bool {
        self.registry.borrow().knows(bytes)
    }

    /// Registers `bytes`. Calls nothing of Lua's; a panic of the parser's or the linker's is an error.
    pub fn register(&self, bytes: &[u8]) -> Registered {
        self.protected(|| self.registry.borrow_mut().register(bytes))
    }

    /// Registers the file at `path`, likewise.
    pub fn register_file(&self, path: &[u8]) -> Registered {
        self.protected(|| {
            let named = |e: &dyn std::fmt::Display| SchemaError(format!("{}: {e}", String::from_utf8_lossy(path)));
            let bytes = std::fs::read(path_of(path)).map_err(|e| named(&io_error(&e)))?;
            self.registry.borrow_mut().register(&bytes).map_err(|e| named(&e))
        })
    }

    /// Compiles and registers the .proto files at `paths`, likewise. They and their imports are
    /// looked for in `folders`; without any, in the files' own.
    #[cfg(feature = "proto")]
    pub fn register_proto(&self, paths: &[&[u8]], folders: &[&[u8]]) -> Registered {
        let owned = |paths: &[&[u8]]| paths.iter().map(|path| path_of(path)).collect::<Vec<_>>();
        self.protected(|| {
            let sources = Sources::files(&owned(paths), owned(folders))?;
            self.registry.borrow_mut().register_sources(sources)
        })
    }

    /// Compiles and registers .proto text, likewise.
    #[cfg(feature = "proto")]
    pub fn register_source(&self, text: &[u8], name: Option<&[u8]>) -> Registered {
        self.protected(|| self.registry.borrow_mut().register_sources(Sources::text(text, name)?))
    }

    /// Fails: there is no compiler.
    #[cfg(not(feature = "proto"))]
    pub fn register_proto(&self, _: &[&[u8]], _: &[&[u8]]) -> Registered {
        self.protected(|| Err(SchemaError(NO_COMPILER.into())))
    }

    /// Fails: there is no compiler.
    #[cfg(not(feature = "proto"))]
    pub fn register_source(&self, _: &[u8], _: Option<&[u8]>) -> Registered {
        self.protected(|| Err(SchemaError(NO_COMPILER.into())))
    }

    fn protected(&self, register: impl FnOnce() -> Registered) -> Registered {
        let result = catch_unwind(AssertUnwindSafe(register));
        let mut result = result.unwrap_or_else(|_| Err(SchemaError("internal error in the schema compiler".into())));
        if let Ok(report) = &mut result {
            let mut untold = self.untold.borrow_mut();
            untold.append(&mut report.replaced);
            untold.sort_unstable();
            untold.dedup();
            report.replaced.clone_from(&untold);
        }
        let error = match &result {
            Ok(report) => report.failure.as_ref(),
            Err(error) => Some(error),
        };
        if let Some(error) = error {
            self.set_last_error(error.0.as_bytes());
        }
        result
    }

    /// What was registered has been told, and its epoch has begun.
    pub fn told(&self) {
        self.untold.take();
    }

    /// Forgets all types.
    pub fn clear(&self) {
        self.untold.take();
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

    fn enter(&self, epoch: &Rc<Epoch>) {
        self.epoch.set(Rc::as_ptr(epoch));
        // The old one may be the last of its owners, and calls nothing when it goes.
        *self.current.borrow_mut() = Some(epoch.clone());
    }

    /// Whether what is registered is other than what the epoch has: one is to be started, or its start failed.
    pub fn is_behind(&self) -> bool {
        let current = self.current.borrow();
        current.as_ref().is_none_or(|epoch| !Arc::ptr_eq(&epoch.types, self.registry.borrow().types()))
    }

    /// Whether all types of the epoch are among those that are registered.
    fn only_grew(&self) -> bool {
        let (current, registry) = (self.current.borrow(), self.registry.borrow());
        let (old, new) = (current.as_ref().map(|epoch| &epoch.types.set.messages), &registry.types().set.messages);
        old.is_some_and(|old| old.len() <= new.len() && old.iter().zip(new).all(|(a, b)| Arc::ptr_eq(a, b)))
    }

    /// Starts an epoch with the types that are registered by now, and gives its pins to all
    /// functions. May raise; then the old epoch stays.
    ///
    /// # Safety
    /// The old table of pins is at `old`, or nil where there is none; ten free slots.
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
            if !first && !self.only_grew() {
                // The metatables of types that are gone stay with the tables that have them.
                lua_createtable(l, 0, 0);
                for pin in [PIN_INT64, PIN_UINT64, PIN_BOXED, PIN_ARRAY, PIN_MAP] {
                    lua_rawgeti(l, pins, pin);
                    lua_rawseti(l, -2, pin);
                }
                lua_rawseti(l, pins, PIN_METAS);
            }
            set_bytes(l, pins, PIN_UNKNOWN, UNKNOWN_KEY.as_bytes());
            let epoch = &*push_owner(l, || Rc::new(Epoch::new(self.registry.borrow().types().clone())));
            lua_rawseti(l, pins, PIN_EPOCH);
            push_owner(l, || epoch.bindings.set.clone());
            lua_rawseti(l, pins, PIN_SET);
            // Room for the caches, so that no later write to them allocates.
            for pin in PIN_TYPES..FIRST_PIN {
                lua_pushboolean(l, 0);
                lua_rawseti(l, pins, pin);
            }
            if first {
                lua_settop(l, pins);
                self.enter(epoch);
                return;
            }
            lua_rawgeti(l, pins, PIN_FUNCTIONS);
            let functions = lua_gettop(l);
            self.enter(epoch);
            for i in 1..=raw_len(l, functions) {
                lua_rawgeti(l, functions, i as Slot);
                lua_pushvalue(l, pins);
                lua_setupvalue(l, -2, 2);
                pop(l, 1);
            }
            lua_settop(l, top);
            if self.is_behind() {
                // A finalizer registered or cleared meanwhile.
                self.renew(l, old);
            }
        }
    }
}

impl Default for Instance {
    fn default() -> Self {
        Self::new()
    }
}

impl Scratch for Writer {
    #[inline(always)]
    fn clear(&mut self) {
        Writer::clear(self);
    }
}

/// The path that a Lua string is.
fn path_of(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    return <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).into();
    #[cfg(not(unix))]
    return String::from_utf8_lossy(bytes).into_owned().into();
}

/// The pins of the running function, as upvalue.
pub const UPVALUE_PINS: Pins = Pins { table: lua_upvalueindex(2) };
