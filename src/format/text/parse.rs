//! Text to fields.

use std::collections::{HashMap, HashSet};

use super::names;
use super::scan::{Kind, Scanner, Token};
use crate::error::Index;
use crate::format::ParseError;
use crate::format::any;
use crate::format::seen::Seen;
use crate::format::tree::{Item, Span, Tree};
use crate::kernel::Context;
use crate::schema::{FieldPlan, MessagePlan, Op, Types};

/// Result of everything that reads.
pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// Reads `text` as the message `m` into `tree`. Required fields may be missing.
///
/// # Errors
/// Text that is none of such a message; the trace holds the path and the text then.
pub fn read(text: &[u8], m: &MessagePlan, types: &Types, tree: &mut Tree, cx: &mut Context) -> Result<Span> {
    cx.budget.bytes = cx.budget.bytes.min(Tree::LARGEST);
    let mut scan = Scanner::new(text);
    let token = scan.next();
    let mark = tree.mark();
    let mut parser = Parser {
        scan,
        token,
        tree,
        types,
        cx: *cx,
        literal: Vec::new(),
        reserved: HashMap::new(),
        items: HashMap::new(),
    };
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
    pub(super) types: &'a Types,
    pub(super) cx: Context<'a>,
    /// Where strings are put together.
    pub(super) literal: Vec<u8>,
    /// The reserved names of the messages in which some were asked for.
    reserved: HashMap<u32, HashSet<&'a str>>,
    items: names::Items<'a>,
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

    /// Goes one level down.
    pub(super) fn enter(&mut self) -> Result<()> {
        self.cx.budget.enter().map_err(|kind| self.limit(self.token.start, kind))
    }

    /// Takes `n` bytes of memory.
    pub(super) fn charge(&mut self, n: u64) -> Result<()> {
        self.cx.budget.charge(n).map_err(|kind| self.limit(self.token.start, kind))
    }

    pub(super) fn push(&mut self, field: u16, item: Item) -> Result<()> {
        self.charge(Tree::ENTRY)?;
        self.tree.push(field, item);
        Ok(())
    }

    /// The fields of a message `m` up to `end`, which is taken too.
    pub(super) fn fields(&mut self, m: &MessagePlan, end: Kind, seen: &mut Seen) -> Result<()> {
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
                if any::is_any(m) {
                    return self.expanded(m, text.trim_matches(['[', ']']), name.start, seen);
                }
                match names::find_extension(m, &text, &mut self.items, &self.cx) {
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

    pub(super) fn colon(&mut self, f: &FieldPlan) -> Result<()> {
        let optional = matches!(f.op, Op::Message | Op::Group | Op::Map);
        if self.take(b':') || optional { Ok(()) } else { Err(self.expected("\":\"")) }
    }

    /// The value of a field, or one of several.
    pub(super) fn value(&mut self, f: &FieldPlan) -> Result<Item> {
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
    pub(super) fn message(&mut self, m: &MessagePlan) -> Result<Span> {
        self.enter()?;
        let end = self.open()?;
        let mark = self.tree.mark();
        self.fields(m, end, &mut Seen::default())?;
        self.cx.budget.leave();
        Ok(self.tree.close_message(mark, m, self.cx.set))
    }

    /// Whether `name` is reserved in `m`: such fields were there once.
    fn is_reserved(&mut self, m: &MessagePlan, name: &str) -> bool {
        let types = self.types;
        let names = self.reserved.entry(m.index).or_insert_with(|| types.reserved_names(&m.name).collect());
        names.contains(name)
    }
}
