//! JSON to trees: objects, arrays, and what is absent.

use std::borrow::Cow;

use super::scan::{Result, Scanner};
use super::well_known::{Kind, takes_null};
use crate::error::{Index, Kind as Wrong, quoted};
use crate::format::ParseError;
use crate::format::seen::{Clash, Seen};
use crate::format::tree::{Item, Span, Tree};
use crate::kernel::Context;
use crate::schema::{FieldPlan, MessagePlan, Op, Types, name_hint};

/// Reads `text` as the message `m` into `tree`, and answers where it is. With `ignore_unknown`, members that the type
/// does not have are left out, and enum values by names that the enum does not have.
///
/// # Errors
/// Text that is no JSON or does not fit the type. The trace holds the path and what is wrong then.
pub fn read(
    text: &[u8],
    m: &MessagePlan,
    types: &Types,
    ignore_unknown: bool,
    tree: &mut Tree,
    cx: &mut Context,
) -> Result<Span> {
    cx.budget.bytes = cx.budget.bytes.min(Tree::LARGEST);
    let mut parser = Parser { s: Scanner::new(text, cx.trace), types, tree, ignore_unknown, cx };
    // No string in it is longer than its text.
    parser.charge(text.len() as u64)?;
    let root = parser.outermost(m)?;
    parser.s.end()?;
    Ok(root)
}

pub(super) struct Parser<'a, 't, 'c> {
    pub(super) s: Scanner<'t>,
    pub(super) types: &'a Types,
    pub(super) tree: &'a mut Tree,
    pub(super) ignore_unknown: bool,
    pub(super) cx: &'a mut Context<'c>,
}

impl Parser<'_, '_, '_> {
    pub(super) fn charge(&mut self, bytes: u64) -> Result<()> {
        match self.cx.budget.charge(bytes) {
            Ok(()) => Ok(()),
            Err(kind) => self.here(kind),
        }
    }

    #[cold]
    fn here<T>(&mut self, kind: Wrong) -> Result<T> {
        let at = self.s.start();
        self.s.fail(at, format_args!("{kind}"))
    }

    /// Adds to what is open.
    #[inline(always)]
    pub(super) fn push(&mut self, field: u16, item: Item) -> Result<()> {
        self.charge(Tree::ENTRY)?;
        self.tree.push(field, item);
        Ok(())
    }

    pub(super) fn enter(&mut self) -> Result<()> {
        match self.cx.budget.enter() {
            Ok(()) => Ok(()),
            Err(kind) => self.here(kind),
        }
    }

    pub(super) fn message(&mut self, m: &MessagePlan) -> Result<Span> {
        self.enter()?;
        let message = self.outermost(m)?;
        self.cx.budget.leave();
        Ok(message)
    }

    /// A message that is no level of its own.
    fn outermost(&mut self, m: &MessagePlan) -> Result<Span> {
        let mark = self.tree.mark();
        match Kind::of(m) {
            Some(kind) => self.well_known(kind, m)?,
            None => self.object(m, None)?,
        }
        Ok(self.tree.close_message(mark, m, &self.types.set))
    }

    /// Reads an object, calling `member` for each key.
    pub(super) fn members(&mut self, mut member: impl FnMut(&mut Self, usize, Cow<str>) -> Result<()>) -> Result<()> {
        if !self.s.take(b'{') {
            return self.s.wrong("object");
        }
        if self.s.take(b'}') {
            return Ok(());
        }
        loop {
            let at = self.s.start();
            let key = self.s.string_of("a key in double quotes")?;
            self.s.expect(b':')?;
            member(self, at, key)?;
            if !self.s.take(b',') {
                return if self.s.take(b'}') { Ok(()) } else { self.s.wrong("',' or '}'") };
            }
        }
    }

    /// Reads an array, calling `element` for each of its elements.
    pub(super) fn elements(&mut self, mut element: impl FnMut(&mut Self, u64) -> Result<()>) -> Result<()> {
        if !self.s.take(b'[') {
            return self.s.wrong("array");
        }
        if self.s.take(b']') {
            return Ok(());
        }
        let mut index = 1u64;
        loop {
            element(self, index)?;
            index = index.saturating_add(1);
            if !self.s.take(b',') {
                return if self.s.take(b']') { Ok(()) } else { self.s.wrong("',' or ']'") };
            }
        }
    }

    /// The fields of `m`, as members of an object. A member called `but` is passed over, once.
    pub(super) fn object(&mut self, m: &MessagePlan, mut but: Option<&str>) -> Result<()> {
        let names = self.types.json_names(m);
        let (mut seen, mut nulls, mut next) = (Seen::default(), Seen::default(), 0);
        self.members(|p, at, key| {
            if but == Some(&*key) {
                but = None;
                return p.skip();
            }
            let Some(f) = names.field(m, &key, next) else { return p.unknown(at, m, &key) };
            next = usize::from(f.index).saturating_add(1);
            // A member of a oneof that is null leaves the others their place.
            let absent = p.s.peek() == b'n' && !takes_null(f, p.types);
            let clash = if absent { nulls.add_alone(f) } else { seen.add(m, f) };
            let again = if absent { seen.has(f) } else { nulls.has(f) };
            match clash {
                Ok(()) if !again => p.field(m, f),
                Err(Clash::Member(oneof, other)) => {
                    let (a, b) = (m.name_of(other), m.name_of(f));
                    p.s.fail(at, format_args!("oneof {oneof}: both \"{a}\" and \"{b}\" are set"))
                }
                _ => p.s.fail(at, format_args!("key {} comes twice", quoted(key.as_bytes()))),
            }
        })
    }

    #[cold]
    pub(super) fn unknown(&mut self, at: usize, m: &MessagePlan, key: &str) -> Result<()> {
        if self.ignore_unknown {
            return self.skip();
        }
        let hint = name_hint(key, || self.types.json_names(m).keys());
        self.s.fail(at, format_args!("unknown field {}{hint}", quoted(key.as_bytes())))
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self) -> Result<()> {
        match self.s.peek() {
            b'{' => {
                self.enter()?;
                self.members(|p, _, _| p.skip())?;
                self.cx.budget.leave();
            }
            b'[' => {
                self.enter()?;
                self.elements(|p, _| p.skip())?;
                self.cx.budget.leave();
            }
            b'"' => drop(self.s.string()?),
            b'-' | b'0'..=b'9' => drop(self.s.number()?),
            _ if ["true", "false", "null"].iter().any(|word| self.s.word(word)) => {}
            _ => return self.s.wrong("value"),
        }
        Ok(())
    }

    /// The value of `f`, which `null` leaves absent.
    fn field(&mut self, m: &MessagePlan, f: &FieldPlan) -> Result<()> {
        if f.op == Op::Map {
            return self.map(m, f);
        }
        if f.repeated() {
            return self.list(m, f);
        }
        if self.s.peek() == b'n' && !takes_null(f, self.types) && self.s.word("null") {
            return Ok(());
        }
        match self.value(f) {
            Ok(Some(item)) => self.push(f.index, item),
            Ok(None) => Ok(()),
            Err(e) => Err(self.within(m, f, Index::None, e)),
        }
    }

    #[cold]
    #[inline(never)]
    fn within(&self, m: &MessagePlan, f: &FieldPlan, index: Index, error: ParseError) -> ParseError {
        self.cx.trace.step(m.name_of(f), index);
        error
    }

    pub(super) fn list(&mut self, m: &MessagePlan, f: &FieldPlan) -> Result<()> {
        if self.s.word("null") {
            return Ok(());
        }
        let mark = self.tree.mark();
        if self.s.peek() != b'[' {
            let wrong = self.s.wrong("array");
            return wrong.map_err(|e| self.within(m, f, Index::None, e));
        }
        self.elements(|p, index| {
            let put = p.value(f).and_then(|item| item.map_or(Ok(()), |item| p.push(f.index, item)));
            put.map_err(|e| p.within(m, f, Index::At(index), e))
        })?;
        let list = self.tree.close_list(mark);
        if list.is_empty() { Ok(()) } else { self.push(f.index, Item::List(list)) }
    }

    pub(super) fn map(&mut self, m: &MessagePlan, f: &FieldPlan) -> Result<()> {
        if self.s.word("null") {
            return Ok(());
        }
        let types = self.types;
        let Some([key, value]) = types.set.message(f.sub).map(|entry| &*entry.fields) else { return Ok(()) };
        if self.s.peek() != b'{' {
            let wrong = self.s.wrong("object");
            return wrong.map_err(|e| self.within(m, f, Index::None, e));
        }
        let (mark, start) = (self.tree.mark(), self.s.start());
        self.members(|p, at, text| {
            let within = |p: &Self, e| p.within(m, f, Index::Name(text.as_bytes()), e);
            let item = p.map_key(at, key, &text).map_err(|e| within(p, e))?;
            match p.value(value).map_err(|e| within(p, e))? {
                Some(value) => p.push(0, item).and_then(|()| p.push(1, value)),
                None => Ok(()),
            }
        })?;
        // Keys of different text may be the same number.
        if let Some(key) = self.tree.key_twice(mark) {
            self.tree.step_entry(key, m.name_of(f), self.cx.trace);
            return self.s.fail(start, format_args!("the key comes twice"));
        }
        let map = self.tree.close_list(mark);
        if map.is_empty() { Ok(()) } else { self.push(f.index, Item::Map(map)) }
    }
}
