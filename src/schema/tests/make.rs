//! Descriptors made by hand, for what neither protoc nor its like would write.

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
};

use crate::schema::Registry;

pub(in crate::schema) fn field(name: &str, number: i32, r#type: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        label: Some(Label::Optional as i32),
        r#type: Some(r#type as i32),
        ..FieldDescriptorProto::default()
    }
}

pub(super) fn typed(name: &str, number: i32, r#type: Type, type_name: &str) -> FieldDescriptorProto {
    FieldDescriptorProto { type_name: Some(type_name.into()), ..field(name, number, r#type) }
}

pub(in crate::schema) fn message(name: &str, field: Vec<FieldDescriptorProto>) -> DescriptorProto {
    DescriptorProto { name: Some(name.into()), field, ..DescriptorProto::default() }
}

pub(super) fn enumeration(name: &str, values: &[(&str, i32)]) -> EnumDescriptorProto {
    let value = values.iter().map(|(name, number)| EnumValueDescriptorProto {
        name: Some((*name).into()),
        number: Some(*number),
        options: None,
    });
    EnumDescriptorProto { name: Some(name.into()), value: value.collect(), ..EnumDescriptorProto::default() }
}

pub(in crate::schema) fn file(message_type: Vec<DescriptorProto>) -> FileDescriptorProto {
    FileDescriptorProto { name: Some("x.proto".into()), message_type, ..FileDescriptorProto::default() }
}

/// The error of registering `file`.
pub(super) fn refused(file: &[u8]) -> String {
    let mut registry = Registry::new();
    let e = registry.register(file).unwrap_err().0;
    // The registry still works.
    let good = FileDescriptorProto { name: Some("good.proto".into()), ..FileDescriptorProto::default() };
    assert_eq!(registry.changes(&good.encode_to_vec()), Ok(true));
    e
}

/// A serialized field that holds `bytes`.
pub(super) fn part(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut part = Vec::new();
    prost::encoding::encode_varint(u64::from(number << 3 | 2), &mut part);
    prost::encoding::encode_varint(bytes.len() as u64, &mut part);
    part.extend_from_slice(bytes);
    part
}
