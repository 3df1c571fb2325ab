//! Arbitrary patterns, with arbitrary bytes to unpack and values to pack.

use crate::script::Script;

thread_local!(static SCRIPT: Script = const { Script::new("pattern", include_str!("../lua/pattern.lua")) });

/// See `lua/pattern.lua`.
pub fn run(data: &[u8]) {
    SCRIPT.with(|script| script.run(data));
}
