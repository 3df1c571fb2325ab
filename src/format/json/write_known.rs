//! Well-known types to JSON.

use super::well_known::{BOOL, Kind, LIST, NANOS, NULL, NUMBER, ONLY, SECONDS, STRING, STRUCT};
use super::write::{Printer, Result};
use super::{mask, time};
use crate::format::any;
use crate::format::number::Finite;
use crate::format::tree::{Item, Span, Tree};
use crate::kernel::Value;
use crate::schema::MessagePlan;

impl Printer<'_, '_> {
    pub(super) fn well_known(&mut self, kind: Kind, tree: &Tree, message: Span, m: &MessagePlan) -> Result<()> {
        match kind {
            Kind::Any => self.any(tree, message),
            Kind::Duration | Kind::Timestamp => self.time(kind, tree, message),
            Kind::FieldMask => self.field_mask(tree, message),
            Kind::Struct => self.only(tree, message, m, "{}"),
            Kind::ListValue => self.only(tree, message, m, "[]"),
            Kind::Value => self.dynamic(tree, message, m),
            Kind::Wrapper => self.wrapper(tree, message, m),
        }
    }

    /// The list or map that the message stands for.
    fn only(&mut self, tree: &Tree, message: Span, m: &MessagePlan, empty: &str) -> Result<()> {
        match (tree.field(message, ONLY), m.fields.first()) {
            (Some(item), Some(f)) => self.field(tree, item, m, f),
            _ => {
                self.out.extend_from_slice(empty.as_bytes());
                Ok(())
            }
        }
    }

    fn wrapper(&mut self, tree: &Tree, message: Span, m: &MessagePlan) -> Result<()> {
        match (tree.field(message, ONLY), m.fields.first(), m.defaults.first()) {
            (Some(item), Some(f), _) => self.field(tree, item, m, f),
            (None, Some(f), Some(default)) => self.default(f, default),
            _ => Ok(()),
        }
    }

    fn time(&mut self, kind: Kind, tree: &Tree, message: Span) -> Result<()> {
        let part = |index| match tree.field(message, index) {
            Some(Item::Scalar(Value::Int(v))) => v,
            _ => 0,
        };
        let (seconds, nanos) = (part(SECONDS), part(NANOS));
        // A field of 32 bits.
        let short = nanos as i32;
        let text =
            if kind == Kind::Timestamp { time::timestamp(seconds, short) } else { time::duration(seconds, short) };
        match text {
            Some(text) => {
                self.print(format_args!("\"{text}\""));
                Ok(())
            }
            None => self.fail(format_args!("seconds {seconds} and nanos {nanos} are out of range")),
        }
    }

    fn field_mask(&mut self, tree: &Tree, message: Span) -> Result<()> {
        let mut text = String::new();
        if let Some(Item::List(paths)) = tree.field(message, ONLY) {
            for (i, path) in tree.entries(paths).iter().enumerate() {
                let Item::Bytes(span) = path.item else { continue };
                let path = tree.bytes(span);
                let camel = std::str::from_utf8(path).ok().and_then(mask::camel);
                // One that is empty, alone, would read as no path.
                let Some(camel) = camel.filter(|camel| !camel.is_empty() || paths.len() > 1) else {
                    let shown = crate::error::quoted(path);
                    return self.fail(format_args!("path {shown} has no form in JSON that reads as the same path"));
                };
                if i > 0 {
                    text.push(',');
                }
                text.push_str(&camel);
            }
        }
        self.string(text.as_bytes())
    }

    /// A `google.protobuf.Value`.
    fn dynamic(&mut self, tree: &Tree, message: Span, m: &MessagePlan) -> Result<()> {
        let kind = tree.entries(message).first().map(|e| (e.field, e.item));
        match kind {
            Some((NULL, _)) => self.out.extend_from_slice(b"null"),
            Some((NUMBER, Item::Scalar(Value::Number(v)))) if v.is_finite() => {
                self.print(format_args!("{}", Finite(v)))
            }
            Some((NUMBER, Item::Scalar(Value::Number(v)))) => {
                return self.fail(format_args!("number {v} cannot be in a google.protobuf.Value in JSON"));
            }
            Some((STRING | BOOL | STRUCT | LIST, item)) => {
                let Some(f) = kind.and_then(|(field, _)| m.fields.get(usize::from(field))) else { return Ok(()) };
                return self.value(tree, item, f);
            }
            _ => return self.fail(format_args!("a google.protobuf.Value without value")),
        }
        Ok(())
    }

    fn any(&mut self, tree: &Tree, message: Span) -> Result<()> {
        let (url, bytes) = any::parts(tree, message);
        if url.is_empty() && bytes.is_empty() {
            self.out.extend_from_slice(b"{}");
            return Ok(());
        }
        let url = String::from_utf8_lossy(url);
        let types = self.types;
        let m = match any::type_of(types, &url) {
            Ok(m) => m,
            Err(why) => return self.fail(format_args!("{why}")),
        };
        let (inner, root) = any::open(bytes, m, tree.sorts_maps(), self.cx)?;
        self.open(b'{');
        self.next(false)?;
        self.key("@type")?;
        self.string(url.as_bytes())?;
        if Kind::of(m).is_some() {
            self.next(true)?;
            self.key("value")?;
            self.message(&inner, root, m)?;
        } else {
            self.known_fields(&inner, root)?;
            self.fields(&inner, root, m, true)?;
        }
        self.close(b'}', true);
        Ok(())
    }
}
