//! The keys of message tables: which field each stands for.

use std::ffi::c_int;

use super::bindings::BoundMessage;
use super::proxy::is_ours;
use super::shape::Shape;
use super::show::Shown;
use super::source::{Frame, LEVEL, Result, StackSource};
use super::walks::is_untouched;
use crate::error::{Kind, quoted};
use crate::kernel::Fields;
use crate::schema::{FieldPlan, MessagePlan, field_hint};
use crate::vm::api::*;
use crate::vm::{is_empty, pop, string_address, string_at};

impl<'a, const FORM: u8> StackSource<'a, FORM> {
    /// The key on the stack at `key` that no address is known for: a long name, or a stray key.
    #[cold]
    #[inline(never)]
    fn other_key<'m>(&self, key: c_int, m: &'m MessagePlan) -> Result<Option<&'m FieldPlan>> {
        // SAFETY: the caller's key is on the stack.
        let name = unsafe { string_at(self.l, key) };
        let text = name.map(String::from_utf8_lossy);
        if let Some(field) = text.as_deref().and_then(|t| m.by_name(t)) {
            return Ok(Some(field));
        }
        if self.rules.ignore_keys {
            return Ok(None);
        }
        let Some(name) = name else {
            // SAFETY: as above.
            let shown = unsafe { Shown::at(self.l, key) };
            return Err(self.fail(format_args!("unknown field [{shown}]")));
        };
        let hint = text.map_or_else(String::new, |t| field_hint(m, &t));
        Err(self.fail(format_args!("unknown field {}{hint}", quoted(name))))
    }

    /// Notes all set fields of the table at `table`, which are too many to keep them on the stack.
    #[cold]
    #[inline(never)]
    pub(super) fn note_all(
        &mut self,
        table: c_int,
        bound: &BoundMessage,
        m: &MessagePlan,
        fields: &mut Fields,
    ) -> Result<()> {
        *fields = Fields::new();
        let mut twice = false;
        // SAFETY: `open` made room for the pair.
        unsafe {
            lua_settop(self.l, self.top);
            lua_pushnil(self.l);
            while lua_next(self.l, table) != 0 {
                let field = match bound.keys.find(string_address(self.l, -2)) {
                    Some(BoundMessage::UNKNOWN) => {
                        fields.unknown = true;
                        None
                    }
                    Some(i) => m.fields.get(i as usize),
                    None => self.other_key(self.top + 1, m)?,
                };
                twice |= field.is_some_and(|f| fields.note(f));
                pop(self.l, 1);
            }
        }
        let second = if twice || fields.all { &*bound.second } else { &[] };
        for f in second.iter().filter_map(|(i, _)| m.fields.get(usize::from(*i))) {
            self.named_once(table, bound, m, f)?;
        }
        Ok(())
    }

    /// Goes on with the table of `frame`, of which the first `n` keys are as guessed, and another
    /// one and its value are on top.
    #[cold]
    #[inline(never)]
    pub(super) fn open_rest(
        &mut self,
        frame: Frame<'a>,
        n: usize,
        m: &MessagePlan,
        fields: &mut Fields,
    ) -> Result<Frame<'a>> {
        let l = self.l;
        let Some(bound) = frame.bound else { return Ok(frame) };
        // Two names of a field are two keys.
        if !bound.second.is_empty() && !self.reserve(2 * (Fields::MOST as c_int + 1) + LEVEL) {
            return Err(self.fail(format_args!("{}", Kind::Depth)));
        }
        add_guessed(bound, n, m, fields);
        let mut anchored = true;
        // SAFETY: `open` made room for all pairs.
        unsafe {
            loop {
                let field = match bound.keys.find(string_address(l, -2)) {
                    Some(BoundMessage::UNKNOWN) => {
                        fields.unknown = true;
                        None
                    }
                    Some(i) => m.fields.get(i as usize),
                    None => {
                        anchored = false;
                        self.other_key(lua_gettop(l) - 1, m)?
                    }
                };
                match field {
                    None => pop(l, 1),
                    Some(field) if fields.add(field) => lua_pushvalue(l, -2),
                    Some(_) => {
                        self.note_all(frame.table, bound, m, fields)?;
                        return Ok(frame);
                    }
                }
                if lua_next(l, frame.table) == 0 {
                    break;
                }
            }
            self.top = frame.begin + 2 * fields.len() as c_int;
            if !bound.second.is_empty() {
                for f in fields.twice().filter_map(|i| m.fields.get(i)) {
                    anchored = false;
                    self.named_once(frame.table, bound, m, f)?;
                }
            }
            if anchored && !fields.unknown && fields.len() <= Shape::MOST && bound.shape.miss() {
                let key = |i: usize| string_address(l, frame.begin + 2 * i as c_int + 1);
                bound.shape.learn((0..fields.len()).map(key), fields);
            }
        }
        Ok(Frame { top: self.top, ..frame })
    }

    /// Fails if the table at `table` has `f`, an extension, under both its names. A value that counts
    /// as absent may stand beside another.
    #[cold]
    #[inline(never)]
    fn named_once(&mut self, table: c_int, bound: &BoundMessage, m: &MessagePlan, f: &FieldPlan) -> Result<()> {
        let (Some(pin), Some(second)) = (bound.second_pin(f), m.second_name(f)) else { return Ok(()) };
        // SAFETY: `open` made room for values.
        let both = unsafe { self.is_there(table, bound.pin(f), f) && self.is_there(table, pin, f) };
        if !both {
            return Ok(());
        }
        let first = m.names.get(usize::from(f.index)).map_or("", |n| n);
        Err(self.fail(format_args!("both {first:?} and {second:?} are set")))
    }

    /// Whether the table at `table` has a value that counts, of field `f`, under the name at `pin`.
    ///
    /// # Safety
    /// A table at `table`, an absolute index; `open` made room.
    unsafe fn is_there(&self, table: c_int, pin: Slot, f: &FieldPlan) -> bool {
        let l = self.l;
        // SAFETY: as the caller promises; the value is popped.
        unsafe {
            lua_rawgeti(l, self.pins.table, pin);
            lua_rawget(l, table);
            let at = lua_gettop(l);
            let there = match lua_type(l, at) {
                LUA_TNIL => false,
                LUA_TTABLE if f.repeated() => !is_empty(l, at) || !is_ours(l, at, self.pins),
                LUA_TTABLE => !is_untouched(l, at),
                _ => true,
            };
            lua_settop(l, at - 1);
            there
        }
    }

    /// Pushes the value of the extension `f` in the table at `table`, whichever of its names it
    /// stands under; nothing if there is none.
    #[cold]
    #[inline(never)]
    pub(super) fn push_extension(&self, table: c_int, bound: &BoundMessage, f: &FieldPlan) -> bool {
        // SAFETY: `open` made room.
        unsafe {
            // One value at most counts, see `named_once`; one that does not may be there beside it.
            let pin = match bound.second_pin(f) {
                Some(second) if self.is_there(table, second, f) => second,
                _ => bound.pin(f),
            };
            lua_rawgeti(self.l, self.pins.table, pin);
            lua_rawget(self.l, table);
            let there = lua_type(self.l, -1) != LUA_TNIL;
            if !there {
                pop(self.l, 1);
            }
            there
        }
    }
}

/// Adds the first `n` guessed keys.
pub(super) fn add_guessed(bound: &BoundMessage, n: usize, m: &MessagePlan, fields: &mut Fields) {
    for i in 0..n {
        if let Some(field) = bound.keys.find(bound.shape.key(i)).and_then(|i| m.fields.get(i as usize)) {
            fields.add(field);
        }
    }
}
