//! Larger messages: an address book of 50 persons, a game world's snapshot of 200 entities, an
//! order. Code that prost generated, this library's table form, and the Lua floor: a plain Lua
//! loop that builds the tables that decode returns, from strings that exist already.
//!
//! Ends with a table of the ratios to prost and to the floor.

use std::hint::black_box;

use criterion::Criterion;
use mlua::{Function, Lua, LuaString, ObjectLike, Table};
use prost::Message;

use support::Case;

mod support;

#[allow(dead_code, clippy::all)]
mod generated {
    pub mod tutorial {
        include!("generated/tutorial.rs");
    }
    pub mod shop {
        include!("generated/shop.rs");
    }
    pub mod world {
        include!("generated/world.rs");
    }
}

const RECORDS: &str = include_str!("../lua/bench/records.lua");
const DESCRIPTORS: [&[u8]; 3] = [
    include_bytes!("../descriptors/addressbook.pb"),
    include_bytes!("../descriptors/world.pb"),
    include_bytes!("../descriptors/order.pb"),
];

/// Takes a record; `kept` keeps LuaJIT from removing a table that nobody reads.
const LOOPS: &str = r#"
    local protobuf = require "protobuf"
    local record = ...
    local name, build = record.type, record.build
    local encode, decode = protobuf.encode, protobuf.decode
    local input = build()
    local bytes = encode(name, input)
    local kept
    local loops = { bytes = bytes }

    function loops.encode(n)
      for _ = 1, n do
        kept = encode(name, input)
      end
    end

    function loops.decode(n)
      for _ = 1, n do
        kept = decode(name, bytes)
      end
    end

    function loops.floor(n)
      for _ = 1, n do
        kept = build()
      end
    end

    return loops
"#;

/// One message and its loops.
struct Record {
    name: String,
    bytes: Vec<u8>,
    loops: Table,
}

impl Record {
    fn load_all(lua: &Lua) -> mlua::Result<Vec<Self>> {
        let protobuf: Table = lua.load("return require 'protobuf'").eval()?;
        for descriptors in DESCRIPTORS {
            protobuf.call_function::<()>("register", lua.create_string(descriptors)?)?;
        }
        let records: Vec<Table> = lua.load(RECORDS).set_name("=records").eval()?;
        records.iter().map(|record| Self::load(lua, record)).collect()
    }

    fn load(lua: &Lua, record: &Table) -> mlua::Result<Self> {
        let loops: Table = lua.load(LOOPS).set_name("=loops").call(record)?;
        Ok(Self { name: record.get("name")?, bytes: loops.get::<LuaString>("bytes")?.as_bytes().to_vec(), loops })
    }

    fn loop_of(&self, name: &str) -> Function {
        self.loops.get(name).expect("a loop")
    }
}

/// The cases of one message, in the order prost, this library, floor; encode, then decode.
fn cases<'a, M: Message + Default + 'a>(lua: &'a Lua, record: &'a Record) -> [Vec<Case<'a>>; 2] {
    let message = M::decode(&record.bytes[..]).expect("prost reads what this library wrote");
    assert_eq!(message.encode_to_vec(), record.bytes, "prost writes the same bytes");
    let bytes = &record.bytes[..];
    [
        vec![
            Case::rust("prost", move || black_box(&message).encode_to_vec()),
            Case::lua("Lua", lua, record.loop_of("encode")),
        ],
        vec![
            Case::rust("prost", move || M::decode(black_box(bytes)).expect("it decodes")),
            Case::lua("Lua", lua, record.loop_of("decode")),
            Case::lua("Lua floor", lua, record.loop_of("floor")),
        ],
    ]
}

fn main() {
    let lua = support::lua();
    let records = Record::load_all(&lua).expect("the records load");
    let [book, snapshot, order] = &records[..] else {
        panic!("three records");
    };
    let mut all = [
        (book, cases::<generated::tutorial::AddressBook>(&lua, book)),
        (snapshot, cases::<generated::world::Snapshot>(&lua, snapshot)),
        (order, cases::<generated::shop::Order>(&lua, order)),
    ];

    let mut criterion = Criterion::default().configure_from_args();
    for (record, operations) in &mut all {
        for (operation, cases) in ["encode", "decode"].iter().zip(operations) {
            support::measure(&mut criterion, &format!("{}/{operation}", record.name), cases);
        }
    }
    criterion.final_summary();

    let Some((rounds, duration)) = support::rounds() else {
        return;
    };
    println!("\n{}, medians of {rounds} rounds in turns, microseconds", support::lua_version(&lua));
    println!(
        "{:<20} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "bytes", "prost", "Lua", "floor", "to prost", "to floor"
    );
    for (record, operations) in &mut all {
        for (operation, cases) in ["encode", "decode"].iter().zip(operations) {
            let times: Vec<f64> = support::medians(cases, rounds, duration);
            let name = format!("{} {operation}", record.name);
            print!("{name:<20} {:>6} {:>9.2} {:>9.2}", record.bytes.len(), times[0] / 1e3, times[1] / 1e3);
            match times.get(2) {
                Some(floor) => println!(" {:>9.2} {:>9.2} {:>9.2}", floor / 1e3, times[1] / times[0], times[1] / floor),
                None => println!(" {:>9} {:>9.2}", "", times[1] / times[0]),
            }
        }
    }
}
