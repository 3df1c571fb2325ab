//! .proto text: compiled to the descriptor sets that protoc would write.
//!
//! protox-parse parses, one file at a time, and prost-reflect resolves types and options.
//! What lies between is done here rather than by protox: it recurses with every import, and
//! prost-reflect follows public imports one step only. All files, those of text and the
//! registered ones that they import, are put in order and linked one by one, each with all
//! that it sees as its imports; the result gets its own imports back.

mod bare;
mod extensions;
mod lookup;
mod place;
mod scan;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use miette::Diagnostic;
use prost::Message;
use prost_reflect::DescriptorPool;
use prost_types::source_code_info::Location;
use prost_types::{FileDescriptorProto, SourceCodeInfo};
use protox_parse::ParseError;

use super::base::{self, BUILT_IN};
use super::check::check_cost;
use super::hint::quoted;
use super::imports::{self, Declared, FileId, Imports};
use super::input::without;
use super::registry::{Registry, Report};
use super::relink::decode;
use crate::error::{SchemaError, contain};
use bare::link;
use extensions::Extensions;
use lookup::Text;
use place::{error_at, error_in, offset};

pub use lookup::Sources;

type Result<T> = std::result::Result<T, SchemaError>;

/// `FileDescriptorSet.file`, and `dependency` in a file.
const FILE: u8 = 1 << 3 | 2;
const DEPENDENCY: i32 = 3;
/// How often extensions are looked at to find those that the options of a file name: prost-reflect goes through all of a
/// message's.
const MOST_LOOKUPS: usize = 50_000_000;

impl Registry {
    /// Compiles .proto text and registers it like [`Registry::register`]. It may import what is registered.
    ///
    /// # Errors
    /// Text that does not compile, and as for descriptors.
    pub fn register_sources(&mut self, sources: Sources) -> Result<Report> {
        let set = compile(sources, self)?;
        self.register(&set)
    }
}

/// A file of text, parsed.
struct Parsed {
    text: Text,
    /// Its other names: a file may be found in several folders, and be linked only once.
    aliases: Vec<String>,
    /// Without its source info.
    proto: FileDescriptorProto,
    /// The source info, in the order of the paths: where errors are.
    locations: Vec<Location>,
}

/// A registered file that text imports.
struct Imported {
    /// Names by which it is imported.
    names: Vec<String>,
    proto: FileDescriptorProto,
}

/// A serialized `FileDescriptorSet` of all files of text that `sources` leads to.
fn compile(sources: Sources, registry: &Registry) -> Result<Vec<u8>> {
    let (texts, wanted) = parse(sources, registry)?;
    let imported = registered(&texts, wanted, registry)?;
    let aliases =
        texts.iter().map(|t| &*t.aliases).chain(imported.iter().map(|i| i.names.get(1..).unwrap_or_default()));
    let aliases: Vec<Vec<&str>> = aliases.map(|names| names.iter().map(String::as_str).collect()).collect();
    let protos = texts.iter().map(|t| &t.proto).chain(imported.iter().map(|i| &i.proto));
    let declared: Vec<Declared> = protos
        .zip(&aliases)
        .map(|(proto, aliases)| Declared {
            file: proto.name(),
            aliases,
            imports: &proto.dependency,
            public: &proto.public_dependency,
        })
        .collect();

    let mut linker = Linker::new();
    let mut compiled = Vec::new();
    for at in imports::order(&declared, |name| BUILT_IN.contains(&name))? {
        let Some(declared) = declared.get(at) else { continue };
        let visible = linker.enter(*declared)?;
        if let Some(text) = texts.get(at) {
            let added = linker.extensions.add(&text.proto, &linker.pool, &visible);
            added.map_err(|(path, what)| text.error(&path, &what))?;
            let extensions = linker.extensions.len();
            if extensions > 0 && scan::names_of_extensions(&text.text.text).saturating_mul(extensions) > MOST_LOOKUPS {
                return Err(error_in(&text.text.shown, "too many extensions and options"));
            }
            text.link(&mut linker.pool, visible)?;
            compiled.push(text);
        } else if let Some(imported) = at.checked_sub(texts.len()).and_then(|at| imported.get(at)) {
            // What is registered stays as it is.
            linker.extensions.add(&imported.proto, &linker.pool, &visible).ok();
            link(&mut linker.pool, &imported.proto, visible)?;
        }
    }

    let mut set = Vec::new();
    for text in compiled {
        let content = text.encode(&linker.pool)?;
        // Files that are equal but for their names are one to the registry.
        for name in std::iter::once(&text.text.name).chain(&text.aliases) {
            let name = FileDescriptorProto { name: Some(name.clone()), ..FileDescriptorProto::default() };
            set.push(FILE);
            let length = name.encoded_len().saturating_add(content.len());
            prost::encode_length_delimiter(length, &mut set).map_err(|e| SchemaError(e.to_string()))?;
            set.extend(name.encode_to_vec());
            set.extend_from_slice(&content);
        }
    }
    Ok(set)
}

/// The roots of `sources` and all files of text that they import, and the names of the registered ones.
fn parse(sources: Sources, registry: &Registry) -> Result<(Vec<Parsed>, Vec<String>)> {
    let mut sources = sources;
    let roots = std::mem::take(&mut sources.roots);
    let mut known: HashSet<String> = roots.iter().map(|root| root.name.clone()).collect();
    let mut files = Vec::with_capacity(roots.len());
    let mut by_text = HashMap::with_capacity(roots.len());
    roots.into_iter().try_for_each(|root| add(&mut files, &mut by_text, root))?;
    let mut wanted = Vec::new();
    let mut next = 0;
    while let Some(file) = files.get(next) {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for (import, at) in file.proto.dependency.iter().zip(0..) {
            if !seen.insert(import) {
                return Err(file.error(&[DEPENDENCY, at], &format!("imports {} twice", quoted(import))));
            }
            // Copies of the built-in files are not registered either.
            if known.contains(import) || BUILT_IN.contains(&import.as_str()) {
                continue;
            }
            match sources.import(import)? {
                Some(text) => {
                    known.insert(import.clone());
                    found.push(text);
                }
                None if registry.types().id(import).is_some() => wanted.push(import.clone()),
                None => {
                    let what = match registry.types().waiting_file(import) {
                        Some(waiting) => format!("import {} {}", quoted(import), registry.types().reason(waiting)),
                        None => sources.missing(import),
                    };
                    return Err(file.error(&[DEPENDENCY, at], &what));
                }
            }
        }
        found.into_iter().try_for_each(|text| add(&mut files, &mut by_text, text))?;
        next = next.saturating_add(1);
    }
    Ok((files, wanted))
}

/// Parses `text`, unless one of `files` has the same: then it is another name of that.
fn add(files: &mut Vec<Parsed>, by_text: &mut HashMap<Arc<str>, usize>, text: Text) -> Result<()> {
    let at = *by_text.entry(text.text.clone()).or_insert(files.len());
    match files.get_mut(at) {
        Some(equal) => equal.aliases.push(text.name),
        None => files.push(Parsed::new(text)?),
    }
    Ok(())
}

/// The registered files that are `wanted` beside `texts`, and those that they import.
fn registered(texts: &[Parsed], mut wanted: Vec<String>, registry: &Registry) -> Result<Vec<Imported>> {
    let names = texts.iter().flat_map(|text| std::iter::once(&text.text.name).chain(&text.aliases));
    let mut known: HashSet<String> = names.cloned().collect();
    known.extend(BUILT_IN.map(str::to_owned));
    let mut positions: HashMap<FileId, usize> = HashMap::new();
    let mut files: Vec<Imported> = Vec::new();
    while let Some(name) = wanted.pop() {
        if !known.insert(name.clone()) {
            continue;
        }
        let types = registry.types();
        let Some(id) = types.id(&name) else {
            return Err(SchemaError(format!("import {} is not registered", quoted(&name))));
        };
        let at = *positions.entry(id).or_insert(files.len());
        match files.get_mut(at) {
            Some(file) => file.names.push(name),
            None => {
                let proto = decode(&name, types.set.file(id).map_or(&[], |f| &f.content))?;
                wanted.extend(proto.dependency.iter().cloned());
                files.push(Imported { names: vec![name], proto });
            }
        }
    }
    Ok(files)
}

/// A pool with the built-in files alone.
fn built_in() -> DescriptorPool {
    static POOL: OnceLock<DescriptorPool> = OnceLock::new();
    let make = || {
        let mut pool = DescriptorPool::new();
        for file in base::files() {
            // The files are constants, so that a test shows that they link.
            let _ = link(&mut pool, &file, file.dependency.clone());
        }
        pool
    };
    POOL.get_or_init(make).clone()
}

/// Tells what each file sees, in linking order.
struct Linker {
    pool: DescriptorPool,
    names: Vec<String>,
    by_name: HashMap<String, FileId>,
    imports: Vec<Imports>,
    extensions: Extensions,
    visible: usize,
}

impl Linker {
    fn new() -> Self {
        let names = BUILT_IN.map(str::to_owned);
        Linker {
            pool: built_in(),
            by_name: names.iter().cloned().zip(0..).collect(),
            imports: vec![Imports::default(); names.len()],
            names: names.into(),
            extensions: Extensions::default(),
            visible: 0,
        }
    }

    /// Takes `file` in. Answers the names of the files that it sees.
    fn enter(&mut self, file: Declared) -> Result<Vec<String>> {
        let exported = |id| self.imports.get(id as usize).map_or(&[][..], |i: &Imports| &i.exported);
        let new = imports::resolve(file, |name| self.by_name.get(name).copied(), exported, &mut self.visible)?;
        let id = FileId::try_from(self.names.len()).map_err(|_| error_in(file.file, "too many files"))?;
        self.by_name.extend(std::iter::once(&file.file).chain(file.aliases).map(|name| ((*name).to_owned(), id)));
        self.names.push(file.file.to_owned());
        let names = new.visible.iter().filter_map(|id| self.names.get(*id as usize)).cloned().collect();
        self.imports.push(new);
        Ok(names)
    }
}

impl Parsed {
    fn new(text: Text) -> Result<Self> {
        if let Err((at, what)) = scan::scan(&text.text) {
            return Err(error_at(&text.shown, &text.text, at, &what));
        }
        let mut proto = protox_parse::parse(&text.name, &text.text).map_err(|e| syntax_error(&text, &e))?;
        let locations = proto.source_code_info.take().unwrap_or_default().location;
        check_cost(&proto)?;
        Ok(Parsed { text, aliases: Vec::new(), proto, locations })
    }

    /// Links the file, which sees the files `visible`, into `pool`.
    fn link(&self, pool: &mut DescriptorPool, visible: Vec<String>) -> Result<()> {
        let file = FileDescriptorProto {
            dependency: visible,
            public_dependency: Vec::new(),
            weak_dependency: Vec::new(),
            ..self.proto.clone()
        };
        // Should it panic, the pool is used no more.
        match contain(|| pool.add_file_descriptor_proto(file)) {
            Ok(linked) => linked.map_err(|e| self.error(e.path().unwrap_or_default(), &explain(&e))),
            Err(panicked) => Err(error_in(&self.text.shown, &panicked.to_string())),
        }
    }

    /// The linked file but for its name, serialized in the order of its fields, as protoc does: equal files are equal
    /// bytes.
    fn encode(&self, pool: &DescriptorPool) -> Result<Vec<u8>> {
        let linked = pool.get_file_by_name(self.proto.name()).map(|file| file.encode_to_vec());
        let head = FileDescriptorProto {
            package: self.proto.package.clone(),
            dependency: self.proto.dependency.clone(),
            ..FileDescriptorProto::default()
        };
        let tail = FileDescriptorProto {
            public_dependency: self.proto.public_dependency.clone(),
            weak_dependency: self.proto.weak_dependency.clone(),
            syntax: self.proto.syntax.clone(),
            ..FileDescriptorProto::default()
        };
        let body = linked.as_deref().and_then(|file| without(file, |tag, _| matches!(tag >> 3, 1..=3 | 9..=12)));
        let Some(body) = body else { return Err(error_in(&self.text.shown, "is not linked")) };
        let mut file = head.encode_to_vec();
        file.extend_from_slice(&body);
        // What has comments, for reflection.
        let commented = |l: &&Location| l.leading_comments.is_some() || l.trailing_comments.is_some();
        let comments = self.locations.iter().filter(commented);
        let location: Vec<_> = comments.map(|l| Location { span: Vec::new(), ..l.clone() }).collect();
        if !location.is_empty() {
            let source_code_info = Some(SourceCodeInfo { location });
            file.extend(FileDescriptorProto { source_code_info, ..FileDescriptorProto::default() }.encode_to_vec());
        }
        file.extend(tail.encode_to_vec());
        Ok(file)
    }

    /// The error that `what` is wrong at `path`, which is that of a location.
    fn error(&self, path: &[i32], what: &str) -> SchemaError {
        let Text { shown, text, .. } = &self.text;
        let location = (1..=path.len()).rev().filter_map(|n| path.get(..n)).find_map(|path| {
            let at = self.locations.binary_search_by(|l| l.path.as_slice().cmp(path)).ok()?;
            self.locations.get(at)
        });
        match location.map(|l| l.span.as_slice()) {
            Some([line, column, ..]) => {
                let [line, column] = [*line, *column].map(|n| usize::try_from(n).unwrap_or(0));
                error_at(shown, text, offset(text, line, column), what)
            }
            _ => error_in(shown, what),
        }
    }
}

fn syntax_error(text: &Text, error: &ParseError) -> SchemaError {
    let labels = error.labels().into_iter().flatten().last();
    let at = match (error.span(), labels) {
        (Some(span), _) => span.start,
        (None, Some(label)) => label.offset(),
        // The end of the file.
        (None, None) => text.text.trim_end().len(),
    };
    let what = match text.text.get(at..) {
        // protox-parse 0.9 calls it a group.
        Some(rest) if error.to_string() == "invalid group name" && rest.starts_with(['"', '\'']) => {
            "invalid import: no \"\\\", \"//\", \".\" or \"..\" may be in it".into()
        }
        _ => explain(error),
    };
    error_at(&text.shown, &text.text, at, &what)
}

/// An error with what else it has to say.
fn explain(error: &impl Diagnostic) -> String {
    let mut text = error.to_string();
    if let Some(cause) = std::error::Error::source(error) {
        text.push_str(&format!(": {cause}"));
    }
    if let Some(help) = error.help() {
        text.push_str(&format!(" ({help})"));
    }
    text
}
