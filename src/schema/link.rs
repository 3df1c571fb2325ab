//! Linking: prost-reflect finds the type that each name means, and refuses what clashes.
//!
//! It is shown no more than that takes: no options, defaults, JSON names, reserved numbers
//! or source info, and imports with public ones resolved. The rest is read from the files
//! themselves, so that prost-reflect 0.16's own rules for them do not matter: it takes no
//! syntax but proto2 and proto3, refuses names that protoc accepts, follows public imports
//! one step far (in cycles forever), and panics on map entries and defaults that protoc would not write.

use prost_reflect::{DescriptorError, DescriptorPool};
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
    pool.add_file_descriptor_proto(bare_file(file, visible)).map_err(|e| SchemaError(explain(file, &e)))
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

fn explain(file: &FileDescriptorProto, error: &DescriptorError) -> String {
    let text = error.to_string();
    match error.path().and_then(|path| element(file, path)) {
        Some(element) if !text.starts_with(&format!("name '{element}' ")) => {
            format!("{}: {element}: {text}", file.name())
        }
        _ => format!("{}: {text}", file.name()),
    }
}

/// The full name of the element at `path`, which is that of `SourceCodeInfo.Location`, or
/// of the innermost known one around it.
fn element(file: &FileDescriptorProto, path: &[i32]) -> Option<String> {
    let at = |index: i32| usize::try_from(index).unwrap_or(usize::MAX);
    let mut names = Vec::new();
    let mut message: Option<&DescriptorProto> = None;
    let mut steps = path.chunks_exact(2);
    while let Some(&[kind, index]) = steps.next() {
        let index = at(index);
        let (messages, enums, extensions) = match message {
            None => (&file.message_type, &file.enum_type, &file.extension),
            Some(m) => (&m.nested_type, &m.enum_type, &m.extension),
        };
        let found = match (message, kind) {
            (None, 4) | (Some(_), 3) => {
                message = messages.get(index);
                message.map(|m| m.name())
            }
            (None, 5) | (Some(_), 4) => {
                let enumeration = enums.get(index);
                match steps.next() {
                    // Values stand beside their enum, not in it.
                    Some(&[2, value]) => enumeration.and_then(|e| e.value.get(at(value))).map(|v| v.name()),
                    _ => enumeration.map(|e| e.name()),
                }
            }
            (None, 7) | (Some(_), 6) => extensions.get(index).map(|e| e.name()),
            (Some(m), 2) => m.field.get(index).map(|f| f.name()),
            (Some(m), 8) => m.oneof_decl.get(index).map(|o| o.name()),
            (None, 6) => {
                let service = file.service.get(index);
                names.extend(service.map(|s| s.name()));
                match steps.next() {
                    Some(&[2, method]) => service.and_then(|s| s.method.get(at(method))).map(|m| m.name()),
                    _ => None,
                }
            }
            _ => None,
        };
        names.extend(found);
        if found.is_none() || !matches!((names.len(), kind), (1, 4) | (_, 3)) {
            break;
        }
    }
    if names.is_empty() {
        return None;
    }
    names.splice(0..0, (!file.package().is_empty()).then(|| file.package()));
    Some(names.join("."))
}
