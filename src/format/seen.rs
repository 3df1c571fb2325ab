//! Which fields a message has so far: in text, singular ones come once, and of a oneof one member.

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::{FieldPlan, Flags, MessagePlan};

/// The singular fields of an open message.
#[derive(Default)]
pub(super) struct Seen {
    bits: u64,
    /// Positions of those without a bit.
    others: BTreeSet<u16>,
    /// The members of oneofs of which not all have a bit, by oneof.
    members: BTreeMap<u16, u16>,
}

/// Why a field must not come.
pub(super) enum Clash<'a> {
    /// It was there before.
    Twice,
    /// Another member of the oneof was.
    Member(&'a str, &'a FieldPlan),
}

impl Seen {
    /// Whether `f` was there.
    pub(super) fn has(&self, f: &FieldPlan) -> bool {
        if f.mask != 0 { self.bits & f.mask != 0 } else { self.others.contains(&f.index) }
    }

    /// Whether there was any.
    pub(super) fn any(&self) -> bool {
        self.bits != 0 || !self.others.is_empty()
    }

    /// Takes singular `f` of `m` in.
    pub(super) fn add<'a>(&mut self, m: &'a MessagePlan, f: &FieldPlan) -> Result<(), Clash<'a>> {
        if self.has(f) {
            return Err(Clash::Twice);
        }
        if f.flags.has(Flags::ONEOF)
            && let Some(oneof) = m.oneofs.get(usize::from(f.oneof))
        {
            let other = if oneof.marked() {
                let here = |i: &&u16| m.fields.get(usize::from(**i)).is_some_and(|f| self.bits & f.mask != 0);
                (self.bits & oneof.mask != 0).then(|| oneof.members.iter().find(here).copied()).flatten()
            } else {
                self.members.insert(f.oneof, f.index)
            };
            if let Some(other) = other.and_then(|i| m.fields.get(usize::from(i))) {
                return Err(Clash::Member(&oneof.name, other));
            }
        }
        self.add_alone(f)
    }

    /// Takes `f` in, whatever other members its oneof has.
    pub(super) fn add_alone<'a>(&mut self, f: &FieldPlan) -> Result<(), Clash<'a>> {
        let new = if f.mask == 0 { self.others.insert(f.index) } else { self.bits & f.mask == 0 };
        self.bits |= f.mask;
        if new { Ok(()) } else { Err(Clash::Twice) }
    }
}
