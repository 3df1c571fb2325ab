//! Context: Lua values to the answers of a [`Source`], for the table form and the flat form.
//!
//! An open message keeps its keys and values on the stack, above `begin`: `key value key value
//! ...`, and everything that its fields need stands above them. The values of the flat form are
//! the arguments. The source tracks the top itself, for asking Lua is a call.

use std::cell::Cell;
use std::ffi::c_int;

use super::bindings::{Bindings, BoundMessage, PIN_UNKNOWN};
use super::keys::add_guessed;
use super::map_form::{self, Form};
use super::proxy;
use super::rules::Rules;
use super::show::{Shown, title};
use super::walks::is_untouched;
use crate::error::{EncodeError, Index, Trace};
use crate::kernel::{Fields, Nested, Source};
use crate::schema::{EnumPlan, FieldPlan, Flags, MessagePlan, Op, Set};
use crate::vm::api::*;
use crate::vm::{
    NotWhole, Pins, has_room, is_empty, pop, string_address, string_at, to_bytes, to_float, to_int, to_uint,
};

pub(super) type Result<T> = std::result::Result<T, EncodeError>;

/// Elements of a list that are fetched before the stack is cut back.
const BATCH: u64 = 16;
/// Slots for what one message needs besides its keys and values.
pub(super) const LEVEL: c_int = 24 + BATCH as c_int;

/// The form of messages that are tables.
pub const TABLES: u8 = 0;
/// The flat form.
pub const FLAT: u8 = 1;
/// The flat form with dotted names. A form of its own, since the encoder recurses in it.
pub const DOTTED: u8 = 2;

/// Reads values from the stack, in one of the forms above: those of a message from its table, or
/// from `base` on, where nested messages are bytes unless dotted names enter them.
pub struct StackSource<'a, const FORM: u8> {
    /// The state.
    pub l: *mut lua_State,
    /// The table of pins.
    pub pins: Pins,
    /// The types.
    pub set: &'a Set,
    /// How they are bound; the flat form does without.
    pub bindings: Option<&'a Bindings>,
    /// How values are taken.
    pub rules: Rules,
    /// Where errors are told.
    pub trace: &'a Trace,
    /// The top of the stack.
    pub top: c_int,
    /// How many functions of the program are being called by encodes under way.
    pub nesting: &'a Cell<u32>,
    /// Functions of the program were called, which may have changed any table.
    pub called: bool,
    /// The element that was fetched last, and its type: fetching tells it on some Luas.
    pub known: (c_int, c_int),
    /// Up to where there is room, as far as it was asked for.
    pub room: c_int,
    /// Where the values of the flat form are.
    pub base: c_int,
    /// How many values the flat form has.
    pub values: c_int,
}

/// An open message.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Its table; unused in the flat form.
    pub(super) table: c_int,
    /// Where its first key is, less one.
    pub(super) begin: c_int,
    /// Its last value.
    pub(super) top: c_int,
    /// `None` in the flat form.
    pub(super) bound: Option<&'a BoundMessage>,
}

/// An open list or map.
#[derive(Clone, Copy)]
pub struct List {
    pub(super) at: c_int,
    pub(super) begin: c_int,
    pub(super) count: u64,
    pub(super) form: Form,
}

impl<'a, const FORM: u8> StackSource<'a, FORM> {
    const IS_FLAT: bool = FORM != TABLES;

    /// The type of the value at `at`.
    #[inline(always)]
    fn type_at(&self, at: c_int) -> c_int {
        if INTEGERS && self.known.0 == at {
            return self.known.1;
        }
        // SAFETY: every `at` that the kernel hands back is on the stack.
        unsafe { lua_type(self.l, at) }
    }

    /// Other values come to stand on the stack.
    #[inline(always)]
    pub(super) fn forget(&mut self) {
        self.known.0 = 0;
    }

    /// Makes room for `n` values above the top. May raise.
    #[inline(always)]
    pub(super) fn reserve(&mut self, n: c_int) -> bool {
        // PUC Lua keeps room that a function asked for until it returns. LuaJIT may take it back
        // when it collects, but there every push grows the stack as needed (`incr_top` in its
        // lj_state.h).
        if self.top + n <= self.room {
            return true;
        }
        self.room = self.top + n;
        // SAFETY: the frames of an encode hold no value with a destructor.
        unsafe { has_room(self.l, n) }
    }

    #[cold]
    pub(super) fn fail(&self, text: std::fmt::Arguments) -> EncodeError {
        self.trace.detail(text);
        EncodeError::Traced
    }

    /// `expected what, got value`.
    #[cold]
    #[inline(never)]
    pub(super) fn wrong(&self, at: c_int, what: &str) -> EncodeError {
        if Self::IS_FLAT
            && (self.base..self.base + self.values).contains(&at)
            // SAFETY: every `at` that the kernel hands back is on the stack.
            && unsafe { lua_type(self.l, at) } <= LUA_TNIL
        {
            return EncodeError::Absent;
        }
        // SAFETY: every `at` that the kernel hands back is on the stack.
        let shown = unsafe { Shown::at(self.l, at) };
        self.fail(format_args!("expected {what}, got {shown}"))
    }

    #[cold]
    #[inline(never)]
    fn wrong_number(&self, at: c_int, f: &FieldPlan, why: NotWhole) -> EncodeError {
        match why {
            NotWhole::Type => self.wrong(at, title(f.op)),
            NotWhole::Value => self.number_error(at, f),
            NotWhole::Raised => EncodeError::Raised,
        }
    }

    #[cold]
    pub(super) fn number_error(&self, at: c_int, f: &FieldPlan) -> EncodeError {
        // SAFETY: as in `wrong`.
        let shown = unsafe { Shown::at(self.l, at) };
        let why = if shown.is_fraction() { "not a whole number" } else { "out of range" };
        self.fail(format_args!("expected {}, got {shown} ({why})", title(f.op)))
    }

    /// A table at `at`, or the plain copy of a proxy, above the top.
    #[inline(always)]
    pub(super) fn plain(&mut self, at: c_int, bound: Option<&BoundMessage>, list: bool) -> Result<c_int> {
        // SAFETY: `open` made room; the metatable is popped again.
        unsafe {
            if self.type_at(at) != LUA_TTABLE {
                return Err(self.wrong(at, "table"));
            }
            if lua_getmetatable(self.l, at) == 0 {
                return Ok(at);
            }
            let meta = lua_topointer(self.l, -1) as usize;
            pop(self.l, 1);
            if bound.is_some_and(|b| meta == b.metas(&self.rules).get().decoded) {
                return Ok(at);
            }
        }
        proxy::resolve(self, at, list)
    }

    /// Whether the argument of `f` is there, or if it is entered, one within. A oneof's ghosts have none.
    #[inline(always)]
    fn any_argument(&self, f: &FieldPlan) -> bool {
        if FORM == DOTTED && f.flags.has(Flags::ENTER) {
            return self.any_within(f);
        }
        // SAFETY: the slots of a pattern are arguments.
        !f.flags.has(Flags::GHOST) && unsafe { lua_type(self.l, self.base + c_int::from(f.slot)) } > LUA_TNIL
    }

    #[inline(never)]
    fn any_within(&self, f: &FieldPlan) -> bool {
        let within = |m: &MessagePlan| m.fields.iter().any(|f| self.any_argument(f));
        self.set.message(f.sub).is_some_and(within)
    }

    /// The arguments of the flat form: which of them are nil shows when they are looked at.
    #[inline(always)]
    fn open_flat(&mut self, m: &MessagePlan, fields: &mut Fields) -> Result<Frame<'a>> {
        let mut repeated = false;
        for f in &m.fields {
            repeated |= f.repeated();
            if f.flags.has(Flags::ONEOF) {
                let there = self.any_argument(f);
                fields.seen |= if there { f.mask } else { 0 };
            }
        }
        // An argument alone needs less than every C function has.
        if repeated && !self.reserve(LEVEL) {
            return Err(self.fail(format_args!("stack overflow")));
        }
        Ok(Frame { table: 0, begin: self.top, top: self.top, bound: None })
    }
}

impl<'a, const FORM: u8> Source for StackSource<'a, FORM> {
    type At = c_int;
    type Frame = Frame<'a>;
    type List = List;
    const ALL: bool = Self::IS_FLAT;

    #[inline(always)]
    fn open(&mut self, at: c_int, m: &MessagePlan, fields: &mut Fields) -> Result<Frame<'a>> {
        let l = self.l;
        if Self::IS_FLAT {
            return self.open_flat(m, fields);
        }
        let pairs = m.fields.len().min(Fields::MOST) as c_int + 1;
        // SAFETY: room is asked for first; `begin` and what follows are above all older values.
        unsafe {
            if !self.reserve(2 * pairs + LEVEL) {
                return Err(self.fail(format_args!("{}", crate::error::Kind::Depth)));
            }
            let Some(bound) = self.bindings.and_then(|b| b.message(l, self.pins, m.index)) else {
                return Err(self.fail(format_args!("type {} is gone", m.name)));
            };
            let table = self.plain(at, Some(bound), false)?;
            self.forget();
            let begin = self.top;
            let whole = Frame { table, begin, top: begin, bound: Some(bound) };
            if m.fields.len() > Fields::MOST_DECLARED {
                self.note_all(table, bound, m, fields)?;
                return Ok(whole);
            }
            let shape = &bound.shape;
            let mut n = 0;
            lua_pushnil(l);
            while lua_next(l, table) != 0 {
                if !shape.expects(n, string_address(l, -2)) {
                    return self.open_rest(whole, n, m, fields);
                }
                n += 1;
                lua_pushvalue(l, -2);
            }
            match shape.fields(n) {
                Some(known) => *fields = known,
                None => add_guessed(bound, n, m, fields),
            }
            self.top = begin + 2 * fields.len() as c_int;
            Ok(Frame { top: self.top, ..whole })
        }
    }

    #[inline(always)]
    fn slot(&mut self, frame: Frame<'a>, slot: usize) -> c_int {
        frame.begin + 2 * slot as c_int + 2
    }

    #[inline(always)]
    fn fetch(&mut self, frame: Frame<'a>, field: &FieldPlan) -> Option<c_int> {
        // SAFETY: `open` made room; the key is replaced by the value.
        unsafe {
            if Self::IS_FLAT {
                let at = self.base + c_int::from(field.slot);
                if FORM == DOTTED && field.flags.has(Flags::ENTER) {
                    return self.any_within(field).then_some(at);
                }
                // Members of a oneof that have no bit are asked for here.
                let absent = field.flags.has(Flags::GHOST)
                    || field.mask == 0 && field.flags.has(Flags::ONEOF) && lua_type(self.l, at) <= LUA_TNIL;
                return (!absent).then_some(at);
            }
            self.forget();
            let bound = frame.bound?;
            if field.flags.has(Flags::EXTENSION) {
                let there = self.push_extension(frame.table, bound, field);
                self.top += c_int::from(there);
                return there.then_some(self.top);
            }
            lua_rawgeti(self.l, self.pins.table, bound.pin(field));
            lua_rawget(self.l, frame.table);
            if lua_type(self.l, -1) == LUA_TNIL {
                pop(self.l, 1);
                return None;
            }
        }
        self.top += 1;
        Some(self.top)
    }

    #[cold]
    fn unknown(&mut self, frame: Frame<'a>) -> Result<&[u8]> {
        // SAFETY: `open` made room; the table keeps the string while the kernel reads it.
        unsafe {
            lua_rawgeti(self.l, self.pins.table, PIN_UNKNOWN);
            lua_rawget(self.l, frame.table);
            let bytes = string_at(self.l, -1);
            if bytes.is_none() {
                let at = lua_gettop(self.l);
                let error = self.wrong(at, "string");
                self.trace.step(super::bindings::UNKNOWN_KEY, Index::None);
                return Err(error);
            }
            pop(self.l, 1);
            Ok(bytes.unwrap_or_default())
        }
    }

    #[inline(always)]
    fn settle(&mut self, frame: Frame<'a>) {
        if self.top != frame.top {
            // SAFETY: cuts back to what `open` left.
            unsafe { lua_settop(self.l, frame.top) };
            self.top = frame.top;
        }
    }

    #[inline(always)]
    fn int(&mut self, at: c_int, field: &FieldPlan) -> Result<i64> {
        // SAFETY: `at` is on the stack, `open` made room.
        unsafe { to_int(self.l, at, self.type_at(at), self.pins) }.map_err(|why| self.wrong_number(at, field, why))
    }

    #[inline(always)]
    fn uint(&mut self, at: c_int, field: &FieldPlan) -> Result<u64> {
        // SAFETY: `at` is on the stack, `open` made room.
        unsafe { to_uint(self.l, at, self.type_at(at), self.pins) }.map_err(|why| self.wrong_number(at, field, why))
    }

    #[inline(always)]
    fn number(&mut self, at: c_int, field: &FieldPlan) -> Result<f64> {
        // SAFETY: `at` is on the stack.
        match unsafe { to_float(self.l, at, self.type_at(at)) } {
            Some(n) => Ok(n),
            None => Err(self.wrong(at, title(field.op))),
        }
    }

    #[inline(always)]
    fn boolean(&mut self, at: c_int, _: &FieldPlan) -> Result<bool> {
        // SAFETY: `at` is on the stack.
        unsafe {
            if self.type_at(at) != LUA_TBOOLEAN {
                return Err(self.wrong(at, "boolean"));
            }
            Ok(lua_toboolean(self.l, at) != 0)
        }
    }

    #[inline(always)]
    fn enumeration(&mut self, at: c_int, field: &FieldPlan, plan: &EnumPlan) -> Result<i32> {
        // SAFETY: `at` is on the stack, `open` made room.
        unsafe {
            let address = string_address(self.l, at);
            let known = self.bindings.and_then(|b| b.enum_number(self.l, self.pins, field.sub, address));
            match known {
                Some(number) => Ok(number),
                None => self.other_enum(at, field, plan),
            }
        }
    }

    #[inline(always)]
    fn bytes(&mut self, at: c_int, field: &FieldPlan) -> Result<&[u8]> {
        if field.op != Op::String && self.type_at(at) != LUA_TSTRING {
            return Err(self.wrong(at, title(field.op)));
        }
        // A number for a string is converted where it stands, which is a copy or an argument.
        // SAFETY: `at` is on the stack and stays there while the bytes are written.
        match unsafe { to_bytes(self.l, at) } {
            Some(bytes) => Ok(bytes),
            None => Err(self.wrong(at, title(field.op))),
        }
    }

    #[inline(always)]
    fn message(&mut self, at: c_int, field: &FieldPlan, m: &MessagePlan, singular: bool) -> Result<Nested<'_>> {
        if Self::IS_FLAT {
            if FORM == DOTTED && field.flags.has(Flags::ENTER) {
                // `fetch` found it to have something.
                return Ok(Nested::Open);
            }
            return self.flat_message(at).map(Nested::Raw);
        }
        if !singular || field.flags.has(Flags::ONEOF) {
            return Ok(Nested::Open);
        }
        // SAFETY: `open` made room; the metatable is popped again.
        unsafe {
            if lua_getmetatable(self.l, at) == 0 {
                return Ok(Nested::Open);
            }
            let meta = lua_topointer(self.l, -1) as usize;
            pop(self.l, 1);
            let bound = self.bindings.and_then(|b| b.message(self.l, self.pins, m.index));
            if bound.is_some_and(|b| meta == b.metas(&self.rules).get().decoded) || !is_untouched(self.l, at) {
                return Ok(Nested::Open);
            }
        }
        Ok(Nested::Absent)
    }

    #[cold]
    fn out_of_range(&mut self, at: c_int, field: &FieldPlan) -> EncodeError {
        self.number_error(at, field)
    }

    #[inline(always)]
    fn list(&mut self, at: c_int) -> Result<(List, u64)> {
        let at = self.plain(at, None, true)?;
        let mut count = 0u64;
        // SAFETY: a table is at `at`, `open` made room for the pair.
        unsafe {
            // Its border says how many elements there are; counting its keys, that there are no others.
            let n = raw_len(self.l, at) as u64;
            lua_pushnil(self.l);
            while lua_next(self.l, at) != 0 {
                pop(self.l, 1);
                count += 1;
            }
            if n != count {
                self.stray_keys(at, n)?;
                count = n;
            }
        }
        Ok((List { at, begin: self.top, count, form: Form::Raw }, count))
    }

    #[inline(always)]
    fn element(&mut self, list: List, index: u64) -> c_int {
        let k = ((list.count - index) % BATCH) as c_int;
        let before = list.begin + k;
        // SAFETY: `open` made room for a batch.
        unsafe {
            if self.top != before {
                lua_settop(self.l, before);
            }
            let kind = raw_geti(self.l, list.at, index as Slot);
            self.known = (before + 1, kind);
        }
        self.top = before + 1;
        self.top
    }

    fn map(&mut self, at: c_int, entry: &MessagePlan) -> Result<List> {
        let mut table = self.plain(at, None, false)?;
        // SAFETY: a table is there, and `open` made room.
        if table == at && unsafe { is_empty(self.l, at) } {
            // pbc's list of entries may be a proxy as other lists.
            table = self.plain(at, None, true)?;
        }
        map_form::open(self, table, entry)
    }

    fn next_entry(&mut self, map: List) -> Result<Option<(Option<c_int>, Option<c_int>)>> {
        self.forget();
        map_form::next(self, map)
    }

    fn key_bytes(&mut self, at: c_int, _: &FieldPlan) -> Result<&[u8]> {
        // SAFETY: the key is on the stack and stays there while the bytes are written.
        match unsafe { string_at(self.l, at) } {
            Some(bytes) => Ok(bytes),
            None => Err(self.wrong(at, "string as key")),
        }
    }

    #[cold]
    fn within_entry(&mut self, at: c_int, name: &str, trace: &Trace) {
        // SAFETY: the key is on the stack.
        unsafe {
            match Shown::at(self.l, at) {
                Shown::String(key) => trace.step(name, Index::Name(key)),
                Shown::Bool(key) => trace.step(name, Index::Key(&key)),
                key => trace.step(name, Index::Key(&key)),
            }
        }
    }
}
