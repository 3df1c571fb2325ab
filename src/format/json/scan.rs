//! The grammar of JSON (RFC 8259), token by token.

use std::borrow::Cow;

use crate::error::Trace;
use crate::format::ParseError;

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// Stands somewhere in a text, between tokens.
#[derive(Clone, Copy)]
pub struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    trace: &'a Trace,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a [u8], trace: &'a Trace) -> Self {
        Scanner { text, at: 0, trace }
    }

    /// The error that what starts at `at` is wrong.
    #[cold]
    #[inline(never)]
    pub fn fail<T>(&self, at: usize, text: std::fmt::Arguments) -> Result<T> {
        self.trace.detail(text);
        Err(ParseError { at })
    }

    /// `expected what, got what comes`.
    #[cold]
    #[inline(never)]
    pub fn wrong<T>(&mut self, what: &str) -> Result<T> {
        let at = self.start();
        let rest = self.text.get(at..).unwrap_or_default();
        let got = match rest {
            [] => "the end".to_owned(),
            [b'{', ..] => "object".to_owned(),
            [b'[', ..] => "array".to_owned(),
            [b'"', ..] => "string".to_owned(),
            [b'-' | b'0'..=b'9', ..] => "number".to_owned(),
            [b'a'..=b'z' | b'A'..=b'Z', ..] => {
                let word = rest.iter().take(LONGEST_WORD).take_while(|b| is_word(b));
                word.map(|b| char::from(*b)).collect()
            }
            [0xef, 0xbb, 0xbf, ..] => "a byte order mark".to_owned(),
            [b, ..] if b.is_ascii() => format!("'{}'", char::from(*b).escape_default()),
            [b, ..] => format!("byte \\x{b:02x}"),
        };
        self.fail(at, format_args!("expected {what}, got {got}"))
    }

    /// The offset of the next token.
    #[inline(always)]
    pub fn start(&mut self) -> usize {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.text.get(self.at) {
            self.at = self.at.saturating_add(1);
        }
        self.at
    }

    /// The first byte of the next token; 0 at the end.
    #[inline(always)]
    pub fn peek(&mut self) -> u8 {
        let at = self.start();
        self.text.get(at).copied().unwrap_or(0)
    }

    /// Takes the next token if it is this one.
    #[inline(always)]
    pub fn take(&mut self, token: u8) -> bool {
        let found = self.peek() == token;
        if found {
            self.at = self.at.saturating_add(1);
        }
        found
    }

    /// Takes the next token, which must be this one.
    #[inline(always)]
    pub fn expect(&mut self, token: u8) -> Result<()> {
        if self.take(token) { Ok(()) } else { self.wrong(&format!("'{}'", char::from(token))) }
    }

    /// Takes `true`, `false` or `null`, if that comes.
    pub fn word(&mut self, word: &str) -> bool {
        let at = self.start();
        let rest = self.text.get(at..).unwrap_or_default();
        let found = rest.strip_prefix(word.as_bytes()).is_some_and(|after| !after.first().is_some_and(is_word));
        if found {
            self.at = at.saturating_add(word.len());
        }
        found
    }

    /// Whether that word comes.
    pub fn at_word(mut self, word: &str) -> bool {
        self.word(word)
    }

    /// Nothing may come any more.
    pub fn end(&mut self) -> Result<()> {
        if self.start() >= self.text.len() { Ok(()) } else { self.wrong("the end") }
    }

    /// Takes a string.
    #[inline(always)]
    pub fn string(&mut self) -> Result<Cow<'a, str>> {
        self.string_of("string")
    }

    /// Takes a string, which `what` tells the meaning of.
    #[inline(always)]
    pub fn string_of(&mut self, what: &str) -> Result<Cow<'a, str>> {
        let start = self.start();
        let rest = self.text.get(start..).unwrap_or_default();
        let [b'"', inside @ ..] = rest else { return self.wrong(what) };
        let plain = inside.iter().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f)).unwrap_or(inside.len());
        if inside.get(plain) == Some(&b'"')
            && let Some(Ok(text)) = inside.get(..plain).map(std::str::from_utf8)
        {
            self.at = start.saturating_add(plain).saturating_add(2);
            return Ok(Cow::Borrowed(text));
        }
        self.escaped(start, rest)
    }

    /// The string that `rest` starts with, which is at `start`; it has escapes, or is none.
    #[inline(never)]
    fn escaped(&mut self, start: usize, rest: &'a [u8]) -> Result<Cow<'a, str>> {
        let mut strings = serde_json::Deserializer::from_slice(rest).into_iter::<String>();
        match strings.next() {
            Some(Ok(text)) => {
                self.at = start.saturating_add(strings.byte_offset());
                Ok(Cow::Owned(text))
            }
            // The library tells the line and column that it came to.
            Some(Err(e)) => self.no_string(start, rest, if e.line() == 1 { e.column() } else { usize::MAX }),
            None => self.wrong("string"),
        }
    }

    /// The error of the string that `rest` starts with, which is at `start`. It has no other fault before its first
    /// `read` bytes.
    #[cold]
    fn no_string<T>(&self, start: usize, rest: &[u8], read: usize) -> Result<T> {
        let mut escaped = false;
        let ends = |b: &u8| {
            let quote = *b == b'"' && !escaped;
            escaped = *b == b'\\' && !escaped;
            quote || *b < 0x20
        };
        let end = rest.iter().skip(1).position(ends).map(|n| n.saturating_add(1));
        let text = rest.get(1..end.unwrap_or(rest.len())).unwrap_or_default();
        if let Err(e) = std::str::from_utf8(text) {
            return self.fail(start.saturating_add(1).saturating_add(e.valid_up_to()), format_args!("invalid UTF-8"));
        }
        // Of an escape that is cut short, what comes behind the string was read too.
        let escape = start.saturating_add(read.saturating_sub(1).min(end.unwrap_or(0)));
        match end {
            None => self.fail(start, format_args!("string without end")),
            Some(end) if rest.get(end) == Some(&b'"') || read < end => {
                self.fail(escape, format_args!("malformed escape in a string"))
            }
            Some(end) => {
                let what = "control character in a string (write \\n, \\t, \\u0000)";
                self.fail(start.saturating_add(end), format_args!("{what}"))
            }
        }
    }

    /// Whether what is at `at` is a string.
    pub fn is_string(&self, at: usize) -> bool {
        self.text.get(at) == Some(&b'"')
    }

    /// Takes a number, whose first byte comes; answers its text.
    #[inline(always)]
    pub fn number(&mut self) -> Result<&'a str> {
        let start = self.start();
        let rest = self.text.get(start..).unwrap_or_default();
        let length = number_length(rest);
        let text = rest.get(..length).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
        if text.is_empty() || rest.get(length).is_some_and(is_word) {
            return self.fail(start, format_args!("malformed number"));
        }
        self.at = start.saturating_add(length);
        Ok(text)
    }
}

/// A word that nobody knows is shown up to this many bytes.
const LONGEST_WORD: usize = 20;

/// Whether a word or number goes on with this byte.
fn is_word(b: &u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-' | b'_')
}

/// How many bytes of `text` are a number at its start; 0 if there is none.
pub fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| text.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let at = |i: usize| text.get(i).copied().unwrap_or(0);
    let sign = usize::from(at(0) == b'-');
    let whole = digits(sign);
    if whole == 0 || whole > 1 && at(sign) == b'0' {
        return 0;
    }
    let mut end = sign.saturating_add(whole);
    if at(end) == b'.' {
        match digits(end.saturating_add(1)) {
            0 => return 0,
            fraction => end = end.saturating_add(1).saturating_add(fraction),
        }
    }
    if matches!(at(end), b'e' | b'E') {
        let sign = usize::from(matches!(at(end.saturating_add(1)), b'+' | b'-'));
        let from = end.saturating_add(1).saturating_add(sign);
        match digits(from) {
            0 => return 0,
            exponent => end = from.saturating_add(exponent),
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_grammar_of_json() {
        for (text, length) in [
            ("0", 1),
            ("-0.5e+10,", 8),
            ("120]", 3),
            ("1E2", 3),
            ("01", 0),
            ("-", 0),
            ("+1", 0),
            ("1.", 0),
            (".5", 0),
            ("1e", 0),
            ("1e+", 0),
            ("", 0),
        ] {
            assert_eq!(number_length(text.as_bytes()), length, "{text}");
        }
    }

    #[test]
    fn strings_are_unescaped() {
        let trace = Trace::default();
        let read = |text: &'static str| Scanner::new(text.as_bytes(), &trace).string().map(Cow::into_owned);
        for (text, string) in [
            (r#" "" "#, ""),
            (r#""abc" x"#, "abc"),
            (r#""a\"b\\\/\b\f\n\r\t""#, "a\"b\\/\u{8}\u{c}\n\r\t"),
            (r#""\u00e9\ud83d\ude01""#, "é😁"),
            ("\"grüße\"", "grüße"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(string));
        }
        for text in ["\"a", "\"\\x\"", "\"\\", "\"\\ud83d\"", "\"\\udc00\"", "\"a\nb\"", "\"\\u12\"", "x", ""] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(Scanner::new(b"\"\xff\"", &trace).string().is_err());
    }
}
