//! JSON, the official mapping: <https://protobuf.dev/programming-guides/json/>.

mod mask;
mod read;
mod read_known;
mod scan;
#[cfg(test)]
mod tests;
mod time;
mod value;
mod well_known;
mod write;
mod write_known;

pub use read::read;
pub use write::{Style, write};
