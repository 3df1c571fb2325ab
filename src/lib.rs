//! Protocol Buffers for Lua and LuaJIT without code generation.
//!
//! Descriptors are registered at run time; messages go between Lua tables, or flat values on the
//! Lua stack, and bytes. The Lua API is described in `docs/api.md`, the layers below in
//! `docs/architecture.md`: each imports only those to its right.
//!
//! ```text
//! module -> state -> codec -> format -> kernel -> schema -> wire -> error
//!                      `----> vm (raw Lua stack) -----------------> error
//! ```
//!
//! Built with feature `module` as a shared object, this crate is the file that `require "protobuf"`
//! loads. A Rust host calls [`preload`] instead.

#![deny(clippy::undocumented_unsafe_blocks, missing_docs)]

pub mod error;
pub mod format;
pub mod kernel;
pub mod schema;
pub mod wire;

mod codec;
mod module;
mod state;
#[allow(missing_docs)]
mod vm;

#[cfg(all(doctest, feature = "vendored"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// Makes `require "protobuf"` work in `lua`.
///
/// # Errors
/// `lua` is out of memory, or its `package.preload` is missing.
pub fn preload(lua: &mlua::Lua) -> mlua::Result<()> {
    // SAFETY: `open` is a C function made for the Lua that mlua was built for.
    let open = unsafe { lua.create_c_function(module::open)? };
    let package: mlua::Table = lua.globals().get("package")?;
    package.get::<mlua::Table>("preload")?.set(module::NAME, open)
}

/// What `require "protobuf"` calls.
///
/// # Safety
/// Called by Lua as a C function.
#[cfg(feature = "module")]
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn luaopen_protobuf(l: *mut mlua::ffi::lua_State) -> std::ffi::c_int {
    // SAFETY: as the caller promises.
    unsafe { module::open(l) }
}
