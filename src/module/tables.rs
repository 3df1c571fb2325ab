//! Functions about message tables: their defaults, and what is set in them.

use std::ffi::c_int;

use super::{no_type, string_argument, table_argument};
use crate::codec;
use crate::state::Instance;
use crate::vm::Pins;
use crate::vm::api::*;
use crate::vm::raise;

pub unsafe extern "C-unwind" fn default(l: *mut lua_State) -> c_int {
    // SAFETY: the pins on the stack keep the epoch.
    unsafe {
        let instance = Instance::of(l);
        let epoch = instance.epoch();
        let Some(m) = epoch.message(l, 1) else { raise(l, &no_type(l, epoch, "default")) };
        table_argument(l, 2, "default");
        lua_settop(l, 2);
        lua_pushvalue(l, lua_upvalueindex(2));
        let rules = instance.options.get().rules;
        codec::attach(l, Pins { table: 3 }, &epoch.bindings, m, 2, &rules);
        lua_settop(l, 2);
        1
    }
}

pub unsafe extern "C-unwind" fn extract(l: *mut lua_State) -> c_int {
    // SAFETY: the table stays on the stack.
    unsafe {
        table_argument(l, 1, "extract");
        lua_settop(l, 1);
        codec::extract(l, 1);
        1
    }
}

pub unsafe extern "C-unwind" fn has(l: *mut lua_State) -> c_int {
    // SAFETY: the table and the name stay on the stack.
    unsafe {
        table_argument(l, 1, "has");
        string_argument(l, 2, "has");
        let set = codec::has(l, 1, 2);
        lua_pushboolean(l, c_int::from(set));
        1
    }
}
