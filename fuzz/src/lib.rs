//! What the fuzzer calls, one module for each target.
//!
//! `fuzz/run` builds each with libFuzzer; `tests/replay.rs` runs them over the files in `corpus/` with plain `cargo test`.

mod compare;
pub mod decode;
mod descriptors;
mod disguise;
pub mod encode;
mod input;
pub mod json;
mod known;
mod part;
pub mod pattern;
mod pool;
#[path = "../../tests/support/reflected.rs"]
mod reflected;
pub mod register;
pub mod reload;
mod round;
mod schemas;
mod script;
pub mod source;
pub mod tables;
pub mod text;
