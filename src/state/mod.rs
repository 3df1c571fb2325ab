//! What one instance of the module holds: its types, its options and its scratch memory.
//!
//! The types are an [`Epoch`]: a set that never changes, and how its types are bound in this Lua
//! state. Registering makes a new one. A call keeps the table of pins of its epoch on the stack,
//! and with it the epoch, so that a finalizer may register or clear while it runs.

#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod epoch;
mod options;
mod pins;

pub use epoch::Epoch;
pub use options::Options;
pub use pins::{PIN_FUNCTIONS, UPVALUE_PINS, copy_pins};

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use crate::codec::{PIN_METAS, Watch};
use crate::error::{SchemaError, Text, Trace, contain};
#[cfg(feature = "proto")]
use crate::schema::Sources;
use crate::schema::{Registry, Report, Types, io_error};
use crate::vm::api::*;
use crate::vm::{Lender, Scratch, pop, raise, upvalue};
use crate::wire::Writer;
use pins::{SHARED, push_metas, push_pins};

#[cfg(not(feature = "proto"))]
const NO_COMPILER: &str = "this build of protobuf compiles no .proto text (its cargo feature \"proto\" is off)";

/// One independent instance of the module.
pub struct Instance {
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
    /// What encodes write to.
    pub writers: Lender<Writer>,
}

#[cold]
#[inline(never)]
unsafe fn gone(l: *mut lua_State) -> ! {
    // SAFETY: the caller's frames hold no value with a destructor.
    unsafe { raise(l, &Text::of("this instance of protobuf is closed")) }
}

/// What registering comes to: the types that there are once [`Instance::renew`] had them, and what is to be told of it.
/// The text of an error is also the last error.
pub type Registered = Result<(Arc<Types>, Report), SchemaError>;

impl Instance {
    /// An instance without types. Its first epoch must be set before it is used.
    pub fn new() -> Self {
        Instance {
            options: Cell::new(Options::new()),
            current: RefCell::default(),
            epoch: Cell::new(std::ptr::null()),
            nesting: Cell::new(0),
            trace: Trace::default(),
            unknown: Lender::new(),
            watch: RefCell::default(),
            last_error: RefCell::default(),
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

    /// What registering begins with: the types of the current epoch.
    fn registry(&self) -> Registry {
        self.current.borrow().as_ref().map_or_else(Registry::new, |epoch| Registry::of(&epoch.types))
    }

    /// Whether registering `bytes` would change nothing, and no file waits. Calls nothing of Lua's.
    pub fn knows(&self, bytes: &[u8]) -> bool {
        self.registry().knows(bytes)
    }

    /// Registers `bytes`, but changes nothing yet. Calls nothing of Lua's; a panic of the parser's or the linker's is an
    /// error.
    pub fn register(&self, bytes: &[u8]) -> Registered {
        self.contained(|registry| registry.register(bytes))
    }

    /// Registers the file at `path`, likewise.
    pub fn register_file(&self, path: &[u8]) -> Registered {
        self.contained(|registry| {
            let named = |e: &dyn std::fmt::Display| SchemaError(format!("{}: {e}", String::from_utf8_lossy(path)));
            let bytes = std::fs::read(path_of(path)).map_err(|e| named(&io_error(&e)))?;
            registry.register(&bytes).map_err(|e| named(&e))
        })
    }

    /// Compiles and registers the .proto files at `paths`, likewise. They and their imports are
    /// looked for in `folders`; without any, in the files' own.
    #[cfg(feature = "proto")]
    pub fn register_proto(&self, paths: &[&[u8]], folders: &[&[u8]]) -> Registered {
        let owned = |paths: &[&[u8]]| paths.iter().map(|path| path_of(path)).collect::<Vec<_>>();
        self.contained(|registry| registry.register_sources(Sources::files(&owned(paths), owned(folders))?))
    }

    /// Compiles and registers .proto text, likewise.
    #[cfg(feature = "proto")]
    pub fn register_source(&self, text: &[u8], name: Option<&[u8]>) -> Registered {
        self.contained(|registry| registry.register_sources(Sources::text(text, name)?))
    }

    /// Fails: there is no compiler.
    #[cfg(not(feature = "proto"))]
    pub fn register_proto(&self, _: &[&[u8]], _: &[&[u8]]) -> Registered {
        self.contained(|_| Err(SchemaError(NO_COMPILER.into())))
    }

    /// Fails: there is no compiler.
    #[cfg(not(feature = "proto"))]
    pub fn register_source(&self, _: &[u8], _: Option<&[u8]>) -> Registered {
        self.contained(|_| Err(SchemaError(NO_COMPILER.into())))
    }

    fn contained(&self, register: impl FnOnce(&mut Registry) -> Result<Report, SchemaError>) -> Registered {
        let mut registry = self.registry();
        let result = contain(|| register(&mut registry)).unwrap_or_else(|panicked| Err(panicked.into()));
        let error = match &result {
            Ok(report) => report.failure.as_ref(),
            Err(error) => Some(error),
        };
        if let Some(error) = error {
            self.set_last_error(error.0.as_bytes());
        }
        result.map(|report| (registry.types().clone(), report))
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

    /// Whether all types of the current epoch are among `types`.
    fn only_grew(&self, types: &Types) -> bool {
        let current = self.current.borrow();
        let (old, new) = (current.as_ref().map(|epoch| &epoch.types.set.messages), &types.set.messages);
        old.is_some_and(|old| old.len() <= new.len() && old.iter().zip(new).all(|(a, b)| Arc::ptr_eq(a, b)))
    }

    /// Starts the first epoch, in which nothing is registered, and pushes its pins. May raise.
    ///
    /// # Safety
    /// Eight free slots.
    pub unsafe fn start(&self, l: *mut lua_State) {
        // SAFETY: as the caller promises; the epoch's owner is among its pins.
        unsafe {
            let epoch = push_pins(l, Types::built_in());
            push_metas(l);
            lua_rawseti(l, -2, PIN_METAS);
            self.enter(&*epoch);
        }
    }

    /// Starts an epoch with `types` and gives its pins to all functions, if the pins at `old` are the current ones. If
    /// not, a finalizer started one meanwhile: then nothing changes and the answer is false. May raise; then too nothing
    /// has changed.
    ///
    /// # Safety
    /// The running function is one of the instance's; a table of pins that was current at `old`, no index relative to
    /// the top; ten free slots.
    pub unsafe fn renew(&self, l: *mut lua_State, old: c_int, types: &Arc<Types>) -> bool {
        // SAFETY: what may raise or collect comes first, and nothing with a destructor is held there.
        unsafe {
            let top = lua_gettop(l);
            let (pins, metas) = (top + 1, top + 2);
            let epoch = push_pins(l, types);
            let grew = self.only_grew(types);
            if !grew {
                // The metatables of types that are gone stay with the tables that have them.
                push_metas(l);
                lua_pushvalue(l, metas);
                lua_rawseti(l, pins, PIN_METAS);
            }
            // From here on there is memory for everything.
            let current = lua_rawequal(l, old, lua_upvalueindex(2)) != 0;
            if current {
                copy_pins(l, old, pins, &SHARED);
                copy_pins(l, old, pins, &[PIN_FUNCTIONS]);
                if grew {
                    copy_pins(l, old, pins, &[PIN_METAS]);
                } else {
                    copy_pins(l, old, metas, &SHARED);
                }
                self.enter(&*epoch);
                lua_rawgeti(l, pins, PIN_FUNCTIONS);
                let functions = lua_gettop(l);
                for i in 1..=raw_len(l, functions) {
                    lua_rawgeti(l, functions, i as Slot);
                    lua_pushvalue(l, pins);
                    lua_setupvalue(l, -2, 2);
                    pop(l, 1);
                }
            }
            lua_settop(l, top);
            current
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
