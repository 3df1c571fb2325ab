//! Sets: files and the types in them, linked and compiled. A set never changes; registering
//! makes another one, and Lua states with equal files share one.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::content::Content;
use super::imports::{FileId, Imports};
use super::names::SymbolTable;
use super::outline::Outline;
use super::plan::{EnumPlan, MessagePlan};

/// A registered file, as it was given.
#[derive(Debug, Clone)]
pub(super) struct File {
    /// The first of its names.
    pub(super) name: Arc<str>,
    /// The package of its types; empty for none.
    pub(super) package: Box<str>,
    /// A serialized `FileDescriptorProto`, whole but for the name and source info.
    pub(super) content: Content,
    /// A serialized `SourceCodeInfo`, if one came along. It is no part of what makes files equal.
    pub(super) source_info: Option<Content>,
    /// The names that it imports, and what files they meant.
    pub(super) dependencies: Box<[(Box<str>, FileId)]>,
    pub(super) imports: Imports,
    /// Whether it extends messages.
    pub(super) extends: bool,
    /// Where things are in it, once somebody has asked.
    pub(super) outline: OnceLock<Outline>,
}

/// What a full name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// The position in [`Set::messages`].
    Message(u32),
    /// The position in [`Set::enums`].
    Enum(u32),
    Service,
    Package,
    /// A value of an enum, or an extension, beside the types of a file.
    Other,
}

/// A type's position in its [`Set`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRef {
    /// In [`Set::messages`].
    Message(u32),
    /// In [`Set::enums`].
    Enum(u32),
}

/// Files, and the types in them. Those of a set that grew from this one have the same positions there.
#[derive(Debug, Default, Clone)]
pub struct Set {
    /// The messages, map entries among them.
    pub messages: Vec<Arc<MessagePlan>>,
    /// The enums.
    pub enums: Vec<Arc<EnumPlan>>,
    /// In an order in which they link, the built-in ones first.
    pub(super) files: Vec<Arc<File>>,
    /// All files by their first names.
    pub(super) by_name: HashMap<Arc<str>, FileId>,
    /// All but the built-in ones.
    pub(super) by_content: HashMap<Content, FileId>,
    /// What full names stand for, without leading dot, and in which file: those of types, and all that stand beside
    /// types. A package is in its first file.
    pub(super) names: SymbolTable,
    /// The sum of all files' visible ones.
    pub(super) visible: usize,
}

impl Set {
    /// The message at `index`, a field's `sub`.
    #[inline(always)]
    pub fn message(&self, index: u32) -> Option<&MessagePlan> {
        self.messages.get(index as usize).map(|m| &**m)
    }

    /// The enum at `index`, a field's `sub`.
    #[inline(always)]
    pub fn enumeration(&self, index: u32) -> Option<&EnumPlan> {
        self.enums.get(index as usize).map(|e| &**e)
    }

    pub(super) fn file(&self, id: FileId) -> Option<&Arc<File>> {
        self.files.get(id as usize)
    }
}
