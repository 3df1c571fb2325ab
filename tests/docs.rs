//! The documentation keeps its word: its examples run, its links lead somewhere, and the
//! reference describes every function there is.
//!
//! All Lua blocks of a document are one program, in which text outside of them counts as empty
//! lines. What it prints must be what its comments `--> ...` say, in this order.
#![cfg(all(feature = "vendored", feature = "proto"))]

use std::fs;
use std::path::{Path, PathBuf};

use mlua::{Lua, Table, Value};

const REFERENCE: &str = "docs/api.md";

/// Replaces `print`, and gives the list of the lines that were printed.
const RECORDER: &str = r##"
    local printed = {}
    function print(...)
      local words = {}
      for i = 1, select("#", ...) do
        words[i] = tostring((select(i, ...)))
      end
      printed[#printed + 1] = table.concat(words, " ")
    end
    return printed
"##;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).expect(document)
}

/// The Lua blocks of `text`, each line where it stands in it.
fn program(text: &str) -> String {
    let mut program = String::new();
    let mut inside = false;
    for line in text.lines() {
        match line.trim() {
            "```lua" => inside = true,
            "```" => inside = false,
            _ if inside => program.push_str(line),
            _ => {}
        }
        program.push('\n');
    }
    program
}

/// What the comments of `program` say is printed, each with the number of its line.
fn promised(program: &str) -> Vec<(usize, &str)> {
    let lines = program.lines().zip(1..);
    lines.filter_map(|(line, at)| Some((at, line.split_once("--> ")?.1.trim_end()))).collect()
}

/// A Lua state as the host program has it.
fn lua() -> Lua {
    // SAFETY: the examples are the project's own; LuaJIT's 64-bit numbers need its `ffi` library,
    // which a safe state does not load.
    let lua = unsafe { Lua::unsafe_new() };
    protobuf_lua::preload(&lua).expect("protobuf is preloaded");
    lua
}

fn run(document: &str) {
    let program = program(&read(document));
    assert!(!program.trim().is_empty(), "{document} has no examples");
    let lua = lua();
    let printed: Table = lua.load(RECORDER).eval().expect("print is replaced");
    // Examples name files as seen from the root, in which cargo runs the tests.
    if let Err(error) = lua.load(&program).set_name(format!("@{document}")).exec() {
        panic!("{error}");
    }
    let printed: Vec<String> = printed.sequence_values().collect::<Result<_, _>>().expect("lines");
    let promised = promised(&program);
    for ((line, promised), printed) in promised.iter().zip(&printed) {
        assert_eq!(printed, promised, "printed at {document}:{line}");
    }
    assert_eq!(printed.len(), promised.len(), "{document} prints more or less than it says");
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
    let lua = lua();
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

const DOCUMENTS: [&str; 6] =
    ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", REFERENCE, "docs/architecture.md", "docs/benchmarks.md"];

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
