//! The code that the benchmarks compare with is what prost-build makes of `descriptors/` today.
//!
//! `UPDATE_GENERATED=1 cargo test --test generated` writes it anew.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

const SCHEMAS: [&str; 3] = ["addressbook.proto", "order.proto", "world.proto"];

/// Runs prost-build over protox, which needs no protoc.
fn generate(root: &Path, folder: &Path) {
    let descriptors = root.join("descriptors");
    let files = protox::compile(SCHEMAS, [descriptors]).expect("the schemas compile");
    prost_build::Config::new()
        .out_dir(folder)
        .disable_comments(["."])
        .compile_fds(files)
        .expect("prost-build generates");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

#[test]
fn generated_code_is_fresh() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let kept = root.join("benches/generated");
    if env::var_os("UPDATE_GENERATED").is_some() {
        generate(&root, &kept);
        return;
    }
    let fresh = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("generated");
    fs::remove_dir_all(&fresh).ok();
    fs::create_dir_all(&fresh).expect("a temporary folder");
    generate(&root, &fresh);

    assert_eq!(names(&kept), names(&fresh), "benches/generated holds other files");
    for name in names(&fresh) {
        let read = |folder: &Path| fs::read_to_string(folder.join(&name)).expect("text");
        assert!(
            read(&kept) == read(&fresh),
            "benches/generated/{name} is stale: UPDATE_GENERATED=1 cargo test --test generated"
        );
    }
}
