//! Edition 2023 as proto2 and proto3, for prost-reflect, which knows no editions.

use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

/// The fields that keep their lengths before them, of a file whose messages are delimited.
const PREFIXED: [&str; 2] = ["prefixed", "map"];
/// The scalars that have presence.
const EXPLICIT: [&str; 4] = ["explicit", "closed", "needed", "b"];

/// What `edition2023_all.All` takes of `set`: its closed enum as of proto2, all else as of proto3, where each field
/// says for itself what the features say.
pub fn disguise(set: FileDescriptorSet) -> FileDescriptorSet {
    let find = |name: &str| set.file.iter().find(|file| file.name() == name).expect("the file").clone();
    let (mut outside, mut all) = (find("edition2023.proto"), find("edition2023_all.proto"));

    outside.message_type.retain(|message| message.name() == "Outside");
    outside.message_type.iter_mut().for_each(|message| fields(message, false));
    outside.enum_type.clear();
    outside.service.clear();
    outside.syntax = Some("proto3".into());
    outside.options = None;

    all.message_type.iter_mut().for_each(|message| fields(message, true));
    let (closed, open) = all.enum_type.drain(..).partition(|plan| plan.name() == "Closed");
    all.enum_type = open;
    let closed = FileDescriptorProto {
        name: Some("closed.proto".into()),
        package: all.package.clone(),
        enum_type: closed,
        ..FileDescriptorProto::default()
    };
    all.dependency = vec!["closed.proto".into(), "edition2023.proto".into()];
    all.syntax = Some("proto3".into());
    all.options = None;
    FileDescriptorSet { file: vec![closed, outside, all] }
}

fn fields(message: &mut DescriptorProto, delimited: bool) {
    message.extension.clear();
    message.extension_range.clear();
    let entry = message.options.as_ref().is_some_and(|options| options.map_entry());
    for field in &mut message.field {
        disguise_field(field, delimited && !entry);
    }
    message.nested_type.iter_mut().for_each(|message| fields(message, delimited));
}

fn disguise_field(field: &mut FieldDescriptorProto, delimited: bool) {
    let name = field.name().to_owned();
    if delimited && field.r#type() == Type::Message && !PREFIXED.contains(&&*name) {
        field.set_type(Type::Group);
    }
    if field.oneof_index.is_none() && EXPLICIT.contains(&&*name) {
        field.set_label(Label::Optional);
        field.proto3_optional = Some(true);
    }
}
