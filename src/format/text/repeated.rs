//! Lists and maps.

use super::parse::{Parser, Result};
use super::scan::{Kind, Token};
use crate::error::Index;
use crate::format::seen::Seen;
use crate::format::tree::{Item, Span};
use crate::kernel::Value;
use crate::schema::{Default, FieldPlan, MessagePlan, Op};

impl Parser<'_, '_> {
    /// Occurrences of repeated `f` that follow each other, after the name of the first.
    pub(super) fn occurrences(&mut self, m: &MessagePlan, f: &FieldPlan, name: Token, mark: usize) -> Result<()> {
        let list = self.tree.mark();
        let is_again = |p: &Self| {
            (name.kind, p.token.kind) == (Kind::Name, Kind::Name) && p.scan.bytes(name) == p.scan.bytes(p.token)
        };
        loop {
            self.colon(f).map_err(|e| self.around(m, f, Index::None, e))?;
            if self.take(b'[') {
                if !self.take(b']') {
                    self.element(m, f, mark, list)?;
                    while !self.take(b']') {
                        if !self.take(b',') {
                            let e = self.expected("\",\" or \"]\"");
                            return Err(self.around(m, f, Index::None, e));
                        }
                        self.element(m, f, mark, list)?;
                    }
                }
            } else {
                self.element(m, f, mark, list)?;
            }
            self.separator();
            if !is_again(self) {
                break;
            }
            self.advance();
        }
        if self.tree.mark() > list {
            let item = match f.op {
                Op::Map => Item::Map(self.tree.close_map(list)),
                _ => Item::List(self.tree.close_list(list)),
            };
            self.push(f.index, item)?;
        }
        Ok(())
    }

    /// An element of the list that begins at `list`, in a message that begins at `mark`.
    fn element(&mut self, m: &MessagePlan, f: &FieldPlan, mark: usize, list: usize) -> Result<()> {
        if f.op == Op::Map {
            return self.pair(m, f);
        }
        let here = self.tree.mark();
        match self.value(f) {
            Ok(item) => self.push(f.index, item),
            Err(e) => {
                // What came before it, in this list and in others of the field.
                let before = self.tree.since(mark).iter().take(list.saturating_sub(mark));
                let lists = before.map(|entry| match entry.item {
                    Item::List(span) if entry.field == f.index => span.len(),
                    _ => 0,
                });
                let index = lists.sum::<usize>().saturating_add(here.saturating_sub(list)).saturating_add(1);
                Err(self.around(m, f, Index::At(index as u64), e))
            }
        }
    }

    /// An entry of the map `f`.
    fn pair(&mut self, m: &MessagePlan, f: &FieldPlan) -> Result<()> {
        let set = self.cx.set;
        let Some(entry) = set.message(f.sub) else { return Ok(()) };
        let mark = self.tree.mark();
        let mut seen = Seen::default();
        let end = self.open().map_err(|e| self.around(m, f, Index::None, e))?;
        if let Err(e) = self.fields(entry, end, &mut seen) {
            self.around_entry(m, f, entry.fields.first().is_some_and(|key| seen.has(key)), mark);
            return Err(e);
        }
        let mut parts = [None, None];
        while let Some(part) = self.tree.pop(mark) {
            if let Some(slot) = parts.get_mut(usize::from(part.field)) {
                *slot = Some(part.item);
            }
        }
        for (index, part) in (0..).zip(parts) {
            match part {
                Some(item) => self.tree.push(index, item),
                None => {
                    let item = self.default(entry, index);
                    self.push(index, item)?;
                }
            }
        }
        Ok(())
    }

    /// What a key or value that is not there is.
    fn default(&mut self, entry: &MessagePlan, index: u16) -> Item {
        match entry.defaults.get(usize::from(index)) {
            Some(Default::Bytes(v)) => self.tree.add_bytes(v),
            default => default.and_then(Value::of).map_or(Item::Message(Span::default()), Item::Scalar),
        }
    }
}
