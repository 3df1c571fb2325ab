//! Sharing: registries with equal files have one set.

use std::sync::Arc;

use prost::Message;
use prost_types::{FileDescriptorProto, FileDescriptorSet};

use super::compile_set;
use crate::schema::{Named, Registry};

fn give(registry: &mut Registry, files: &[&FileDescriptorProto]) {
    let set = FileDescriptorSet { file: files.iter().map(|f| (*f).clone()).collect() };
    registry.register(&set.encode_to_vec()).unwrap();
}

fn same_set(a: &Registry, b: &Registry) -> bool {
    Arc::ptr_eq(&a.types().set, &b.types().set)
}

/// Files in the package `package`: a.proto, b.proto which imports it, c.proto which stands alone.
fn three(package: &str) -> Vec<FileDescriptorProto> {
    let name = |file: &str| format!("{package}/{file}.proto");
    let text = |rest: &str| format!("syntax = \"proto2\"; package {package}; {rest}");
    let sources = [
        (name("a"), text("message A { extensions 100 to 200; }")),
        (name("b"), text(&format!("import \"{}\"; message B {{ optional A a = 1; }}", name("a")))),
        (name("c"), text("message C {}")),
    ];
    compile_set(&sources.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect::<Vec<_>>()).file
}

#[test]
fn equal_files_are_one_set_in_whatever_order_they_come() {
    let files = three("equal");
    let [a, b, c] = &files[..] else { panic!() };
    let [mut one, mut other] = [Registry::new(), Registry::new()];
    give(&mut one, &[a, b, c]);
    for file in [c, b, a] {
        give(&mut other, &[file]);
    }
    assert!(same_set(&one, &other));
    // Not by name alone.
    let mut differs = c.clone();
    differs.message_type[0].name = Some("D".into());
    let mut third = Registry::new();
    give(&mut third, &[a, b, &differs]);
    assert!(!same_set(&one, &third));
    // A reload ends in it too.
    give(&mut third, &[c]);
    assert!(same_set(&one, &third));
}

#[test]
fn some_of_the_files_are_seen_in_the_set_of_all() {
    let files = three("some");
    let [a, b, c] = &files[..] else { panic!() };
    let [mut all, mut some] = [Registry::new(), Registry::new()];
    give(&mut all, &[a, b, c]);
    give(&mut some, &[c]);
    assert!(same_set(&all, &some));
    let found =
        |registry: &Registry| ["some.A", "some.B", "some.C"].map(|name| registry.types().find_message(name).is_some());
    assert_eq!(found(&some), [false, false, true]);
    assert!(some.types().file_of("some.A").is_none());
    let names = |named| some.types().names(named, false).into_iter().map(|n| n.to_string()).collect::<Vec<_>>();
    assert_eq!((names(Named::Type), names(Named::Service)), (vec!["some.C".into()], vec![]));
    // A file waits here though the set has its import.
    give(&mut some, &[b]);
    assert_eq!((found(&some), some.types().missing.join(" ")), ([false, false, true], "some/a.proto".into()));
    give(&mut some, &[a]);
    assert!(same_set(&all, &some) && found(&some) == [true; 3]);
    // What one of them has more is its own.
    let mut own = c.clone();
    own.name = Some("some/d.proto".into());
    own.message_type[0].name = Some("D".into());
    let mut view = Registry::new();
    give(&mut view, &[c]);
    give(&mut view, &[&own]);
    assert!(!same_set(&all, &view) && all.types().find("some.D").is_none() && view.types().find("some.D").is_some());
    assert_eq!(found(&view), [false, false, true]);
}

#[test]
fn a_clash_beside_some_of_the_files_names_the_new_one() {
    let files = three("beside");
    let [a, b, c] = &files[..] else { panic!() };
    let [mut all, mut some] = [Registry::new(), Registry::new()];
    give(&mut all, &[a, b, c]);
    give(&mut some, &[a, b]);
    assert!(same_set(&all, &some));
    // It imports nothing, so it is linked before b.proto, which it clashes with.
    let mut clash = c.clone();
    clash.name = Some("beside/d.proto".into());
    clash.message_type[0].name = Some("B".into());
    assert_eq!(
        some.register(&clash.encode_to_vec()).unwrap_err().0,
        "beside/b.proto: name 'beside.B' is already defined in file 'beside/d.proto' (with the new beside/d.proto)"
    );
    assert!(some.types().find("beside.B").is_some());
}

#[test]
fn extensions_of_others_are_not_seen() {
    let files = three("ext");
    let [a, _, c] = &files[..] else { panic!() };
    let extension = compile_set(&[
        ("ext/a.proto", "syntax = \"proto2\"; package ext; message A { extensions 100 to 200; }"),
        (
            "ext/e.proto",
            "syntax = \"proto2\"; package ext; import \"ext/a.proto\"; extend A { optional int32 more = 100; }",
        ),
    ])
    .file
    .remove(1);
    let [mut all, mut some, mut later] = [Registry::new(), Registry::new(), Registry::new()];
    give(&mut all, &[a, c, &extension]);
    give(&mut some, &[a, c]);
    let fields = |registry: &Registry| registry.types().find_message("ext.A").unwrap().fields.len();
    assert_eq!((fields(&all), fields(&some)), (1, 0));
    for file in [&extension, a, c] {
        give(&mut later, &[file]);
    }
    assert!(same_set(&all, &later) && fields(&later) == 1);
}

#[test]
fn the_same_name_may_mean_another_import() {
    let mut files = compile_set(&[
        ("means/outer.proto", "syntax = \"proto2\"; package means; message A {}"),
        ("means/a.proto", "syntax = \"proto2\"; package means.inner; message A {}"),
        (
            "means/b.proto",
            "syntax = \"proto2\"; package means.inner; import \"means/a.proto\"; message B { optional A a = 1; }",
        ),
    ])
    .file;
    files[2].message_type[0].field[0].type_name = Some("A".into());
    let [outer, a, b] = &files[..] else { panic!() };
    let [mut one, mut other] = [Registry::new(), Registry::new()];
    give(&mut one, &[outer, a, b]);
    // All of these files are in that set, but b.proto imports another of them.
    give(&mut other, &[outer, &FileDescriptorProto { name: a.name.clone(), ..outer.clone() }, b]);
    let used = |registry: &Registry| {
        let b = registry.types().find_message("means.inner.B").unwrap();
        registry.types().set.message(b.fields[0].sub).unwrap().name.to_string()
    };
    assert_eq!([used(&one), used(&other)], ["means.inner.A", "means.A"]);
}

#[test]
fn a_file_under_its_other_name_only() {
    let files = three("named");
    let [a, b, _] = &files[..] else { panic!() };
    let mut copy = a.clone();
    copy.name = Some("named/copy.proto".into());
    let [mut both, mut one] = [Registry::new(), Registry::new()];
    give(&mut both, &[a, &copy, b]);
    give(&mut one, &[&copy]);
    assert!(one.types().find("named.A").is_some());
    // The name under which it is not registered is free.
    let mut own = a.clone();
    own.package = Some("other".into());
    give(&mut one, &[&own]);
    assert!(one.types().find("other.A").is_some() && one.types().find("named.A").is_some());
    assert!(one.register(&b.encode_to_vec()).unwrap_err().0.contains("name '.named.A' is not defined"));
}

#[test]
fn sets_are_freed_with_their_last_user() {
    let files = three("freed");
    let [mut one, mut other] = [Registry::new(), Registry::new()];
    give(&mut one, &files.iter().collect::<Vec<_>>());
    give(&mut other, &[&files[2]]);
    let set = Arc::downgrade(&one.types().set);
    one.clear();
    assert!(set.upgrade().is_some());
    drop(other);
    assert!(set.upgrade().is_none());
}

#[test]
fn threads_that_register_at_once_have_one_set() {
    let files = three("threads");
    let bytes = FileDescriptorSet { file: files }.encode_to_vec();
    let sets: Vec<Registry> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut registry = Registry::new();
                    registry.register(&bytes).unwrap();
                    registry
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(sets.iter().all(|registry| same_set(registry, &sets[0])));
}
