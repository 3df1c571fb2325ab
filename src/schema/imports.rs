//! Imports: the order in which files are linked, and which files each one sees.

use std::collections::{HashMap, HashSet, VecDeque};

use super::hint::quoted;
use crate::error::SchemaError;

/// A position in the registry's list of files.
pub(super) type FileId = u32;

/// What a file sees, and what those that import it see through it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Imports {
    /// Its imports, and what these import publicly, and so on.
    pub(super) visible: Box<[FileId]>,
    /// The part of `visible` that it imports publicly.
    pub(super) exported: Box<[FileId]>,
}

/// The imports that a file declares, as names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Declared<'a> {
    pub(super) file: &'a str,
    /// Its other names.
    pub(super) aliases: &'a [&'a str],
    pub(super) imports: &'a [String],
    /// Positions in `imports`.
    pub(super) public: &'a [i32],
}

/// Bounds what chains of public imports may add up to, which is quadratic in their length.
const MOST_VISIBLE: usize = 500_000;

/// The order in which `files` can be linked, each after those that it imports. `known`
/// tells which files are there already.
pub(super) fn order(files: &[Declared], known: impl Fn(&str) -> bool) -> Result<Vec<usize>, SchemaError> {
    let mut positions: HashMap<&str, usize> = HashMap::with_capacity(files.len());
    for (at, file) in files.iter().enumerate() {
        positions.extend(std::iter::once(&file.file).chain(file.aliases).map(|name| (*name, at)));
    }
    let mut importers: Vec<Vec<usize>> = vec![Vec::new(); files.len()];
    let mut waits_for = vec![0usize; files.len()];
    for (at, (file, waits)) in files.iter().zip(&mut waits_for).enumerate() {
        for import in file.imports {
            if let Some(imported) = positions.get(import.as_str()) {
                if let Some(importers) = importers.get_mut(*imported) {
                    importers.push(at);
                    *waits += 1;
                }
            } else if !known(import) {
                return Err(SchemaError(format!("{}: import {} is not registered", file.file, quoted(import))));
            }
        }
    }

    let ready = waits_for.iter().enumerate().filter(|(_, n)| **n == 0).map(|(at, _)| at);
    let mut ready: VecDeque<usize> = ready.collect();
    let mut order = Vec::with_capacity(files.len());
    while let Some(at) = ready.pop_front() {
        order.push(at);
        for importer in importers.get(at).into_iter().flatten() {
            if let Some(waits) = waits_for.get_mut(*importer) {
                *waits -= 1;
                if *waits == 0 {
                    ready.push_back(*importer);
                }
            }
        }
    }
    if order.len() < files.len() {
        return Err(cycle(files, &positions, &waits_for));
    }
    Ok(order)
}

/// Names a cycle among the files that still wait.
fn cycle(files: &[Declared], positions: &HashMap<&str, usize>, waits_for: &[usize]) -> SchemaError {
    let stuck = |at: usize| waits_for.get(at).is_some_and(|n| *n > 0);
    let mut path: Vec<usize> = Vec::new();
    let mut on_path = HashSet::new();
    let mut next = (0..files.len()).find(|at| stuck(*at));
    while let Some(at) = next
        && on_path.insert(at)
    {
        path.push(at);
        // A file that still waits imports one that waits too.
        next = files
            .get(at)
            .and_then(|f| f.imports.iter().filter_map(|i| positions.get(i.as_str()).copied()).find(|i| stuck(*i)));
    }
    let start = path.iter().position(|at| Some(*at) == next).unwrap_or(0);
    let mut names: Vec<&str> = path.iter().skip(start).filter_map(|at| files.get(*at)).map(|f| f.file).collect();
    names.extend(names.first().copied());
    let first = names.first().copied().unwrap_or_default();
    if let [head, a, b, .., last] = *names
        && names.len() > 8
    {
        names = vec![head, a, b, "...", last];
    }
    SchemaError(format!("{first}: imports form a cycle: {}", names.join(" -> ")))
}

/// What `file` sees. `id` finds a file that is linked already, `exported` what that file
/// exports. `total` counts over all files.
pub(super) fn resolve<'f>(
    file: Declared,
    id: impl Fn(&str) -> Option<FileId>,
    exported: impl Fn(FileId) -> &'f [FileId],
    total: &mut usize,
) -> Result<Imports, SchemaError> {
    let mut seen = HashSet::new();
    let mut result = [Vec::new(), Vec::new()];
    let public: HashSet<i32> = file.public.iter().copied().collect();
    if let Some(bad) = public.iter().find(|i| usize::try_from(**i).map_or(true, |i| i >= file.imports.len())) {
        return Err(SchemaError(format!("{}: public import {bad} is none of its imports", file.file)));
    }
    // Public imports first, so that `exported` is complete where another import leads to the same file.
    let [exports, others] = &mut result;
    for (list, is_public) in [(exports, true), (others, false)] {
        for (at, import) in file.imports.iter().enumerate() {
            if i32::try_from(at).is_ok_and(|at| public.contains(&at)) != is_public {
                continue;
            }
            let Some(import) = id(import) else { continue };
            for one in std::iter::once(&import).chain(exported(import)) {
                if seen.insert(*one) {
                    list.push(*one);
                }
            }
            if total.saturating_add(seen.len()) > MOST_VISIBLE {
                return Err(SchemaError(format!(
                    "{}: too many imports, with those that they import publicly",
                    file.file
                )));
            }
        }
    }
    *total = total.saturating_add(seen.len());
    let [exported, mut others] = result;
    others.extend_from_slice(&exported);
    Ok(Imports { visible: others.into(), exported: exported.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(files: &[(&str, &[&str])]) -> Result<Vec<String>, String> {
        let imports: Vec<Vec<String>> =
            files.iter().map(|(_, i)| i.iter().map(|i| (*i).to_string()).collect()).collect();
        let files: Vec<Declared> = files
            .iter()
            .zip(&imports)
            .map(|((file, _), imports)| Declared { file, aliases: &[], imports, public: &[] })
            .collect();
        let order = order(&files, |name| name == "known").map_err(|e| e.0)?;
        Ok(order.into_iter().map(|at| files[at].file.to_string()).collect())
    }

    #[test]
    fn imported_files_come_first() {
        assert_eq!(
            sorted(&[("a", &["b", "known"]), ("b", &["c"]), ("c", &[]), ("d", &["b"])]).unwrap(),
            ["c", "b", "a", "d"]
        );
        assert_eq!(sorted(&[("a", &["x"])]), Err("a: import \"x\" is not registered".into()));
    }

    #[test]
    fn cycles_are_named() {
        assert_eq!(sorted(&[("a", &["a"])]), Err("a: imports form a cycle: a -> a".into()));
        assert_eq!(
            sorted(&[("d", &["a"]), ("a", &["known", "b"]), ("b", &["c"]), ("c", &["a"])]),
            Err("a: imports form a cycle: a -> b -> c -> a".into())
        );
        let names: Vec<String> = (0..10_000).map(|i| format!("f{i}")).collect();
        let imports: Vec<[&str; 1]> = (0..10_000).map(|i| [names[(i + 1) % 10_000].as_str()]).collect();
        let files: Vec<(&str, &[&str])> = names.iter().zip(&imports).map(|(n, i)| (n.as_str(), &i[..])).collect();
        assert_eq!(sorted(&files), Err("f0: imports form a cycle: f0 -> f1 -> f2 -> ... -> f0".into()));
    }

    #[test]
    fn public_imports_are_seen_through() {
        let imports = ["a".to_string(), "b".to_string()];
        let file = Declared { file: "f", aliases: &[], imports: &imports, public: &[1] };
        let id = |name: &str| ["a", "b"].iter().position(|n| *n == name).map(|i| i as FileId);
        let exported = |id: FileId| if id == 0 { &[2, 3][..] } else { &[3, 4][..] };
        let seen = resolve(file, id, exported, &mut 0).unwrap();
        assert_eq!(seen.exported, Box::from([1, 3, 4]));
        assert_eq!(seen.visible, Box::from([0, 2, 1, 3, 4]));
        let bad = Declared { public: &[2], ..file };
        assert_eq!(resolve(bad, id, exported, &mut 0).unwrap_err().0, "f: public import 2 is none of its imports");
        assert_eq!(
            resolve(file, id, exported, &mut MOST_VISIBLE.clone()).unwrap_err().0,
            "f: too many imports, with those that they import publicly"
        );
    }
}
