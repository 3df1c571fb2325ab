//! Fields that have no name: by their numbers, as their wire types say.

use std::fmt::Write;

use super::print::{Printer, Result};
use super::strings::write_quoted;
use crate::error::{DecodeError, EncodeError};
use crate::wire::Reader;

/// Bytes that look like a message are taken for one up to this depth: each level is looked at once more.
const LEVELS: u32 = 10;

impl Printer<'_, '_> {
    /// The fields that `raw` holds.
    pub(super) fn unknown(&mut self, raw: &[u8]) -> Result<()> {
        if !is_message(raw, self.cx.budget.depth) {
            return Err(self.fail(format_args!("malformed unknown fields")));
        }
        self.numbered(&mut Reader::new(raw), LEVELS)
    }

    /// The fields in `r`, to its end or that of its group.
    fn numbered(&mut self, r: &mut Reader, levels: u32) -> Result<()> {
        while !r.is_empty() {
            let tag = self.known(r.tag())?;
            if tag & 7 == 4 {
                break;
            }
            self.begin()?;
            // What is written to a string cannot fail.
            let _ = write!(self.out, "{}", tag >> 3);
            let _ = match tag & 7 {
                0 => write!(self.out, ": {}", self.known(r.varint())?),
                1 => write!(self.out, ": {:#018x}", self.known(r.fixed64())?),
                5 => write!(self.out, ": {:#010x}", self.known(r.fixed32())?),
                3 => {
                    self.nested(|p| p.numbered(r, levels))?;
                    Ok(())
                }
                _ => {
                    let bytes = self.known(r.bytes())?;
                    // Of groups within, each takes a level too.
                    let next = levels.min(self.cx.budget.depth).checked_sub(1);
                    match next.filter(|next| !bytes.is_empty() && is_message(bytes, *next)) {
                        Some(next) => self.nested(|p| p.numbered(&mut Reader::new(bytes), next))?,
                        None => {
                            self.out.push_str(": ");
                            write_quoted(bytes, false, self.out);
                        }
                    }
                    Ok(())
                }
            };
        }
        Ok(())
    }

    /// What was read of bytes that were looked at before.
    fn known<T>(&self, read: std::result::Result<T, DecodeError>) -> Result<T> {
        read.map_err(|e| -> EncodeError { self.fail(format_args!("malformed unknown fields: {}", e.kind)) })
    }
}

/// Whether `bytes` are fields, with groups of up to `depth`.
fn is_message(bytes: &[u8], depth: u32) -> bool {
    let mut r = Reader::new(bytes);
    while !r.is_empty() {
        if r.tag().and_then(|tag| r.skip(tag, depth)).is_err() {
            return false;
        }
    }
    true
}
