//! Features: what a file of an edition chooses for itself, and what proto2 and proto3 stand for.
//!
//! A definition has the features of what it stands in, but for those that its own options set. prost-types 0.14 does not
//! know them, so they are read from the bytes, into a tree of the definitions that set any.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{FieldDescriptorProto, FileDescriptorProto};

use super::compile::full_name;
use super::hint::quoted;
use super::outline::Raw;
use crate::error::SchemaError;
use crate::wire::Reader;

/// How deep unknown groups may nest in options.
const DEPTH: u32 = 100;
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

/// The features of a file.
#[derive(Debug)]
pub(super) struct FileFeatures {
    syntax: Syntax,
    root: Node,
}

/// A definition that has features set, or others within that have.
#[derive(Debug, Default)]
struct Node {
    chosen: Option<Chosen>,
    /// By kind and position in the list of that kind, ascending.
    inner: Vec<((Kind, usize), Node)>,
}

/// What can have options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    File,
    Message,
    Field,
    Extension,
    Oneof,
    Range,
    Enum,
    Value,
    Service,
    Method,
}

/// What is wrong, with the name of what.
type Wrong = (String, String);

/// A definition with its features.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) syntax: Syntax,
    pub(super) features: Features,
    node: Option<&'a Node>,
}

impl Syntax {
    /// That of `file`, of which `content` are the bytes.
    fn of(file: &FileDescriptorProto, content: Raw) -> Result<Self, String> {
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

    fn features(self) -> Features {
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

impl FileFeatures {
    /// Those of `file`, of which `content` are the bytes, well-formed but for what prost-types does not know.
    pub(super) fn read(file: &FileDescriptorProto, content: &[u8]) -> Result<Self, SchemaError> {
        let fail = |what: &str| SchemaError(format!("{}: {what}", file.name()));
        let content = Raw(content);
        let syntax = Syntax::of(file, content).map_err(|what| fail(&what))?;
        let root = Node::read(content, Kind::File, syntax).map_err(|(name, what)| match &*name {
            "" => fail(&what),
            name => fail(&format!("{}: {what}", full_name(file.package(), name))),
        })?;
        if root.chosen.is_some_and(|c| c.presence == Some(Presence::Required)) {
            return Err(fail("features.field_presence = LEGACY_REQUIRED is for fields, not for a file"));
        }
        Ok(FileFeatures { syntax, root })
    }

    /// The file as the scope of what is defined in it.
    pub(super) fn scope(&self) -> Scope<'_> {
        let features = self.syntax.features().with(self.root.chosen);
        Scope { syntax: self.syntax, features, node: Some(&self.root) }
    }
}

impl Features {
    fn with(self, chosen: Option<Chosen>) -> Features {
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
    fn with_legacy(mut self, field: &FieldDescriptorProto) -> Features {
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
    fn read(&mut self, features: &[u8]) -> Option<Result<(), String>> {
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

impl Kind {
    /// The numbers of the fields that have its options, and in these its features.
    fn options(self) -> (u32, u32) {
        match self {
            Kind::File => (8, 50),
            Kind::Message => (7, 12),
            Kind::Field | Kind::Extension => (8, 21),
            Kind::Oneof => (2, 1),
            Kind::Range => (3, 50),
            Kind::Enum => (3, 7),
            Kind::Value => (3, 2),
            Kind::Service => (3, 34),
            Kind::Method => (4, 35),
        }
    }

    /// The numbers of the fields that have what stands within.
    fn within(self) -> &'static [(u32, Kind)] {
        match self {
            Kind::File => &[(4, Kind::Message), (7, Kind::Extension), (5, Kind::Enum), (6, Kind::Service)],
            Kind::Message => &[
                (3, Kind::Message),
                (2, Kind::Field),
                (6, Kind::Extension),
                (8, Kind::Oneof),
                (5, Kind::Range),
                (4, Kind::Enum),
            ],
            Kind::Enum => &[(2, Kind::Value)],
            Kind::Service => &[(2, Kind::Method)],
            _ => &[],
        }
    }
}

impl Node {
    /// What is set in `raw` and within. Messages nest no deeper than prost takes them.
    fn read(raw: Raw, kind: Kind, syntax: Syntax) -> Result<Self, Wrong> {
        let mut node = Node { chosen: chosen(raw, kind, syntax).map_err(|what| (String::new(), what))?, inner: vec![] };
        for (number, kind) in kind.within() {
            for (at, (_, raw)) in raw.list(*number).enumerate() {
                let inner = Node::read(raw, *kind, syntax).map_err(|(name, what)| match *kind {
                    // It has no name.
                    Kind::Range => (name, what),
                    _ if name.is_empty() => (raw.name().to_owned(), what),
                    _ => (full_name(raw.name(), &name), what),
                })?;
                if inner.chosen.is_some() || !inner.inner.is_empty() {
                    node.inner.push(((*kind, at), inner));
                }
            }
        }
        node.inner.sort_unstable_by_key(|(place, _)| *place);
        Ok(node)
    }

    fn inner(&self, kind: Kind, at: usize) -> Option<&Node> {
        let found = self.inner.binary_search_by_key(&(kind, at), |(place, _)| *place).ok()?;
        self.inner.get(found).map(|(_, node)| node)
    }
}

/// The features that the options of `raw` set.
fn chosen(raw: Raw, kind: Kind, syntax: Syntax) -> Result<Option<Chosen>, String> {
    let (options, features) = kind.options();
    let mut chosen = None;
    // Options may come in parts, and so may their features.
    for (_, options) in raw.list(options) {
        let mut r = Reader::new(options.0);
        while !r.is_empty() {
            let mut next = || {
                let tag = r.tag().ok()?;
                if tag >> 3 != features {
                    r.skip(tag, DEPTH).ok()?;
                    return Some(Ok(()));
                }
                let bytes = if tag & 7 == 2 { r.bytes().ok()? } else { return None };
                chosen.get_or_insert_with(Chosen::default).read(bytes)
            };
            next().unwrap_or_else(|| Err("its features are malformed".into()))?;
        }
    }
    match (syntax, chosen) {
        (Syntax::Proto2 | Syntax::Proto3, Some(_)) => {
            Err("features are for editions, not for proto2 and proto3".into())
        }
        _ => Ok(chosen),
    }
}

impl<'a> Scope<'a> {
    fn enter(self, kind: Kind, at: usize) -> Scope<'a> {
        let node = self.node.and_then(|node| node.inner(kind, at));
        Scope { features: self.features.with(node.and_then(|node| node.chosen)), node, ..self }
    }

    /// The message at position `at`.
    pub(super) fn message(self, at: usize) -> Scope<'a> {
        self.enter(Kind::Message, at)
    }

    /// The enum at position `at`.
    pub(super) fn enumeration(self, at: usize) -> Scope<'a> {
        self.enter(Kind::Enum, at)
    }

    /// The field of this message at position `at`.
    pub(super) fn field(self, at: usize, field: &FieldDescriptorProto) -> Scope<'a> {
        let oneof = field.oneof_index.and_then(|index| usize::try_from(index).ok());
        let outer = oneof.map_or(self.features, |oneof| self.enter(Kind::Oneof, oneof).features);
        Scope { features: outer, ..self }.enter(Kind::Field, at).with_legacy(field)
    }

    /// The extension at position `at`.
    pub(super) fn extension(self, at: usize, field: &FieldDescriptorProto) -> Scope<'a> {
        self.enter(Kind::Extension, at).with_legacy(field)
    }

    fn with_legacy(self, field: &FieldDescriptorProto) -> Scope<'a> {
        match self.syntax {
            Syntax::Proto2 | Syntax::Proto3 => Scope { features: self.features.with_legacy(field), ..self },
            Syntax::Edition2023 => self,
        }
    }

    /// What its own options set.
    pub(super) fn chosen(self) -> Chosen {
        self.node.and_then(|node| node.chosen).unwrap_or_default()
    }

    /// What is wrong with `field`, whose scope this is and which is part of a map's `entry` or not, by the rules of
    /// editions.
    pub(super) fn refuses(self, field: &FieldDescriptorProto, entry: bool) -> Option<&'static str> {
        if self.syntax != Syntax::Edition2023 {
            return None;
        }
        let chosen = self.chosen();
        // A named type without a kind may be either.
        let r#type = field.r#type.and_then(|t| Type::try_from(t).ok());
        let message = matches!(r#type, Some(Type::Message) | None);
        let unpackable = matches!(r#type, Some(Type::Message | Type::String | Type::Bytes));
        let repeated = field.label() == Label::Repeated;
        let singular = !repeated && field.oneof_index.is_none() && field.extendee.is_none();
        let required = self.features.presence == Presence::Required && !repeated;
        let implicit = self.features.presence == Presence::Implicit && singular;
        // To both parts of its entries, protoc copies what is set for a map.
        let utf8 = r#type == Some(Type::String) || repeated && message || entry;
        let packed = field.options.as_ref().is_some_and(|o| o.packed.is_some());
        let rules = [
            (field.label() == Label::Required, "editions have features.field_presence = LEGACY_REQUIRED, not required"),
            (r#type == Some(Type::Group), "editions have features.message_encoding = DELIMITED, not groups"),
            (packed, "editions have features.repeated_field_encoding, not the option packed"),
            (field.proto3_optional(), "proto3_optional is for proto3"),
            (required && field.extendee.is_some(), "an extension cannot be required"),
            (required && !singular, "a member of a oneof cannot be required"),
            (
                chosen.presence.is_some() && !singular,
                "features.field_presence is not for lists, members of oneofs and extensions",
            ),
            (
                chosen.presence == Some(Presence::Implicit) && r#type == Some(Type::Message),
                "a message has no implicit presence",
            ),
            (implicit && field.default_value.is_some(), "a field with implicit presence has no declared default"),
            (chosen.packed.is_some() && !repeated, "features.repeated_field_encoding is for lists"),
            (chosen.packed == Some(true) && unpackable, "a list of its type cannot be packed"),
            (chosen.utf8.is_some() && !utf8, "features.utf8_validation is for strings"),
            (chosen.delimited.is_some() && !message, "features.message_encoding is for messages"),
        ];
        rules.into_iter().find(|(broken, _)| *broken).map(|(_, what)| what)
    }
}
