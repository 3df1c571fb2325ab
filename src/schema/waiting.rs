//! Files whose imports are missing.

use std::collections::HashSet;
use std::sync::Arc;

use prost_types::{DescriptorProto, FileDescriptorProto};

use super::compile::full_name;
use super::content::Content;
use super::hint::quoted;
use super::types::Types;
use crate::error::SchemaError;

/// A file that is to be registered.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) name: Arc<str>,
    pub(super) content: Content,
    pub(super) source_info: Option<Content>,
    pub(super) imports: Box<[Arc<str>]>,
}

/// A file that waits for imports.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) file: Arc<Candidate>,
    /// The full names of its messages, enums and services.
    defines: HashSet<Box<str>>,
    /// Why it did not link when its imports were there. It waits for nothing any more.
    pub(super) failed: Option<SchemaError>,
}

impl Waiting {
    pub(super) fn new(file: Arc<Candidate>, proto: &FileDescriptorProto) -> Self {
        let mut defines = HashSet::new();
        let scope = proto.package();
        defines.extend(proto.enum_type.iter().map(|e| full_name(scope, e.name()).into()));
        defines.extend(proto.service.iter().map(|s| full_name(scope, s.name()).into()));
        proto.message_type.iter().for_each(|m| define(&mut defines, scope, m));
        Waiting { file, defines, failed: None }
    }

    /// The same file, which did not link.
    pub(super) fn fail(&self, error: SchemaError) -> Self {
        Waiting { file: self.file.clone(), defines: self.defines.clone(), failed: Some(error) }
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

fn define(defines: &mut HashSet<Box<str>>, scope: &str, message: &DescriptorProto) {
    let name = full_name(scope, message.name());
    defines.extend(message.enum_type.iter().map(|e| full_name(&name, e.name()).into()));
    message.nested_type.iter().for_each(|m| define(defines, &name, m));
    defines.insert(name.into());
}

impl Types {
    /// Why the type called `name` cannot be used, if a file that waits has it.
    pub fn why_not(&self, name: &str) -> Option<SchemaError> {
        let bare = name.strip_prefix('.').unwrap_or(name);
        let file = self.waiting.iter().find(|w| w.defines.contains(bare))?;
        Some(SchemaError(format!("{bare} is in {}, which {}", file.file.name, self.reason(file))))
    }

    /// What keeps `file` from linking, to go on after "which".
    pub(super) fn reason<'a>(&'a self, file: &'a Waiting) -> String {
        let first = &file.file.name;
        let mut file = file;
        let mut seen = HashSet::new();
        loop {
            let name = &file.file.name;
            if let Some(SchemaError(error)) = &file.failed {
                // It begins with the file that is at fault.
                let own =
                    error.strip_prefix(&**name).and_then(|rest| rest.strip_prefix(": ")).filter(|_| name == first);
                return format!("does not link: {}", own.unwrap_or(error));
            }
            let import = file.file.imports.iter().find(|import| self.id(import).is_none());
            match import.and_then(|import| self.waiting_file(import)).filter(|next| seen.insert(&next.file.name)) {
                Some(next) => file = next,
                None => {
                    let import = import.map_or("", |import| import);
                    let of = if name == first { String::new() } else { format!(" of {name}") };
                    return format!("waits for import {}{of}{}", quoted(import), self.namesake(import));
                }
            }
        }
    }

    /// ` (folder/name is registered)`, if that is in another folder than `import` says: it was compiled with other include
    /// dirs. Or nothing.
    fn namesake(&self, import: &str) -> String {
        let found = self.files().map(|(_, file)| &file.name).find(|name| last_part(name) == last_part(import));
        found.map_or_else(String::new, |name| format!(" ({name} is registered)"))
    }

    /// The files that had waited and did not link, and why.
    pub(super) fn failed(&self) -> Vec<(Arc<str>, SchemaError)> {
        let failed = |w: &Arc<Waiting>| Some((w.file.name.clone(), w.failed.clone()?));
        self.waiting.iter().filter_map(failed).collect()
    }

    /// The waiting file of that name.
    pub(super) fn waiting_file(&self, name: &str) -> Option<&Waiting> {
        self.waiting.iter().find(|w| *w.file.name == *name).map(|w| &**w)
    }

    /// What [`Types::missing`] has to be.
    pub(super) fn find_missing(&self) -> Vec<Arc<str>> {
        let waiting: HashSet<&str> =
            self.waiting.iter().filter(|w| w.failed.is_none()).map(|w| &*w.file.name).collect();
        let imports = self.waiting.iter().filter(|w| w.failed.is_none()).flat_map(|w| &w.file.imports);
        let mut missing: Vec<Arc<str>> =
            imports.filter(|import| self.id(import).is_none() && !waiting.contains(&***import)).cloned().collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }
}
