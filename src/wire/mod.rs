//! The wire format: bytes only, no schema, no Lua.
//!
//! Specification: <https://protobuf.dev/programming-guides/encoding/>.

#![forbid(unsafe_code)]
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod reader;
mod tag;
mod utf8;
mod varint;
mod writer;

pub use reader::Reader;
pub use tag::{MAX_FIELD_NUMBER, WireType, tag};
pub use utf8::is_utf8;
pub use varint::{MOST_VARINT, put_varint, unzigzag32, unzigzag64, zigzag32, zigzag64};
pub use writer::{Failure, Writer};
