//! Files whose imports are missing.

use std::collections::HashSet;
use std::sync::Arc;

use prost_types::{DescriptorProto, FileDescriptorProto};

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
    pub(super) file: Candidate,
    /// The full names of its messages, enums and services.
    defines: HashSet<Box<str>>,
    /// Why it did not link when its imports were there. It waits for nothing any more.
    pub(super) failed: Option<SchemaError>,
}

impl Waiting {
    pub(super) fn new(file: Candidate, proto: &FileDescriptorProto) -> Self {
        let mut defines = HashSet::new();
        let scope = if proto.package().is_empty() { String::new() } else { format!("{}.", proto.package()) };
        defines.extend(proto.enum_type.iter().map(|e| format!("{scope}{}", e.name()).into()));
        defines.extend(proto.service.iter().map(|s| format!("{scope}{}", s.name()).into()));
        proto.message_type.iter().for_each(|m| define(&mut defines, &scope, m));
        Waiting { file, defines, failed: None }
    }

    /// The same file, which did not link.
    pub(super) fn fail(&self, error: SchemaError) -> Self {
        Waiting { file: self.file.clone(), defines: self.defines.clone(), failed: Some(error) }
    }
}

fn define(defines: &mut HashSet<Box<str>>, scope: &str, message: &DescriptorProto) {
    let name = format!("{scope}{}", message.name());
    let scope = format!("{name}.");
    defines.extend(message.enum_type.iter().map(|e| format!("{scope}{}", e.name()).into()));
    message.nested_type.iter().for_each(|m| define(defines, &scope, m));
    defines.insert(name.into());
}

impl Types {
    /// Why the type called `name` cannot be used, if a file that waits has it.
    pub fn why_not(&self, name: &str) -> Option<SchemaError> {
        let bare = name.strip_prefix('.').unwrap_or(name);
        let file = &self.waiting.iter().find(|w| w.defines.contains(bare))?.file.name;
        Some(SchemaError(format!("{bare} is in {file}, which {}", self.why_waits(file)?)))
    }

    /// What the file called `name` does instead of being linked, if it waits or has waited.
    pub(super) fn why_waits(&self, name: &str) -> Option<String> {
        let mut file = self.waiting.iter().find(|w| *w.file.name == *name)?;
        let mut seen = HashSet::new();
        loop {
            if let Some(error) = &file.failed {
                return Some(format!("does not link: {}", error.0));
            }
            let import = file.file.imports.iter().find(|import| self.id(import).is_none())?;
            match self.waiting.iter().find(|w| w.file.name == *import && seen.insert(import.clone())) {
                Some(next) => file = next,
                None if *file.file.name == *name => return Some(format!("waits for import {}", quoted(import))),
                None => return Some(format!("waits for import {} of {}", quoted(import), file.file.name)),
            }
        }
    }

    /// Imports that are neither registered nor waiting themselves, sorted, each once.
    pub fn missing(&self) -> Vec<Arc<str>> {
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
