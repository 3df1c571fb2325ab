//! Two fields of a large message: a message of 40 fields and 10 KB, decoded whole, and with `unpack`
//! two of its fields, two fields inside others, and two fields of each item of a list.
//!
//! Ends with the shares of decoding.

use criterion::Criterion;
use mlua::{Function, Lua, Table};

use support::Case;

mod support;

/// Gives the loops, and how long the message is; `kept` keeps LuaJIT from removing values that nobody reads.
const LOOPS: &str = r#"
    local protobuf = require "protobuf"
    protobuf.register_source [[
      syntax = "proto3";
      package player;

      message Place { string city = 1; string street = 2; double x = 3; double y = 4; }
      message Item { uint32 id = 1; string name = 2; uint32 count = 3; repeated uint32 gems = 4; }
      message Friend { uint64 id = 1; string name = 2; sint32 trust = 3; bool online = 4; }
      message Guild { uint64 id = 1; string name = 2; repeated string members = 3; Place hall = 4; }

      message Player {
        uint64 id = 1;            string name = 2;          string title = 3;         uint32 level = 4;
        uint64 experience = 5;    double health = 6;        double mana = 7;          bool online = 8;
        Place home = 9;           Place position = 10;      Place spawn = 11;         repeated Item bag = 12;
        repeated Item bank = 13;  repeated Item worn = 14;  repeated Friend friends = 15;
        repeated Friend blocked = 16;                       Guild guild = 17;         map<string, uint32> skills = 18;
        map<uint32, string> notes = 19;                     repeated uint32 quests = 20;
        repeated sint32 scores = 21;                        repeated string titles = 22;
        string motto = 23;        string biography = 24;    string email = 25;        string language = 26;
        bytes avatar = 27;        bytes token = 28;         sint64 gold = 29;         sint64 silver = 30;
        fixed64 created = 31;     fixed64 seen = 32;        float speed = 33;         float luck = 34;
        uint32 deaths = 35;       uint32 kills = 36;        uint32 duels = 37;        string server = 38;
        string region = 39;       uint64 revision = 40;
      }
    ]]

    local function list(n, make)
      local out = {}
      for i = 1, n do
        out[i] = make(i)
      end
      return out
    end
    local function place(i)
      return { city = "City " .. i, street = "Street of the " .. i .. " lamps", x = i * 1.5, y = i * 2.5 }
    end
    local function item(i)
      return { id = 1000 + i, name = "Item number " .. i, count = i, gems = { i, i + 1, i + 2 } }
    end
    local function friend(i)
      return { id = 70000 + i, name = "Friend " .. i, trust = i - 10, online = i % 2 == 0 }
    end
    local skills, notes = {}, {}
    for i = 1, 40 do
      skills["skill " .. i], notes[i] = i * 100, "A note about number " .. i
    end
    local bytes = protobuf.encode("player.Player", {
      id = 123456789, name = "Alice", title = "Explorer", level = 61, experience = 998877, health = 97.5, mana = 12.25,
      online = true, home = place(1), position = place(2), spawn = place(3), bag = list(60, item), bank = list(30, item),
      worn = list(10, item), friends = list(40, friend), blocked = list(5, friend),
      guild = { id = 5, name = "Cartographers", members = list(20, function(i) return "Member " .. i end), hall = place(4) },
      skills = skills, notes = notes, quests = list(50, function(i) return i * 30 end),
      scores = list(50, function(i) return i - 25 end), titles = list(10, function(i) return "Title " .. i end),
      motto = ("Onwards. "):rep(8), biography = ("Once upon a time. "):rep(40), email = "alice@example.com", language = "en",
      avatar = ("\255\1\2\3"):rep(128), token = ("\0\200"):rep(16), gold = 5000, silver = -3, created = 1700000000,
      seen = 1800000000, speed = 1.5, luck = 0.25, deaths = 3, kills = 4, duels = 5, server = "eu-1", region = "north",
      revision = 77,
    })

    local decode, unpack = protobuf.decode, protobuf.unpack
    local kept, also
    local loops = { bytes = #bytes }

    function loops.decode(n)
      for _ = 1, n do
        kept = decode("player.Player", bytes)
      end
    end

    function loops.flat(n)
      for _ = 1, n do
        kept, also = unpack("player.Player name level", bytes)
      end
    end

    function loops.dotted(n)
      for _ = 1, n do
        kept, also = unpack("player.Player position.city guild.hall.x", bytes)
      end
    end

    function loops.lists(n)
      for _ = 1, n do
        kept, also = unpack("player.Player bag.id bag.count", bytes)
      end
    end

    return loops
"#;

fn main() {
    let lua: Lua = support::lua();
    let loops: Table = lua.load(LOOPS).set_name("=dotted").eval().expect("the loops load");
    let case = |name, key| Case::lua(name, &lua, loops.get::<Function>(key).expect("a loop"));
    let mut cases = [
        case("decode", "decode"),
        case("two fields", "flat"),
        case("two fields inside others", "dotted"),
        case("two fields of 60 items", "lists"),
    ];

    let mut criterion = Criterion::default().configure_from_args();
    support::measure(&mut criterion, "dotted", &mut cases);
    criterion.final_summary();

    let Some((rounds, duration)) = support::rounds() else {
        return;
    };
    let medians = support::medians(&mut cases, rounds, duration);
    let bytes: usize = loops.get("bytes").expect("a length");
    println!("\n{}, medians of {rounds} rounds in turns; {bytes} bytes", support::lua_version(&lua));
    println!("{:<30} {:>14} {:>12}", "", "microseconds", "of decode");
    for (case, time) in cases.iter().zip(&medians) {
        println!("{:<30} {:>14.2} {:>11.1}%", case.name, time / 1e3, 100.0 * time / medians[0]);
    }
}
