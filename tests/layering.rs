//! The layers: what `src/lib.rs` draws is what the source imports, `unsafe` stays where it may be, and what panics is
//! denied.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files directly in `src` that belong to a layer of another name.
const PART_OF: [(&str, &str); 1] = [("options", "module")];
/// The crate's roots, above all layers.
const ROOTS: [&str; 2] = ["lib", "main"];
/// Where `unsafe` may be, apart from the roots.
const UNSAFE: [&str; 4] = ["vm", "codec", "state", "module"];
/// Lints that every layer denies, in the file that it begins with.
const DENIED: [&str; 4] = ["indexing_slicing", "unwrap_used", "expect_used", "panic"];
/// Layers that know no Lua.
const WITHOUT_LUA: [&str; 5] = ["format", "kernel", "schema", "wire", "error"];

/// What each layer may import.
type Rules = BTreeMap<String, BTreeSet<String>>;

/// One source file as words and punctuation, without comments, strings and lifetimes.
struct Source {
    /// The module path, the layer first.
    path: Vec<String>,
    tokens: Vec<(usize, String)>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Reads the drawing in `src/lib.rs`: a line of layers, and a branch that starts below one of them.
fn rules(lib: &str) -> Rules {
    let lines: Vec<&str> = lib.lines().map(|line| line.trim_start_matches("//!")).collect();
    let at = lines.iter().position(|line| line.trim_start().starts_with("module -> ")).expect("the layers' line");
    let (line, branch) = (lines[at], lines[at + 1]);
    let chain = |text: &str| -> Vec<String> {
        let names = text.split('>').map(|part| part.trim().trim_end_matches('-'));
        names.filter_map(|part| part.split_whitespace().next()).map(str::to_owned).collect()
    };
    let main = chain(line);
    let below = branch.find('`').expect("a branch");
    let start = main.iter().find(|name| {
        let from = line.find(name.as_str()).expect("its own name");
        (from..from + name.len()).contains(&below)
    });
    let side = chain(&branch[below + 1..]);

    let mut rules = Rules::new();
    for (i, name) in main.iter().enumerate() {
        rules.entry(name.clone()).or_default().extend(main[i + 1..].iter().cloned());
    }
    for (i, name) in side.iter().enumerate() {
        rules.entry(name.clone()).or_default().extend(side[i + 1..].iter().cloned());
    }
    let start = start.expect("the branch starts below a layer");
    for name in main.iter().take_while(|name| *name != start).chain([start]) {
        rules.entry(name.clone()).or_default().extend(side.iter().cloned());
    }
    rules
}

/// Splits Rust into words and single characters of punctuation, each with its line.
fn tokens(text: &str) -> Vec<(usize, String)> {
    let bytes = text.as_bytes();
    let (mut i, mut line) = (0, 1);
    let mut out = Vec::new();
    let skip_to = |end: usize, i: &mut usize, line: &mut usize| {
        *line += bytes[*i..end].iter().filter(|b| **b == b'\n').count();
        *i = end;
    };
    while i < bytes.len() {
        let rest = &text[i..];
        if rest.starts_with("//") {
            i += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let end = i + rest.find("*/").expect("an end of the comment") + 2;
            skip_to(end, &mut i, &mut line);
        } else if let Some(end) = raw_string(rest) {
            skip_to(i + end, &mut i, &mut line);
        } else if bytes[i] == b'"' {
            let mut end = i + 1;
            while bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            skip_to(end + 1, &mut i, &mut line);
        } else if bytes[i] == b'\'' {
            // A character, or a lifetime.
            let tail = &rest[1..];
            let first = tail.chars().next().expect("more after a quote");
            if first == '\\' {
                i += 3 + tail[2..].find('\'').expect("the end of a character") + 1;
            } else if tail[first.len_utf8()..].starts_with('\'') {
                i += first.len_utf8() + 2;
            } else {
                i += 1 + tail.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tail.len());
            }
        } else if bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            out.push((line, rest[..end].to_owned()));
            i += end;
        } else {
            let c = rest.chars().next().expect("a character");
            if c == '\n' {
                line += 1;
            }
            if !c.is_whitespace() {
                out.push((line, c.to_string()));
            }
            i += c.len_utf8();
        }
    }
    out
}

/// The length of the raw string that `text` starts with.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let quoted = after.trim_start_matches('#');
    let hashes = &after[..after.len() - quoted.len()];
    let inner = quoted.strip_prefix('"')?;
    let end = format!("\"{hashes}");
    Some(text.len() - inner.len() + inner.find(&end)? + end.len())
}

impl Source {
    fn new(path: Vec<String>, text: &str) -> Self {
        Source { path, tokens: tokens(text) }
    }

    fn word(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |(_, word)| word)
    }

    fn layer(&self) -> &str {
        let name = self.path.first().map_or("", |name| name.as_str());
        PART_OF.iter().find(|(file, _)| *file == name).map_or(name, |(_, layer)| layer)
    }

    fn has_path_from(&self, i: usize) -> bool {
        self.word(i) == ":" && self.word(i + 1) == ":"
    }

    /// The first names of the path or the group of paths at `i`.
    fn heads(&self, i: usize) -> Vec<String> {
        if self.word(i) != "{" {
            return vec![self.word(i).to_owned()];
        }
        let (mut depth, mut heads, mut fresh) = (0, Vec::new(), false);
        for (_, word) in &self.tokens[i..] {
            match word.as_str() {
                "{" => {
                    depth += 1;
                    fresh = depth == 1;
                }
                "}" => depth -= 1,
                "," => fresh = depth == 1,
                name if fresh => {
                    heads.push(name.to_owned());
                    fresh = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        heads
    }

    /// Every name of the crate's root that the file says, with its line.
    fn imports(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        // Inline modules, by the depth of braces that they are in.
        let (mut depth, mut inline) = (0, Vec::new());
        let mut i = 0;
        while i < self.tokens.len() {
            let line = self.tokens[i].0;
            match self.word(i) {
                "mod" if self.word(i + 2) == "{" => inline.push(depth),
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inline.last() == Some(&depth) {
                        inline.pop();
                    }
                }
                // As in pub(crate) and pub(in crate::name).
                "crate" if matches!(self.word(i.wrapping_sub(1)), "(" | "in") => {}
                "crate" if self.has_path_from(i + 1) => {
                    found.extend(self.heads(i + 3).into_iter().map(|name| (line, name)));
                }
                "crate" => found.push((line, "crate".to_owned())),
                "super" if self.has_path_from(i + 1) => {
                    let mut up = 1;
                    while self.word(i + 3) == "super" {
                        up += 1;
                        i += 3;
                    }
                    if up >= self.path.len() + inline.len() {
                        found.extend(self.heads(i + 3).into_iter().map(|name| (line, name)));
                    }
                }
                _ => {}
            }
            i += 1;
        }
        found
    }

    /// Whether the file denies that lint of clippy's.
    fn denies(&self, lint: &str) -> bool {
        let words: Vec<&str> = self.tokens.iter().map(|(_, word)| word.as_str()).collect();
        let denied = words.windows(3).position(|at| at == ["[", "deny", "("]).map(|at| &words[at..]);
        let denied = denied.map(|rest| rest.split(|word| *word == ")").next().unwrap_or_default());
        denied.is_some_and(|lints| lints.windows(4).any(|at| at == ["clippy", ":", ":", lint]))
    }

    /// What the file imports or says against the rules.
    fn faults(&self, rules: &Rules) -> Vec<String> {
        let layer = self.layer();
        let fault = |line: usize, what: &str| format!("{}, line {line}: {what}", self.path.join("::"));
        if ROOTS.contains(&layer) {
            return Vec::new();
        }
        let Some(allowed) = rules.get(layer) else {
            return vec![fault(1, "belongs to no layer")];
        };
        let mut faults = Vec::new();
        if self.path == [layer] {
            let missing = DENIED.iter().filter(|lint| !self.denies(lint));
            faults.extend(missing.map(|lint| fault(1, &format!("does not deny {lint}"))));
        }
        for (line, name) in self.imports() {
            let to = PART_OF.iter().find(|(file, _)| *file == name).map_or(name.as_str(), |(_, layer)| layer);
            if to != layer && !allowed.contains(to) {
                faults.push(fault(line, &format!("{layer} imports crate::{name}")));
            }
        }
        for (line, word) in &self.tokens {
            if word == "unsafe" && !UNSAFE.contains(&layer) {
                faults.push(fault(*line, "unsafe"));
            }
            if word == "mlua" && WITHOUT_LUA.contains(&layer) {
                faults.push(fault(*line, "mlua in a layer without Lua"));
            }
        }
        faults
    }
}

fn collect(folder: &Path, path: &[String], out: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry").path();
        let name = entry.file_stem().expect("a name").to_str().expect("UTF-8").to_owned();
        let mut path = path.to_vec();
        if name != "mod" {
            path.push(name);
        }
        if entry.is_dir() {
            collect(&entry, &path, out);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            out.push(Source::new(path, &fs::read_to_string(&entry).expect("text")));
        }
    }
}

#[test]
fn layers_import_only_what_is_below_them() {
    let rules = rules(&fs::read_to_string(root().join("lib.rs")).expect("lib.rs"));
    let mut sources = Vec::new();
    collect(&root(), &[], &mut sources);
    let faults: Vec<String> = sources.iter().flat_map(|source| source.faults(&rules)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));

    for layer in rules.keys() {
        assert!(sources.iter().any(|source| source.layer() == layer), "no file of layer {layer}");
    }
    let imports = |from: &str, to: &str| {
        sources.iter().any(|s| s.layer() == from && s.imports().iter().any(|(_, name)| name == to))
    };
    assert!(imports("kernel", "schema") && imports("codec", "vm") && imports("schema", "wire"));
}

#[test]
fn rules_are_those_of_the_drawing() {
    let rules = rules(&fs::read_to_string(root().join("lib.rs")).expect("lib.rs"));
    let may = |layer: &str| rules[layer].iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    assert_eq!(may("module"), "codec error format kernel schema state vm wire");
    assert_eq!(may("state"), "codec error format kernel schema vm wire");
    assert_eq!(may("codec"), "error format kernel schema vm wire");
    assert_eq!(may("format"), "error kernel schema wire");
    assert_eq!(may("kernel"), "error schema wire");
    assert_eq!(may("schema"), "error wire");
    assert_eq!((may("wire"), may("vm"), may("error")), ("error".into(), "error".into(), String::new()));
}

#[test]
fn faults_are_found() {
    let rules = rules(&fs::read_to_string(root().join("lib.rs")).expect("lib.rs"));
    let faults = |path: &str, text: &str| {
        Source::new(path.split('/').map(str::to_owned).collect(), text).faults(&rules).join("; ")
    };
    const DENY: &str = "#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]";
    let state = format!("{DENY} use crate::codec; use super::vm;");
    let fine = [
        (
            "kernel/decode",
            "use crate::schema::Set; use super::budget::Budget; // crate::vm\nconst A: &str = \"crate::vm\";",
        ),
        ("kernel/decode", "mod tests { use super::super::sink::Sink; } /* unsafe */ const Q: char = '\"';"),
        ("codec/source", "use crate::{error, vm::{self, Pins}, kernel::Source}; pub(crate) fn f<'a>() { unsafe {} }"),
        ("state", &state),
        ("options", "use crate::module; use crate::state;"),
        ("main", "fn main() { unsafe { mlua::f() } }"),
    ];
    for (path, text) in fine {
        assert_eq!(faults(path, text), "", "{text}");
    }
    let kernel = format!("{DENY} use super::state::X;");
    let error = format!("{DENY} use crate as c;");
    let wrong = [
        ("kernel/decode", "fn f() {\n  crate::vm::pop();\n}", "kernel::decode, line 2: kernel imports crate::vm"),
        ("kernel/decode", "use super::super::codec::X;", "kernel::decode, line 1: kernel imports crate::codec"),
        ("kernel", &kernel, "kernel, line 1: kernel imports crate::state"),
        (
            "wire/reader",
            "mod tests { use super::super::super::schema; }",
            "wire::reader, line 1: wire imports crate::schema",
        ),
        ("vm/stack", "use crate::{error::Text, wire};", "vm::stack, line 1: vm imports crate::wire"),
        ("codec/show", "use crate::options;", "codec::show, line 1: codec imports crate::options"),
        ("error", &error, "error, line 1: error imports crate::crate"),
        ("schema/plan", "const R: &str = r#\"\n\"#; unsafe impl Send for X {}", "schema::plan, line 2: unsafe"),
        ("kernel/read", "use mlua::Lua;", "kernel::read, line 1: mlua in a layer without Lua"),
        (
            "vm",
            "#![deny(clippy::indexing_slicing, clippy::expect_used, clippy::panic)] #![allow(clippy::unwrap_used)]",
            "vm, line 1: does not deny unwrap_used",
        ),
        ("extra", "", "extra, line 1: belongs to no layer"),
    ];
    for (path, text, fault) in wrong {
        assert_eq!(faults(path, text), fault, "{text}");
    }
}
