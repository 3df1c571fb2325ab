//! The one decoder and the one encoder: wire to events and events to wire. Knows no Lua.
//!
//! A form (Lua tables, flat values, trees for JSON and text) is a [`Sink`] or a [`Source`].

#![forbid(unsafe_code)]
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod budget;
mod context;
mod decode;
mod encode;
mod encode_map;
mod lists;
mod map;
mod message_sets;
mod missing;
pub mod probe;
mod read;
mod sink;
mod source;
#[cfg(test)]
mod tests;

pub use budget::Budget;
pub use context::Context;
pub use decode::decode;
pub use encode::encode;
pub use map::Key;
pub use sink::{Sink, Value};
pub use source::{Fields, Nested, Source};
