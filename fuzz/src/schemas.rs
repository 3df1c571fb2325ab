//! The types with every feature.

use std::sync::Arc;

use protobuf_lua::schema::{Registry, Types};

/// The types of which the first byte of an input picks one.
pub const NAMES: [&str; 3] = ["every2.All", "every3.All", "edition2023_all.All"];

const FILES: [&[u8]; 3] = [
    include_bytes!("../../descriptors/every2.pb"),
    include_bytes!("../../descriptors/every3.pb"),
    include_bytes!("../../descriptors/edition2023_all.pb"),
];

/// The library's own plans of them.
pub fn types() -> Arc<Types> {
    let mut registry = Registry::new();
    for file in FILES {
        registry.register(file).expect("it registers");
    }
    Arc::clone(registry.types())
}
