//! What the fuzzer calls, one module for each target.
//!
//! `fuzz/run` builds each with libFuzzer; `tests/replay.rs` runs them over the files in `corpus/` with plain `cargo test`.

pub mod decode;
mod descriptors;
mod input;
pub mod json;
mod known;
mod pool;
pub mod register;
pub mod reload;
mod round;
mod schemas;
pub mod source;
pub mod text;
