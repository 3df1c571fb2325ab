//! Tables that a program should not make, through all that takes tables.

use crate::script::Script;

thread_local!(static SCRIPT: Script = const { Script::new("encode", include_str!("../lua/encode.lua")) });

/// See `lua/encode.lua`.
pub fn run(data: &[u8]) {
    SCRIPT.with(|script| script.run(data));
}
