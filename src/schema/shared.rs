//! Sharing: all sets of the process, so that Lua states with equal files have one set, and one
//! with some of another's files looks into that.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::base::{BUILT_IN, base};
use super::content::Content;
use super::set::{File, Set};
use super::types::Types;

/// All sets in use. They are few: programs have a version or two of their schemas.
static SETS: Mutex<Vec<Weak<Set>>> = Mutex::new(Vec::new());

/// A file that is to be seen, under one of its names.
#[derive(Clone)]
pub(super) struct Wanted {
    pub(super) name: Arc<str>,
    pub(super) content: Content,
    pub(super) source_info: Option<Content>,
}

impl Wanted {
    fn is(&self, file: &File) -> bool {
        // Comments that were not given do no harm.
        let info = self.source_info.is_none() || self.source_info == file.source_info;
        info && self.content == file.content
    }
}

/// The `wanted` files, all that are not built in, seen in a set that exists.
pub(super) fn find(wanted: &[Wanted]) -> Option<Types> {
    find_in(&mut lock(), wanted)
}

/// Makes the set of `types`, which are the `wanted` files, known. Answers them as seen there, or in a set that another
/// thread made known meanwhile.
pub(super) fn publish(types: Types, wanted: &[Wanted]) -> Types {
    let mut sets = lock();
    find_in(&mut sets, wanted).unwrap_or_else(|| {
        sets.push(Arc::downgrade(&types.set));
        types
    })
}

fn lock() -> MutexGuard<'static, Vec<Weak<Set>>> {
    // Nothing that is done with the lock leaves it half done.
    SETS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prefers a set without other files: it has the fewest types, and lives no longer than it must.
fn find_in(sets: &mut Vec<Weak<Set>>, wanted: &[Wanted]) -> Option<Types> {
    if wanted.is_empty() {
        return Some(Types::clone(base()));
    }
    let mut found: Option<Types> = None;
    sets.retain(|weak| {
        let Some(set) = weak.upgrade() else { return false };
        if found.as_ref().is_none_or(|types| types.chosen.is_some())
            && let Some(types) = see(&set, wanted)
        {
            found = Some(types);
        }
        true
    });
    found
}

/// The `wanted` files, seen in `set`, if it has them all, they mean the same files by their imports, and no other file
/// has an influence on them.
fn see(set: &Arc<Set>, wanted: &[Wanted]) -> Option<Types> {
    // What is new comes last, and is what most sets lack.
    let newest = wanted.last()?;
    if !set.by_name.contains_key(&newest.name) && !set.by_content.contains_key(&newest.content) {
        return None;
    }
    let mut aliases = HashMap::new();
    let mut chosen = vec![false; set.files.len()];
    chosen.iter_mut().take(BUILT_IN.len()).for_each(|chosen| *chosen = true);
    for file in wanted.iter().rev() {
        match set.by_name.get(&file.name).filter(|id| set.file(**id).is_some_and(|f| file.is(f))) {
            Some(id) => *chosen.get_mut(*id as usize)? = true,
            None => {
                let id = *set.by_content.get(&file.content)?;
                if !set.file(id).is_some_and(|f| file.is(f)) {
                    return None;
                }
                aliases.insert(file.name.clone(), id);
            }
        }
    }
    // A file that is seen is seen by its first name.
    if !aliases.values().all(|id| chosen.get(*id as usize) == Some(&true)) {
        return None;
    }
    let all = chosen.iter().all(|chosen| *chosen);
    let types = Types { set: set.clone(), chosen: (!all).then(|| chosen.into()), aliases, ..Types::default() };
    let independent = (0..).zip(&set.files).all(|(id, file)| {
        if types.has(id) {
            file.dependencies.iter().all(|(name, id)| types.id(name) == Some(*id))
        } else {
            !file.extends
        }
    });
    independent.then_some(types)
}
