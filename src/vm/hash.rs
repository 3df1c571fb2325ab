//! How the running Lua hashes: which keys share a chain of a table, and which strings one of the table of all strings.
//!
//! From the sources of each Lua: `mainposition` in `ltable.c`, `luaS_hash` in `lstring.c`, `lj_tab.h`. A test
//! asks the one that runs.

use std::ffi::c_int;

use super::api::*;

/// Whether strings with the same hash are easily made. Lua 5.1 hashes without a seed, and up to 5.3 only some bytes of
/// strings from 32 bytes on count. LuaJIT has had a seed since June 2020, and hashes long chains anew by all bytes.
pub const STRINGS: bool = cfg!(any(feature = "lua51", feature = "lua52", feature = "lua53"));

/// The longest string that is kept in the table of all strings, except in 5.1, where all are.
const SHORT: usize = 40;

/// Whether a string is kept in the table of all strings.
pub fn is_interned(bytes: &[u8]) -> bool {
    cfg!(feature = "lua51") || bytes.len() <= SHORT
}

/// What a string's slot is computed from, up to 5.3, with the seed 0. Strings that differ only in bytes that do not count
/// have the same with every seed.
pub fn string(bytes: &[u8]) -> u64 {
    let step = (bytes.len() >> 5) + 1;
    let mut hash = bytes.len() as u32;
    let mut left = bytes.len();
    while left >= step {
        let byte = bytes.get(left - 1).copied().unwrap_or_default();
        hash ^= (hash << 5).wrapping_add(hash >> 2).wrapping_add(u32::from(byte));
        left -= step;
    }
    u64::from(hash)
}

/// The slot of a string with that hash among `1 << bits`.
pub fn string_slot(hash: u64, bits: u32) -> u64 {
    hash & mask(bits)
}

/// What the slot of the number at `index` is computed from.
///
/// # Safety
/// A number is there.
pub unsafe fn number(l: *mut lua_State, index: c_int) -> u64 {
    #[cfg(any(feature = "lua53", feature = "lua54", feature = "lua55"))]
    {
        // SAFETY: as the caller promises.
        unsafe { to_integer(l, index) }.unwrap_or_default() as u64
    }
    #[cfg(not(any(feature = "lua53", feature = "lua54", feature = "lua55")))]
    {
        // SAFETY: as the caller promises.
        u64::from(double(unsafe { to_number(l, index) }.unwrap_or_default()))
    }
}

#[cfg(feature = "lua51")]
fn double(n: f64) -> u32 {
    let (low, high) = halves(n);
    if n == 0.0 { 0 } else { low.wrapping_add(high) }
}

/// As on processors for which `luaconf.h` has the IEEE 754 trick.
#[cfg(feature = "lua52")]
fn double(n: f64) -> u32 {
    let (low, high) = halves(n + 1.0);
    let sum = low.wrapping_add(high) as i32;
    if sum == i32::MIN { 0 } else { sum.unsigned_abs() }
}

#[cfg(feature = "luajit")]
fn double(n: f64) -> u32 {
    let (mut low, mut high) = halves(n);
    high <<= 1;
    low ^= high;
    high = high.rotate_left(14);
    low = low.wrapping_sub(high);
    high = high.rotate_left(5) ^ low;
    high.wrapping_sub(low.rotate_left(13))
}

#[cfg(any(feature = "lua51", feature = "lua52", feature = "luajit"))]
fn halves(n: f64) -> (u32, u32) {
    let bits = n.to_bits();
    (bits as u32, (bits >> 32) as u32)
}

/// How a table finds the slot of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Numbers {
    /// By the lower bits.
    Mask,
    /// By the remainder of division by one less than the number of slots.
    Remainder,
}

impl Numbers {
    /// How those of the running Lua do: 5.4 has changed it on the way, with 5.4.3.
    ///
    /// # Safety
    /// Four free slots. May raise.
    pub unsafe fn of(l: *mut lua_State) -> Numbers {
        if cfg!(any(feature = "lua53", feature = "luajit")) {
            return Numbers::Mask;
        }
        if cfg!(not(feature = "lua54")) {
            return Numbers::Remainder;
        }
        // SAFETY: as the caller promises. Slots are traversed in order; of four, 4 has the first by its bits, and the
        // second by its remainder.
        unsafe {
            lua_createtable(l, 0, 4);
            for key in [3, 4] {
                lua_pushboolean(l, 1);
                lua_rawseti(l, -2, key);
            }
            lua_pushnil(l);
            lua_next(l, -2);
            let first = to_integer(l, -2);
            lua_settop(l, -4);
            if first == Some(4) { Numbers::Mask } else { Numbers::Remainder }
        }
    }

    /// The slot of a number with that hash among `1 << bits`.
    pub fn slot(self, hash: u64, bits: u32) -> u64 {
        match self {
            Numbers::Mask => hash & mask(bits),
            Numbers::Remainder => hash % (mask(bits) | 1),
        }
    }
}

fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(all(test, feature = "vendored"))]
mod tests {
    use super::*;

    /// A table of `1 << BITS` slots gives back what is in it in the order of the slots.
    const BITS: u32 = 8;

    /// Puts `keys`, of which no two have one slot, into a table; answers their slots in the order of traversal.
    fn traversed(keys: &[u64], push: fn(*mut lua_State, u64), slot: fn(*mut lua_State, Numbers) -> u64) -> Vec<u64> {
        let lua = mlua::Lua::new();
        let mut found = Vec::new();
        // SAFETY: there is room for ten values; the memory of this state has no limit, so nothing raises.
        unsafe {
            lua.exec_raw::<()>((), |l| {
                let numbers = Numbers::of(l);
                let mut taken = Vec::new();
                lua_createtable(l, 0, 1 << BITS);
                for key in keys {
                    push(l, *key);
                    let at = slot(l, numbers);
                    if taken.contains(&at) {
                        lua_settop(l, -2);
                        continue;
                    }
                    taken.push(at);
                    lua_pushboolean(l, 1);
                    lua_rawset(l, -3);
                }
                lua_pushnil(l);
                while lua_next(l, -2) != 0 {
                    lua_settop(l, -2);
                    found.push(slot(l, numbers));
                }
                lua_settop(l, 0);
            })
            .unwrap();
        }
        found
    }

    fn keys() -> Vec<u64> {
        (0..200).map(|i: u64| (i + 1000).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11).collect()
    }

    fn is_sorted(slots: &[u64]) {
        assert!(slots.len() > 100 && slots.is_sorted(), "{slots:?}");
    }

    #[test]
    fn numbers_have_the_slots_that_lua_gives_them() {
        let push = |l, key| {
            // SAFETY: there is room.
            unsafe { lua_pushinteger(l, key as Int) }
        };
        is_sorted(&traversed(&keys(), push, |l, numbers| {
            // SAFETY: a number is on top.
            numbers.slot(unsafe { number(l, -1) }, BITS)
        }));
    }

    /// In 5.1, where there is no seed.
    #[cfg(feature = "lua51")]
    #[test]
    fn strings_have_the_slots_that_lua_gives_them() {
        let push = |l, key: u64| {
            // SAFETY: there is room, and no limit of memory.
            unsafe { push_bytes(l, key.to_string().repeat(1 + key as usize % 8).as_bytes()) }
        };
        is_sorted(&traversed(&keys(), push, |l, _| {
            // SAFETY: a string is on top.
            string_slot(string(unsafe { crate::vm::string_at(l, -1) }.unwrap_or_default()), BITS)
        }));
    }
}
