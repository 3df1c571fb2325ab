#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| protobuf_lua_fuzz::json::run(data));
