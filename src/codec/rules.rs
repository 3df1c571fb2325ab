//! How values are given and taken: the options of an instance, as one call sees them.

/// Option `defaults`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// Reading an absent field gives its default.
    Metatable,
    /// Defaults are copied into the table.
    Copy,
    /// Tables hold what the wire held.
    None,
}

/// The options that the codec follows.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// What absent fields are.
    pub defaults: Defaults,
    /// Enums decode to numbers.
    pub enum_number: bool,
    /// 64-bit numbers decode to decimal strings.
    pub int64_string: bool,
    /// Unknown fields are kept.
    pub keep_unknown: bool,
    /// Keys that a message does not have are passed over, and stray keys of lists.
    pub ignore_keys: bool,
    /// Entries of maps are written in the order of their keys.
    pub sort_map: bool,
    /// Lists get a metatable.
    pub array_metatable: bool,
    /// Maps get a metatable.
    pub map_metatable: bool,
}

impl Rules {
    /// The library's defaults.
    pub const fn new() -> Self {
        Rules {
            defaults: Defaults::Metatable,
            enum_number: false,
            int64_string: false,
            keep_unknown: true,
            ignore_keys: false,
            sort_map: false,
            array_metatable: false,
            map_metatable: false,
        }
    }

    /// Which of the four kinds of defaults apply: they differ where enums or 64-bit numbers do.
    pub const fn variant(&self) -> i64 {
        (self.enum_number as i64) << 1 | self.int64_string as i64
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self::new()
    }
}
