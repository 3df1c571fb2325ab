//! Names in text: of fields, and of types in brackets.

use super::super::any;
use super::super::tree::{Item, Tree};
use crate::error::{Index, Trace};
use crate::kernel::{Context, Value};
use crate::schema::{FieldPlan, Flags, MessagePlan, Op};

/// The last part of the full name of `group`, if the field `name` of `m` goes by that: as a group does, whose field
/// has the type's name in lower case, and whose type stands beside it.
fn group_like<'a>(m: &MessagePlan, f: &FieldPlan, name: &str, group: &'a MessagePlan) -> Option<&'a str> {
    if f.op != Op::Group || f.flags.has(Flags::EXTENSION) {
        return None;
    }
    let last = group.name.strip_prefix(&*m.name)?.strip_prefix('.')?;
    last.eq_ignore_ascii_case(name).then_some(last).filter(|_| name.bytes().all(|b| !b.is_ascii_uppercase()))
}

/// The name of `f`, a field of `m`, as it is written.
pub(super) fn of<'a>(m: &'a MessagePlan, f: &FieldPlan, cx: &Context<'a>) -> &'a str {
    let name = m.name_of(f);
    match cx.set.message(f.sub) {
        Some(group) if f.op == Op::Group => group_like(m, f, name, group).unwrap_or(name),
        _ => name,
    }
}

/// The field of `m` that `name` means outside of brackets: by its own name, and groups by that of their type too.
pub(super) fn find<'a>(m: &'a MessagePlan, name: &str, cx: &Context) -> Option<&'a FieldPlan> {
    if let Some(f) = m.by_name(name) {
        return Some(f).filter(|f| !f.flags.has(Flags::EXTENSION));
    }
    if !name.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let f = m.by_name(&lower)?;
    let group = if f.op == Op::Group { cx.set.message(f.sub)? } else { return None };
    (group_like(m, f, &lower, group) == Some(name)).then_some(f)
}

/// Whether `m` is `google.protobuf.Any`.
pub(super) fn is_any(m: &MessagePlan) -> bool {
    let ops = m.fields.iter().map(|f| f.op);
    &*m.name == any::NAME && ops.eq([Op::String, Op::Bytes])
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

/// Tells `trace` that an error arose in the entry of map `name` under `key`, if that is known.
#[cold]
pub(super) fn step(tree: &Tree, name: &str, key: Option<Item>, trace: &Trace) {
    match key {
        Some(Item::Bytes(span)) => trace.step(name, Index::Name(tree.bytes(span))),
        Some(Item::Scalar(Value::Int(v))) => trace.step(name, Index::Key(&v)),
        Some(Item::Scalar(Value::Uint(v))) => trace.step(name, Index::Key(&v)),
        Some(Item::Scalar(Value::Bool(v))) => trace.step(name, Index::Key(&v)),
        _ => trace.step(name, Index::None),
    }
}
