//! What tests share.

#![allow(dead_code, reason = "no test uses all of it")]

pub mod counting;
pub mod scale;

use mlua::{Lua, Table};

/// A Lua state as a host has it, and what `require "protobuf"` gives.
pub fn lua() -> (Lua, Table) {
    // SAFETY: the tests' own scripts do nothing unsafe; LuaJIT's numbers of 64 bits need its `ffi` library, which a safe
    // state does not load.
    let lua = unsafe { Lua::unsafe_new() };
    protobuf_lua::preload(&lua).expect("protobuf is preloaded");
    let protobuf = lua.load("return require 'protobuf'").eval().expect("the module");
    (lua, protobuf)
}
