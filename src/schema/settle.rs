//! Settling: which of the new and the waiting files link now, and which wait on.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::registry::Report;
use super::relink::{Fault, relink};
use super::types::Types;
use super::waiting::{Candidate, Waiting};
use crate::error::SchemaError;

/// `types` with `new` files, and with those that had waited for them.
///
/// # Errors
/// A new file does not link, or breaks one that is registered.
pub(super) fn settle(types: Types, new: Vec<Arc<Candidate>>, report: &mut Report) -> Result<Types, SchemaError> {
    if let Some(missing) = hopeless(&types, &new) {
        return wait(types, new, Some(missing));
    }
    let count = new.len();
    let mut pool: Vec<Entry> = new.into_iter().map(Entry::open).collect();
    pool.extend(types.waiting.iter().map(|w| match &w.failed {
        None => Entry::open(w.file.clone()),
        Some(error) => Entry { file: w.file.clone(), state: State::Failed(error.clone()) },
    }));
    let mut draft = Draft { types, pool, new: count };
    // What waits must not keep what is new from linking, so its turn comes later, as far as nothing new needs it.
    draft.link(true, report)?;
    draft.link(false, report)?;
    if !report.replaced.is_empty() && draft.reopen() {
        // What is replaced may have been what kept them from linking.
        draft.link(false, report)?;
    }
    draft.finish(report)
}

/// After so many waiting files that do not link, each of the others is tried on its own: to link all the rest each time
/// takes quadratic time.
const MOST_FAULTS: usize = 10;

/// What is missing, if each of the `new` files imports something that has not been given yet: then nothing links, however
/// many wait.
fn hopeless(types: &Types, new: &[Arc<Candidate>]) -> Option<Vec<Arc<str>>> {
    let given: HashSet<&str> = new.iter().map(|file| &*file.name).collect();
    let mut missing: Vec<Arc<str>> = types.missing.iter().filter(|name| !given.contains(&***name)).cloned().collect();
    for file in new {
        let known = |import: &str| types.id(import).is_some() || given.contains(import);
        let unknown = file.imports.iter().filter(|import| !known(import));
        let lacking: Vec<_> = unknown.filter(|import| types.waiting_file(import).is_none()).cloned().collect();
        if lacking.is_empty() {
            return None;
        }
        missing.extend(lacking);
    }
    missing.sort_unstable();
    missing.dedup();
    Some(missing)
}

/// Leaves `files` to wait. Then `missing` is what is missing, if that is known.
fn wait(
    mut types: Types,
    files: impl IntoIterator<Item = Arc<Candidate>>,
    missing: Option<Vec<Arc<str>>>,
) -> Result<Types, SchemaError> {
    for file in files {
        let proto = file.proto()?;
        types.waiting.push(Arc::new(Waiting::new(file, &proto)));
    }
    types.missing = missing.unwrap_or_else(|| types.find_missing());
    Ok(types)
}

struct Draft {
    types: Types,
    /// The new files, then those that wait.
    pool: Vec<Entry>,
    /// How many are new.
    new: usize,
}

struct Entry {
    file: Arc<Candidate>,
    state: State,
}

enum State {
    Open,
    Linked,
    Failed(SchemaError),
}

impl Entry {
    fn open(file: Arc<Candidate>) -> Self {
        Entry { file, state: State::Open }
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }
}

impl Draft {
    /// Links what can be: new files and what they need, or all. Waiting ones that do not link are taken out.
    fn link(&mut self, only_new: bool, report: &mut Report) -> Result<(), SchemaError> {
        let mut faults = 0;
        loop {
            let mut ready = self.linkable();
            if only_new {
                self.restrict(&mut ready);
            }
            let ready: Vec<usize> = (0..).zip(&ready).filter(|(_, ready)| **ready).map(|(at, _)| at).collect();
            if ready.is_empty() {
                return Ok(());
            }
            match self.link_these(&ready, report) {
                Ok(()) => return Ok(()),
                Err((Some(at), error)) if at >= self.new && (only_new || faults < MOST_FAULTS) => {
                    self.set(at, State::Failed(error));
                    faults += 1;
                }
                Err((_, error)) if only_new => return Err(error),
                Err(_) => {
                    self.link_apart(&ready, report);
                    return Ok(());
                }
            }
        }
    }

    /// Gives all that failed another try. Answers whether there is any.
    fn reopen(&mut self) -> bool {
        let failed = self.pool.iter_mut().filter(|entry| matches!(entry.state, State::Failed(_)));
        failed.map(|entry| entry.state = State::Open).count() > 0
    }

    /// Links the files at `ready`. An error comes with the one at fault, if it is one alone.
    fn link_these(&mut self, ready: &[usize], report: &mut Report) -> Result<(), (Option<usize>, SchemaError)> {
        let files: Vec<&Candidate> = ready.iter().filter_map(|at| self.pool.get(*at)).map(|e| &*e.file).collect();
        match relink(&self.types, &files) {
            Ok((types, replaced)) => {
                self.types = Types { waiting: std::mem::take(&mut self.types.waiting), ..types };
                report.replaced.extend(replaced);
                ready.iter().for_each(|at| self.set(*at, State::Linked));
                Ok(())
            }
            Err(Fault { file, error }) => Err((file.and_then(|at| ready.get(at).copied()), error)),
        }
    }

    /// Links the waiting files at `ready`, which failed together, one by one, imports first. Those that do not link on
    /// their own are taken out.
    fn link_apart(&mut self, ready: &[usize], report: &mut Report) {
        let mut left = ready.to_vec();
        loop {
            let before = left.len();
            left.retain(|at| {
                let Some(entry) = self.pool.get(*at) else { return false };
                if entry.file.imports.iter().any(|import| self.types.id(import).is_none()) {
                    return true;
                }
                if let Err((_, error)) = self.link_these(&[*at], report) {
                    self.set(*at, State::Failed(error));
                }
                false
            });
            if left.len() == before {
                break;
            }
        }
        // Those that do not wait for one that was taken out wait for each other.
        let linkable = self.linkable();
        left.retain(|at| linkable.get(*at) == Some(&true));
        if !left.is_empty()
            && let Err((_, error)) = self.link_these(&left, report)
        {
            left.iter().for_each(|at| self.set(*at, State::Failed(error.clone())));
        }
    }

    fn set(&mut self, at: usize, state: State) {
        if let Some(entry) = self.pool.get_mut(at) {
            entry.state = state;
        }
    }

    /// Which open files have all that they import, among what is registered and each other.
    fn linkable(&self) -> Vec<bool> {
        let open = || (0..).zip(&self.pool).filter(|(_, entry)| entry.is_open());
        let positions: HashMap<&str, usize> = open().map(|(at, entry)| (&*entry.file.name, at)).collect();
        let mut importers: Vec<Vec<usize>> = vec![Vec::new(); self.pool.len()];
        let mut lacking = Vec::new();
        for (at, entry) in open() {
            for import in entry.file.imports.iter().filter(|import| self.types.id(import).is_none()) {
                match positions.get(&**import).and_then(|at| importers.get_mut(*at)) {
                    Some(importers) => importers.push(at),
                    None => lacking.push(at),
                }
            }
        }
        let mut ready: Vec<bool> = self.pool.iter().map(Entry::is_open).collect();
        while let Some(at) = lacking.pop() {
            if let Some(ready) = ready.get_mut(at)
                && std::mem::take(ready)
            {
                lacking.extend(importers.get(at).into_iter().flatten());
            }
        }
        ready
    }

    /// Leaves of the `ready` files the new ones and those that they import.
    fn restrict(&self, ready: &mut [bool]) {
        let positions: HashMap<&str, usize> = self.pool.iter().map(|entry| &*entry.file.name).zip(0..).collect();
        let mut needed = vec![false; self.pool.len()];
        let mut next: Vec<usize> = (0..self.new).collect();
        while let Some(at) = next.pop() {
            if let Some(needed) = needed.get_mut(at)
                && !std::mem::replace(needed, true)
            {
                let imports = self.pool.get(at).into_iter().flat_map(|entry| &entry.file.imports);
                next.extend(imports.filter_map(|import| positions.get(&**import)));
            }
        }
        ready.iter_mut().zip(needed).for_each(|(ready, needed)| *ready &= needed);
    }

    /// The types, with the files that wait on, and why others did not link.
    fn finish(self, report: &mut Report) -> Result<Types, SchemaError> {
        let Draft { mut types, mut pool, new } = self;
        let waited = pool.split_off(new.min(pool.len()));
        let mut states: HashMap<Arc<str>, State> = waited.into_iter().map(|e| (e.file.name.clone(), e.state)).collect();
        types.waiting.retain_mut(|w| match states.remove(&w.file.name) {
            Some(State::Linked) => false,
            Some(State::Failed(error)) => {
                if w.failed.as_ref() != Some(&error) {
                    *w = Arc::new(w.fail(error.clone()));
                    report.failure.get_or_insert(error);
                }
                true
            }
            Some(State::Open) | None => true,
        });
        wait(types, pool.into_iter().filter(Entry::is_open).map(|e| e.file), None)
    }
}
