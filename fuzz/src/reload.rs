//! Files that come, go and change, in several instances of two Lua states, and messages between.
//!
//! Each instance has a registry without Lua beside it, and both must agree.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use mlua::{Function, IntoLuaMulti, Lua, Table, Value};
use protobuf_lua::error::{SchemaError, Trace};
use protobuf_lua::format::{self, Tree};
use protobuf_lua::kernel::{Budget, Context};
use protobuf_lua::schema::{Flags, Registry, Report, Sources};
use protobuf_lua::wire::Writer;

use crate::input::Input;
use crate::known;
use crate::part::Part;
use crate::pool::{ALIAS, POOL, TYPES, Version};

/// So many runs share the Lua states.
const RUNS: usize = 500;
const MOST_STEPS: usize = 40;

thread_local! {
    static STATES: RefCell<([Lua; 2], usize)> = RefCell::new((states(), 0));
}

/// Some messages, of whatever type.
const MESSAGES: [&[u8]; 8] = [
    b"",
    b"\x08\x01",
    b"\x08\x00\x12\x01s\x18\x01\x22\x02\x08\x05\x2a\x05\x0a\x01k\x12\x00",
    b"\x08\x01\x0a\x02\x08\x07\x12\x02\x08\x01\x12\x00\x1a\x04\x08\x01\x12\x00\x20\x02",
    b"\x08\x01\xa2\x06\x02\x08\x03\xa8\x06\x07\xb0\x06\x01",
    b"\x0a\x02\x08\x01\x0a\x04\x0a\x02\x08\x02\x12\x06\x0a\x01a\x12\x01\x00",
    b"\x1b\x08\x01\x13\x14\x1c",
    b"\x18\x63\x30\x05\x3a\x02\x08\x01\x42\x01\xff\x28\x01",
];

fn states() -> [Lua; 2] {
    [(); 2].map(|()| {
        let lua = Lua::new();
        protobuf_lua::preload(&lua).expect("it has room");
        lua
    })
}

pub fn run(data: &[u8]) {
    STATES.with_borrow_mut(|(states, runs)| {
        *runs += 1;
        if *runs > RUNS {
            (*states, *runs) = (self::states(), 1);
        }
        steps(&mut Input(data), states);
    });
}

/// An instance, and what it should be like.
struct Instance {
    module: Table,
    pcall: Function,
    registry: Registry,
    /// Tables that were decoded, and their types.
    kept: Vec<(&'static str, Table)>,
    /// Whether a file may have several names.
    aliases: bool,
}

impl Instance {
    fn new(lua: &Lua) -> Self {
        let require: Function = lua.globals().get("require").expect("a function");
        let new: Function = require.call::<Table>("protobuf").expect("the module").get("new").expect("a function");
        let options = lua.create_table().expect("it has room");
        options.set("sort_map", true).expect("it has room");
        let module = new.call(options).expect("an instance");
        let pcall = lua.globals().get("pcall").expect("a function");
        Instance { module, pcall, registry: Registry::new(), kept: Vec::new(), aliases: false }
    }

    fn function(&self, name: &str) -> Function {
        self.module.get(name).expect("a function")
    }

    /// Calls a function, which may raise: by `pcall`, for an error of mlua's looks for a traceback.
    fn attempt(&self, name: &str, arguments: impl IntoLuaMulti) {
        self.pcall.call::<()>((self.function(name), arguments)).expect("pcall raises nothing");
    }
}

fn steps(input: &mut Input, states: &[Lua; 2]) {
    let mut instances = [0, 1, 0].map(|at: usize| Instance::new(&states[at]));
    for _ in 0..MOST_STEPS {
        if input.is_empty() {
            break;
        }
        let step = input.byte();
        let at = usize::from(step >> 6) % 3;
        match step & 15 {
            0..8 => register(input, &mut instances[at]),
            8..11 => source(input, &mut instances[at]),
            11 => instances[at] = Instance::new(&states[at % 2]),
            12 => {
                instances[at].registry.clear();
                instances[at].aliases = false;
                instances[at].function("clear").call::<()>(()).expect("it is cleared");
            }
            13 => states[at % 2].gc_collect().expect("it collects"),
            _ => {}
        }
        exchange(&mut instances[at], input.pick(&TYPES), input.pick(&MESSAGES));
    }
    for instance in &mut instances {
        for name in TYPES {
            exchange(instance, name, MESSAGES[2]);
        }
        known::ask(instance.registry.types());
        if !instance.aliases {
            rebuild(&instance.registry);
        }
    }
}

fn version(input: &mut Input, instance: &mut Instance) -> &'static Version {
    let file = usize::from(input.byte()) % POOL.len();
    instance.aliases |= file == ALIAS;
    &POOL[file][usize::from(input.byte()) % POOL[file].len()]
}

/// Registers some files in one call.
fn register(input: &mut Input, instance: &mut Instance) {
    let mut set = Part::default();
    for _ in 0..=input.byte() % 3 {
        set.bytes(1, &version(input, instance).descriptor);
    }
    let mut set = set.bytes;
    if input.one_in(16) {
        set.truncate(usize::from(input.byte()));
    }
    let before = Arc::clone(instance.registry.types());
    let outcome = instance.registry.register(&set);
    if outcome.is_err() {
        assert!(Arc::ptr_eq(&before, instance.registry.types()), "an error has changed something");
    }
    compare(instance, "register", outcome, &set, None);
}

/// Compiles one file.
fn source(input: &mut Input, instance: &mut Instance) {
    let version = version(input, instance);
    let before = Arc::clone(instance.registry.types());
    let sources = Sources::text(version.text.as_bytes(), Some(version.name.as_bytes())).expect("it is text");
    let outcome = instance.registry.register_sources(sources);
    if outcome.is_err() {
        assert!(Arc::ptr_eq(&before, instance.registry.types()), "an error has changed something");
    }
    compare(instance, "register_source", outcome, version.text.as_bytes(), Some(version.name));
}

type Names = Option<Vec<String>>;
/// What registering returns in Lua.
type Told = (bool, Names, Names, Option<HashMap<String, String>>);

/// Does the same in Lua.
fn compare(
    instance: &Instance,
    function: &str,
    outcome: Result<Report, SchemaError>,
    bytes: &[u8],
    name: Option<&str>,
) {
    let lua = mlua::BString::from(bytes);
    let told: mlua::Result<Told> = instance.function(function).call((lua, name));
    match (outcome, told) {
        (Ok(report), Ok((true, missing, replaced, failed))) => {
            let names = |names: &[Arc<str>]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
            assert_eq!(names(&report.missing), missing.unwrap_or_default());
            assert_eq!(names(&report.replaced), replaced.unwrap_or_default());
            let all = report.failed.into_iter().map(|(name, why)| (name.to_string(), why.0));
            assert_eq!(all.collect::<HashMap<_, _>>(), failed.unwrap_or_default());
        }
        (Err(error), Err(told)) => assert!(told.to_string().contains(&error.0), "{} or {told}", error.0),
        (outcome, told) => panic!("{outcome:?} or {told:?}"),
    }
}

/// Decodes a message and encodes it again, with Lua and without, and uses tables from before.
fn exchange(instance: &mut Instance, name: &'static str, bytes: &[u8]) {
    let lua = mlua::BString::from(bytes);
    let decoded: Value = instance.function("decode").call((name, lua.clone())).expect("decode gives false");
    let again = decoded.as_table().map(|table| {
        let encoded: mlua::BString =
            instance.function("encode").call((name, table)).unwrap_or_else(|e| panic!("{name}: {e}"));
        encoded.to_vec()
    });
    assert_eq!(again, without_lua(&instance.registry, name, bytes), "{name} {}", bytes.escape_ascii());
    for field in ["x", "a", "m", "r", "p.da", "g"] {
        instance.attempt("unpack", (format!("{name} {field}"), lua.clone()));
    }
    instance.attempt("to_json", (name, lua));
    if let Value::Table(table) = decoded {
        instance.kept.push((name, table));
    }
    for (name, table) in &instance.kept {
        instance.attempt("encode", (*name, table));
        for key in ["x", "e", "a", "m", "p.da"] {
            let _: Value = table.get(key).expect("fields can be read");
        }
    }
    if instance.kept.len() > 8 {
        instance.kept.remove(0);
    }
}

fn without_lua(registry: &Registry, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let types = registry.types();
    let m = types.find_message(name)?;
    let trace = Trace::default();
    let budget = Budget { depth: 100, bytes: 1 << 20 };
    let cx = Context { set: &types.set, trace: &trace, budget, required: true, utf8: Flags::UTF8 };
    let mut tree = Tree::new(true);
    let root = format::decode(bytes, m, &mut tree, &mut { cx }).ok()?;
    let mut w = Writer::default();
    format::encode(&tree, root, m, &mut w, &mut { cx }).expect("what was decoded is encoded");
    Some(w.written().to_vec())
}

/// The same files in other orders make the same types.
fn rebuild(registry: &Registry) {
    let is_there = |version: &&Version| registry.types().find(&version.mark).is_some();
    let files: Vec<&Version> = POOL.iter().take(ALIAS).flatten().filter(is_there).collect();
    let summary = known::summary(registry.types());
    let mut whole = Registry::new();
    let mut set = Part::default();
    let mut single = Registry::new();
    for version in files.iter().rev() {
        set.bytes(1, &version.descriptor);
        single.register(&version.descriptor).unwrap_or_else(|e| panic!("{}: {}", version.mark, e.0));
    }
    if !files.is_empty() {
        whole.register(&set.bytes).unwrap_or_else(|e| panic!("together: {}", e.0));
    }
    assert_eq!(summary, known::summary(whole.types()), "together");
    assert_eq!(summary, known::summary(single.types()), "one by one");
}
