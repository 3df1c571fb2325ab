//! Registered files as prost-reflect is shown them, so that text which imports them can be linked.
//!
//! It sees names and types only, and imports with public ones resolved: what is registered linked
//! before, and prost-reflect 0.16's own rules for the rest do not matter. It takes no syntax but proto2
//! and proto3, refuses names that protoc accepts, follows public imports one step far (in cycles
//! forever), and panics on map entries and defaults that protoc would not write.

use prost_reflect::DescriptorPool;
use prost_types::descriptor_proto::ExtensionRange;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    MethodDescriptorProto, OneofDescriptorProto, ServiceDescriptorProto,
};

use crate::error::SchemaError;

/// Links `file`, which sees the files `visible`, into `pool`.
///
/// A pool that failed is not to be used again: prost-reflect does not take everything back.
pub(super) fn link(
    pool: &mut DescriptorPool,
    file: &FileDescriptorProto,
    visible: Vec<String>,
) -> Result<(), SchemaError> {
    let linked = pool.add_file_descriptor_proto(bare_file(file, visible));
    linked.map_err(|e| SchemaError(format!("{}: {e}", file.name())))
}

fn bare_file(file: &FileDescriptorProto, visible: Vec<String>) -> FileDescriptorProto {
    FileDescriptorProto {
        name: file.name.clone(),
        package: file.package.clone(),
        dependency: visible,
        message_type: file.message_type.iter().map(bare_message).collect(),
        enum_type: file.enum_type.iter().map(bare_enum).collect(),
        extension: file.extension.iter().map(bare_field).collect(),
        service: file
            .service
            .iter()
            .map(|service| ServiceDescriptorProto {
                name: service.name.clone(),
                method: service
                    .method
                    .iter()
                    .map(|method| MethodDescriptorProto {
                        name: method.name.clone(),
                        input_type: method.input_type.clone(),
                        output_type: method.output_type.clone(),
                        ..MethodDescriptorProto::default()
                    })
                    .collect(),
                options: None,
            })
            .collect(),
        ..FileDescriptorProto::default()
    }
}

fn bare_message(message: &DescriptorProto) -> DescriptorProto {
    DescriptorProto {
        name: message.name.clone(),
        field: message.field.iter().map(bare_field).collect(),
        nested_type: message.nested_type.iter().map(bare_message).collect(),
        enum_type: message.enum_type.iter().map(bare_enum).collect(),
        extension: message.extension.iter().map(bare_field).collect(),
        extension_range: message
            .extension_range
            .iter()
            .map(|range| ExtensionRange { start: range.start, end: range.end, options: None })
            .collect(),
        oneof_decl: message
            .oneof_decl
            .iter()
            .map(|oneof| OneofDescriptorProto { name: oneof.name.clone(), options: None })
            .collect(),
        ..DescriptorProto::default()
    }
}

fn bare_field(field: &FieldDescriptorProto) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: field.name.clone(),
        number: field.number,
        label: field.label,
        r#type: field.r#type,
        type_name: field.type_name.clone(),
        extendee: field.extendee.clone(),
        // As unique as the name, where JSON names of proto2 may clash.
        json_name: field.name.clone(),
        ..FieldDescriptorProto::default()
    }
}

fn bare_enum(enumeration: &EnumDescriptorProto) -> EnumDescriptorProto {
    EnumDescriptorProto {
        name: enumeration.name.clone(),
        value: enumeration
            .value
            .iter()
            .zip(0..)
            // Any distinct numbers do, and ascending ones are stored fastest.
            .map(|(value, at)| EnumValueDescriptorProto { name: value.name.clone(), number: Some(at), options: None })
            .collect(),
        ..EnumDescriptorProto::default()
    }
}
