//! Text to fields.

use std::collections::{HashMap, HashSet};
use std::fmt::Arguments;

use super::super::any;
use super::super::place::Misread;
use super::super::tree::{Item, Span, Tree};
use super::names;
use super::scan::{Kind, Scanner, Token};
use super::seen::{Clash, Seen};
use crate::error::{self, Index, quoted};
use crate::kernel::{Context, Value};
use crate::schema::{Default, FieldPlan, Flags, MessagePlan, Op, Types, did_you_mean};

/// Result of everything that reads.
pub(super) type Result<T> = std::result::Result<T, Misread>;

/// Reads `text` as the message `m` into `tree`. Required fields may be missing.
///
/// # Errors
/// Text that is none of such a message; the trace holds the path and the text then.
pub fn read(text: &[u8], m: &MessagePlan, types: &Types, tree: &mut Tree, cx: &mut Context) -> Result<Span> {
    cx.budget.bytes = cx.budget.bytes.min(Tree::LARGEST);
    let mut scan = Scanner::new(text);
    let token = scan.next();
    let mark = tree.mark();
    let mut parser = Parser { scan, token, tree, types, cx: *cx, literal: Vec::new(), reserved: HashMap::new() };
    let read = parser.fields(m, Kind::End, &mut Seen::default());
    cx.budget.bytes = parser.cx.budget.bytes;
    if let Err(e) = read {
        tree.take(mark);
        return Err(e);
    }
    Ok(tree.close_message(mark, m, cx.set))
}

/// What reading a text needs.
pub(super) struct Parser<'a, 't> {
    pub(super) scan: Scanner<'a>,
    /// The next token, which nothing has used yet.
    pub(super) token: Token,
    pub(super) tree: &'t mut Tree,
    types: &'a Types,
    pub(super) cx: Context<'a>,
    /// Where strings are put together.
    pub(super) literal: Vec<u8>,
    /// The reserved names of the messages in which some were asked for.
    reserved: HashMap<u32, HashSet<&'a str>>,
}

impl<'a> Parser<'a, '_> {
    /// Goes to the next token.
    pub(super) fn advance(&mut self) {
        self.token = self.scan.next();
    }

    /// Goes beyond the symbol if it is next; answers whether it was.
    pub(super) fn take(&mut self, symbol: u8) -> bool {
        let there = self.token.kind == Kind::Symbol(symbol);
        if there {
            self.advance();
        }
        there
    }

    /// The token as a string: names and numbers are ASCII.
    pub(super) fn text(&self, token: Token) -> &'a str {
        std::str::from_utf8(self.scan.bytes(token)).unwrap_or_default()
    }

    /// The error that `what` tells of what is at `at`.
    #[cold]
    pub(super) fn fail(&self, at: usize, what: Arguments) -> Misread {
        self.cx.trace.detail(what);
        Misread { at }
    }

    /// The error that the next token is not `what`.
    #[cold]
    pub(super) fn expected(&self, what: &str) -> Misread {
        let bytes = self.scan.bytes(self.token);
        let at = self.token.start;
        match self.token.kind {
            Kind::Bad(why) if bytes.starts_with(b"\"") || bytes.starts_with(b"'") => {
                self.fail(at, format_args!("{why}"))
            }
            Kind::Bad(why) => self.fail(at, format_args!("{why} {}", quoted(bytes))),
            Kind::End => self.fail(at, format_args!("expected {what}, got the end of the text")),
            Kind::Quoted => {
                let within = bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default();
                self.fail(at, format_args!("expected {what}, got {}", quoted(within)))
            }
            _ => self.fail(at, format_args!("expected {what}, got {}", shown(bytes))),
        }
    }

    /// The error that a limit is passed at `at`.
    #[cold]
    fn limit(&self, at: usize, kind: error::Kind) -> Misread {
        self.fail(at, format_args!("{kind}"))
    }

    /// Goes one level down.
    pub(super) fn enter(&mut self) -> Result<()> {
        self.cx.budget.enter().map_err(|kind| self.limit(self.token.start, kind))
    }

    /// Takes `n` bytes of memory.
    pub(super) fn charge(&mut self, n: u64) -> Result<()> {
        self.cx.budget.charge(n).map_err(|kind| self.limit(self.token.start, kind))
    }

    fn push(&mut self, field: u16, item: Item) -> Result<()> {
        self.charge(Tree::ENTRY)?;
        self.tree.push(field, item);
        Ok(())
    }

    /// The fields of a message `m` up to `end`, which is taken too.
    fn fields(&mut self, m: &MessagePlan, end: Kind, seen: &mut Seen) -> Result<()> {
        let mark = self.tree.mark();
        while self.token.kind != end {
            self.field(m, end, mark, seen)?;
        }
        self.advance();
        Ok(())
    }

    /// A field of `m`, whose fields begin at `mark`.
    fn field(&mut self, m: &MessagePlan, end: Kind, mark: usize, seen: &mut Seen) -> Result<()> {
        let name = self.token;
        let f = match name.kind {
            Kind::Name => {
                let text = self.text(name);
                self.advance();
                match names::find(m, text, &self.cx) {
                    Some(f) => f,
                    None if self.is_reserved(m, text) => return self.skip_field(),
                    None => return Err(self.unknown_field(m, text, name.start)),
                }
            }
            Kind::Symbol(b'[') => {
                let text = self.brackets()?;
                if names::is_any(m) {
                    return self.expanded(m, text.trim_matches(['[', ']']), name.start, seen);
                }
                match m.by_name(&text).filter(|f| f.flags.has(Flags::EXTENSION)) {
                    Some(f) => f,
                    None => return Err(self.unknown_field(m, &text, name.start)),
                }
            }
            _ => return Err(self.no_field(end)),
        };
        if f.repeated() {
            return self.occurrences(m, f, name, mark);
        }
        let item = match seen.add(m, f) {
            Ok(()) => self.colon(f).and_then(|()| self.value(f)),
            Err(clash) => Err(self.clash(m, clash, name.start)),
        };
        let item = item.map_err(|e| self.around(m, f, Index::None, e))?;
        self.push(f.index, item)?;
        self.separator();
        Ok(())
    }

    /// Goes beyond what may stand between fields.
    pub(super) fn separator(&mut self) {
        if !self.take(b',') {
            self.take(b';');
        }
    }

    fn colon(&mut self, f: &FieldPlan) -> Result<()> {
        let optional = matches!(f.op, Op::Message | Op::Group | Op::Map);
        if self.take(b':') || optional { Ok(()) } else { Err(self.expected("\":\"")) }
    }

    /// Occurrences of repeated `f` that follow each other, after the name of the first.
    fn occurrences(&mut self, m: &MessagePlan, f: &FieldPlan, name: Token, mark: usize) -> Result<()> {
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
                Op::Map => Item::Map(self.tree.close_map(list, false)),
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
        for part in self.tree.take(mark) {
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
            Some(Default::Int(v)) => Item::Scalar(Value::Int(*v)),
            // Those of 32 bits are signed in trees.
            Some(Default::Uint(_)) if is_small(entry, index) => Item::Scalar(Value::Int(0)),
            Some(Default::Uint(v)) => Item::Scalar(Value::Uint(*v)),
            Some(Default::Number(v)) => Item::Scalar(Value::Number(*v)),
            Some(Default::Bool(v)) => Item::Scalar(Value::Bool(*v)),
            Some(Default::Enum(v)) => Item::Scalar(Value::Enum(*v)),
            Some(Default::Bytes(v)) => self.tree.add_bytes(v),
            Some(Default::None) | None => Item::Message(Span::default()),
        }
    }

    /// The value of a field, or one of several.
    fn value(&mut self, f: &FieldPlan) -> Result<Item> {
        let set = self.cx.set;
        match (f.op, set.message(f.sub)) {
            (Op::Message | Op::Group, Some(plan)) => Ok(Item::Message(self.message(plan)?)),
            _ => self.scalar(f),
        }
    }

    /// Takes the bracket that begins a message; answers the one that ends it.
    pub(super) fn open(&mut self) -> Result<Kind> {
        if self.take(b'{') {
            Ok(Kind::Symbol(b'}'))
        } else if self.take(b'<') {
            Ok(Kind::Symbol(b'>'))
        } else {
            Err(self.expected("\"{\""))
        }
    }

    /// A message in brackets.
    fn message(&mut self, m: &MessagePlan) -> Result<Span> {
        self.enter()?;
        let end = self.open()?;
        let mark = self.tree.mark();
        self.fields(m, end, &mut Seen::default())?;
        self.cx.budget.leave();
        Ok(self.tree.close_message(mark, m, self.cx.set))
    }

    /// The message of the type that `url` names as the only content of an Any `m`, after its name in brackets.
    fn expanded(&mut self, m: &MessagePlan, url: &str, at: usize, seen: &mut Seen) -> Result<()> {
        if let Some(what) = names::wrong_url(url) {
            return Err(self.fail(at, format_args!("{what}: {}", quoted(url.as_bytes()))));
        }
        if seen.any() {
            return Err(self.fail(at, format_args!("a type in brackets must stand alone")));
        }
        for f in &m.fields {
            // They are new, so that neither clashes.
            let _ = seen.add(m, f);
        }
        let plan = any::type_of(self.types, url).map_err(|what| self.fail(at, format_args!("{what}")))?;
        self.take(b':');
        let mark = self.tree.mark();
        let pushed = self
            .message(plan)
            .and_then(|root| any::push(url, root, plan, self.tree, &self.cx).map_err(|_| Misread { at }));
        if let Err(e) = pushed {
            self.cx.trace.step(&format!("[{}]", plan.name), Index::None);
            return Err(e);
        }
        let taken = self.tree.since(mark).iter().map(|entry| match entry.item {
            Item::Bytes(span) => Tree::ENTRY.saturating_add(span.len() as u64),
            _ => 0,
        });
        self.charge(taken.sum())?;
        self.separator();
        Ok(())
    }

    /// What stands in brackets, of which the first is next, with both; space and comments are no part of it.
    pub(super) fn brackets(&mut self) -> Result<String> {
        let mut name = String::from("[");
        loop {
            self.scan.space();
            match self.scan.peek() {
                Some(b) if names::in_brackets(b) => name.push(char::from(b)),
                Some(b']') => break,
                _ => {
                    self.advance();
                    return Err(self.expected("\"]\""));
                }
            }
            self.scan.step();
        }
        self.scan.step();
        self.advance();
        name.push(']');
        Ok(name)
    }

    /// Whether `name` is reserved in `m`: such fields were there once.
    fn is_reserved(&mut self, m: &MessagePlan, name: &str) -> bool {
        let types = self.types;
        let names = self.reserved.entry(m.index).or_insert_with(|| types.reserved_names(&m.name).collect());
        names.contains(name)
    }

    /// Notes that `error` arose in `f` of `m`. Of an entry, its map tells the place.
    #[cold]
    fn around(&self, m: &MessagePlan, f: &FieldPlan, index: Index, error: Misread) -> Misread {
        if !m.map_entry {
            self.cx.trace.step(m.name_of(f), index);
        }
        error
    }

    /// Notes that an error arose in an entry of the map `f` of `m` whose parts begin at `mark`. With a `key`, it may
    /// be there.
    #[cold]
    fn around_entry(&self, m: &MessagePlan, f: &FieldPlan, key: bool, mark: usize) {
        let name = m.name_of(f);
        let key = self.tree.since(mark).first().filter(|first| key && first.field == 0);
        names::step(self.tree, name, key.map(|key| key.item), self.cx.trace);
    }

    #[cold]
    fn clash(&self, m: &MessagePlan, clash: Clash, at: usize) -> Misread {
        match clash {
            Clash::Twice => self.fail(at, format_args!("given twice")),
            Clash::Member(oneof, other) => {
                self.fail(at, format_args!("oneof {oneof}: \"{}\" is set already", m.name_of(other)))
            }
        }
    }

    /// The error that no field begins here.
    #[cold]
    fn no_field(&self, end: Kind) -> Misread {
        match end {
            Kind::Symbol(end) => self.expected(&format!("a field name or \"{}\"", char::from(end))),
            _ => self.expected("a field name"),
        }
    }

    /// The error that `m` has no field `name`.
    #[cold]
    fn unknown_field(&self, m: &MessagePlan, name: &str, at: usize) -> Misread {
        let names = || m.fields.iter().map(|f| names::of(m, f, &self.cx));
        let bare = name.trim_matches(['[', ']']);
        let in_scope = |full: &&str| full.strip_suffix(']').is_some_and(|full| scoped(full, bare));
        let own = || m.by_name(bare).map(|f| names::of(m, f, &self.cx));
        let hint = match names().find(in_scope).or_else(own) {
            Some(meant) => format!(" (did you mean {meant:?}?)"),
            None => did_you_mean(name, names()),
        };
        self.fail(at, format_args!("unknown field {}{hint}", quoted(name.as_bytes())))
    }
}

/// Whether the field of `entry` at `index` has unsigned numbers of 32 bits.
fn is_small(entry: &MessagePlan, index: u16) -> bool {
    entry.fields.get(usize::from(index)).is_some_and(|f| matches!(f.op, Op::Uint32 | Op::Fixed32))
}

/// Whether `full`, of an extension, is `bare` in some scope.
fn scoped(full: &str, bare: &str) -> bool {
    full.strip_suffix(bare).is_some_and(|scope| scope.ends_with(['.', '[']))
}

/// `bytes` as they are, unless there are many.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 64;
    match bytes.get(..MOST) {
        Some(cut) => format!("{}...", String::from_utf8_lossy(cut)),
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}
