//! The options of an instance.

use crate::codec::Rules;
use crate::kernel::Budget;
use crate::schema::Flags;

/// The options that an instance starts with and those that it has.
#[derive(Clone, Copy)]
pub struct Options {
    /// How values are given and taken.
    pub rules: Rules,
    /// Whether required fields are checked.
    pub required: bool,
    /// Whether strings are checked to be UTF-8.
    pub utf8: bool,
    /// How deep messages may nest, the outermost being 0.
    pub depth: u32,
    /// How many bytes of memory one decode may build, estimated.
    pub max_bytes: u64,
}

impl Options {
    /// Nothing nests deeper, whatever option `depth` says.
    pub const DEEPEST: u32 = 1000;

    /// The library's defaults.
    pub const fn new() -> Self {
        Options { rules: Rules::new(), required: true, utf8: true, depth: 100, max_bytes: 512 << 20 }
    }

    /// The strings to be checked.
    pub fn utf8(&self) -> Flags {
        if self.utf8 { Flags::UTF8 } else { Flags(0) }
    }

    /// What one call may use.
    pub fn budget(&self) -> Budget {
        Budget { depth: self.depth, bytes: self.max_bytes }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
