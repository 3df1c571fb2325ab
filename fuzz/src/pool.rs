//! Files that import, extend and contradict each other, in several versions.

use std::sync::LazyLock;

use prost::Message;

/// Of each file: its name, the package of its types, and the versions. A version has a message `Mark` with the file's
/// letter and the version's number, by which it is recognized.
const TEXTS: [(&str, &str, &[&str]); 7] = [
    (
        "a.proto",
        "proto3",
        &[
            "message A { int32 x = 1; string s = 2; E e = 3; repeated A more = 4; map<string, A> m = 5; }
             enum E { Z = 0; Y = 1; }",
            "message A { int32 x = 1; string s = 2; E e = 3; repeated A more = 4; map<string, A> m = 5;
                         oneof o { int64 n = 6; A one = 7; } bytes b = 8; }
             enum E { Z = 0; Y = 1; W = 2; }",
            "message A { string x = 1; A s = 2; E e = 3; repeated int32 more = 4; map<int32, E> m = 5; }
             enum E { Z = 0; Q = 1; }",
            "message A { sint64 x = 1; }",
            "",
            "import 'z.proto'; message A { Z x = 1; Z.N s = 2; } enum E { Z0 = 0; }",
            "message A { int32 x = 1; int32 y = 1; } enum E { Z = 0; }",
        ],
    ),
    (
        "b.proto",
        "proto3",
        &[
            "import 'a.proto'; message B { A a = 1; repeated A as = 2; map<int32, A> m = 3; E e = 4; }",
            "message B { int32 a = 1; repeated int32 as = 2; }",
            "message B { A a = 1; } message A { int32 x = 1; } enum E { Z = 0; }",
            "import 'a.proto'; import 'c.proto'; message B { A a = 1; C c = 2; }",
            "import public 'a.proto'; message B { optional A a = 1; repeated E es = 2; }",
        ],
    ),
    (
        "c.proto",
        "proto3",
        &[
            "import public 'b.proto'; message C { B b = 1; map<string, B> m = 2; }",
            "import 'b.proto'; message C { B b = 1; A a = 2; }",
            "message C { C c = 1; } service S { rpc M(C) returns (stream C); }",
        ],
    ),
    (
        "d.proto",
        "proto2",
        &[
            "import 'a.proto'; message D { required int32 r = 1; optional A a = 2; extensions 100 to 200; }
             extend D { optional A da = 100; }",
            "import 'a.proto'; message D { optional int32 r = 1 [default = 7]; optional A a = 2; extensions 100 to 200; }
             extend D { repeated int32 da = 102; }",
            "message D { optional group G = 3 { optional int32 r = 1; optional D d = 2; } extensions 101; }",
            "message D { optional int32 r = 1; }",
        ],
    ),
    (
        "e.proto",
        "proto2",
        &[
            "import 'd.proto'; extend D { optional int32 qe = 101; } message F { optional D d = 1; repeated D ds = 2; }",
            "import 'd.proto'; extend D { optional int32 qe = 100; } message F { optional D d = 1; }",
            "import 'c.proto'; message F { optional B d = 1; optional C c = 2; }",
        ],
    ),
    ("z.proto", "proto3", &["message Z { int32 z = 1; message N { int64 n = 1; Z z = 2; } }", "message Z {}"]),
    (
        "f.proto",
        "proto3",
        // The first is that of a.proto.
        &[
            "message A { int32 x = 1; string s = 2; E e = 3; repeated A more = 4; map<string, A> m = 5; }
             enum E { Z = 0; Y = 1; }",
            "import 'f.proto'; message Self { Self self = 1; }",
            "",
        ],
    ),
];

/// A version of a file.
pub struct Version {
    pub name: &'static str,
    /// By which it is recognized.
    pub mark: String,
    pub text: String,
    /// A `FileDescriptorProto`, whose types are not resolved.
    pub descriptor: Vec<u8>,
}

/// The position of the file that may be another name of the first one.
pub const ALIAS: usize = 6;

/// The types of which some are there.
pub const TYPES: [&str; 9] = ["p.A", "p.B", "p.C", "p.D", "p.F", "p.Z", "p.Z.N", "p.D.G", "p.Self"];

pub static POOL: LazyLock<Vec<Vec<Version>>> = LazyLock::new(|| TEXTS.iter().map(versions).collect());

fn versions((name, syntax, texts): &(&'static str, &str, &[&str])) -> Vec<Version> {
    let version = |(number, text): (usize, &&str)| {
        let letter = if *name == "f.proto" && number == 0 { "A" } else { &name[..1].to_uppercase() };
        let mark = format!("Mark{letter}{number}");
        let text = format!("syntax = '{syntax}'; package p; {text} message {mark} {{}}");
        let mut file = protox_parse::parse(name, &text).expect("it parses");
        file.source_code_info = None;
        Version { name, mark: format!("p.{mark}"), descriptor: file.encode_to_vec(), text }
    };
    texts.iter().enumerate().map(version).collect()
}
