//! Schemas: descriptor sets in, plans out.
//!
//! `input` takes the files out of what was given, `check` looks at each, `imports` puts
//! them in order, `link` resolves the names between them, `compile` makes the plans, and
//! [`Registry`] keeps what an instance has. `sources` compiles .proto text.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic))]

mod check;
mod compile;
mod default;
mod hint;
mod imports;
mod input;
mod link;
mod pattern;
mod plan;
mod registry;
#[cfg(feature = "proto")]
mod sources;
#[cfg(test)]
pub(crate) mod tests;

pub use hint::{did_you_mean, field_hint};
pub use input::io_error;
pub use pattern::{Pattern, unknown_type};
pub use plan::{Default, EnumPlan, FieldPlan, Flags, MessagePlan, OneofPlan, Op, Set, TypeRef};
pub use registry::Registry;
#[cfg(feature = "proto")]
pub use sources::Sources;
