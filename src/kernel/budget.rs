//! What one call may use: nesting and memory.

use crate::error::Kind;
use crate::schema::FieldPlan;

/// What is left of the limits of one call.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Levels of messages and groups below the current one.
    pub depth: u32,
    /// Bytes of memory that decoded values may still take, estimated.
    pub bytes: u64,
}

/// An empty Lua table, rounded up over all Luas.
const TABLE: u64 = 64;
/// A slot in the hash part of a table.
const NODE: u64 = 40;
/// A slot in the array part of a table.
const SLOT: u64 = 16;
/// The head of a Lua string.
const STRING: u64 = 24;
/// No memory, but time: a look into a table.
const ASK: u64 = 16;

impl Budget {
    /// Goes one level down.
    ///
    /// # Errors
    /// [`Kind::Depth`].
    #[inline(always)]
    pub fn enter(&mut self) -> Result<(), Kind> {
        self.depth = self.depth.checked_sub(1).ok_or(Kind::Depth)?;
        Ok(())
    }

    /// Comes one level up.
    #[inline(always)]
    pub fn leave(&mut self) {
        self.depth = self.depth.saturating_add(1);
    }

    /// Takes `n` bytes.
    ///
    /// # Errors
    /// [`Kind::Memory`].
    #[inline(always)]
    pub fn charge(&mut self, n: u64) -> Result<(), Kind> {
        self.bytes = self.bytes.checked_sub(n).ok_or(Kind::Memory)?;
        Ok(())
    }

    /// Takes a message with `fields` set fields.
    ///
    /// # Errors
    /// [`Kind::Memory`].
    #[inline(always)]
    pub fn message(&mut self, fields: u32) -> Result<(), Kind> {
        self.charge(TABLE.saturating_add(NODE.saturating_mul(u64::from(fields))))
    }

    /// Takes a field that its message will not count, for it has no bit.
    ///
    /// # Errors
    /// [`Kind::Memory`].
    #[inline(always)]
    pub fn field(&mut self, f: &FieldPlan) -> Result<(), Kind> {
        if f.mask == 0 { self.charge(NODE) } else { Ok(()) }
    }

    /// Takes the time of asking the sink about `n` fields.
    ///
    /// # Errors
    /// [`Kind::Memory`].
    pub fn asks(&mut self, n: usize) -> Result<(), Kind> {
        self.charge(ASK.saturating_mul(n as u64))
    }

    /// Takes a list with `n` new elements.
    ///
    /// # Errors
    /// [`Kind::Memory`].
    #[inline(always)]
    pub fn list(&mut self, n: usize) -> Result<(), Kind> {
        self.charge(TABLE.saturating_add(SLOT.saturating_mul(n as u64)))
    }

    /// Takes `width` lists with `n` new elements each.
    ///
    /// # Errors
    /// [`Kind::Memory`].
    #[inline(always)]
    pub fn lists(&mut self, width: usize, n: usize) -> Result<(), Kind> {
        self.charge(TABLE.saturating_add(SLOT.saturating_mul(n as u64)).saturating_mul(width as u64))
    }

    /// Takes an element whose list was charged without it.
    ///
    /// # Errors
    /// [`Kind::Memory`].
    #[inline(always)]
    pub fn element(&mut self) -> Result<(), Kind> {
        self.charge(SLOT)
    }

    /// Takes a map with `n` new entries.
    ///
    /// # Errors
    /// [`Kind::Memory`].
    #[inline(always)]
    pub fn map(&mut self, n: usize) -> Result<(), Kind> {
        self.charge(TABLE.saturating_add(NODE.saturating_mul(2).saturating_mul(n as u64)))
    }

    /// Takes a string of `n` bytes.
    ///
    /// # Errors
    /// [`Kind::Memory`].
    #[inline(always)]
    pub fn string(&mut self, n: usize) -> Result<(), Kind> {
        self.charge(STRING.saturating_add(n as u64))
    }
}
