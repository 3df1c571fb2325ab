//! Text to tokens, one at a time.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The end of the text.
    End,
    /// A name or word.
    Name,
    /// Digits: decimal, octal or hexadecimal, without sign.
    Integer,
    /// A number with a point, an exponent or the suffix `f`, without sign.
    Float,
    /// A literal in quotes, which has its end.
    String,
    /// Any other character of ASCII.
    Symbol(u8),
    /// None that there is, and why. It is no matter until something looks at it, so that it is told where it stands.
    Bad(&'static str),
}

/// A token and where it is in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Where reading is in a text.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Begins at the start of `text`, behind a byte order mark.
    pub(super) fn new(text: &'a [u8]) -> Self {
        Scanner { text, at: if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 } }
    }

    /// The bytes of a token.
    pub(super) fn bytes(&self, token: Token) -> &'a [u8] {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    /// The byte that comes next.
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Steps over one byte.
    pub(super) fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Steps over all bytes that `are` such; answers whether there was one.
    fn over(&mut self, are: impl Fn(u8) -> bool) -> bool {
        let n = self.rest().iter().take_while(|b| are(**b)).count();
        self.at = self.at.saturating_add(n);
        n > 0
    }

    fn take(&mut self, is: impl Fn(u8) -> bool) -> bool {
        let there = self.peek().is_some_and(is);
        if there {
            self.step();
        }
        there
    }

    /// Steps over space and comments.
    pub(super) fn space(&mut self) {
        loop {
            self.over(|b| matches!(b, b' ' | b'\t'..=b'\r'));
            if self.peek() != Some(b'#') {
                return;
            }
            self.over(|b| b != b'\n');
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Token {
        self.space();
        let start = self.at;
        let kind = match self.peek() {
            None => Kind::End,
            Some(b) => {
                self.step();
                self.token(b)
            }
        };
        Token { kind, start, end: self.at }
    }

    /// The token that begins with `first`, which is read.
    fn token(&mut self, first: u8) -> Kind {
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.over(in_name);
                Kind::Name
            }
            b'0'..=b'9' => self.number(first),
            b'.' if self.peek().is_some_and(|b| b.is_ascii_digit()) => self.number(first),
            b'"' | b'\'' => self.quoted(first),
            b'!'..=b'~' => Kind::Symbol(first),
            0x80.. => {
                // The whole character is shown.
                self.over(|b| (0x80..0xc0).contains(&b));
                Kind::Bad("unexpected character")
            }
            _ => Kind::Bad("control character"),
        }
    }

    /// A number that begins with `first`, a digit or a point before one.
    fn number(&mut self, first: u8) -> Kind {
        let digit = |b: u8| b.is_ascii_digit();
        let mut kind = Kind::Integer;
        if first == b'0' && self.take(|b| b | 0x20 == b'x') {
            if !self.over(|b| b.is_ascii_hexdigit()) {
                return Kind::Bad("hexadecimal number without digits");
            }
        } else if first == b'0' && self.peek().is_some_and(digit) {
            self.over(|b| matches!(b, b'0'..=b'7'));
            if self.over(digit) {
                return Kind::Bad("malformed octal number");
            }
        } else {
            self.over(digit);
            if first == b'.' {
                kind = Kind::Float;
            } else if self.take(|b| b == b'.') {
                kind = Kind::Float;
                self.over(digit);
            }
            if self.take(|b| b | 0x20 == b'e') {
                kind = Kind::Float;
                self.take(|b| b == b'-' || b == b'+');
                if !self.over(digit) {
                    return Kind::Bad("exponent without digits");
                }
            }
            if self.take(|b| b | 0x20 == b'f') {
                kind = Kind::Float;
            }
        }
        if self.peek().is_some_and(|b| in_name(b) || b == b'.') {
            self.over(|b| in_name(b) || b == b'.');
            return Kind::Bad("malformed number");
        }
        kind
    }

    /// A literal in quotes, of which the first is read.
    fn quoted(&mut self, quote: u8) -> Kind {
        loop {
            self.over(|b| b != quote && !matches!(b, b'\\' | b'\n' | 0));
            match self.peek() {
                Some(b) if b == quote => {
                    self.step();
                    return Kind::String;
                }
                Some(b'\\') => {
                    self.step();
                    self.take(|b| b != b'\n' && b != 0);
                }
                Some(0) => return Kind::Bad("zero byte in a string (write \\000)"),
                Some(_) => return Kind::Bad("line break in a string (write \\n)"),
                None => return Kind::Bad("string without end"),
            }
        }
    }
}

fn in_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}
