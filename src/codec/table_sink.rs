//! The table form, decoding: events to Lua tables.
//!
//! While a message is open its table is on top of the stack. A nested value stands above its
//! key: `table key value`; lists and maps likewise, so `store` is one raw set.

use std::ffi::c_int;

use super::bindings::{Bindings, BoundMessage, PIN_ARRAY, PIN_MAP, PIN_UNKNOWN};
use super::copied::fill;
use super::defaults::push_decoded;
use super::flood::Flood;
use super::rules::{Defaults, Rules};
use super::values::Values;
use crate::kernel::{Sink, Value};
use crate::schema::{FieldPlan, MessagePlan, Op};
use crate::vm::api::*;
use crate::vm::{Lender, Lent, Pins, has_room, pop, string_at};

/// Slots that one level takes: its key and table, a list and its key, an element's key and value,
/// and what setting them up needs.
const LEVEL: c_int = 16;

/// Estimate of what a slot takes that a table got and no field needed, see the kernel's budget.
const SLOT_SIZE: usize = 40;

/// Builds the table of a message on top of the stack.
pub struct TableSink<'a> {
    /// The state.
    pub l: *mut lua_State,
    /// The table of pins.
    pub pins: Pins,
    /// The types.
    pub bindings: &'a Bindings,
    /// How values are given.
    pub rules: Rules,
    /// What lends `gathered`.
    pub unknown: &'a Lender<Vec<u8>>,
    /// Unknown fields of the open messages that have more than one run of them, as a stack; null as long as none has.
    pub gathered: *mut Lent<Vec<u8>>,
    /// How much stands there.
    pub unknown_len: usize,
    /// Watches keys and strings.
    pub flood: Flood<'a>,
}

/// An open message.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    bound: &'a BoundMessage,
    unknown_start: usize,
    /// How many slots its table got.
    slots: u32,
    merging: bool,
}

impl<'a> TableSink<'a> {
    #[inline(always)]
    fn key_of(&self, frame: Frame, f: &FieldPlan) {
        // SAFETY: `open` made room and bound the names.
        unsafe { lua_rawgeti(self.l, self.pins.table, frame.bound.pin(f)) };
    }

    #[inline(always)]
    fn push(&self, f: &FieldPlan, value: Value) {
        // SAFETY: `open` made room.
        unsafe {
            match value {
                Value::Enum(v) if !self.rules.enum_number => self.bindings.push_enum(self.l, self.pins, f.sub, v),
                other => self.values().push(f, other),
            }
        }
    }

    #[inline(always)]
    fn values(&self) -> Values {
        Values { l: self.l, pins: self.pins, rules: self.rules }
    }

    #[inline(always)]
    fn begin(&mut self, m: &MessagePlan, merging: bool) -> Option<Frame<'a>> {
        let bindings: &'a Bindings = self.bindings;
        // SAFETY: room is asked for, and what raises where there is none crosses no destructor.
        unsafe {
            if !has_room(self.l, LEVEL) {
                return None;
            }
            let bound = bindings.message(self.l, self.pins, m.index)?;
            let slots = if merging { 0 } else { bound.hint() };
            Some(Frame { bound, unknown_start: self.unknown_len, slots, merging })
        }
    }

    /// Pushes the key of `f` and its value once more.
    #[cold]
    fn again(&mut self, frame: Frame, f: &FieldPlan) {
        self.key_of(frame, f);
        // SAFETY: the message's table is below the key; `open` made room.
        unsafe {
            lua_pushvalue(self.l, -1);
            lua_rawget(self.l, -3);
        }
    }

    /// Puts unknown fields into the message on top: those of an earlier part of the message, the
    /// gathered ones, and `last`. Answers how many bytes that made.
    #[cold]
    #[inline(never)]
    fn attach_unknown(&mut self, frame: Frame, last: &[u8]) -> usize {
        let l = self.l;
        // SAFETY: `open` made room: table, key, old value, buffer, result. The old value stays on
        // the stack while it is copied; what is gathered is this call's alone.
        unsafe {
            lua_rawgeti(l, self.pins.table, PIN_UNKNOWN);
            lua_pushvalue(l, -1);
            lua_rawget(l, -3);
            let old = string_at(l, -1).unwrap_or_default();
            let gathered = match self.gathered.as_ref() {
                Some(lent) => lent.scratch.get(frame.unknown_start..).unwrap_or_default(),
                None => &[],
            };
            let total = old.len() + gathered.len() + last.len();
            if total == last.len() {
                self.flood.push(l, last);
            } else {
                let buffer = lua_newuserdata(l, total).cast::<u8>();
                let to = std::slice::from_raw_parts_mut(buffer, total);
                for (to, from) in to.iter_mut().zip(old.iter().chain(gathered).chain(last)) {
                    *to = *from;
                }
                self.flood.push(l, std::slice::from_raw_parts(buffer, total));
                lua_remove(l, -2);
            }
            lua_remove(l, -2);
            lua_rawset(l, -3);
            if let Some(lent) = self.gathered.as_mut() {
                lent.scratch.truncate(frame.unknown_start);
            }
            self.unknown_len = frame.unknown_start;
            if frame.merging { total } else { 0 }
        }
    }
}

impl<'a> Sink for TableSink<'a> {
    type Frame = Frame<'a>;
    const TABLES: bool = true;
    const PATHS: bool = false;

    #[inline(always)]
    fn may_owe(op: Op) -> bool {
        Flood::may_owe(op)
    }
    #[inline(always)]
    fn owed(&mut self) -> u64 {
        self.flood.owed()
    }

    #[inline(always)]
    fn open(&mut self, m: &MessagePlan) -> Option<Frame<'a>> {
        let frame = self.begin(m, false)?;
        // SAFETY: `begin` made room.
        unsafe {
            lua_createtable(self.l, 0, frame.slots as c_int);
            if self.rules.defaults == Defaults::Metatable {
                push_decoded(self.l, self.pins, self.bindings, m, frame.bound, &self.rules);
                lua_setmetatable(self.l, -2);
            }
        }
        Some(frame)
    }

    #[cold]
    fn reopen(&mut self, frame: Frame<'a>, field: &FieldPlan, m: &MessagePlan) -> Option<Frame<'a>> {
        self.again(frame, field);
        self.begin(m, true)
    }

    #[inline(always)]
    fn close(&mut self, frame: Frame<'a>, m: &MessagePlan, count: u32, unknown: &[u8]) -> usize {
        frame.bound.learn(count);
        let mut built = frame.slots.saturating_sub(count) as usize * SLOT_SIZE;
        // A message that was closed before has its defaults.
        if self.rules.defaults == Defaults::Copy && !frame.merging {
            // SAFETY: the message's table is on top; `open` made room.
            unsafe {
                let at = lua_gettop(self.l);
                built += fill(self.l, self.pins, self.bindings, m, frame.bound, at, &self.rules);
            }
        }
        if unknown.is_empty() && self.unknown_len == frame.unknown_start || !self.rules.keep_unknown {
            return built;
        }
        built + self.attach_unknown(frame, unknown)
    }

    #[cold]
    fn unknown(&mut self, _: Frame<'a>, raw: &[u8]) {
        if self.rules.keep_unknown {
            // SAFETY: what is lent is this call's alone. The first argument, a name, is not needed any more, and `open`
            // made room.
            unsafe {
                if self.gathered.is_null() {
                    self.gathered = self.unknown.take(self.l);
                }
                let unknown = &mut (*self.gathered).scratch;
                unknown.extend_from_slice(raw);
                self.unknown_len = unknown.len();
            }
        }
    }

    #[inline(always)]
    fn key(&mut self, frame: Frame<'a>, field: &FieldPlan) {
        self.key_of(frame, field);
    }

    #[inline(always)]
    fn store(&mut self, _: Frame<'a>, _: &FieldPlan) {
        // SAFETY: table, key, value are on top.
        unsafe { lua_rawset(self.l, -3) };
    }

    #[cold]
    fn has(&mut self, frame: Frame<'a>, field: &FieldPlan) -> bool {
        self.key_of(frame, field);
        // SAFETY: the message's table is below the key.
        unsafe {
            lua_rawget(self.l, -2);
            let there = lua_type(self.l, -1) != LUA_TNIL;
            pop(self.l, 1);
            there
        }
    }

    #[cold]
    fn unset(&mut self, frame: Frame<'a>, field: &FieldPlan) {
        self.key_of(frame, field);
        // SAFETY: the message's table is below the key.
        unsafe {
            lua_pushnil(self.l);
            lua_rawset(self.l, -3);
        }
    }

    #[inline(always)]
    fn scalar(&mut self, frame: Frame<'a>, field: &FieldPlan, value: Value) {
        self.key_of(frame, field);
        self.push(field, value);
        self.store(frame, field);
    }

    #[inline(always)]
    fn bytes(&mut self, frame: Frame<'a>, field: &FieldPlan, bytes: &[u8]) {
        self.key_of(frame, field);
        // SAFETY: `open` made room; the input stays on the stack.
        unsafe { self.flood.push(self.l, bytes) };
        self.store(frame, field);
    }

    fn message(&mut self, _: Frame<'a>, _: &FieldPlan, raw: &[u8], _: bool) -> usize {
        raw.len()
    }

    #[inline(always)]
    fn begin_list(&mut self, frame: Frame<'a>, field: &FieldPlan, n: usize) {
        self.key_of(frame, field);
        // SAFETY: `open` made room. The kernel has charged the budget for `n` elements.
        unsafe { lua_createtable(self.l, c_int::try_from(n).unwrap_or(c_int::MAX), 0) };
        // SAFETY: the new list is on top.
        unsafe { self.values().set_metatable(self.rules.array_metatable, PIN_ARRAY) };
    }

    #[cold]
    fn reopen_list(&mut self, frame: Frame<'a>, field: &FieldPlan) -> u64 {
        self.again(frame, field);
        // SAFETY: the list is on top.
        unsafe { raw_len(self.l, -1) as u64 }
    }

    #[inline(always)]
    fn end_list(&mut self, frame: Frame<'a>, field: &FieldPlan, n: u64) {
        self.end_map(frame, field, n > 0);
    }

    #[inline(always)]
    fn element(&mut self, field: &FieldPlan, index: u64, value: Value) {
        self.push(field, value);
        self.store_element(field, index);
    }

    #[inline(always)]
    fn element_bytes(&mut self, field: &FieldPlan, index: u64, bytes: &[u8]) {
        // SAFETY: `open` made room.
        unsafe { self.flood.push(self.l, bytes) };
        self.store_element(field, index);
    }

    fn element_message(&mut self, _: &FieldPlan, _: u64, _: &[u8]) {}

    #[inline(always)]
    fn store_element(&mut self, _: &FieldPlan, index: u64) -> usize {
        // SAFETY: list and element are on top.
        unsafe { lua_rawseti(self.l, -2, index as Slot) };
        0
    }

    fn begin_map(&mut self, frame: Frame<'a>, field: &FieldPlan, n: usize, again: bool) {
        if again {
            self.again(frame, field);
            // SAFETY: that pushed the map.
            unsafe { self.flood.resized(self.l) };
            return;
        }
        self.key_of(frame, field);
        // SAFETY: `open` made room. The kernel has charged the budget for `n` entries.
        unsafe {
            lua_createtable(self.l, 0, c_int::try_from(n).unwrap_or(c_int::MAX));
            self.flood.sized(self.l, n);
        }
        // SAFETY: the new map is on top.
        unsafe { self.values().set_metatable(self.rules.map_metatable, PIN_MAP) };
    }

    #[inline(always)]
    fn end_map(&mut self, frame: Frame<'a>, field: &FieldPlan, any: bool) {
        if any {
            self.store(frame, field);
        } else {
            // SAFETY: the key and the empty table are on top.
            unsafe { pop(self.l, 2) };
        }
    }

    fn map_key(&mut self, field: &FieldPlan, value: Value) {
        // SAFETY: `open` made room.
        unsafe {
            self.values().push_key(field, value);
            self.flood.key(self.l, value);
        }
    }

    fn map_key_bytes(&mut self, _: &FieldPlan, bytes: &[u8]) {
        // SAFETY: `open` made room.
        unsafe { self.flood.push_key(self.l, bytes) };
    }

    fn map_value(&mut self, field: &FieldPlan, value: Value) {
        self.push(field, value);
    }

    fn map_value_bytes(&mut self, _: &FieldPlan, bytes: &[u8]) {
        // SAFETY: `open` made room.
        unsafe { self.flood.push(self.l, bytes) };
    }

    fn map_value_message(&mut self, _: &FieldPlan, raw: &[u8], _: bool) -> usize {
        raw.len()
    }

    fn store_entry(&mut self) {
        // SAFETY: map, key, value are on top.
        unsafe { lua_rawset(self.l, -3) };
    }
}
