//! What stands in brackets instead of a field's name: an extension, or the type of what is in an Any.

use super::names;
use super::parse::{Parser, Result};
use crate::error::{Index, quoted};
use crate::format::ParseError;
use crate::format::any;
use crate::format::seen::Seen;
use crate::schema::MessagePlan;

impl Parser<'_, '_> {
    /// The message of the type that `url` names as the only content of an Any `m`, after its name in brackets.
    pub(super) fn expanded(&mut self, m: &MessagePlan, url: &str, at: usize, seen: &mut Seen) -> Result<()> {
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
        let pushed = self
            .message(plan)
            .and_then(|root| any::push(url, root, plan, self.tree, &mut self.cx).map_err(|_| ParseError { at }));
        if let Err(e) = pushed {
            self.cx.trace.step(&format!("[{}]", plan.name), Index::None);
            return Err(e);
        }
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
}
