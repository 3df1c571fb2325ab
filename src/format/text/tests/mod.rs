//! Text to bytes and bytes to text, by way of trees.

mod errors;
mod limits;
mod reading;
mod writing;

use std::sync::Arc;

use super::{Style, read, write};
use crate::error::{Text, Trace};
use crate::format::tests::{ENOUGH, context};
use crate::format::{Indent, Place, Tree, decode, encode};
use crate::kernel::Budget;
use crate::schema::Types;
use crate::schema::tests::registry;
use crate::wire::Writer;

const SCHEMA: &str = r#"
    syntax = "proto2";
    package p;
    import "google/protobuf/any.proto";
    enum Color { RED = 0; GREEN = 1; }
    message M {
        optional int32 i32 = 1;
        optional uint32 u32 = 2;
        optional int64 i64 = 3;
        optional uint64 u64 = 4;
        optional sint32 s32 = 5;
        optional float f = 6;
        optional double d = 7;
        optional bool b = 8;
        optional string s = 9;
        optional bytes y = 10;
        optional Color e = 11;
        optional M m = 12;
        repeated int32 list = 13 [packed = true];
        repeated M ms = 14;
        map<string, int32> map = 15;
        map<uint32, M> map_m = 16;
        optional group Group = 17 { optional int32 a = 1; }
        repeated group ManyGroups = 18 { optional int32 a = 1; }
        oneof o { int32 x = 19; string z = 20; M om = 21; }
        repeated string names = 22;
        optional google.protobuf.Any any = 23;
        reserved "gone", "lost";
        extensions 100 to 199;
    }
    message Needs { required int32 id = 1; }
    extend M {
        optional int32 ext = 100;
        repeated M ext_ms = 101;
        optional group ExtGroup = 102 { optional int32 a = 1; }
    }
    message Scope { extend M { optional string inner = 103; } }
    message Set { option message_set_wire_format = true; extensions 4 to max; }
    extend Set { optional Needs item = 5; }
"#;

const OPEN: &str = r#"
    syntax = "proto3";
    package q;
    enum E { ZERO = 0; ONE = 1; }
    message P {
        int32 i = 1; string s = 2; bytes y = 3; double d = 4; E e = 5; optional int32 o = 6; bool b = 7;
        map<int32, E> es = 8; map<bool, string> bs = 9; repeated E list = 10; oneof x { int32 m = 11; }
    }
"#;

const MULTI: Style = Style { unknown: false, indent: Indent::spaces(2) };
const LINE: Style = Style { unknown: false, indent: None };
const ALL: Style = Style { unknown: true, indent: None };

fn types(source: &str) -> Arc<Types> {
    registry(source).types().clone()
}

fn told(trace: &Trace, name: &str) -> String {
    let mut out = Text::new();
    trace.tell(name, None, &mut out);
    String::from_utf8_lossy(out.as_bytes()).into_owned()
}

/// The bytes that `text` is as the message `name`, or the error.
fn bytes_within(types: &Types, name: &str, text: &[u8], budget: Budget) -> Result<Vec<u8>, String> {
    let m = types.find_message(name).unwrap();
    let trace = Trace::default();
    let mut tree = Tree::default();
    let mut cx = context(&types.set, &trace);
    cx.budget = budget;
    let root = match read(text, m, types, &mut tree, &mut cx) {
        Ok(root) => root,
        Err(e) => {
            assert_eq!(tree.mark(), 0, "nothing stays open");
            return Err(format!("{} {}", told(&trace, name), Place::of(text, e.at)));
        }
    };
    assert_eq!(cx.budget.depth, budget.depth);
    let mut w = Writer::default();
    encode(&tree, root, m, &mut w, &mut cx).map_err(|_| told(&trace, name))?;
    Ok(w.written().to_vec())
}

fn bytes(types: &Types, name: &str, text: &str) -> Result<Vec<u8>, String> {
    bytes_within(types, name, text.as_bytes(), ENOUGH)
}

/// The text that `bytes` are as the message `name`, or the error.
fn text(types: &Types, name: &str, bytes: &[u8], style: &Style) -> Result<String, String> {
    let m = types.find_message(name).unwrap();
    let trace = Trace::default();
    let mut tree = Tree::new(true);
    let mut cx = context(&types.set, &trace);
    let root = decode(bytes, m, &mut tree, &mut cx).unwrap();
    let mut out = String::new();
    match write(&tree, root, m, types, style, &mut out, &mut cx) {
        Ok(()) => {
            // An error within an Any that is written as it is leaves nothing behind.
            assert_eq!(told(&trace, ""), ": ");
            Ok(out)
        }
        Err(_) => Err(told(&trace, name)),
    }
}

fn escaped(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
