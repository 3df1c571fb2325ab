//! Numbers in text.

use std::fmt::{self, Display, Formatter, LowerExp};

/// A finite number, with the fewest digits that read as the same one. Zero with a sign has a point, for some readers take
/// `-0` for a whole number, which has no sign.
pub struct Finite<T>(pub T);

impl<T: Display + LowerExp + Into<f64> + Copy> Display for Finite<T> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let size: f64 = self.0.into().abs();
        match self.0.into() {
            0.0 if self.0.into().is_sign_negative() => f.write_str("-0.0"),
            _ if size != 0.0 && !(1e-5..1e16).contains(&size) => write!(f, "{:e}", self.0),
            _ => write!(f, "{}", self.0),
        }
    }
}

/// The whole number that a decimal number is: digits, with a sign, a fraction and an exponent if need be.
/// `None` if it is none, or has more than 38 digits.
pub fn whole(text: &str) -> Option<i128> {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent),
        None => (text, "0"),
    };
    let (digits, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = || digits.bytes().chain(fraction.bytes());
    if all().next().is_none() || !all().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Zeros at the end of the digits only move the point.
    let significant = all().count().checked_sub(all().rev().take_while(|b| *b == b'0').count())?;
    let mut value = 0i128;
    for digit in all().take(significant) {
        value = value.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
    }
    if value == 0 {
        return Some(0);
    }
    let exponent: i64 = exponent.parse().ok()?;
    let zeros =
        exponent.checked_add(i64::try_from(digits.len()).ok()?)?.checked_sub(i64::try_from(significant).ok()?)?;
    let scale = 10i128.checked_pow(u32::try_from(zeros).ok()?)?;
    value.checked_mul(if negative { -1 } else { 1 })?.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_exactly() {
        for (text, value) in [
            ("0", Some(0)),
            ("-0.00e9", Some(0)),
            ("18446744073709551615", Some(18_446_744_073_709_551_615)),
            ("1.8446744073709551615e19", Some(18_446_744_073_709_551_615)),
            ("-9223372036854775808.000", Some(-9_223_372_036_854_775_808)),
            ("100e-2", Some(1)),
            ("12.50e1", Some(125)),
            ("0.5", None),
            ("1e-1", None),
            ("1e99999999999999999999", None),
            ("0e99", Some(0)),
            ("1e99", None),
            ("", None),
            ("-", None),
            ("1x", None),
            (".5e1", Some(5)),
        ] {
            assert_eq!(whole(text), value, "{text}");
        }
    }

    #[test]
    fn finite_numbers_have_few_digits() {
        for (v, text) in [
            (0.0, "0"),
            (-0.0, "-0.0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1e15, "1000000000000000"),
            (1e16, "1e16"),
            (-1.5e-7, "-1.5e-7"),
            (f64::MAX, "1.7976931348623157e308"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(Finite::<f64>(v).to_string(), text);
        }
        assert_eq!(Finite(0.1f32).to_string(), "0.1");
    }
}
