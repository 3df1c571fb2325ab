//! Messages as text and text as messages, in both formats: what is lost on the way.

use protobuf_lua::error::{DecodeError, Text, Trace};
use protobuf_lua::format::{self, Indent, ParseError, Place, Span, Tree, json, text};
use protobuf_lua::kernel::{Budget, Context};
use protobuf_lua::schema::{Flags, MessagePlan, Types};
use protobuf_lua::wire::Writer;

use crate::input::Input;

/// More than any input needs.
const AMPLE: Budget = Budget { depth: 200, bytes: 64 << 20 };

#[derive(Clone, Copy, Debug)]
pub enum Format {
    Json { style: json::Style, ignore_unknown: bool },
    Text(text::Style),
}

/// How messages are treated, in one format.
pub struct Round<'a> {
    pub types: &'a Types,
    pub format: Format,
    pub required: bool,
    pub utf8: bool,
    pub sort_maps: bool,
}

/// What the second byte of an input says.
pub fn json_format(flags: u8) -> Format {
    let flag = |n: u8| flags >> n & 1 == 1;
    let style = json::Style {
        proto_names: flag(1),
        defaults: flag(2),
        enum_numbers: flag(3),
        refuse_unknown: flag(4),
        indent: indent(flags),
    };
    Format::Json { style, ignore_unknown: flag(5) }
}

pub fn text_format(flags: u8) -> Format {
    Format::Text(text::Style { unknown: flags >> 4 & 1 == 1, indent: indent(flags) })
}

fn indent(flags: u8) -> Option<Indent> {
    match flags >> 6 {
        0 => None,
        1 => Some(Indent::default()),
        2 => Indent::spaces(16),
        _ => Indent::new(b"\t"),
    }
}

/// What inputs of `json` and `text` are: the type, how the message is written, what may be used, and text or bytes.
pub fn run(data: &[u8], types: &Types, names: &[&str], format: fn(u8) -> Format) {
    let mut input = Input(data);
    let name = input.pick(names);
    let m = types.find_message(name).unwrap_or_else(|| panic!("{name} is missing"));
    let flags = input.byte();
    let depth = input.pick(&[100, 1, 2, 3, 5, 10, 30, 200]);
    let rules = input.byte();
    let bytes = [64 << 20, 1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 17, 1 << 20][usize::from(rules & 7)];
    let flag = |n: u8| rules >> n & 1 == 0;
    let round = Round { types, format: format(flags), required: flag(3), utf8: flag(4), sort_maps: flag(5) };
    let little = Budget { depth, bytes };
    if flags & 1 == 0 {
        round.text(m, input.0, little);
    } else {
        round.bytes(m, input.0, little);
    }
}

impl Format {
    fn read(
        &self,
        text: &[u8],
        m: &MessagePlan,
        types: &Types,
        tree: &mut Tree,
        cx: &mut Context,
    ) -> Result<Span, ParseError> {
        match self {
            Format::Json { ignore_unknown, .. } => json::read(text, m, types, *ignore_unknown, tree, cx),
            Format::Text(_) => text::read(text, m, types, tree, cx),
        }
    }

    /// None if the message cannot be written.
    fn write(&self, tree: &Tree, root: Span, m: &MessagePlan, types: &Types, cx: &mut Context) -> Option<Vec<u8>> {
        match self {
            Format::Json { style, .. } => {
                let mut out = Vec::new();
                json::write(tree, root, m, types, style, &mut out, cx).ok()?;
                std::str::from_utf8(&out).expect("JSON is UTF-8");
                Some(out)
            }
            Format::Text(style) => {
                let mut out = String::new();
                text::write(tree, root, m, types, style, &mut out, cx).ok()?;
                Some(out.into_bytes())
            }
        }
    }

    /// The same, but such that a message with unknown fields is not written; of text, such that it can be read.
    fn known(&self, tree: &Tree, root: Span, m: &MessagePlan, types: &Types, cx: &mut Context) -> Option<Vec<u8>> {
        match *self {
            Format::Json { style, ignore_unknown } => {
                let style = json::Style { refuse_unknown: true, ..style };
                Format::Json { style, ignore_unknown }.write(tree, root, m, types, cx)
            }
            Format::Text(style) => {
                let [all, known] = [true, false].map(|unknown| {
                    Format::Text(text::Style { unknown, ..style }).write(tree, root, m, types, &mut { *cx })
                });
                known.filter(|known| all.as_ref() == Some(known))
            }
        }
    }

    /// The same format, such that what is written can be read.
    fn readable(&self) -> Format {
        match *self {
            Format::Json { .. } => *self,
            Format::Text(style) => Format::Text(text::Style { unknown: false, ..style }),
        }
    }
}

impl<'a> Round<'a> {
    fn context<'c>(&self, trace: &'c Trace, budget: Budget) -> Context<'c>
    where
        'a: 'c,
    {
        let utf8 = if self.utf8 { Flags::UTF8 } else { Flags(0) };
        Context { set: &self.types.set, trace, budget, required: self.required, utf8 }
    }

    fn decode(&self, m: &MessagePlan, bytes: &[u8], budget: Budget) -> Result<(Tree, Span), DecodeError> {
        let mut tree = Tree::new(self.sort_maps);
        let root = format::decode(bytes, m, &mut tree, &mut self.context(&Trace::default(), budget))?;
        Ok((tree, root))
    }

    fn encode(&self, m: &MessagePlan, tree: &Tree, root: Span, budget: Budget) -> Option<Vec<u8>> {
        let mut w = Writer::default();
        let trace = Trace::default();
        format::encode(tree, root, m, &mut w, &mut self.context(&trace, budget)).ok()?;
        Some(w.written().to_vec())
    }

    fn write(&self, m: &MessagePlan, tree: &Tree, root: Span, budget: Budget) -> Option<Vec<u8>> {
        self.format.write(tree, root, m, self.types, &mut self.context(&Trace::default(), budget))
    }

    /// The bytes of the message that `text` stands for, or what is wrong.
    fn read(&self, m: &MessagePlan, text: &[u8], budget: Budget) -> Result<Vec<u8>, String> {
        let trace = Trace::default();
        let mut tree = Tree::new(false);
        let mut told = Text::new();
        match self.format.read(text, m, self.types, &mut tree, &mut self.context(&trace, budget)) {
            Ok(root) => self.encode(m, &tree, root, budget).ok_or_else(|| "required field missing".into()),
            Err(error) => {
                assert!(error.at <= text.len(), "an error beyond the end");
                trace.tell(&m.name, None, &mut told);
                Err(format!("{}, {}", String::from_utf8_lossy(told.as_bytes()), Place::of(text, error.at)))
            }
        }
    }

    /// What `text` stands for is the same whatever the limits are, and once it was written again.
    pub fn text(&self, m: &MessagePlan, text: &[u8], little: Budget) {
        let within = self.read(m, text, little);
        let Ok(bytes) = self.read(m, text, AMPLE) else {
            assert!(within.is_err(), "{}: only read within limits", m.name);
            return;
        };
        if let Ok(within) = within {
            assert_eq!(within, bytes, "{}: another message within limits", m.name);
        }
        // What was decoded has its maps in order.
        if let Some((normal, again)) = self.bytes(m, &bytes, little) {
            assert_eq!(normal, again, "{}: {}", m.name, String::from_utf8_lossy(text));
        }
    }

    /// What `bytes` are as text is read as the same. Answers the bytes of the message and those of what was read, if no
    /// unknown field is in it.
    pub fn bytes(&self, m: &MessagePlan, bytes: &[u8], little: Budget) -> Option<(Vec<u8>, Vec<u8>)> {
        if let Ok((tree, root)) = self.decode(m, bytes, little) {
            let _ = self.write(m, &tree, root, little);
        }
        let (tree, root) = self.decode(m, bytes, AMPLE).ok()?;
        let normal = self.encode(m, &tree, root, AMPLE).expect("what was decoded is encoded");
        let _ = self.write(m, &tree, root, AMPLE);
        let round = Round { format: self.format.readable(), ..*self };
        let text = round.write(m, &tree, root, AMPLE)?;
        let told = || String::from_utf8_lossy(&text);

        let (tree_again, root_again) = round.decode(m, &normal, AMPLE).expect("what was encoded is decoded");
        let text_again = round.write(m, &tree_again, root_again, AMPLE).expect("it is written again");
        assert_eq!(text, text_again, "{}: encoding made a difference", m.name);

        let read = round.read(m, &text, AMPLE).unwrap_or_else(|e| panic!("{}: {e}: {}", m.name, told()));
        let (tree_again, root_again) = round.decode(m, &read, AMPLE).expect("what was read is decoded");
        let text_again = round.write(m, &tree_again, root_again, AMPLE).expect("what was read is written");
        assert_eq!(told(), String::from_utf8_lossy(&text_again), "{}", m.name);

        self.format.known(&tree, root, m, self.types, &mut self.context(&Trace::default(), AMPLE))?;
        Some((normal, read))
    }
}
