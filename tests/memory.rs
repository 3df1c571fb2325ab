//! Memory outside of Lua's heap: what a state reloads, asks about, compiles and fails at leaves nothing behind.
#![cfg(feature = "vendored")]

use mlua::Lua;

use support::counting::{Counting, live};
use support::{register, scale};

mod support;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Uses all types of the schema, with patterns that no one asked for before.
const ASK: &str = r#"
    local protobuf, round = ...
    for _, name in ipairs(protobuf.types "message") do
      for _, field in ipairs(protobuf.fields(name)) do
        protobuf.schema_options(name, field.name)
        if not field.extension then
          pcall(protobuf.unpack, name .. (" "):rep(round) .. field.name, "")
        end
      end
      protobuf.comment(name)
      local message = protobuf.decode(name, "")
      pcall(protobuf.encode, name, message or {})
      pcall(protobuf.encode, name, { no_such_field = round })
      pcall(protobuf.decode, name, "\255\255\255")
      for _, format in ipairs { "json", "text" } do
        local fine, text = pcall(protobuf["to_" .. format], name, "")
        protobuf["from_" .. format](name, fine and text or "")
        protobuf["from_" .. format](name, "no such thing")
      end
    end
    for _, name in ipairs(protobuf.types "enum") do
      protobuf.enum(name)
    end
    for _, name in ipairs(protobuf.services()) do
      protobuf.methods(name)
    end
    pcall(protobuf.register, ("\10\5"):rep(round))
"#;

fn collected(lua: &Lua) -> usize {
    for _ in 0..3 {
        lua.gc_collect().expect("garbage is collected");
    }
    live()
}

#[test]
fn reloads_and_questions_leave_nothing_behind() {
    let files = scale::files(11, 60, 8);
    let (lua, protobuf) = support::lua();
    register(&lua, &protobuf, &scale::set_of(&files)).expect("it registers");
    let ask = lua.load(ASK).into_function().expect("it compiles");
    let rounds = |rounds: std::ops::Range<u16>| {
        for round in rounds {
            let file = &files[usize::from(round) % files.len()];
            register(&lua, &protobuf, &file.revised(round)).expect("it reloads");
            ask.call::<()>((&protobuf, round % 50)).expect("all is told");
            register(&lua, &protobuf, &file.bytes).expect("it reloads");
        }
        collected(&lua)
    };
    let before = rounds(1..60);
    let after = rounds(60..240);
    let grown = after.saturating_sub(before);
    assert!(grown < 32 << 10, "{grown} bytes more after 180 rounds, {before} before");
}

/// Writes and reads large texts, half of which fail.
const WRITE: &str = r#"
    local protobuf = ...
    local text = ("\1"):rep(100000)
    local bytes = protobuf.encode("google.protobuf.StringValue", { value = text })
    local broken = bytes:sub(1, -2) .. "\255"
    for _, format in ipairs { "json", "text" } do
      local written = protobuf["to_" .. format]("google.protobuf.StringValue", bytes)
      collectgarbage "stop"
      for _ = 1, 100 do
        pcall(protobuf["to_" .. format], "google.protobuf.StringValue", bytes)
        pcall(protobuf["to_" .. format], "google.protobuf.BytesValue", broken .. broken:sub(1, 50))
        pcall(protobuf["to_" .. format], "google.protobuf.StringValue", broken)
        protobuf["from_" .. format]("google.protobuf.StringValue", written:sub(1, -2))
      end
    end
"#;

#[test]
fn texts_are_given_back_before_lua_collects() {
    let (lua, protobuf) = support::lua();
    let write = lua.load(WRITE).into_function().expect("it compiles");
    let outside = || live().saturating_sub(lua.used_memory());
    let before = outside();
    write.call::<()>(&protobuf).expect("it runs");
    let grown = outside().saturating_sub(before);
    assert!(grown < 4 << 20, "{grown} bytes more after 800 calls");
}
