//! The text format: <https://protobuf.dev/reference/protobuf/textformat-spec/>.
//!
//! `scan` makes tokens of text, `parse` fields of these, `value` the values of fields, `skip` steps over what is
//! reserved; `print` writes fields, `unknown` those that have no name. `names` and `strings` serve both ways.

mod names;
mod parse;
mod print;
mod scan;
mod seen;
mod skip;
mod strings;
#[cfg(test)]
mod tests;
mod unknown;
mod value;

pub use parse::read;
pub use print::{Style, write};
