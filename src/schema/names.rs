//! The names of a set: a map that shares most of its entries with those it was made from.

use std::collections::HashMap;
use std::sync::Arc;

use super::imports::FileId;
use super::set::Symbol;

/// What a name stands for, and in which file.
type Meaning = (Symbol, FileId);

/// A map in layers. The latest is its own; those below never change, and each has at least twice as many names as all
/// above it, so they are few, and to add to a copy costs little however often it is done.
#[derive(Debug, Default, Clone)]
pub(super) struct SymbolTable {
    own: HashMap<Arc<str>, Meaning>,
    shared: Vec<Arc<HashMap<Arc<str>, Meaning>>>,
}

impl SymbolTable {
    pub(super) fn get(&self, name: &str) -> Option<(&Arc<str>, Meaning)> {
        let shared = self.shared.iter().rev().map(|layer| &**layer);
        let (name, meaning) = std::iter::once(&self.own).chain(shared).find_map(|layer| layer.get_key_value(name))?;
        Some((name, *meaning))
    }

    /// Adds a name, unless it is there; then what it means stays and is the answer.
    pub(super) fn insert(&mut self, name: Arc<str>, symbol: Symbol, file: FileId) -> Option<Meaning> {
        if let Some((_, meaning)) = self.get(&name) {
            return Some(meaning);
        }
        self.own.insert(name, (symbol, file));
        None
    }

    /// Makes copies cheap.
    pub(super) fn seal(&mut self) {
        let mut layer = std::mem::take(&mut self.own);
        while let Some(below) = self.shared.pop_if(|below| below.len() / 2 < layer.len()) {
            let (mut large, small) = match Arc::try_unwrap(below) {
                Ok(below) if below.len() > layer.len() => (below, layer),
                Ok(below) => (layer, below),
                Err(below) => (HashMap::clone(&below), layer),
            };
            large.extend(small);
            layer = large;
        }
        if !layer.is_empty() {
            self.shared.push(Arc::new(layer));
        }
    }

    /// All names, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, Meaning)> {
        let layers = self.shared.iter().map(|layer| &**layer).chain([&self.own]);
        layers.flatten().map(|(name, meaning)| (name, *meaning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_grows_on_its_own() {
        let mut table = SymbolTable::default();
        let mut copies = Vec::new();
        for i in 0..1000 {
            assert_eq!(table.insert(format!("n{i}").into(), Symbol::Message(i), i), None);
            table.seal();
            copies.push(table.clone());
        }
        assert!(table.shared.len() <= 10, "{} layers", table.shared.len());
        assert!(table.shared.windows(2).all(|pair| pair[0].len() >= 2 * pair[1].len()));
        for (copy, n) in copies.iter().zip(1u32..) {
            let has = |i: u32| copy.get(&format!("n{i}")).map(|(_, meaning)| meaning);
            assert_eq!(has(n - 1), Some((Symbol::Message(n - 1), n - 1)));
            assert_eq!((has(0), has(n)), (Some((Symbol::Message(0), 0)), None));
            assert_eq!(copy.iter().count(), n as usize);
        }
        assert_eq!(table.insert("n7".into(), Symbol::Service, 1), Some((Symbol::Message(7), 7)));
        assert_eq!(table.get("n7").map(|(_, meaning)| meaning), Some((Symbol::Message(7), 7)));
    }
}
