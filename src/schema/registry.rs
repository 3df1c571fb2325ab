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
const BUILT_IN: [&str; 11] = [
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
    by_name: HashMap<Box<str>, FileId>,
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
    /// What was registered, whole; empty for a built-in one.
    bytes: Box<[u8]>,
    imports: Imports,
}

/// What a registry will have more than before.
struct Growth {
    files: Vec<File>,
    by_name: HashMap<Box<str>, FileId>,
    /// The registry's new sum.
    visible: usize,
}

/// A file on its way in.
struct NewFile<'a> {
    raw: RawFile<'a>,
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
        let none = || Imports { visible: Box::from([]), exported: Box::from([]) };
        let files = BUILT_IN.map(|name| File { name: name.into(), bytes: Box::from([]), imports: none() });
        Registry {
            by_name: files.iter().map(|f| f.name.clone()).zip(0..).collect(),
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
    /// # Errors
    /// Bytes that are neither, files that import what is not registered, that do not link,
    /// or whose name is registered with other content. Then nothing has changed. That also
    /// holds after a panic.
    pub fn register(&mut self, bytes: &[u8]) -> Result<bool, SchemaError> {
        let raw = self.unknown(input::files(bytes)?)?;
        if raw.is_empty() {
            return Ok(false);
        }
        let files = raw.into_iter().map(NewFile::read).collect::<Result<Vec<_>, _>>()?;
        let declared: Vec<_> = files.iter().map(|f| declared(&f.proto)).collect();
        let order = imports::order(&declared, |name| self.by_name.contains_key(name))?;
        let files: Vec<&NewFile> = order.into_iter().filter_map(|at| files.get(at)).collect();

        let new = self.resolve(&files)?;
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
        self.visible = new.visible;
        self.pool = Some(pool);
        Ok(true)
    }

    /// Those of `files` that are not registered, each once.
    fn unknown<'a>(&self, files: Vec<RawFile<'a>>) -> Result<Vec<RawFile<'a>>, SchemaError> {
        let mut new: Vec<RawFile> = Vec::new();
        let mut seen: HashMap<&str, &[u8]> = HashMap::new();
        for file in files {
            let registered = match self.by_name.get(file.name) {
                Some(id) if (*id as usize) < BUILT_IN.len() => continue,
                Some(id) => self.files.get(*id as usize).map(|f| &*f.bytes),
                None => seen.insert(file.name, file.bytes),
            };
            match registered {
                None => new.push(file),
                Some(bytes) if bytes == file.bytes => {}
                Some(_) => {
                    let e = format!("{}: already registered with other content", file.name);
                    return Err(SchemaError(e));
                }
            }
        }
        Ok(new)
    }

    /// The entries for `files`, which are in linking order.
    fn resolve(&self, files: &[&NewFile]) -> Result<Growth, SchemaError> {
        let mut new: Vec<File> = Vec::with_capacity(files.len());
        let mut by_name: HashMap<Box<str>, FileId> = HashMap::with_capacity(files.len());
        let mut visible = self.visible;
        for file in files {
            let id = |name: &str| self.by_name.get(name).or_else(|| by_name.get(name)).copied();
            let exported = |id| self.file(&new, id).map_or(&[][..], |f| &f.imports.exported);
            let imports = imports::resolve(declared(&file.proto), id, exported, &mut visible)?;
            let id = FileId::try_from(self.files.len().saturating_add(new.len()))
                .map_err(|_| SchemaError(format!("{}: too many files", file.raw.name)))?;
            by_name.insert(file.raw.name.into(), id);
            new.push(File { name: file.raw.name.into(), bytes: file.raw.bytes.into(), imports });
        }
        Ok(Growth { files: new, by_name, visible })
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
            let proto = decode(RawFile { name: &file.name, bytes: &file.bytes })?;
            link(&mut pool, &proto, self.visible_names(&[], &file.imports))?;
        }
        Ok(pool)
    }
}

impl<'a> NewFile<'a> {
    fn read(raw: RawFile<'a>) -> Result<Self, SchemaError> {
        let proto = decode(raw)?;
        check::check(&proto)?;
        Ok(NewFile { raw, proto })
    }
}

fn declared(proto: &FileDescriptorProto) -> Declared<'_> {
    Declared { file: proto.name(), imports: &proto.dependency, public: &proto.public_dependency }
}

fn decode(file: RawFile) -> Result<FileDescriptorProto, SchemaError> {
    let decoded = match input::without_source_info(file.bytes) {
        Some(bytes) => FileDescriptorProto::decode(&*bytes),
        None => FileDescriptorProto::decode(file.bytes),
    };
    decoded.map_err(|e| SchemaError(format!("{}: {e}", file.name)))
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
