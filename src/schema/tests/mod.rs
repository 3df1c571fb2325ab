//! Tests of the layer as a whole, and what they share: descriptor sets from .proto text.

mod hostile;
mod plans;
mod registry;
mod reload;
mod sharing;
mod waiting;

use prost::Message;
use prost_types::FileDescriptorSet;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use super::Report;
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
pub(crate) fn registry(source: &str) -> super::Registry {
    let mut registry = super::Registry::new();
    registry.register(&compile(&[("test.proto", source)])).unwrap();
    registry
}

/// Whether registering changed anything.
pub(super) fn changed(outcome: Result<Report, SchemaError>) -> Result<bool, SchemaError> {
    outcome.map(|report| report.changed)
}
