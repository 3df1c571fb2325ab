//! The table of pins of an epoch, and that of its metatables: how they begin.

use std::ffi::c_int;
use std::rc::Rc;
use std::sync::Arc;

use super::epoch::{Epoch, FIRST_PIN, PIN_TYPES};
use crate::codec::{PIN_ARRAY, PIN_EPOCH, PIN_MAP, PIN_SET, PIN_UNKNOWN, UNKNOWN_KEY};
use crate::schema::Types;
use crate::vm::api::*;
use crate::vm::{PIN_BOXED, PIN_INT64, PIN_UINT64, Pins, push_owner, set_bytes};

/// Pin of the list of the instance's functions, whose pins change with the epoch.
pub const PIN_FUNCTIONS: Slot = 10;

/// The pins of the running function, as upvalue.
pub const UPVALUE_PINS: Pins = Pins { table: lua_upvalueindex(2) };

/// The pins that the table of metatables has too, since it outlives the table of pins.
pub(super) const SHARED: [Slot; 5] = [PIN_INT64, PIN_UINT64, PIN_BOXED, PIN_ARRAY, PIN_MAP];

/// Pushes the table of pins of a new epoch with `types`, which has room for the pins that it lacks. May raise.
pub(super) unsafe fn push_pins(l: *mut lua_State, types: &Arc<Types>) -> *const Rc<Epoch> {
    // SAFETY: six free slots. The types are cloned by `push_owner`, which lets nothing jump over that.
    unsafe {
        lua_createtable(l, FIRST_PIN as c_int, 0);
        let pins = lua_gettop(l);
        set_bytes(l, pins, PIN_UNKNOWN, UNKNOWN_KEY.as_bytes());
        let epoch = push_owner(l, || Rc::new(Epoch::new(types.clone())));
        lua_rawseti(l, pins, PIN_EPOCH);
        push_owner(l, || types.set.clone());
        lua_rawseti(l, pins, PIN_SET);
        // Room for the caches, so that no later write to them allocates.
        for pin in PIN_TYPES..FIRST_PIN {
            lua_pushboolean(l, 0);
            lua_rawseti(l, pins, pin);
        }
        epoch
    }
}

/// Pushes a table for metatables, with room for the pins that it shares. May raise.
pub(super) unsafe fn push_metas(l: *mut lua_State) {
    // SAFETY: a free slot.
    unsafe { lua_createtable(l, PIN_MAP as c_int, 0) };
}

/// Copies these pins from one table to another, which has room for them, so that nothing raises.
///
/// # Safety
/// Tables at both indexes, which are not relative to the top; a free slot.
pub unsafe fn copy_pins(l: *mut lua_State, from: c_int, to: c_int, pins: &[Slot]) {
    // SAFETY: as the caller promises.
    unsafe {
        for pin in pins {
            lua_rawgeti(l, from, *pin);
            lua_rawseti(l, to, *pin);
        }
    }
}
