//! The corpora, with plain `cargo test`: what the fuzzer found is read once more by each target.

use std::fs;
use std::thread;

/// As in the main thread, where the fuzzer runs.
const STACK: usize = 8 << 20;

fn replay(name: &str, run: fn(&[u8])) {
    let corpus = format!("{}/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let all = move || {
        assert!(fs::read_dir(&corpus).is_ok_and(|mut files| files.next().is_some()), "no corpus");
        for file in fs::read_dir(corpus).expect("there is a corpus") {
            let path = file.expect("a file").path();
            println!("{}", path.display());
            run(&fs::read(path).expect("it reads"));
        }
    };
    thread::Builder::new().stack_size(STACK).spawn(all).expect("a thread").join().expect("no input fails");
}

#[test]
fn decode() {
    replay("decode", protobuf_lua_fuzz::decode::run);
}

#[test]
fn encode() {
    replay("encode", protobuf_lua_fuzz::encode::run);
}

#[test]
fn pattern() {
    replay("pattern", protobuf_lua_fuzz::pattern::run);
}

#[test]
fn tables() {
    replay("tables", protobuf_lua_fuzz::tables::run);
}

#[test]
fn json() {
    replay("json", protobuf_lua_fuzz::json::run);
}

#[test]
fn register() {
    replay("register", protobuf_lua_fuzz::register::run);
}

#[test]
fn reload() {
    replay("reload", protobuf_lua_fuzz::reload::run);
}

#[test]
fn source() {
    replay("source", protobuf_lua_fuzz::source::run);
}

#[test]
fn text() {
    replay("text", protobuf_lua_fuzz::text::run);
}
