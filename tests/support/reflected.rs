//! prost-reflect as an oracle, for the tests that hold this library against it and for the fuzzer.
//!
//! Where it departs from the specification, it is none:
//! - It takes a known field with another wire type for an error, and looks at no wire type of a map
//!   ([`mismatched`]); the specification wants an unknown field.
//! - It wants UTF-8 in proto2's strings too ([`is_utf8`]), where the specification does not.
//! - It takes every number for a value of a closed enum ([`strange`]); the specification sends those without a
//!   name to the unknown fields.
//! - It leaves -0.0 out where zeros of implicit presence and of map values are left out, though only 0.0 is the
//!   default. So what goes out is what it reads back from its own bytes.
//! - It sorts unknown fields by number, as do those who compare with it.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost::{DecodeError, Message};
use prost_reflect::{
    DescriptorPool, DynamicMessage, EnumDescriptor, Kind, MessageDescriptor, ReflectMessage, Syntax, Value,
};

/// The descriptor set in `bytes` without its extensions, which are for the oracle in Python, in tests/oracle.
pub fn without_extensions(bytes: &[u8]) -> Vec<u8> {
    fn clear(messages: &mut Value) {
        for message in messages.as_list_mut().expect("a list").iter_mut().filter_map(Value::as_message_mut) {
            message.clear_field_by_name("extension");
            if message.has_field_by_name("message_type") {
                clear(message.get_field_by_name_mut("message_type").expect("there are some"));
            }
        }
    }
    // That of prost-types would lose what it does not know, such as features.
    let pool = DescriptorPool::decode(&include_bytes!("../../descriptors/descriptor.pb")[..]).expect("it links");
    let desc = pool.get_message_by_name("google.protobuf.FileDescriptorSet").expect("the type");
    let mut set = DynamicMessage::decode(desc, bytes).expect("a set");
    clear(set.get_field_by_name_mut("file").expect("the files"));
    set.encode_to_vec()
}

/// Whether the enum takes only the numbers that it names.
pub fn closed(plan: &EnumDescriptor) -> bool {
    plan.parent_file().syntax() == Syntax::Proto2
}

/// Whether a closed enum has a number without a name anywhere in the message.
pub fn strange(message: &DynamicMessage) -> bool {
    fn is_strange(kind: &Kind, value: &Value) -> bool {
        match (kind, value) {
            (_, Value::Message(inner)) => strange(inner),
            (Kind::Enum(plan), Value::EnumNumber(number)) => closed(plan) && plan.get_value(*number).is_none(),
            (_, Value::List(list)) => list.iter().any(|value| is_strange(kind, value)),
            (Kind::Message(entry), Value::Map(map)) => {
                let kind = entry.map_entry_value_field().kind();
                map.values().any(|value| is_strange(&kind, value))
            }
            _ => false,
        }
    }
    message.fields().any(|(field, value)| is_strange(&field.kind(), value))
}

/// Whether a known field comes with a wire type that does not fit it. Stops where the bytes are malformed.
pub fn mismatched(desc: &MessageDescriptor, bytes: &mut &[u8]) -> std::result::Result<bool, DecodeError> {
    while !bytes.is_empty() {
        let (number, wire_type) = decode_key(bytes)?;
        if wire_type == WireType::EndGroup {
            return Ok(desc.get_field(number).is_some_and(|field| field.is_map()));
        }
        let Some(field) = desc.get_field(number) else {
            skip_field(wire_type, number, bytes, DecodeContext::default())?;
            continue;
        };
        let own = if field.is_group() { WireType::StartGroup } else { field.kind().wire_type() };
        let packable = !matches!(field.kind(), Kind::String | Kind::Bytes | Kind::Message(_));
        let packed = field.is_list() && packable && wire_type == WireType::LengthDelimited;
        if wire_type != own && !packed {
            return Ok(true);
        }
        match field.kind() {
            Kind::Message(inner) if field.is_group() => {
                if mismatched(&inner, bytes)? {
                    return Ok(true);
                }
            }
            Kind::Message(inner) => {
                let length = decode_varint(bytes)? as usize;
                let Some((mut contents, rest)) = bytes.split_at_checked(length) else { return Ok(false) };
                *bytes = rest;
                if mismatched(&inner, &mut contents)? {
                    return Ok(true);
                }
            }
            _ => skip_field(wire_type, number, bytes, DecodeContext::default())?,
        }
    }
    Ok(false)
}

/// Whether it is the error of a string that is not UTF-8.
pub fn is_utf8(error: &str) -> bool {
    error.contains("invalid string value: data is not UTF-8 encoded")
}

/// Whether two numbers are the same, as [`same_value`] has it.
pub fn same_number(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Whether two values are the same, to the sign of zero; NaN is NaN.
pub fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::F32(a), Value::F32(b)) => same_number(f64::from(*a), f64::from(*b)),
        (Value::F64(a), Value::F64(b)) => same_number(*a, *b),
        (Value::Message(a), Value::Message(b)) => same(a, b),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_value(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Whether two messages are the same, as [`same_value`] has it.
pub fn same(a: &DynamicMessage, b: &DynamicMessage) -> bool {
    a.descriptor().fields().all(|field| {
        if field.supports_presence() && !(a.has_field(&field) && b.has_field(&field)) {
            return a.has_field(&field) == b.has_field(&field);
        }
        same_value(&a.get_field(&field), &b.get_field(&field))
    }) && a.unknown_fields().eq(b.unknown_fields())
}
