//! A look at .proto text before it is parsed, for what the parser and the linker take badly: they recurse with the
//! brackets and with the parts of a name, and know no editions. It must tell comments, strings and space apart as the
//! parser's lexer does, or brackets go uncounted; so Cargo.toml names one version of protox-parse.

/// How deep brackets may nest: protoc takes 32 levels of messages.
const DEEPEST: usize = 40;
/// How many parts a name may have.
const MOST_PARTS: usize = 32;
/// What the tokens of a text may cost together. Each costs two, and one more for each bracket around it and each dot
/// before it in its name: paths and names are stored with everything in them. 2 MiB as people write them cost less.
const MOST_COST: usize = 1_250_000;

/// What is wrong, and at which byte.
pub(super) type Refusal = (usize, String);

/// Refuses text that the parser is not to see.
pub(super) fn scan(text: &str) -> Result<(), Refusal> {
    let tokens = Tokens { text, at: 0 };
    edition(tokens)?;
    let mut open = Vec::with_capacity(DEEPEST);
    let mut dots = 0;
    let mut cost = 0usize;
    // Whether digits would be behind a point.
    let mut is_fraction = false;
    // Whether a name may end with the token before.
    let mut is_end = false;
    for (at, token) in tokens {
        cost = cost.saturating_add(open.len()).saturating_add(dots).saturating_add(2);
        if cost > MOST_COST {
            return Err((at, "too much for one file up to here".into()));
        }
        match token.as_bytes() {
            [bracket @ (b'{' | b'[' | b'(' | b'<')] => {
                if open.len() == DEEPEST {
                    return Err((at, format!("nested more than {DEEPEST} levels deep")));
                }
                open.push(*bracket);
            }
            [bracket @ (b'}' | b']' | b')' | b'>')] => {
                // What closes nothing is an error of the parser's, and takes no level away.
                open.pop_if(|open| pair(*open) == *bracket);
            }
            _ => {}
        }
        match token.as_bytes() {
            [b'.'] if dots + 1 == MOST_PARTS => return Err((at, format!("a name of more than {MOST_PARTS} parts"))),
            [b'.'] => dots += 1,
            b"/*" => return Err((at, "block comments do not nest".into())),
            _ if !is_fraction && is_wrong_octal(token) => {
                return Err((at, format!("{token} is no octal number")));
            }
            // The name of an option goes on after a part in parentheses.
            [b'(' | b')'] => {}
            [first, ..] if is_word(*first) && !is_end => {}
            _ => dots = 0,
        }
        is_fraction = token == ".";
        is_end = token == ")" || token.as_bytes().first().is_some_and(|first| is_word(*first));
    }
    Ok(())
}

/// In how many places `text` may name an extension: in parentheses as an option, or in brackets within a value.
pub(super) fn names_of_extensions(text: &str) -> usize {
    Tokens { text, at: 0 }.filter(|(_, token)| matches!(*token, "(" | "[")).count()
}

/// Refuses text that begins with an edition.
fn edition(mut tokens: Tokens) -> Result<(), Refusal> {
    let Some((at, "edition")) = tokens.next() else { return Ok(()) };
    let edition = tokens.nth(1).map_or("", |(_, value)| value);
    Err((
        at,
        format!(
            "edition {edition}: text is compiled with syntax \"proto2\" and \"proto3\" only; \
             compile this with protoc --include_imports -o, 27 or newer, and register what it writes"
        ),
    ))
}

fn pair(open: u8) -> u8 {
    match open {
        b'{' => b'}',
        b'[' => b']',
        b'(' => b')',
        _ => b'>',
    }
}

/// Whether the word is an octal number by its first digit, but not by all. The parser's lexer may panic at those.
fn is_wrong_octal(word: &str) -> bool {
    word.starts_with('0') && word.bytes().take_while(u8::is_ascii_digit).any(|digit| digit >= b'8')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The words, strings and single characters of a text, without comments; with each, where it begins. A comment in which
/// another begins is told by the token "/*".
#[derive(Clone, Copy)]
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = self.at;
            let rest = self.text.get(at..)?;
            let first = rest.chars().next()?;
            let (length, is_token) = match first {
                '#' => (line(rest), false),
                '/' if rest.starts_with("//") => (line(rest), false),
                '/' if rest.starts_with("/*") => match block_comment(rest) {
                    Some(length) => (length, false),
                    None => (2, true),
                },
                '"' | '\'' => (string(rest.as_bytes()), true),
                _ if first.is_ascii_whitespace() || first == '\x0b' => (1, false),
                _ if first.is_ascii_alphanumeric() || first == '_' => {
                    (rest.bytes().take_while(|b| is_word(*b)).count(), true)
                }
                _ => (first.len_utf8(), true),
            };
            self.at = at.saturating_add(length);
            if is_token {
                return Some((at, rest.get(..length).unwrap_or(rest)));
            }
        }
    }
}

/// Writes spaces over what is not ASCII in the comments of `text`, which may be in any encoding.
pub(super) fn blank_comments(text: &mut [u8]) {
    let mut at = 0usize;
    while let Some(rest) = text.get_mut(at..).filter(|rest| !rest.is_empty()) {
        let until = |end: &[u8], from: usize| {
            let found = rest.get(from..)?.windows(end.len()).position(|w| w == end)?;
            Some(found.saturating_add(from).saturating_add(end.len()))
        };
        let comment = match rest {
            [b'#', ..] | [b'/', b'/', ..] => until(b"\n", 0),
            [b'/', b'*', ..] => until(b"*/", 2),
            _ => Some(0),
        };
        let comment = comment.unwrap_or(rest.len());
        rest.iter_mut().take(comment).filter(|byte| !byte.is_ascii()).for_each(|byte| *byte = b' ');
        let length = match rest {
            [b'"' | b'\'', ..] => string(rest),
            _ => comment.max(1),
        };
        at = at.saturating_add(length);
    }
}

/// The length of the line that `text` begins with.
fn line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The length of the comment that `text` begins with. `None` if another begins in it: the parser counts those, and
/// protoc refuses them.
fn block_comment(text: &str) -> Option<usize> {
    let inside = text.get(2..)?;
    let end = inside.find("*/");
    // The end may be the beginning of another as well: "/*/".
    let upto = end.map_or(inside.len(), |at| at.saturating_add(1));
    if inside.get(..upto)?.contains("/*") {
        return None;
    }
    Some(end.map_or(text.len(), |at| at.saturating_add(4)))
}

/// The length of the string literal that `text` begins with. It ends with its line at the latest.
fn string(text: &[u8]) -> usize {
    let quote = text.first();
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate().skip(1) {
        match byte {
            b'\n' => return at,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if Some(byte) == quote => return at.saturating_add(1),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<&str> {
        Tokens { text, at: 0 }.map(|(_, token)| token).collect()
    }

    #[test]
    fn tokens_are_words_strings_and_characters() {
        assert_eq!(
            tokens("a_1.b /* { */ = // {\n\"{\\\"\\\\\"'\"}' é # {\n<"),
            ["a_1", ".", "b", "=", "\"{\\\"\\\\\"", "'\"}'", "é", "<"]
        );
        assert_eq!(tokens("\"open\n}"), ["\"open", "}"]);
        assert_eq!(tokens("'\\\n}"), ["'\\", "}"]);
        assert_eq!(tokens("/* / * **/ }"), ["}"]);
        assert_eq!(tokens("/*/ { */ }"), ["}"]);
        assert_eq!(tokens("a\x0b.b\x0c"), ["a", ".", "b"]);
        for unfinished in ["/*", "/* *", "\"", "\"\\", "//", ""] {
            assert!(tokens(unfinished).len() < 2, "{unfinished}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        for (open, close) in [("{", "}"), ("[", "]"), ("(", ")"), ("<", ">")] {
            let fine = format!("{}{}", open.repeat(40), close.repeat(40));
            assert_eq!(scan(&fine.repeat(3)), Ok(()));
            assert_eq!(scan(&open.repeat(41)).unwrap_err(), (40, "nested more than 40 levels deep".into()));
        }
        assert!(scan(&"{]".repeat(41)).is_err());
        assert_eq!(scan(&"\"{\"//{\n/*{*/".repeat(41)), Ok(()));
    }

    #[test]
    fn long_names_are_refused() {
        let names = format!("(a{}) = 1.5;", ".b".repeat(31));
        assert_eq!(scan(&names.repeat(3)), Ok(()));
        let name = format!("(a) /**/ .b .\n{}", "c.".repeat(30));
        assert_eq!(scan(&name).unwrap_err().1, "a name of more than 32 parts");
        // Several names.
        let name = format!("a{}", ".b".repeat(31));
        assert_eq!(scan(&format!("rpc A({name}) returns ({name}); {name} {name} = 1; map<a, {name}> {name}")), Ok(()));
    }

    #[test]
    fn text_is_bounded_by_what_it_costs() {
        let fields = "message M { optional int32 abc = 1; }\n".repeat(40_000);
        assert_eq!(scan(&fields), Ok(()));
        let nested = |n: usize| format!("{}{}", "message A {".repeat(n), "}".repeat(n));
        assert_eq!(scan(&nested(32).repeat(500)), Ok(()));
        assert_eq!(scan(&nested(32).repeat(1000)).unwrap_err().1, "too much for one file up to here");
        let names = format!("option a{} = 1;", ".b".repeat(31));
        assert_eq!(scan(&names.repeat(2000)).unwrap_err().1, "too much for one file up to here");
    }

    #[test]
    fn octal_numbers_have_octal_digits() {
        for bad in ["068", "08", "x=00009;", "068f", "08.5"] {
            assert!(scan(bad).unwrap_err().1.ends_with(" is no octal number"), "{bad}");
        }
        assert_eq!(scan("07 0 80 0x89 .08 1.09 a08 0.8 \"08\" // 08"), Ok(()));
    }

    #[test]
    fn nested_comments_are_refused() {
        for (text, at) in [("/* /* */ \" */ {", 0), ("{ /* /*/ {", 2), ("/*\n/*", 0), ("{}/*/* */", 2)] {
            assert_eq!(scan(text), Err((at, "block comments do not nest".into())), "{text}");
        }
        assert_eq!(scan("/* // */ {} // /* /*\n \"/* /*\""), Ok(()));
    }

    #[test]
    fn comments_may_be_in_any_encoding() {
        let blanked = |text: &[u8]| {
            let mut text = text.to_vec();
            blank_comments(&mut text);
            text
        };
        assert_eq!(
            blanked(b"a // \xd6\xd0\\\n\xd6 /* \xce\xc4 * \xff\n*/ \xff /"),
            b"a //   \\\n\xd6 /*    *  \n*/ \xff /"
        );
        assert_eq!(blanked(b"'// \xff\\' \xfe' # \xff\n\"/*\xff\n//\xff"), b"'// \xff\\' \xfe' #  \n\"/*\xff\n// ");
        for open in [&b"/*"[..], b"/*/", b"//", b"/* *"] {
            assert_eq!(blanked(&[open, b"\xff"].concat()), [open, b" "].concat());
        }
    }

    #[test]
    fn editions_are_named() {
        let refusal = scan("// new\n edition = \"2023\";").unwrap_err();
        assert_eq!(refusal.0, 8);
        assert!(refusal.1.starts_with("edition \"2023\": "), "{}", refusal.1);
        assert!(scan("edition").is_err());
        assert_eq!(scan("message edition {}"), Ok(()));
    }
}
