//! Files whose imports are missing: they wait, and link in whatever order these come.

use prost::Message;
use prost_types::descriptor_proto::ExtensionRange;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

use super::compile_set;
use crate::error::SchemaError;
use crate::schema::{Registry, Report, unknown_type};

/// Files `wN.proto` of package `wN`, each of which imports the one before it and uses its message.
fn chain(package: &str, n: usize) -> Vec<FileDescriptorProto> {
    let name = |i: usize| format!("{package}{i}.proto");
    let text = |i: usize| match i.checked_sub(1) {
        None => format!("syntax = \"proto3\"; package {package}0; message M {{}}"),
        Some(j) => format!(
            "syntax = \"proto3\"; package {package}{i}; import \"{}\"; message M {{ {package}{j}.M m = 1; }} service S {{}}",
            name(j)
        ),
    };
    let sources: Vec<(String, String)> = (0..n).map(|i| (name(i), text(i))).collect();
    compile_set(&sources.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect::<Vec<_>>()).file
}

fn give(registry: &mut Registry, files: &[&FileDescriptorProto]) -> Report {
    let set = FileDescriptorSet { file: files.iter().map(|f| (*f).clone()).collect() };
    registry.register(&set.encode_to_vec()).unwrap()
}

fn missing(report: &Report) -> String {
    report.missing.join(" ")
}

fn why_not(registry: &Registry, name: &str) -> String {
    unknown_type(registry.types(), name).0
}

#[test]
fn a_chain_links_when_its_last_link_comes() {
    let files = chain("wait", 40);
    let mut registry = Registry::new();
    for i in (1..40).rev() {
        let file = &files[i];
        let report = give(&mut registry, &[file]);
        assert_eq!(missing(&report), format!("wait{}.proto", i - 1));
    }
    assert!(registry.types().find("wait39.M").is_none());
    assert_eq!(
        why_not(&registry, ".wait39.M"),
        "wait39.M is in wait39.proto, which waits for import \"wait0.proto\" of wait1.proto"
    );
    assert_eq!(why_not(&registry, "wait1.M"), "wait1.M is in wait1.proto, which waits for import \"wait0.proto\"");
    assert_eq!(why_not(&registry, "wait1.S"), "wait1.S is in wait1.proto, which waits for import \"wait0.proto\"");
    assert_eq!(why_not(&registry, "wait1.N"), "unknown type \"wait1.N\"");
    // What waits is known.
    let before = registry.types().clone();
    give(&mut registry, &[&files[39]]);
    assert!(std::sync::Arc::ptr_eq(&before, registry.types()));

    assert_eq!(give(&mut registry, &[&files[0]]), Report::default());
    let types = registry.types();
    let last = types.find_message("wait39.M").unwrap();
    assert_eq!(&*types.set.message(last.fields[0].sub).unwrap().name, "wait38.M");
}

#[test]
fn chunks_may_come_in_any_order() {
    let files = chain("chunk", 12);
    // All orders of four chunks of three files each, every third file in one.
    let chunk = |c: usize| files.iter().skip(c).step_by(4).collect::<Vec<_>>();
    for order in 0..24usize {
        let mut left = vec![0, 1, 2, 3];
        let mut registry = Registry::new();
        let mut last = Report::default();
        let mut order = order;
        while !left.is_empty() {
            let c = left.remove(order % left.len());
            order /= left.len() + 1;
            last = give(&mut registry, &chunk(c));
        }
        assert_eq!(missing(&last), "");
        assert!((0..12).all(|i| registry.types().find_message(&format!("chunk{i}.M")).is_some()));
    }
}

#[test]
fn all_that_is_missing_is_told() {
    let text = "syntax = \"proto3\"; package p;";
    let with = |name: &str, imports: &[&str]| FileDescriptorProto {
        name: Some(name.into()),
        dependency: imports.iter().map(|i| (*i).into()).collect(),
        ..compile_set(&[("x.proto", text)]).file.remove(0)
    };
    let mut registry = Registry::new();
    assert_eq!(missing(&give(&mut registry, &[&with("a.proto", &["z.proto", "y.proto"])])), "y.proto z.proto");
    assert_eq!(missing(&give(&mut registry, &[&with("b.proto", &["a.proto", "y.proto"])])), "y.proto z.proto");
    assert_eq!(missing(&give(&mut registry, &[&with("y.proto", &[])])), "z.proto");
    // Waiting ones, too, may get other content, and other imports.
    assert_eq!(missing(&give(&mut registry, &[&with("a.proto", &["w.proto", "y.proto"])])), "w.proto");
    assert_eq!(missing(&give(&mut registry, &[&with("a.proto", &["y.proto"])])), "");
    registry.clear();
    assert_eq!(missing(&give(&mut registry, &[&with("c.proto", &["a.proto"])])), "a.proto");
    registry.clear();
    assert_eq!(missing(&give(&mut registry, &[&with("d.proto", &[])])), "");
}

#[test]
fn a_waiting_file_that_does_not_link_blocks_nobody() {
    let set = compile_set(&[
        ("base.proto", "syntax = \"proto3\"; package late; message Base {}"),
        ("good.proto", "syntax = \"proto3\"; package late; import \"base.proto\"; message Good { Base b = 1; }"),
        ("bad.proto", "syntax = \"proto3\"; package late; import \"base.proto\"; message Bad { Base b = 1; }"),
        ("user.proto", "syntax = \"proto3\"; package late; import \"bad.proto\"; message User { Bad b = 1; }"),
    ]);
    let [base, good, bad, user] = &set.file[..] else { panic!() };
    let mut broken = bad.clone();
    broken.message_type[0].field[0].type_name = Some(".late.Nothing".into());
    let mut registry = Registry::new();
    for file in [user, &broken, good] {
        assert!(!give(&mut registry, &[file]).missing.is_empty());
    }
    let report = give(&mut registry, &[base]);
    let error = "bad.proto: late.Bad.b: name '.late.Nothing' is not defined";
    assert_eq!(report.failure.as_ref().unwrap().0, error);
    assert_eq!(report.failed, [("bad.proto".into(), SchemaError(error.into()))]);
    assert_eq!(missing(&report), "bad.proto");
    assert!(registry.types().find("late.Base").is_some() && registry.types().find("late.Good").is_some());
    assert_eq!(
        why_not(&registry, "late.Bad"),
        "late.Bad is in bad.proto, which does not link: late.Bad.b: name '.late.Nothing' is not defined"
    );
    assert_eq!(why_not(&registry, "late.User"), format!("late.User is in user.proto, which does not link: {error}"));
    // It is told as long as it is so.
    assert_eq!(give(&mut registry, &[good]).failed.len(), 1);
    // Given again it is an error of its own, and a good one takes its place.
    assert_eq!(registry.register(&broken.encode_to_vec()).unwrap_err().0, error);
    assert_eq!(missing(&give(&mut registry, &[bad])), "");
    assert!(registry.types().find("late.User").is_some());

    // A new file that needs it waits for it; what else is new links.
    let mut registry = Registry::new();
    give(&mut registry, &[&broken]);
    let report = give(&mut registry, &[base, user]);
    assert_eq!((report.failure.unwrap().0, report.missing.join(" ")), (error.into(), "bad.proto".into()));
    assert!(registry.types().find("late.Base").is_some() && registry.types().find("late.User").is_none());
}

#[test]
fn a_file_in_another_folder_is_named() {
    let mut registry = Registry::new();
    give(&mut registry, &[&file("sub/near", &[]), &file("far", &["near"])]);
    assert_eq!(
        why_not(&registry, "far.M"),
        "far.M is in far.proto, which waits for import \"near.proto\" (sub/near.proto is registered)"
    );
}

#[test]
fn a_reload_gives_what_failed_another_try() {
    let set = compile_set(&[
        ("again.proto", "syntax = \"proto3\"; package again; message Base {}"),
        ("user.proto", "syntax = \"proto3\"; package again; import \"again.proto\"; message User { Base b = 1; }"),
    ]);
    let [base, user] = &set.file[..] else { panic!() };
    let mut without = base.clone();
    without.message_type.clear();
    let mut registry = Registry::new();
    give(&mut registry, &[user]);
    assert_eq!(give(&mut registry, &[&without]).failed.len(), 1);
    let report = give(&mut registry, &[base]);
    assert_eq!((report.replaced.join(" "), report.failed.len(), report.missing.len()), ("again.proto".into(), 0, 0));
    assert!(registry.types().find("again.User").is_some());
}

#[test]
fn only_what_is_at_fault_stays_out() {
    // Two wait for the same import: one is a new version of a file in use that breaks it, the other is innocent.
    let text = |rest: &str| format!("syntax = \"proto3\"; package fault; {rest}");
    let files = |base: &str| {
        compile_set(&[
            ("key.proto", &text("message Key {}")),
            ("fault.proto", &text(base)),
            ("use.proto", &text("import \"fault.proto\"; message Use { Base b = 1; }")),
            ("other.proto", &text("import \"key.proto\"; message Other { Key k = 1; }")),
        ])
        .file
    };
    let old = files("message Base {}");
    let mut new = files("import \"key.proto\"; message Base { Key k = 1; }");
    new[1].message_type.clear();
    let mut registry = Registry::new();
    give(&mut registry, &[&old[1], &old[2]]);
    give(&mut registry, &[&old[3], &new[1]]);
    let report = give(&mut registry, &[&old[0]]);
    assert_eq!(report.failed.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["fault.proto"]);
    assert!(["fault.Other", "fault.Use", "fault.Key"].iter().all(|name| registry.types().find(name).is_some()));
}

#[test]
fn what_waits_is_looked_at_at_once() {
    let mut file = chain("early", 2).remove(1);
    file.message_type[0].field[0].number = Some(0);
    let mut registry = Registry::new();
    let e = registry.register(&file.encode_to_vec()).unwrap_err().0;
    assert_eq!(e, "early1.proto: early1.M.m: field number 0 is out of range");
    let e = registry.register(&self::file("twice", &["last", "last"]).encode_to_vec()).unwrap_err().0;
    assert_eq!(e, "twice.proto: imports \"last.proto\" twice");
    assert!(registry.types().missing.is_empty());
}

#[test]
fn cycles_are_refused_when_they_close() {
    let with = |name: &str, import: &str| FileDescriptorProto {
        name: Some(name.into()),
        dependency: vec![import.into()],
        ..FileDescriptorProto::default()
    };
    let mut registry = Registry::new();
    assert_eq!(missing(&give(&mut registry, &[&with("o.proto", "p.proto")])), "p.proto");
    assert_eq!(missing(&give(&mut registry, &[&with("p.proto", "q.proto")])), "q.proto");
    let e = registry.register(&with("q.proto", "o.proto").encode_to_vec()).unwrap_err().0;
    assert_eq!(e, "q.proto: imports form a cycle: q.proto -> o.proto -> p.proto -> q.proto");
    assert_eq!(registry.types().missing.join(" "), "q.proto");
}

/// A file whose package has its name, with a message `M`.
fn file(name: &str, imports: &[&str]) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some(format!("{name}.proto")),
        package: Some(name.replace('/', "_")),
        dependency: imports.iter().map(|i| format!("{i}.proto")).collect(),
        message_type: vec![DescriptorProto { name: Some("M".into()), ..DescriptorProto::default() }],
        ..FileDescriptorProto::default()
    }
}

fn has(registry: &Registry, packages: &[&str]) -> Vec<bool> {
    packages.iter().map(|package| registry.types().find(&format!("{package}.M")).is_some()).collect()
}

#[test]
fn a_fault_of_several_is_not_that_of_others() {
    // A cycle that closes, beside files that have waited for the same.
    let mut registry = Registry::new();
    for file in [file("user", &["fine"]), file("o", &["p"]), file("p", &["o", "last"]), file("fine", &["last"])] {
        give(&mut registry, &[&file]);
    }
    let report = give(&mut registry, &[&file("last", &[])]);
    assert_eq!(has(&registry, &["last", "fine", "user", "o", "p"]), [true, true, true, false, false]);
    assert_eq!((missing(&report).as_str(), report.failure.is_some()), ("", true));
    for name in ["o.M", "p.M"] {
        assert!(why_not(&registry, name).contains("imports form a cycle: o.proto -> p.proto"), "{name}");
    }

    // A new version that breaks a file which is registered.
    let mut user = file("user", &["old"]);
    user.message_type[0].field.push(FieldDescriptorProto {
        name: Some("m".into()),
        number: Some(1),
        label: Some(Label::Optional.into()),
        type_name: Some(".old.M".into()),
        ..FieldDescriptorProto::default()
    });
    let mut new = file("old", &["last"]);
    new.message_type.clear();
    let mut registry = Registry::new();
    give(&mut registry, &[&file("old", &[]), &user]);
    for file in [&new, &file("fine", &["last"])] {
        give(&mut registry, &[file]);
    }
    let report = give(&mut registry, &[&file("last", &[])]);
    assert!(report.failure.unwrap().0.ends_with("(with the new old.proto)"));
    assert_eq!(has(&registry, &["old", "user", "fine"]), [true; 3]);
}

#[test]
fn of_extensions_with_one_number_the_later_is_at_fault() {
    let mut base = file("base", &[]);
    base.message_type[0].extension_range.push(ExtensionRange { start: Some(100), end: Some(200), options: None });
    let extension = |name: &str, number: i32| {
        let mut file = file(name, &["base", "last"]);
        file.extension.push(FieldDescriptorProto {
            name: Some("e".into()),
            number: Some(number),
            label: Some(Label::Optional.into()),
            r#type: Some(Type::Int32.into()),
            extendee: Some(".base.M".into()),
            ..FieldDescriptorProto::default()
        });
        file
    };
    let mut registry = Registry::new();
    for file in [&base, &extension("a", 100), &extension("b", 100), &extension("c", 101)] {
        give(&mut registry, &[file]);
    }
    let failed = give(&mut registry, &[&file("last", &[])]).failure.unwrap().0;
    assert_eq!(failed, "b.proto: extensions \"a.e\" and \"b.e\" of \"base.M\" have the same number 100");
    assert_eq!(has(&registry, &["a", "b", "c"]), [true, false, true]);
    // The same where the other is registered.
    let e = registry.register(&extension("d", 101).encode_to_vec()).unwrap_err().0;
    assert_eq!(e, "d.proto: extensions \"c.e\" and \"d.e\" of \"base.M\" have the same number 101");
}

#[test]
fn many_that_do_not_link_block_nobody() {
    let mut registry = Registry::new();
    let bad = |i: usize| {
        let mut file = file(&format!("bad{i}"), &["last"]);
        file.extension.push(FieldDescriptorProto {
            name: Some("e".into()),
            number: Some(1),
            label: Some(Label::Optional.into()),
            r#type: Some(Type::Int32.into()),
            extendee: Some("Nothing".into()),
            ..FieldDescriptorProto::default()
        });
        file
    };
    let mut all: Vec<_> = (0..2000).map(bad).collect();
    all.extend([file("user", &["fine"]), file("fine", &["last"]), file("stuck", &["bad7"])]);
    give(&mut registry, &all.iter().collect::<Vec<_>>());
    let report = give(&mut registry, &[&file("last", &[])]);
    assert_eq!(missing(&report), "bad7.proto");
    assert_eq!(
        has(&registry, &["last", "fine", "user", "bad0", "bad1999", "stuck"]),
        [true, true, true, false, false, false]
    );
    assert!(why_not(&registry, "bad1999.M").contains("which does not link: "));
}
