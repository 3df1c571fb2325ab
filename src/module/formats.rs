//! `to_json`, `from_json`, `to_text` and `from_text`. All go through the bytes of the message: the encoder and the
//! decoder see to everything that is not text.

use std::cell::RefCell;
use std::ffi::c_int;
use std::fmt::Write;

use super::decode::{push_message, report, told};
use super::encode::write_table;
use super::{bad_argument, no_type, string_argument, traced};
use crate::codec::Shown;
use crate::error::{EncodeError, Text, contain, quoted};
use crate::format::{self, Indent, ParseError, Place, Span, Tree, json, text};
use crate::kernel::Context;
use crate::schema::MessagePlan;
use crate::state::{Epoch, Instance, Options};
use crate::vm::api::*;
use crate::vm::{Pins, expected, pop, push_owner, raise, string_at, type_name};
use crate::wire::Writer;

/// What the options of one call say.
#[derive(Clone, Copy, Default)]
struct Choices {
    json: json::Style,
    text: text::Style,
    ignore_unknown: bool,
}

/// What an option chooses.
#[derive(Clone, Copy)]
enum Choice {
    Names,
    Defaults,
    Enum,
    RefuseUnknown,
    WriteUnknown,
    IgnoreUnknown,
    Indent,
}

/// One of the four functions, and its options.
struct Function {
    name: &'static str,
    options: &'static [(&'static str, Choice)],
}

const TO_JSON: Function = Function {
    name: "to_json",
    options: &[
        ("names", Choice::Names),
        ("defaults", Choice::Defaults),
        ("enum", Choice::Enum),
        ("unknown", Choice::RefuseUnknown),
        ("indent", Choice::Indent),
    ],
};
const FROM_JSON: Function = Function { name: "from_json", options: &[("ignore_unknown", Choice::IgnoreUnknown)] };
const TO_TEXT: Function =
    Function { name: "to_text", options: &[("unknown", Choice::WriteUnknown), ("indent", Choice::Indent)] };
const FROM_TEXT: Function = Function { name: "from_text", options: &[] };

/// Where the owner of what is made is, above the arguments, and then the table of pins.
const OWNER: c_int = 4;
const PINS: c_int = 5;

/// Turns a tree into text.
type Print = fn(&Tree, Span, &MessagePlan, &Epoch, &Choices, &mut Vec<u8>, &mut Context) -> Result<(), EncodeError>;
/// Turns text into a tree.
type Parse = fn(&[u8], &MessagePlan, &Epoch, &Choices, &mut Tree, &mut Context) -> Result<Span, ParseError>;

pub unsafe extern "C-unwind" fn to_json(l: *mut lua_State) -> c_int {
    // SAFETY: a C function with arguments alone on its stack.
    unsafe {
        to(l, &TO_JSON, |tree, root, m, epoch, choices, out, cx| {
            json::write(tree, root, m, &epoch.types, &choices.json, out, cx)
        })
    }
}

pub unsafe extern "C-unwind" fn from_json(l: *mut lua_State) -> c_int {
    // SAFETY: as for `to_json`.
    unsafe {
        from(l, &FROM_JSON, |text, m, epoch, choices, tree, cx| {
            json::read(text, m, &epoch.types, choices.ignore_unknown, tree, cx)
        })
    }
}

pub unsafe extern "C-unwind" fn to_text(l: *mut lua_State) -> c_int {
    // SAFETY: as for `to_json`.
    unsafe {
        to(l, &TO_TEXT, |tree, root, m, epoch, choices, out, cx| {
            let mut text = String::new();
            text::write(tree, root, m, &epoch.types, &choices.text, &mut text, cx)?;
            *out = text.into_bytes();
            Ok(())
        })
    }
}

pub unsafe extern "C-unwind" fn from_text(l: *mut lua_State) -> c_int {
    // SAFETY: as for `to_json`.
    unsafe { from(l, &FROM_TEXT, |text, m, epoch, _, tree, cx| text::read(text, m, &epoch.types, tree, cx)) }
}

/// Returns the text of the message that argument 2 is, a table or bytes.
unsafe fn to(l: *mut lua_State, function: &Function, print: Print) -> c_int {
    // SAFETY: the owner on the stack keeps the text. The epoch is asked for once nothing is allocated any more until
    // its pins are on the stack. No value with a destructor is in this frame.
    unsafe {
        lua_settop(l, 3);
        let out = &*push_owner(l, RefCell::<Vec<u8>>::default);
        let instance = Instance::of(l);
        // Metamethods may set others, for the next call.
        let options = instance.options.get();
        let epoch = instance.epoch();
        let Some(m) = epoch.message(l, 1) else { raise(l, &no_type(l, epoch, function.name)) };
        let choices = choices(l, function);
        let wrong = match lua_type(l, 2) {
            LUA_TSTRING => {
                lua_pushvalue(l, lua_upvalueindex(2));
                let bytes = string_at(l, 2).unwrap_or_default();
                contained(instance, m, || render(instance, &options, epoch, m, bytes, true, &choices, out, print))
            }
            LUA_TTABLE => {
                let writer = write_table(l, instance, &options, OWNER);
                let bytes = (*writer).scratch.written();
                let work = || render(instance, &options, epoch, m, bytes, false, &choices, out, print);
                let wrong = contained(instance, m, work);
                instance.writers.give(writer);
                wrong
            }
            _ => bad_argument(l, 2, function.name, expected("table or string", l, 2)),
        };
        if let Some(text) = wrong {
            drop(out.take());
            raise(l, &text);
        }
        push_bytes(l, &*out.as_ptr());
        // Lua does not know how much its owner holds, which may live for long.
        drop(out.take());
        1
    }
}

/// What is wrong. On the heap, so that it costs nothing to hand on that nothing is.
type Wrong = Box<Text>;

/// Does `work` with a message `m`, which calls third-party code and nothing of Lua's. Answers what is wrong, if something
/// is; a panic is.
fn contained(instance: &Instance, m: &MessagePlan, work: impl FnOnce() -> Result<(), Wrong>) -> Option<Text> {
    let done = contain(work).unwrap_or_else(|panicked| {
        instance.trace.detail(format_args!("{panicked}"));
        Err(Box::new(traced(instance, &m.name, None)))
    });
    // Off the heap again, since it is raised.
    done.err().map(|text| *text)
}

/// Prints the message `m` that `bytes` are to `out`.
///
/// # Errors
/// What is wrong, and where if the bytes were `given`.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn render(
    instance: &Instance,
    options: &Options,
    epoch: &Epoch,
    m: &MessagePlan,
    bytes: &[u8],
    given: bool,
    choices: &Choices,
    out: &RefCell<Vec<u8>>,
    print: Print,
) -> Result<(), Wrong> {
    let mut cx = options.context(epoch.set(), &instance.trace);
    let mut tree = Tree::new(options.rules.sort_map);
    let decoded = format::decode(bytes, m, &mut tree, &mut { cx });
    let root = decoded.map_err(|error| {
        Box::new(if given {
            told(instance, &m.name, bytes, error)
        } else {
            traced(instance, &m.name, Some(error.kind))
        })
    })?;
    let printed = print(&tree, root, m, epoch, choices, &mut out.borrow_mut(), &mut cx);
    printed.map_err(|_| Box::new(traced(instance, &m.name, None)))
}

/// Returns the table of the message that argument 2 is the text of, or nil and what is wrong with it.
unsafe fn from(l: *mut lua_State, function: &Function, parse: Parse) -> c_int {
    // SAFETY: as for `to`; the bytes do not change any more once they are made.
    unsafe {
        lua_settop(l, 3);
        let bytes = &*push_owner(l, RefCell::<Writer>::default);
        let instance = Instance::of(l);
        let epoch = instance.epoch();
        string_argument(l, 1, function.name);
        let source = string_argument(l, 2, function.name);
        let choices = choices(l, function);
        let Some(m) = epoch.message(l, 1) else {
            let text = no_type(l, epoch, function.name);
            return report(l, instance, &text, LUA_TNIL);
        };
        lua_pushvalue(l, lua_upvalueindex(2));
        let wrong = contained(instance, m, || assemble(instance, epoch, m, source, &choices, bytes, parse));
        if let Some(text) = wrong {
            drop(bytes.take());
            return report(l, instance, &text, LUA_TNIL);
        }
        let input = (*bytes.as_ptr()).written();
        let pushed = push_message(l, instance, epoch, Pins { table: PINS }, instance.options.get(), m, input);
        // As for `to`.
        drop(bytes.take());
        match pushed {
            Ok(()) => 1,
            Err(error) => report(l, instance, &traced(instance, &m.name, Some(error.kind)), LUA_TNIL),
        }
    }
}

/// Encodes the message `m` that `source` is the text of.
///
/// # Errors
/// What is wrong, and where.
#[inline(never)]
fn assemble(
    instance: &Instance,
    epoch: &Epoch,
    m: &MessagePlan,
    source: &[u8],
    choices: &Choices,
    out: &RefCell<Writer>,
    parse: Parse,
) -> Result<(), Wrong> {
    let mut cx = instance.options.get().context(epoch.set(), &instance.trace);
    let mut tree = Tree::default();
    let parsed = parse(source, m, epoch, choices, &mut tree, &mut { cx });
    let root = parsed.map_err(|wrong| {
        let mut text = Box::new(traced(instance, &m.name, None));
        let _ = write!(text, ", {}", Place::of(source, wrong.at));
        text
    })?;
    let encoded = format::encode(&tree, root, m, &mut out.borrow_mut(), &mut cx);
    encoded.map_err(|_| Box::new(traced(instance, &m.name, None)))
}

/// The options that argument 3 gives. They are plain values: the program may change the table while the call goes on.
unsafe fn choices(l: *mut lua_State, function: &Function) -> Choices {
    // SAFETY: the pair is popped again. There is room for it.
    unsafe {
        let mut choices = Choices::default();
        choices.text.indent = Some(Indent::default());
        if lua_type(l, 3) <= LUA_TNIL {
            return choices;
        }
        if lua_type(l, 3) != LUA_TTABLE {
            bad_argument(l, 3, function.name, expected("table", l, 3));
        }
        let value = lua_gettop(l) + 2;
        lua_pushnil(l);
        while lua_next(l, 3) != 0 {
            let key = string_at(l, value - 1);
            let option = function.options.iter().find(|(name, _)| key == Some(name.as_bytes()));
            let Some((name, choice)) = option else { unknown_option(l, function, value - 1) };
            if let Err(wanted) = choose(l, &mut choices, *choice, value) {
                let (function, got) = (function.name, Shown::at(l, value));
                raise(l, &Text::of(format_args!("{function}: option {name}: expected {wanted}, got {got}")));
            }
            pop(l, 1);
        }
        choices
    }
}

#[cold]
unsafe fn unknown_option(l: *mut lua_State, function: &Function, key: c_int) -> ! {
    // SAFETY: a value at `key`; no value with a destructor is in the frames below.
    unsafe {
        // The key is quoted on the heap, and must be gone before the raise.
        let text = match (function.name, string_at(l, key)) {
            (name, Some(key)) => Text::of(format_args!("{name}: unknown option {}", quoted(key))),
            (name, None) => Text::of(format_args!("{name}: unknown option of type {}", type_name(l, key))),
        };
        raise(l, &text)
    }
}

/// Takes the value at `at` as that choice; else answers what was expected.
unsafe fn choose(l: *mut lua_State, choices: &mut Choices, choice: Choice, at: c_int) -> Result<(), &'static str> {
    // SAFETY: a value at `at`.
    unsafe {
        let flag = (lua_type(l, at) == LUA_TBOOLEAN).then(|| lua_toboolean(l, at) != 0);
        let number = if lua_type(l, at) == LUA_TNUMBER { to_integer(l, at) } else { None };
        let word = string_at(l, at);
        let boolean = flag.ok_or("boolean");
        match choice {
            Choice::Names => choices.json.proto_names = second(word, "json", "proto").ok_or("\"json\" or \"proto\"")?,
            Choice::Defaults => choices.json.defaults = boolean?,
            Choice::Enum => {
                choices.json.enum_numbers = second(word, "name", "number").ok_or("\"name\" or \"number\"")?
            }
            Choice::RefuseUnknown => {
                choices.json.refuse_unknown = second(word, "drop", "error").ok_or("\"drop\" or \"error\"")?;
            }
            Choice::WriteUnknown => choices.text.unknown = boolean?,
            Choice::IgnoreUnknown => choices.ignore_unknown = boolean?,
            Choice::Indent => {
                let indent = match (flag, number, word) {
                    (Some(lines), _, _) => Some(lines.then(Indent::default)),
                    (_, Some(n), _) => Indent::spaces(n).map(Some),
                    (_, _, Some(text)) => Indent::new(text).map(Some),
                    _ => None,
                };
                let indent = indent.ok_or("boolean, number of spaces up to 16, or white space")?;
                (choices.json.indent, choices.text.indent) = (indent, indent);
            }
        }
        Ok(())
    }
}

/// Whether `word` is the second of two; `None` if it is neither.
fn second(word: Option<&[u8]>, first: &str, second: &str) -> Option<bool> {
    let word = word?;
    (word == second.as_bytes() || word == first.as_bytes()).then_some(word == second.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Index, Kind};
    use crate::schema::Types;

    #[test]
    #[allow(clippy::panic, clippy::unwrap_used)]
    fn a_panic_is_told_with_where_it_was_and_the_next_error_without() {
        let (instance, m) = (Instance::new(), Types::built_in().find_message("google.protobuf.Any").unwrap());
        let wrong = contained(&instance, m, || {
            instance.trace.step("value", Index::None);
            panic!("as a test")
        });
        assert_eq!(wrong.unwrap().as_bytes(), b"google.protobuf.Any.value: internal error");
        let wrong = contained(&instance, m, || Err(Box::new(traced(&instance, &m.name, Some(Kind::Utf8)))));
        assert_eq!(wrong.unwrap().as_bytes(), b"google.protobuf.Any: invalid UTF-8");
    }
}
