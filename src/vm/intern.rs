//! Finding things by the address of a Lua string.
//!
//! Lua keeps one copy of each short string, so an anchored string is known by its address.
//! From 5.2 on strings over 40 bytes may have several copies: a miss must be looked up by content.

use std::ffi::c_int;

use super::api::*;

/// An address that no string has.
pub const NO_ADDRESS: usize = 0;

/// The address of the string at `index`; of another value, no string's address.
///
/// # Safety
/// A valid index.
#[inline(always)]
pub unsafe fn string_address(l: *mut lua_State, index: c_int) -> usize {
    #[cfg(any(feature = "luajit", feature = "lua54", feature = "lua55"))]
    // SAFETY: lua_topointer gives the object of a string, other objects have other addresses.
    return unsafe { lua_topointer(l, index) as usize };
    // Elsewhere lua_topointer knows no strings, but the bytes stand in the object.
    #[cfg(not(any(feature = "luajit", feature = "lua54", feature = "lua55")))]
    // SAFETY: only strings are asked for their bytes, so nothing is converted.
    unsafe {
        if lua_type(l, index) != LUA_TSTRING {
            return NO_ADDRESS;
        }
        lua_tolstring(l, index, std::ptr::null_mut()) as usize
    }
}

/// Spreads addresses, whose low bits are all alike.
#[inline(always)]
pub const fn spread(address: usize) -> usize {
    (address >> 4) ^ (address >> 11)
}

/// A fixed table from addresses to small numbers, made once.
pub struct Addresses {
    entries: Box<[(usize, u32)]>,
    mask: usize,
}

impl Addresses {
    /// A table of `pairs`, of which there are `n`.
    pub fn new(n: usize, pairs: impl Iterator<Item = (usize, u32)>) -> Self {
        let size = (n * 2).next_power_of_two().max(4);
        let mut entries = vec![(NO_ADDRESS, 0); size].into_boxed_slice();
        let mask = size - 1;
        for pair in pairs {
            let mut at = spread(pair.0) & mask;
            while let Some(entry) = entries.get_mut(at) {
                if entry.0 == NO_ADDRESS {
                    *entry = pair;
                    break;
                }
                at = (at + 1) & mask;
            }
        }
        Addresses { entries, mask }
    }

    /// The number of `address`.
    #[inline(always)]
    pub fn find(&self, address: usize) -> Option<u32> {
        let mut at = spread(address) & self.mask;
        loop {
            // SAFETY: the mask is one less than the number of entries. The table is at most half
            // full, so the search ends at an empty entry.
            let entry = unsafe { self.entries.get_unchecked(at) };
            if entry.0 == address {
                return if address == NO_ADDRESS { None } else { Some(entry.1) };
            }
            if entry.0 == NO_ADDRESS {
                return None;
            }
            at = (at + 1) & self.mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_put_in() {
        for n in [0, 1, 3, 100] {
            let pairs = (0..n).map(|i| (0x1000 + i * 16, i as u32));
            let table = Addresses::new(n, pairs.clone());
            for (address, number) in pairs {
                assert_eq!(table.find(address), Some(number));
                assert_eq!(table.find(address + 8), None);
            }
            assert_eq!(table.find(0x10), None);
            assert_eq!(table.find(NO_ADDRESS), None);
        }
    }
}
