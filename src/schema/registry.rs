//! The registry: what one instance has registered.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use prost::Message;
use prost_reflect::DescriptorPool;
use prost_types::FileDescriptorProto;

use super::check;
use super::compile::compile;
use super::imports::{self, Declared, FileId, Imports};
use super::input::{self, RawFile};
use super::link::link;
use super::plan::Set;
use crate::error::SchemaError;

/// Files that are there from the start, whatever versions of them a program brings along.
pub(super) const BUILT_IN: [&str; 11] = [
    "google/protobuf/any.proto",
    "google/protobuf/source_context.proto",
    "google/protobuf/type.proto",
    "google/protobuf/api.proto",
    "google/protobuf/descriptor.proto",
    "google/protobuf/duration.proto",
    "google/protobuf/empty.proto",
    "google/protobuf/field_mask.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/timestamp.proto",
    "google/protobuf/wrappers.proto",
];

/// The files that an instance has registered, and the types in them.
#[derive(Debug)]
pub struct Registry {
    /// In an order in which they link, the built-in ones first.
    files: Vec<File>,
    /// Also by the names of files that came with equal content.
    by_name: HashMap<Box<str>, FileId>,
    /// All but the built-in ones.
    by_content: HashMap<Arc<[u8]>, FileId>,
    /// The sum of all files' visible ones.
    visible: usize,
    /// All `files` linked. It is moved on, never cloned: a pool of which any other handle
    /// lives is copied when a file is added. `None` where it has to be made from `files`
    /// again: after an error, or a panic in prost-reflect.
    pool: Option<DescriptorPool>,
    set: Arc<Set>,
}

#[derive(Debug)]
struct File {
    name: Box<str>,
    /// What was registered, whole but for the name and source info; empty for a built-in one.
    content: Arc<[u8]>,
    imports: Imports,
}

/// What a registry will have more than before.
struct Growth {
    files: Vec<File>,
    by_name: HashMap<Box<str>, FileId>,
    by_content: HashMap<Arc<[u8]>, FileId>,
    /// The registry's new sum.
    visible: usize,
}

/// Names and files that are not registered.
#[derive(Default)]
struct Unknown<'a> {
    files: Vec<Named<'a>>,
    /// Other names of registered files.
    aliases: HashMap<&'a str, FileId>,
}

/// A file with all its names.
struct Named<'a> {
    raw: &'a RawFile<'a>,
    aliases: Vec<&'a str>,
}

/// A file on its way in.
struct NewFile<'a> {
    named: Named<'a>,
    proto: FileDescriptorProto,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A registry that knows the built-in types only.
    pub fn new() -> Self {
        let base = Base::get();
        let files =
            BUILT_IN.map(|name| File { name: name.into(), content: Arc::from([]), imports: Imports::default() });
        Registry {
            by_name: files.iter().map(|f| f.name.clone()).zip(0..).collect(),
            by_content: HashMap::new(),
            files: files.into(),
            visible: 0,
            pool: None,
            set: base.set.clone(),
        }
    }

    /// All types that are registered.
    pub fn set(&self) -> &Arc<Set> {
        &self.set
    }

    /// Forgets all that was registered.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Registers a serialized `FileDescriptorSet` or `FileDescriptorProto`. Tells whether
    /// anything was new. It costs little if nothing was.
    ///
    /// Comments are no part of a file. One that equals another but for its name is not new: its name becomes another
    /// name of that one.
    ///
    /// # Errors
    /// Bytes that are neither, files that import what is not registered, that do not link,
    /// or whose name is registered with other content. Then nothing has changed. That also
    /// holds after a panic.
    pub fn register(&mut self, bytes: &[u8]) -> Result<bool, SchemaError> {
        let raw = input::files(bytes)?;
        let Unknown { files, aliases } = self.unknown(&raw)?;
        if files.is_empty() {
            self.by_name.extend(aliases.into_iter().map(|(name, id)| (name.into(), id)));
            return Ok(false);
        }
        let files = files.into_iter().map(NewFile::read).collect::<Result<Vec<_>, _>>()?;
        let declared: Vec<_> = files.iter().map(NewFile::declared).collect();
        let order = imports::order(&declared, |name| self.by_name.contains_key(name) || aliases.contains_key(name))?;
        let files: Vec<&NewFile> = order.into_iter().filter_map(|at| files.get(at)).collect();

        let new = self.resolve(&files, &aliases)?;
        // The pool is only put back when it is known to be good.
        let mut pool = self.take_pool()?;
        for (file, linked) in files.iter().zip(&new.files) {
            link(&mut pool, &file.proto, self.visible_names(&new.files, &linked.imports))?;
        }
        let protos: Vec<_> = files.iter().map(|f| &f.proto).collect();
        let addition = compile(&pool, &self.set, &protos)?;

        Arc::make_mut(&mut self.set).add(addition);
        self.files.extend(new.files);
        self.by_name.extend(new.by_name);
        self.by_content.extend(new.by_content);
        self.visible = new.visible;
        self.pool = Some(pool);
        Ok(true)
    }

    /// Which file has this name; built-in ones are those below [`BUILT_IN`]'s length.
    #[cfg(feature = "proto")]
    pub(super) fn id(&self, name: &str) -> Option<FileId> {
        self.by_name.get(name).copied()
    }

    /// A registered file under `name`, one of its names.
    #[cfg(feature = "proto")]
    pub(super) fn descriptor(&self, id: FileId, name: &str) -> Result<FileDescriptorProto, SchemaError> {
        decode(name, self.file(&[], id).map_or(&[], |f| &f.content))
    }

    /// What of `files` is not registered, each content once.
    fn unknown<'a>(&self, files: &'a [RawFile<'a>]) -> Result<Unknown<'a>, SchemaError> {
        let mut new = Unknown::default();
        // Positions in the new files.
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        let mut by_content: HashMap<&[u8], usize> = HashMap::new();
        for file in files {
            let content = &*file.content;
            let registered = match self.by_name.get(file.name).or_else(|| new.aliases.get(file.name)) {
                Some(id) if (*id as usize) < BUILT_IN.len() => continue,
                Some(id) => self.files.get(*id as usize).map(|f| &*f.content),
                None => by_name.get(file.name).and_then(|at| new.files.get(*at)).map(|f| &*f.raw.content),
            };
            match registered {
                Some(registered) if registered == content => continue,
                Some(_) => {
                    let e = format!("{}: already registered with other content", file.name);
                    return Err(SchemaError(e));
                }
                None => {}
            }
            if let Some(id) = self.by_content.get(content) {
                new.aliases.insert(file.name, *id);
                continue;
            }
            let at = *by_content.entry(content).or_insert(new.files.len());
            by_name.insert(file.name, at);
            match new.files.get_mut(at) {
                Some(equal) => equal.aliases.push(file.name),
                None => new.files.push(Named { raw: file, aliases: Vec::new() }),
            }
        }
        Ok(new)
    }

    /// The entries for `files`, which are in linking order, and for the other names of registered ones.
    fn resolve(&self, files: &[&NewFile], aliases: &HashMap<&str, FileId>) -> Result<Growth, SchemaError> {
        let mut new: Vec<File> = Vec::with_capacity(files.len());
        let mut by_name: HashMap<Box<str>, FileId> = aliases.iter().map(|(name, id)| ((*name).into(), *id)).collect();
        let mut by_content = HashMap::with_capacity(files.len());
        let mut visible = self.visible;
        for file in files {
            let Named { raw, aliases } = &file.named;
            let id = |name: &str| self.by_name.get(name).or_else(|| by_name.get(name)).copied();
            let exported = |id| self.file(&new, id).map_or(&[][..], |f| &f.imports.exported);
            let imports = imports::resolve(file.declared(), id, exported, &mut visible)?;
            let id = FileId::try_from(self.files.len().saturating_add(new.len()))
                .map_err(|_| SchemaError(format!("{}: too many files", raw.name)))?;
            by_name.extend(std::iter::once(&raw.name).chain(aliases).map(|name| ((*name).into(), id)));
            let content: Arc<[u8]> = Arc::from(&*raw.content);
            by_content.insert(content.clone(), id);
            new.push(File { name: raw.name.into(), content, imports });
        }
        Ok(Growth { files: new, by_name, by_content, visible })
    }

    /// The file `id`, `new` being the ones after those registered.
    fn file<'a>(&'a self, new: &'a [File], id: FileId) -> Option<&'a File> {
        let id = id as usize;
        match id.checked_sub(self.files.len()) {
            Some(at) => new.get(at),
            None => self.files.get(id),
        }
    }

    fn visible_names(&self, new: &[File], imports: &Imports) -> Vec<String> {
        imports.visible.iter().filter_map(|id| self.file(new, *id)).map(|f| f.name.to_string()).collect()
    }

    /// The pool with all `files`, out of its place.
    fn take_pool(&mut self) -> Result<DescriptorPool, SchemaError> {
        if let Some(pool) = self.pool.take() {
            return Ok(pool);
        }
        let mut pool = Base::get().pool.clone();
        for file in self.files.iter().skip(BUILT_IN.len()) {
            let proto = decode(&file.name, &file.content)?;
            link(&mut pool, &proto, self.visible_names(&[], &file.imports))?;
        }
        Ok(pool)
    }
}

impl<'a> NewFile<'a> {
    fn read(named: Named<'a>) -> Result<Self, SchemaError> {
        let proto = decode(named.raw.name, &named.raw.content)?;
        check::check(&proto)?;
        Ok(NewFile { named, proto })
    }

    fn declared(&self) -> Declared<'_> {
        Declared {
            file: self.named.raw.name,
            aliases: &self.named.aliases,
            imports: &self.proto.dependency,
            public: &self.proto.public_dependency,
        }
    }
}

/// A pool with the built-in files alone.
#[cfg(feature = "proto")]
pub(super) fn built_in_pool() -> DescriptorPool {
    Base::get().pool.clone()
}

fn decode(name: &str, content: &[u8]) -> Result<FileDescriptorProto, SchemaError> {
    match FileDescriptorProto::decode(content) {
        Ok(proto) => Ok(FileDescriptorProto { name: Some(name.into()), ..proto }),
        Err(e) => Err(SchemaError(format!("{name}: {e}"))),
    }
}

/// The built-in files, linked and compiled once in the process.
struct Base {
    pool: DescriptorPool,
    set: Arc<Set>,
}

impl Base {
    fn get() -> &'static Base {
        static BASE: OnceLock<Base> = OnceLock::new();
        // The files are constants of prost-reflect's, so that a test shows that they link.
        BASE.get_or_init(|| Base::make().unwrap_or_else(|_| Base { pool: DescriptorPool::new(), set: Arc::default() }))
    }

    fn make() -> Result<Base, SchemaError> {
        // A Rust host may have added files of its own to the global pool.
        let global = DescriptorPool::global();
        let files: Vec<FileDescriptorProto> = BUILT_IN
            .iter()
            .filter_map(|name| Some(global.get_file_by_name(name)?.file_descriptor_proto().clone()))
            .collect();
        let mut pool = DescriptorPool::new();
        for file in &files {
            link(&mut pool, file, file.dependency.clone())?;
        }
        let mut set = Set::default();
        set.add(compile(&pool, &set, &files.iter().collect::<Vec<_>>())?);
        Ok(Base { pool, set: Arc::new(set) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_built_in_files_link() {
        let base = Base::make().unwrap();
        assert_eq!(base.pool.files().len(), BUILT_IN.len());
        for name in [
            "Any",
            "Api",
            "FileDescriptorSet",
            "Duration",
            "Empty",
            "FieldMask",
            "SourceContext",
            "Struct",
            "Timestamp",
            "Type",
            "Int64Value",
        ] {
            assert!(base.set.find_message(&format!("google.protobuf.{name}")).is_some(), "{name}");
        }
    }

    #[test]
    fn descriptors_register() {
        for bytes in [
            &include_bytes!("../../descriptors/every2.pb")[..],
            include_bytes!("../../descriptors/every3.pb"),
            include_bytes!("../../descriptors/addressbook.pb"),
            include_bytes!("../../descriptors/world.pb"),
        ] {
            let mut registry = Registry::new();
            assert_eq!(registry.register(bytes), Ok(true));
            assert_eq!(registry.register(bytes), Ok(false));
        }
    }
}
