//! Errors of every layer, and the trace that tells where in a message one arose.

#![forbid(unsafe_code)]
#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::cell::RefCell;
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is wrong with the bytes of a message. Section names are those of the
/// encoding specification, <https://protobuf.dev/programming-guides/encoding/>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value needs more bytes than its message has left.
    Truncated {
        /// Bytes that the value needs.
        needed: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// A varint of more than 64 bits ("Base 128 Varints").
    Varint,
    /// A tag whose field number is 0 or beyond 2^29 - 1.
    FieldNumber,
    /// One of the wire types 6 and 7, which do not exist.
    WireType(u8),
    /// An end-group tag without its start-group tag, or with another number.
    EndGroup,
    /// A group that its message ends before its end-group tag.
    OpenGroup,
    /// A string field that is not UTF-8.
    Utf8,
    /// Messages and groups nested deeper than option `depth` allows.
    Depth,
    /// The decoded message would need more memory than option `max_bytes` allows.
    Memory,
    /// A required field is not there.
    Required,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Kind::Truncated { needed, left } => {
                let s = if needed == 1 { "" } else { "s" };
                write!(f, "truncated, {needed} byte{s} needed, {left} left")
            }
            Kind::Varint => f.write_str("varint longer than 64 bits"),
            Kind::FieldNumber => f.write_str("invalid field number"),
            Kind::WireType(t) => write!(f, "invalid wire type {t}"),
            Kind::EndGroup => f.write_str("unmatched end of group"),
            Kind::OpenGroup => f.write_str("group without end"),
            Kind::Utf8 => f.write_str("invalid UTF-8"),
            Kind::Depth => f.write_str("nested too deeply (option depth)"),
            Kind::Memory => f.write_str("too large for option max_bytes"),
            Kind::Required => f.write_str("required field missing"),
        }
    }
}

/// Bad bytes: what is wrong, and the address of the byte where it was found
/// (an offset once the start of the input is taken off, see [`DecodeError::offset`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// What is wrong.
    pub kind: Kind,
    /// Address of the byte at which `kind` was found.
    pub at: usize,
}

impl DecodeError {
    /// The error's place in `input`, counted from 0.
    pub fn offset(&self, input: &[u8]) -> usize {
        self.at.saturating_sub(input.as_ptr() as usize)
    }
}

/// A value that cannot be encoded. What is wrong stands in the [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The trace holds the message.
    Traced,
    /// Lua code that was called raised; its error value is on top of the stack.
    Raised,
    /// There is no value where an optional one was looked for; the encoder goes on.
    Absent,
}

/// Why a descriptor set, a type name or a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(pub String);

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemaError {}

/// Work that should not have panicked did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("internal error")
    }
}

impl From<Panicked> for SchemaError {
    fn from(panicked: Panicked) -> Self {
        SchemaError(panicked.to_string())
    }
}

/// Does `work`, which may run third-party code and calls nothing of Lua's: an error of Lua's must not end here.
///
/// # Errors
/// It panicked. What it was changing may be half done, and is to be used no more.
pub fn contain<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}

/// The place of a value within its field.
#[derive(Clone, Copy)]
pub enum Index<'a> {
    /// The field itself.
    None,
    /// An element of a list, counted from 1.
    At(u64),
    /// The entry of a map under a number or boolean.
    Key(&'a dyn fmt::Display),
    /// The entry of a map under a string.
    Name(&'a [u8]),
}

/// The path and the text of the error under way: filled in from the innermost
/// message outwards, by cold code only, so it costs nothing while all goes well.
///
/// It is empty except between the moment an error arises and the moment it is told.
#[derive(Default)]
pub struct Trace(RefCell<Parts>);

#[derive(Default)]
struct Parts {
    path: String,
    detail: String,
}

/// A path longer than this loses its outermost part.
const LONGEST_PATH: usize = 1000;
/// A key or name of the caller's is shown up to this many bytes.
const LONGEST_NAME: usize = 64;

impl Trace {
    /// Adds the field that encloses the path so far.
    #[cold]
    pub fn step(&self, field: &str, index: Index) {
        let mut parts = self.0.borrow_mut();
        if parts.path.len() > LONGEST_PATH {
            return;
        }
        let mut step = format!(".{field}");
        let _ = match index {
            Index::None => Ok(()),
            Index::At(i) => write!(step, "[{i}]"),
            Index::Key(k) => write!(step, "[{k}]"),
            Index::Name(n) => write!(step, "[{}]", quoted(n)),
        };
        step.push_str(&parts.path);
        if step.len() > LONGEST_PATH {
            step.insert_str(0, "...");
        }
        parts.path = step;
    }

    /// Sets what is wrong with the value under way.
    #[cold]
    pub fn detail(&self, text: fmt::Arguments) {
        let mut parts = self.0.borrow_mut();
        parts.detail.clear();
        let _ = parts.detail.write_fmt(text);
    }

    /// Writes `type.path: detail` to `out` and forgets both; `kind` stands for a
    /// detail that nobody gave.
    #[cold]
    pub fn tell(&self, root: &str, kind: Option<Kind>, out: &mut Text) {
        let mut parts = self.0.borrow_mut();
        let _ = write!(out, "{root}{}: ", parts.path);
        let _ = match kind {
            Some(kind) if parts.detail.is_empty() => write!(out, "{kind}"),
            _ => out.write_str(&parts.detail),
        };
        *parts = Parts::default();
    }

    /// Writes the detail alone to `out` and forgets it.
    #[cold]
    pub fn tell_detail(&self, out: &mut Text) {
        let _ = out.write_str(&std::mem::take(&mut *self.0.borrow_mut()).detail);
    }
}

/// Bytes of the caller's as they are shown in messages: quoted, cut, escaped.
pub fn quoted(name: &[u8]) -> String {
    let cut = name.get(..LONGEST_NAME).unwrap_or(name);
    let dots = if cut.len() < name.len() { "..." } else { "" };
    let mut text = String::from("\"");
    for chunk in cut.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || c == '"' || c == '\\' {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        for b in chunk.invalid() {
            let _ = write!(text, "\\x{b:02x}");
        }
    }
    text.push_str(dots);
    text.push('"');
    text
}

/// The text of an error, without heap memory, so that a frame that Lua jumps over
/// may hold it. A longer text is cut.
pub struct Text {
    bytes: [u8; Text::CAPACITY],
    used: usize,
}

impl Text {
    const CAPACITY: usize = 2048;

    /// An empty text.
    pub fn new() -> Self {
        Text { bytes: [0; Self::CAPACITY], used: 0 }
    }

    /// The text of `value`.
    pub fn of(value: impl fmt::Display) -> Self {
        let mut text = Text::new();
        let _ = write!(text, "{value}");
        text
    }

    /// What was written so far.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or_default()
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::new()
    }
}

impl Write for Text {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let free = self.bytes.get_mut(self.used..).unwrap_or_default();
        let n = s.len().min(free.len());
        if let (Some(to), Some(from)) = (free.get_mut(..n), s.as_bytes().get(..n)) {
            to.copy_from_slice(from);
            self.used += n;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(trace: &Trace, kind: Option<Kind>) -> String {
        let mut out = Text::new();
        trace.tell("pkg.Type", kind, &mut out);
        String::from_utf8_lossy(out.as_bytes()).into_owned()
    }

    #[test]
    fn path_is_built_from_inside_out() {
        let trace = Trace::default();
        trace.step("number", Index::None);
        trace.step("phone", Index::At(2));
        trace.step("book", Index::Name(b"a\"b\xff"));
        trace.step("by_id", Index::Key(&-5));
        trace.detail(format_args!("expected string, got table"));
        assert_eq!(
            told(&trace, None),
            "pkg.Type.by_id[-5].book[\"a\\\"b\\xff\"].phone[2].number: expected string, got table"
        );
        assert_eq!(told(&trace, Some(Kind::Utf8)), "pkg.Type: invalid UTF-8");
    }

    #[test]
    fn long_paths_lose_their_outer_part() {
        let trace = Trace::default();
        for _ in 0..500 {
            trace.step("child", Index::None);
        }
        let text = told(&trace, Some(Kind::Depth));
        assert!(text.starts_with("pkg.Type....child.child"), "{text}");
        assert!(text.len() < 1100, "{}", text.len());
    }

    #[test]
    #[allow(clippy::panic)]
    fn a_panic_within_is_an_error() {
        let cell = RefCell::new(1);
        let ended = contain(|| {
            *cell.borrow_mut() = 2;
            if *cell.borrow() == 2 {
                panic!("as a test");
            }
            3
        });
        assert_eq!((ended, cell.into_inner()), (Err(Panicked), 2));
        assert_eq!(contain(|| 3), Ok(3));
    }

    #[test]
    fn long_texts_are_cut() {
        let text = Text::of("x".repeat(5000));
        assert_eq!(text.as_bytes().len(), Text::CAPACITY);
    }
}
