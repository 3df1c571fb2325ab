//! Extensions: fields that other files, or other parts of a file, add to a message.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::check::MOST_FIELDS;
use super::hint::quoted;
use super::plan::{Default, FieldPlan, Flags, MessagePlan, Op};
use super::set::Set;

/// An extension, compiled.
pub(super) struct Extension {
    /// The position of the extended message in its set.
    pub(super) extendee: u32,
    pub(super) field: FieldPlan,
    /// Its full name.
    pub(super) name: Arc<str>,
    pub(super) default: Default,
}

impl MessagePlan {
    /// Whether `number` is declared to be one of extensions.
    pub(super) fn is_extension_number(&self, number: i32) -> bool {
        let after = self.extension_ranges.partition_point(|(start, _)| *start <= number);
        let before = after.checked_sub(1).and_then(|at| self.extension_ranges.get(at));
        before.is_some_and(|(_, end)| number < *end)
    }

    /// What is wrong with `extension` as one of this message.
    pub(super) fn refuses(&self, extension: &Extension) -> Option<String> {
        let number = extension.field.number();
        if !i32::try_from(number).is_ok_and(|n| self.is_extension_number(n)) {
            return Some(format!("message '{}' does not define '{number}' as an extension number", self.name));
        }
        let f = &extension.field;
        if self.map_entry {
            return Some("a map's entries cannot be extended".into());
        }
        if self.message_set && (f.repeated() || f.op != Op::Message) {
            return Some("an extension of a message set must be an optional message".into());
        }
        None
    }

    /// This message with `extensions`, whose numbers are free.
    fn extended<'e>(&self, extensions: impl Iterator<Item = &'e Extension>) -> MessagePlan {
        let own = self.fields.iter().zip(&self.names).zip(&self.defaults);
        let own = own.map(|((field, name), default)| (*field, name.clone(), default.clone()));
        let mut all: Vec<(FieldPlan, Box<str>, Default)> = own.collect();
        for extension in extensions {
            // A plain field of that name is the more common one.
            let plain = self.by_name(&extension.name).is_some_and(|f| !f.flags.has(Flags::EXTENSION));
            let name = if plain { format!("[{}]", extension.name).into() } else { Box::from(&*extension.name) };
            all.push((extension.field, name, extension.default.clone()));
        }
        all.sort_by_key(|(field, ..)| field.number());

        let mut oneofs: Vec<_> = self.oneofs.iter().map(|o| (o.name.clone(), Vec::new())).collect();
        let (mut fields, mut names, mut defaults) = (Vec::new(), Vec::new(), Vec::new());
        for ((mut field, name, default), index) in all.into_iter().zip(0u16..) {
            field.index = index;
            field.slot = index;
            if field.flags.has(Flags::ONEOF)
                && let Some((_, members)) = oneofs.get_mut(usize::from(field.oneof))
            {
                members.push(index);
            }
            fields.push(field);
            names.push(name);
            defaults.push(default);
        }
        let mut plan = MessagePlan::assemble(self.index, self.name.clone(), fields, names, defaults, oneofs);
        plan.map_entry = self.map_entry;
        plan.message_set = self.message_set;
        plan.extension_ranges = self.extension_ranges.clone();
        plan
    }
}

impl Set {
    /// Adds `extensions` to their messages; each comes with a tag of its own. An error has the tag of one at fault.
    pub(super) fn extend<T: Copy>(&mut self, extensions: &[(T, Extension)]) -> Result<(), (T, String)> {
        let mut by_message: BTreeMap<u32, Vec<&(T, Extension)>> = BTreeMap::new();
        for extension in extensions {
            by_message.entry(extension.1.extendee).or_default().push(extension);
        }
        for (index, extensions) in by_message {
            let Some(plan) = self.messages.get_mut(index as usize) else { continue };
            let mut names: HashMap<u32, &str> = HashMap::new();
            for (count, (tag, extension)) in (1..).zip(&extensions) {
                if let Some(what) = plan.refuses(extension) {
                    return Err((*tag, format!("{}: {what}", extension.name)));
                }
                let number = extension.field.number();
                let before = plan.by_number(number).and_then(|f| plan.names.get(usize::from(f.index))).map(|n| &**n);
                if let Some(other) = before.or_else(|| names.insert(number, &extension.name)) {
                    let [other, name, of] = [other, &extension.name, &plan.name].map(quoted);
                    return Err((*tag, format!("extensions {other} and {name} of {of} have the same number {number}")));
                }
                if plan.fields.len().saturating_add(count) > MOST_FIELDS {
                    return Err((*tag, format!("{} has more than 65,534 fields and extensions", plan.name)));
                }
            }
            *plan = Arc::new(plan.extended(extensions.iter().map(|(_, e)| e)));
        }
        Ok(())
    }
}
