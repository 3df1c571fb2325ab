//! Linking: which type a name means in a file.

use std::collections::HashSet;
use std::sync::Arc;

use super::imports::FileId;
use super::set::{Set, Symbol};

/// What a file sees.
pub(super) struct Names<'a> {
    set: &'a Set,
    id: FileId,
    visible: HashSet<FileId>,
}

impl<'a> Names<'a> {
    /// The names that the file `id` of `set` sees: its own, and those of its imports.
    pub(super) fn new(set: &'a Set, id: FileId) -> Self {
        let imports = set.file(id).map(|f| &f.imports.visible);
        Names { set, id, visible: imports.into_iter().flatten().copied().chain([id]).collect() }
    }

    pub(super) fn set(&self) -> &'a Set {
        self.set
    }

    /// The type that `name` means in `scope`: with a leading dot the one of that full name, else the one in the
    /// innermost scope that has one.
    pub(super) fn resolve(&self, scope: &str, name: &str) -> Result<(&'a Arc<str>, Symbol), String> {
        let mut hidden = None;
        let mut look = |full: &str| {
            let (full, (symbol, file)) = self.set.names.get(full)?;
            if !matches!(symbol, Symbol::Message(_) | Symbol::Enum(_)) {
                return None;
            }
            if self.visible.contains(&file) {
                return Some((full, symbol));
            }
            hidden = hidden.or(Some((full, file)));
            None
        };
        let mut scope = scope;
        let found = match name.strip_prefix('.') {
            Some(full) => look(full),
            None => loop {
                if scope.is_empty() {
                    break look(name);
                }
                if let Some(found) = look(&format!("{scope}.{name}")) {
                    break Some(found);
                }
                scope = scope.rsplit_once('.').map_or("", |(outer, _)| outer);
            },
        };
        found.ok_or_else(|| {
            let file = |id| self.set.file(id).map_or("", |f| &*f.name);
            let what = format!("name '{name}' is not defined");
            match hidden {
                Some((full, at)) => {
                    let (there, here) = (file(at), file(self.id));
                    format!("{what} ('{full}' is defined in '{there}', which is not imported by '{here}')")
                }
                None => what,
            }
        })
    }

    /// Whether the type of that full name is the file's own.
    pub(super) fn own(&self, name: &str) -> bool {
        self.set.names.get(name).is_some_and(|(_, (_, file))| file == self.id)
    }

    /// The same, which must be a message.
    pub(super) fn message(&self, scope: &str, name: &str) -> Result<(&'a Arc<str>, u32), String> {
        match self.resolve(scope, name)? {
            (full, Symbol::Message(index)) => Ok((full, index)),
            (full, _) => Err(format!("{full} is no message")),
        }
    }
}
