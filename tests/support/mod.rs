//! What tests share.

#![allow(dead_code, reason = "no test uses all of it")]

pub mod counting;
pub mod interrupt;
pub mod scale;

use mlua::{Lua, LuaString, ObjectLike, Table};

use scale::{File, Random, Sample};

/// A Lua state as a host has it, and what `require "protobuf"` gives.
pub fn lua() -> (Lua, Table) {
    // SAFETY: the tests' own scripts do nothing unsafe; LuaJIT's numbers of 64 bits need its `ffi` library, which a safe
    // state does not load.
    let lua = unsafe { Lua::unsafe_new() };
    protobuf_lua::preload(&lua).expect("protobuf is preloaded");
    let protobuf = lua.load("return require 'protobuf'").eval().expect("the module");
    (lua, protobuf)
}

/// What `register` returns; an empty list where it gives none.
pub fn register(lua: &Lua, protobuf: &Table, bytes: &[u8]) -> mlua::Result<(bool, Vec<String>, Vec<String>)> {
    let bytes = lua.create_string(bytes)?;
    let (done, missing, replaced): (bool, Option<Vec<String>>, Option<Vec<String>>) =
        protobuf.call_function("register", bytes)?;
    Ok((done, missing.unwrap_or_default(), replaced.unwrap_or_default()))
}

pub fn samples(files: &[File]) -> impl Iterator<Item = &Sample> {
    files.iter().flat_map(|file| &file.samples)
}

/// The bytes of a sample. Decoding and encoding them again must give the same.
pub fn encode(lua: &Lua, sample: &Sample) -> Vec<u8> {
    let Sample { name, table } = sample;
    let code = format!(
        "local protobuf = require 'protobuf'
         local bytes = protobuf.encode('{name}', {table})
         local again = protobuf.encode('{name}', assert(protobuf.decode('{name}', bytes)))
         assert(again == bytes, 'it differs when it was decoded and encoded again')
         local json = protobuf.to_json('{name}', bytes)
         assert(protobuf.encode('{name}', assert(protobuf.from_json('{name}', json))) == bytes, json)
         return bytes"
    );
    let bytes: LuaString = lua.load(code).eval().unwrap_or_else(|e| panic!("{name}: {e}\n{table}"));
    bytes.as_bytes().to_vec()
}

/// A large project, and what the samples of its messages are encoded to.
pub struct Project {
    pub files: Vec<File>,
    pub set: Vec<u8>,
    bytes: Vec<Vec<u8>>,
}

impl Project {
    pub fn new(seed: u64, messages: usize, files: usize) -> Project {
        let files = scale::files(seed, messages, files);
        let set = scale::set_of(&files);
        let (lua, protobuf) = lua();
        register(&lua, &protobuf, &set).expect("it registers");
        let bytes = samples(&files).map(|sample| encode(&lua, sample)).collect();
        Project { files, set, bytes }
    }

    pub fn random_file<'a>(&'a self, random: &mut Random) -> &'a File {
        &self.files[random.below(self.files.len())]
    }

    /// Encodes and decodes one of the messages.
    pub fn use_one(&self, lua: &Lua, random: &mut Random) {
        let at = random.below(self.bytes.len());
        let sample = samples(&self.files).nth(at).expect("a sample");
        assert!(encode(lua, sample) == self.bytes[at], "{}", sample.name);
    }
}
