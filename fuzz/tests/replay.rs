//! The corpora, with plain `cargo test`: what the fuzzer found is read once more by each target.

use std::fs;

#[test]
fn decode() {
    for file in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/decode")).expect("there is a corpus") {
        protobuf_lua_fuzz::decode::run(&fs::read(file.expect("a file").path()).expect("it reads"));
    }
}
