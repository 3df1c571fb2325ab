//! Protocol Buffers for Lua and LuaJIT without code generation.

pub mod error;
pub mod schema;
pub mod wire;
