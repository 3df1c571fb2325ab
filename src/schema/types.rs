//! Types: what one instance sees of a set, and what it waits for.

use std::collections::HashMap;
use std::sync::Arc;

use super::base::base;
use super::content::Content;
use super::imports::FileId;
use super::plan::{EnumPlan, MessagePlan};
use super::set::{File, Set, Symbol, TypeRef};
use super::waiting::Waiting;

/// What an instance has registered. It never changes; registering makes another one.
#[derive(Debug, Clone, Default)]
pub struct Types {
    /// All types and more: equal sets are shared, and so are those that hold more files than an
    /// instance has.
    pub set: Arc<Set>,
    /// Which of the set's files are registered; `None` for all.
    pub(super) chosen: Option<Box<[bool]>>,
    /// Other names of registered files.
    pub(super) aliases: HashMap<Arc<str>, FileId>,
    /// The files whose imports are missing.
    pub(super) waiting: Vec<Arc<Waiting>>,
    /// Imports that are neither registered nor waiting themselves, sorted, each once.
    pub missing: Vec<Arc<str>>,
}

impl Types {
    /// The built-in types alone.
    pub fn built_in() -> &'static Arc<Types> {
        base()
    }

    /// Whether the file is registered.
    pub(super) fn has(&self, file: FileId) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.get(file as usize) == Some(&true))
    }

    /// The registered file of that name.
    pub(super) fn id(&self, name: &str) -> Option<FileId> {
        let own = self.set.by_name.get(name).copied().filter(|id| self.has(*id));
        own.or_else(|| self.aliases.get(name).copied())
    }

    /// The registered file with that content.
    pub(super) fn id_of_content(&self, content: &Content) -> Option<FileId> {
        self.set.by_content.get(content).copied().filter(|id| self.has(*id))
    }

    /// All registered files with their first names, the built-in ones too.
    pub(super) fn files(&self) -> impl Iterator<Item = (FileId, &Arc<File>)> {
        (0..).zip(&self.set.files).filter(|(id, _)| self.has(*id))
    }

    /// What the name stands for, with or without leading dot, and in which file.
    pub(super) fn symbol(&self, name: &str) -> Option<(Symbol, FileId)> {
        let found = self.set.names.get(name.strip_prefix('.').unwrap_or(name)).map(|(_, meaning)| meaning);
        found.filter(|(_, file)| self.has(*file))
    }

    /// The type called `name`, with or without leading dot.
    pub fn find(&self, name: &str) -> Option<TypeRef> {
        match self.symbol(name)?.0 {
            Symbol::Message(index) => Some(TypeRef::Message(index)),
            Symbol::Enum(index) => Some(TypeRef::Enum(index)),
            _ => None,
        }
    }

    /// The message called `name`, with or without leading dot.
    pub fn find_message(&self, name: &str) -> Option<&Arc<MessagePlan>> {
        match self.find(name)? {
            TypeRef::Message(index) => self.set.messages.get(index as usize),
            TypeRef::Enum(_) => None,
        }
    }

    /// The enum called `name`, with or without leading dot.
    pub fn find_enum(&self, name: &str) -> Option<&Arc<EnumPlan>> {
        match self.find(name)? {
            TypeRef::Enum(index) => self.set.enums.get(index as usize),
            TypeRef::Message(_) => None,
        }
    }

    /// All messages but map entries.
    pub fn messages(&self) -> impl Iterator<Item = &Arc<MessagePlan>> {
        let all = self.chosen.is_none();
        let seen = move |m: &MessagePlan| all || self.find_message(&m.name).is_some();
        self.set.messages.iter().filter(move |m| !m.map_entry && seen(m))
    }

    /// All enums.
    pub fn enums(&self) -> impl Iterator<Item = &Arc<EnumPlan>> {
        let all = self.chosen.is_none();
        self.set.enums.iter().filter(move |e| all || self.find_enum(&e.name).is_some())
    }

    /// The file that holds what is called `name`, with or without leading dot: a type or service, but no package.
    pub(super) fn file_of(&self, name: &str) -> Option<&Arc<File>> {
        match self.symbol(name)? {
            (Symbol::Package, _) => None,
            (_, file) => self.set.file(file),
        }
    }
}
