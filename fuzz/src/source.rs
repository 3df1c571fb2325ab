//! Arbitrary .proto text.

use std::panic;
use std::sync::Arc;

use protobuf_lua::error::SchemaError;
use protobuf_lua::schema::{Registry, Report, Sources};

use crate::known;

/// Files are separated by zero bytes, and each may import those before it: `0.proto`, `1.proto` and so on.
pub fn run(data: &[u8]) {
    let mut registry = Registry::new();
    let mut good = Vec::new();
    for (at, text) in data.split(|b| *b == 0).take(4).enumerate() {
        let name = format!("{at}.proto");
        let before = Arc::clone(registry.types());
        match register(&mut registry, text, &name) {
            Ok(report) => {
                assert_eq!((report.missing.len(), report.failed.len()), (0, 0), "text waits for nothing");
                good.push((name, text));
            }
            Err(_) => assert!(Arc::ptr_eq(&before, registry.types()), "an error has changed something"),
        }
    }
    if good.is_empty() {
        return;
    }
    known::ask(registry.types());

    // Once more, and in another registry.
    let mut other = Registry::new();
    for (name, text) in good {
        let before = Arc::clone(registry.types());
        register(&mut registry, text, &name).unwrap_or_else(|e| panic!("not again: {}", e.0));
        assert!(Arc::ptr_eq(&before, registry.types()), "registering again has changed something");
        register(&mut other, text, &name).unwrap_or_else(|e| panic!("not elsewhere: {}", e.0));
    }
    assert_eq!(known::summary(registry.types()), known::summary(other.types()));
}

/// The compiler catches panics of the linker that it uses; libFuzzer must not hear of them.
fn register(registry: &mut Registry, text: &[u8], name: &str) -> Result<Report, SchemaError> {
    let sources = Sources::text(text, Some(name.as_bytes()))?;
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| eprintln!("{info}")));
    let outcome = registry.register_sources(sources);
    panic::set_hook(hook);
    outcome
}
