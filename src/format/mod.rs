//! Text: JSON and the text format, over the one kernel. Bytes become a [`Tree`] by a sink and bytes
//! again by a source; printers and parsers stand between trees and text. Knows no Lua.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic))]

mod any;
mod indent;
pub mod json;
mod merge;
mod number;
mod place;
mod seen;
mod sink;
mod source;
#[cfg(test)]
mod tests;
pub mod text;
mod tree;

pub use indent::Indent;
pub use place::{ParseError, Place};
pub use sink::decode;
pub use source::encode;
pub use tree::{Entry, Item, Span, Tree};
