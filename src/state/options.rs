//! The options of an instance.

use crate::codec::Rules;
use crate::error::Trace;
use crate::kernel::{Budget, Context};
use crate::schema::{Flags, Set};

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

    /// How one call decodes or encodes the types of `set`, telling errors to `trace`.
    #[inline(always)]
    pub fn context<'a>(&self, set: &'a Set, trace: &'a Trace) -> Context<'a> {
        Context {
            set,
            trace,
            budget: Budget { depth: self.depth, bytes: self.max_bytes },
            required: self.required,
            utf8: if self.utf8 { Flags::UTF8 } else { Flags(0) },
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
