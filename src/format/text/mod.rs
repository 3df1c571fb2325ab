//! The text format: <https://protobuf.dev/reference/protobuf/textformat-spec/>.
//!
//! `scan` makes tokens of text and `parse` fields of these, with `repeated` for lists and maps, `brackets` for extensions
//! and what an Any holds, `value` for all else; `seen` knows what must not come again, `skip` steps over what is
//! reserved, `errors` has the errors. `print` writes fields, `unknown` those without a name. `names` and `strings` serve
//! both ways.

mod brackets;
mod errors;
mod names;
mod parse;
mod print;
mod repeated;
mod scan;
mod skip;
mod strings;
#[cfg(test)]
mod tests;
mod unknown;
mod value;

pub use parse::read;
pub use print::{Style, write};
