//! What is wrong with a text, in words.

use std::fmt::Arguments;

use super::names;
use super::parse::Parser;
use super::scan::Kind;
use crate::error::{self, Index, quoted};
use crate::format::ParseError;
use crate::format::seen::Clash;
use crate::schema::{FieldPlan, MessagePlan, name_hint};

impl Parser<'_, '_> {
    /// The error that `what` tells of what is at `at`.
    #[cold]
    pub(super) fn fail(&self, at: usize, what: Arguments) -> ParseError {
        self.cx.trace.detail(what);
        ParseError { at }
    }

    /// The error that the next token is not `what`.
    #[cold]
    pub(super) fn expected(&self, what: &str) -> ParseError {
        let bytes = self.scan.bytes(self.token);
        let at = self.token.start;
        match self.token.kind {
            Kind::Bad(why) if bytes.starts_with(b"\"") || bytes.starts_with(b"'") => {
                self.fail(at, format_args!("{why}"))
            }
            Kind::Bad(why) => self.fail(at, format_args!("{why} {}", quoted(bytes))),
            Kind::End => self.fail(at, format_args!("expected {what}, got the end of the text")),
            Kind::String => {
                let within = bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default();
                self.fail(at, format_args!("expected {what}, got {}", quoted(within)))
            }
            _ => self.fail(at, format_args!("expected {what}, got {}", shown(bytes))),
        }
    }

    /// The error that a limit is passed at `at`.
    #[cold]
    pub(super) fn limit(&self, at: usize, kind: error::Kind) -> ParseError {
        self.fail(at, format_args!("{kind}"))
    }

    /// Notes that `error` arose in `f` of `m`. Of an entry, its map tells the place.
    #[cold]
    pub(super) fn around(&self, m: &MessagePlan, f: &FieldPlan, index: Index, error: ParseError) -> ParseError {
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
    pub(super) fn clash(&self, m: &MessagePlan, clash: Clash, at: usize) -> ParseError {
        match clash {
            Clash::Twice => self.fail(at, format_args!("given twice")),
            Clash::Member(oneof, other) => {
                self.fail(at, format_args!("oneof {oneof}: \"{}\" is set already", m.name_of(other)))
            }
        }
    }

    /// The error that no field begins here.
    #[cold]
    pub(super) fn no_field(&self, end: Kind) -> ParseError {
        match end {
            Kind::Symbol(end) => self.expected(&format!("a field name or \"{}\"", char::from(end))),
            _ => self.expected("a field name"),
        }
    }

    /// The error that `m` has no field `name`.
    #[cold]
    pub(super) fn unknown_field(&self, m: &MessagePlan, name: &str, at: usize) -> ParseError {
        let hint = name_hint(name, || m.fields.iter().map(|f| names::of(m, f, &self.cx)));
        self.fail(at, format_args!("unknown field {}{hint}", quoted(name.as_bytes())))
    }
}

/// `bytes` as they are, unless there are many.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 64;
    match bytes.get(..MOST) {
        Some(cut) => format!("{}...", String::from_utf8_lossy(cut)),
        None => String::from_utf8_lossy(bytes).into_owned(),
    }
}
