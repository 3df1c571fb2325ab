//! Places in text, as errors show them.

use std::iter::repeat_n;

use crate::error::SchemaError;

/// How many characters of a line are shown.
const WIDTH: usize = 100;
/// How many of them stand before the place, if the line is longer.
const BEFORE: usize = 60;
/// How many characters of a message are shown: it may quote what is in the text.
const LONGEST_MESSAGE: usize = 300;

/// The error that `what` is wrong at byte `offset` of `text`, which is the file `shown`.
pub(super) fn error_at(shown: &str, text: &str, offset: usize, what: &str) -> SchemaError {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset = offset.saturating_sub(1);
    }
    let (before, _) = text.split_at_checked(offset).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |at| at.saturating_add(1));
    let line = before.matches('\n').count().saturating_add(1);
    let column = before.get(start..).unwrap_or_default().chars().count();
    let whole = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim_end();

    let mut message = format!("{shown}:{line}:{}: {}", column.saturating_add(1), cut(what));
    if !whole.is_empty() {
        let skipped = if whole.chars().count() > WIDTH { column.saturating_sub(BEFORE) } else { 0 };
        let dots = if skipped > 0 { "..." } else { "" };
        message.push('\n');
        message.push_str(dots);
        // A tab is as wide as the space above the mark.
        message.extend(whole.chars().skip(skipped).take(WIDTH).map(|c| if c.is_control() { ' ' } else { c }));
        if whole.chars().nth(skipped.saturating_add(WIDTH)).is_some() {
            message.push_str("...");
        }
        message.push('\n');
        message.extend(repeat_n(' ', dots.len().saturating_add(column.saturating_sub(skipped))));
        message.push('^');
    }
    SchemaError(message)
}

/// The error that `what` is wrong with the file `shown`.
pub(super) fn error_in(shown: &str, what: &str) -> SchemaError {
    SchemaError(format!("{shown}: {}", cut(what)))
}

/// The byte of `text` at a line and a byte of that line, both counted from 0.
pub(super) fn offset(text: &str, line: usize, column: usize) -> usize {
    let start = match line.checked_sub(1) {
        Some(breaks) => text.match_indices('\n').nth(breaks).map_or(text.len(), |(at, _)| at.saturating_add(1)),
        None => 0,
    };
    start.saturating_add(column)
}

fn cut(what: &str) -> String {
    match what.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}...", what.get(..end).unwrap_or_default()),
        None => what.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, offset: usize) -> String {
        error_at("f", text, offset, "bad").0
    }

    #[test]
    fn line_and_mark_are_shown() {
        assert_eq!(at("one\n  two = 1;", 6), "f:2:3: bad\n  two = 1;\n  ^");
        assert_eq!(at("one\r\n\ttwo\r\n", 6), "f:2:2: bad\n two\n ^");
        assert_eq!(at("é = ü", 5), "f:1:5: bad\né = ü\n    ^");
        assert_eq!(at("é", 1), "f:1:1: bad\né\n^");
        assert_eq!(at("one\n\n", 4), "f:2:1: bad");
        assert_eq!(at("", 7), "f:1:1: bad");
        assert_eq!(at("one", 7), "f:1:4: bad\none\n   ^");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}X{}", "a".repeat(500), "b".repeat(500));
        let message = at(&text, 500);
        let [first, line, mark] = *message.lines().collect::<Vec<_>>() else { panic!("{message}") };
        assert_eq!(first, "f:1:501: bad");
        assert_eq!(line, format!("...{}X{}...", "a".repeat(60), "b".repeat(39)));
        assert_eq!(mark.len(), line.find('X').unwrap() + 1);
        assert!(error_in("f", &"x".repeat(5000)).0.len() < 400);
    }

    #[test]
    fn offsets_are_found_again() {
        let text = "one\ntwo\n\nfour";
        for (line, column, expected) in [(0, 0, 0), (0, 2, 2), (1, 1, 5), (3, 0, 9), (9, 0, 13)] {
            assert_eq!(offset(text, line, column), expected);
        }
    }
}
