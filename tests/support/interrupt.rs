//! A Lua state of its own, in which a call is interrupted where one wants: memory fails, a hook or a finalizer raises.
//!
//! Its memory comes from the system and not from Rust's allocator, so what that counts is the library's alone.

#![allow(dead_code, reason = "no test uses all of it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CString, c_int, c_void};
use std::sync::OnceLock;

use mlua::ffi::*;
use mlua::{Function, Lua, Table};

/// What interrupts a call. Requests for memory and events of hooks are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fail {
    /// Nothing does.
    Never,
    /// That request for memory alone is refused. From Lua 5.2 on Lua collects all garbage then and asks once more.
    Once(usize),
    /// That one and all that follow.
    From(usize),
    /// Each is refused and granted when it is asked again: from Lua 5.2 on garbage is collected all the time.
    EachOnce,
    /// A hook raises at that event.
    Hook(usize),
    /// A finalizer raises when Lua collects next after that request. From 5.4 on that is passed over.
    Finalizer(usize),
}

/// The text of the errors that are raised.
pub const RAISED: &str = "interrupted";

/// What the allocator and the hook know.
struct Memory {
    l: *mut lua_State,
    fail: Fail,
    requests: usize,
    events: usize,
    failures: usize,
    live: usize,
}

impl Memory {
    fn refuses(&mut self) -> bool {
        self.requests += 1;
        let refuses = match self.fail {
            Fail::Never | Fail::Hook(_) => false,
            Fail::Once(n) => self.requests == n,
            Fail::From(n) => self.requests >= n,
            Fail::EachOnce => self.requests % 2 == 1,
            Fail::Finalizer(n) => {
                if self.requests == n {
                    self.failures += 1;
                    // SAFETY: that only says when to collect next.
                    unsafe { lua_gc(self.l, LUA_GCRESTART, 0) };
                }
                false
            }
        };
        self.failures += usize::from(refuses);
        refuses
    }
}

unsafe extern "C-unwind" fn hook(l: *mut lua_State, _: *mut lua_Debug) {
    // SAFETY: the state is one of those below; no value with a destructor is in this frame.
    unsafe {
        let mut memory = std::ptr::null_mut();
        lua_getallocf(l, &mut memory);
        let memory = memory.cast::<Memory>();
        (*memory).events += 1;
        if (*memory).fail == Fail::Hook((*memory).events) {
            (*memory).failures += 1;
            lua_pushlstring(l, RAISED.as_ptr().cast(), RAISED.len());
            lua_error(l);
        }
    }
}

fn layout(size: usize) -> Layout {
    Layout::from_size_align(size, 16).expect("a size")
}

unsafe extern "C" fn allocate(memory: *mut c_void, old: *mut c_void, size: usize, wanted: usize) -> *mut c_void {
    // SAFETY: Lua gives blocks back as it got them, with their sizes; without a block the size is something else.
    unsafe {
        let memory = &mut *memory.cast::<Memory>();
        let size = if old.is_null() { 0 } else { size };
        if wanted == 0 {
            if size > 0 {
                System.dealloc(old.cast(), layout(size));
            }
            memory.live -= size;
            return std::ptr::null_mut();
        }
        if wanted > size && memory.refuses() {
            return std::ptr::null_mut();
        }
        let new = match size {
            0 => System.alloc(layout(wanted)),
            _ => System.realloc(old.cast(), layout(size), wanted),
        };
        memory.live = memory.live - size + wanted;
        new.cast()
    }
}

/// How a call ended.
pub struct Ended {
    /// The text of its error, and whether Lua calls it one of memory; `None` if there was none.
    pub error: Option<(String, bool)>,
    /// How many requests for memory were refused.
    pub failures: usize,
}

/// A Lua state with the standard libraries, and with the library where `require` finds it.
pub struct State {
    l: *mut lua_State,
    memory: *mut Memory,
}

impl State {
    /// Opens one, in which all memory is there.
    pub fn new() -> State {
        let opener = opener();
        let memory = Box::into_raw(Box::new(Memory {
            l: std::ptr::null_mut(),
            fail: Fail::Never,
            requests: 0,
            events: 0,
            failures: 0,
            live: 0,
        }));
        // SAFETY: the allocator keeps the rules of lua_Alloc; the state is closed before its memory goes.
        unsafe {
            #[cfg(feature = "lua55")]
            let l = lua_newstate(allocate, memory.cast(), 0);
            #[cfg(not(feature = "lua55"))]
            let l = lua_newstate(allocate, memory.cast());
            assert!(!l.is_null());
            (*memory).l = l;
            luaL_openlibs(l);
            let state = State { l, memory };
            // Compiled code would be another subject.
            state.load("package.preload.protobuf = ...; if jit then jit.off() end");
            lua_pushcfunction(l, opener);
            state.call_loaded(1);
            state
        }
    }

    /// The bytes that Lua has, after it collected all garbage.
    pub fn live(&self) -> usize {
        // SAFETY: nothing raises but finalizers, of which there are none that do.
        unsafe {
            for _ in 0..3 {
                lua_gc(self.l, LUA_GCCOLLECT, 0);
            }
            (*self.memory).live
        }
    }

    fn load(&self, code: &str) {
        let code = CString::new(code).expect("no zeros");
        // SAFETY: loading is protected.
        let status = unsafe { luaL_loadstring(self.l, code.as_ptr()) };
        assert_eq!(status, 0, "{}", self.text(-1));
    }

    fn call_loaded(&self, arguments: c_int) {
        // SAFETY: the function and its arguments are on top.
        let status = unsafe { lua_pcall(self.l, arguments, LUA_MULTRET, 0) };
        assert_eq!(status, 0, "{}", self.text(-1));
    }

    /// Runs `code` and keeps what it returns at the indexes from 1 on.
    pub fn keep(&self, code: &str) {
        // SAFETY: cuts the stack; nothing raises but finalizers, of which there are none that do.
        unsafe {
            lua_settop(self.l, 0);
            lua_gc(self.l, LUA_GCCOLLECT, 0);
        }
        self.load(code);
        self.call_loaded(0);
    }

    /// What `expression` gives, as text.
    pub fn ask(&self, expression: &str) -> String {
        self.keep(&format!("return tostring({expression})"));
        self.text(1)
    }

    fn text(&self, index: c_int) -> String {
        // SAFETY: a string's pointer and length; it stays on the stack.
        unsafe {
            if lua_type(self.l, index) != LUA_TSTRING {
                return format!("(a {})", lua_type(self.l, index));
            }
            let mut n = 0;
            let text = lua_tolstring(self.l, index, &mut n);
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), n)).into_owned()
        }
    }

    /// Calls the function at index 1, interrupted so. What it returns are the arguments of the one at index 2, which is
    /// not interrupted and must not fail. After an error the one at index 3 is called, if there is one, likewise.
    pub fn call(&self, fail: Fail) -> Ended {
        // SAFETY: two functions are kept, and a third or nil; room is asked for while there is memory.
        unsafe {
            lua_settop(self.l, 3);
            assert!(lua_checkstack(self.l, 20) != 0);
            self.arm(fail);
            lua_pushvalue(self.l, 1);
            let memory = self.memory;
            ((*memory).fail, (*memory).requests, (*memory).events, (*memory).failures) = (fail, 0, 0, 0);
            let status = lua_pcall(self.l, 0, LUA_MULTRET, 0);
            (*memory).fail = Fail::Never;
            let failures = (*memory).failures;
            let top = lua_gettop(self.l);
            self.disarm(fail);
            lua_settop(self.l, top);
            let error = (status != 0).then(|| (self.text(-1), status == LUA_ERRMEM));
            if error.is_some() {
                lua_settop(self.l, 3);
            }
            let check = if error.is_some() { 3 } else { 2 };
            if lua_type(self.l, check) == LUA_TFUNCTION {
                lua_pushvalue(self.l, check);
                lua_insert(self.l, 4);
                let results = lua_gettop(self.l) - 4;
                let status = lua_pcall(self.l, results, 0, 0);
                assert_eq!(status, 0, "{fail:?}: {}", self.text(-1));
            }
            Ended { error, failures }
        }
    }

    unsafe fn arm(&self, fail: Fail) {
        // SAFETY: the stack is as it was.
        unsafe {
            match fail {
                Fail::Hook(_) => {
                    lua_sethook(self.l, Some(hook), LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
                }
                Fail::Finalizer(_) => {
                    lua_gc(self.l, LUA_GCCOLLECT, 0);
                    lua_gc(self.l, LUA_GCSTOP, 0);
                    self.load(FINALIZED);
                    self.call_loaded(0);
                }
                _ => {}
            }
        }
    }

    unsafe fn disarm(&self, fail: Fail) {
        // SAFETY: as for `arm`.
        unsafe {
            match fail {
                Fail::Hook(_) => {
                    lua_sethook(self.l, None, 0, 0);
                }
                Fail::Finalizer(_) => {
                    // Where the finalizer did not run yet it raises here, even while the code is loaded.
                    lua_gc(self.l, LUA_GCRESTART, 0);
                    for _ in 0..5 {
                        if luaL_loadstring(self.l, c"collectgarbage()".as_ptr()) == 0 {
                            lua_pcall(self.l, 0, 0, 0);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Leaves garbage whose finalizer raises, and lets the collector go through all its work in one step.
const FINALIZED: &str = "
    local function raise() error('interrupted', 0) end
    if newproxy then
      getmetatable(newproxy(true)).__gc = raise
    else
      setmetatable({}, { __gc = raise })
    end
    pcall(collectgarbage, 'setstepmul', 1000000)
";

impl State {
    /// Leaves the state open for ever.
    pub fn abandon(self) {
        std::mem::forget(self);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the state is used no more, and its memory goes after it.
        let memory = unsafe {
            lua_close(self.l);
            Box::from_raw(self.memory)
        };
        if !std::thread::panicking() {
            assert_eq!(memory.live, 0, "bytes that Lua never gave back");
        }
    }
}

/// What `require` calls, which a host gets at by preloading only.
fn opener() -> lua_CFunction {
    static OPENER: OnceLock<lua_CFunction> = OnceLock::new();
    *OPENER.get_or_init(|| {
        let lua = Lua::new();
        protobuf_lua::preload(&lua).expect("protobuf is preloaded");
        let package: Table = lua.globals().get("package").expect("a table");
        let open: Function = package.get::<Table>("preload").and_then(|t| t.get("protobuf")).expect("a function");
        let mut found = None;
        // SAFETY: the function is the argument.
        unsafe { lua.exec_raw::<()>(open, |l| found = lua_tocfunction(l, -1)).expect("it runs") };
        found.expect("a C function")
    })
}
