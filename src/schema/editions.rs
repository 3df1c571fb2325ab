//! Editions: which features each definition of a file has, and what these forbid.
//!
//! A definition has the features of what it stands in, but for those that its own options set. prost-types 0.14 does not
//! know them, so they are read from the bytes, into a tree of the definitions that set any.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{FieldDescriptorProto, FileDescriptorProto};

use super::compile::full_name;
use super::content::DEPTH;
use super::features::{Chosen, Features, Presence, Syntax};
use super::outline::Raw;
use super::plan::Op;
use crate::error::SchemaError;
use crate::wire::Reader;

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

    /// The numbers of the fields that have what stands within, in the order of the kinds.
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
    fn chosen(self) -> Chosen {
        self.node.and_then(|node| node.chosen).unwrap_or_default()
    }

    /// What is wrong with `field`, whose scope this is, by the rules of editions.
    pub(super) fn refuses(self, field: &FieldDescriptorProto) -> Option<&'static str> {
        let repeated = field.label() == Label::Repeated;
        let extension = field.extendee.is_some();
        let singular = !repeated && !extension && field.oneof_index.is_none();
        let required = self.features.presence == Presence::Required && !repeated;
        let implicit = self.features.presence == Presence::Implicit && singular;
        let group = field.r#type == Some(Type::Group as i32);
        let packed = field.options.as_ref().is_some_and(|o| o.packed.is_some());
        let chosen = self.chosen();
        self.first(&[
            (field.label() == Label::Required, "editions have features.field_presence = LEGACY_REQUIRED, not required"),
            (group, "editions have features.message_encoding = DELIMITED, not groups"),
            (packed, "editions have features.repeated_field_encoding, not the option packed"),
            (field.proto3_optional(), "editions have features.field_presence, not proto3_optional"),
            (required && extension, "an extension cannot be required"),
            (required && !singular, "a member of a oneof cannot be required"),
            (
                chosen.presence.is_some() && !singular,
                "features.field_presence is not for lists, members of oneofs and extensions",
            ),
            (implicit && field.default_value.is_some(), "a field with implicit presence has no declared default"),
            (chosen.packed.is_some() && !repeated, "features.repeated_field_encoding is for lists"),
        ])
    }

    /// The same, where its type is known: `op`, maybe a `closed` enum, with `implicit` presence or not, and part of a
    /// map's `entry` or not.
    pub(super) fn refuses_type(self, op: Op, closed: bool, implicit: bool, entry: bool) -> Option<&'static str> {
        let message = matches!(op, Op::Message | Op::Group);
        // What is set for a map, protoc copies to both parts of its entries.
        let utf8 = matches!(op, Op::String | Op::Map) || entry;
        let chosen = self.chosen();
        self.first(&[
            (implicit && closed, "a closed enum has no implicit presence"),
            (message && chosen.presence == Some(Presence::Implicit), "a message has no implicit presence"),
            (!op.packable() && chosen.packed == Some(true), "a list of its type cannot be packed"),
            (!message && chosen.delimited.is_some(), "features.message_encoding is for messages, and not for maps"),
            (!utf8 && chosen.utf8.is_some(), "features.utf8_validation is for strings"),
        ])
    }

    /// The first of `rules` that is broken, in an edition.
    fn first(self, rules: &[(bool, &'static str)]) -> Option<&'static str> {
        let (_, what) = rules.iter().find(|(broken, _)| *broken && self.syntax == Syntax::Edition2023)?;
        Some(what)
    }
}
