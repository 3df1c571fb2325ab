//! `decode` and `unpack`.

use std::ffi::c_int;
use std::fmt::Write;

use super::{input_argument, no_pattern, no_type, traced};
use crate::codec::{FlatSink, Flood, PathSink, TableSink};
use crate::error::{DecodeError, Text};
use crate::kernel::{self};
use crate::schema::{MessagePlan, Paths, Pattern};
use crate::state::{Epoch, Instance, Options, UPVALUE_PINS};
use crate::vm::api::*;
use crate::vm::{Pins, has_room, raise};

pub unsafe extern "C-unwind" fn decode(l: *mut lua_State) -> c_int {
    // SAFETY: the pins on the stack keep the epoch, the arguments the input. No value with a
    // destructor is in this frame.
    unsafe {
        let top = lua_gettop(l);
        let instance = Instance::of(l);
        let epoch = instance.epoch();
        let Some(m) = epoch.message(l, 1) else { return decode_without_type(l, instance, epoch) };
        let input = input_argument(l, top, "decode");
        let pins = if top == 2 {
            3
        } else {
            lua_settop(l, 3);
            4
        };
        lua_pushvalue(l, lua_upvalueindex(2));
        match push_message(l, instance, epoch, Pins { table: pins }, instance.options.get(), m, input) {
            Ok(()) => 1,
            Err(error) => decode_failed(l, instance, &m.name, input, error),
        }
    }
}

/// Pushes the table of the message `m` that `input` is. May raise.
///
/// # Safety
/// Index 1 has a value that is not needed any more, which lending may replace. The epoch's table of pins is on the stack,
/// and so is what keeps `input`; no frame up to Lua holds a value with a destructor.
#[inline(always)]
pub(super) unsafe fn push_message(
    l: *mut lua_State,
    instance: &Instance,
    epoch: &Epoch,
    pins: Pins,
    options: Options,
    m: &MessagePlan,
    input: &[u8],
) -> Result<(), DecodeError> {
    let mut sink = TableSink {
        l,
        pins,
        bindings: &epoch.bindings,
        rules: options.rules,
        unknown: &instance.unknown,
        gathered: std::ptr::null_mut(),
        unknown_len: 0,
        flood: Flood::new(&instance.watch),
    };
    let mut cx = options.context(epoch.set(), &instance.trace);
    let result = kernel::decode(input, m, &mut sink, &mut cx);
    if !sink.gathered.is_null() {
        // SAFETY: the sink has it from there, and ends here.
        unsafe { instance.unknown.give(sink.gathered) };
    }
    result
}

/// The text of `error`, which arose in `input`.
pub(super) fn told(instance: &Instance, root: &str, input: &[u8], error: DecodeError) -> Text {
    let mut text = traced(instance, root, Some(error.kind));
    let _ = write!(text, ", at byte {}", error.offset(input));
    text
}

#[cold]
#[inline(never)]
unsafe fn decode_failed(l: *mut lua_State, instance: &Instance, root: &str, input: &[u8], error: DecodeError) -> c_int {
    let text = told(instance, root, input, error);
    // SAFETY: two free slots after the settop.
    unsafe { report(l, instance, &text, LUA_TBOOLEAN) }
}

/// Returns `false, text` or `nil, text`, as the type `nothing` says, and remembers the text.
pub(super) unsafe fn report(l: *mut lua_State, instance: &Instance, text: &Text, nothing: c_int) -> c_int {
    instance.set_last_error(text.as_bytes());
    // SAFETY: the arguments are not needed any more, so there is room.
    unsafe {
        lua_settop(l, 0);
        match nothing {
            LUA_TBOOLEAN => lua_pushboolean(l, 0),
            _ => lua_pushnil(l),
        }
        push_bytes(l, text.as_bytes());
    }
    2
}

#[cold]
#[inline(never)]
unsafe fn decode_without_type(l: *mut lua_State, instance: &Instance, epoch: &Epoch) -> c_int {
    // SAFETY: arguments stay on the stack until the report.
    unsafe {
        let text = no_type(l, epoch, "decode");
        input_argument(l, lua_gettop(l), "decode");
        report(l, instance, &text, LUA_TBOOLEAN)
    }
}

pub unsafe extern "C-unwind" fn unpack(l: *mut lua_State) -> c_int {
    // SAFETY: the owner on the stack keeps the pattern and its set, the arguments the input.
    unsafe {
        let top = lua_gettop(l);
        let instance = Instance::of(l);
        let epoch = instance.epoch();
        let input = input_argument(l, top, "unpack");
        let Ok(pattern) = epoch.pattern(l, 1, &instance.trace) else { no_pattern(l, instance, "unpack") };
        if let Some(paths) = &pattern.paths {
            return unpack_paths(l, instance, pattern, paths, input, top.max(2) + 2);
        }
        let count = pattern.count;
        // A C function has 20 free slots; the owner and an open list or map need up to ten.
        if count > 8 && !has_room(l, c_int::from(count) + 16) {
            raise(l, &Text::of("stack overflow"));
        }
        let options = instance.options.get();
        let base = top.max(2) + 2;
        let flood = Flood::new(&instance.watch);
        let mut sink =
            FlatSink { l, pins: UPVALUE_PINS, pattern, rules: options.rules, base, next: 0, in_place: false, flood };
        let mut cx = options.context(&pattern.set, &instance.trace);
        cx.required = false;
        if let Err(error) = kernel::decode(input, &pattern.plan, &mut sink, &mut cx) {
            raise(l, &told(instance, &pattern.plan.name, input, error));
        }
        if sink.next < count {
            sink.fill(count);
        }
        c_int::from(count)
    }
}

/// `unpack` of a pattern with dotted names, whose values stand from `base` on.
#[inline(never)]
unsafe fn unpack_paths(
    l: *mut lua_State,
    instance: &Instance,
    pattern: &Pattern,
    paths: &Paths,
    input: &[u8],
    base: c_int,
) -> c_int {
    // SAFETY: as in `unpack`; the pattern's owner is just below `base`.
    unsafe {
        if !has_room(l, PathSink::room(pattern, paths)) {
            raise(l, &Text::of("stack overflow"));
        }
        let options = instance.options.get();
        let mut sink = PathSink::new(l, UPVALUE_PINS, pattern, paths, options.rules, base, Flood::new(&instance.watch));
        let mut cx = options.context(&pattern.set, &instance.trace);
        cx.required = false;
        if let Err(error) = kernel::decode(input, &pattern.plan, &mut sink, &mut cx) {
            raise(l, &told(instance, &pattern.plan.name, input, error));
        }
        sink.finish();
        c_int::from(pattern.count)
    }
}
