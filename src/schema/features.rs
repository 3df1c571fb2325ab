//! Features: what a definition of an edition may choose, and what proto2 and proto3 stand for.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{FieldDescriptorProto, FileDescriptorProto};

use super::content::DEPTH;
use super::hint::quoted;
use super::outline::Raw;
use crate::wire::Reader;

/// `FileDescriptorProto.edition`.
const EDITION: u32 = 14;
/// Values of `Edition`.
const PROTO2: i32 = 998;
const PROTO3: i32 = 999;
const EDITION_2023: i32 = 1000;

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Proto2,
    Proto3,
    Edition2023,
}

/// What it means that a singular scalar is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Explicit,
    Implicit,
    Required,
}

/// The features of a definition. That of JSON is left out: nothing here depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Features {
    pub(super) presence: Presence,
    /// Enums: numbers without a name are no values.
    pub(super) closed: bool,
    /// Lists of what can be packed are.
    pub(super) packed: bool,
    /// Strings must be UTF-8.
    pub(super) utf8: bool,
    /// Messages are coded as groups.
    pub(super) delimited: bool,
}

/// The features that options set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) presence: Option<Presence>,
    closed: Option<bool>,
    pub(super) packed: Option<bool>,
    pub(super) utf8: Option<bool>,
    pub(super) delimited: Option<bool>,
}

impl Syntax {
    /// That of `file`, of which `content` are the bytes.
    pub(super) fn of(file: &FileDescriptorProto, content: Raw) -> Result<Self, String> {
        // As prost has it: the low bits.
        let edition = content.varint(EDITION).map(|edition| edition as i32);
        match (file.syntax(), edition) {
            ("" | "proto2", None | Some(PROTO2)) => Ok(Syntax::Proto2),
            ("proto3", None | Some(PROTO3)) => Ok(Syntax::Proto3),
            ("editions", Some(EDITION_2023)) => Ok(Syntax::Edition2023),
            ("editions", None) => Err("has no edition".into()),
            ("editions", Some(edition)) => {
                Err(format!("edition {} is not supported (proto2, proto3 and edition 2023 are)", name_of(edition)))
            }
            ("" | "proto2" | "proto3", Some(edition)) => {
                Err(format!("edition {} without syntax \"editions\"", name_of(edition)))
            }
            (other, _) => Err(format!("unknown syntax {}", quoted(other))),
        }
    }

    pub(super) fn features(self) -> Features {
        let proto2 =
            Features { presence: Presence::Explicit, closed: true, packed: false, utf8: false, delimited: false };
        let proto3 = Features { presence: Presence::Implicit, closed: false, packed: true, utf8: true, ..proto2 };
        match self {
            Syntax::Proto2 => proto2,
            Syntax::Proto3 => proto3,
            Syntax::Edition2023 => Features { presence: Presence::Explicit, ..proto3 },
        }
    }
}

/// An edition as errors call it.
fn name_of(edition: i32) -> String {
    match edition {
        PROTO2 => "PROTO2".into(),
        PROTO3 => "PROTO3".into(),
        EDITION_2023 => "2023".into(),
        1001 => "2024".into(),
        1002 => "2026".into(),
        other => format!("number {other}"),
    }
}

impl Features {
    pub(super) fn with(self, chosen: Option<Chosen>) -> Features {
        let chosen = chosen.unwrap_or_default();
        Features {
            presence: chosen.presence.unwrap_or(self.presence),
            closed: chosen.closed.unwrap_or(self.closed),
            packed: chosen.packed.unwrap_or(self.packed),
            utf8: chosen.utf8.unwrap_or(self.utf8),
            delimited: chosen.delimited.unwrap_or(self.delimited),
        }
    }

    /// With what proto2 and proto3 say by other means.
    pub(super) fn with_legacy(mut self, field: &FieldDescriptorProto) -> Features {
        if field.proto3_optional() {
            self.presence = Presence::Explicit;
        }
        if field.label() == Label::Required {
            self.presence = Presence::Required;
        }
        self.delimited = field.r#type == Some(Type::Group as i32);
        self.packed = field.options.as_ref().and_then(|o| o.packed).unwrap_or(self.packed);
        self
    }
}

impl Chosen {
    /// Takes the value of the field `number` of `FeatureSet`.
    fn set(&mut self, number: u32, value: i32) -> Result<(), String> {
        match (number, value) {
            (1, 1) => self.presence = Some(Presence::Explicit),
            (1, 2) => self.presence = Some(Presence::Implicit),
            (1, 3) => self.presence = Some(Presence::Required),
            (2, 1 | 2) => self.closed = Some(value == 2),
            (3, 1 | 2) => self.packed = Some(value == 1),
            (4, 2 | 3) => self.utf8 = Some(value == 2),
            (5, 1 | 2) => self.delimited = Some(value == 2),
            (6, 1 | 2) => {}
            _ => {
                let name = match number {
                    1 => "field_presence",
                    2 => "enum_type",
                    3 => "repeated_field_encoding",
                    4 => "utf8_validation",
                    5 => "message_encoding",
                    6 => "json_format",
                    // Of later editions, or of a language.
                    _ => return Ok(()),
                };
                return Err(format!("features.{name} has no value {value}"));
            }
        }
        Ok(())
    }

    /// Takes what a serialized `FeatureSet` sets. `None` if it is malformed.
    pub(super) fn read(&mut self, features: &[u8]) -> Option<Result<(), String>> {
        let mut r = Reader::new(features);
        while !r.is_empty() {
            let tag = r.tag().ok()?;
            match (tag >> 3, tag & 7) {
                // As prost has it: the low bits.
                (number, 0) => match self.set(number, r.varint().ok()? as i32) {
                    Ok(()) => {}
                    wrong => return Some(wrong),
                },
                (1..=6, _) => return None,
                _ => r.skip(tag, DEPTH).ok()?,
            }
        }
        Some(Ok(()))
    }
}
