//! Arbitrary bytes as descriptors, and descriptors that are nearly valid.

use std::sync::Arc;

use protobuf_lua::schema::Registry;

use crate::input::Input;
use crate::{descriptors, known};

/// The first byte says whether the rest is a descriptor set or what one is made by.
pub fn run(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    if first & 1 == 0 {
        register(bytes);
    } else {
        register(&descriptors::set(Input(bytes)));
    }
}

fn register(bytes: &[u8]) {
    let mut registry = Registry::new();
    let nothing = Arc::clone(registry.types());
    let Ok(report) = registry.register(bytes) else {
        assert!(Arc::ptr_eq(&nothing, registry.types()), "an error has changed something");
        return;
    };
    assert!(report.replaced.is_empty(), "nothing was there before");
    known::ask(registry.types());

    // Once more, and in another registry.
    let summary = known::summary(registry.types());
    let again = registry.register(bytes).unwrap_or_else(|e| panic!("not again: {}", e.0));
    assert_eq!((&report.missing, again.replaced.len()), (&again.missing, 0));
    assert_eq!(summary, known::summary(registry.types()));
    let mut other = Registry::new();
    assert_eq!(other.register(bytes).as_ref(), Ok(&report));
    assert_eq!(summary, known::summary(other.types()));
}
