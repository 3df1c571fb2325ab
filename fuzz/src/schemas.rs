//! The types with every feature.

use std::sync::Arc;

use prost_reflect::DescriptorPool;
use prost_reflect::prost::Message;
use prost_reflect::prost_types::FileDescriptorSet;
use protobuf_lua::schema::{Registry, Types};

use crate::disguise::disguise;
use crate::reflected::without_extensions;

/// The types of which the first byte of an input picks one.
pub const NAMES: [&str; 3] = ["every2.All", "every3.All", "edition2023_all.All"];

/// Their descriptor sets, and one more with extensions.
pub const FILES: [&[u8]; 4] = [
    include_bytes!("../../descriptors/every2.pb"),
    include_bytes!("../../descriptors/every3.pb"),
    include_bytes!("../../descriptors/edition2023_all.pb"),
    include_bytes!("../../descriptors/bare.pb"),
];

/// The library's own plans of them.
pub fn types() -> Arc<Types> {
    let mut registry = Registry::new();
    for file in FILES {
        registry.register(file).expect("it registers");
    }
    Arc::clone(registry.types())
}

/// Those of them, and prost-reflect's types, without extensions.
pub fn bare() -> (Arc<Types>, DescriptorPool) {
    let (mut registry, mut pool) = (Registry::new(), DescriptorPool::new());
    for file in FILES {
        let set = without_extensions(file);
        registry.register(&set).expect("it registers");
        let set = FileDescriptorSet::decode(&*set).expect("a set");
        let edition = set.file.iter().any(|file| file.name() == "edition2023_all.proto");
        pool.add_file_descriptor_set(if edition { disguise(set) } else { set }).expect("it links");
    }
    (Arc::clone(registry.types()), pool)
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
