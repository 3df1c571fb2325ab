//! The flat form, decoding: events to values on the stack, one for each name of a pattern.
//!
//! Values mostly come in the order of the pattern and are pushed where they belong. One that
//! comes late is put in its place; one that comes early is preceded by the defaults of those
//! before it. Above the values stands at most an open list or map with a key and a value.

use std::ffi::c_int;

use super::defaults::push_default;
use super::flood::Flood;
use super::rules::Rules;
use super::values::Values;
use crate::kernel::{Sink, Value};
use crate::schema::{FieldPlan, Flags, MessagePlan, Op, Pattern};
use crate::vm::Pins;
use crate::vm::api::*;

/// Pushes the values of a pattern.
pub struct FlatSink<'a> {
    /// The state. The pattern's values and ten more have room on its stack.
    pub l: *mut lua_State,
    /// The table of pins.
    pub pins: Pins,
    /// What is asked for.
    pub pattern: &'a Pattern,
    /// How values are given; enums are numbers all the same.
    pub rules: Rules,
    /// Stack index of the first value.
    pub base: c_int,
    /// How many values are pushed.
    pub next: u16,
    /// The open list or map is where it belongs.
    pub in_place: bool,
    /// Watches keys and strings.
    pub flood: Flood<'a>,
}

impl FlatSink<'_> {
    #[inline(always)]
    fn push(&self, f: &FieldPlan, value: Value) {
        // SAFETY: there is room, see `l`.
        unsafe { self.values().push(f, value) };
    }

    #[inline(always)]
    fn values(&self) -> Values {
        Values { l: self.l, pins: self.pins, rules: self.rules }
    }

    /// Pushes defaults until the value of `slot` is the next.
    #[cold]
    #[inline(never)]
    pub fn fill(&mut self, slot: u16) {
        while self.next < slot {
            let position = self.pattern.slots.get(usize::from(self.next)).map_or(usize::MAX, |i| usize::from(*i));
            let plan = &self.pattern.plan;
            // SAFETY: there is room, see `l`.
            unsafe {
                match (plan.fields.get(position), plan.defaults.get(position)) {
                    (Some(f), _) if f.repeated() => {
                        self.values().push_table(f, 0);
                    }
                    (Some(f), Some(default)) if !f.flags.has(Flags::ONEOF) => {
                        // Enums are numbers in the flat form.
                        let variant = self.rules.variant() | 2;
                        push_default(self.l, f, default, &self.pattern.set, variant, self.pins);
                    }
                    _ => lua_pushnil(self.l),
                }
            }
            self.next += 1;
        }
    }

    /// The place of `f` is the next one, as far as it has not passed.
    #[inline(always)]
    fn reach(&mut self, f: &FieldPlan) -> bool {
        if f.slot > self.next {
            self.fill(f.slot);
        }
        let here = f.slot == self.next;
        self.next += u16::from(here);
        here
    }

    /// Moves the value on top into its place, which lies below.
    #[cold]
    #[inline(never)]
    fn place(&self, f: &FieldPlan) {
        // SAFETY: the place is below the top.
        unsafe { lua_replace(self.l, self.base + c_int::from(f.slot)) };
    }

    fn at(&self, f: &FieldPlan) -> Option<c_int> {
        (f.slot < self.next).then(|| self.base + c_int::from(f.slot))
    }
}

impl Sink for FlatSink<'_> {
    type Frame = ();
    const TABLES: bool = false;
    const PATHS: bool = false;

    #[inline(always)]
    fn may_owe(op: Op) -> bool {
        Flood::may_owe(op)
    }
    #[inline(always)]
    fn owed(&mut self) -> u64 {
        self.flood.owed()
    }

    fn open(&mut self, _: &MessagePlan) -> Option<()> {
        Some(())
    }
    fn reopen(&mut self, (): (), _: &FieldPlan, _: &MessagePlan) -> Option<()> {
        None
    }
    #[inline(always)]
    fn close(&mut self, (): (), _: &MessagePlan, _: u32, _: &[u8]) -> usize {
        0
    }
    fn unknown(&mut self, (): (), _: &[u8]) {}
    fn key(&mut self, (): (), _: &FieldPlan) {}
    fn store(&mut self, (): (), _: &FieldPlan) {}

    #[cold]
    fn has(&mut self, (): (), field: &FieldPlan) -> bool {
        // SAFETY: the place is below the top.
        self.at(field).is_some_and(|at| unsafe { lua_type(self.l, at) } != LUA_TNIL)
    }

    #[cold]
    fn unset(&mut self, (): (), field: &FieldPlan) {
        if let Some(at) = self.at(field) {
            // SAFETY: the place is below the top.
            unsafe {
                lua_pushnil(self.l);
                lua_replace(self.l, at);
            }
        }
    }

    #[inline(always)]
    fn scalar(&mut self, (): (), field: &FieldPlan, value: Value) {
        let here = self.reach(field);
        self.push(field, value);
        if !here {
            self.place(field);
        }
    }

    #[inline(always)]
    fn bytes(&mut self, (): (), field: &FieldPlan, bytes: &[u8]) {
        let here = self.reach(field);
        // SAFETY: there is room, see `l`; the input stays on the stack.
        unsafe { self.flood.push(self.l, bytes) };
        if !here {
            self.place(field);
        }
    }

    fn message(&mut self, (): (), field: &FieldPlan, raw: &[u8], again: bool) -> usize {
        let before = if again { self.at(field).unwrap_or(0) } else { 0 };
        let here = self.reach(field);
        // SAFETY: there is room, see `l`.
        let n = unsafe {
            self.flood.string(self.l, raw);
            self.values().push_message(raw, before)
        };
        if !here {
            self.place(field);
        }
        n
    }

    fn begin_list(&mut self, (): (), field: &FieldPlan, n: usize) {
        self.in_place = self.reach(field);
        // SAFETY: there is room, see `l`. The kernel has charged the budget for `n` elements.
        unsafe { self.values().push_table(field, n) };
    }

    #[cold]
    fn reopen_list(&mut self, (): (), field: &FieldPlan) -> u64 {
        self.in_place = false;
        // SAFETY: the list is in its place.
        unsafe {
            lua_pushvalue(self.l, self.base + c_int::from(field.slot));
            raw_len(self.l, -1) as u64
        }
    }

    fn end_list(&mut self, (): (), field: &FieldPlan, _: u64) {
        if !self.in_place {
            self.place(field);
        }
    }

    #[inline(always)]
    fn element(&mut self, field: &FieldPlan, index: u64, value: Value) {
        self.push(field, value);
        self.store_element(field, index);
    }

    #[inline(always)]
    fn element_bytes(&mut self, field: &FieldPlan, index: u64, bytes: &[u8]) {
        // SAFETY: there is room, see `l`.
        unsafe { self.flood.push(self.l, bytes) };
        self.store_element(field, index);
    }

    fn element_message(&mut self, field: &FieldPlan, index: u64, raw: &[u8]) {
        // SAFETY: there is room, see `l`.
        unsafe {
            self.values().push_message(raw, 0);
            self.flood.string(self.l, raw);
        };
        self.store_element(field, index);
    }

    #[inline(always)]
    fn store_element(&mut self, _: &FieldPlan, index: u64) -> usize {
        // SAFETY: list and element are on top.
        unsafe { lua_rawseti(self.l, -2, index as Slot) };
        0
    }

    fn begin_map(&mut self, (): (), field: &FieldPlan, n: usize, again: bool) {
        if again {
            self.reopen_list((), field);
            // SAFETY: that pushed the map.
            unsafe { self.flood.resized(self.l) };
            return;
        }
        self.in_place = self.reach(field);
        // SAFETY: there is room, see `l`. The kernel has charged the budget for `n` entries.
        unsafe {
            self.values().push_table(field, n);
            self.flood.sized(self.l, n);
        }
    }

    fn end_map(&mut self, (): (), field: &FieldPlan, _: bool) {
        self.end_list((), field, 0);
    }

    fn map_key(&mut self, field: &FieldPlan, value: Value) {
        // SAFETY: there is room, see `l`.
        unsafe {
            self.values().push_key(field, value);
            self.flood.key(self.l, value);
        }
    }

    fn map_key_bytes(&mut self, _: &FieldPlan, bytes: &[u8]) {
        // SAFETY: there is room, see `l`.
        unsafe { self.flood.push_key(self.l, bytes) };
    }

    fn map_value(&mut self, field: &FieldPlan, value: Value) {
        self.push(field, value);
    }

    fn map_value_bytes(&mut self, _: &FieldPlan, bytes: &[u8]) {
        // SAFETY: there is room, see `l`.
        unsafe { self.flood.push(self.l, bytes) };
    }

    fn map_value_message(&mut self, _: &FieldPlan, raw: &[u8], again: bool) -> usize {
        // SAFETY: there is room, see `l`; the value that is continued is on top.
        unsafe {
            self.flood.string(self.l, raw);
            self.values().push_map_message(raw, again)
        }
    }

    fn store_entry(&mut self) {
        // SAFETY: map, key, value are on top.
        unsafe { lua_rawset(self.l, -3) };
    }
}
