//! The documentation keeps its word: its examples run, its links lead somewhere, and the
//! reference describes every function there is.
#![cfg(all(feature = "vendored", feature = "proto"))]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mlua::{Lua, Table, Value};

const REFERENCE: &str = "docs/api.md";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).expect(document)
}

/// In the host, which has a state for each document. Other Luas run the same script with the module.
fn run(document: &str) {
    let mut host = Command::new(env!("CARGO_BIN_EXE_protobuf-lua"));
    let output = host.current_dir(root()).args(["tests/documents.lua", document]).output().expect("the host starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("as it says"), "an early end of the script");
}

#[test]
fn examples_of_the_readme() {
    run("README.md");
}

#[test]
fn examples_of_the_reference() {
    run(REFERENCE);
}

#[test]
fn the_reference_describes_every_function() {
    let reference = read(REFERENCE);
    let lua = Lua::new();
    protobuf_lua::preload(&lua).expect("protobuf is preloaded");
    let module: Table = lua.load("return require 'protobuf'").eval().expect("it loads");
    for pair in module.pairs::<String, Value>() {
        let (name, value) = pair.expect("a name");
        let described = if value.is_function() {
            reference.lines().any(|line| line.starts_with(&format!("### `{name}(")))
        } else {
            reference.contains(&format!("`protobuf.{name}`"))
        };
        assert!(described, "{REFERENCE} does not describe {name}");
    }
}

const DOCUMENTS: [&str; 8] = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    REFERENCE,
    "docs/architecture.md",
    "docs/benchmarks.md",
    "docs/security.md",
];

#[test]
fn no_placeholder_is_left() {
    for document in DOCUMENTS {
        for word in read(document).split(|c: char| c.is_whitespace() || "|`()".contains(c)) {
            let name = word.strip_prefix('@').and_then(|rest| rest.strip_suffix('@')).unwrap_or_default();
            assert!(name.is_empty(), "{document} has {word}");
            assert!(!["TODO", "FIXME", "XXX", "TBD"].contains(&word), "{document} has {word}");
        }
    }
}

#[test]
fn links_lead_to_files() {
    for document in DOCUMENTS {
        let folder = root().join(document).parent().map(Path::to_path_buf).unwrap_or_default();
        let text = read(document);
        for (_, rest) in text.match_indices("](").map(|(at, found)| text.split_at(at + found.len())) {
            let target = rest.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") {
                assert!(folder.join(target).exists(), "{document} links to {target}");
            }
        }
    }
}
