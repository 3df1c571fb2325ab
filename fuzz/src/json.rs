//! Arbitrary text as JSON, and arbitrary messages to JSON.

use std::sync::{Arc, LazyLock};

use protobuf_lua::schema::Types;

use crate::{round, schemas};

static TYPES: LazyLock<Arc<Types>> = LazyLock::new(schemas::types);

pub fn run(data: &[u8]) {
    round::run(data, &TYPES, &schemas::WITH_WELL_KNOWN, round::json_format);
}
