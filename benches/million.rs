//! A small message there and back, a million times: code that prost generated, prost-reflect's
//! dynamic messages, and this library in its two forms. Every iteration makes its message anew.
//!
//! Ends with the ratios to prost.

use std::hint::black_box;

use criterion::Criterion;
use mlua::{Function, Lua, Table};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, Value};

use support::Case;

mod support;

#[allow(dead_code, clippy::all)]
mod tutorial {
    include!("generated/tutorial.rs");
}

const DESCRIPTORS: &[u8] = include_bytes!("../descriptors/addressbook.pb");

/// The loops in Lua; `kept` keeps LuaJIT from removing a table that nobody reads.
const LOOPS: &str = r#"
    local protobuf = require "protobuf"
    protobuf.register(...)
    local encode, decode, pack, unpack = protobuf.encode, protobuf.decode, protobuf.pack, protobuf.unpack
    local kept
    local loops = {}

    function loops.table(n)
      for _ = 1, n do
        local bytes = encode("tutorial.Person", { name = "Alice", id = 123 })
        kept = decode("tutorial.Person", bytes)
      end
    end

    function loops.flat(n)
      for _ = 1, n do
        local bytes = pack("tutorial.Person name id", "Alice", 123)
        kept = unpack("tutorial.Person name id", bytes)
      end
    end

    function loops.build(n)
      for _ = 1, n do
        kept = { name = "Alice", id = 123 }
      end
    end

    return loops
"#;

fn generated() -> tutorial::Person {
    let person = tutorial::Person { name: black_box("Alice").to_owned(), id: black_box(123), ..Default::default() };
    let bytes = black_box(&person).encode_to_vec();
    tutorial::Person::decode(black_box(&bytes[..])).expect("it decodes")
}

fn reflected(descriptor: &MessageDescriptor) -> DynamicMessage {
    let mut person = DynamicMessage::new(descriptor.clone());
    person.set_field_by_name("name", Value::String(black_box("Alice").to_owned()));
    person.set_field_by_name("id", Value::I32(black_box(123)));
    let bytes = black_box(&person).encode_to_vec();
    DynamicMessage::decode(descriptor.clone(), black_box(&bytes[..])).expect("it decodes")
}

fn cases<'a>(lua: &'a Lua, descriptor: &'a MessageDescriptor) -> Vec<Case<'a>> {
    let bytes = lua.create_string(DESCRIPTORS).expect("a string");
    let loops: Table = lua.load(LOOPS).set_name("=million").call(bytes).expect("the loops load");
    let get = |name| loops.get::<Function>(name).expect("a loop");
    vec![
        Case::rust("prost", generated),
        Case::rust("prost-reflect", || reflected(descriptor)),
        Case::lua("Lua flat", lua, get("flat")),
        Case::lua("Lua table", lua, get("table")),
        Case::lua("Lua building the table alone", lua, get("build")),
    ]
}

fn main() {
    let lua = support::lua();
    let pool = DescriptorPool::decode(DESCRIPTORS).expect("the descriptors link");
    let descriptor = pool.get_message_by_name("tutorial.Person").expect("the type is there");
    let mut cases = cases(&lua, &descriptor);

    let mut criterion = Criterion::default().configure_from_args();
    support::measure(&mut criterion, "million", &mut cases);
    criterion.final_summary();

    let Some((rounds, duration)) = support::rounds() else {
        return;
    };
    let medians = support::medians(&mut cases, rounds, duration);
    println!("\n{}, medians of {rounds} rounds in turns", support::lua_version(&lua));
    println!("{:<30} {:>10} {:>9}", "encode + decode of a person", "ns", "to prost");
    for (case, time) in cases.iter().zip(&medians) {
        println!("{:<30} {time:>10.1} {:>9.2}", case.name, time / medians[0]);
    }
}
