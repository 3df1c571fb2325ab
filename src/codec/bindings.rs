//! Types as one Lua state uses them: their names pinned as Lua strings, and what was learned
//! about their tables. A type is bound when it is first used.
//!
//! A pin is a slot of a Lua table, the table of pins, which every call has on its stack.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::c_int;
use std::sync::Arc;

use super::rules::Rules;
use super::shape::Shape;
use crate::schema::{FieldPlan, Set};
use crate::vm::api::*;
use crate::vm::{Addresses, Pins, pop, string_address};

/// Pin of the userdata that owns the bindings.
pub const PIN_EPOCH: Slot = 1;
/// Pin of the table of metatables.
pub const PIN_METAS: Slot = 5;
/// Pin of the userdata that owns the set.
pub const PIN_SET: Slot = 6;
/// Pin of the string `"?unknown"`.
pub const PIN_UNKNOWN: Slot = 7;
/// Pin of option `array_metatable`.
pub const PIN_ARRAY: Slot = 8;
/// Pin of option `map_metatable`.
pub const PIN_MAP: Slot = 9;
/// The first pin that is given to names.
pub const FIRST_FREE_PIN: Slot = 16;

/// The key of unknown fields in message tables.
pub const UNKNOWN_KEY: &str = "?unknown";

/// A message type, bound.
pub struct BoundMessage {
    /// The pin of its first field's name; the others follow.
    pub base: Slot,
    /// Positions of fields by the addresses of their names; [`BoundMessage::UNKNOWN`] for unknown fields.
    pub keys: Addresses,
    /// The positions of extensions that have a second name, ascending, and the pins of these names.
    pub second: Box<[(u16, Slot)]>,
    /// The keys that its tables had lately.
    pub shape: Shape,
    /// See [`super::copied`].
    pub copied: OnceCell<Box<[u16]>>,
    /// How many fields its messages had lately.
    hint: Cell<u32>,
    /// The metatables of its tables, once made, for each variant of the rules.
    metas: [Cell<Metas>; 4],
}

/// The metatables of one type, see `defaults`.
#[derive(Clone, Copy, Default)]
pub struct Metas {
    /// Pin of the metatable of tables that were decoded; 0 if not made.
    pub decoded_pin: Slot,
    /// Its address.
    pub decoded: usize,
}

impl BoundMessage {
    /// Stands for the key of unknown fields.
    pub const UNKNOWN: u32 = u32::MAX;

    /// The metatables of its tables under `rules`.
    #[inline(always)]
    pub fn metas(&self, rules: &Rules) -> &Cell<Metas> {
        let [a, b, c, d] = &self.metas;
        match rules.variant() {
            0 => a,
            1 => b,
            2 => c,
            _ => d,
        }
    }

    /// How many hash slots a new table of this type gets.
    #[inline(always)]
    pub fn hint(&self) -> u32 {
        self.hint.get()
    }

    /// Learns that a message had `n` fields. Grows at once and decays slowly.
    #[inline(always)]
    pub fn learn(&self, n: u32) {
        let hint = self.hint.get();
        if n > hint {
            self.hint.set(n);
        } else if n < hint {
            self.hint.set(hint - (hint - n).div_ceil(8));
        }
    }

    /// The pin of the name of `field`.
    #[inline(always)]
    pub fn pin(&self, field: &FieldPlan) -> Slot {
        self.base + Slot::from(field.index)
    }

    /// The pin of the second name of `field`, if it has one.
    #[cold]
    pub fn second_pin(&self, field: &FieldPlan) -> Option<Slot> {
        let at = self.second.binary_search_by_key(&field.index, |(index, _)| *index).ok()?;
        self.second.get(at).map(|(_, pin)| *pin)
    }
}

/// An enum type, bound.
pub struct BoundEnum {
    /// The pin of the name of its smallest number; the others follow.
    base: Slot,
    names: Addresses,
    numbers: Box<[i32]>,
}

/// All types of a set, as far as they are bound.
pub struct Bindings {
    /// The types.
    pub set: Arc<Set>,
    messages: Box<[OnceCell<Box<BoundMessage>>]>,
    enums: Box<[OnceCell<Box<BoundEnum>>]>,
    /// The pins of types whose binding has begun. Where it ended with an error, the next one goes on with them.
    begun: RefCell<Vec<(Type, Slot)>>,
    next_pin: Cell<Slot>,
}

/// A type by its index.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Message(u32),
    Enum(u32),
}

impl Bindings {
    /// Binds nothing yet. Pins from `first_pin` on are free.
    pub fn new(set: Arc<Set>, first_pin: Slot) -> Self {
        let messages = set.messages.iter().map(|_| OnceCell::new()).collect();
        let enums = set.enums.iter().map(|_| OnceCell::new()).collect();
        Bindings { set, messages, enums, begun: RefCell::default(), next_pin: Cell::new(first_pin) }
    }

    /// Pins the value on top, which it pops, and answers where. May raise; then no pin is taken.
    ///
    /// # Safety
    /// A value on top, the table of pins at `pins`, which is no index relative to the top.
    pub unsafe fn pin(&self, l: *mut lua_State, pins: c_int) -> Slot {
        let pin = self.next_pin.get();
        // SAFETY: as the caller promises. Setting a slot runs no finalizer, which might take a pin.
        unsafe { lua_rawseti(l, pins, pin) };
        self.next_pin.set(pin + 1);
        pin
    }

    /// Begins to bind a type: answers the first of its `n` pins.
    fn begin(&self, what: Type, n: usize) -> Slot {
        let mut begun = self.begun.borrow_mut();
        if let Some((_, base)) = begun.iter().find(|(other, _)| *other == what) {
            return *base;
        }
        let base = self.next_pin.get();
        self.next_pin.set(base + n as Slot);
        begun.push((what, base));
        base
    }

    /// The type is bound.
    fn end(&self, what: Type) {
        self.begun.borrow_mut().retain(|(other, _)| *other != what);
    }

    /// The message type at `index`, bound. May raise.
    ///
    /// # Safety
    /// The table of pins, three free slots, and `index` one of the set's.
    #[inline(always)]
    pub unsafe fn message(&self, l: *mut lua_State, pins: Pins, index: u32) -> Option<&BoundMessage> {
        match self.messages.get(index as usize)?.get() {
            Some(bound) => Some(bound),
            // SAFETY: as the caller promises.
            None => unsafe { self.bind_message(l, pins, index) },
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn bind_message(&self, l: *mut lua_State, pins: Pins, index: u32) -> Option<&BoundMessage> {
        let plan = self.set.message(index)?;
        let n = plan.names.len();
        let second = || plan.fields.iter().filter_map(|f| Some((f.index, plan.second_name(f)?)));
        let base = self.begin(Type::Message(index), n + second().count());
        let second_base = base + n as Slot;
        // SAFETY: all that may raise comes first, in `pin_names`; then nothing of Lua's is
        // called but reads, so what is on the heap cannot be jumped over.
        unsafe {
            pin_names(l, pins, base, plan.names.iter().map(|n| &**n));
            pin_names(l, pins, second_base, second().map(|(_, name)| name));
            let second: Box<[(u16, Slot)]> = second().zip(second_base..).map(|((i, _), pin)| (i, pin)).collect();
            let address = |(i, pin): (u16, Slot)| (pin_address(l, pins, pin), u32::from(i));
            let fields = (0..n).map(|i| (i as u16, base + i as Slot)).chain(second.iter().copied()).map(address);
            let unknown = (pin_address(l, pins, PIN_UNKNOWN), BoundMessage::UNKNOWN);
            let keys = Addresses::new(n + second.len() + 1, fields.chain([unknown]));
            let cell = self.messages.get(index as usize)?;
            // A finalizer may have bound it meanwhile: then that binding stays.
            let _ = cell.set(Box::new(BoundMessage {
                base,
                keys,
                second,
                shape: Shape::new(),
                copied: OnceCell::new(),
                hint: Cell::new(0),
                metas: Default::default(),
            }));
            self.end(Type::Message(index));
            cell.get().map(|b| &**b)
        }
    }

    unsafe fn enumeration(&self, l: *mut lua_State, pins: Pins, index: u32) -> Option<&BoundEnum> {
        match self.enums.get(index as usize)?.get() {
            Some(bound) => Some(bound),
            // SAFETY: as the caller promises.
            None => unsafe { self.bind_enum(l, pins, index) },
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn bind_enum(&self, l: *mut lua_State, pins: Pins, index: u32) -> Option<&BoundEnum> {
        let plan = self.set.enumeration(index)?;
        let n = plan.names.len();
        let count = plan.values().count();
        let base = self.begin(Type::Enum(index), n + count);
        // SAFETY: as in `bind_message`.
        unsafe {
            pin_names(l, pins, base, plan.names.iter().map(|n| &**n));
            pin_names(l, pins, base + n as Slot, plan.values().map(|(name, _)| name));
            let addresses = (0..count).map(|i| (pin_address(l, pins, base + (n + i) as Slot), i as u32));
            let names = Addresses::new(count, addresses);
            let numbers = plan.values().map(|(_, number)| number).collect();
            let cell = self.enums.get(index as usize)?;
            let _ = cell.set(Box::new(BoundEnum { base, names, numbers }));
            self.end(Type::Enum(index));
            cell.get().map(|b| &**b)
        }
    }

    /// Pushes the name of `number`, or the number if the enum lacks it. May raise.
    ///
    /// # Safety
    /// The table of pins, three free slots.
    #[inline(always)]
    pub unsafe fn push_enum(&self, l: *mut lua_State, pins: Pins, index: u32, number: i32) {
        // SAFETY: as the caller promises.
        unsafe {
            if let Some(position) = self.set.enumeration(index).and_then(|e| e.position(number))
                && let Some(bound) = self.enumeration(l, pins, index)
            {
                lua_rawgeti(l, pins.table, bound.base + position as Slot);
            } else {
                lua_pushinteger(l, number as Int);
            }
        }
    }

    /// The number whose name has `address`, if it is a short string. May raise.
    ///
    /// # Safety
    /// The table of pins, three free slots.
    #[inline(always)]
    pub unsafe fn enum_number(&self, l: *mut lua_State, pins: Pins, index: u32, address: usize) -> Option<i32> {
        // SAFETY: as the caller promises.
        let bound = unsafe { self.enumeration(l, pins, index)? };
        bound.numbers.get(bound.names.find(address)? as usize).copied()
    }
}

/// Pins names from `base` on. Those that stand there already stay: addresses may have been taken of them.
unsafe fn pin_names<'n>(l: *mut lua_State, pins: Pins, base: Slot, names: impl Iterator<Item = &'n str>) {
    // SAFETY: the caller has the table of pins and three free slots.
    unsafe {
        for (i, name) in names.enumerate() {
            let pin = base + i as Slot;
            // This may run a finalizer, which may pin the same names.
            push_bytes(l, name.as_bytes());
            lua_rawgeti(l, pins.table, pin);
            if lua_type(l, -1) == LUA_TNIL {
                lua_pushvalue(l, -2);
                lua_rawseti(l, pins.table, pin);
            }
            pop(l, 2);
        }
    }
}

unsafe fn pin_address(l: *mut lua_State, pins: Pins, pin: Slot) -> usize {
    // SAFETY: the caller has the table of pins and a free slot.
    unsafe {
        lua_rawgeti(l, pins.table, pin);
        let address = string_address(l, -1);
        pop(l, 1);
        address
    }
}
