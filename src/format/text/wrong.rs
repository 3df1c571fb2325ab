//! What is wrong with a text, in words.

use std::fmt::Arguments;

use super::names;
use super::parse::Parser;
use super::scan::Kind;
use crate::error::{self, Index, quoted};
use crate::format::Misread;
use crate::format::seen::Clash;
use crate::schema::{FieldPlan, MessagePlan, did_you_mean};

impl Parser<'_, '_> {
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
    pub(super) fn limit(&self, at: usize, kind: error::Kind) -> Misread {
        self.fail(at, format_args!("{kind}"))
    }

    /// Notes that `error` arose in `f` of `m`. Of an entry, its map tells the place.
    #[cold]
    pub(super) fn around(&self, m: &MessagePlan, f: &FieldPlan, index: Index, error: Misread) -> Misread {
        if !m.map_entry {
            self.cx.trace.step(m.name_of(f), index);
        }
        error
    }

    /// Notes that an error arose in an entry of the map `f` of `m` whose parts begin at `mark`. With a `key`, it may
    /// be there.
    #[cold]
    pub(super) fn around_entry(&self, m: &MessagePlan, f: &FieldPlan, key: bool, mark: usize) {
        let name = m.name_of(f);
        match self.tree.since(mark).first().filter(|first| key && first.field == 0) {
            Some(key) => self.tree.step_entry(key.item, name, self.cx.trace),
            None => self.cx.trace.step(name, Index::None),
        }
    }

    #[cold]
    pub(super) fn clash(&self, m: &MessagePlan, clash: Clash, at: usize) -> Misread {
        match clash {
            Clash::Twice => self.fail(at, format_args!("given twice")),
            Clash::Member(oneof, other) => {
                self.fail(at, format_args!("oneof {oneof}: \"{}\" is set already", m.name_of(other)))
            }
        }
    }

    /// The error that no field begins here.
    #[cold]
    pub(super) fn no_field(&self, end: Kind) -> Misread {
        match end {
            Kind::Symbol(end) => self.expected(&format!("a field name or \"{}\"", char::from(end))),
            _ => self.expected("a field name"),
        }
    }

    /// The error that `m` has no field `name`.
    #[cold]
    pub(super) fn unknown_field(&self, m: &MessagePlan, name: &str, at: usize) -> Misread {
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
