//! Schemas: descriptor sets in, plans out.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic))]

mod plan;

pub use plan::{Default, EnumPlan, FieldPlan, Flags, MessagePlan, OneofPlan, Op, Set, TypeRef};
