//! Relinking: the types of an instance with other files. What was there is added to, or, where a
//! file is replaced, linked anew as a whole: all or nothing.

use std::collections::HashMap;
use std::sync::Arc;

use prost::Message;
use prost_types::FileDescriptorProto;

use super::base::{BUILT_IN, base};
use super::check;
use super::content::Content;
use super::editions::FileFeatures;
use super::grow::{Failure, Grown, NewFile, grow};
use super::hint::quoted;
use super::input::{self, RawFile};
use super::shared::{self, Wanted};
use super::types::Types;
use super::waiting::Candidate;
use crate::error::SchemaError;

/// Why files did not link.
pub(super) struct Fault {
    /// The position of the given file that is at fault, if it is one's alone.
    pub(super) file: Option<usize>,
    pub(super) error: SchemaError,
}

/// `types` with `files`, whose imports are all there, and the names of the files that they replace.
pub(super) fn relink(types: &Types, files: &[&Candidate]) -> Result<(Types, Vec<Arc<str>>), Fault> {
    let mut wanted = types.wanted();
    let given: HashMap<&str, usize> = files.iter().map(|f| &*f.name).zip(0..).collect();
    wanted.retain(|w| !given.contains_key(&*w.name));
    wanted.extend(files.iter().map(|f| f.wanted()));
    let replaced: Vec<Arc<str>> =
        files.iter().map(|f| &f.name).filter(|name| types.id(name).is_some()).cloned().collect();

    let found = match shared::find(&wanted) {
        Some(found) => found,
        None => link(types, &wanted, &given, replaced.is_empty())?,
    };
    for name in &replaced {
        let new = found.id(name).and_then(|id| found.set.file(id)).map_or("", |f| &f.package);
        same_package(types, name, new).map_err(|error| Fault { file: given.get(&**name).copied(), error })?;
    }
    Ok((found, replaced))
}

/// Fails if a registered file has that name, but is of another package.
fn same_package(types: &Types, name: &str, package: &str) -> Result<(), SchemaError> {
    match types.id(name).and_then(|id| types.set.file(id)) {
        Some(file) if *file.package != *package => {
            let [old, new] = [&*file.package, package].map(quoted);
            Err(SchemaError(format!("{name}: already registered with package {old}, not {new}")))
        }
        _ => Ok(()),
    }
}

/// Links the files that `types` lacks, or all of `wanted` if it is not to be kept as it is.
fn link(types: &Types, wanted: &[Wanted], given: &HashMap<&str, usize>, keep: bool) -> Result<Types, Fault> {
    let mut start = match keep && types.chosen.is_none() {
        true => Types { waiting: Vec::new(), ..types.clone() },
        false => Types::clone(base()),
    };
    let mut by_content: HashMap<&Content, usize> = HashMap::new();
    let mut new: Vec<(&Wanted, Vec<Arc<str>>)> = Vec::new();
    for file in wanted {
        if start.id(&file.name).is_some() {
            continue;
        }
        if let Some(id) = start.id_of_content(&file.content) {
            start.aliases.insert(file.name.clone(), id);
            continue;
        }
        let at = *by_content.entry(&file.content).or_insert(new.len());
        match new.get_mut(at) {
            Some((_, names)) => names.push(file.name.clone()),
            None => new.push((file, vec![file.name.clone()])),
        }
    }
    if new.is_empty() {
        return Ok(start);
    }
    // Of several names the one that is given is at fault.
    let culprit = |names: &[Arc<str>]| names.iter().find_map(|name| given.get(&**name).copied());
    let mut files = Vec::with_capacity(new.len());
    for (file, names) in new {
        let at_fault = |error| Fault { file: culprit(&names), error };
        let (proto, features) = file_proto(&file.name, &file.content).map_err(at_fault)?;
        names.iter().try_for_each(|name| same_package(types, name, proto.package())).map_err(at_fault)?;
        let (content, source_info) = (file.content.clone(), file.source_info.clone());
        files.push(NewFile { names, content, source_info, proto, features });
    }
    match grow(&start, &files) {
        Ok(Grown { set, aliases }) => {
            let types = Types { set: Arc::new(set), aliases, ..Types::default() };
            Ok(shared::publish(types, wanted))
        }
        Err(Failure { file, error }) => {
            let names = file.and_then(|at| files.get(at)).map(|file| &*file.names);
            let at = names.and_then(culprit);
            let error = match (names, at) {
                // It linked before.
                (Some(_), None) => SchemaError(format!("{} (with the new {})", error.0, replacing(types, given))),
                _ => error,
            };
            Err(Fault { file: at, error })
        }
    }
}

/// The names of the files that replace others, or of all that are given, for an error.
fn replacing(types: &Types, given: &HashMap<&str, usize>) -> String {
    let mut names: Vec<&str> = given.keys().copied().filter(|name| types.id(name).is_some()).collect();
    if names.is_empty() {
        names.extend(given.keys());
    }
    names.sort_unstable();
    match *names {
        [a, b, _, ..] => format!("{a}, {b}, ..."),
        _ => names.join(", "),
    }
}

/// The file of that content, checked, and its features.
fn file_proto(name: &str, content: &[u8]) -> Result<(FileDescriptorProto, FileFeatures), SchemaError> {
    let proto = decode(name, content)?;
    let features = FileFeatures::read(&proto, content)?;
    check::check(&proto, features.scope())?;
    Ok((proto, features))
}

/// The file of that content.
pub(super) fn decode(name: &str, content: &[u8]) -> Result<FileDescriptorProto, SchemaError> {
    match FileDescriptorProto::decode(content) {
        Ok(proto) => Ok(FileDescriptorProto { name: Some(name.into()), ..proto }),
        Err(e) => Err(SchemaError(format!("{name}: {e}"))),
    }
}

impl Candidate {
    pub(super) fn read(file: &RawFile) -> Result<Self, SchemaError> {
        let imports = match input::imports(&file.content) {
            Some(imports) => imports.into_iter().map(Arc::from).collect(),
            None => {
                decode(file.name, &file.content)?;
                return Err(SchemaError(format!("{}: the names of its imports are malformed", file.name)));
            }
        };
        Ok(Candidate {
            name: file.name.into(),
            content: Content::new(&file.content),
            source_info: file.source_info.as_deref().map(Content::new),
            imports,
        })
    }

    /// The file, checked.
    pub(super) fn proto(&self) -> Result<FileDescriptorProto, SchemaError> {
        file_proto(&self.name, &self.content).map(|(proto, _)| proto)
    }

    fn wanted(&self) -> Wanted {
        Wanted { name: self.name.clone(), content: self.content.clone(), source_info: self.source_info.clone() }
    }
}

impl Types {
    /// All registered files but the built-in ones, under all their names.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        let first = self.files().skip(BUILT_IN.len()).map(|(_, file)| (&file.name, file));
        let others = self.aliases.iter().filter_map(|(name, id)| Some((name, self.set.file(*id)?)));
        first
            .chain(others)
            .map(|(name, file)| Wanted {
                name: name.clone(),
                content: file.content.clone(),
                source_info: file.source_info.clone(),
            })
            .collect()
    }
}
