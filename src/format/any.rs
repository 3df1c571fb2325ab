//! `google.protobuf.Any`: a message of any registered type as bytes.

use super::sink::decode;
use super::source::encode;
use super::tree::{Item, Span, Tree};
use crate::error::{EncodeError, Kind, quoted};
use crate::kernel::Context;
use crate::schema::{MessagePlan, Types, unknown_type};
use crate::wire::Writer;

/// The full name of the message.
pub const NAME: &str = "google.protobuf.Any";
/// Positions of its fields.
const TYPE_URL: u16 = 0;
const VALUE: u16 = 1;

/// Whether `m` is that message.
pub fn is_any(m: &MessagePlan) -> bool {
    *m.name == *NAME
}

/// What comes behind the last slash of `url`, if something is before it.
fn name_in(url: &str) -> Option<&str> {
    let (prefix, name) = url.rsplit_once('/')?;
    (!prefix.is_empty() && !name.starts_with('.')).then_some(name)
}

/// The type that `url` names, if it is registered.
pub fn find<'a>(types: &'a Types, url: &str) -> Option<&'a MessagePlan> {
    types.find_message(name_in(url)?).filter(|m| !m.map_entry).map(|m| &**m)
}

/// The type that `url` names, and else what is wrong with it.
pub fn type_of<'a>(types: &'a Types, url: &str) -> Result<&'a MessagePlan, String> {
    find(types, url).ok_or_else(|| match name_in(url).map(|name| (name, types.find_message(name))) {
        Some((_, Some(m))) => format!("{} is the entry of a map", m.name),
        Some((name, None)) => unknown_type(types, name).to_string(),
        None => format!("type URL {} without prefix and type", quoted(url.as_bytes())),
    })
}

/// The type URL and the value of an Any.
pub fn parts(tree: &Tree, message: Span) -> (&[u8], &[u8]) {
    let part = |index| match tree.field(message, index) {
        Some(Item::Bytes(span)) => tree.bytes(span),
        _ => &[],
    };
    (part(TYPE_URL), part(VALUE))
}

/// The message in an Any, as a tree of its own, whose root it answers. What it took is charged even if it fails.
pub fn open(bytes: &[u8], m: &MessagePlan, sort_maps: bool, cx: &mut Context) -> Result<(Tree, Span), EncodeError> {
    let mut inner = *cx;
    inner.budget.enter().map_err(|kind| failed(kind, cx))?;
    let mut tree = Tree::new(sort_maps);
    let root = decode(bytes, m, &mut tree, &mut inner);
    cx.budget.bytes = inner.budget.bytes;
    Ok((tree, root.map_err(|e| failed(e.kind, cx))?))
}

/// Adds the fields of an Any with that `url` and the message `root` of type `m` to what is open.
pub fn push(url: &str, root: Span, m: &MessagePlan, tree: &mut Tree, cx: &mut Context) -> Result<(), EncodeError> {
    let mut w = Writer::default();
    encode(tree, root, m, &mut w, &mut { *cx })?;
    let size = Tree::ENTRY.saturating_mul(2).saturating_add(url.len() as u64).saturating_add(w.len() as u64);
    cx.budget.charge(size).map_err(|kind| failed(kind, cx))?;
    let url = tree.add_bytes(url.as_bytes());
    tree.push(TYPE_URL, url);
    if !w.is_empty() {
        let value = tree.add_bytes(w.written());
        tree.push(VALUE, value);
    }
    Ok(())
}

#[cold]
fn failed(kind: Kind, cx: &Context) -> EncodeError {
    cx.trace.detail(format_args!("{kind}"));
    EncodeError::Traced
}
