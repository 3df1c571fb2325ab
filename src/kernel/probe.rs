//! Sinks without Lua: for tests, fuzzing and measurements of the kernel alone.

use std::fmt::Write;

use super::sink::{Sink, Value};
use crate::schema::{FieldPlan, MessagePlan};

/// Takes everything and keeps nothing. A message that comes in parts counts as new each time.
#[derive(Clone, Copy, Default)]
pub struct NullSink;

impl Sink for NullSink {
    type Frame = ();
    const TABLES: bool = true;
    const PATHS: bool = false;
    fn open(&mut self, _: &MessagePlan) -> Option<()> {
        Some(())
    }
    fn reopen(&mut self, (): (), _: &FieldPlan, _: &MessagePlan) -> Option<()> {
        Some(())
    }
    fn close(&mut self, (): (), _: &MessagePlan, _: u32, _: &[u8]) -> usize {
        0
    }
    fn unknown(&mut self, (): (), _: &[u8]) {}
    fn key(&mut self, (): (), _: &FieldPlan) {}
    fn store(&mut self, (): (), _: &FieldPlan) {}
    fn has(&mut self, (): (), _: &FieldPlan) -> bool {
        false
    }
    fn unset(&mut self, (): (), _: &FieldPlan) {}
    fn scalar(&mut self, (): (), _: &FieldPlan, _: Value) {}
    fn bytes(&mut self, (): (), _: &FieldPlan, _: &[u8]) {}
    fn message(&mut self, (): (), _: &FieldPlan, _: &[u8], _: bool) -> usize {
        0
    }
    fn begin_list(&mut self, (): (), _: &FieldPlan, _: usize) {}
    fn reopen_list(&mut self, (): (), _: &FieldPlan) -> u64 {
        0
    }
    fn end_list(&mut self, (): (), _: &FieldPlan, _: u64) {}
    fn element(&mut self, _: &FieldPlan, _: u64, _: Value) {}
    fn element_bytes(&mut self, _: &FieldPlan, _: u64, _: &[u8]) {}
    fn element_message(&mut self, _: &FieldPlan, _: u64, _: &[u8]) {}
    fn store_element(&mut self, _: &FieldPlan, _: u64) -> usize {
        0
    }
    fn begin_map(&mut self, (): (), _: &FieldPlan, _: usize, _: bool) {}
    fn end_map(&mut self, (): (), _: &FieldPlan, _: bool) {}
    fn map_key(&mut self, _: &FieldPlan, _: Value) {}
    fn map_key_bytes(&mut self, _: &FieldPlan, _: &[u8]) {}
    fn map_value(&mut self, _: &FieldPlan, _: Value) {}
    fn map_value_bytes(&mut self, _: &FieldPlan, _: &[u8]) {}
    fn map_value_message(&mut self, _: &FieldPlan, _: &[u8], _: bool) -> usize {
        0
    }
    fn store_entry(&mut self) {}
}

/// What a [`TraceSink`] saw.
#[derive(Default)]
pub struct Events {
    /// The events, one short word each.
    pub text: String,
    /// How often it was asked whether a field is set.
    pub asked: usize,
    /// How many messages were opened.
    opened: u32,
    /// (message, field) of what is set, with the size of lists.
    set: Vec<(u32, u16, u64)>,
    /// (message, field, which message) of the messages in it.
    inner: Vec<(u32, u16, u32)>,
}

/// Writes down every event. With `TABLES` false, messages within messages stay bytes unless dotted
/// names enter them.
pub struct TraceSink<'a, const TABLES: bool = true>(pub &'a mut Events);

impl<const TABLES: bool> TraceSink<'_, TABLES> {
    fn word(&mut self, word: std::fmt::Arguments) {
        let text = &mut self.0.text;
        if !text.is_empty() {
            text.push(' ');
        }
        let _ = text.write_fmt(word);
    }

    fn mark(&mut self, frame: u32, f: &FieldPlan, n: u64) {
        self.forget(frame, f);
        self.0.set.push((frame, f.index, n));
    }

    fn forget(&mut self, frame: u32, f: &FieldPlan) {
        self.0.set.retain(|(m, i, _)| (*m, *i) != (frame, f.index));
    }

    fn size(&self, frame: u32, f: &FieldPlan) -> Option<u64> {
        self.0.set.iter().find(|(m, i, _)| (*m, *i) == (frame, f.index)).map(|(_, _, n)| *n)
    }
}

fn shown(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}

impl<const TABLES: bool> Sink for TraceSink<'_, TABLES> {
    type Frame = u32;
    const TABLES: bool = TABLES;
    const PATHS: bool = !TABLES;

    fn open(&mut self, m: &MessagePlan) -> Option<u32> {
        self.0.opened = self.0.opened.wrapping_add(1);
        self.word(format_args!("{}{{", m.name));
        Some(self.0.opened)
    }
    fn reopen(&mut self, frame: u32, f: &FieldPlan, m: &MessagePlan) -> Option<u32> {
        self.word(format_args!("{}+{}{{", f.number(), m.name));
        let found = self.0.inner.iter().rev().find(|(m, i, _)| (*m, *i) == (frame, f.index));
        found.map(|(_, _, inner)| *inner)
    }
    fn close(&mut self, _: u32, _: &MessagePlan, _: u32, unknown: &[u8]) -> usize {
        if !unknown.is_empty() {
            self.word(format_args!("?{}", shown(unknown)));
        }
        self.word(format_args!("}}"));
        0
    }
    fn unknown(&mut self, _: u32, raw: &[u8]) {
        self.word(format_args!("?{}", shown(raw)));
    }
    fn key(&mut self, frame: u32, f: &FieldPlan) {
        self.word(format_args!("{}:", f.number()));
        let next = self.0.opened.wrapping_add(1);
        self.0.inner.push((frame, f.index, next));
    }
    fn store(&mut self, frame: u32, f: &FieldPlan) {
        self.mark(frame, f, 0);
    }
    fn has(&mut self, frame: u32, f: &FieldPlan) -> bool {
        self.0.asked = self.0.asked.saturating_add(1);
        self.size(frame, f).is_some()
    }
    fn unset(&mut self, frame: u32, f: &FieldPlan) {
        self.forget(frame, f);
        self.word(format_args!("-{}", f.number()));
    }
    fn scalar(&mut self, frame: u32, f: &FieldPlan, value: Value) {
        self.mark(frame, f, 0);
        self.word(format_args!("{}={value:?}", f.number()));
    }
    fn bytes(&mut self, frame: u32, f: &FieldPlan, bytes: &[u8]) {
        self.mark(frame, f, 0);
        self.word(format_args!("{}={}", f.number(), shown(bytes)));
    }
    fn message(&mut self, frame: u32, f: &FieldPlan, raw: &[u8], again: bool) -> usize {
        let before = self.size(frame, f).unwrap_or_default();
        self.mark(frame, f, before.wrapping_add(raw.len() as u64));
        self.word(format_args!("{}{}<{}>", f.number(), if again { "+" } else { "=" }, shown(raw)));
        raw.len()
    }
    fn begin_list(&mut self, frame: u32, f: &FieldPlan, n: usize) {
        self.mark(frame, f, 0);
        self.word(format_args!("{}[{n}", f.number()));
    }
    fn reopen_list(&mut self, frame: u32, f: &FieldPlan) -> u64 {
        self.word(format_args!("{}+[", f.number()));
        self.size(frame, f).unwrap_or_default()
    }
    fn end_list(&mut self, frame: u32, f: &FieldPlan, n: u64) {
        if n == 0 {
            self.forget(frame, f);
        } else {
            self.mark(frame, f, n);
        }
        self.word(format_args!("]"));
    }
    fn element(&mut self, _: &FieldPlan, index: u64, value: Value) {
        self.word(format_args!("{index}:{value:?}"));
    }
    fn element_bytes(&mut self, _: &FieldPlan, index: u64, bytes: &[u8]) {
        self.word(format_args!("{index}:{}", shown(bytes)));
    }
    fn element_message(&mut self, _: &FieldPlan, index: u64, raw: &[u8]) {
        self.word(format_args!("{index}:<{}>", shown(raw)));
    }
    fn store_element(&mut self, _: &FieldPlan, index: u64) -> usize {
        self.word(format_args!("@{index}"));
        0
    }
    fn begin_map(&mut self, frame: u32, f: &FieldPlan, n: usize, again: bool) {
        self.mark(frame, f, 0);
        self.word(format_args!("{}{}({n}", f.number(), if again { "+" } else { "" }));
    }
    fn end_map(&mut self, frame: u32, f: &FieldPlan, any: bool) {
        if !any {
            self.forget(frame, f);
        }
        self.word(format_args!(")"));
    }
    fn map_key(&mut self, _: &FieldPlan, value: Value) {
        self.word(format_args!("{value:?}->"));
    }
    fn map_key_bytes(&mut self, _: &FieldPlan, bytes: &[u8]) {
        self.word(format_args!("{}->", shown(bytes)));
    }
    fn map_value(&mut self, _: &FieldPlan, value: Value) {
        self.word(format_args!("{value:?}"));
    }
    fn map_value_bytes(&mut self, _: &FieldPlan, bytes: &[u8]) {
        self.word(format_args!("{}", shown(bytes)));
    }
    fn map_value_message(&mut self, _: &FieldPlan, raw: &[u8], again: bool) -> usize {
        self.word(format_args!("{}<{}>", if again { "+" } else { "" }, shown(raw)));
        raw.len()
    }
    fn store_entry(&mut self) {
        self.word(format_args!(";"));
    }
}
