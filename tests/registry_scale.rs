//! Registering the files of a large project: in whatever order they come, the outcome is the same.
#![cfg(feature = "vendored")]

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mlua::{Lua, LuaString, ObjectLike, Table};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};
use prost_types::FileDescriptorSet;
use prost_types::field_descriptor_proto::{Label, Type};

use support::scale::{self, File, Random};
use support::{encode, register, samples};

mod support;

const SEED: u64 = 2026;

/// Tests run unoptimized; the benchmark has ten times the messages.
fn project() -> Vec<File> {
    scale::files(SEED, 1000, 70)
}

/// The bytes of all samples.
fn encode_files(lua: &Lua, files: &[File]) -> Vec<Vec<u8>> {
    samples(files).map(|sample| encode(lua, sample)).collect()
}

/// A state with the whole set, and the bytes of all samples.
fn reference(files: &[File]) -> (Table, Vec<Vec<u8>>, Lua) {
    let (lua, protobuf) = support::lua();
    let outcome = register(&lua, &protobuf, &scale::set_of(files)).expect("the set registers");
    assert_eq!(outcome, (true, vec![], vec![]));
    (protobuf, encode_files(&lua, files), lua)
}

#[test]
fn the_project_has_everything() {
    let files = project();
    let bytes = scale::set_of(&files);
    assert!(bytes == scale::set_of(&project()), "the same seed gives the same files");

    let pool = DescriptorPool::decode(&*bytes).expect("it links");
    let messages = pool.all_messages().filter(|m| m.package_name().starts_with("acme") && !m.is_map_entry());
    let groups = pool.all_messages().flat_map(|m| m.fields().collect::<Vec<_>>()).filter(|f| f.is_group()).count();
    assert_eq!((messages.count() - groups, samples(&files).count()), (1000, 1000));
    assert!(groups > 0);

    let set = FileDescriptorSet::decode(&*bytes).expect("a set");
    let files: Vec<_> = set.file.iter().filter(|f| f.package().starts_with("acme")).collect();
    assert_eq!(files.len(), 70);
    assert!(files.iter().any(|f| f.syntax() == "proto3") && files.iter().any(|f| f.syntax() != "proto3"));
    assert!(files.iter().any(|f| !f.public_dependency.is_empty()));
    assert!(files.iter().any(|f| !f.service.is_empty()));
    assert!(files.iter().skip(1).any(|f| f.extension.len() > 1));
    assert!(files.iter().flat_map(|f| &f.message_type).any(|m| !m.extension.is_empty()));

    let messages = || pool.all_messages().filter(|m| m.package_name().starts_with("acme"));
    let mut kinds = HashSet::new();
    for f in messages().flat_map(|m| m.fields().collect::<Vec<_>>()) {
        let proto = f.field_descriptor_proto();
        kinds.insert(proto.r#type());
        let features = [f.is_map(), f.is_packed(), proto.proto3_optional(), proto.default_value.is_some()];
        assert!(proto.label() != Label::Required || !features.contains(&true), "{}", f.full_name());
    }
    assert_eq!(kinds.len(), 18, "{kinds:?}");
    assert!(kinds.contains(&Type::Group));
    assert!(messages().any(|m| m.oneofs().any(|o| o.fields().len() > 1)));
    let set_options = |options: DynamicMessage| options.extensions().count();
    assert!(messages().map(|m| set_options(m.options())).sum::<usize>() > 10);
    assert!(
        messages().flat_map(|m| m.fields().collect::<Vec<_>>()).map(|f| set_options(f.options())).sum::<usize>() > 10
    );
}

#[test]
fn samples_are_what_prost_reflect_reads() {
    let files = project();
    let pool = DescriptorPool::decode(&*scale::set_of(&files)).expect("it links");
    let (protobuf, all, lua) = reference(&files);
    for (sample, bytes) in samples(&files).zip(all) {
        let descriptor = pool.get_message_by_name(&sample.name).expect("the type");
        let message = DynamicMessage::decode(descriptor, &*bytes).expect("it decodes");
        assert_eq!(message.unknown_fields().count(), 0, "{}", sample.name);
        // Not the same bytes: it leaves zeros out of the entries of maps.
        let theirs = lua.create_string(message.encode_to_vec()).expect("a string");
        let table: Table = protobuf.call_function("decode", (&*sample.name, theirs)).expect("it decodes");
        let again: LuaString = protobuf.call_function("encode", (&*sample.name, table)).expect("it encodes");
        assert!(again.as_bytes() == bytes, "{}: {message}", sample.name);
    }
}

/// Registers file by file; gives the state, with all of them in it.
fn one_by_one(files: &[&File], all: usize) -> (Lua, Table) {
    let (lua, protobuf) = support::lua();
    let mut registered = HashSet::new();
    let built_in = |name: &str| name.starts_with("google/");
    for (i, file) in files.iter().enumerate() {
        let (done, missing, replaced) = register(&lua, &protobuf, &file.bytes).expect("it registers");
        registered.insert(&*file.name);
        assert!(done && replaced.is_empty(), "{}: {replaced:?}", file.name);
        for import in &file.imports {
            let there = registered.contains(&**import) || built_in(import);
            assert_eq!(missing.contains(import), !there, "{} of {}", import, file.name);
        }
        if i + 1 == all {
            assert_eq!(missing, Vec::<String>::new());
        }
    }
    (lua, protobuf)
}

/// Whatever the order, and whether or not another state has the whole set, whose types can be shared then.
#[test]
fn every_order_gives_the_same() {
    let files = project();
    let in_order: Vec<&File> = files.iter().collect();
    let reversed: Vec<&File> = files.iter().rev().collect();
    let mut shuffled = in_order.clone();
    Random(SEED).shuffle(&mut shuffled);
    let whole = scale::set_of(&files);
    for beside in [false, true] {
        let (other, expected, lua) = reference(&files);
        let other = beside.then_some((other, lua));
        for order in [&in_order, &reversed, &shuffled] {
            let (lua, protobuf) = one_by_one(order, files.len());
            assert!(encode_files(&lua, &files) == expected);
            // And the whole set is nothing new then.
            let again = register(&lua, &protobuf, &whole).expect("it registers");
            assert_eq!(again, (true, vec![], vec![]));
            assert!(encode_files(&lua, &files) == expected);
        }
        drop(other);
    }
}

#[test]
fn types_wait_for_imports() {
    let files = project();
    let last = files.last().expect("a file");
    let (lua, protobuf) = support::lua();
    let (_, missing, _) = register(&lua, &protobuf, &last.bytes).expect("it waits");
    let import = missing.first().expect("a file that is missing");
    let name = last.revised_type();
    let error = protobuf.call_function::<Table>("encode", (name, lua.create_table().expect("a table")));
    let error = error.expect_err("the type waits").to_string();
    assert!(error.contains(&**import), "{error}");
    let (table, error): (mlua::Value, String) = protobuf.call_function("decode", (name, "")).expect("no error");
    assert!(table == mlua::Value::Boolean(false) && error.contains(&**import), "{table:?}, {error}");

    // The set brings all that is missing, and the waiting file once more.
    let (_, missing, replaced) = register(&lua, &protobuf, &scale::set_of(&files)).expect("it registers");
    assert_eq!((missing, replaced), (vec![], vec![]));
    assert!(encode_files(&lua, &files) == reference(&files).1);
}

#[test]
fn a_reload_reaches_those_who_import() {
    let files = project();
    let (lua, protobuf) = support::lua();
    register(&lua, &protobuf, &scale::set_of(&files)).expect("it registers");
    let expected = encode_files(&lua, &files);

    // The first file in whose first message another file has a field.
    let users = |changed: &File| {
        let others = files.iter().filter(|file| file.name != changed.name);
        others.filter_map(|file| file.user_of(changed)).next()
    };
    let (changed, (user, field)) = files.iter().find_map(|f| Some((f, users(f)?))).expect("a user");
    let has = |version: u16| {
        let name = format!("revision_{version}");
        protobuf.call_function::<bool>("check", (changed.revised_type(), name)).expect("a boolean")
    };
    assert!(!has(1));
    for version in 1..=3 {
        let (_, missing, replaced) = register(&lua, &protobuf, &changed.revised(version)).expect("it reloads");
        assert_eq!((missing, replaced), (vec![], vec![changed.name.clone()]));
        assert!(has(version) && !has(version - 1) && !has(version + 1));
        assert!(encode_files(&lua, &files) == expected);

        let nested = "local pb = require 'protobuf'
             local name, field, version = ...
             local bytes = pb.encode(name, { [field] = { ['revision_' .. version] = 7 } })
             return pb.decode(name, bytes)[field]['revision_' .. version]";
        let got: i32 = lua.load(nested).call((&*user, &*field, version)).expect("the new field is there");
        assert_eq!(got, 7);
    }
    let (_, missing, replaced) = register(&lua, &protobuf, &changed.bytes).expect("it reloads");
    assert_eq!((missing, replaced), (vec![], vec![changed.name.clone()]));
    assert!(!has(3));
    assert!(encode_files(&lua, &files) == expected);
}

/// A state, and what it should have: the versions of the files that were given to it.
struct History<'a> {
    lua: Lua,
    protobuf: Table,
    files: &'a [File],
    versions: BTreeMap<usize, u16>,
}

impl<'a> History<'a> {
    fn new(files: &'a [File]) -> Self {
        let (lua, protobuf) = support::lua();
        History { lua, protobuf, files, versions: BTreeMap::new() }
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.files.iter().position(|file| file.name == name)
    }

    /// The given files whose imports are all there.
    fn linked(&self) -> BTreeSet<usize> {
        let mut linked: BTreeSet<usize> = self.versions.keys().copied().collect();
        loop {
            let there = |import: &String| self.position(import).is_none_or(|at| linked.contains(&at));
            let left: BTreeSet<usize> =
                linked.iter().copied().filter(|at| self.files[*at].imports.iter().all(there)).collect();
            if left == linked {
                return linked;
            }
            linked = left;
        }
    }

    fn missing(&self) -> Vec<String> {
        let linked = self.linked();
        let waiting = self.versions.keys().filter(|at| !linked.contains(at));
        let imports = waiting.flat_map(|at| &self.files[*at].imports);
        let missing = imports.filter(|name| self.position(name).is_some_and(|at| !self.versions.contains_key(&at)));
        missing.cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Registers some files in some versions, and compares what that tells and does.
    fn step(&mut self, random: &mut Random, bytes: &[[Vec<u8>; VERSIONS]], samples: &[Vec<u8>]) {
        let mut given: Vec<usize> = (0..self.files.len()).collect();
        random.shuffle(&mut given);
        given.truncate(1 + [0, 1, 3, self.files.len()][random.below(4)]);
        let linked = self.linked();
        let mut replaced = Vec::new();
        let mut set = Vec::new();
        for at in given {
            // Mostly the first version.
            let version = random.below(2) * random.below(VERSIONS);
            set.push(&*bytes[at][version]);
            let before = self.versions.insert(at, version as u16);
            if linked.contains(&at) && before != Some(version as u16) {
                replaced.push(self.files[at].name.clone());
            }
        }
        replaced.sort();
        let told = register(&self.lua, &self.protobuf, &scale::set(set)).expect("it registers");
        assert_eq!(told, (true, self.missing(), replaced));

        let linked = self.linked();
        let mut sample = 0;
        for (at, file) in self.files.iter().enumerate() {
            for version in 1..VERSIONS as u16 {
                let field = format!("revision_{version}");
                let has: bool = self.protobuf.call_function("check", (file.revised_type(), field)).expect("a boolean");
                assert_eq!(has, linked.contains(&at) && self.versions[&at] == version, "{} {version}", file.name);
            }
            let one = random.below(file.samples.len());
            if linked.contains(&at) {
                assert!(encode(&self.lua, &file.samples[one]) == samples[sample + one], "{}", file.samples[one].name);
            }
            sample += file.samples.len();
        }
    }
}

const VERSIONS: usize = 3;

/// Several states at once, so that they share what they have in common.
#[test]
fn random_histories() {
    let files = scale::files(SEED, 80, 12);
    let (_, samples, _) = reference(&files);
    let bytes: Vec<[Vec<u8>; VERSIONS]> =
        files.iter().map(|file| [file.bytes.clone(), file.revised(1), file.revised(2)]).collect();
    let mut random = Random(SEED);
    let mut states: Vec<History> = (0..4).map(|_| History::new(&files)).collect();
    for _ in 0..400 {
        let at = random.below(states.len());
        match random.below(12) {
            0 => states[at] = History::new(&files),
            1 => states[at].lua.gc_collect().expect("garbage is collected"),
            _ => states[at].step(&mut random, &bytes, &samples),
        }
    }
}
