//! Defaults: what an absent field reads as, declared or the zero of its type.

use super::plan::{Default, EnumPlan, Op};

/// The zero of a type; for enums the first value.
pub(super) fn zero(op: Op, enumeration: Option<&EnumPlan>) -> Default {
    match op {
        Op::Int32 | Op::Sint32 | Op::Sfixed32 | Op::Uint32 | Op::Fixed32 => Default::Int(0),
        Op::Int64 | Op::Sint64 | Op::Sfixed64 => Default::Int(0),
        Op::Uint64 | Op::Fixed64 => Default::Uint(0),
        Op::Float | Op::Double => Default::Number(0.0),
        Op::Bool => Default::Bool(false),
        Op::Enum => Default::Enum(enumeration.map_or(0, |e| e.first)),
        Op::String | Op::Bytes => Default::Bytes(Box::from([])),
        Op::Message | Op::Group | Op::Map => Default::None,
    }
}

/// A declared default, as protoc writes it into `default_value`. `None` if it is no value of the type.
pub(super) fn parse(op: Op, text: &str, enumeration: Option<&EnumPlan>) -> Option<Default> {
    Some(match op {
        Op::Int32 | Op::Sint32 | Op::Sfixed32 => Default::Int(text.parse::<i32>().ok()?.into()),
        Op::Int64 | Op::Sint64 | Op::Sfixed64 => Default::Int(text.parse().ok()?),
        Op::Uint32 | Op::Fixed32 => Default::Int(text.parse::<u32>().ok()?.into()),
        Op::Uint64 | Op::Fixed64 => Default::Uint(text.parse().ok()?),
        Op::Float => Default::Number(text.parse::<f32>().ok()?.into()),
        Op::Double => Default::Number(text.parse().ok()?),
        Op::Bool => Default::Bool(text.parse().ok()?),
        Op::Enum => Default::Enum(enumeration?.number(text)?),
        Op::String => Default::Bytes(text.as_bytes().into()),
        Op::Bytes => Default::Bytes(unescape(text.as_bytes())?.into()),
        Op::Message | Op::Group | Op::Map => return None,
    })
}

/// Undoes the C escapes in which `default_value` holds bytes.
fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter().copied().peekable();
    while let Some(b) = rest.next() {
        if b != b'\\' {
            bytes.push(b);
            continue;
        }
        bytes.push(match rest.next()? {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            other @ (b'\\' | b'\'' | b'"' | b'?') => other,
            b'x' | b'X' => {
                let mut value = None;
                while let Some(digit) = rest.peek().and_then(|b| char::from(*b).to_digit(16)) {
                    value = Some(value.unwrap_or(0u32).checked_mul(16)?.checked_add(digit)?);
                    rest.next();
                }
                u8::try_from(value?).ok()?
            }
            first @ b'0'..=b'7' => {
                let mut value = u32::from(first - b'0');
                for _ in 0..2 {
                    let Some(digit) = rest.peek().and_then(|b| char::from(*b).to_digit(8)) else { break };
                    value = value * 8 + digit;
                    rest.next();
                }
                u8::try_from(value).ok()?
            }
            _ => return None,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<Vec<u8>> {
        match parse(Op::Bytes, text, None)? {
            Default::Bytes(b) => Some(b.into()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn bytes_are_unescaped() {
        assert_eq!(bytes(r"\000\377\200abc\n"), Some(b"\x00\xff\x80abc\n".to_vec()));
        assert_eq!(
            bytes(r#"\a\b\f\r\t\v\\\'\"\?\x7F\X0a\7z\18"#),
            Some(b"\x07\x08\x0c\r\t\x0b\\'\"?\x7f\x0a\x07z\x018".to_vec())
        );
        for bad in ["\\", "\\q", "\\x", "\\xg", "\\777", "\\x100", "\\x\u{e9}"] {
            assert_eq!(bytes(bad), None, "{bad}");
        }
    }

    #[test]
    fn numbers_must_fit_their_type() {
        assert_eq!(parse(Op::Int32, "-2147483648", None), Some(Default::Int(-2147483648)));
        assert_eq!(parse(Op::Int32, "2147483648", None), None);
        assert_eq!(parse(Op::Uint64, "18446744073709551615", None), Some(Default::Uint(u64::MAX)));
        assert_eq!(parse(Op::Uint32, "-1", None), None);
        assert_eq!(parse(Op::Float, "0.1", None), Some(Default::Number(0.10000000149011612)));
        assert_eq!(parse(Op::Float, "-inf", None), Some(Default::Number(f64::NEG_INFINITY)));
        assert!(matches!(parse(Op::Double, "nan", None), Some(Default::Number(n)) if n.is_nan()));
        assert_eq!(parse(Op::Double, "-2.5e+100", None), Some(Default::Number(-2.5e100)));
        assert_eq!(parse(Op::Bool, "true", None), Some(Default::Bool(true)));
        assert_eq!(parse(Op::Bool, "yes", None), None);
        assert_eq!(parse(Op::String, "\u{e9}\n", None), Some(Default::Bytes("\u{e9}\n".as_bytes().into())));
    }
}
