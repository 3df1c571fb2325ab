//! .proto text: what it compiles to, where imports are found, and what errors say.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use prost::Message;
use prost_types::FileDescriptorSet;

use crate::schema::{Registry, Sources};

/// A folder of one test's, emptied before.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("protobuf-lua-{}-{name}", std::process::id()));
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn files(registry: &mut Registry, paths: &[PathBuf], folders: &[PathBuf]) -> Result<bool, String> {
    let sources = Sources::files(paths, folders.to_vec()).map_err(|e| e.0)?;
    registry.changes_by(|registry| registry.register_sources(sources)).map_err(|e| e.0)
}

fn text(registry: &mut Registry, name: &str, text: &str) -> Result<bool, String> {
    let sources = Sources::text(text.as_bytes(), Some(name.as_bytes())).map_err(|e| e.0)?;
    registry.changes_by(|registry| registry.register_sources(sources)).map_err(|e| e.0)
}

/// The message of the error in `source`, which leaves nothing behind.
fn error(source: &str) -> String {
    let mut registry = Registry::new();
    let before = registry.types().clone();
    let e = text(&mut registry, "a.proto", source).unwrap_err();
    assert!(Arc::ptr_eq(&before, registry.types()));
    e
}

#[test]
fn text_compiles_to_what_protoc_makes_of_it() {
    for name in ["addressbook", "every2", "every3", "game", "login", "order", "reflection", "world"] {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("descriptors/{name}.proto"));
        let sources = Sources::files(std::slice::from_ref(&path), Vec::new()).unwrap();
        let compiled = super::compile(sources, &Registry::new()).unwrap();
        let mut compiled = FileDescriptorSet::decode(&*compiled).unwrap().file.remove(0);
        compiled.source_code_info = None;
        let protoc = FileDescriptorSet::decode(&*fs::read(path.with_extension("pb")).unwrap()).unwrap();
        let protoc = protoc.file.into_iter().find(|f| f.name() == compiled.name()).unwrap();
        // The parser writes a default of 1e100 in digits.
        let digits = format!("25{}", "0".repeat(99));
        let (compiled, protoc) = (format!("{compiled:#?}").replace(&digits, "2.5e+100"), format!("{protoc:#?}"));
        let differs = compiled.lines().zip(protoc.lines()).zip(1..).find(|((a, b), _)| a != b);
        assert_eq!(differs, None, "{name}");
        assert_eq!(compiled.len(), protoc.len(), "{name}");
    }
}

#[test]
fn text_equals_what_protoc_makes_of_it() {
    // Not those that protoc writes another way: every2 has a default of 1e100, reflection an option that is set in parts.
    for name in ["addressbook", "every3", "game", "login", "order", "world"] {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("descriptors/{name}.proto"));
        let protoc = fs::read(path.with_extension("pb")).unwrap();
        let mut registry = Registry::new();
        assert_eq!(registry.changes(&protoc), Ok(true), "{name}");
        assert_eq!(files(&mut registry, std::slice::from_ref(&path), &[]), Ok(false), "{name}");
        let mut registry = Registry::new();
        assert_eq!(files(&mut registry, &[path], &[]), Ok(true), "{name}");
        assert_eq!(registry.changes(&protoc), Ok(false), "{name}");
    }
}

#[test]
fn comments_are_no_part_of_a_file() {
    let mut registry = Registry::new();
    assert_eq!(text(&mut registry, "a.proto", "// one\nmessage A {}"), Ok(true));
    assert_eq!(text(&mut registry, "a.proto", "/* two */ message A { // three\n}"), Ok(false));
    assert_eq!(text(&mut registry, "b.proto", "message A {\n}"), Ok(false));
    assert_eq!(text(&mut registry, "a.proto", "message B {}"), Ok(true));
}

#[test]
fn errors_show_the_place() {
    for (source, message) in [
        ("message M {\n  int32 = 1;\n}", "a.proto:2:9: expected an identifier, but found '='\n  int32 = 1;\n        ^"),
        (
            "syntax = \"proto2\";\r\nmessage M {\r\n\toptional Nix a = 1;\r\n}",
            "a.proto:3:11: name 'Nix' is not defined\n optional Nix a = 1;\n          ^",
        ),
        ("\u{feff}message M { é }", "a.proto:1:13: invalid token\nmessage M { é }\n            ^"),
        ("message M {\n", "a.proto:1:12: expected "),
        ("package a;\npackage b;", "a.proto:2:1: multiple package names specified\npackage b;\n^"),
        ("\nimport \"no.proto\";", "a.proto:2:1: import \"no.proto\" is not registered\nimport \"no.proto\";\n^"),
        ("import \"../b.proto\";", "a.proto:1:8: invalid import: "),
        (
            "import \"google/protobuf/any.proto\"; import \"google/protobuf/any.proto\";",
            "a.proto:1:37: imports \"google/protobuf/any.proto\" twice\n",
        ),
        ("import \"a.proto\";", "a.proto: imports form a cycle: a.proto -> a.proto"),
        ("syntax = \"proto9\";", "a.proto:1:10: unknown syntax 'proto9' (possible values are 'proto2' and 'proto3')\n"),
        (
            "edition = \"2023\";",
            "a.proto:1:1: edition \"2023\": text is compiled with syntax \"proto2\" and \"proto3\" only; \
             compile this with protoc --include_imports -o, 27 or newer, and register what it writes\n",
        ),
        ("message M { optional int32 a = 068; }", "a.proto:1:32: 068 is no octal number\n"),
        ("message M { optional int32 a = 0; }", "a.proto:1:32: message numbers must be between 1 and 536870911\n"),
        (
            "message M { optional int32 a = 1; optional int32 b = 1; }",
            "a.proto:1:54: field number '1' is already used\n",
        ),
        ("option x = 1;", "a.proto:1:1: option field 'x' is not defined\n"),
        ("message M { /* ", "a.proto:1:15: expected comment terminator, but reached end of file\n"),
        ("message M { optional string s = 1 [default = \"\0\"]; }", "a.proto:1:47: invalid string character\n"),
    ] {
        let e = error(source);
        assert!(e.starts_with(message), "{e:?}");
    }
    assert_eq!(Sources::text(b"message M {\n \xff }", None).unwrap_err().0, "source:2:2: not UTF-8\n \u{fffd} }\n ^");
    for name in ["", "a\n.proto", "\0"] {
        assert_eq!(text(&mut Registry::new(), name, "").unwrap_err(), format!("{name:?} is no name for a file"));
    }
}

#[test]
fn comments_may_be_in_any_encoding() {
    // "Chinese" in GBK, in which the second byte of a character may be ASCII.
    let source =
        b"\xef\xbb\xbf/* \xd6\xd0\xce\xc4 */ syntax = \"proto3\"; // \x81\x5c\nmessage A { // \x80\n int32 a = 1; }";
    let mut registry = Registry::new();
    let mut register = |source: &[u8]| {
        registry.changes_by(|registry| registry.register_sources(Sources::text(source, Some(b"a.proto"))?))
    };
    assert_eq!(register(source), Ok(true));
    assert_eq!(register(b"syntax = \"proto3\"; message A { int32 a = 1; }"), Ok(false));
    let e = |source: &[u8]| Sources::text(source, None).unwrap_err().0;
    assert_eq!(e(b"/* \xd6\xd0 */\n// \xd6\n  \xd6 a"), "source:3:3: not UTF-8\n  \u{fffd} a\n  ^");
    assert_eq!(
        e(b"/* \xd6\xd0 */ = '// \xd6';"),
        "source:1:16: not UTF-8\n/*    */ = '// \u{fffd}';\n               ^"
    );
    assert!(error("// \u{4e2d}\n message A { = }").starts_with("a.proto:2:14: "));
}

#[test]
fn what_is_not_imported_is_named() {
    let mut registry = Registry::new();
    text(&mut registry, "b.proto", "package b; message B {}").unwrap();
    text(&mut registry, "c.proto", "package c; import \"b.proto\"; message C { optional b.B b = 1; }").unwrap();
    let e = text(&mut registry, "a.proto", "import \"c.proto\"; message A { optional b.B b = 1; }").unwrap_err();
    assert!(
        e.starts_with(
            "a.proto:1:40: name 'b.B' is not defined ('b.B' is defined in 'b.proto', which is not imported by 'a.proto')\n"
        ),
        "{e}"
    );
}

#[test]
fn text_without_a_name_is_named_after_itself() {
    let mut registry = Registry::new();
    let mut register = |text: &str| {
        registry.changes_by(|registry| registry.register_sources(Sources::text(text.as_bytes(), None).unwrap()))
    };
    assert_eq!(register("message A {}"), Ok(true));
    assert_eq!(register("message A {}"), Ok(false));
    assert_eq!(register("message B {}"), Ok(true));
    assert_eq!(register("message B { } // again"), Ok(false));
    let e = register("message B { optional int32 a = 1; }").unwrap_err().0;
    assert!(e.contains("'B' is already defined in file 'source-"), "{e}");
    assert_eq!(register(""), Ok(true));
}

#[test]
fn public_imports_are_seen_through() {
    let mut registry = Registry::new();
    text(&mut registry, "a.proto", "message A {}").unwrap();
    text(&mut registry, "b.proto", "import public \"a.proto\";").unwrap();
    text(&mut registry, "c.proto", "import public \"b.proto\";").unwrap();
    text(&mut registry, "d.proto", "import \"c.proto\"; message D { optional A a = 1; }").unwrap();
    let d = registry.types().find_message("D").unwrap();
    assert_eq!(&*registry.types().set.message(d.fields[0].sub).unwrap().name, "A");
}

#[test]
fn equal_files_of_several_names_are_imported_by_each() {
    let mut registry = Registry::new();
    for name in ["a.proto", "b.proto"] {
        text(&mut registry, name, "message A {}").unwrap();
    }
    text(&mut registry, "c.proto", "import \"b.proto\"; message C { optional A a = 1; }").unwrap();
    let both = "import \"a.proto\"; import \"b.proto\"; import \"c.proto\"; message D { optional C c = 1; }";
    assert_eq!(text(&mut registry, "d.proto", both), Ok(true));
}

#[test]
fn one_file_may_have_several_names() {
    let dir = folder(
        "names",
        &[
            ("sub/a.proto", "message A {}"),
            ("sub/b.proto", "import \"a.proto\"; message B { optional A a = 1; }"),
            (
                "c.proto",
                "import \"sub/b.proto\"; import \"sub/a.proto\"; message C { optional A a = 1; optional B b = 2; }",
            ),
        ],
    );
    let folders = [dir.clone(), dir.join("sub")];
    let orders: [&[&str]; 4] = [
        &["sub/a.proto", "sub/b.proto"],
        &["sub/b.proto", "sub/a.proto"],
        &["c.proto"],
        &["a.proto", "b.proto", "sub/a.proto", "sub/b.proto", "c.proto"],
    ];
    for paths in orders {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let mut registry = Registry::new();
        assert_eq!(files(&mut registry, &paths, &folders), Ok(true), "{paths:?}");
        assert_eq!(files(&mut registry, &paths, &folders), Ok(false), "{paths:?}");
        let both = "import \"a.proto\"; import \"sub/a.proto\"; message D { optional A a = 1; }";
        assert_eq!(text(&mut registry, "d.proto", both), Ok(true), "{paths:?}");
    }
    fs::remove_dir_all(dir).ok();
}

#[test]
fn imports_come_from_the_disk_before_the_registry() {
    let dir = folder(
        "disk",
        &[
            (
                "x/a.proto",
                "import \"b.proto\";\nimport \"e.proto\";\nmessage A { optional B b = 1; optional E e = 2; }",
            ),
            ("x/b.proto", "message B { optional int32 disk = 1; }"),
            ("y/b.proto", "message B { optional int32 hidden = 1; }"),
            ("y/sub/c.proto", "import \"b.proto\"; message C { optional B b = 1; }"),
        ],
    );
    let mut registry = Registry::new();
    assert_eq!(
        files(&mut registry, &["a.proto".into()], &[dir.join("x"), dir.join("y")]).unwrap_err(),
        format!(
            "{0}/x/a.proto:2:1: import \"e.proto\" is neither in \"{0}/x\", \"{0}/y\" nor registered\nimport \"e.proto\";\n^",
            dir.display(),
        )
    );
    text(&mut registry, "e.proto", "message E {}").unwrap();
    text(&mut registry, "f.proto", "message F {}").unwrap();
    assert_eq!(
        files(&mut registry, &["a.proto".into(), "sub/c.proto".into()], &[dir.join("x"), dir.join("y")]),
        Ok(true)
    );
    let b = registry.types().find_message("B").unwrap();
    assert_eq!(b.name_of(&b.fields[0]), "disk");
    // Again, all of it from the disk.
    assert_eq!(files(&mut registry, &[dir.join("x/a.proto")], &[]), Ok(false));
    fs::remove_dir_all(dir).ok();
}

#[test]
fn paths_are_seen_from_the_include_dirs() {
    let dir = folder(
        "paths",
        &[
            ("x/a.proto", "message A {}"),
            ("y/a.proto", "message A {}"),
            ("y/b.proto", "import \"a.proto\"; message B { optional A a = 1; }"),
            ("x/.hidden/é ü.proto", "message H {}"),
        ],
    );
    let (x, y) = (dir.join("x"), dir.join("y"));
    let named = |paths: &[PathBuf], folders: &[&PathBuf]| {
        let sources = Sources::files(paths, folders.iter().map(|f| f.to_path_buf()).collect()).map_err(|e| e.0)?;
        Ok::<_, String>(sources.roots.iter().map(|r| r.name.clone()).collect::<Vec<_>>())
    };
    for path in ["a.proto".into(), "./a.proto".into(), x.join("a.proto"), x.join("./././a.proto")] {
        assert_eq!(named(&[path], &[&dir.join("no"), &x]), Ok(vec!["a.proto".into()]));
    }
    assert_eq!(named(&[y.join("../x/a.proto")], &[&y.join("../x")]), Ok(vec!["a.proto".into()]));
    assert_eq!(named(&[x.join("a.proto"), "x/a.proto".into()], &[&dir]), Ok(vec!["x/a.proto".into()]));
    assert_eq!(named(&[".hidden/é ü.proto".into()], &[&x]), Ok(vec![".hidden/é ü.proto".into()]));
    assert_eq!(named(&[x.join("a.proto"), y.join("b.proto")], &[]), Ok(vec!["a.proto".into(), "b.proto".into()]));

    let shown = dir.display();
    let wrong = |paths: &[PathBuf], folders: &[&PathBuf]| named(paths, folders).unwrap_err();
    assert_eq!(
        wrong(&[y.join("a.proto")], &[&x, &y]),
        format!("{shown}/y/a.proto: {shown}/x/a.proto comes first in the include dirs")
    );
    assert_eq!(
        wrong(&[y.join("b.proto")], &[&x]),
        format!("{shown}/y/b.proto: is in none of the include dirs \"{shown}/x\"")
    );
    assert_eq!(wrong(&["../y/b.proto".into()], &[&x]), format!("../y/b.proto: there is no such file in \"{shown}/x\""));
    assert_eq!(wrong(&[x.join("no.proto")], &[&x]), format!("{shown}/x/no.proto: there is no such file"));
    assert_eq!(
        wrong(&[x.join("a.proto"), y.join("a.proto")], &[]),
        format!("{shown}/y/a.proto: would have the name \"a.proto\" of {shown}/x/a.proto")
    );
    assert!(wrong(&[x.join("no.proto")], &[]).starts_with(&format!("{shown}/x/no.proto: ")));
    assert_eq!(wrong(&[dir.join("x")], &[]), format!("{shown}/x: is not a file"));
    let twice = [PathBuf::from("a.proto"), "./a.proto".into(), x.join("a.proto"), x.join("./a.proto")];
    assert_eq!(named(&twice, &[&x]), Ok(vec!["a.proto".into()]));
    assert_eq!(named(&twice[2..], &[]), Ok(vec!["a.proto".into()]));
    assert!(!wrong(&[x.join("no.proto")], &[]).contains("os error"));
    for path in ["", "/", "..", "a\0.proto"] {
        for folders in [&[][..], &[&x]] {
            assert!(named(&[path.into()], folders).is_err(), "{path:?}");
        }
    }
    fs::remove_dir_all(dir).ok();
}

#[test]
fn hostile_text_is_an_error() {
    let nested = |open: &str, close: &str, n: usize| open.repeat(n) + &close.repeat(n);
    let option = |value: &str| {
        format!(
            "import \"google/protobuf/descriptor.proto\"; message R {{ optional R r = 1; repeated R l = 2; }}
            extend google.protobuf.FileOptions {{ optional R x = 5000; }} option (x){value};"
        )
    };
    let within_limits = [
        nested("message A {", "}", 40),
        format!("message M {{ {} }}", nested("optional group A = 1 {", "}", 39)),
        option(&format!("= {{ {} }}", nested("r {", "}", 39))),
        option(&format!("= {{ {} }}", nested("r <", ">", 39))),
        option(&format!("= {{ {} }}", nested("l: [{", "}]", 19))),
        option(&format!("{} = {{}}", ".r".repeat(31))),
    ];
    // What Rust gives to threads; the main threads of most systems have more, musl's other threads far less.
    let compile = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        for source in within_limits {
            assert_eq!(text(&mut Registry::new(), "a.proto", &source), Ok(true), "{source}");
        }
    });
    compile.unwrap().join().unwrap();

    let many: String = (0..40_000).map(|i| format!("A{i} = {i};")).collect();
    let reserved: String = (1..40_000).map(|i| format!("reserved {i}; A a{i} = {i};")).collect();
    let options: String = (20_000..28_000).map(|i| format!("optional int32 o{i} = {i};")).collect();
    let options = format!(
        "import \"google/protobuf/descriptor.proto\"; extend google.protobuf.FileOptions {{ {options} }} {}",
        (20_000..28_000).map(|i| format!("option (o{i}) = 1;")).collect::<String>()
    );
    let ranges: String = (2..10_002).map(|i| format!(", {i}")).collect();
    for (source, message) in [
        (format!("syntax = \"proto3\"; message A {{ {reserved} }}"), "too many reserved numbers"),
        (format!("message A {{ extensions 1{ranges}; }}"), "\"A\": more than 10,000 extension ranges"),
        (options, "a.proto: too many extensions and options"),
        (nested("message A {", "}", 100_000), "nested more than 40 levels deep"),
        (option(&format!("{} = {{}}", ".r".repeat(100_000))), "a name of more than 32 parts"),
        (format!("package {}p;", "p.".repeat(100_000)), "a name of more than 32 parts"),
        (nested("message A { ", "}", 39).repeat(2_000), "too much for one file up to here"),
        (format!("message {} {{}}", "M".repeat(100_000)), "is too long within its scope"),
        (format!("message {} {{ enum E {{ {many} }} }}", "M".repeat(900)), "is too long within its scope"),
        ("/* /* */ \" */ ".to_owned() + &"message A{".repeat(5_000), "a.proto:1:1: block comments do not nest"),
        (format!("option a{} = 1;", "\x0b.b".repeat(100_000)), "a name of more than 32 parts"),
        ("\0".into(), "invalid token"),
        ("{".repeat(40), "expected"),
        ("}>)]".repeat(1000), "expected"),
    ] {
        let e = error(&source);
        assert!(e.contains(message) && e.len() < 1000, "{e}");
    }
    for set in [&include_bytes!("../../../descriptors/addressbook.pb")[..], b"\n\x0b\n\x07a.proto\x12\0"] {
        let e = Sources::text(set, None).unwrap_err().0;
        assert!(e.starts_with("source: is no .proto text, but perhaps a descriptor set"), "{e}");
    }
    assert!(Sources::text(b"\n\t\r\n", None).is_ok());
    let large = vec![b' '; (2 << 20) + 1];
    assert_eq!(Sources::text(&large, None).unwrap_err().0, "source: is larger than 2 MiB");
}

#[test]
fn extensions_have_numbers_of_their_own() {
    let refused = |source: &str, message: &str| {
        let e = error(source);
        assert!(e.starts_with(message), "{e}");
    };
    refused(
        "import \"google/protobuf/descriptor.proto\";
        message M {} extend google.protobuf.FileOptions { optional M a = 5000; repeated int32 b = 5000; }
        option (a) = {}; option (b) = 1;",
        "a.proto:2:99: extensions \"a\" and \"b\" of \"google.protobuf.FileOptions\" have the same number 5000\n",
    );
    refused(
        "package p.q; message M { extensions 1 to 9; message M { extensions 1 to 9; }
        extend M { optional int32 a = 1; } extend .p.q.M { optional int32 b = 1; }
        message N { extend q.M.M { optional int32 c = 1; } } }",
        "a.proto:3:55: extensions \"p.q.M.a\" and \"p.q.M.N.c\" of \"p.q.M.M\" have the same number 1\n",
    );
    let options =
        "import \"google/protobuf/descriptor.proto\"; extend google.protobuf.FieldOptions { optional int32 a = 5000; }";
    let more = "import \"google/protobuf/descriptor.proto\"; package google; import \"a.proto\"; message M {}
        extend protobuf.MessageOptions { optional int32 c = 5000; } extend protobuf.FieldOptions { optional int32 d = 5000; }";
    let mut registry = Registry::new();
    assert_eq!(text(&mut registry, "a.proto", options), Ok(true));
    let e = text(&mut registry, "b.proto", more).unwrap_err();
    assert!(
        e.starts_with("b.proto:2:119: extensions \"a\" and \"google.d\" of \"google.protobuf.FieldOptions\""),
        "{e}"
    );
    assert_eq!(text(&mut registry, "b.proto", &more.replace("d = 5000", "d = 5001")), Ok(true));
}

#[test]
fn thousands_of_files_import_each_other() {
    let dir = folder("chain", &[]);
    let write = |i: usize, imported: usize| {
        fs::write(dir.join(format!("{i}.proto")), format!("import \"{imported}.proto\"; message M{i} {{}}")).unwrap();
    };
    let last = 3_000;
    (0..last).for_each(|i| write(i, i + 1));
    let first = [dir.join("0.proto")];
    fs::write(dir.join(format!("{last}.proto")), "").unwrap();
    assert_eq!(files(&mut Registry::new(), &first, &[]), Ok(true));
    write(last, 0);
    assert_eq!(
        files(&mut Registry::new(), &first, &[]).unwrap_err(),
        "0.proto: imports form a cycle: 0.proto -> 1.proto -> 2.proto -> ... -> 0.proto"
    );
    fs::remove_dir_all(dir).ok();
}
