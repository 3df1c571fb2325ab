//! Registering: what is accepted, in what order, and what an error leaves behind.

use std::sync::Arc;

use prost::Message;
use prost_types::{FileDescriptorProto, FileDescriptorSet};

use super::{compile, compile_set};
use crate::error::SchemaError;
use crate::schema::{Registry, Report, Types};

const A: &str =
    "syntax = \"proto3\"; package a; import \"b.proto\"; message A { b.B b = 1; E e = 2; } enum E { X = 0; }";
const B: &str = "syntax = \"proto3\"; package b; message B { int32 n = 1; }";

fn error(registry: &mut Registry, bytes: &[u8]) -> String {
    let before = registry.types().clone();
    let e = registry.register(bytes).unwrap_err().0;
    assert!(Arc::ptr_eq(&before, registry.types()), "{e}");
    e
}

fn names(names: &[Arc<str>]) -> Vec<&str> {
    names.iter().map(|name| &**name).collect()
}

fn missing(outcome: Result<Report, SchemaError>) -> String {
    names(&outcome.unwrap().missing).join(" ")
}

/// What an error says of `google.protobuf.Any`, which `file` does not import.
fn hidden(file: &FileDescriptorProto) -> String {
    let any = "'google.protobuf.Any' is defined in 'google/protobuf/any.proto'";
    format!("{any}, which is not imported by '{}'", file.name())
}

fn file(text: &str) -> FileDescriptorProto {
    compile_set(&[("x.proto", text)]).file.remove(0)
}

#[test]
fn files_may_come_in_any_order_within_a_set() {
    let mut set = compile_set(&[("b.proto", B), ("a.proto", A)]);
    for _ in 0..2 {
        let mut registry = Registry::new();
        assert_eq!(registry.changes(&set.encode_to_vec()), Ok(true));
        let a = registry.types().find_message("a.A").unwrap();
        assert_eq!(&*registry.types().set.message(a.fields[0].sub).unwrap().name, "b.B");
        set.file.reverse();
    }
}

#[test]
fn single_files_and_sets_mix() {
    let set = compile_set(&[("b.proto", B), ("a.proto", A)]);
    let mut registry = Registry::new();
    let alone = set.file[1].encode_to_vec();
    assert_eq!(missing(registry.register(&alone)), "b.proto");
    assert!(missing(registry.register(&set.file[0].encode_to_vec())).is_empty());
    assert_eq!(registry.changes(&alone), Ok(false));
    assert_eq!(registry.changes(&set.encode_to_vec()), Ok(false));
    assert!(registry.types().find_enum("a.E").is_some());
}

#[test]
fn equal_content_changes_nothing() {
    let bytes = compile(&[("b.proto", B)]);
    let mut registry = Registry::new();
    assert_eq!(registry.changes(&bytes), Ok(true));
    let before = registry.types().clone();
    assert_eq!(registry.changes(&bytes), Ok(false));
    assert!(Arc::ptr_eq(&before, registry.types()));
    let other = compile(&[("b.proto", &B.replace("= 1", "= 2"))]);
    // Within one set too.
    let twice = [bytes.clone(), bytes.clone()].concat();
    assert_eq!(Registry::new().changes(&twice), Ok(true));
    assert_eq!(error(&mut Registry::new(), &[bytes, other].concat()), "b.proto: given twice, with different content");
}

#[test]
fn equal_content_under_another_name_is_another_name() {
    let set = compile_set(&[("b.proto", B), ("a.proto", A)]);
    let named =
        |file: &FileDescriptorProto, name: &str| FileDescriptorProto { name: Some(name.into()), ..file.clone() };
    let [b, a] = [&set.file[0], &set.file[1]];
    let mut registry = Registry::new();
    assert_eq!(registry.changes(&b.encode_to_vec()), Ok(true));
    let before = registry.types().clone();
    assert_eq!(registry.changes(&named(b, "other.proto").encode_to_vec()), Ok(false));
    assert!(Arc::ptr_eq(&before.set, &registry.types().set));
    // The name is as good as the first.
    let differs = FileDescriptorProto { package: Some("p".into()), ..named(b, "other.proto") };
    assert_eq!(
        error(&mut registry, &differs.encode_to_vec()),
        "other.proto: already registered with package \"b\", not \"p\""
    );
    // It comes with a file that imports it, and with both names.
    let mut importer = a.clone();
    importer.dependency = vec!["third.proto".into(), "b.proto".into(), "other.proto".into()];
    importer.public_dependency = vec![1];
    let set = FileDescriptorSet { file: vec![importer, named(b, "third.proto")] };
    assert_eq!(registry.changes(&set.encode_to_vec()), Ok(true));
    assert!(registry.types().find_message("a.A").is_some());
    assert_eq!(registry.changes(&named(b, "third.proto").encode_to_vec()), Ok(false));
    // The pool is made again after an error.
    let clash = FileDescriptorProto { syntax: None, ..named(b, "clash.proto") };
    assert!(error(&mut registry, &clash.encode_to_vec()).starts_with("clash.proto: name 'b.B' is already defined"));
    let mut after = named(a, "c.proto");
    after.package = Some("c".into());
    after.dependency = vec!["other.proto".into()];
    after.message_type[0].field[1].type_name = Some(".c.E".into());
    assert_eq!(registry.changes(&after.encode_to_vec()), Ok(true));
}

#[test]
fn equal_content_within_one_set() {
    let set = compile_set(&[("b.proto", B), ("a.proto", A)]);
    let mut file = set.file;
    file.push(FileDescriptorProto { name: Some("b2.proto".into()), ..file[0].clone() });
    file.push(FileDescriptorProto { name: Some("b2.proto".into()), ..file[0].clone() });
    for import in ["b.proto", "b2.proto"] {
        file[1].dependency = vec![import.into()];
        for _ in 0..file.len() {
            file.rotate_left(1);
            let mut registry = Registry::new();
            assert_eq!(registry.changes(&FileDescriptorSet { file: file.clone() }.encode_to_vec()), Ok(true));
            for file in &file {
                assert_eq!(registry.changes(&file.encode_to_vec()), Ok(false));
            }
            let a = file.iter().find(|f| f.name() == "a.proto").unwrap();
            let again = FileDescriptorProto { name: Some("a2.proto".into()), ..a.clone() };
            assert_eq!(registry.changes(&again.encode_to_vec()), Ok(false));
        }
    }
    // Two names with other content for one of them.
    file[2] = FileDescriptorProto { package: Some("p".into()), ..file[2].clone() };
    let set = FileDescriptorSet { file };
    assert_eq!(error(&mut Registry::new(), &set.encode_to_vec()), "b2.proto: given twice, with different content");
}

#[test]
fn names_of_a_refused_set_are_not_kept() {
    let b = compile_set(&[("b.proto", B)]).file.remove(0);
    let alias = FileDescriptorProto { name: Some("alias.proto".into()), ..b.clone() };
    let mut bad = file("syntax = \"proto3\"; package b; message B {}");
    let mut registry = Registry::new();
    registry.register(&b.encode_to_vec()).unwrap();
    let set = FileDescriptorSet { file: vec![alias, bad.clone()] };
    assert!(error(&mut registry, &set.encode_to_vec()).starts_with("x.proto: name 'b.B' is "));
    bad.package = Some("c".into());
    bad.dependency = vec!["alias.proto".into()];
    assert_eq!(missing(registry.register(&bad.encode_to_vec())), "alias.proto");
    // What was an alias there may be a file of its own.
    let own =
        FileDescriptorProto { name: Some("alias.proto".into()), package: Some("d".into()), dependency: vec![], ..bad };
    assert!(missing(registry.register(&own.encode_to_vec())).is_empty());
    assert!(registry.types().find_message("c.B").is_some() && registry.types().find_message("d.B").is_some());
}

#[test]
fn files_without_definitions() {
    let empty = |name: &str, dependency: &[&str]| FileDescriptorProto {
        name: Some(name.into()),
        dependency: dependency.iter().map(|d| (*d).into()).collect(),
        public_dependency: (0..dependency.len() as i32).collect(),
        ..FileDescriptorProto::default()
    };
    let mut registry = Registry::new();
    // Not taken for a built-in one.
    assert_eq!(registry.changes(&empty("a.proto", &[]).encode_to_vec()), Ok(true));
    assert_eq!(registry.changes(&empty("b.proto", &[]).encode_to_vec()), Ok(false));
    let any = ["google/protobuf/any.proto"];
    assert_eq!(registry.changes(&empty("c.proto", &any).encode_to_vec()), Ok(true));
    assert_eq!(registry.changes(&empty("d.proto", &any).encode_to_vec()), Ok(false));
    for (package, import) in [("m1", "a.proto"), ("m2", "b.proto"), ("m3", "c.proto"), ("m4", "d.proto")] {
        let mut user = file("syntax = \"proto3\"; message M { M m = 1; }");
        user.name = Some(format!("{package}.proto"));
        user.package = Some(package.into());
        user.dependency = vec![import.into()];
        user.message_type[0].field[0].type_name = Some(".google.protobuf.Any".into());
        let seen = registry.changes(&user.encode_to_vec()).map_err(|e| e.0);
        if import < "c" {
            assert_eq!(
                seen,
                Err(format!(
                    "{package}.proto: {package}.M.m: name '.google.protobuf.Any' is not defined ({})",
                    hidden(&user)
                ))
            );
        } else {
            assert_eq!(seen, Ok(true));
        }
    }
    // Files that import themselves by another name.
    let set = FileDescriptorSet { file: vec![empty("e.proto", &["f.proto"]), empty("f.proto", &["f.proto"])] };
    assert_eq!(error(&mut registry, &set.encode_to_vec()), "e.proto: imports form a cycle: e.proto -> e.proto");
}

#[test]
fn positions_and_plans_stay() {
    let mut registry = Registry::new();
    registry.register(&compile(&[("stay.proto", &B.replace("package b", "package stay"))])).unwrap();
    let before: Arc<Types> = registry.types().clone();
    registry.register(&compile(&[("more.proto", "syntax = \"proto3\"; message New {} enum N { Z = 0; }")])).unwrap();
    let after = registry.types();
    assert!(before.find_message("New").is_none() && after.find_message("New").is_some());
    assert!(before.set.messages.iter().zip(&after.set.messages).all(|(a, b)| Arc::ptr_eq(a, b)));
    assert!(before.set.enums.iter().zip(&after.set.enums).all(|(a, b)| Arc::ptr_eq(a, b)));
    assert_eq!(
        (after.set.messages.len(), after.set.enums.len()),
        (before.set.messages.len() + 1, before.set.enums.len() + 1)
    );
}

#[test]
fn built_in_files_need_not_come_and_may() {
    let text = "syntax = \"proto3\"; import \"google/protobuf/any.proto\"; import \"google/protobuf/descriptor.proto\";
        extend google.protobuf.FieldOptions { int32 rank = 50000; }
        message M { google.protobuf.Any any = 1 [(rank) = 5]; google.protobuf.FileDescriptorSet set = 2; }";
    let mut registry = Registry::new();
    assert_eq!(registry.changes(&compile(&[("m.proto", text)])), Ok(true));
    let m = registry.types().find_message("M").unwrap();
    assert_eq!(&*registry.types().set.message(m.fields[0].sub).unwrap().name, "google.protobuf.Any");

    let own = FileDescriptorProto {
        name: Some("google/protobuf/any.proto".into()),
        ..file("syntax = \"proto3\"; message Mine {}")
    };
    let set = FileDescriptorSet { file: vec![own] };
    assert_eq!(registry.changes(&set.encode_to_vec()), Ok(false));
    assert!(registry.types().find("Mine").is_none());
}

#[test]
fn instances_share_the_built_in_types() {
    let (a, b) = (Registry::new(), Registry::new());
    assert!(Arc::ptr_eq(&a.types().set, &b.types().set));
}

#[test]
fn public_imports_are_seen_through_all_the_way() {
    let mut set = compile_set(&[
        ("d.proto", "syntax = \"proto3\"; message D {}"),
        ("c.proto", "syntax = \"proto3\"; import public \"d.proto\";"),
        ("b.proto", "syntax = \"proto3\"; import public \"c.proto\"; import \"google/protobuf/any.proto\";"),
        ("a.proto", "syntax = \"proto3\"; import \"b.proto\"; import \"d.proto\"; message A { D d = 1; }"),
    ]);
    set.file[3].dependency.truncate(1);
    let mut registry = Registry::new();
    assert_eq!(registry.changes(&set.encode_to_vec()), Ok(true));
    let mut bad = set.clone();
    bad.file[3].message_type[0].field[0].type_name = Some(".google.protobuf.Any".into());
    assert_eq!(
        error(&mut Registry::new(), &bad.encode_to_vec()),
        format!("a.proto: A.d: name '.google.protobuf.Any' is not defined ({})", hidden(&bad.file[3]))
    );
    // One by one as well.
    let mut registry = Registry::new();
    for file in set.file {
        assert_eq!(registry.changes(&file.encode_to_vec()), Ok(true));
    }
}

#[test]
fn json_names_of_proto2_and_letter_case_may_clash() {
    for text in [
        "syntax = \"proto2\"; message M { optional int32 foo_bar = 1; optional int32 fooBar = 2; }",
        "syntax = \"proto3\"; message M { int32 foo_bar = 1; int32 foobar = 2; }",
    ] {
        let mut bare = file("syntax = \"proto2\"; message M { optional int32 a = 1; optional int32 b = 2; }");
        bare.syntax = text.contains("proto3").then(|| "proto3".into());
        bare.message_type[0].field[0].name = Some("foo_bar".into());
        bare.message_type[0].field[1].name = Some(if text.contains("fooBar") { "fooBar" } else { "foobar" }.into());
        assert_eq!(Registry::new().changes(&bare.encode_to_vec()), Ok(true), "{text}");
    }
}

#[test]
fn an_error_leaves_the_registry_as_it_was() {
    let good = compile_set(&[("b.proto", B), ("a.proto", A)]);
    let mut registry = Registry::new();
    registry.register(&good.file[0].encode_to_vec()).unwrap();
    // The second file of the set does not link, after the first one did.
    let mut bad = file("syntax = \"proto3\"; package x; message X { int32 n = 1; }");
    bad.message_type[0].field[0].r#type = None;
    bad.message_type[0].field[0].type_name = Some("Nowhere".into());
    let set = FileDescriptorSet { file: vec![good.file[1].clone(), bad] };
    assert_eq!(error(&mut registry, &set.encode_to_vec()), "x.proto: x.X.n: name 'Nowhere' is not defined");
    assert!(registry.types().find("a.A").is_none());
    assert_eq!(registry.changes(&good.encode_to_vec()), Ok(true));
    assert!(registry.types().find("a.A").is_some());
}

#[test]
fn clear_forgets() {
    let mut registry = Registry::new();
    let bytes = compile(&[("b.proto", B)]);
    registry.register(&bytes).unwrap();
    registry.clear();
    assert!(registry.types().find("b.B").is_none());
    assert!(registry.types().find("google.protobuf.Any").is_some());
    assert_eq!(registry.changes(&bytes), Ok(true));
}

#[test]
fn registries_are_send_and_sets_are_shared() {
    fn send<T: Send>() {}
    fn sync<T: Send + Sync>() {}
    send::<Registry>();
    sync::<Arc<Types>>();
}

/// `n` files that import each other in a binary tree, ten messages each.
fn forest(n: usize) -> FileDescriptorSet {
    let template = file(&format!(
        "syntax = \"proto3\"; message M {{ {} M self = 21; map<string, int32> map = 22; }}",
        (1..=20).map(|i| format!("int32 f{i} = {i};")).collect::<String>()
    ));
    let file = (0..n)
        .map(|i| {
            let mut file = template.clone();
            file.name = Some(format!("f{i}.proto"));
            file.package = Some(format!("p{i}"));
            let message = file.message_type.remove(0);
            for m in 0..10 {
                let mut message = message.clone();
                message.name = Some(format!("M{m}"));
                message.field[20].type_name = Some(format!(".p{}.M{}", if i > 0 { (i - 1) / 2 } else { 0 }, m));
                message.field[21].type_name = Some(format!(".p{i}.M{m}.MapEntry"));
                file.message_type.push(message);
            }
            if i > 0 {
                file.dependency.push(format!("f{}.proto", (i - 1) / 2));
            }
            file
        })
        .rev()
        .collect();
    FileDescriptorSet { file }
}

#[test]
fn many_files_at_once_and_one_by_one() {
    let set = forest(200);
    let mut at_once = Registry::new();
    assert_eq!(at_once.changes(&set.encode_to_vec()), Ok(true));
    let mut one_by_one = Registry::new();
    for file in set.file.iter().rev() {
        // A handle on the set, as an instance holds one.
        let _held = one_by_one.types().clone();
        assert_eq!(one_by_one.changes(&file.encode_to_vec()), Ok(true));
    }
    assert_eq!(at_once.types().set.messages.len(), one_by_one.types().set.messages.len());
    let m = one_by_one.types().find_message("p199.M9").unwrap();
    assert_eq!(&*one_by_one.types().set.message(m.fields[20].sub).unwrap().name, "p99.M9");
}
