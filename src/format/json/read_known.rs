//! JSON to well-known types.

use super::read::Parser;
use super::scan::Result;
use super::well_known::{BOOL, Kind, LIST, NANOS, NULL, NUMBER, ONLY, SECONDS, STRING, STRUCT};
use super::{mask, time};
use crate::error::quoted;
use crate::format::any;
use crate::format::tree::Item;
use crate::kernel::Value;
use crate::schema::MessagePlan;

/// The member of an `Any` that names its type.
const TYPE: &str = "@type";
/// The member of an `Any` that holds a message which is no object of fields.
const VALUE: &str = "value";

impl Parser<'_, '_, '_> {
    /// Adds the fields of the message `m` to what is open.
    pub(super) fn well_known(&mut self, kind: Kind, m: &MessagePlan) -> Result<()> {
        match (kind, m.fields.first()) {
            (Kind::Any, _) => self.any(),
            (Kind::Duration | Kind::Timestamp, _) => self.time(kind),
            (Kind::FieldMask, _) => self.field_mask(),
            (Kind::Value, _) => self.dynamic(m),
            (Kind::Struct, Some(f)) if self.s.peek() == b'{' => self.map(m, f),
            (Kind::Struct, _) => self.s.wrong("object"),
            (Kind::ListValue, Some(f)) if self.s.peek() == b'[' => self.list(m, f),
            (Kind::ListValue, _) => self.s.wrong("array"),
            (Kind::Wrapper, Some(f)) => match self.value(f)? {
                Some(item) => self.push(f.index, item),
                None => Ok(()),
            },
            (Kind::Wrapper, None) => Ok(()),
        }
    }

    fn time(&mut self, kind: Kind) -> Result<()> {
        let at = self.s.start();
        let (what, string, like) = match kind {
            Kind::Timestamp => ("timestamp", "string with a timestamp", "1970-01-01T00:00:00Z"),
            _ => ("duration", "string with a duration", "1.5s"),
        };
        let text = self.s.string_of(string)?;
        let read = if kind == Kind::Timestamp { time::read_timestamp(&text) } else { time::read_duration(&text) };
        let Some((seconds, nanos)) = read else {
            return self.s.fail(at, format_args!("{} is no {what} like {like}", quoted(text.as_bytes())));
        };
        for (field, part) in [(SECONDS, seconds), (NANOS, nanos.into())] {
            if part != 0 {
                self.push(field, Item::Scalar(Value::Int(part)))?;
            }
        }
        Ok(())
    }

    fn field_mask(&mut self) -> Result<()> {
        let at = self.s.start();
        let text = self.s.string_of("string with paths")?;
        if text.is_empty() {
            return Ok(());
        }
        let mark = self.tree.mark();
        for path in text.split(',') {
            let Some(path) = mask::snake(path) else {
                return self.s.fail(at, format_args!("{} is no path of a field mask", quoted(path.as_bytes())));
            };
            let item = self.tree.add_bytes(path.as_bytes());
            self.push(ONLY, item)?;
        }
        let list = Item::List(self.tree.close_list(mark));
        self.push(ONLY, list)
    }

    /// A `google.protobuf.Value`.
    fn dynamic(&mut self, m: &MessagePlan) -> Result<()> {
        let field = match self.s.peek() {
            b'{' => STRUCT,
            b'[' => LIST,
            b'"' => STRING,
            b'-' | b'0'..=b'9' => NUMBER,
            _ if self.s.at_word("null") => NULL,
            _ if self.s.at_word("true") || self.s.at_word("false") => BOOL,
            _ => return self.s.wrong("value"),
        };
        let Some(f) = m.fields.get(usize::from(field)) else { return Ok(()) };
        match self.value(f)? {
            Some(item) => self.push(field, item),
            None => Ok(()),
        }
    }

    fn any(&mut self) -> Result<()> {
        let types = self.types;
        let object = self.s;
        let at = self.s.start();
        let Some((at_url, url)) = self.type_url(at)? else { return Ok(()) };
        self.s = object;
        let m = match any::type_of(types, &url) {
            Ok(m) => m,
            Err(why) => return self.s.fail(at_url, format_args!("{why}")),
        };
        let mark = self.tree.mark();
        self.enter()?;
        match Kind::of(m) {
            Some(kind) => self.known_in_any(kind, m, at)?,
            None => self.object(m, Some(TYPE))?,
        }
        self.cx.budget.leave();
        let root = self.tree.close_message(mark, m, &types.set);
        match any::push(&url, root, m, self.tree, self.cx) {
            Ok(()) => Ok(()),
            Err(_) => Err(crate::format::ParseError { at }),
        }
    }

    /// The type of the Any that begins here, and where it stands; `None` if the object is empty, which is passed over then.
    fn type_url(&mut self, start: usize) -> Result<Option<(usize, String)>> {
        let mut object = self.s;
        // Mostly it comes first.
        if object.take(b'{') && object.peek() == b'"' && object.string()? == TYPE && object.take(b':') {
            self.s = object;
            return self.url().map(Some);
        }
        let (mut url, mut others) = (None, false);
        self.members(|p, at, key| {
            if key != TYPE {
                others = true;
                return p.skip();
            }
            if url.replace(p.url()?).is_some() {
                return p.s.fail(at, format_args!("key \"{TYPE}\" comes twice"));
            }
            Ok(())
        })?;
        // An Any in an Any is gone through once more for each that it is in.
        let end = self.s.start();
        self.charge(end.saturating_sub(start) as u64)?;
        if url.is_none() && others {
            return self.s.fail(start, format_args!("an Any without \"{TYPE}\""));
        }
        Ok(url)
    }

    /// A type URL, and where it stands.
    fn url(&mut self) -> Result<(usize, String)> {
        let at = self.s.start();
        Ok((at, self.s.string_of("string with a type URL")?.into_owned()))
    }

    /// The fields of the well-known type `m`, which an Any has under one key.
    fn known_in_any(&mut self, kind: Kind, m: &MessagePlan, at: usize) -> Result<()> {
        let (mut met, mut typed) = (false, false);
        self.members(|p, at, key| match &*key {
            TYPE if !typed => {
                typed = true;
                p.skip()
            }
            VALUE if met => p.s.fail(at, format_args!("key \"{VALUE}\" comes twice")),
            VALUE => {
                met = true;
                p.well_known(kind, m)
            }
            _ => p.unknown(at, m, &key),
        })?;
        if met { Ok(()) } else { self.s.fail(at, format_args!("an Any of {} without \"{VALUE}\"", m.name)) }
    }
}
