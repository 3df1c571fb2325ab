//! Merging what came in several parts, as the wire allows: see "Last One Wins" and "Maps" in the
//! encoding specification.

use std::collections::{HashMap, HashSet};

use super::tree::{Entry, Item, Tree};
use crate::schema::{Flags, MessagePlan, Set};

/// Whether `fields` of `m` are in order, each once, and no two of one oneof.
pub(super) fn is_normal(fields: &[Entry], m: &MessagePlan) -> bool {
    let ordered = fields.iter().zip(fields.iter().skip(1)).all(|(a, b)| a.field < b.field);
    ordered && (m.oneofs.is_empty() || !shares_oneof(fields, m))
}

/// Whether two of `fields` are members of one oneof.
fn shares_oneof(fields: &[Entry], m: &MessagePlan) -> bool {
    let mut members = fields.iter().filter_map(|e| oneof(e, m));
    let Some(mut last) = members.next() else { return false };
    let mut several = None;
    for oneof in members {
        if oneof == last {
            return true;
        }
        // Members of one oneof mostly adjoin, but need not.
        let seen = several.get_or_insert_with(|| HashSet::from([last]));
        if !seen.insert(oneof) {
            return true;
        }
        last = oneof;
    }
    false
}

/// The oneof of the field, if it has one.
fn oneof(entry: &Entry, m: &MessagePlan) -> Option<u16> {
    let f = m.fields.get(usize::from(entry.field))?;
    f.flags.has(Flags::ONEOF).then_some(f.oneof)
}

/// Brings the open fields since `mark`, of a message `m`, to the form of a closed one.
pub(super) fn normalize(tree: &mut Tree, mark: usize, m: &MessagePlan, set: &Set) {
    let mut fields = tree.take(mark);
    if !m.oneofs.is_empty() {
        keep_last_members(&mut fields, m);
    }
    // Stable, so occurrences stay in their order.
    fields.sort_by_key(|e| e.field);
    for parts in fields.chunk_by(|a, b| a.field == b.field) {
        if let Some(entry) = whole(tree, parts, m, set) {
            tree.push(entry.field, entry.item);
        }
    }
}

/// Of each oneof, drops all but the last member and what came of that without another between.
fn keep_last_members(fields: &mut Vec<Entry>, m: &MessagePlan) {
    // For each oneof the last member, and whether another one came before it.
    let mut last: HashMap<u16, (u16, bool)> = HashMap::new();
    fields.reverse();
    fields.retain(|entry| {
        let Some(oneof) = oneof(entry, m) else { return true };
        let (member, other) = last.entry(oneof).or_insert((entry.field, false));
        *other |= entry.field != *member;
        !*other
    });
    fields.reverse();
}

/// All `parts` of one field of `m` as one.
fn whole(tree: &mut Tree, parts: &[Entry], m: &MessagePlan, set: &Set) -> Option<Entry> {
    let last = *parts.last()?;
    if parts.len() == 1 {
        return Some(last);
    }
    let mark = tree.mark();
    let item = match last.item {
        Item::Scalar(_) => last.item,
        Item::Bytes(_) if last.field == Entry::UNKNOWN => {
            let bytes: Vec<u8> = parts.iter().flat_map(|part| bytes(tree, part.item)).copied().collect();
            tree.add_bytes(&bytes)
        }
        Item::Bytes(_) => last.item,
        Item::Message(_) => {
            reopen_all(tree, parts);
            let plan = set.message(m.fields.get(usize::from(last.field))?.sub)?;
            Item::Message(tree.close_message(mark, plan, set))
        }
        Item::List(_) => {
            reopen_all(tree, parts);
            Item::List(tree.close_list(mark))
        }
        Item::Map(_) => {
            reopen_all(tree, parts);
            Item::Map(tree.close_map(mark))
        }
    };
    Some(Entry { item, ..last })
}

fn bytes(tree: &Tree, item: Item) -> &[u8] {
    match item {
        Item::Bytes(span) => tree.bytes(span),
        _ => &[],
    }
}

fn reopen_all(tree: &mut Tree, parts: &[Entry]) {
    for part in parts {
        if let Item::Message(span) | Item::List(span) | Item::Map(span) = part.item {
            tree.reopen(span);
        }
    }
}

/// A key that two of the `entries` of a map have.
pub(super) fn key_twice(tree: &Tree, entries: &[Entry]) -> Option<Item> {
    let (pairs, _) = entries.as_chunks::<2>();
    if pairs.len() < 2 {
        return None;
    }
    let mut seen = HashSet::with_capacity(pairs.len());
    pairs.iter().find(|[k, _]| !seen.insert(tree.key(k.item))).map(|[k, _]| k.item)
}

/// Drops entries of the open map since `mark` whose key comes once more, and sorts by keys if the tree does that.
pub(super) fn entries_of_map(tree: &mut Tree, mark: usize) {
    let flat = tree.take(mark);
    let mut pairs: Vec<[Entry; 2]> = flat.as_chunks().0.to_vec();
    {
        let tree = &*tree;
        let key = |pair: &[Entry; 2]| tree.key(pair[0].item);
        let mut seen = HashSet::with_capacity(pairs.len());
        pairs.reverse();
        pairs.retain(|pair| seen.insert(key(pair)));
        pairs.reverse();
        if tree.sorts_maps() {
            pairs.sort_by(|a, b| key(a).cmp(&key(b)));
        }
    }
    for entry in pairs.as_flattened() {
        tree.push(entry.field, entry.item);
    }
}
