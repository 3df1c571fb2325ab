//! Where .proto text is looked for: the files that are to be compiled, and their imports.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::place::error_at;
use super::scan::blank_comments;
use crate::error::SchemaError;
use crate::schema::hint::quoted;
use crate::schema::input::{io_error, is_file_name};

/// More bytes than that are no file of definitions.
const LARGEST: u64 = 2 << 20;
/// How many folders a message lists.
const SHOWN_FOLDERS: usize = 8;

type Result<T> = std::result::Result<T, SchemaError>;

/// What is to be compiled, and the folders in which imports are looked for.
#[derive(Debug)]
pub struct Sources {
    /// Each has a name of its own.
    pub(super) roots: Vec<Text>,
    folders: Vec<PathBuf>,
}

/// A file of .proto text.
#[derive(Debug)]
pub(super) struct Text {
    /// By which it is imported.
    pub(super) name: String,
    /// As messages call it.
    pub(super) shown: String,
    pub(super) text: Arc<str>,
}

impl Sources {
    /// The text of one file that imports nothing from a disk. Without a name, it is named after the text.
    ///
    /// # Errors
    /// A name that no file can have; text that is not UTF-8 or too large.
    pub fn text(text: &[u8], name: Option<&[u8]>) -> Result<Self> {
        let (name, shown) = match name {
            None => (format!("source-{:016x}.proto", hash(text)), "source".into()),
            Some(name) => match std::str::from_utf8(name) {
                Ok(name) if is_file_name(name) => (name.to_owned(), name.to_owned()),
                _ => {
                    let name = String::from_utf8_lossy(name);
                    return Err(SchemaError(format!("{} is no name for a file", quoted(&name))));
                }
            },
        };
        Ok(Sources { roots: vec![Text::new(name, shown, text.into())?], folders: Vec::new() })
    }

    /// The files at `paths`. They and their imports are named as seen from the folder of `folders` in which each is
    /// found first. Without any, the files' own folders take their place.
    ///
    /// # Errors
    /// A file that does not exist, lies in no folder or cannot be read; two of the same name.
    pub fn files(paths: &[PathBuf], folders: Vec<PathBuf>) -> Result<Self> {
        let mut sources = Sources { roots: Vec::with_capacity(paths.len()), folders };
        let mut found: HashMap<String, PathBuf> = HashMap::with_capacity(paths.len());
        let own_folders = sources.folders.is_empty();
        for path in paths {
            let (name, file) = if own_folders {
                let name = path.file_name().and_then(|n| n.to_str()).map(str::to_owned);
                let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
                if !sources.folders.contains(&folder) {
                    sources.folders.push(folder);
                }
                (name, path.clone())
            } else {
                let (name, file) = sources.locate(path)?;
                (Some(name), file)
            };
            let Some(name) = name.filter(|name| is_file_name(name)) else {
                return Err(SchemaError(format!("{}: not the path of a file with a name in UTF-8", path.display())));
            };
            match found.get(&name) {
                Some(other) if same(other, &file) => {}
                Some(other) => {
                    let (path, other) = (path.display(), other.display());
                    return Err(SchemaError(format!("{path}: would have the name {} of {other}", quoted(&name))));
                }
                None => {
                    sources.roots.push(Text::read(name.clone(), &file)?);
                    found.insert(name, file);
                }
            }
        }
        Ok(sources)
    }

    /// The file that is imported as `name`, from the first folder that has it.
    pub(super) fn import(&self, name: &str) -> Result<Option<Text>> {
        match self.find(name) {
            Some(file) => Text::read(name.into(), &file).map(Some),
            None => Ok(None),
        }
    }

    /// Why an import is not there.
    pub(super) fn missing(&self, name: &str) -> String {
        if self.folders.is_empty() {
            return format!("import {} is not registered", quoted(name));
        }
        format!("import {} is neither in {} nor registered", quoted(name), self.list())
    }

    /// The name of the file at `path`, which may be seen from one of the folders or from where these are seen from;
    /// and the file's own path.
    fn locate(&self, path: &Path) -> Result<(String, PathBuf)> {
        if let Some(name) = name(path.components())
            && let Some(file) = self.find(&name)
        {
            return Ok((name, file));
        }
        let shown = path.display();
        for folder in &self.folders {
            let Some(name) = within(path, folder) else { continue };
            return match self.find(&name) {
                Some(file) if same(path, &file) => Ok((name, file)),
                Some(file) => Err(SchemaError(format!("{shown}: {} comes first in the include dirs", file.display()))),
                None => Err(SchemaError(format!("{shown}: there is no such file"))),
            };
        }
        if path.exists() {
            return Err(SchemaError(format!("{shown}: is in none of the include dirs {}", self.list())));
        }
        Err(SchemaError(format!("{shown}: there is no such file in {}", self.list())))
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        // An import may be any string; a name leads out of no folder.
        let name = Path::new(name);
        if name.components().any(|part| !matches!(part, Component::Normal(_))) {
            return None;
        }
        self.folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    fn list(&self) -> String {
        let folder = |path: &PathBuf| match path.to_string_lossy() {
            here if here.is_empty() => quoted("."),
            folder => quoted(&folder),
        };
        let mut list = self.folders.iter().take(SHOWN_FOLDERS).map(folder).collect::<Vec<_>>().join(", ");
        if self.folders.len() > SHOWN_FOLDERS {
            list.push_str(", ...");
        }
        list
    }
}

impl Text {
    fn read(name: String, path: &Path) -> Result<Self> {
        let shown = path.display().to_string();
        let failed = |what: &dyn std::fmt::Display| SchemaError(format!("{shown}: {what}"));
        let unreadable = |e: std::io::Error| failed(&io_error(&e));
        let found = fs::metadata(path).map_err(unreadable)?;
        // Reading from anything else may never end.
        if !found.is_file() {
            return Err(failed(&"is not a file"));
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(unreadable)?;
        file.take(LARGEST.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
        Text::new(name, shown, bytes)
    }

    fn new(name: String, shown: String, bytes: Vec<u8>) -> Result<Self> {
        if u64::try_from(bytes.len()).map_or(true, |length| length > LARGEST) {
            return Err(SchemaError(format!("{shown}: is larger than {} MiB", LARGEST >> 20)));
        }
        if is_binary(&bytes) {
            let what = "is no .proto text, but perhaps a descriptor set: use register_file, or register with its bytes";
            return Err(SchemaError(format!("{shown}: {what}")));
        }
        // In comments, protoc takes any encoding.
        let text = String::from_utf8(bytes).or_else(|e| {
            let mut bytes = e.into_bytes();
            blank_comments(&mut bytes);
            String::from_utf8(bytes)
        });
        match text {
            Ok(text) => Ok(Text { name, shown, text: text.strip_prefix('\u{feff}').unwrap_or(&text).into() }),
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                Err(error_at(&shown, &String::from_utf8_lossy(e.as_bytes()), at, "not UTF-8"))
            }
        }
    }
}

/// Whether `bytes` is the beginning of a descriptor set at least. Text may begin with a line break too, but has few other
/// control characters.
fn is_binary(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'\n') && bytes.iter().take(64).any(|byte| *byte < b' ' && !byte.is_ascii_whitespace())
}

/// The name of a file that is seen from its folder as `path`.
fn name<'a>(path: impl Iterator<Item = Component<'a>>) -> Option<String> {
    let mut name = String::new();
    for part in path {
        match part {
            Component::CurDir => continue,
            Component::Normal(part) => {
                if !name.is_empty() {
                    name.push('/');
                }
                name.push_str(part.to_str()?);
            }
            _ => return None,
        }
    }
    (!name.is_empty()).then_some(name)
}

/// The name as which `path` is seen from `folder`, if it begins with that.
fn within(path: &Path, folder: &Path) -> Option<String> {
    let mut rest = parts(path);
    for part in parts(folder) {
        if rest.next() != Some(part) {
            return None;
        }
    }
    name(rest)
}

fn same(a: &Path, b: &Path) -> bool {
    parts(a).eq(parts(b))
}

fn parts(path: &Path) -> impl Iterator<Item = Component<'_>> {
    path.components().filter(|part| *part != Component::CurDir)
}

/// A hash that is the same on every machine: FNV-1a. It only names; what is equal is decided by bytes.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
