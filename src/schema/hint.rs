//! Hints: the name that was probably meant.

use super::plan::{EnumPlan, MessagePlan};

/// A longer name is not compared: hints cost quadratic time.
const LONGEST: usize = 64;
/// More candidates than that are not looked at.
const MOST_CANDIDATES: usize = 10_000;

/// The one of `candidates` that is so close to `name` that it was probably meant, case aside.
fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong, counting swapped neighbours as one.
    let mut best = (name.len() / 3).clamp(1, 4) + 1;
    let mut found = None;
    for candidate in candidates.take(MOST_CANDIDATES) {
        // Names that share no letter are not close, however short.
        let limit = best.min(name.len().max(candidate.len()));
        if let Some(distance) = distance(name.as_bytes(), candidate.as_bytes(), limit) {
            best = distance;
            found = Some(candidate);
        }
    }
    found
}

/// How many letters must be replaced, added, left out or swapped with their neighbour to
/// make `a` of `b`, if that is below `limit` ("optimal string alignment").
fn distance(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    if a.len() > LONGEST || b.len() > LONGEST || a.len().abs_diff(b.len()) >= limit {
        return None;
    }
    // Rows of the table of distances between beginnings of `a` and of `b`.
    let mut before = [0usize; LONGEST + 1];
    let mut row: [usize; LONGEST + 1] = std::array::from_fn(|i| i);
    let mut last_x = None;
    for (i, x) in a.iter().enumerate() {
        let mut next = [0usize; LONGEST + 1];
        let mut left = i + 1;
        let mut smallest = left;
        let mut last_y = None;
        if let Some(first) = next.first_mut() {
            *first = left;
        }
        // For each `y` of `b`: above it in `row`, and two rows and columns back in `before`.
        let columns = row.iter().zip(row.iter().skip(1)).zip([&0].into_iter().chain(&before));
        for ((y, ((diagonal, above), swapped)), to) in b.iter().zip(columns).zip(next.iter_mut().skip(1)) {
            let same = x.eq_ignore_ascii_case(y);
            let mut best = (diagonal + usize::from(!same)).min(above + 1).min(left + 1);
            if last_y == Some(x) && last_x == Some(y) {
                best = best.min(swapped + 1);
            }
            *to = best;
            left = best;
            smallest = smallest.min(best);
            last_y = Some(y);
        }
        if smallest >= limit {
            return None;
        }
        last_x = Some(x);
        (before, row) = (row, next);
    }
    row.get(b.len()).copied().filter(|d| *d < limit)
}

/// `name` in quotes, for an error message: it may be long and strange.
pub(super) fn quoted(name: &str) -> String {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}...", name.get(..end).unwrap_or_default()),
        None => format!("{name:?}"),
    }
}

/// ` (did you mean "name"?)`, or nothing.
pub fn did_you_mean<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |near| format!(" (did you mean {near:?}?)"))
}

/// The error of `name`, which is no value's of the enum.
pub fn unknown_value(plan: &EnumPlan, name: &str) -> String {
    let hint = did_you_mean(name, plan.values().map(|(name, _)| name));
    format!("unknown name {} of enum {}{hint}", crate::error::quoted(name.as_bytes()), plan.name)
}

/// The hint for `name`, which is no field of `m`.
pub fn field_hint(m: &MessagePlan, name: &str) -> String {
    name_hint(name, || m.names.iter().map(|n| &**n))
}

/// The hint for `name`, which is none of `names`. It may be an extension's without its scope, and brackets are no part of
/// a name.
pub fn name_hint<'a, I: Iterator<Item = &'a str>>(name: &str, names: impl Fn() -> I) -> String {
    let bare = bare(name);
    let hint = scope_hint(bare, names());
    if hint.is_empty() { did_you_mean(bare, names()) } else { hint }
}

/// Without the brackets of an extension.
fn bare(name: &str) -> &str {
    name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name)
}

/// The hint for `name`, whose scope was left out, if only one of `candidates` can be meant.
pub(super) fn scope_hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let within = |c: &str| bare(c).strip_suffix(name).is_some_and(|scope| scope.ends_with('.') || scope.is_empty());
    let mut same = candidates.filter(|c| within(c));
    match (same.next(), same.next()) {
        (Some(full), None) => format!(" (did you mean {full:?}?)"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
        nearest(name, candidates.iter().copied())
    }

    #[test]
    fn distances() {
        let d = |a: &str, b: &str| distance(a.as_bytes(), b.as_bytes(), 10);
        assert_eq!(d("", ""), Some(0));
        assert_eq!(d("", "abc"), Some(3));
        assert_eq!(d("abc", ""), Some(3));
        assert_eq!(d("kitten", "sitting"), Some(3));
        assert_eq!(d("nmae", "name"), Some(1));
        assert_eq!(d("ca", "abc"), Some(3));
        assert_eq!(d("Name", "nAME"), Some(0));
        assert_eq!(d("abcdef", "badcfe"), Some(3));
        assert_eq!(distance(b"kitten", b"sitting", 3), None);
        assert_eq!(d("x", "abcdefghijklmno"), None);
    }

    #[test]
    fn the_nearest_name_is_hinted() {
        assert_eq!(near("nmae", &["id", "game", "name", "email"]), Some("name"));
        assert_eq!(near("userId", &["user_id", "user", "id"]), Some("user_id"));
        assert_eq!(near("nam", &["name", "nam_", "game"]), Some("name"));
        assert_eq!(near("phone_numbers", &["phone_number", "phones"]), Some("phone_number"));
        assert_eq!(near("xyz", &["name", "id"]), None);
        assert_eq!(near("a", &["b", "ab"]), Some("ab"));
        assert_eq!(near("di", &["x", "id"]), Some("id"));
        assert_eq!(near("", &["name"]), None);
    }

    #[test]
    fn huge_names_cost_nothing() {
        let huge = "a".repeat(10_000_000);
        assert_eq!(near(&huge, &["name", &huge]), None);
        assert_eq!(near("name", &[&huge, "names"]), Some("names"));
        assert_eq!(quoted(&huge).len(), LONGEST + 5);
        assert_eq!(quoted("a\"\n"), "\"a\\\"\\n\"");
    }
}
