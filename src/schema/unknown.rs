//! Names of types and services: which there are, and errors of those that there are not.

use std::sync::Arc;

use super::base::BUILT_IN;
use super::hint::{did_you_mean, quoted, scope_hint};
use super::set::Symbol;
use super::types::Types;
use crate::error::SchemaError;

/// What a name is to be that of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A message.
    Message,
    /// An enum.
    Enum,
    /// A message or an enum.
    Type,
    /// A service.
    Service,
    /// Any of these.
    Any,
}

impl Named {
    /// Whether `symbol` is such.
    pub(super) fn admits(self, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Message(_) => matches!(self, Named::Message | Named::Type | Named::Any),
            Symbol::Enum(_) => matches!(self, Named::Enum | Named::Type | Named::Any),
            Symbol::Service => matches!(self, Named::Service | Named::Any),
            Symbol::Package | Symbol::Other => false,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Named::Message => "message",
            Named::Enum => "enum",
            Named::Type => "type",
            Named::Service => "service",
            Named::Any => "type or service",
        }
    }
}

impl Types {
    /// All full names of such, map entries left out; sorted. The built-in files come with `built_in` only.
    pub fn names(&self, named: Named, built_in: bool) -> Vec<&Arc<str>> {
        let skipped = if built_in { 0 } else { BUILT_IN.len() };
        let entry = |symbol: Symbol| match symbol {
            Symbol::Message(index) => self.set.message(index).is_none_or(|m| m.map_entry),
            _ => false,
        };
        let all = self.set.names.iter().filter(|(_, (symbol, file))| {
            named.admits(*symbol) && *file as usize >= skipped && self.has(*file) && !entry(*symbol)
        });
        let mut names: Vec<_> = all.map(|(name, _)| name).collect();
        names.sort_unstable();
        names
    }
}

/// The error of a name that is no message of `types`: why it cannot be used yet, or the name that was probably meant.
pub fn unknown_type(types: &Types, name: &str) -> SchemaError {
    unknown(types, name, Named::Message)
}

/// The error of a name that is not `wanted`, likewise.
pub(super) fn unknown(types: &Types, name: &str, wanted: Named) -> SchemaError {
    let other = [Named::Message, Named::Enum, Named::Service];
    if let Some(symbol) = types.symbol(name).map(|(symbol, _)| symbol)
        && let Some(other) = other.iter().find(|other| other.admits(symbol))
    {
        let article = |named: Named| if named == Named::Enum { "an" } else { "a" };
        let (is, not) = (other.title(), wanted.title());
        return SchemaError(format!("{name} is {} {is}, not {} {not}", article(*other), article(wanted)));
    }
    if let Some(why) = types.why_not(name) {
        return why;
    }
    let services = if wanted.admits(Symbol::Service) { types.names(Named::Service, true) } else { Vec::new() };
    let candidates = || {
        let messages = wanted.admits(Symbol::Message(0)).then(|| types.messages().map(|m| &m.name));
        let enums = wanted.admits(Symbol::Enum(0)).then(|| types.enums().map(|e| &e.name));
        let all = messages.into_iter().flatten().chain(enums.into_iter().flatten());
        all.chain(services.iter().copied()).map(|name| &**name)
    };
    let mut hint = did_you_mean(name, candidates());
    if hint.is_empty() {
        hint = scope_hint(name, candidates());
    }
    let title = if wanted == Named::Message { "type" } else { wanted.title() };
    SchemaError(format!("unknown {title} {}{hint}", quoted(name)))
}
