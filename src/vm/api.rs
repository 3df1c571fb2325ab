//! The C API of Lua, with what differs between its versions.
//!
//! The functions on the hot path are bound directly: on 5.1 and LuaJIT mlua's own bindings
//! add calls to some of them. Everything else comes from mlua.

use std::ffi::{c_char, c_int, c_void};

pub use mlua::ffi::{
    LUA_ERRMEM, LUA_REGISTRYINDEX, LUA_TBOOLEAN, LUA_TLIGHTUSERDATA, LUA_TNIL, LUA_TNUMBER, LUA_TSTRING, LUA_TTABLE,
    lua_CFunction, lua_State, lua_call, lua_error, lua_insert, lua_newuserdata, lua_pcall, lua_remove, lua_replace,
    lua_setupvalue, lua_upvalueindex,
};

/// Lua's integer type as the API passes it; before 5.3 numbers are floats all the same.
#[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
pub type Int = i64;
/// Lua's integer type as the API passes it; before 5.3 numbers are floats all the same.
#[cfg(not(any(feature = "lua53", feature = "lua54", feature = "lua55")))]
pub type Int = isize;

/// The index type of `lua_rawgeti` and `lua_rawseti`.
#[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
pub type Slot = i64;
/// The index type of `lua_rawgeti` and `lua_rawseti`.
#[cfg(not(any(feature = "lua53", feature = "lua54", feature = "lua55")))]
pub type Slot = c_int;

/// What `lua_rawget` and its like return: the type of the value from 5.3 on.
#[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
pub type Pushed = c_int;
/// What `lua_rawget` and its like return: the type of the value from 5.3 on.
#[cfg(not(any(feature = "lua53", feature = "lua54", feature = "lua55")))]
pub type Pushed = ();

/// The type of LuaJIT's FFI objects. No other Lua has it.
pub const LUA_TCDATA: c_int = 10;

/// Whether numbers have an integer subtype.
pub const INTEGERS: bool = cfg!(any(feature = "lua53", feature = "lua54", feature = "lua55"));

unsafe extern "C-unwind" {
    pub fn lua_gettop(l: *mut lua_State) -> c_int;
    pub fn lua_settop(l: *mut lua_State, index: c_int);
    pub fn lua_pushvalue(l: *mut lua_State, index: c_int);
    pub fn lua_checkstack(l: *mut lua_State, n: c_int) -> c_int;
    pub fn lua_type(l: *mut lua_State, index: c_int) -> c_int;
    pub fn lua_typename(l: *mut lua_State, t: c_int) -> *const c_char;
    pub fn lua_toboolean(l: *mut lua_State, index: c_int) -> c_int;
    pub fn lua_tolstring(l: *mut lua_State, index: c_int, len: *mut usize) -> *const c_char;
    pub fn lua_touserdata(l: *mut lua_State, index: c_int) -> *mut c_void;
    pub fn lua_topointer(l: *mut lua_State, index: c_int) -> *const c_void;
    pub fn lua_rawequal(l: *mut lua_State, a: c_int, b: c_int) -> c_int;
    pub fn lua_pushnil(l: *mut lua_State);
    pub fn lua_pushnumber(l: *mut lua_State, n: f64);
    pub fn lua_pushinteger(l: *mut lua_State, n: Int);
    pub fn lua_pushboolean(l: *mut lua_State, b: c_int);
    pub fn lua_pushlightuserdata(l: *mut lua_State, p: *mut c_void);
    pub fn lua_pushcclosure(l: *mut lua_State, f: lua_CFunction, n: c_int);
    pub fn lua_createtable(l: *mut lua_State, list: c_int, hash: c_int);
    pub fn lua_rawget(l: *mut lua_State, index: c_int) -> Pushed;
    pub fn lua_rawset(l: *mut lua_State, index: c_int);
    pub fn lua_rawgeti(l: *mut lua_State, index: c_int, n: Slot) -> Pushed;
    pub fn lua_rawseti(l: *mut lua_State, index: c_int, n: Slot);
    pub fn lua_getmetatable(l: *mut lua_State, index: c_int) -> c_int;
    pub fn lua_setmetatable(l: *mut lua_State, index: c_int) -> c_int;
    pub fn lua_next(l: *mut lua_State, index: c_int) -> c_int;
    pub fn lua_gettable(l: *mut lua_State, index: c_int) -> Pushed;
    pub fn lua_concat(l: *mut lua_State, n: c_int);
}

#[cfg(any(feature = "lua51", feature = "luajit"))]
unsafe extern "C-unwind" {
    fn lua_pushlstring(l: *mut lua_State, s: *const c_char, len: usize);
    fn lua_objlen(l: *mut lua_State, index: c_int) -> usize;
    fn lua_tonumber(l: *mut lua_State, index: c_int) -> f64;
    fn lua_isnumber(l: *mut lua_State, index: c_int) -> c_int;
}

#[cfg(not(any(feature = "lua51", feature = "luajit")))]
unsafe extern "C-unwind" {
    fn lua_pushlstring(l: *mut lua_State, s: *const c_char, len: usize) -> *const c_char;
    fn lua_tonumberx(l: *mut lua_State, index: c_int, ok: *mut c_int) -> f64;
}

#[cfg(feature = "lua52")]
unsafe extern "C-unwind" {
    #[link_name = "lua_rawlen"]
    fn lua_objlen(l: *mut lua_State, index: c_int) -> usize;
}

#[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
unsafe extern "C-unwind" {
    fn lua_tointegerx(l: *mut lua_State, index: c_int, ok: *mut c_int) -> Int;
    fn lua_isinteger(l: *mut lua_State, index: c_int) -> c_int;
}

/// Pushes a copy of `bytes`. May raise; may collect before it copies.
///
/// # Safety
/// A free slot.
#[inline(always)]
pub unsafe fn push_bytes(l: *mut lua_State, bytes: &[u8]) {
    // SAFETY: the slice is valid for its length.
    unsafe { lua_pushlstring(l, bytes.as_ptr().cast(), bytes.len()) };
}

/// Pushes `table[n]`, raw, and answers its type where that is told without another call, that is
/// where [`INTEGERS`] are; else `LUA_TNIL`.
///
/// # Safety
/// A table at `index`; a free slot.
#[inline(always)]
pub unsafe fn raw_geti(l: *mut lua_State, index: c_int, n: Slot) -> c_int {
    // SAFETY: as the caller promises.
    #[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
    return unsafe { lua_rawgeti(l, index, n) };
    #[cfg(not(any(feature = "lua53", feature = "lua54", feature = "lua55")))]
    {
        // SAFETY: as the caller promises.
        unsafe { lua_rawgeti(l, index, n) };
        LUA_TNIL
    }
}

/// The border of the table at `index`, without metamethods.
///
/// # Safety
/// A table at `index`.
#[inline(always)]
pub unsafe fn raw_len(l: *mut lua_State, index: c_int) -> usize {
    // SAFETY: as the caller promises.
    #[cfg(not(any(feature = "lua53", feature = "lua54", feature = "lua55")))]
    return unsafe { lua_objlen(l, index) };
    // SAFETY: as the caller promises.
    #[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
    return unsafe { mlua::ffi::lua_rawlen(l, index) as usize };
}

/// The number at `index` as a float; strings are converted as Lua does.
///
/// # Safety
/// A valid index.
#[inline(always)]
pub unsafe fn to_number(l: *mut lua_State, index: c_int) -> Option<f64> {
    #[cfg(any(feature = "lua51", feature = "luajit"))]
    // SAFETY: as the caller promises.
    unsafe {
        let n = lua_tonumber(l, index);
        if n != 0.0 || lua_isnumber(l, index) != 0 { Some(n) } else { None }
    }
    #[cfg(not(any(feature = "lua51", feature = "luajit")))]
    // SAFETY: as the caller promises.
    unsafe {
        let mut ok = 0;
        let n = lua_tonumberx(l, index, &mut ok);
        if ok != 0 { Some(n) } else { None }
    }
}

/// The number at `index` as an integer, if it is whole and fits.
///
/// # Safety
/// A number (no string) at `index`.
#[inline(always)]
pub unsafe fn to_integer(l: *mut lua_State, index: c_int) -> Option<i64> {
    #[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
    // SAFETY: as the caller promises.
    unsafe {
        let mut ok = 0;
        let n = lua_tointegerx(l, index, &mut ok);
        if ok != 0 { Some(n) } else { None }
    }
    #[cfg(not(any(feature = "lua53", feature = "lua54", feature = "lua55")))]
    // SAFETY: as the caller promises.
    unsafe {
        let n = to_number(l, index)?;
        // Adding 1.5 * 2^52 leaves a small whole number in the low bits of the sum.
        let low = (n + 6_755_399_441_055_744.0).to_bits() as i32;
        if f64::from(low) == n { Some(i64::from(low)) } else { whole(n) }
    }
}

/// `n` as an integer, if it is whole and fits.
#[cfg(not(any(feature = "lua53", feature = "lua54", feature = "lua55")))]
#[inline(never)]
fn whole(n: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&n) && n.trunc() == n { Some(n as i64) } else { None }
}

/// Whether the number at `index` is of the integer subtype.
///
/// # Safety
/// A valid index.
#[inline(always)]
pub unsafe fn is_integer(l: *mut lua_State, index: c_int) -> bool {
    #[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
    // SAFETY: as the caller promises.
    return unsafe { lua_isinteger(l, index) != 0 };
    #[cfg(not(any(feature = "lua53", feature = "lua54", feature = "lua55")))]
    {
        let _ = (l, index);
        false
    }
}
