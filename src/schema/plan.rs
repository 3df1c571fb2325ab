//! Plans: what the kernel knows of a type. Flat, immutable data, made once by `compile` and
//! `extend`, and shared between threads.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::json::JsonNames;
use crate::wire::WireType;

/// How the value of a field, of a list's element or of a map's entry is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Op {
    Int32,
    Int64,
    Uint32,
    Uint64,
    Sint32,
    Sint64,
    Fixed32,
    Fixed64,
    Sfixed32,
    Sfixed64,
    Float,
    Double,
    Bool,
    /// An enum; `sub` is its index in [`super::Set::enums`].
    Enum,
    String,
    Bytes,
    /// A length-delimited message; `sub` is its index in [`super::Set::messages`].
    Message,
    /// The same, coded as a group.
    Group,
    /// A map; `sub` is its entry message, whose fields 0 and 1 are key and value.
    Map,
}

impl Op {
    /// The wire type of one such value, unpacked.
    pub const fn wire_type(self) -> WireType {
        match self {
            Op::Fixed32 | Op::Sfixed32 | Op::Float => WireType::Fixed32,
            Op::Fixed64 | Op::Sfixed64 | Op::Double => WireType::Fixed64,
            Op::String | Op::Bytes | Op::Message | Op::Map => WireType::Len,
            Op::Group => WireType::StartGroup,
            _ => WireType::Varint,
        }
    }

    /// Its type, as .proto text has it; "message", "group", "enum" and "map" for those that have names.
    pub const fn keyword(self) -> &'static str {
        match self {
            Op::Int32 => "int32",
            Op::Int64 => "int64",
            Op::Uint32 => "uint32",
            Op::Uint64 => "uint64",
            Op::Sint32 => "sint32",
            Op::Sint64 => "sint64",
            Op::Fixed32 => "fixed32",
            Op::Fixed64 => "fixed64",
            Op::Sfixed32 => "sfixed32",
            Op::Sfixed64 => "sfixed64",
            Op::Float => "float",
            Op::Double => "double",
            Op::Bool => "bool",
            Op::Enum => "enum",
            Op::String => "string",
            Op::Bytes => "bytes",
            Op::Message => "message",
            Op::Group => "group",
            Op::Map => "map",
        }
    }

    /// Whether a list of such values may be packed.
    pub const fn packable(self) -> bool {
        !matches!(self, Op::String | Op::Bytes | Op::Message | Op::Group | Op::Map)
    }
}

/// Facts about a field, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// A list or a map.
    pub const REPEATED: Flags = Flags(1);
    /// A list that is written packed.
    pub const PACKED: Flags = Flags(1 << 1);
    /// A string that must be UTF-8.
    pub const UTF8: Flags = Flags(1 << 2);
    /// Zero is written when set: explicit presence.
    pub const PRESENCE: Flags = Flags(1 << 3);
    /// A required field.
    pub const REQUIRED: Flags = Flags(1 << 4);
    /// A member of a oneof that is not synthetic.
    pub const ONEOF: Flags = Flags(1 << 5);
    /// An enum that keeps unknown numbers out.
    pub const CLOSED: Flags = Flags(1 << 6);
    /// Only in a pattern: a oneof member that is not asked for. It makes no value, but
    /// unsets the member that is.
    pub const GHOST: Flags = Flags(1 << 7);
    /// A singular scalar that a value simply sets: with a bit, no oneof member, no closed enum.
    pub const PLAIN: Flags = Flags(1 << 8);
    /// An extension: its name is the full one.
    pub const EXTENSION: Flags = Flags(1 << 9);
    /// Only in a pattern: a message of which fields are asked for by dotted names.
    pub const ENTER: Flags = Flags(1 << 10);
    /// A group whose field and type are declared together and differ in case only: text format calls it by its type.
    pub const GROUP_LIKE: Flags = Flags(1 << 11);

    /// Whether any of `other`'s bits is set.
    #[inline(always)]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    /// Both together.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One field of a message.
#[derive(Clone, Copy, Debug)]
pub struct FieldPlan {
    /// The tag that is written: number and wire type, of kind LEN where packed.
    pub tag: u32,
    /// The other tag that is read: unpacked where `tag` is packed and the reverse; 0 if none.
    pub alt: u32,
    /// How its value (for lists: an element) is coded.
    pub op: Op,
    /// Its bit in the kernel's set of fields seen; 0 if there was none left.
    pub mask: u64,
    /// More facts.
    pub flags: Flags,
    /// Its position in [`MessagePlan::fields`].
    pub index: u16,
    /// In a pattern, the position of its value; else `index`.
    pub slot: u16,
    /// Its oneof in [`MessagePlan::oneofs`], where `flags` say so.
    pub oneof: u16,
    /// The type of enums, messages, groups and maps: see [`Op`].
    pub sub: u32,
}

impl FieldPlan {
    /// Its number.
    #[inline(always)]
    pub const fn number(&self) -> u32 {
        self.tag >> 3
    }

    /// Whether it is a list or map.
    #[inline(always)]
    pub const fn repeated(&self) -> bool {
        self.flags.has(Flags::REPEATED)
    }

    /// The tag of one unpacked value.
    #[inline(always)]
    pub const fn element_tag(&self) -> u32 {
        crate::wire::tag(self.number(), self.op.wire_type())
    }
}

/// What an absent field reads as.
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    /// Messages, groups, lists and maps.
    None,
    /// Signed numbers, and unsigned ones of 32 bits.
    Int(i64),
    /// Unsigned numbers of 64 bits.
    Uint(u64),
    /// Floats and doubles.
    Number(f64),
    /// Booleans.
    Bool(bool),
    /// Enums.
    Enum(i32),
    /// Strings and bytes.
    Bytes(Box<[u8]>),
}

/// A group of fields of which one at most is set.
#[derive(Clone, Debug)]
pub struct OneofPlan {
    /// Its name.
    pub name: Box<str>,
    /// Its members' bits.
    pub mask: u64,
    /// Its members' positions in [`MessagePlan::fields`].
    pub members: Box<[u16]>,
    /// Its place among those of which the decoder remembers which member is set, since not every member has a bit.
    pub remembered: Option<u8>,
}

impl OneofPlan {
    /// So many of a type, its largest ones, are remembered.
    pub const REMEMBERED: usize = 8;

    /// Whether every member has a bit.
    #[inline(always)]
    pub fn marked(&self) -> bool {
        self.mask.count_ones() as usize == self.members.len()
    }
}

/// A message type.
#[derive(Debug)]
pub struct MessagePlan {
    /// Unique in the process and never used again.
    pub id: u64,
    /// Its position in [`super::Set::messages`]; of a pattern, its root type's.
    pub index: u32,
    /// Its full name, without leading dot.
    pub name: Arc<str>,
    /// In the order of their numbers.
    pub fields: Box<[FieldPlan]>,
    /// The fields' names, in the same order.
    pub names: Box<[Box<str>]>,
    /// The fields' defaults, in the same order.
    pub defaults: Box<[Default]>,
    /// Its oneofs, synthetic ones left out.
    pub oneofs: Box<[OneofPlan]>,
    /// Bits of the required fields.
    pub required: u64,
    /// Some required fields have no bit.
    pub required_unmarked: bool,
    /// It stands for the entries of a map field.
    pub map_entry: bool,
    /// Its extensions are written as groups of a type id and a message
    /// (`MessageOptions.message_set_wire_format`).
    pub message_set: bool,
    /// Numbers that are declared to be extensions: first and one beyond the last, ascending, none overlapping.
    pub(super) extension_ranges: Box<[(i32, i32)]>,
    /// Positions of fields by number, [`MessagePlan::NONE`] where there is none; beyond its end, search.
    pub(super) dense: Box<[u16]>,
    /// Positions of fields by name.
    pub(super) by_name: HashMap<Box<str>, u16>,
    /// Its fields' keys in JSON, once somebody has asked.
    pub(super) json: OnceLock<Box<JsonNames>>,
}

impl MessagePlan {
    /// No field.
    pub const NONE: u16 = u16::MAX;

    /// The field with `number`.
    #[inline(always)]
    pub fn by_number(&self, number: u32) -> Option<&FieldPlan> {
        match self.dense.get(number as usize) {
            Some(index) => self.fields.get(usize::from(*index)),
            None => self.by_large_number(number),
        }
    }

    #[inline(never)]
    fn by_large_number(&self, number: u32) -> Option<&FieldPlan> {
        let at = self.fields.binary_search_by_key(&number, FieldPlan::number).ok()?;
        self.fields.get(at)
    }

    /// The field called `name`.
    pub fn by_name(&self, name: &str) -> Option<&FieldPlan> {
        self.fields.get(usize::from(*self.by_name.get(name)?))
    }

    /// The name of `field`, which is one of this message's, as paths show it: extensions in brackets.
    pub fn name_of(&self, field: &FieldPlan) -> &str {
        let name = self.names.get(usize::from(field.index)).map_or("?", |n| n);
        self.second_name(field).unwrap_or(name)
    }

    /// The other name of `field`, which is one of this message's, if it is an extension: its name in
    /// brackets. One whose own name stands in brackets has no other.
    pub fn second_name(&self, field: &FieldPlan) -> Option<&str> {
        if !field.flags.has(Flags::EXTENSION) {
            return None;
        }
        let name = self.names.get(usize::from(field.index))?;
        let (second, _) = self.by_name.get_key_value(&*format!("[{name}]"))?;
        Some(second)
    }
}

/// An enum type.
#[derive(Debug)]
pub struct EnumPlan {
    /// Unique in the process and never used again.
    pub id: u64,
    /// Its full name, without leading dot.
    pub name: Arc<str>,
    /// Numbers, ascending, each once.
    pub numbers: Box<[i32]>,
    /// The first declared name of each of `numbers`.
    pub names: Box<[Box<str>]>,
    /// The number of the first declared value.
    pub first: i32,
    /// Numbers without a name are no values of it.
    pub closed: bool,
    /// Numbers by name, aliases included.
    pub(super) by_name: HashMap<Box<str>, i32>,
}

impl EnumPlan {
    /// The position of `number` in `numbers` and `names`.
    #[inline(always)]
    pub fn position(&self, number: i32) -> Option<usize> {
        // Most enums count up from their smallest value.
        let offset = i64::from(number).wrapping_sub(i64::from(*self.numbers.first()?));
        let guess = usize::try_from(offset).unwrap_or(usize::MAX);
        if self.numbers.get(guess) == Some(&number) {
            return Some(guess);
        }
        self.numbers.binary_search(&number).ok()
    }

    /// The first declared name of `number`.
    pub fn name(&self, number: i32) -> Option<&str> {
        self.names.get(self.position(number)?).map(|n| &**n)
    }

    /// The number called `name`.
    pub fn number(&self, name: &str) -> Option<i32> {
        self.by_name.get(name).copied()
    }

    /// All names with their numbers, in no order.
    pub fn values(&self) -> impl Iterator<Item = (&str, i32)> {
        self.by_name.iter().map(|(name, number)| (&**name, *number))
    }
}
