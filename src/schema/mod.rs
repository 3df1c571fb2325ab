//! Schemas: descriptor sets in, plans out.
//!
//! `input` takes the files out of what was given, [`Registry`] sees what is new and what has to
//! wait, `relink` finds a set that has it all in the process (`shared`) or has one `grow`:
//! `editions` says which `features` a file's definitions have, `check` looks at each file,
//! `imports` puts them in order, `declare` takes their names in, `link` resolves names, `compile`
//! and `extend` make the plans. [`Types`] is what an instance sees of the [`Set`]; `describe`
//! tells a program of it, from the plans and by the `outline` of each file. `sources` compiles
//! .proto text.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic))]

mod base;
mod check;
mod comments;
mod compile;
mod content;
mod declare;
mod default;
mod describe;
mod editions;
mod extend;
mod features;
mod grow;
mod hint;
mod imports;
mod input;
mod json;
mod link;
mod names;
mod outline;
mod paths;
mod pattern;
mod plan;
mod registry;
mod relink;
mod set;
mod settle;
mod shared;
#[cfg(feature = "proto")]
mod sources;
#[cfg(test)]
pub(crate) mod tests;
mod types;
mod unknown;
mod waiting;

pub use describe::{Field, Method, Options, Value, ValueType};
pub use hint::{did_you_mean, field_hint, name_hint, unknown_value};
pub use input::io_error;
pub use json::JsonNames;
pub use paths::{Entered, Leaf, Paths};
pub use pattern::Pattern;
pub use plan::{Default, EnumPlan, FieldPlan, Flags, MessagePlan, OneofPlan, Op};
pub use registry::{Registry, Report};
pub use set::{Set, TypeRef};
#[cfg(feature = "proto")]
pub use sources::Sources;
pub use types::Types;
pub use unknown::{Named, unknown_type};
