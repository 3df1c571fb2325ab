//! Where in a text something is wrong.

use std::fmt;

/// Why text cannot be read. What is wrong, and with which field, stands in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The offset in the text at which it was found.
    pub at: usize,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// That of the byte at `offset`. Lines and columns count from 1, columns in characters.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.iter().rposition(|b| *b == b'\n').map_or(0, |end| end.saturating_add(1));
        let characters = before.iter().skip(line).filter(|b| **b & 0xc0 != 0x80).count();
        Place {
            line: before.iter().filter(|b| **b == b'\n').count().saturating_add(1),
            column: characters.saturating_add(1),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "at line {} column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "ab\ngrüße x".as_bytes();
        for (offset, told) in [
            (0, "at line 1 column 1"),
            (2, "at line 1 column 3"),
            (3, "at line 2 column 1"),
            (text.len() - 1, "at line 2 column 7"),
            (99, "at line 2 column 8"),
        ] {
            assert_eq!(Place::of(text, offset).to_string(), told);
        }
    }
}
