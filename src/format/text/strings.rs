//! Strings in quotes.

use std::fmt::Write;

/// Why a literal means nothing: the offset within it, and what is wrong there.
pub(super) type Wrong = (usize, &'static str);

/// Adds what stands for itself or is escaped in `literal`, which has no quotes, to `out`.
pub(super) fn unescape(literal: &[u8], out: &mut Vec<u8>) -> Result<(), Wrong> {
    let mut rest = literal;
    while let Some(plain) = rest.iter().position(|b| *b == b'\\') {
        let (before, escape) = rest.split_at_checked(plain).unwrap_or_default();
        out.extend_from_slice(before);
        let at = literal.len().saturating_sub(escape.len());
        rest = one(escape.get(1..).unwrap_or_default(), out).map_err(|what| (at, what))?;
    }
    out.extend_from_slice(rest);
    Ok(())
}

/// One escape, whose backslash is taken; answers what comes after it.
fn one<'a>(text: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], &'static str> {
    let Some((first, rest)) = text.split_first() else { return Err("incomplete escape") };
    out.push(match first {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'\\' | b'\'' | b'"' | b'?' => *first,
        b'0'..=b'7' => {
            let (value, rest) = digits(text, 8, 3);
            out.push(u8::try_from(value).map_err(|_| "octal escape beyond \\377")?);
            return Ok(rest);
        }
        b'x' | b'X' => {
            let (value, after) = digits(rest, 16, 2);
            if after.len() == rest.len() {
                return Err("escape \\x without digits");
            }
            out.push(value as u8);
            return Ok(after);
        }
        b'u' | b'U' => {
            let (n, what) = if *first == b'u' {
                (4, "escape \\u without four digits")
            } else {
                (8, "escape \\U without eight digits")
            };
            let (value, after) = digits(rest, 16, n);
            if rest.len().saturating_sub(after.len()) < n {
                return Err(what);
            }
            let c = char::from_u32(value).ok_or("escape of what is not a Unicode character")?;
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Ok(after);
        }
        _ => return Err("unknown escape"),
    });
    Ok(rest)
}

/// The number of up to `most` digits, eight at most, and what comes after them.
fn digits(text: &[u8], radix: u32, most: usize) -> (u32, &[u8]) {
    let mut value = 0u32;
    let mut rest = text;
    for _ in 0..most {
        let Some((first, after)) = rest.split_first() else { break };
        let Some(digit) = char::from(*first).to_digit(radix) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        rest = after;
    }
    (value, rest)
}

/// Writes `bytes` in quotes. With `text`, characters beyond ASCII stay what they are.
pub(super) fn write_quoted(bytes: &[u8], text: bool, out: &mut String) {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                ' '..='~' => out.push(c),
                _ if text && !c.is_ascii() => out.push(c),
                _ => octal(c.encode_utf8(&mut [0; 4]).as_bytes(), out),
            }
        }
        octal(chunk.invalid(), out);
    }
    out.push('"');
}

fn octal(bytes: &[u8], out: &mut String) {
    for b in bytes {
        // What is written to a string cannot fail.
        let _ = write!(out, "\\{b:03o}");
    }
}
