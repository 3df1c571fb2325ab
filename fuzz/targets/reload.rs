#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| protobuf_lua_fuzz::reload::run(data));
