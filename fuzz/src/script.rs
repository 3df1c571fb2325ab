//! A Lua script that is called with each input.

use std::cell::RefCell;

use mlua::{Function, Lua};

use crate::schemas;

/// After so many inputs, the state is closed and another one takes its place.
const RENEWED_AFTER: u32 = 5000;
/// What scripts share, by the names under which they are required.
const SHARED: [(&str, &str); 2] =
    [("common", include_str!("../lua/common.lua")), ("make", include_str!("../lua/make.lua"))];

/// A script in a Lua state of its own, which it keeps from input to input.
pub struct Script {
    name: &'static str,
    text: &'static str,
    state: RefCell<Option<State>>,
}

struct State {
    /// What the script returned.
    run: Function,
    left: u32,
    /// Closed last.
    _lua: Lua,
}

impl Script {
    /// The script `text`, which returns a function that takes an input and raises if something is wrong with how the
    /// library answers.
    pub const fn new(name: &'static str, text: &'static str) -> Self {
        Script { name, text, state: RefCell::new(None) }
    }

    /// Calls the function with `data`.
    pub fn run(&self, data: &[u8]) {
        let mut state = self.state.borrow_mut();
        if state.as_ref().is_none_or(|state| state.left == 0) {
            *state = None;
            *state = Some(self.open().expect("the script loads"));
        }
        let State { run, left, _lua: lua } = state.as_mut().expect("it is open");
        *left -= 1;
        let data = lua.create_string(data).expect("a string");
        if let Err(error) = run.call::<()>(data) {
            panic!("{error}");
        }
    }

    fn open(&self) -> mlua::Result<State> {
        // SAFETY: the scripts of this folder do nothing unsafe; LuaJIT's numbers of 64 bits need its `ffi` library,
        // which a safe state does not load.
        let lua = unsafe { Lua::unsafe_new() };
        protobuf_lua::preload(&lua)?;
        let files = schemas::FILES.iter().map(|file| lua.create_string(file)).collect::<mlua::Result<Vec<_>>>()?;
        let package: mlua::Table = lua.globals().get("package")?;
        package.get::<mlua::Table>("loaded")?.set("descriptors", files)?;
        for (name, text) in SHARED {
            let chunk = lua.load(text).set_name(format!("@{name}.lua")).into_function()?;
            package.get::<mlua::Table>("preload")?.set(name, chunk)?;
        }
        let run = lua.load(self.text).set_name(format!("@{}.lua", self.name)).eval()?;
        Ok(State { run, left: RENEWED_AFTER, _lua: lua })
    }
}
