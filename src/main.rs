//! The host program: runs Lua scripts on the embedded Lua with `protobuf` and `parser` preloaded,
//! so that trying the library needs no Lua installed.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use mlua::{Function, Lua, LuaString, Table, Variadic};

const NAME: &str = env!("CARGO_PKG_NAME");
const QUICKSTART: &str = "lua/examples/quickstart.lua";
const HOST: &str = include_str!("../lua/host.lua");
const PARSER: &str = include_str!("../lua/parser.lua");
const USAGE: &str = "\
usage: protobuf-lua [options] [script [args]]
  -e code   run the string 'code'
  -v        show the version
  -h        show this text
  --        stop handling options
  -         run the standard input as the script
Without a script and options, runs lua/examples/quickstart.lua.
";

fn main() -> ExitCode {
    let argv: Vec<OsString> = env::args_os().collect();
    let invocation = match Invocation::parse(&argv) {
        Ok(invocation) => invocation,
        Err(problem) => return fail(&format!("{problem}\n{}", USAGE.trim_end())),
    };
    if invocation.help {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match run(&argv, &invocation) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(message)) => fail(&message),
        Err(error) => fail(&error.to_string()),
    }
}

/// Reports a failure the way Lua's own interpreter does.
fn fail(message: &(impl AsRef<[u8]> + ?Sized)) -> ExitCode {
    let mut stderr = io::stderr().lock();
    let lines = [NAME.as_bytes(), b": ", message.as_ref(), b"\n"];
    // A closed stderr leaves nobody to tell; the exit code still does.
    lines.iter().try_for_each(|part| stderr.write_all(part)).ok();
    ExitCode::FAILURE
}

/// What the command line asks for.
#[derive(Default)]
struct Invocation {
    help: bool,
    version: bool,
    code: Vec<OsString>,
    /// Where in the arguments the script's name stands.
    script: Option<usize>,
}

impl Invocation {
    fn parse(argv: &[OsString]) -> Result<Self, String> {
        let mut found = Self::default();
        let mut arguments = argv.iter().enumerate().skip(1);
        while let Some((index, argument)) = arguments.next() {
            match argument.as_encoded_bytes() {
                b"--" => {
                    found.script = arguments.next().map(|(index, _)| index);
                    break;
                }
                b"-h" | b"--help" => found.help = true,
                b"-v" => found.version = true,
                b"-e" => match arguments.next() {
                    Some((_, code)) => found.code.push(code.clone()),
                    None => return Err("'-e' needs argument".to_owned()),
                },
                [b'-', _, ..] => {
                    let option = argument.to_string_lossy();
                    return Err(format!("unrecognized option '{option}'"));
                }
                _ => {
                    found.script = Some(index);
                    break;
                }
            }
        }
        Ok(found)
    }

    fn wants_quickstart(&self) -> bool {
        self.script.is_none() && self.code.is_empty() && !self.version
    }
}

/// Does what was asked; `Some` is the message of the Lua error that ended it.
fn run(argv: &[OsString], invocation: &Invocation) -> mlua::Result<Option<Vec<u8>>> {
    // SAFETY: a host for arbitrary scripts gives them all of Lua, `debug`, `ffi` and C modules
    // included; what they do with those is theirs to answer for, as in the stand-alone lua.
    let lua = unsafe { Lua::unsafe_new() };
    protobuf_lua::preload(&lua)?;
    let preload: Table = lua.load("return package.preload").eval()?;
    preload.raw_set("parser", lua.load(PARSER).set_name("=parser.lua").into_function()?)?;
    let host: Table = lua.load(HOST).set_name("=[host]").eval()?;

    if invocation.version {
        let version = "return jit and jit.version or _VERSION";
        let version: String = lua.load(version).eval()?;
        println!("{NAME} {} on {version}", env!("CARGO_PKG_VERSION"));
    }

    // `arg` as lua has it: the script at 0, its arguments from 1, what stands before it below 0.
    let mut argv = argv.to_vec();
    let mut script = invocation.script;
    if invocation.wants_quickstart() {
        script = Some(argv.len());
        argv.push(quickstart());
    }
    let strings = argv.iter().map(|argument| lua.create_string(argument.as_encoded_bytes()));
    let strings = strings.collect::<mlua::Result<Vec<LuaString>>>()?;
    let arg = lua.create_table()?;
    for (index, string) in (-(script.unwrap_or(0) as i64)..).zip(&strings) {
        arg.raw_set(index, string)?;
    }
    lua.globals().raw_set("arg", arg)?;

    for code in &invocation.code {
        let message = call(&host, "code", [lua.create_string(code.as_encoded_bytes())?])?;
        if message.is_some() {
            return Ok(message);
        }
    }
    match script {
        Some(script) => call(&host, "script", strings.into_iter().skip(script)),
        None => Ok(None),
    }
}

/// Calls a function of `lua/host.lua`.
fn call(host: &Table, name: &str, arguments: impl IntoIterator<Item = LuaString>) -> mlua::Result<Option<Vec<u8>>> {
    let function: Function = host.raw_get(name)?;
    let message: Option<LuaString> = function.call(Variadic::from_iter(arguments))?;
    Ok(message.map(|message| message.as_bytes().to_vec()))
}

/// The quick start, in the source tree that `cargo run` names, otherwise in the current folder.
fn quickstart() -> OsString {
    let root = env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    root.join(QUICKSTART).into_os_string()
}
