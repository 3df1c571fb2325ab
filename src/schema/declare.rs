//! Declaring: the names that a file adds to a set. Every name is defined once.

use std::collections::HashSet;
use std::sync::Arc;

use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto};

use super::compile::{enumeration, full_name, position};
use super::editions::Scope;
use super::imports::FileId;
use super::set::{Set, Symbol};
use crate::error::SchemaError;

type Result<T> = std::result::Result<T, SchemaError>;

/// What the full names that a file adds may come to, in bytes: long scopes multiply.
const MOST_NAMES: usize = 16 << 20;

/// Declares all that `proto`, the file `id` of `set` and `scope`, defines. Its enums are compiled; the plans of its
/// messages follow later, in the order in which they are declared here.
pub(super) fn declare(set: &mut Set, id: FileId, proto: &FileDescriptorProto, scope: Scope) -> Result<()> {
    let messages = set.messages.len();
    let mut d = Declarer { set, id, file: proto.name(), messages, stored: 0 };
    let package = proto.package();
    for (end, _) in package.match_indices('.').chain((!package.is_empty()).then_some((package.len(), ""))) {
        d.package(package.get(..end).unwrap_or_default())?;
    }
    d.enums(package, &proto.enum_type, scope)?;
    for enumeration in &proto.enum_type {
        for value in &enumeration.value {
            d.insert(full_name(package, value.name()), Symbol::Other)?;
        }
    }
    for (at, message) in proto.message_type.iter().enumerate() {
        d.message(package, message, scope.message(at))?;
    }
    for extension in &proto.extension {
        d.insert(full_name(package, extension.name()), Symbol::Other)?;
    }
    for service in &proto.service {
        let name = full_name(package, service.name());
        d.unique(&name, service.method.iter().map(|m| m.name()))?;
        d.insert(name, Symbol::Service)?;
    }
    Ok(())
}

struct Declarer<'a> {
    set: &'a mut Set,
    id: FileId,
    file: &'a str,
    /// The position of the next message.
    messages: usize,
    /// How long all names are that were added.
    stored: usize,
}

impl Declarer<'_> {
    fn message(&mut self, scope: &str, message: &DescriptorProto, own: Scope) -> Result<()> {
        let name = full_name(scope, message.name());
        let values = message.enum_type.iter().flat_map(|e| e.value.iter().map(|v| v.name()).chain([e.name()]));
        let members = message.field.iter().chain(&message.extension).map(|f| f.name());
        let members = members.chain(message.oneof_decl.iter().map(|o| o.name()));
        self.unique(&name, members.chain(values).chain(message.nested_type.iter().map(|m| m.name())))?;
        self.insert(name.clone(), Symbol::Message(position(self.messages)?))?;
        self.messages = self.messages.saturating_add(1);
        self.enums(&name, &message.enum_type, own)?;
        let mut nested = message.nested_type.iter().enumerate();
        nested.try_for_each(|(at, nested)| self.message(&name, nested, own.message(at)))
    }

    fn enums(&mut self, scope: &str, enums: &[EnumDescriptorProto], outer: Scope) -> Result<()> {
        for (at, proto) in enums.iter().enumerate() {
            let index = position(self.set.enums.len())?;
            let name = self.insert(full_name(scope, proto.name()), Symbol::Enum(index))?;
            self.set.enums.push(Arc::new(enumeration(proto, name, outer.enumeration(at).features.closed)));
        }
        Ok(())
    }

    /// Several files may be of one package.
    fn package(&mut self, name: &str) -> Result<()> {
        match self.set.names.get(name) {
            Some((_, (Symbol::Package, _))) => Ok(()),
            _ => self.insert(name.to_owned(), Symbol::Package).map(drop),
        }
    }

    fn insert(&mut self, name: String, symbol: Symbol) -> Result<Arc<str>> {
        self.stored = self.stored.saturating_add(name.len());
        if self.stored > MOST_NAMES {
            return Err(SchemaError(format!("{}: its names within their scopes are too long", self.file)));
        }
        let name: Arc<str> = name.into();
        let Some((_, other)) = self.set.names.insert(name.clone(), symbol, self.id) else { return Ok(name) };
        match self.set.file(other) {
            Some(file) if other != self.id => {
                Err(SchemaError(format!("{}: name '{name}' is already defined in file '{}'", self.file, file.name)))
            }
            _ => Err(self.twice(&name)),
        }
    }

    /// Fails if two of `names`, which stand within `scope`, are equal.
    fn unique<'n>(&self, scope: &str, mut names: impl Iterator<Item = &'n str>) -> Result<()> {
        let mut seen = HashSet::with_capacity(names.size_hint().0);
        match names.find(|name| !seen.insert(*name)) {
            Some(name) => Err(self.twice(&full_name(scope, name))),
            None => Ok(()),
        }
    }

    fn twice(&self, name: &str) -> SchemaError {
        SchemaError(format!("{}: name '{name}' is defined twice", self.file))
    }
}
