//! `encode` and `pack`.

use std::ffi::c_int;

use super::{no_pattern, no_type, traced};
use crate::codec::{DOTTED, FLAT, StackSource, TABLES};
use crate::error::{EncodeError, Text};
use crate::kernel::{self, Context};
use crate::schema::{MessagePlan, Paths, Pattern, Set};
use crate::state::{Instance, Options, UPVALUE_PINS};
use crate::vm::api::*;
use crate::vm::{Lent, Pins, has_room, raise};
use crate::wire::Writer;

/// Metamethods that encode may nest so deep; beyond, only flat messages are encoded, until Lua's
/// own limit.
const MOST_NESTED: u32 = 100;

/// Encodes argument 2 as the type that argument 1 names, into a writer of the instance.
/// Leaves arguments and pins on the stack.
///
/// # Safety
/// As for [`write`].
#[inline(always)]
pub(super) unsafe fn write_table(
    l: *mut lua_State,
    instance: &Instance,
    options: &Options,
    arguments: c_int,
) -> *mut Lent<Writer> {
    // SAFETY: the pins on the stack keep the epoch. No value with a destructor is in this frame:
    // the writer is the instance's.
    unsafe {
        let epoch = instance.epoch();
        let Some(m) = epoch.message(l, 1) else { raise(l, &no_type(l, epoch, "encode")) };
        lua_pushvalue(l, lua_upvalueindex(2));
        let pins = arguments + 1;
        let mut source = StackSource::<TABLES> {
            l,
            pins: Pins { table: pins },
            set: epoch.set(),
            bindings: Some(&epoch.bindings),
            rules: options.rules,
            trace: &instance.trace,
            top: pins,
            nesting: &instance.nesting,
            called: false,
            known: (0, 0),
            room: 0,
            base: 0,
            values: 0,
        };
        write(instance, &mut source, m, encoding(instance, epoch.set(), options))
    }
}

/// Encodes the message `m` of `source` into a writer of the instance. Raises if that fails.
///
/// # Safety
/// Index 1 has a value that is not needed any more, which lending may replace; no frame up to Lua holds a value with a
/// destructor.
#[inline(always)]
unsafe fn write<const FORM: u8>(
    instance: &Instance,
    source: &mut StackSource<FORM>,
    m: &MessagePlan,
    mut cx: Context,
) -> *mut Lent<Writer> {
    // SAFETY: the writer is this call's alone; no frame holds a value with a destructor.
    unsafe {
        let writer = instance.writers.take(source.l);
        if let Err(error) = kernel::encode(source, 2, m, &mut (*writer).scratch, &mut cx) {
            encode_failed(source.l, instance, writer, &m.name, error);
        }
        writer
    }
}

fn encoding<'a>(instance: &'a Instance, set: &'a Set, options: &Options) -> Context<'a> {
    let mut cx = options.context(set, &instance.trace);
    let nesting = instance.nesting.get();
    if nesting > 0 {
        // Encodes within encodes share the C stack: they get ever less of it.
        cx.budget.depth = if nesting < MOST_NESTED { cx.budget.depth / (nesting + 1) } else { 0 };
    }
    cx
}

#[cold]
#[inline(never)]
unsafe fn encode_failed(
    l: *mut lua_State,
    instance: &Instance,
    writer: *mut Lent<Writer>,
    root: &str,
    error: EncodeError,
) -> ! {
    let text = traced(instance, root, None);
    // SAFETY: the writer is not used any more; a raised error's value is on top.
    unsafe {
        instance.writers.give(writer);
        if error == EncodeError::Raised {
            lua_error(l);
        }
        raise(l, &text)
    }
}

pub unsafe extern "C-unwind" fn encode(l: *mut lua_State) -> c_int {
    // SAFETY: the written bytes are the writer's until it is given back.
    unsafe {
        let top = lua_gettop(l);
        if top > 2 && lua_type(l, 3) != LUA_TNIL {
            return encode_with(l, top);
        }
        lua_settop(l, 2);
        let instance = Instance::of(l);
        let writer = write_table(l, instance, &instance.options.get(), 2);
        push_bytes(l, (*writer).scratch.written());
        instance.writers.give(writer);
        1
    }
}

/// Encodes, and moves the bytes to memory that Lua owns: leaves arguments, pins and a userdata.
/// Answers where they are, and how many.
unsafe fn write_buffer(l: *mut lua_State, arguments: c_int) -> (*mut u8, usize) {
    // SAFETY: the userdata is as large as what is copied to it.
    unsafe {
        let instance = Instance::of(l);
        let writer = write_table(l, instance, &instance.options.get(), arguments);
        let n = (*writer).scratch.len();
        lua_settop(l, arguments + 1);
        let buffer = lua_newuserdata(l, n.max(1)).cast::<u8>();
        buffer.copy_from_nonoverlapping((*writer).scratch.written().as_ptr(), n);
        instance.writers.give(writer);
        (buffer, n)
    }
}

/// `encode` with a function, which gets the bytes and may yield.
#[cold]
#[inline(never)]
unsafe fn encode_with(l: *mut lua_State, top: c_int) -> c_int {
    // SAFETY: the buffer stays at index 1 while the function runs.
    unsafe {
        if !has_room(l, 8) {
            raise(l, &Text::of("stack overflow"));
        }
        let (buffer, n) = write_buffer(l, top);
        lua_replace(l, 1);
        lua_settop(l, top);
        lua_pushlightuserdata(l, buffer.cast());
        lua_insert(l, 4);
        lua_pushinteger(l, n as Int);
        lua_insert(l, 5);
        crate::vm::call_yieldable(l, top - 3 + 2, 3)
    }
}

/// (type, table) to buffer, pointer, length.
pub unsafe extern "C-unwind" fn encode_buffer(l: *mut lua_State) -> c_int {
    // SAFETY: the caller keeps the buffer while it uses the pointer.
    unsafe {
        lua_settop(l, 2);
        let (buffer, n) = write_buffer(l, 2);
        lua_pushlightuserdata(l, buffer.cast());
        lua_pushinteger(l, n as Int);
        3
    }
}

pub unsafe extern "C-unwind" fn pack(l: *mut lua_State) -> c_int {
    // SAFETY: the owner on the stack keeps the pattern and its set.
    unsafe {
        let instance = Instance::of(l);
        let epoch = instance.epoch();
        let values = lua_gettop(l) - 1;
        let Ok(pattern) = epoch.pattern(l, 1, &instance.trace) else { no_pattern(l, instance, "pack") };
        match &pattern.paths {
            None => pack_values::<FLAT>(l, instance, pattern, values),
            Some(paths) => pack_paths(l, instance, pattern, paths, values),
        }
    }
}

/// `pack` of a pattern with dotted names.
#[inline(never)]
unsafe fn pack_paths(l: *mut lua_State, instance: &Instance, pattern: &Pattern, paths: &Paths, values: c_int) -> c_int {
    // SAFETY: as in `pack`; no value with a destructor is in this frame.
    unsafe {
        if let Some(name) = &paths.through_list {
            let root = &pattern.plan.name;
            raise(l, &Text::of(format_args!("{root}: {name} goes through a list, so it cannot be packed")));
        }
        pack_values::<DOTTED>(l, instance, pattern, values)
    }
}

/// Encodes the `values` arguments below the pattern's owner, which is on top.
#[inline(always)]
unsafe fn pack_values<const FORM: u8>(
    l: *mut lua_State,
    instance: &Instance,
    pattern: &Pattern,
    values: c_int,
) -> c_int {
    // SAFETY: as in `pack`; the written bytes are the writer's until it is given back.
    unsafe {
        let names = c_int::from(pattern.count);
        if values != names {
            fill_values(l, &pattern.plan.name, values, names);
        }
        let options = instance.options.get();
        let mut source = StackSource::<FORM> {
            l,
            pins: UPVALUE_PINS,
            set: &pattern.set,
            bindings: None,
            rules: options.rules,
            trace: &instance.trace,
            top: names + 2,
            nesting: &instance.nesting,
            called: false,
            known: (0, 0),
            room: 0,
            base: 2,
            values: names,
        };
        let mut cx = encoding(instance, &pattern.set, &options);
        cx.required = false;
        let writer = write(instance, &mut source, &pattern.plan, cx);
        push_bytes(l, (*writer).scratch.written());
        instance.writers.give(writer);
        1
    }
}

/// Puts nil in the place of missing values, below the owner on top; too many are an error.
#[cold]
unsafe fn fill_values(l: *mut lua_State, root: &str, values: c_int, names: c_int) {
    // SAFETY: room is asked for; no value with a destructor is in the frames below.
    unsafe {
        if values > names {
            raise(l, &Text::of(format_args!("{root}: {values} values for {names} names")));
        }
        if !has_room(l, names - values + 8) {
            raise(l, &Text::of("stack overflow"));
        }
        for _ in values..names {
            lua_pushnil(l);
            lua_insert(l, values + 2);
        }
    }
}
