//! What the levels of one call share.

use super::budget::Budget;
use crate::error::Trace;
use crate::schema::{Flags, Set};

/// What the levels of one decoding or encoding share.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The types.
    pub set: &'a Set,
    /// Where the path and the text of an error are told.
    pub trace: &'a Trace,
    /// What may still be used; encoding counts no memory.
    pub budget: Budget,
    /// Whether required fields are checked.
    pub required: bool,
    /// [`Flags::UTF8`] where strings are checked, else none.
    pub utf8: Flags,
}
