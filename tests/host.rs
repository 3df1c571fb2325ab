//! The host program, run as its users run it.
#![cfg(feature = "vendored")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn host(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the host starts")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_protobuf-lua"));
    command.args(arguments);
    command
}

/// Writes a script of its own for one test.
fn script(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("the script is written");
    path.into_os_string().into_string().expect("a path in UTF-8")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

#[test]
fn quickstart_runs_from_any_folder() {
    let output = command(&[]).current_dir(env!("CARGO_TARGET_TMPDIR")).output().expect("it starts");
    assert_eq!(stderr(&output), "");
    assert!(output.status.success());
    assert!(stdout(&output).contains("Alice"), "{}", stdout(&output));
}

#[test]
fn messages_and_calls_are_dispatched() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/lua/examples/dispatch.lua");
    let output = command(&[example]).current_dir(env!("CARGO_TARGET_TMPDIR")).output().expect("it starts");
    assert_eq!(stderr(&output), "");
    for line in ["1001 is game.Login", "move to 3, -4", "game.World/Walk is for players", "walked to x = 1"] {
        assert!(stdout(&output).lines().any(|told| told == line), "{}", stdout(&output));
    }
}

#[test]
fn every_script_of_the_tree_loads() {
    for folder in ["lua/examples", "lua/bench"] {
        for entry in fs::read_dir(format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))).expect(folder) {
            let path = entry.expect(folder).path();
            let code = format!("assert(loadfile({:?}))", path.to_str().expect("a path in UTF-8"));
            let output = host(&["-e", &code]);
            assert!(output.status.success(), "{}", stderr(&output));
        }
    }
}

#[test]
fn code_and_scripts_see_protobuf_and_their_arguments() {
    let output = host(&["-e", "print(type(require 'protobuf'.encode), arg[0] ~= nil)"]);
    assert_eq!((stdout(&output), stderr(&output)), ("function\ttrue\n".into(), String::new()));

    let path = script(
        "arguments.lua",
        "#!/usr/bin/env lua\nprint(arg[0] == (...), #arg, select('#', ...), arg[2], arg[-2])\n",
    );
    let output = host(&["-e", "x = 1", "--", &path, "a", ""]);
    assert_eq!(stdout(&output), "false\t2\t2\t\tx = 1\n");
}

#[test]
fn standard_input_is_a_script() {
    let mut child =
        command(&["-", "argument"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"print(arg[0], ...)").expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(stdout(&output), "-\targument\n");
}

#[test]
fn a_script_has_all_of_lua() {
    let code = "assert(debug.getregistry and io.open and os.exit and package.loadlib) \
                if jit then assert(require 'ffi'.new and jit.status()) end print 'all'";
    assert_eq!(stdout(&host(&["-e", code])), "all\n");
}

#[test]
fn errors_show_a_traceback_and_exit_1() {
    let path = script("fails.lua", "local function inner() error('boom') end\ninner()\n");
    let output = host(&[&path]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.starts_with(&format!("protobuf-lua: {path}:1: boom\nstack traceback:\n")), "{text}");
    assert!(text.contains(&format!("{path}:2: in main chunk")), "{text}");
    assert!(!text.contains("[host]"), "{text}");
}

#[test]
fn errors_of_the_library_are_shown_likewise() {
    let output = host(&["-e", "require 'protobuf'.encode('no.Type', {})"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("no.Type") && text.contains("stack traceback:"), "{text}");
}

#[test]
fn errors_that_are_no_strings() {
    let named = "error(setmetatable({}, { __tostring = function() return 'described' end }))";
    assert_eq!(stderr(&host(&["-e", named])), "protobuf-lua: described\n");
    let text = stderr(&host(&["-e", "error({})"]));
    assert!(text.starts_with("protobuf-lua: (error object is a table value)\n"), "{text}");
    let text = stderr(&host(&["-e", "error(nil)"]));
    assert!(text.starts_with("protobuf-lua: "), "{text}");
}

#[test]
fn code_that_does_not_load() {
    for arguments in [["-e", "x ="], ["--", "/no/such/file.lua"]] {
        let output = host(&arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).starts_with("protobuf-lua: "), "{}", stderr(&output));
    }
}

#[test]
fn options() {
    let output = host(&["-v"]);
    assert!(stdout(&output).starts_with(concat!("protobuf-lua ", env!("CARGO_PKG_VERSION"), " on Lua")));
    assert!(stdout(&host(&["--help"])).starts_with("usage: "));
    for arguments in [&["-x"][..], &["-e"]] {
        let output = host(arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("usage: "), "{}", stderr(&output));
    }
    assert_eq!(host(&["-e", "os.exit(3)"]).status.code(), Some(3));
}
