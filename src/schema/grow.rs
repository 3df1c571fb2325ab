//! Growing: a set with more files.

use std::collections::HashMap;
use std::sync::Arc;

use prost_types::{DescriptorProto, FileDescriptorProto};

use super::compile::compile;
use super::content::Content;
use super::declare::declare;
use super::editions::FileFeatures;
use super::imports::{self, Declared, FileId};
use super::link::Names;
use super::set::{File, Set};
use super::types::Types;
use crate::error::SchemaError;

/// A file on its way into a set, checked.
pub(super) struct NewFile {
    /// At least one; all are free.
    pub(super) names: Vec<Arc<str>>,
    pub(super) content: Content,
    pub(super) source_info: Option<Content>,
    pub(super) proto: FileDescriptorProto,
    pub(super) features: FileFeatures,
}

/// Why a set could not grow.
pub(super) struct Failure {
    /// The position of the new file that is at fault, if it is one's alone.
    pub(super) file: Option<usize>,
    pub(super) error: SchemaError,
}

/// A set with new files, and their other names.
pub(super) struct Grown {
    pub(super) set: Set,
    pub(super) aliases: HashMap<Arc<str>, FileId>,
}

/// Links and compiles `new` files, in whatever order they come, as additions to `base`, which is a whole set.
pub(super) fn grow(base: &Types, new: &[NewFile]) -> Result<Grown, Failure> {
    let other_names: Vec<Vec<&str>> = new.iter().map(|f| f.names.iter().skip(1).map(|n| &**n).collect()).collect();
    let declared: Vec<Declared> = new.iter().zip(&other_names).map(|(file, aliases)| file.declared(aliases)).collect();
    let whole = |error| Failure { file: None, error };
    let order = imports::order(&declared, |name| base.id(name).is_some()).map_err(whole)?;

    let mut set = Set::clone(&base.set);
    let mut aliases = base.aliases.clone();
    let mut extensions = Vec::new();
    for at in order {
        let (Some(file), Some(declared)) = (new.get(at), declared.get(at)) else { continue };
        let at_fault = |error| Failure { file: Some(at), error };
        let id = add(&mut set, &mut aliases, file, *declared).map_err(at_fault)?;
        let scope = file.features.scope();
        declare(&mut set, id, &file.proto, scope).map_err(at_fault)?;
        let compiled = compile(&Names::new(&set, id), &file.proto, scope).map_err(at_fault)?;
        set.messages.extend(compiled.messages);
        extensions.extend(compiled.extensions.into_iter().map(|extension| (at, extension)));
    }
    set.extend(&extensions).map_err(|(at, what)| {
        let file = new.get(at).and_then(|f| f.names.first()).map_or("", |n| n);
        Failure { file: Some(at), error: SchemaError(format!("{file}: {what}")) }
    })?;
    set.names.seal();
    Ok(Grown { set, aliases })
}

impl NewFile {
    fn declared<'a>(&'a self, aliases: &'a [&'a str]) -> Declared<'a> {
        Declared {
            file: self.proto.name(),
            aliases,
            imports: &self.proto.dependency,
            public: &self.proto.public_dependency,
        }
    }
}

/// Adds a file without its types, which its imports precede.
fn add(
    set: &mut Set,
    aliases: &mut HashMap<Arc<str>, FileId>,
    file: &NewFile,
    declared: Declared,
) -> Result<FileId, SchemaError> {
    let find = |name: &str| set.by_name.get(name).or_else(|| aliases.get(name)).copied();
    let exported = |id| set.file(id).map_or(&[][..], |f| &f.imports.exported);
    let mut visible = set.visible;
    let imports = imports::resolve(declared, find, exported, &mut visible)?;
    let dependencies = declared.imports.iter().filter_map(|name| Some((name.as_str().into(), find(name)?))).collect();
    let id =
        FileId::try_from(set.files.len()).map_err(|_| SchemaError(format!("{}: too many files", declared.file)))?;
    let mut names = file.names.iter().cloned();
    let Some(name) = names.next() else { return Err(SchemaError("a file without a name".into())) };
    let proto = &file.proto;
    set.files.push(Arc::new(File {
        name: name.clone(),
        package: proto.package().into(),
        content: file.content.clone(),
        source_info: file.source_info.clone(),
        dependencies,
        imports,
        outline: Default::default(),
        extends: !proto.extension.is_empty() || proto.message_type.iter().any(extends),
    }));
    set.by_name.insert(name, id);
    set.by_content.insert(file.content.clone(), id);
    aliases.extend(names.map(|name| (name, id)));
    set.visible = visible;
    Ok(id)
}

/// Whether extensions are declared in it.
pub(super) fn extends(message: &DescriptorProto) -> bool {
    !message.extension.is_empty() || message.nested_type.iter().any(extends)
}
