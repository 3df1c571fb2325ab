//! Timestamps and durations as JSON has them: RFC 3339 in UTC, and decimal seconds.

use std::ops::RangeInclusive;

use prost_types::{Duration, Timestamp};

/// From the first second of year 1 to the last of year 9999.
const TIMES: RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
/// 10,000 years.
const LONGEST: i64 = 315_576_000_000;
const NANOS_PER_SECOND: i32 = 1_000_000_000;

/// The text of a timestamp; `None` if it is out of range.
pub fn timestamp(seconds: i64, nanos: i32) -> Option<String> {
    (TIMES.contains(&seconds) && (0..NANOS_PER_SECOND).contains(&nanos))
        .then(|| Timestamp { seconds, nanos }.to_string())
}

/// The text of a duration; `None` if it is out of range or its parts have different signs.
pub fn duration(seconds: i64, nanos: i32) -> Option<String> {
    is_duration(seconds, nanos).then(|| Duration { seconds, nanos }.to_string())
}

fn is_duration(seconds: i64, nanos: i32) -> bool {
    seconds.unsigned_abs() <= LONGEST.unsigned_abs()
        && nanos.unsigned_abs() < NANOS_PER_SECOND.unsigned_abs()
        && seconds.signum() * i64::from(nanos.signum()) >= 0
}

/// Seconds and nanoseconds of a timestamp; `None` if it is none or out of range.
pub fn read_timestamp(text: &str) -> Option<(i64, i32)> {
    // The library takes more than RFC 3339 has.
    let (moment, rest) = text.split_at_checked("2000-12-31T23:59:59".len())?;
    let shaped = moment.bytes().zip(*b"dddd-dd-ddTdd:dd:dd").all(|(b, shape)| match shape {
        b'd' => b.is_ascii_digit(),
        _ => b == shape,
    });
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let digits = rest.len().checked_sub(zone.len())?;
    let zoned = zone == "Z" || is_offset(zone);
    if !shaped || !zoned || digits == 1 || digits > 10 || moment.ends_with("60") {
        return None;
    }
    let Timestamp { seconds, nanos } = text.parse().ok()?;
    TIMES.contains(&seconds).then_some((seconds, nanos))
}

/// Whether `zone` is like `+01:30`.
fn is_offset(zone: &str) -> bool {
    match *zone.as_bytes() {
        [b'+' | b'-', a @ b'0'..=b'2', b @ b'0'..=b'9', b':', b'0'..=b'5', b'0'..=b'9'] => a < b'2' || b < b'4',
        _ => false,
    }
}

/// Seconds and nanoseconds of a duration; `None` if it is none or out of range.
pub fn read_duration(text: &str) -> Option<(i64, i32)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, rest) = digits.split_at_checked(digits.bytes().take_while(u8::is_ascii_digit).count())?;
    let fraction = rest.strip_suffix('s')?;
    let fraction = if fraction.is_empty() { "0" } else { fraction.strip_prefix('.')? };
    let nines = 1..=9;
    if whole.is_empty() || !nines.contains(&fraction.len()) || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let Duration { seconds, nanos } = text.parse().ok()?;
    is_duration(seconds, nanos).then_some((seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_go_both_ways() {
        for (text, seconds, nanos) in [
            ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
            ("1969-12-31T23:59:59.999999999Z", -1, 999_999_999),
            ("1970-01-01T00:00:00.500Z", 0, 500_000_000),
            ("2000-02-29T00:00:00.000001Z", 951_782_400, 1000),
            ("9999-12-31T23:59:59Z", 253_402_300_799, 0),
        ] {
            assert_eq!(timestamp(seconds, nanos).as_deref(), Some(text));
            assert_eq!(read_timestamp(text), Some((seconds, nanos)), "{text}");
        }
        assert_eq!(read_timestamp("1970-01-01T00:00:00.1+01:30"), Some((-5400, 100_000_000)));
        for (seconds, nanos) in [(-62_135_596_801, 0), (253_402_300_800, 0), (0, -1), (0, 1_000_000_000)] {
            assert_eq!(timestamp(seconds, nanos), None);
        }
        for text in [
            "",
            "1970-01-01",
            "1970-01-01T00:00:00",
            "1970-01-01t00:00:00Z",
            "1970-01-01T00:00:00z",
            "1970-01-01 00:00:00Z",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00.1234567890Z",
            "1970-01-01T00:00:60Z",
            "1970-01-01T24:00:00Z",
            "1970-13-01T00:00:00Z",
            "2001-02-29T00:00:00Z",
            "1970-01-01T00:00:00+0100",
            "1970-01-01T00:00:00+24:00",
            "1970-01-01T00:00:00+00:60",
            "0000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "+1970-01-01T00:00:00Z",
            "0001-01-01T00:00:00+00:01",
            "1970-01-01T00:00:00 Z",
            "1970-01-01T00:00:00Z ",
            "197é-01-01T00:00:00Z",
        ] {
            assert_eq!(read_timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn durations_go_both_ways() {
        for (text, seconds, nanos) in [
            ("0s", 0, 0),
            ("1.500s", 1, 500_000_000),
            ("-0.000000001s", 0, -1),
            ("-3.000001s", -3, -1000),
            ("315576000000s", 315_576_000_000, 0),
        ] {
            assert_eq!(duration(seconds, nanos).as_deref(), Some(text));
            assert_eq!(read_duration(text), Some((seconds, nanos)), "{text}");
        }
        assert_eq!(read_duration("-0.5s"), Some((0, -500_000_000)));
        for (seconds, nanos) in
            [(1, -1), (-1, 1), (315_576_000_001, 0), (0, 1_000_000_000), (i64::MIN, 0), (0, i32::MIN)]
        {
            assert_eq!(duration(seconds, nanos), None);
        }
        for text in
            ["", "s", "1", "1.s", ".5s", "1.0000000000s", "+1s", "1 s", "--1s", "1e3s", "315576000001s", "-s", "1S"]
        {
            assert_eq!(read_duration(text), None, "{text}");
        }
    }
}
