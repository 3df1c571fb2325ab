//! Nothing that comes in makes the decoder panic, and what is cut off is an error.

use super::{ENOUGH, TraceSink};
use crate::error::Trace;
use crate::kernel::probe::{Events, NullSink};
use crate::kernel::{Context, Sink, decode};
use crate::schema::{Flags, MessagePlan, Pattern, Registry, Set};

/// Random numbers, the same each time.
struct Xorshift(u64);

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }
}

fn every() -> Registry {
    let mut registry = Registry::new();
    registry.register(include_bytes!("../../../descriptors/every2.pb")).unwrap();
    registry.register(include_bytes!("../../../descriptors/every3.pb")).unwrap();
    registry.register(include_bytes!("../../../descriptors/bare.pb")).unwrap();
    registry
}

fn decodes<S: Sink>(input: &[u8], plan: &MessagePlan, set: &Set, sink: &mut S) -> bool {
    let trace = Trace::default();
    let mut cx = Context { set, trace: &trace, budget: ENOUGH, required: true, utf8: Flags::UTF8 };
    match decode(input, plan, sink, &mut cx) {
        Ok(()) => true,
        Err(error) => {
            assert!(error.offset(input) <= input.len(), "{error:?} lies within the input");
            false
        }
    }
}

/// A value of each field of `plan`, two of lists, nested `levels` deep; message sets as items.
fn rich(plan: &MessagePlan, set: &Set, levels: u32, out: &mut Vec<u8>) {
    fn varint(mut v: u64, out: &mut Vec<u8>) {
        while v >= 128 {
            out.push(v as u8 | 128);
            v >>= 7;
        }
        out.push(v as u8);
    }
    for f in &plan.fields {
        for round in 0..if f.repeated() { 2 } else { 1u64 } {
            let mut inner = Vec::new();
            if let Some(plan) =
                set.message(f.sub).filter(|_| matches!(f.op.wire_type() as u8, 2 | 3) && f.op as u8 >= 16)
            {
                if levels == 0 {
                    continue;
                }
                rich(plan, set, levels - 1, &mut inner);
            }
            let tag = if round == 1 && f.alt != 0 { f.alt } else { f.tag };
            if plan.message_set {
                out.extend([0x0b, 0x10]);
                varint(u64::from(f.number()), out);
                out.push(0x1a);
                varint(inner.len() as u64, out);
                out.extend(inner);
                out.push(0x0c);
                continue;
            }
            varint(u64::from(tag), out);
            match tag & 7 {
                0 => varint(round, out),
                1 => out.extend([round as u8; 8]),
                5 => out.extend([round as u8; 4]),
                3 => {
                    out.extend(inner);
                    varint(u64::from(tag + 1), out);
                }
                _ if f.flags.has(Flags::PACKED) || tag == f.alt => {
                    let size = match f.op.wire_type() as u8 {
                        1 => 8,
                        5 => 4,
                        _ => 1,
                    };
                    varint(size * 2, out);
                    out.extend(vec![0; size as usize * 2]);
                }
                _ => {
                    varint(inner.len() as u64, out);
                    out.extend(inner);
                }
            }
        }
    }
}

#[test]
fn every_prefix_of_a_rich_message() {
    let registry = every();
    let types = registry.types();
    let set = &types.set;
    for name in ["every2.All", "every3.All", "every2.Holder", "ext.Base", "ext.Set"] {
        let plan = types.find_message(name).unwrap();
        let mut input = Vec::new();
        rich(plan, set, 2, &mut input);
        if !name.ends_with("Holder") {
            assert!(decodes(&input, plan, set, &mut NullSink), "{name}");
        }
        // Where a top-level field ends, and nowhere else, the prefix is a message.
        let mut ends = vec![0];
        let mut r = crate::wire::Reader::new(&input);
        while !r.is_empty() {
            let tag = r.tag().unwrap();
            r.skip(tag, 100).unwrap();
            ends.push(input.len() - r.rest().len());
        }
        for end in 0..input.len() {
            let whole = decodes(&input[..end], plan, set, &mut NullSink);
            if !name.ends_with("Holder") || !ends.contains(&end) {
                assert_eq!(whole, ends.contains(&end), "{name}, {end} bytes of {}", input.len());
            }
        }
    }
}

#[test]
fn mutations_do_not_panic() {
    let registry = every();
    let types = registry.types();
    let set = &types.set;
    let mut random = Xorshift(0x2545_f491_4f6c_dd1d);
    let mut accepted = 0;
    let cases = 200_000;
    for name in ["every2.All", "every3.All", "every2.Holder", "every2.Inner", "ext.Set"] {
        let plan = types.find_message(name).unwrap();
        let names = plan.fields.iter().step_by(3).map(|f| format!(" {}", plan.name_of(f))).collect::<String>();
        let pattern = Pattern::compile(types, &format!("{name}{names}")).unwrap();
        let mut whole = Vec::new();
        rich(plan, set, 1, &mut whole);
        for case in 0..cases / 5 {
            let from = random.below(whole.len());
            let mut input = whole[from..whole.len().min(from + 1 + random.below(200))].to_vec();
            for _ in 0..random.below(6) {
                let at = random.below(input.len());
                match random.below(5) {
                    0 => input[at] = random.next() as u8,
                    1 => input[at] ^= 1 << random.below(8),
                    2 => input.insert(at, random.next() as u8),
                    3 => input.truncate(at.max(1)),
                    _ => {
                        let piece = input[at..].to_vec();
                        input.extend(piece);
                    }
                }
            }
            let answer = decodes(&input, plan, set, &mut NullSink);
            accepted += u32::from(answer);
            if case % 8 == 0 {
                let mut events = Events::default();
                let traced = decodes(&input, plan, set, &mut TraceSink::<true>(&mut events));
                assert_eq!(traced, answer, "{name}: {}", input.escape_ascii());
                let mut events = Events::default();
                decodes(&input, &pattern.plan, &pattern.set, &mut TraceSink::<false>(&mut events));
            }
        }
    }
    assert!(accepted > cases / 100, "{accepted} of {cases} are messages");
}
