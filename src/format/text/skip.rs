//! Steps over fields that are reserved, whose types nobody knows.

use super::parse::{Parser, Result};
use super::scan::Kind;

impl Parser<'_, '_> {
    /// The value of a field, after its name, and what may come behind.
    pub(super) fn skip_field(&mut self) -> Result<()> {
        if self.take(b':') && !self.at_message() {
            if self.take(b'[') {
                self.skip_list()?;
            } else {
                self.skip_scalar()?;
            }
        } else if self.take(b'[') {
            self.skip_list()?;
        } else {
            self.skip_message()?;
        }
        self.separator();
        Ok(())
    }

    fn at_message(&self) -> bool {
        matches!(self.token.kind, Kind::Symbol(b'{' | b'<'))
    }

    /// A list, after its first bracket.
    fn skip_list(&mut self) -> Result<()> {
        if self.take(b']') {
            return Ok(());
        }
        loop {
            if self.at_message() {
                self.skip_message()?;
            } else {
                self.skip_scalar()?;
            }
            if self.take(b']') {
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.expected("\",\" or \"]\""));
            }
        }
    }

    fn skip_message(&mut self) -> Result<()> {
        self.enter()?;
        let end = self.open()?;
        while self.token.kind != end {
            match self.token.kind {
                Kind::Name => self.advance(),
                Kind::Symbol(b'[') => drop(self.brackets()?),
                _ => return Err(self.expected("a field name")),
            }
            self.skip_field()?;
        }
        self.advance();
        self.cx.budget.leave();
        Ok(())
    }

    fn skip_scalar(&mut self) -> Result<()> {
        if self.token.kind == Kind::String {
            return self.literals();
        }
        let negative = self.take(b'-');
        match self.token.kind {
            Kind::Integer | Kind::Float => {}
            Kind::Name if !negative || self.special().is_some() => {}
            _ => return Err(self.expected("a value")),
        }
        self.advance();
        Ok(())
    }
}
