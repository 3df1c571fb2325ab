//! Fields to text.

use std::fmt::Write;

use super::names;
use super::strings::write_quoted;
use crate::error::{EncodeError, Index, Trace};
use crate::format::Indent;
use crate::format::any;
use crate::format::number::Finite;
use crate::format::tree::{Entry, Item, Span, Tree};
use crate::kernel::{Context, Value};
use crate::schema::{FieldPlan, MessagePlan, Op, Types};

/// Result of everything that writes.
pub(super) type Result<T> = std::result::Result<T, EncodeError>;

/// How a message is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Unknown fields are written, by their numbers.
    pub unknown: bool,
    /// What each level is indented by; `None` for all in one line.
    pub indent: Option<Indent>,
}

/// Writes the message `root` of type `m` behind what `out` holds. With [`Style::indent`], the last line ends with a
/// line break.
///
/// # Errors
/// Messages nested too deeply, text larger than the budget, and malformed unknown fields; the trace holds the path
/// and the text then.
pub fn write(
    tree: &Tree,
    root: Span,
    m: &MessagePlan,
    types: &Types,
    style: &Style,
    out: &mut String,
    cx: &mut Context,
) -> Result<()> {
    let mut printer = Printer { types, style, start: out.len(), counted: out.len(), out, cx: *cx, level: 0 };
    let written = printer.message(tree, root, m);
    cx.budget.bytes = printer.cx.budget.bytes;
    written?;
    if style.indent.is_some() && printer.start < printer.out.len() {
        printer.out.push('\n');
    }
    Ok(())
}

/// What writing a message needs.
pub(super) struct Printer<'a, 'o> {
    types: &'a Types,
    pub(super) style: &'a Style,
    pub(super) out: &'o mut String,
    /// Where the text begins.
    start: usize,
    /// What of the text the budget was charged for.
    counted: usize,
    pub(super) cx: Context<'a>,
    level: usize,
}

impl Printer<'_, '_> {
    /// Begins a field.
    pub(super) fn begin(&mut self) -> Result<()> {
        if self.start < self.out.len() {
            self.space();
        }
        // Deep messages have long indents: a text may be much larger than its message.
        let more = self.out.len().saturating_sub(self.counted) as u64;
        self.counted = self.out.len();
        self.cx.budget.charge(more).map_err(|kind| self.fail(format_args!("{kind}")))
    }

    /// What comes between two fields.
    fn space(&mut self) {
        match &self.style.indent {
            None => self.out.push(' '),
            Some(indent) => {
                self.out.push('\n');
                (0..self.level).for_each(|_| self.out.push_str(indent.as_str()));
            }
        }
    }

    /// A message that `content` writes, in brackets.
    pub(super) fn nested(&mut self, content: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.cx.budget.enter().map_err(|kind| self.fail(format_args!("{kind}")))?;
        self.in_brackets(content)?;
        self.cx.budget.leave();
        Ok(())
    }

    /// What `content` writes, in brackets, which are no level of their own.
    fn in_brackets(&mut self, content: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.out.push_str(" {");
        let before = self.out.len();
        self.level = self.level.saturating_add(1);
        content(self)?;
        self.level = self.level.saturating_sub(1);
        if self.out.len() > before {
            self.space();
        }
        self.out.push('}');
        Ok(())
    }

    #[cold]
    pub(super) fn fail(&self, what: std::fmt::Arguments) -> EncodeError {
        self.cx.trace.detail(what);
        EncodeError::Traced
    }

    /// The fields of a message.
    fn message(&mut self, tree: &Tree, message: Span, m: &MessagePlan) -> Result<()> {
        let expanded = any::is_any(m) && self.expanded(tree, message)?;
        for entry in tree.entries(message) {
            match m.fields.get(usize::from(entry.field)) {
                Some(_) if expanded => {}
                Some(f) => self.field(tree, m, f, entry.item)?,
                None => {
                    if let (Item::Bytes(raw), true) = (entry.item, self.style.unknown) {
                        self.unknown(tree.bytes(raw))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn field(&mut self, tree: &Tree, m: &MessagePlan, f: &FieldPlan, item: Item) -> Result<()> {
        match item {
            Item::List(list) => {
                for (index, element) in (1..).zip(tree.entries(list)) {
                    self.one(tree, m, f, element.item).map_err(|e| self.cx.around(m, f, Index::At(index), e))?;
                }
                Ok(())
            }
            Item::Map(map) => {
                let Some(entry) = self.cx.set.message(f.sub) else { return Ok(()) };
                for pair in tree.entries(map).as_chunks::<2>().0 {
                    self.entry(tree, m, f, entry, pair)
                        .inspect_err(|_| tree.step_entry(pair[0].item, m.name_of(f), self.cx.trace))?;
                }
                Ok(())
            }
            _ if tree.is_absent(f, item) => Ok(()),
            _ => self.one(tree, m, f, item).map_err(|e| self.cx.around(m, f, Index::None, e)),
        }
    }

    fn entry(
        &mut self,
        tree: &Tree,
        m: &MessagePlan,
        f: &FieldPlan,
        entry: &MessagePlan,
        pair: &[Entry; 2],
    ) -> Result<()> {
        self.begin()?;
        names::write(m, f, &self.cx, self.out);
        self.in_brackets(|p| entry.fields.iter().zip(pair).try_for_each(|(f, part)| p.one(tree, entry, f, part.item)))
    }

    /// A name and one value.
    fn one(&mut self, tree: &Tree, m: &MessagePlan, f: &FieldPlan, item: Item) -> Result<()> {
        self.begin()?;
        names::write(m, f, &self.cx, self.out);
        if let Item::Message(span) = item {
            let set = self.cx.set;
            let Some(plan) = set.message(f.sub) else { return Ok(()) };
            return self.nested(|p| p.message(tree, span, plan));
        }
        self.out.push_str(": ");
        match item {
            Item::Bytes(span) => write_quoted(tree.bytes(span), f.op == Op::String, self.out),
            Item::Scalar(value) => self.scalar(f, value),
            _ => {}
        }
        Ok(())
    }

    fn scalar(&mut self, f: &FieldPlan, value: Value) {
        // What is written to a string cannot fail.
        let _ = match value {
            Value::Int(v) => write!(self.out, "{v}"),
            Value::Uint(v) => write!(self.out, "{v}"),
            Value::Bool(v) => write!(self.out, "{v}"),
            Value::Enum(v) => match self.cx.set.enumeration(f.sub).and_then(|plan| plan.name(v)) {
                Some(name) => self.out.write_str(name),
                None => write!(self.out, "{v}"),
            },
            Value::Number(v) if v.is_nan() => self.out.write_str("nan"),
            Value::Number(v) if v.is_infinite() => write!(self.out, "{v}"),
            // A float has fewer digits than the double that it widens to.
            Value::Number(v) if f.op == Op::Float => write!(self.out, "{}", Finite(v as f32)),
            Value::Number(v) => write!(self.out, "{}", Finite(v)),
        };
    }

    /// An Any's message under its type's name; false if it is none that can be read.
    fn expanded(&mut self, tree: &Tree, message: Span) -> Result<bool> {
        let (url, value) = any::parts(tree, message);
        let Ok(url) = std::str::from_utf8(url) else { return Ok(false) };
        let types = self.types;
        let Some(plan) = any::find(types, url).filter(|_| names::wrong_url(url).is_none()) else { return Ok(false) };
        // What is wrong within stays untold.
        let trace = Trace::default();
        let mut cx = Context { trace: &trace, ..self.cx };
        let opened = any::open(value, plan, tree.sorts_maps(), &mut cx);
        self.cx.budget.bytes = cx.budget.bytes;
        let Ok((inner, root)) = opened else { return Ok(false) };
        self.begin()?;
        let _ = write!(self.out, "[{url}]");
        self.nested(|p| p.message(&inner, root, plan)).inspect_err(|_| {
            self.cx.trace.step(&format!("[{}]", plan.name), Index::None);
        })?;
        Ok(true)
    }
}
