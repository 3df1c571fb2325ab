//! The messages that JSON writes in their own ways ("ProtoJSON Format", table of types).

use crate::format::any;
use crate::schema::{FieldPlan, MessagePlan, Op, Types};

/// A well-known type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Any,
    Duration,
    FieldMask,
    ListValue,
    Struct,
    Timestamp,
    Value,
    /// A message that stands for its only field.
    Wrapper,
}

impl Kind {
    /// That of `m`; `None` for all other messages.
    pub fn of(m: &MessagePlan) -> Option<Self> {
        let name = m.name.strip_prefix("google.protobuf.")?;
        Some(match name {
            _ if any::is_any(m) => Kind::Any,
            "Duration" => Kind::Duration,
            "FieldMask" => Kind::FieldMask,
            "ListValue" => Kind::ListValue,
            "Struct" => Kind::Struct,
            "Timestamp" => Kind::Timestamp,
            "Value" => Kind::Value,
            "BoolValue" | "BytesValue" | "DoubleValue" | "FloatValue" | "Int32Value" | "Int64Value" | "StringValue"
            | "UInt32Value" | "UInt64Value" => Kind::Wrapper,
            _ => return None,
        })
    }
}

/// Positions of the fields of `Timestamp` and `Duration`.
pub const SECONDS: u16 = 0;
pub const NANOS: u16 = 1;

/// Positions of the fields of `Value`.
pub const NULL: u16 = 0;
pub const NUMBER: u16 = 1;
pub const STRING: u16 = 2;
pub const BOOL: u16 = 3;
pub const STRUCT: u16 = 4;
pub const LIST: u16 = 5;

/// Position of the only field of the other types.
pub const ONLY: u16 = 0;

/// Whether `null` is a value of `f`: of `Value`, and of the enum that has only that.
pub fn takes_null(f: &FieldPlan, types: &Types) -> bool {
    match f.op {
        Op::Message | Op::Group => types.set.message(f.sub).is_some_and(|m| Kind::of(m) == Some(Kind::Value)),
        Op::Enum => is_null_enum(f, types),
        _ => false,
    }
}

/// Whether the values of `f` are of the enum that stands for `null`.
pub fn is_null_enum(f: &FieldPlan, types: &Types) -> bool {
    types.set.enumeration(f.sub).is_some_and(|e| *e.name == *"google.protobuf.NullValue")
}
