//! Arbitrary bytes through Lua tables and flat values, under options that the input chooses.

use crate::script::Script;

thread_local!(static SCRIPT: Script = const { Script::new("tables", include_str!("../lua/tables.lua")) });

/// See `lua/tables.lua`.
pub fn run(data: &[u8]) {
    SCRIPT.with(|script| script.run(data));
}
