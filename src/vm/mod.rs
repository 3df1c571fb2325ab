//! Everything that touches a `lua_State` by hand, and all differences between Lua versions.
//!
//! Rules of this layer and of those above that use it: a call that may raise leaves Rust
//! frames without running destructors (PUC Lua) or by unwinding (LuaJIT), so no such frame
//! holds a value with a destructor; each helper says what it pops, pushes and whether it raises.

#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod api;
mod entry;
pub mod hash;
#[cfg(all(feature = "module", target_os = "linux"))]
mod imports;
mod input;
mod intern;
mod lend;
mod number;
mod stack;
mod version;

pub use entry::{push_owner, raise, upvalue};
pub use input::{BadArgument, expected, input_at};
pub use intern::{Addresses, spread, string_address};
pub use lend::{Lender, Lent, Scratch};
pub use number::{
    NotWhole, PIN_BOXED, PIN_INT64, PIN_UINT64, Pins, push_decimal, push_int, push_key, push_uint, to_float, to_int,
    to_uint,
};
pub use stack::{has_room, is_empty, pop, raw_get_str, raw_set_str, set_bytes, string_at, to_bytes, type_name};
pub use version::{BOXED_PINS, call_yieldable, check_version, pin_boxed, wrap_encode};
