//! Names in text: of fields, and of types in brackets.

use std::collections::HashMap;

use crate::kernel::Context;
use crate::schema::{FieldPlan, Flags, MessagePlan, Op};

/// The positions of the items of message sets by the names of their types, of the sets in which some were asked for.
pub(super) type Items<'a> = HashMap<u32, HashMap<&'a str, u16>>;

/// What a group-like field goes by: the last part of its type's name.
fn group_name<'a>(f: &FieldPlan, cx: &Context<'a>) -> Option<&'a str> {
    if !f.flags.has(Flags::GROUP_LIKE) || f.flags.has(Flags::EXTENSION) {
        return None;
    }
    cx.set.message(f.sub)?.name.rsplit('.').next()
}

/// What an item of a message set goes by, if the extension is declared in the item's own type: that type's full name.
fn item_name<'a>(m: &MessagePlan, f: &FieldPlan, cx: &Context<'a>) -> Option<&'a str> {
    if !m.message_set || f.op != Op::Message || f.repeated() {
        return None;
    }
    let item = &*cx.set.message(f.sub)?.name;
    let extension = m.names.get(usize::from(f.index))?;
    (extension.rsplit_once('.')?.0.trim_start_matches('[') == item).then_some(item)
}

/// Writes the name of `f`, a field of `m`.
pub(super) fn write(m: &MessagePlan, f: &FieldPlan, cx: &Context, out: &mut String) {
    match item_name(m, f, cx) {
        Some(item) => out.extend(["[", item, "]"]),
        None => out.push_str(of(m, f, cx)),
    }
}

/// The extension of `m` that `name` means, with its brackets; an item of a message set by the name of its type too.
pub(super) fn find_extension<'m, 'a>(
    m: &'m MessagePlan,
    name: &str,
    items: &mut Items<'a>,
    cx: &Context<'a>,
) -> Option<&'m FieldPlan> {
    if let Some(f) = m.by_name(name).filter(|f| f.flags.has(Flags::EXTENSION)) {
        return Some(f);
    }
    if !m.message_set {
        return None;
    }
    let bare = name.strip_prefix('[')?.strip_suffix(']')?;
    // Of several with one name, the first.
    let named = || m.fields.iter().rev().filter_map(|f| Some((item_name(m, f, cx)?, f.index)));
    let index = *items.entry(m.index).or_insert_with(|| named().collect()).get(bare)?;
    m.fields.get(usize::from(index))
}

/// The name of `f`, a field of `m`, as hints tell it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Trace;
    use crate::format::tests::context;
    use crate::schema::tests::registry;

    #[test]
    fn items_are_gone_through_once_to_be_found_by_type() {
        let registry = registry(
            r#"
            syntax = "proto2";
            package p;
            message Set { option message_set_wire_format = true; extensions 4 to max; }
            message A { extend Set { optional A one = 4; optional A two = 5; } }
            message B { extend Set { optional B b = 6; } }
            extend Set { optional B other = 7; }"#,
        );
        let types = registry.types();
        let (set, trace) = (types.find_message("p.Set").unwrap(), Trace::default());
        let (cx, mut items) = (context(&types.set, &trace), Items::new());
        let mut find = |name| find_extension(set, name, &mut items, &cx).map(FieldPlan::number);
        for (name, number) in
            [("[p.A]", Some(4)), ("[p.B]", Some(6)), ("[p.A.two]", Some(5)), ("[p.other]", Some(7)), ("[p.Set]", None)]
        {
            assert_eq!(find(name), number, "{name}");
        }
        assert_eq!(items, HashMap::from([(set.index, HashMap::from([("p.A", 0), ("p.B", 2)]))]));
    }
}
