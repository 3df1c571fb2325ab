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

/// The same, and types with a form of their own in JSON.
pub const WITH_WELL_KNOWN: [&str; 16] = [
    "every3.All",
    "every2.All",
    "edition2023_all.All",
    "google.protobuf.Any",
    "google.protobuf.BytesValue",
    "google.protobuf.DoubleValue",
    "google.protobuf.Duration",
    "google.protobuf.FieldMask",
    "google.protobuf.FileDescriptorSet",
    "google.protobuf.FloatValue",
    "google.protobuf.ListValue",
    "google.protobuf.StringValue",
    "google.protobuf.Struct",
    "google.protobuf.Timestamp",
    "google.protobuf.UInt64Value",
    "google.protobuf.Value",
];
