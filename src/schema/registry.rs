//! The registry: what one instance has registered.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::base::{BUILT_IN, base};
use super::content::Content;
use super::imports::FileId;
use super::input::{self, RawFile};
use super::set::File;
use super::settle::settle;
use super::shared;
use super::types::Types;
use super::waiting::{Candidate, Waiting};
use crate::error::SchemaError;

/// The files that an instance has registered, and the types in them.
#[derive(Debug)]
pub struct Registry {
    types: Arc<Types>,
}

/// What registering came to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Report {
    /// Imports that are still missing, also those of files that were registered earlier; sorted.
    pub missing: Vec<Arc<str>>,
    /// Files that have new content; sorted.
    pub replaced: Vec<Arc<str>>,
    /// Files that had waited for their imports and did not link, and why, also those of earlier calls.
    pub failed: Vec<(Arc<str>, SchemaError)>,
    /// The first of these that is news.
    pub failure: Option<SchemaError>,
}

/// What is new about given files.
#[derive(Default)]
struct News {
    files: Vec<Arc<Candidate>>,
    /// Registered files of which only the source info is new.
    source_infos: Vec<(FileId, Content)>,
    /// Names of registered files of which another version waits that is wanted no more.
    kept: Vec<Arc<str>>,
    /// Whether any of these files waits with other content.
    supersede: bool,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// A registry that knows the built-in types only.
    pub fn new() -> Self {
        Registry::of(base())
    }

    /// A registry that has registered `types`.
    pub fn of(types: &Arc<Types>) -> Self {
        Registry { types: types.clone() }
    }

    /// All types that are registered.
    pub fn types(&self) -> &Arc<Types> {
        &self.types
    }

    /// Forgets all that was registered.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Registers a serialized `FileDescriptorSet` or `FileDescriptorProto`. It costs little if
    /// nothing is new.
    ///
    /// A file whose imports are missing waits until they are registered. One of a name that is
    /// registered with other content replaces that. One that equals another but for its name is
    /// not new: its name becomes another name of that one. Comments are no part of a file.
    ///
    /// # Errors
    /// Bytes that are neither; files that do not link, or with which others do not link any more;
    /// another package than the file of that name has. Then nothing has changed. That also holds
    /// after a panic.
    pub fn register(&mut self, bytes: &[u8]) -> Result<Report, SchemaError> {
        let raw = input::files(bytes)?;
        let news = self.news(&raw)?;
        let mut report = Report::default();
        if !news.is_empty() {
            self.types = Arc::new(self.settle(news, &mut report)?);
        }
        report.missing = self.types.missing.clone();
        report.failed = self.types.failed();
        report.replaced.sort_unstable();
        Ok(report)
    }

    /// Whether registering `bytes` would change nothing, and no file waits.
    pub fn knows(&self, bytes: &[u8]) -> bool {
        let known = |file: &RawFile| {
            let registered = || self.types.set.file(self.types.id(file.name)?);
            BUILT_IN.contains(&file.name) || registered().is_some_and(|registered| registered.is(file))
        };
        self.types.waiting.is_empty() && input::files(bytes).is_ok_and(|raw| raw.iter().all(known))
    }

    /// What of `raw` is not registered or waiting with that content.
    fn news(&self, raw: &[RawFile]) -> Result<News, SchemaError> {
        let mut news = News::default();
        let mut seen: HashMap<&str, &RawFile> = HashMap::new();
        let types = &self.types;
        let mut by_name: HashMap<&str, &Waiting> = HashMap::new();
        if raw.len() > 1 {
            by_name.extend(types.waiting.iter().map(|w| (&*w.file.name, &**w)));
        }
        for file in raw {
            if BUILT_IN.contains(&file.name) {
                continue;
            }
            if let Some(other) = seen.get(file.name) {
                if other.content != file.content {
                    return Err(SchemaError(format!("{}: given twice, with different content", file.name)));
                }
                continue;
            }
            if raw.len() > 1 {
                seen.insert(file.name, file);
            }
            let waiting = match raw {
                [_] => types.waiting_file(file.name),
                _ => by_name.get(file.name).copied(),
            };
            if let Some(id) = types.id(file.name)
                && let Some(registered) = types.set.file(id)
                && *registered.content == *file.content
            {
                if let Some(info) = &file.source_info
                    && !registered.is(file)
                {
                    news.source_infos.push((id, Content::new(info)));
                }
                news.supersede |= waiting.is_some();
                news.kept.extend(waiting.map(|w| w.file.name.clone()));
                continue;
            }
            if waiting.is_some_and(|w| w.failed.is_none() && *w.file.content == *file.content) {
                continue;
            }
            news.supersede |= waiting.is_some();
            news.files.push(Arc::new(Candidate::read(file)?));
        }
        Ok(news)
    }

    /// The types with `news`.
    fn settle(&self, news: News, report: &mut Report) -> Result<Types, SchemaError> {
        let News { files, source_infos, kept, supersede } = news;
        let mut types = Types::clone(&self.types);
        if supersede {
            let given: HashSet<&Arc<str>> = files.iter().map(|f| &f.name).chain(&kept).collect();
            types.waiting.retain(|w| !given.contains(&w.file.name));
            types.missing = types.find_missing();
        }
        if !source_infos.is_empty() {
            types = with_source_infos(types, source_infos);
        }
        settle(types, files, report)
    }
}

impl File {
    /// Whether `raw` is this file again, with these comments or none.
    fn is(&self, raw: &RawFile) -> bool {
        let info = raw.source_info.is_none() || self.source_info.as_deref() == raw.source_info.as_deref();
        info && *self.content == *raw.content
    }
}

impl News {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.source_infos.is_empty() && self.kept.is_empty()
    }
}

/// The same types in a set whose files have other source infos.
fn with_source_infos(types: Types, source_infos: Vec<(FileId, Content)>) -> Types {
    let mut set = (*types.set).clone();
    for (id, info) in source_infos {
        if let Some(file) = set.files.get_mut(id as usize) {
            *file = Arc::new(File { source_info: Some(info), outline: Default::default(), ..File::clone(file) });
        }
    }
    let now = Types { set: Arc::new(set), ..types.clone() };
    let wanted = now.wanted();
    Types { waiting: types.waiting, missing: types.missing, ..shared::publish(now, &wanted) }
}
