//! The functions of the module: their arguments, and what they do with them.

use std::ffi::{CStr, c_int};
use std::fmt::Write;

use crate::codec::{self, FlatSink, StackSource, TEXT, TableSink};
use crate::error::{DecodeError, EncodeError, Text};
use crate::kernel::{self, Decoding, Encoding};
use crate::options;
use crate::schema::{Set, unknown_type};
use crate::state::{Epoch, Instance, Options, PIN_FUNCTIONS, Registered, UPVALUE_PINS};
use crate::vm::api::*;
use crate::vm::{BadArgument, Pins, expected, input_at, pop, push_owner, raise, raw_set_str, string_at};
use crate::wire::Writer;

type Function = unsafe extern "C-unwind" fn(*mut lua_State) -> c_int;

const FUNCTIONS: [(&str, Function); 17] = [
    ("register", register),
    ("register_file", register_file),
    ("encode", encode),
    ("decode", decode),
    ("pack", pack),
    ("unpack", unpack),
    ("check", check),
    ("enum_id", enum_id),
    ("enum_name", enum_name),
    ("default", default),
    ("extract", extract),
    ("has", has),
    ("lasterror", lasterror),
    ("option", option),
    ("new", new),
    ("clear", clear),
    (ENCODE_BUFFER, encode_buffer),
];

/// A helper of `encode` on Luas whose C functions cannot be yielded across; not exported.
const ENCODE_BUFFER: &str = "encode_buffer";

/// The largest message, 2 GiB less a byte ("Message Size" in the specification).
const LARGEST: usize = i32::MAX as usize;

/// Opens the module: pushes the table of a new default instance.
///
/// # Safety
/// Called by Lua as a C function.
pub unsafe extern "C-unwind" fn open(l: *mut lua_State) -> c_int {
    // SAFETY: a C function has 20 free slots.
    unsafe {
        // Moved out of its box before the raise, which runs no destructor.
        let wrong = crate::vm::check_version(l).err().map(|text| *text);
        if let Some(text) = wrong {
            raise(l, &text);
        }
        push_instance(l);
    }
    1
}

/// Pushes the table of a new instance. May raise.
unsafe fn push_instance(l: *mut lua_State) {
    // SAFETY: room is asked for. Stack: owner pins functions module.
    unsafe {
        lua_settop(l, 1);
        if lua_checkstack(l, 40) == 0 {
            raise(l, &Text::of("stack overflow"));
        }
        let instance = push_owner(l, Instance::new);
        let owner = lua_gettop(l);
        lua_pushnil(l);
        (*instance).renew(l, owner + 1);
        lua_remove(l, owner + 1);
        let pins = owner + 1;
        crate::vm::pin_boxed(l, pins);
        lua_createtable(l, 0, 0);
        for pin in crate::vm::BOXED_PINS {
            lua_rawgeti(l, pins, pin);
            lua_rawseti(l, -2, pin);
        }
        lua_rawseti(l, pins, codec::PIN_METAS);
        lua_createtable(l, FUNCTIONS.len() as c_int, 0);
        lua_pushvalue(l, -1);
        lua_rawseti(l, pins, PIN_FUNCTIONS);
        let functions = pins + 1;
        lua_createtable(l, 0, FUNCTIONS.len() as c_int + 2);
        for (i, (name, function)) in FUNCTIONS.iter().enumerate() {
            lua_pushvalue(l, owner);
            lua_pushvalue(l, pins);
            lua_pushcclosure(l, *function, 2);
            lua_pushvalue(l, -1);
            lua_rawseti(l, functions, i as Slot + 1);
            raw_set_str(l, -2, name);
        }
        crate::vm::wrap_encode(l, functions + 1, ENCODE_BUFFER);
        lua_pushnil(l);
        raw_set_str(l, functions + 1, ENCODE_BUFFER);
        push_bytes(l, env!("CARGO_PKG_VERSION").as_bytes());
        raw_set_str(l, functions + 1, "_VERSION");
        push_bytes(l, codec::UNKNOWN_KEY.as_bytes());
        raw_set_str(l, functions + 1, "UNKNOWN");
    }
}

/// Raises the error of argument `n` of `function`.
#[cold]
#[inline(never)]
pub unsafe fn bad_argument(l: *mut lua_State, n: c_int, function: &str, why: BadArgument) -> ! {
    // SAFETY: the callers hold no value with a destructor.
    unsafe { raise(l, &Text::of(format_args!("bad argument #{n} to '{function}' ({why})"))) }
}

/// The string that is argument `n`.
unsafe fn string_argument<'a>(l: *mut lua_State, n: c_int, function: &str) -> &'a [u8] {
    // SAFETY: arguments stay on the stack.
    unsafe {
        match string_at(l, n) {
            Some(bytes) => bytes,
            None => bad_argument(l, n, function, expected("string", l, n)),
        }
    }
}

unsafe fn table_argument(l: *mut lua_State, n: c_int, function: &str) {
    // SAFETY: arguments stay on the stack.
    unsafe {
        if lua_type(l, n) != LUA_TTABLE {
            bad_argument(l, n, function, expected("table", l, n));
        }
    }
}

/// The error of the argument 1 that names no message type.
#[cold]
#[inline(never)]
unsafe fn no_type(l: *mut lua_State, epoch: &Epoch, function: &str) -> Text {
    // SAFETY: arguments stay on the stack.
    unsafe {
        let name = string_argument(l, 1, function);
        Text::of(unknown_type(epoch.set(), &String::from_utf8_lossy(name)))
    }
}

unsafe extern "C-unwind" fn register(l: *mut lua_State) -> c_int {
    // SAFETY: registering calls nothing of Lua's.
    unsafe {
        let bytes = string_argument(l, 1, "register");
        let outcome = Instance::of(l).register(bytes);
        finish_register(l, outcome)
    }
}

unsafe extern "C-unwind" fn register_file(l: *mut lua_State) -> c_int {
    // SAFETY: registering calls nothing of Lua's.
    unsafe {
        let path = string_argument(l, 1, "register_file");
        let outcome = Instance::of(l).register_file(path);
        finish_register(l, outcome)
    }
}

unsafe fn finish_register(l: *mut lua_State, outcome: Registered) -> c_int {
    // SAFETY: the functions of an instance have its owner and its pins.
    unsafe {
        let instance = Instance::of(l);
        match outcome {
            Registered::Failed => {
                let text = instance.last_error().unwrap_or_default();
                raise(l, &text)
            }
            Registered::Changed => instance.renew(l, lua_upvalueindex(2)),
            Registered::Known => {}
        }
        // Lists of missing imports and of replaced files will stand beside it.
        lua_pushboolean(l, 1);
        lua_pushnil(l);
        lua_pushnil(l);
        3
    }
}

/// Encodes argument 2 as the type that argument 1 names, into a writer of the instance.
/// Leaves arguments and pins on the stack.
#[inline(always)]
unsafe fn write_table(l: *mut lua_State, instance: &Instance, arguments: c_int) -> *mut Writer {
    // SAFETY: the pins on the stack keep the epoch. No value with a destructor is in this frame:
    // the writer is the instance's.
    unsafe {
        let epoch = instance.epoch();
        let Some(m) = epoch.message(l, 1) else { raise(l, &no_type(l, epoch, "encode")) };
        lua_pushvalue(l, lua_upvalueindex(2));
        let pins = arguments + 1;
        let options = instance.options.get();
        let writer = instance.take_writer();
        let mut source = StackSource::<false> {
            l,
            pins: Pins { table: pins },
            set: epoch.set(),
            bindings: Some(&epoch.bindings),
            rules: options.rules,
            trace: &instance.trace,
            top: pins,
            room: 0,
            base: 0,
            values: 0,
            text: [0; TEXT],
        };
        let mut cx = encoding(instance, epoch.set(), &options);
        let result = kernel::encode(&mut source, 2, m, &mut *writer, &mut cx);
        if result.is_err() || (*writer).len() > LARGEST {
            encode_failed(l, instance, writer, &m.name, result.err());
        }
        writer
    }
}

fn encoding<'a>(instance: &'a Instance, set: &'a Set, options: &Options) -> Encoding<'a> {
    Encoding { set, trace: &instance.trace, budget: options.budget(), required: options.required, utf8: options.utf8() }
}

#[cold]
#[inline(never)]
unsafe fn encode_failed(
    l: *mut lua_State,
    instance: &Instance,
    writer: *mut Writer,
    root: &str,
    error: Option<EncodeError>,
) -> ! {
    let mut text = Text::new();
    if error.is_none() {
        instance.trace.detail(format_args!("message larger than 2 GiB"));
    }
    instance.trace.tell(root, None, &mut text);
    // SAFETY: the writer is not used any more; a raised error's value is on top.
    unsafe {
        instance.give_writer(writer);
        if error == Some(EncodeError::Raised) {
            lua_error(l);
        }
        raise(l, &text)
    }
}

unsafe extern "C-unwind" fn encode(l: *mut lua_State) -> c_int {
    // SAFETY: the written bytes are the writer's until it is given back.
    unsafe {
        let top = lua_gettop(l);
        if top > 2 && lua_type(l, 3) != LUA_TNIL {
            return encode_with(l, top);
        }
        lua_settop(l, 2);
        let instance = Instance::of(l);
        let writer = write_table(l, instance, 2);
        push_bytes(l, (*writer).written());
        instance.give_writer(writer);
        1
    }
}

/// Encodes, and moves the bytes to memory that Lua owns: leaves arguments, pins and a userdata.
/// Answers where they are, and how many.
unsafe fn write_buffer(l: *mut lua_State, arguments: c_int) -> (*mut u8, usize) {
    // SAFETY: the userdata is as large as what is copied to it.
    unsafe {
        let instance = Instance::of(l);
        let writer = write_table(l, instance, arguments);
        let n = (*writer).len();
        lua_settop(l, arguments + 1);
        let buffer = lua_newuserdata(l, n.max(1)).cast::<u8>();
        buffer.copy_from_nonoverlapping((*writer).written().as_ptr(), n);
        instance.give_writer(writer);
        (buffer, n)
    }
}

/// `encode` with a function, which gets the bytes and may yield.
#[cold]
#[inline(never)]
unsafe fn encode_with(l: *mut lua_State, top: c_int) -> c_int {
    // SAFETY: the buffer stays at index 1 while the function runs.
    unsafe {
        if lua_checkstack(l, 8) == 0 {
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
unsafe extern "C-unwind" fn encode_buffer(l: *mut lua_State) -> c_int {
    // SAFETY: the caller keeps the buffer while it uses the pointer.
    unsafe {
        lua_settop(l, 2);
        let (buffer, n) = write_buffer(l, 2);
        lua_pushlightuserdata(l, buffer.cast());
        lua_pushinteger(l, n as Int);
        3
    }
}

fn decoding<'a>(instance: &'a Instance, set: &'a Set, options: &Options) -> Decoding<'a> {
    Decoding { set, trace: &instance.trace, budget: options.budget(), required: options.required, utf8: options.utf8() }
}

unsafe extern "C-unwind" fn decode(l: *mut lua_State) -> c_int {
    // SAFETY: the pins on the stack keep the epoch, the arguments the input. No value with a
    // destructor is in this frame.
    unsafe {
        let top = lua_gettop(l);
        let instance = Instance::of(l);
        let epoch = instance.epoch();
        let Some(m) = epoch.message(l, 1) else { return decode_without_type(l, instance, epoch) };
        let input = match input_at(l, 2, top) {
            Ok(input) => input,
            Err(why) => bad_argument(l, if matches!(why, BadArgument::Length) { 3 } else { 2 }, "decode", why),
        };
        let pins = if top == 2 {
            3
        } else {
            lua_settop(l, 3);
            4
        };
        lua_pushvalue(l, lua_upvalueindex(2));
        let options = instance.options.get();
        // A call that is interrupted by this one keeps its part.
        let start = instance.unknown.borrow().len();
        let mut sink = TableSink {
            l,
            pins: Pins { table: pins },
            bindings: &epoch.bindings,
            rules: options.rules,
            unknown: &instance.unknown,
            unknown_len: start,
        };
        let mut cx = decoding(instance, epoch.set(), &options);
        let result = kernel::decode(input, m, &mut sink, &mut cx);
        if instance.unknown.borrow().len() != start {
            release_unknown(instance, start);
        }
        match result {
            Ok(()) => 1,
            Err(error) => decode_failed(l, instance, &m.name, input, error),
        }
    }
}

/// Cuts the scratch of unknown fields back, and gives the memory of huge ones back.
#[cold]
fn release_unknown(instance: &Instance, start: usize) {
    const KEPT: usize = 1 << 20;
    let mut unknown = instance.unknown.borrow_mut();
    unknown.truncate(start);
    if start == 0 && unknown.capacity() > KEPT {
        *unknown = Vec::new();
    }
}

fn told(instance: &Instance, root: &str, input: &[u8], error: DecodeError) -> Text {
    let mut text = Text::new();
    instance.trace.tell(root, Some(error.kind), &mut text);
    let _ = write!(text, ", at byte {}", error.offset(input));
    text
}

#[cold]
#[inline(never)]
unsafe fn decode_failed(l: *mut lua_State, instance: &Instance, root: &str, input: &[u8], error: DecodeError) -> c_int {
    let text = told(instance, root, input, error);
    // SAFETY: two free slots after the settop.
    unsafe { report(l, instance, &text) }
}

/// Returns `false, text`, and remembers the text.
unsafe fn report(l: *mut lua_State, instance: &Instance, text: &Text) -> c_int {
    instance.set_last_error(text.as_bytes());
    // SAFETY: the arguments are not needed any more, so there is room.
    unsafe {
        lua_settop(l, 0);
        lua_pushboolean(l, 0);
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
        if let Err(why) = input_at(l, 2, lua_gettop(l)) {
            bad_argument(l, 2, "decode", why);
        }
        report(l, instance, &text)
    }
}

#[cold]
#[inline(never)]
unsafe fn no_pattern(l: *mut lua_State, instance: &Instance, function: &str) -> ! {
    // SAFETY: no value with a destructor is in the frames below.
    unsafe {
        string_argument(l, 1, function);
        let mut text = Text::new();
        instance.trace.tell_detail(&mut text);
        raise(l, &text)
    }
}

unsafe extern "C-unwind" fn pack(l: *mut lua_State) -> c_int {
    // SAFETY: the owner on the stack keeps the pattern and its set.
    unsafe {
        let instance = Instance::of(l);
        let epoch = instance.epoch();
        let values = lua_gettop(l) - 1;
        let Ok(pattern) = epoch.pattern(l, 1, &instance.trace) else { no_pattern(l, instance, "pack") };
        let names = pattern.slots.len() as c_int;
        if values != names {
            fill_values(l, &pattern.plan.name, values, names);
        }
        let options = instance.options.get();
        let writer = instance.take_writer();
        let mut source = StackSource::<true> {
            l,
            pins: UPVALUE_PINS,
            set: &pattern.set,
            bindings: None,
            rules: options.rules,
            trace: &instance.trace,
            top: names + 2,
            room: 0,
            base: 2,
            values: names,
            text: [0; TEXT],
        };
        let mut cx = encoding(instance, &pattern.set, &options);
        cx.required = false;
        let result = kernel::encode(&mut source, 2, &pattern.plan, &mut *writer, &mut cx);
        if result.is_err() || (*writer).len() > LARGEST {
            encode_failed(l, instance, writer, &pattern.plan.name, result.err());
        }
        push_bytes(l, (*writer).written());
        instance.give_writer(writer);
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
        if lua_checkstack(l, names - values + 8) == 0 {
            raise(l, &Text::of("stack overflow"));
        }
        for _ in values..names {
            lua_pushnil(l);
            lua_insert(l, values + 2);
        }
    }
}

unsafe extern "C-unwind" fn unpack(l: *mut lua_State) -> c_int {
    // SAFETY: the owner on the stack keeps the pattern and its set, the arguments the input.
    unsafe {
        let top = lua_gettop(l);
        let instance = Instance::of(l);
        let epoch = instance.epoch();
        let input = match input_at(l, 2, top) {
            Ok(input) => input,
            Err(why) => bad_argument(l, if matches!(why, BadArgument::Length) { 3 } else { 2 }, "unpack", why),
        };
        let Ok(pattern) = epoch.pattern(l, 1, &instance.trace) else { no_pattern(l, instance, "unpack") };
        let count = pattern.slots.len() as u16;
        // A C function has 20 free slots; the owner and an open list or map need up to ten.
        if count > 8 && lua_checkstack(l, c_int::from(count) + 16) == 0 {
            raise(l, &Text::of("stack overflow"));
        }
        let options = instance.options.get();
        let base = top.max(2) + 2;
        let mut sink =
            FlatSink { l, pins: UPVALUE_PINS, pattern, rules: options.rules, base, next: 0, in_place: false };
        let mut cx = decoding(instance, &pattern.set, &options);
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

unsafe extern "C-unwind" fn check(l: *mut lua_State) -> c_int {
    // SAFETY: arguments stay on the stack.
    unsafe {
        let instance = Instance::of(l);
        let set = instance.epoch().set();
        let text = |n| string_at(l, n).and_then(|t| std::str::from_utf8(t).ok());
        let why = match (text(1), lua_type(l, 2) <= LUA_TNIL) {
            (Some(name), true) if set.find(name).is_some() => None,
            (Some(name), false) if set.find_message(name).is_some() => {
                let known = text(2).is_some_and(|f| set.find_message(name).is_some_and(|m| m.by_name(f).is_some()));
                (!known).then(|| Text::of(format_args!("{name}: unknown field {}", shown(l, 2))))
            }
            (Some(name), _) => Some(Text::of(unknown_type(set, name))),
            (None, _) => Some(Text::of(format_args!("unknown type {}", shown(l, 1)))),
        };
        if let Some(text) = &why {
            instance.set_last_error(text.as_bytes());
        }
        lua_pushboolean(l, c_int::from(why.is_none()));
        1
    }
}

unsafe fn shown(l: *mut lua_State, index: c_int) -> String {
    // SAFETY: arguments stay on the stack.
    unsafe { codec::Shown::at(l, index).to_string() }
}

unsafe extern "C-unwind" fn enum_id(l: *mut lua_State) -> c_int {
    // SAFETY: arguments stay on the stack.
    unsafe {
        let name = string_argument(l, 1, "enum_id");
        let value = string_argument(l, 2, "enum_id");
        let set = Instance::of(l).epoch().set();
        let number = std::str::from_utf8(name)
            .ok()
            .and_then(|n| set.find_enum(n))
            .and_then(|e| e.number(std::str::from_utf8(value).ok()?));
        match number {
            Some(number) => lua_pushinteger(l, number as Int),
            None => lua_pushnil(l),
        }
        1
    }
}

unsafe extern "C-unwind" fn enum_name(l: *mut lua_State) -> c_int {
    // SAFETY: arguments stay on the stack; the epoch's pins are pushed before the name.
    unsafe {
        let name = string_argument(l, 1, "enum_name");
        if lua_type(l, 2) != LUA_TNUMBER {
            bad_argument(l, 2, "enum_name", expected("number", l, 2));
        }
        let number = to_integer(l, 2).and_then(|n| i32::try_from(n).ok());
        let epoch = Instance::of(l).epoch();
        lua_pushvalue(l, lua_upvalueindex(2));
        let value = std::str::from_utf8(name).ok().and_then(|n| epoch.set().find_enum(n)).and_then(|e| e.name(number?));
        match value {
            Some(value) => push_bytes(l, value.as_bytes()),
            None => lua_pushnil(l),
        }
        1
    }
}

unsafe extern "C-unwind" fn default(l: *mut lua_State) -> c_int {
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

unsafe extern "C-unwind" fn extract(l: *mut lua_State) -> c_int {
    // SAFETY: the table stays on the stack.
    unsafe {
        table_argument(l, 1, "extract");
        lua_settop(l, 1);
        codec::extract(l, 1);
        1
    }
}

unsafe extern "C-unwind" fn has(l: *mut lua_State) -> c_int {
    // SAFETY: the table and the name stay on the stack.
    unsafe {
        table_argument(l, 1, "has");
        string_argument(l, 2, "has");
        let set = codec::has(l, 1, 2);
        lua_pushboolean(l, c_int::from(set));
        1
    }
}

unsafe extern "C-unwind" fn lasterror(l: *mut lua_State) -> c_int {
    // SAFETY: a free slot.
    unsafe {
        match Instance::of(l).last_error() {
            Some(text) => push_bytes(l, text.as_bytes()),
            None => lua_pushnil(l),
        }
        1
    }
}

unsafe extern "C-unwind" fn option(l: *mut lua_State) -> c_int {
    // SAFETY: the functions of an instance have its owner and its pins.
    unsafe {
        let name = string_argument(l, 1, "option");
        lua_settop(l, 2);
        options::exchange(l, Instance::of(l), name, 2, lua_upvalueindex(2));
        1
    }
}

unsafe extern "C-unwind" fn new(l: *mut lua_State) -> c_int {
    // SAFETY: the options stay at index 1; the new instance's own `option` sets them.
    unsafe {
        if lua_type(l, 1) > LUA_TNIL {
            table_argument(l, 1, "new");
        }
        push_instance(l);
        let module = lua_gettop(l);
        if lua_type(l, 1) != LUA_TTABLE {
            return 1;
        }
        lua_pushnil(l);
        while lua_next(l, 1) != 0 {
            let (key, value) = (module + 1, module + 2);
            if lua_type(l, value) == LUA_TNIL {
                continue;
            }
            crate::vm::raw_get_str(l, module, "option");
            lua_pushvalue(l, key);
            lua_pushvalue(l, value);
            lua_call(l, 2, 0);
            pop(l, 1);
        }
        1
    }
}

unsafe extern "C-unwind" fn clear(l: *mut lua_State) -> c_int {
    // SAFETY: the functions of an instance have its owner and its pins.
    unsafe {
        let instance = Instance::of(l);
        instance.clear();
        instance.renew(l, lua_upvalueindex(2));
        0
    }
}

/// The name under which Lua looks for the module.
pub const NAME: &CStr = c"protobuf";
