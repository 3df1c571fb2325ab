//! Tags: field number and wire type in one varint ("Message Structure").

/// The largest field number, 2^29 - 1.
pub const MAX_FIELD_NUMBER: u32 = (1 << 29) - 1;

/// How a value is laid out: the low three bits of its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WireType {
    /// One varint.
    Varint = 0,
    /// Eight bytes, little endian.
    Fixed64 = 1,
    /// A length as varint, then that many bytes.
    Len = 2,
    /// Opens a group, which ends with the end-group tag of the same number.
    StartGroup = 3,
    /// Closes a group.
    EndGroup = 4,
    /// Four bytes, little endian.
    Fixed32 = 5,
}

/// The tag of field `number` with `wire_type`. `number` is at most [`MAX_FIELD_NUMBER`].
pub const fn tag(number: u32, wire_type: WireType) -> u32 {
    number << 3 | wire_type as u32
}
