//! The built-in files: there from the start, whatever versions of them a program brings along.

use std::sync::{Arc, OnceLock};

use prost::Message;
use prost_reflect::DescriptorPool;
use prost_types::{FileDescriptorProto, FileDescriptorSet};

use super::content::Content;
use super::editions::FileFeatures;
use super::grow::{NewFile, grow};
use super::set::Set;
use super::types::Types;
use crate::error::SchemaError;

/// Their names, in an order in which they link.
pub(super) const BUILT_IN: [&str; 11] = [
    "google/protobuf/any.proto",
    "google/protobuf/source_context.proto",
    "google/protobuf/type.proto",
    "google/protobuf/api.proto",
    "google/protobuf/descriptor.proto",
    "google/protobuf/duration.proto",
    "google/protobuf/empty.proto",
    "google/protobuf/field_mask.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/timestamp.proto",
    "google/protobuf/wrappers.proto",
];

/// `descriptor.proto` alone: that of prost-reflect 0.16 is from before editions were final.
const DESCRIPTOR: &[u8] = include_bytes!("../../descriptors/descriptor.pb");

/// The built-in types alone, compiled once in the process.
pub(super) fn base() -> &'static Arc<Types> {
    static BASE: OnceLock<Arc<Types>> = OnceLock::new();
    // The files are constants, so that a test shows that they link.
    BASE.get_or_init(|| Arc::new(make().unwrap_or_default()))
}

/// The built-in files.
pub(super) fn files() -> impl Iterator<Item = FileDescriptorProto> {
    // A Rust host may have added files of its own to the global pool.
    let global = DescriptorPool::global();
    BUILT_IN.iter().filter_map(move |name| match *name {
        "google/protobuf/descriptor.proto" => FileDescriptorSet::decode(DESCRIPTOR).ok()?.file.pop(),
        _ => Some(global.get_file_by_name(name)?.file_descriptor_proto().clone()),
    })
}

fn make() -> Result<Types, SchemaError> {
    let mut new = Vec::new();
    for mut proto in files() {
        let name = proto.name.take().unwrap_or_default();
        let content = proto.encode_to_vec();
        proto.name = Some(name.clone());
        let features = FileFeatures::read(&proto, &content)?;
        let (names, content) = (vec![name.into()], Content::new(&content));
        new.push(NewFile { names, content, source_info: None, proto, features });
    }
    let set = grow(&Types::default(), &new).map_err(|failure| failure.error)?.set;
    Ok(Types { set: Arc::new(Set { by_content: Default::default(), ..set }), ..Types::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_built_in_files_link() {
        let base = make().unwrap();
        assert_eq!(base.set.files.len(), BUILT_IN.len());
        for name in [
            "Any",
            "Api",
            "FileDescriptorSet",
            "Duration",
            "Empty",
            "FieldMask",
            "SourceContext",
            "Struct",
            "Timestamp",
            "Type",
            "Int64Value",
        ] {
            assert!(base.find_message(&format!("google.protobuf.{name}")).is_some(), "{name}");
        }
    }
}
