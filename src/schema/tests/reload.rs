//! Hot reload: other content under a registered name.

use std::sync::Arc;

use prost::Message;
use prost_types::{FileDescriptorProto, FileDescriptorSet};

use super::compile_set;
use crate::schema::{Registry, Report};

/// Files of texts, each with package and imports as given, whether or not all imports are among them.
fn files(texts: &[(&str, &str)]) -> Vec<FileDescriptorProto> {
    compile_set(texts).file
}

fn give(registry: &mut Registry, files: &[&FileDescriptorProto]) -> Result<Report, String> {
    let set = FileDescriptorSet { file: files.iter().map(|f| (*f).clone()).collect() };
    registry.register(&set.encode_to_vec()).map_err(|e| e.0)
}

fn replaced(outcome: Result<Report, String>) -> String {
    outcome.unwrap().replaced.join(" ")
}

/// base.proto, and user.proto, which uses its message and its enum.
fn versions(base: &str) -> Vec<FileDescriptorProto> {
    files(&[("base.proto", base), ("user.proto", USER)])
}

const BASE: &str = "syntax = \"proto3\"; package hot; message Base { int32 a = 1; } enum E { Z = 0; }";
const USER: &str =
    "syntax = \"proto3\"; package hot; import \"base.proto\"; message User { Base base = 1; repeated E e = 2; }";

fn names(registry: &Registry, message: &str) -> Vec<String> {
    registry.types().find_message(message).unwrap().names.iter().map(|n| n.to_string()).collect()
}

#[test]
fn new_content_takes_the_place_of_the_old() {
    let old = versions(BASE);
    let new = versions(&BASE.replace("int32 a = 1", "string b = 2"));
    let mut registry = Registry::new();
    assert_eq!(replaced(give(&mut registry, &[&old[0], &old[1]])), "");
    assert_eq!(replaced(give(&mut registry, &[&new[0]])), "base.proto");
    assert_eq!(names(&registry, "hot.Base"), ["b"]);
    // What depends on it is linked to the new one.
    let types = registry.types();
    let user = types.find_message("hot.User").unwrap();
    assert_eq!(types.set.message(user.fields[0].sub).unwrap().id, types.find_message("hot.Base").unwrap().id);
    // And back, with a whole set of which one file is new.
    assert_eq!(replaced(give(&mut registry, &[&old[0], &old[1]])), "base.proto");
    assert_eq!(names(&registry, "hot.Base"), ["a"]);
    assert_eq!(give(&mut registry, &[&old[0], &old[1]]), Ok(Report::default()));
    // A type may move to another file, if both come together.
    let moved = files(&[
        ("more.proto", "syntax = \"proto3\"; package hot; enum E { Z = 0; }"),
        ("base.proto", "syntax = \"proto3\"; package hot; import public \"more.proto\"; message Base {}"),
    ]);
    assert_eq!(replaced(give(&mut registry, &[&moved[0], &moved[1]])), "base.proto");
}

#[test]
fn all_or_nothing() {
    let old = versions(BASE);
    let mut registry = Registry::new();
    give(&mut registry, &[&old[0], &old[1]]).unwrap();
    let before = registry.types().clone();
    let other = |text: &str| {
        let mut file = files(&[("base.proto", text)]).remove(0);
        file.name = Some("base.proto".into());
        file
    };
    for (text, error) in [
        (
            "package hot; message Other {} enum E { Z = 0; }",
            "user.proto: hot.User.base: name '.hot.Base' is not defined (with the new base.proto)",
        ),
        ("package hot; message Base {} message E {}", "user.proto: hot.User.e: E is no enum"),
        (
            "package hot; message Base {} enum E { Z = 0; } message User {}",
            "user.proto: name 'hot.User' is already defined in file 'base.proto' (with the new base.proto)",
        ),
        ("package cold; message Base {}", "base.proto: already registered with package \"hot\", not \"cold\""),
    ] {
        let e = give(&mut registry, &[&other(&format!("syntax = \"proto3\"; {text}"))]).unwrap_err();
        assert!(e.starts_with(error) || e.replace("hot.E", "E").starts_with(error), "{e}");
        assert!(Arc::ptr_eq(&before, registry.types()));
    }
    let mut clash = old[0].clone();
    clash.message_type[0].field.push(FileDescriptorProto::clone(&old[0]).message_type[0].field[0].clone());
    clash.message_type[0].field[1].name = Some("b".into());
    let e = give(&mut registry, &[&clash]).unwrap_err();
    assert_eq!(e, "base.proto: hot.Base.b: field number '1' is already used");
    let mut cycle = old[0].clone();
    cycle.dependency.push("user.proto".into());
    let e = give(&mut registry, &[&cycle]).unwrap_err();
    assert!(e.contains("imports form a cycle: "), "{e}");
    assert!(Arc::ptr_eq(&before, registry.types()));
}

#[test]
fn a_new_version_may_wait() {
    let set = files(&[
        ("gone.proto", "syntax = \"proto3\"; package hot; message Gone {}"),
        (
            "base.proto",
            "syntax = \"proto3\"; package hot; import \"gone.proto\"; message Base { Gone g = 9; } enum E { Z = 0; }",
        ),
    ]);
    let old = versions(BASE);
    let mut registry = Registry::new();
    give(&mut registry, &[&old[0], &old[1]]).unwrap();
    let report = give(&mut registry, &[&set[1]]).unwrap();
    assert_eq!((report.missing.join(" "), report.replaced.len()), ("gone.proto".into(), 0));
    assert_eq!(names(&registry, "hot.Base"), ["a"]);
    let report = give(&mut registry, &[&set[0]]).unwrap();
    assert_eq!((report.missing.len(), report.replaced.join(" ")), (0, "base.proto".into()));
    assert_eq!(names(&registry, "hot.Base"), ["g"]);
    // One that waits is given up when the old content comes again.
    let mut registry = Registry::new();
    give(&mut registry, &[&old[0], &old[1], &set[1]]).unwrap_err();
    give(&mut registry, &[&old[0], &old[1]]).unwrap();
    give(&mut registry, &[&set[1]]).unwrap();
    assert_eq!(give(&mut registry, &[&old[0]]).unwrap().missing.len(), 0);
    give(&mut registry, &[&set[0]]).unwrap();
    assert_eq!(names(&registry, "hot.Base"), ["a"]);
    // One that breaks what depends on it stays out.
    let mut breaks = set[1].clone();
    breaks.enum_type.clear();
    let mut registry = Registry::new();
    give(&mut registry, &[&old[0], &old[1]]).unwrap();
    give(&mut registry, &[&breaks]).unwrap();
    let report = give(&mut registry, &[&set[0]]).unwrap();
    let failed = report.failure.unwrap().0;
    assert_eq!(failed, "user.proto: hot.User.e: name '.hot.E' is not defined (with the new base.proto)");
    assert_eq!(names(&registry, "hot.Base"), ["a"]);
    assert!(registry.types().find("hot.Gone").is_some());
}

#[test]
fn each_name_of_a_file_may_get_content_of_its_own() {
    let old = versions(BASE).remove(0);
    let named =
        |file: &FileDescriptorProto, name: &str| FileDescriptorProto { name: Some(name.into()), ..file.clone() };
    let mut registry = Registry::new();
    give(&mut registry, &[&old, &named(&old, "copy.proto")]).unwrap();
    let mut new = old.clone();
    new.message_type[0].field[0].number = Some(7);
    let e = give(&mut registry, &[&named(&new, "copy.proto")]).unwrap_err();
    assert!(e.starts_with("copy.proto: name 'hot.") && e.contains("is already defined in file 'base.proto'"), "{e}");
    assert_eq!(replaced(give(&mut registry, &[&named(&new, "copy.proto"), &new])), "base.proto copy.proto");
    assert_eq!(registry.types().find_message("hot.Base").unwrap().fields[0].number(), 7);
}
