//! Tables still to be looked at, each once: how nested tables are walked without recursion, so
//! that neither depth nor cycles matter.

use std::ffi::c_int;

use crate::vm::api::*;
use crate::vm::pop;

/// A Lua table at `at`: the tables and their tags in turn, and each table as a key.
pub struct Worklist {
    l: *mut lua_State,
    at: c_int,
    next: Slot,
    end: Slot,
}

impl Worklist {
    /// Pushes an empty list. May raise.
    ///
    /// # Safety
    /// A free slot. The list is used while it stays where it is.
    pub unsafe fn push(l: *mut lua_State) -> Worklist {
        // SAFETY: as the caller promises.
        unsafe {
            lua_createtable(l, 0, 0);
            Worklist { l, at: lua_gettop(l), next: 0, end: 0 }
        }
    }

    /// Adds the table at `index` with a tag, unless it was added before. May raise.
    ///
    /// # Safety
    /// A table at `index`, an absolute one; three free slots.
    pub unsafe fn add(&mut self, index: c_int, tag: u32) {
        let l = self.l;
        // SAFETY: as the caller promises.
        unsafe {
            lua_pushvalue(l, index);
            lua_rawget(l, self.at);
            let known = lua_type(l, -1) != LUA_TNIL;
            pop(l, 1);
            if known {
                return;
            }
            lua_pushvalue(l, index);
            lua_pushboolean(l, 1);
            lua_rawset(l, self.at);
            lua_pushvalue(l, index);
            lua_rawseti(l, self.at, self.end + 1);
            lua_pushinteger(l, tag as Int);
            lua_rawseti(l, self.at, self.end + 2);
            self.end += 2;
        }
    }

    /// Pushes the table that was taken last, then the one taken before it, and so on; answers
    /// false when there is none. What was added after a table comes before it.
    ///
    /// # Safety
    /// A free slot.
    pub unsafe fn take_back(&mut self) -> bool {
        if self.next == 0 {
            return false;
        }
        // SAFETY: as the caller promises.
        unsafe { lua_rawgeti(self.l, self.at, self.next - 1) };
        self.next -= 2;
        true
    }

    /// Pushes the next table and answers its tag; pushes nothing if there is none.
    ///
    /// # Safety
    /// Two free slots.
    pub unsafe fn take(&mut self) -> Option<u32> {
        if self.next == self.end {
            return None;
        }
        // SAFETY: as the caller promises.
        unsafe {
            lua_rawgeti(self.l, self.at, self.next + 2);
            let tag = to_integer(self.l, -1).unwrap_or_default() as u32;
            pop(self.l, 1);
            lua_rawgeti(self.l, self.at, self.next + 1);
            self.next += 2;
            Some(tag)
        }
    }
}
