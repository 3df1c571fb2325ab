//! The flat form with dotted names, decoding.
//!
//! Each name has a slot from `base` on, nil at first. The value of a name that goes through lists
//! is in an array for the outermost one, whose elements are arrays for the next, and so on: the
//! outermost is in the name's slot, and of the others those that are being filled are in slots
//! above. So every value has a fixed place: a slot, or the latest element of an array in a slot.
//! Above them stands at most an open list or map with a key and a value.

use std::ffi::c_int;

use super::defaults::push_default;
use super::flood::Flood;
use super::rules::Rules;
use super::values::Values;
use crate::kernel::{Sink, Value};
use crate::schema::{Default, Entered, FieldPlan, Flags, Leaf, MessagePlan, Op, Paths, Pattern};
use crate::vm::api::*;
use crate::vm::{Pins, pop};

/// Levels of lists, the outermost being 0: outside of any.
const LEVELS: usize = Paths::MOST_LISTS + 1;

/// Estimates of what an element takes for each name beside its place in an array, see the
/// kernel's budget: the head of a string, and an empty table.
const ELEMENT_SIZE: usize = 24;
const LIST_SIZE: usize = 64;

/// Puts the values of a pattern where they belong.
pub struct PathSink<'a> {
    l: *mut lua_State,
    pins: Pins,
    pattern: &'a Pattern,
    paths: &'a Paths,
    rules: Rules,
    base: c_int,
    /// For each level, the place in its list of the element that is open, or comes next.
    index: [u64; LEVELS],
    /// For each level, the bits of the names that have something there.
    filled: [u64; LEVELS],
    flood: Flood<'a>,
}

impl<'a> PathSink<'a> {
    /// Slots from the first value on that a sink needs to have room for.
    pub fn room(pattern: &Pattern, paths: &Paths) -> c_int {
        c_int::from(pattern.count).saturating_add(c_int::try_from(paths.inner).unwrap_or(c_int::MAX)).saturating_add(10)
    }

    /// Makes the slots from the top on, of which the first gets the index `base`.
    ///
    /// # Safety
    /// [`PathSink::room`] free slots; the top is below `base`.
    pub unsafe fn new(
        l: *mut lua_State,
        pins: Pins,
        pattern: &'a Pattern,
        paths: &'a Paths,
        rules: Rules,
        base: c_int,
        flood: Flood<'a>,
    ) -> Self {
        // SAFETY: as the caller promises.
        unsafe { lua_settop(l, base - 1 + c_int::from(pattern.count) + paths.inner as c_int) };
        PathSink { l, pins, pattern, paths, rules, base, index: [1; LEVELS], filled: [0; LEVELS], flood }
    }

    /// Leaves the values alone on the stack from `base` on, and defaults for those that are absent.
    ///
    /// # Safety
    /// Nothing is open.
    pub unsafe fn finish(&mut self) {
        for (leaf, n) in self.paths.leaves.iter().zip(0..) {
            if !self.is_filled(0, n) {
                self.push_absent(leaf, 0);
                self.put(0, n);
            }
        }
        // SAFETY: cuts off the slots above the values.
        unsafe { lua_settop(self.l, self.base - 1 + c_int::from(self.pattern.count)) };
    }

    fn values(&self) -> Values {
        Values { l: self.l, pins: self.pins, rules: self.rules }
    }

    #[inline(always)]
    fn push(&self, f: &FieldPlan, value: Value) {
        // SAFETY: there is room, see `new`.
        unsafe { self.values().push(f, value) };
    }

    fn leaf(&self, f: &FieldPlan) -> Option<&'a Leaf> {
        self.paths.leaves.get(usize::from(f.slot))
    }

    /// What is entered, if `f` is.
    #[inline(always)]
    fn entered(&self, f: &FieldPlan) -> Option<&'a Entered> {
        if f.flags.has(Flags::ENTER) { self.paths.entered.get(f.sub as usize) } else { None }
    }

    /// How many lists are around the value of `f`.
    fn level(&self, f: &FieldPlan) -> usize {
        self.leaf(f).map_or(0, |leaf| leaf.lists)
    }

    /// The slot of what name `n` has at `level`, which is less than the lists it goes through:
    /// an array that is being filled. At level 0, the slot of its value.
    #[inline(always)]
    fn slot(&self, level: usize, n: u16) -> c_int {
        let inner = self.paths.leaves.get(usize::from(n)).map_or(0, |leaf| leaf.inner);
        match level.checked_sub(1) {
            None => self.base + c_int::from(n),
            Some(above) => self.base + c_int::from(self.pattern.count) + (inner + above) as c_int,
        }
    }

    #[inline(always)]
    fn index(&self, level: usize) -> Slot {
        self.index.get(level).map_or(1, |i| *i as Slot)
    }

    fn set_index(&mut self, level: usize, to: u64) {
        if let (Some(index), Some(filled)) = (self.index.get_mut(level), self.filled.get_mut(level)) {
            *index = to;
            *filled = 0;
        }
    }

    /// Takes the value on top as that of name `n` at `level`.
    #[inline(always)]
    fn put(&mut self, level: usize, n: u16) {
        if let Some(filled) = self.filled.get_mut(level) {
            *filled |= Paths::bit(n);
        }
        self.place(level, n);
    }

    #[inline(always)]
    fn place(&self, level: usize, n: u16) {
        // SAFETY: a value is on top; an array is in the slot of the level above, since its list is open.
        unsafe {
            match level.checked_sub(1) {
                None => lua_replace(self.l, self.slot(0, n)),
                Some(above) => lua_rawseti(self.l, self.slot(above, n), self.index(level)),
            }
        }
    }

    /// Pushes what name `n` has at `level`.
    fn get(&self, level: usize, n: u16) {
        // SAFETY: as in `place`; there is room, see `new`.
        unsafe {
            match level.checked_sub(1) {
                None => lua_pushvalue(self.l, self.slot(0, n)),
                Some(above) => {
                    lua_rawgeti(self.l, self.slot(above, n), self.index(level));
                }
            }
        }
    }

    fn is_filled(&self, level: usize, n: u16) -> bool {
        let bit = Paths::bit(n);
        if bit != 0 {
            return self.filled.get(level).is_some_and(|filled| filled & bit != 0);
        }
        self.get(level, n);
        // SAFETY: the value is on top.
        unsafe {
            let there = lua_type(self.l, -1) != LUA_TNIL;
            pop(self.l, 1);
            there
        }
    }

    fn clear(&mut self, level: usize, n: u16) {
        if self.is_filled(level, n) {
            // SAFETY: there is room, see `new`.
            unsafe { lua_pushnil(self.l) };
            self.place(level, n);
            if let Some(filled) = self.filled.get_mut(level) {
                *filled &= !Paths::bit(n);
            }
        }
    }

    /// Pushes what `leaf` has at `level` where it has nothing; answers how much memory that takes.
    #[inline(never)]
    fn push_absent(&self, leaf: &Leaf, level: usize) -> usize {
        let f = &leaf.field;
        // SAFETY: there is room, see `new`.
        unsafe {
            if level < leaf.lists {
                lua_createtable(self.l, 0, 0);
                self.values().set_metatable(self.rules.array_metatable, super::bindings::PIN_ARRAY);
                return LIST_SIZE;
            }
            if f.repeated() {
                self.values().push_table(f, 0);
                return LIST_SIZE;
            }
            // A nil would be a hole in a list.
            if level == 0 && f.flags.has(Flags::ONEOF) || matches!(f.op, Op::Message | Op::Group) {
                lua_pushnil(self.l);
                return 0;
            }
            // Enums are numbers in the flat form.
            push_default(self.l, f, &leaf.default, &self.pattern.set, self.rules.variant() | 2, self.pins);
            if let Default::Bytes(bytes) = &leaf.default { bytes.len() } else { 0 }
        }
    }
}

impl Sink for PathSink<'_> {
    type Frame = ();
    const TABLES: bool = false;
    const PATHS: bool = true;

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
        Some(())
    }
    fn close(&mut self, (): (), _: &MessagePlan, _: u32, _: &[u8]) -> usize {
        0
    }
    fn unknown(&mut self, (): (), _: &[u8]) {}
    fn key(&mut self, (): (), _: &FieldPlan) {}
    fn store(&mut self, (): (), _: &FieldPlan) {}

    fn has(&mut self, (): (), field: &FieldPlan) -> bool {
        match self.entered(field) {
            Some(entered) => entered.leaves.iter().any(|n| self.is_filled(entered.lists, *n)),
            None => self.is_filled(self.level(field), field.slot),
        }
    }

    fn unset(&mut self, (): (), field: &FieldPlan) {
        match self.entered(field) {
            Some(entered) => entered.leaves.iter().for_each(|n| self.clear(entered.lists, *n)),
            None => self.clear(self.level(field), field.slot),
        }
    }

    #[inline(always)]
    fn scalar(&mut self, (): (), field: &FieldPlan, value: Value) {
        self.push(field, value);
        self.put(self.level(field), field.slot);
    }

    #[inline(always)]
    fn bytes(&mut self, (): (), field: &FieldPlan, bytes: &[u8]) {
        // SAFETY: there is room, see `new`; the input stays on the stack.
        unsafe { self.flood.push(self.l, bytes) };
        self.put(self.level(field), field.slot);
    }

    fn message(&mut self, (): (), field: &FieldPlan, raw: &[u8], again: bool) -> usize {
        let before = if again { self.slot(0, field.slot) } else { 0 };
        // SAFETY: there is room, see `new`. No message is in a list.
        let n = unsafe {
            self.flood.string(self.l, raw);
            self.values().push_message(raw, before)
        };
        self.put(0, field.slot);
        n
    }

    fn width(&self, field: &FieldPlan) -> usize {
        self.entered(field).map_or(1, |entered| entered.leaves.len())
    }

    fn begin_list(&mut self, (): (), field: &FieldPlan, n: usize) {
        let Some(entered) = self.entered(field) else {
            // SAFETY: there is room, see `new`. The kernel has charged the budget for `n` elements.
            unsafe { self.values().push_table(field, n) };
            return;
        };
        let level = entered.lists;
        for leaf in &entered.leaves {
            // SAFETY: as above, for `width` lists.
            unsafe {
                self.values().push_table(field, n);
                if level > 0 {
                    lua_pushvalue(self.l, -1);
                    lua_replace(self.l, self.slot(level, *leaf));
                }
            }
            self.put(level, *leaf);
        }
        self.set_index(level + 1, 1);
    }

    #[cold]
    fn reopen_list(&mut self, (): (), field: &FieldPlan) -> u64 {
        // SAFETY: a list is in its place; there is room, see `new`.
        unsafe {
            let Some(entered) = self.entered(field) else {
                self.get(self.level(field), field.slot);
                return raw_len(self.l, -1) as u64;
            };
            // All of its arrays are of the same length, without holes.
            let n = entered.leaves.first().map_or(0, |n| raw_len(self.l, self.slot(entered.lists, *n)) as u64);
            self.set_index(entered.lists + 1, n + 1);
            n
        }
    }

    fn end_list(&mut self, (): (), field: &FieldPlan, _: u64) {
        if !field.flags.has(Flags::ENTER) {
            self.put(self.level(field), field.slot);
        }
    }

    #[inline(always)]
    fn element(&mut self, field: &FieldPlan, index: u64, value: Value) {
        self.push(field, value);
        // SAFETY: list and element are on top.
        unsafe { lua_rawseti(self.l, -2, index as Slot) };
    }

    #[inline(always)]
    fn element_bytes(&mut self, _: &FieldPlan, index: u64, bytes: &[u8]) {
        // SAFETY: there is room, see `new`; the list is on top.
        unsafe {
            self.flood.push(self.l, bytes);
            lua_rawseti(self.l, -2, index as Slot);
        }
    }

    fn element_message(&mut self, _: &FieldPlan, index: u64, raw: &[u8]) {
        // SAFETY: there is room, see `new`; the list is on top.
        unsafe {
            self.values().push_message(raw, 0);
            self.flood.string(self.l, raw);
            lua_rawseti(self.l, -2, index as Slot);
        }
    }

    /// Gives the names that the element lacks their defaults.
    fn store_element(&mut self, field: &FieldPlan, index: u64) -> usize {
        let Some(entered) = self.entered(field) else { return 0 };
        let level = entered.lists + 1;
        let mut built = entered.leaves.len().saturating_mul(ELEMENT_SIZE);
        let filled = self.filled.get(level).copied().unwrap_or_default();
        if !entered.marked || entered.mask & !filled != 0 {
            for n in &entered.leaves {
                if let Some(leaf) = self.paths.leaves.get(usize::from(*n))
                    && !self.is_filled(level, *n)
                {
                    built = built.saturating_add(self.push_absent(leaf, level));
                    self.place(level, *n);
                }
            }
        }
        self.set_index(level, index + 1);
        built
    }

    fn begin_map(&mut self, (): (), field: &FieldPlan, n: usize, again: bool) {
        if again {
            self.get(self.level(field), field.slot);
            // SAFETY: that pushed the map.
            unsafe { self.flood.resized(self.l) };
        } else {
            // SAFETY: there is room, see `new`. The kernel has charged the budget for `n` entries.
            unsafe {
                self.values().push_table(field, n);
                self.flood.sized(self.l, n);
            }
        }
    }

    fn end_map(&mut self, (): (), field: &FieldPlan, _: bool) {
        self.put(self.level(field), field.slot);
    }

    fn map_key(&mut self, field: &FieldPlan, value: Value) {
        // SAFETY: there is room, see `new`.
        unsafe {
            self.values().push_key(field, value);
            self.flood.key(self.l, value);
        }
    }

    fn map_key_bytes(&mut self, _: &FieldPlan, bytes: &[u8]) {
        // SAFETY: there is room, see `new`.
        unsafe { self.flood.push_key(self.l, bytes) };
    }

    fn map_value(&mut self, field: &FieldPlan, value: Value) {
        self.push(field, value);
    }

    fn map_value_bytes(&mut self, _: &FieldPlan, bytes: &[u8]) {
        // SAFETY: there is room, see `new`.
        unsafe { self.flood.push(self.l, bytes) };
    }

    fn map_value_message(&mut self, _: &FieldPlan, raw: &[u8], again: bool) -> usize {
        // SAFETY: there is room, see `new`; the value that is continued is on top.
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
