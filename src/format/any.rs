//! `google.protobuf.Any`: a message of any registered type as bytes.

use super::sink::decode;
use super::source::encode;
use super::tree::{Item, Span, Tree};
use crate::error::{EncodeError, Kind};
use crate::kernel::Context;
use crate::schema::{MessagePlan, Types};
use crate::wire::Writer;

/// The full name of the message.
pub const NAME: &str = "google.protobuf.Any";
/// Positions of its fields.
pub const TYPE_URL: u16 = 0;
pub const VALUE: u16 = 1;

/// The type that `url` names, if it is registered.
pub fn find<'a>(types: &'a Types, url: &str) -> Option<&'a MessagePlan> {
    let (prefix, name) = url.rsplit_once('/')?;
    let m = types.find_message(name).filter(|m| !m.map_entry && !prefix.is_empty() && !name.starts_with('.'))?;
    Some(m)
}

/// The type that `url` names, and else what is wrong with it.
pub fn type_of<'a>(types: &'a Types, url: &str) -> Result<&'a MessagePlan, String> {
    match url.rsplit_once('/') {
        Some((prefix, name)) if !prefix.is_empty() && !name.starts_with('.') => match types.find_message(name) {
            Some(m) if !m.map_entry => Ok(m),
            Some(m) => Err(format!("{} is the entry of a map", m.name)),
            None => Err(crate::schema::unknown_type(types, name).to_string()),
        },
        _ => Err(format!("type URL {} without prefix and type", crate::error::quoted(url.as_bytes()))),
    }
}

/// The message in an Any, as a tree of its own, whose root it answers.
pub fn open(bytes: &[u8], m: &MessagePlan, sort_maps: bool, cx: &mut Context) -> Result<(Tree, Span), EncodeError> {
    let fail = |kind: Kind| {
        cx.trace.detail(format_args!("{kind}"));
        EncodeError::Traced
    };
    let mut inner = *cx;
    inner.budget.enter().map_err(fail)?;
    let mut tree = Tree::default();
    let root = decode(bytes, m, &mut tree, sort_maps, &mut inner).map_err(|e| fail(e.kind))?;
    cx.budget.bytes = inner.budget.bytes;
    Ok((tree, root))
}

/// Adds the fields of an Any with that `url` and the message `root` of type `m` to what is open.
pub fn push(url: &str, root: Span, m: &MessagePlan, tree: &mut Tree, cx: &Context) -> Result<(), EncodeError> {
    let mut w = Writer::default();
    encode(tree, root, m, &mut w, &mut { *cx })?;
    let url = tree.add_bytes(url.as_bytes());
    tree.push(TYPE_URL, url);
    if !w.is_empty() {
        let value: Item = tree.add_bytes(w.written());
        tree.push(VALUE, value);
    }
    Ok(())
}
