//! Checks: what a descriptor must be before it is linked. protoc writes nothing that fails
//! them; other programs and attackers do, and linking relies on them.

use std::collections::HashSet;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use super::default;
use super::editions::Scope;
use super::features::Syntax;
use super::hint::quoted;
use super::plan::Op;
use crate::error::SchemaError;
use crate::wire::MAX_FIELD_NUMBER;

type Result<T> = std::result::Result<T, SchemaError>;

/// Positions of fields are 16 bits, with room for the values that mean none.
pub(super) const MOST_FIELDS: usize = 65_534;
/// Extensions are looked for in every range of their message.
const MOST_RANGES: usize = 10_000;
/// Names of files are stored with every file that sees them.
const LONGEST_FILE_NAME: usize = 512;
/// Every definition is stored with its full name, so long scopes multiply.
const LONGEST_NAME: usize = 1_000;
const MOST_SCOPES: usize = 128;
/// What the full names in a file of text may add up to.
#[cfg(feature = "proto")]
const MOST_NAMES: usize = 16 << 20;
/// How often numbers in a file of text are compared with reserved ones.
#[cfg(feature = "proto")]
const MOST_COMPARISONS: usize = 500_000_000;

/// Checks all of `file`, which is `scope`.
pub(super) fn check(file: &FileDescriptorProto, scope: Scope) -> Result<()> {
    if file.name().len() > LONGEST_FILE_NAME {
        return Err(SchemaError(format!("{}: the file's name is too long", quoted(file.name()))));
    }
    let mut imports = HashSet::new();
    if let Some(twice) = file.dependency.iter().find(|import| !imports.insert(*import)) {
        return Err(SchemaError(format!("{}: imports {} twice", file.name(), quoted(twice))));
    }
    let mut checker = Checker { file, scope: String::new() };
    checker.package()?;
    for (at, message) in file.message_type.iter().enumerate() {
        checker.message(message, scope.message(at))?;
    }
    for (at, enumeration) in file.enum_type.iter().enumerate() {
        checker.enumeration(enumeration, scope.enumeration(at))?;
    }
    for (at, extension) in file.extension.iter().enumerate() {
        checker.extension(extension, scope.extension(at, extension))?;
    }
    for service in &file.service {
        checker.within(service.name(), |c| {
            for method in &service.method {
                c.within(method.name(), |c| {
                    c.must(!method.input_type().is_empty() && !method.output_type().is_empty(), "has no type")
                })?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Checks what makes linking costly in `file`, whose types and options need not be resolved: every definition is stored
/// with its full name, and every number compared with all reserved ones.
#[cfg(feature = "proto")]
pub(super) fn check_cost(file: &FileDescriptorProto) -> Result<()> {
    Checker { file, scope: String::new() }.package()?;
    let mut cost = Cost { file, names: 0, comparisons: 0 };
    let scope = file.package().len();
    for message in &file.message_type {
        cost.message(scope, message)?;
    }
    cost.enums(scope, &file.enum_type)?;
    cost.all(scope, file.extension.iter().map(|e| e.name()))?;
    for service in &file.service {
        let scope = cost.one(scope, service.name())?;
        cost.all(scope, service.method.iter().map(|m| m.name()))?;
    }
    Ok(())
}

/// What the definitions of a file add up to. A scope is given by its length.
#[cfg(feature = "proto")]
struct Cost<'a> {
    file: &'a FileDescriptorProto,
    names: usize,
    comparisons: usize,
}

#[cfg(feature = "proto")]
impl Cost<'_> {
    fn message(&mut self, scope: usize, message: &DescriptorProto) -> Result<()> {
        let scope = self.one(scope, message.name())?;
        // Every extension is compared with all of them.
        if message.extension_range.len() > MOST_RANGES {
            let (file, name) = (self.file.name(), quoted(message.name()));
            return Err(SchemaError(format!("{file}: {name}: more than 10,000 extension ranges")));
        }
        self.reserved(message.field.len(), message.reserved_range.len())?;
        self.reserved(message.field.len(), message.extension_range.len())?;
        self.all(scope, message.field.iter().chain(&message.extension).map(|f| f.name()))?;
        self.all(scope, message.oneof_decl.iter().map(|o| o.name()))?;
        self.enums(scope, &message.enum_type)?;
        message.nested_type.iter().try_for_each(|nested| self.message(scope, nested))
    }

    fn enums(&mut self, scope: usize, enums: &[EnumDescriptorProto]) -> Result<()> {
        enums.iter().try_for_each(|e| self.reserved(e.value.len(), e.reserved_range.len()))?;
        self.all(scope, enums.iter().flat_map(|e| e.value.iter().map(|v| v.name()).chain([e.name()])))
    }

    fn all<'n>(&mut self, scope: usize, mut names: impl Iterator<Item = &'n str>) -> Result<()> {
        names.try_for_each(|name| self.one(scope, name).map(drop))
    }

    /// The length of the full name.
    fn one(&mut self, scope: usize, name: &str) -> Result<usize> {
        let length = scope.saturating_add(name.len()).saturating_add(1);
        self.names = self.names.saturating_add(length);
        if length > LONGEST_NAME || self.names > MOST_NAMES {
            let file = self.file.name();
            return Err(SchemaError(format!("{file}: the name {} is too long within its scope", quoted(name))));
        }
        Ok(length)
    }

    fn reserved(&mut self, numbers: usize, ranges: usize) -> Result<()> {
        self.comparisons = self.comparisons.saturating_add(numbers.saturating_mul(ranges));
        if self.comparisons > MOST_COMPARISONS {
            return Err(SchemaError(format!("{}: too many reserved numbers", self.file.name())));
        }
        Ok(())
    }
}

struct Checker<'a> {
    file: &'a FileDescriptorProto,
    /// The full name of what is being checked.
    scope: String,
}

impl Checker<'_> {
    fn fail<T>(&self, what: impl std::fmt::Display) -> Result<T> {
        if self.scope.is_empty() {
            return Err(SchemaError(format!("{}: {what}", self.file.name())));
        }
        Err(SchemaError(format!("{}: {}: {what}", self.file.name(), self.scope)))
    }

    fn must(&self, holds: bool, what: &str) -> Result<()> {
        if holds { Ok(()) } else { self.fail(what) }
    }

    fn package(&mut self) -> Result<()> {
        let package = self.file.package();
        self.must(package.len() <= LONGEST_NAME, "the package's name is too long")?;
        self.must(package.split('.').count() <= MOST_SCOPES, "the package's name has too many parts")?;
        if !package.is_empty() && !package.split('.').all(is_identifier) {
            return self.fail(format_args!("{} is no name for a package", quoted(package)));
        }
        self.scope.push_str(package);
        Ok(())
    }

    /// Checks `name`, and what it names by `check`.
    fn within(&mut self, name: &str, check: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if !is_identifier(name) {
            return self.fail(format_args!("{} is no name", quoted(name)));
        }
        let outer = self.scope.len();
        self.must(outer.saturating_add(name.len()) < LONGEST_NAME, "a name within is too long")?;
        if outer > 0 {
            self.scope.push('.');
        }
        self.scope.push_str(name);
        check(self)?;
        self.scope.truncate(outer);
        Ok(())
    }

    fn message(&mut self, message: &DescriptorProto, scope: Scope) -> Result<()> {
        self.within(message.name(), |c| {
            c.must(message.field.len() <= MOST_FIELDS, "more than 65,534 fields")?;
            c.must(message.extension_range.len() <= MOST_RANGES, "more than 10,000 extension ranges")?;
            let holds = message.extension_range.iter().all(|r| 0 < r.start() && r.start() < r.end());
            c.must(holds, "an extension range that is none")?;
            for oneof in &message.oneof_decl {
                c.within(oneof.name(), |_| Ok(()))?;
            }
            for (at, field) in message.field.iter().enumerate() {
                c.within(field.name(), |c| c.field(field, Some(message), scope.field(at, field)))?;
            }
            if is_map_entry(message) {
                c.map_entry(message)?;
            }
            for (at, nested) in message.nested_type.iter().enumerate() {
                c.message(nested, scope.message(at))?;
            }
            for (at, enumeration) in message.enum_type.iter().enumerate() {
                c.enumeration(enumeration, scope.enumeration(at))?;
            }
            for (at, extension) in message.extension.iter().enumerate() {
                c.extension(extension, scope.extension(at, extension))?;
            }
            Ok(())
        })
    }

    fn extension(&mut self, extension: &FieldDescriptorProto, own: Scope) -> Result<()> {
        self.within(extension.name(), |c| {
            c.must(!extension.extendee().is_empty(), "extends nothing")?;
            c.field(extension, None, own)
        })
    }

    /// Checks a field of `message`, or an extension.
    fn field(&self, field: &FieldDescriptorProto, message: Option<&DescriptorProto>, own: Scope) -> Result<()> {
        let number = field.number();
        if !u32::try_from(number).is_ok_and(|n| n > 0 && n <= MAX_FIELD_NUMBER) {
            return self.fail(format_args!("field number {number} is out of range"));
        }
        self.must(!(19_000..20_000).contains(&number), "field numbers 19000 to 19999 are reserved")?;

        let label = match field.label {
            None => Label::Optional,
            Some(label) => match Label::try_from(label) {
                Ok(label) => label,
                Err(_) => return self.fail(format_args!("unknown label {label}")),
            },
        };
        let proto3 = own.syntax == Syntax::Proto3;
        let named = !field.type_name().is_empty();
        let op = match field.r#type {
            None if named => None,
            None => return self.fail("has no type"),
            Some(number) => match Type::try_from(number) {
                Ok(Type::Message | Type::Group | Type::Enum) if !named => {
                    return self.fail("its type has no name");
                }
                Ok(Type::Group) if proto3 => return self.fail("proto3 has no groups"),
                Ok(Type::Message | Type::Group | Type::Enum) => None,
                Ok(_) if named => return self.fail("a scalar type with the name of another type"),
                Ok(scalar) => scalar_op(scalar),
                Err(_) => return self.fail(format_args!("unknown type {number}")),
            },
        };
        if let Some(what) = own.refuses(field) {
            return self.fail(what);
        }
        if proto3 {
            self.must(label != Label::Required, "proto3 has no required fields")?;
            self.must(field.default_value.is_none(), "proto3 has no declared defaults")?;
        }
        if let Some(text) = &field.default_value {
            self.must(label != Label::Repeated, "a repeated field has no default")?;
            if let Some(op) = op
                && default::parse(op, text, None).is_none()
            {
                return self.fail(format_args!("default {} is no value of its type", quoted(text)));
            }
        }
        if let (Some(index), Some(message)) = (field.oneof_index, message) {
            let oneof = usize::try_from(index).ok().and_then(|i| message.oneof_decl.get(i));
            self.must(oneof.is_some(), "its oneof does not exist")?;
            self.must(label == Label::Optional, "a member of a oneof can be neither required nor repeated")?;
        }
        self.must(message.is_none() || field.extendee.is_none(), "a message's own field extends another message")
    }

    fn map_entry(&self, message: &DescriptorProto) -> Result<()> {
        let plain = |field: &FieldDescriptorProto, number, name| {
            field.number() == number
                && field.name() == name
                && field.label() == Label::Optional
                && field.oneof_index.is_none()
        };
        let ok = match &*message.field {
            [a, b] => {
                let (key, value) = if a.number() == 1 { (a, b) } else { (b, a) };
                plain(key, 1, "key")
                    && plain(value, 2, "value")
                    && is_key(key)
                    && value.r#type != Some(Type::Group as i32)
            }
            _ => false,
        };
        self.must(ok, "a map's entries must have a key = 1 of an integer, bool or string type and a value = 2")
    }

    fn enumeration(&mut self, enumeration: &EnumDescriptorProto, own: Scope) -> Result<()> {
        // Values stand beside their enum, not in it.
        for value in &enumeration.value {
            self.within(value.name(), |_| Ok(()))?;
        }
        let alias = enumeration.options.as_ref().is_some_and(|o| o.allow_alias());
        self.within(enumeration.name(), |c| {
            let Some(first) = enumeration.value.first() else {
                return c.fail("an enum needs a value");
            };
            let open = if own.syntax == Syntax::Proto3 { "a proto3" } else { "an open" };
            if !own.features.closed && first.number() != 0 {
                return c.fail(format_args!("the first value of {open} enum must be 0"));
            }
            let mut numbers = HashSet::with_capacity(enumeration.value.len());
            match enumeration.value.iter().find(|v| !numbers.insert(v.number())) {
                Some(value) if !alias => c.fail(format_args!("number {} is used twice", value.number())),
                _ => Ok(()),
            }
        })
    }
}

/// Whether `message` stands for the entries of a map.
pub(super) fn is_map_entry(message: &DescriptorProto) -> bool {
    message.options.as_ref().is_some_and(|o| o.map_entry())
}

/// Whether `field` can be the key of a map.
fn is_key(field: &FieldDescriptorProto) -> bool {
    let scalar = field.r#type.and_then(|t| Type::try_from(t).ok()).and_then(scalar_op);
    scalar.is_some_and(|op| !matches!(op, Op::Float | Op::Double | Op::Bytes))
}

/// How values of a type without a name are coded.
pub(super) fn scalar_op(scalar: Type) -> Option<Op> {
    Some(match scalar {
        Type::Double => Op::Double,
        Type::Float => Op::Float,
        Type::Int64 => Op::Int64,
        Type::Uint64 => Op::Uint64,
        Type::Int32 => Op::Int32,
        Type::Fixed64 => Op::Fixed64,
        Type::Fixed32 => Op::Fixed32,
        Type::Bool => Op::Bool,
        Type::String => Op::String,
        Type::Bytes => Op::Bytes,
        Type::Uint32 => Op::Uint32,
        Type::Sfixed32 => Op::Sfixed32,
        Type::Sfixed64 => Op::Sfixed64,
        Type::Sint32 => Op::Sint32,
        Type::Sint64 => Op::Sint64,
        Type::Group | Type::Message | Type::Enum => return None,
    })
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
