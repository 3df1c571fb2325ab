//! Literal bytes in, literal events out, without Lua.
//!
//! Bytes are written in hex, events in the words of [`TraceSink`].

mod enums;
mod errors;
mod fields;
mod limits;
mod lists;
mod maps;
mod message_sets;
mod messages;
mod oneofs;
mod required;
mod robust;
mod scalars;
mod unknown;

use std::sync::Arc;

use super::probe::{Events, TraceSink};
use super::{Budget, Context, decode};
use crate::error::{DecodeError, Text, Trace};
use crate::schema::tests::registry;
use crate::schema::{Flags, MessagePlan, Pattern, Set, Types};

/// The types of one source text.
struct Schema(Arc<Types>);

const ENOUGH: Budget = Budget { depth: 100, bytes: 1 << 30 };

/// What is decoded, and under which rules.
struct Call<'a> {
    set: &'a Set,
    plan: &'a MessagePlan,
    budget: Budget,
    required: bool,
    utf8: Flags,
}

/// A proto2 schema.
fn proto2(source: &str) -> Schema {
    Schema(registry(&format!("syntax = \"proto2\"; {source}")).types().clone())
}

/// A proto3 schema.
fn proto3(source: &str) -> Schema {
    Schema(registry(&format!("syntax = \"proto3\"; {source}")).types().clone())
}

impl Schema {
    fn call(&self, name: &str) -> Call<'_> {
        let plan = self.0.find_message(name).unwrap();
        Call { set: &self.0.set, plan, budget: ENOUGH, required: true, utf8: Flags::UTF8 }
    }

    /// The events of message M, without the outermost brackets, or the error.
    fn m(&self, hex: &str) -> String {
        self.call("M").tables(&bytes(hex))
    }

    /// The events of a pattern, in which messages stay bytes that no dotted name enters.
    fn pattern(&self, text: &str, hex: &str) -> String {
        let pattern = Pattern::compile(&self.0, text).unwrap();
        let call = Call { plan: &pattern.plan, set: &pattern.set, ..self.call(&pattern.plan.name) };
        call.flat(&bytes(hex))
    }
}

impl Call<'_> {
    fn tables(&self, input: &[u8]) -> String {
        self.run::<true>(input)
    }

    fn flat(&self, input: &[u8]) -> String {
        self.run::<false>(input)
    }

    fn run<const TABLES: bool>(&self, input: &[u8]) -> String {
        let trace = Trace::default();
        let (result, events, left) = self.decode::<TABLES>(input, &trace);
        match result {
            Ok(()) => {
                assert_eq!(left.depth, self.budget.depth, "levels are left as they were entered");
                let text = events.text.strip_prefix(&format!("{}{{", self.plan.name)).unwrap().trim_start();
                text.strip_suffix('}').unwrap_or(text).trim_end().to_owned()
            }
            Err(error) => {
                let mut out = Text::new();
                trace.tell(&self.plan.name, Some(error.kind), &mut out);
                let text = String::from_utf8_lossy(out.as_bytes()).into_owned();
                format!("{text}, at byte {}", error.offset(input))
            }
        }
    }

    /// How often the sink was asked whether a field is set, and how many bytes were charged.
    fn costs(&self, input: &[u8]) -> (usize, u64) {
        let (result, events, left) = self.decode::<true>(input, &Trace::default());
        result.unwrap();
        (events.asked, self.budget.bytes - left.bytes)
    }

    fn decode<const TABLES: bool>(&self, input: &[u8], trace: &Trace) -> (Result<(), DecodeError>, Events, Budget) {
        let mut cx = Context { set: self.set, trace, budget: self.budget, required: self.required, utf8: self.utf8 };
        let mut events = Events::default();
        let result = decode(input, self.plan, &mut TraceSink::<TABLES>(&mut events), &mut cx);
        (result, events, cx.budget)
    }
}

/// The bytes that hex digits stand for, grouped by spaces as one likes.
fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let (pairs, rest) = digits.as_chunks::<2>();
    assert!(rest.is_empty(), "{hex}");
    pairs.iter().map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Checks each row: bytes in hex, and the events or the error.
fn check(schema: &Schema, rows: &[(&str, &str)]) {
    for (hex, expected) in rows {
        assert_eq!(schema.m(hex), *expected, "{hex}");
    }
}
