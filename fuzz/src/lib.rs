//! What the fuzzer calls, one module for each target.
//!
//! `fuzz/run` builds each with libFuzzer; `tests/replay.rs` runs them over the files in `corpus/` with plain `cargo test`.

mod compare;
pub mod decode;
mod disguise;
pub mod encode;
pub mod pattern;
#[path = "../../tests/support/reflected.rs"]
mod reflected;
mod schemas;
mod script;
pub mod tables;
