//! Names in text: of fields, and of types in brackets.

use crate::kernel::Context;
use crate::schema::{FieldPlan, Flags, MessagePlan};

/// What a group-like field goes by: the last part of its type's name.
fn group_name<'a>(f: &FieldPlan, cx: &Context<'a>) -> Option<&'a str> {
    if !f.flags.has(Flags::GROUP_LIKE) || f.flags.has(Flags::EXTENSION) {
        return None;
    }
    cx.set.message(f.sub)?.name.rsplit('.').next()
}

/// The name of `f`, a field of `m`, as it is written.
pub(super) fn of<'a>(m: &'a MessagePlan, f: &FieldPlan, cx: &Context<'a>) -> &'a str {
    group_name(f, cx).unwrap_or_else(|| m.name_of(f))
}

/// The field of `m` that `name` means outside of brackets: by its own name, and groups by that of their type too.
pub(super) fn find<'a>(m: &'a MessagePlan, name: &str, cx: &Context) -> Option<&'a FieldPlan> {
    if let Some(f) = m.by_name(name) {
        return Some(f).filter(|f| !f.flags.has(Flags::EXTENSION));
    }
    // The field of a group has its type's name in lower case.
    m.by_name(&name.to_ascii_lowercase()).filter(|f| group_name(f, cx) == Some(name))
}

/// Whether `b` may stand in brackets.
pub(super) fn in_brackets(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"_-.~!$&()*+,;=%/".contains(&b)
}

/// Why `url` cannot be that of an Any in brackets.
pub(super) fn wrong_url(url: &str) -> Option<&'static str> {
    let Some((prefix, name)) = url.rsplit_once('/') else { return Some("type URL without a prefix") };
    if prefix.is_empty() || prefix.starts_with('/') {
        return Some("type URL that begins with /");
    }
    let mut escapes = prefix.split('%').skip(1);
    if escapes.any(|e| e.len() < 2 || !e.bytes().take(2).all(|b| b.is_ascii_hexdigit())) {
        return Some("type URL with a % that no two hexadecimal digits follow");
    }
    let part = |part: &str| {
        let first = part.bytes().next();
        first.is_some_and(|b| !b.is_ascii_digit()) && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    if !name.split('.').all(part) || !url.bytes().all(in_brackets) {
        return Some("type URL without the name of a type");
    }
    None
}
