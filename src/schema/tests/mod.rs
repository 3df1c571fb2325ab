//! Tests of the layer as a whole, and what they share: descriptor sets from .proto text.

mod editions;
mod hostile;
pub(super) mod make;
mod plans;
mod registry;
mod reload;
mod sharing;
mod waiting;

use prost::Message;
use prost_types::FileDescriptorSet;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use std::sync::Arc;

use super::{Registry, Report, Types};
use crate::error::SchemaError;

struct Sources(Vec<(String, String)>);

impl FileResolver for Sources {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match self.0.iter().find(|(n, _)| n == name) {
            Some((_, source)) => File::from_source(name, source),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}

/// Compiles named sources to a set with no imports but the sources themselves, in their order.
pub(super) fn compile_set(sources: &[(&str, &str)]) -> FileDescriptorSet {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Sources(sources.iter().map(|(n, s)| ((*n).into(), (*s).into())).collect()));
    resolver.add(GoogleFileResolver::new());
    let mut compiler = protox::Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    for (name, _) in sources {
        compiler.open_file(name).unwrap();
    }
    let all = FileDescriptorSet::decode(&*compiler.encode_file_descriptor_set()).unwrap();
    let file = |name: &str| all.file.iter().find(|f| f.name() == name).unwrap().clone();
    FileDescriptorSet { file: sources.iter().map(|(name, _)| file(name)).collect() }
}

/// The same, serialized.
pub(crate) fn compile(sources: &[(&str, &str)]) -> Vec<u8> {
    compile_set(sources).encode_to_vec()
}

/// A registry with one file of `source`.
pub(crate) fn registry(source: &str) -> Registry {
    let mut registry = Registry::new();
    registry.register(&compile(&[("test.proto", source)])).unwrap();
    registry
}

impl Registry {
    /// Registers `bytes`. Tells whether that changed anything, comments aside.
    pub(super) fn changes(&mut self, bytes: &[u8]) -> Result<bool, SchemaError> {
        self.changes_by(|registry| registry.register(bytes))
    }

    /// Whether `register` changed anything, comments aside.
    pub(super) fn changes_by(
        &mut self,
        register: impl FnOnce(&mut Self) -> Result<Report, SchemaError>,
    ) -> Result<bool, SchemaError> {
        let before = self.types().clone();
        register(self)?;
        let (before, after) = (&*before, &**self.types());
        let plans = |types: &Types| types.set.messages.iter().map(Arc::as_ptr).collect::<Vec<_>>();
        let waiting = |types: &Types| types.waiting.iter().map(Arc::as_ptr).collect::<Vec<_>>();
        let files = |types: &Types| types.files().count();
        let same = files(before) == files(after) && plans(before) == plans(after) && waiting(before) == waiting(after);
        Ok(!same)
    }
}
