//! The Lua suite, `tests/lua/`, in the embedded Lua. CI runs it in other Luas, against the built modules.
#![cfg(feature = "vendored")]

use std::env;
use std::process::Command;

/// Through the host program, since the suite leaves with `os.exit`; `LUA_TESTS` picks the tests whose names contain it.
#[test]
fn lua_suite_passes() {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lua/run.lua");
    let mut command = Command::new(env!("CARGO_BIN_EXE_protobuf-lua"));
    command.arg(suite).args(env::var_os("LUA_TESTS"));
    let output = command.current_dir(env!("CARGO_TARGET_TMPDIR")).output().expect("the host starts");
    let told = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{told}{errors}", output.status);

    // An early end of the script must not count as success.
    let counts = told.lines().last().unwrap_or_default();
    let passed = counts.strip_suffix(" passed, 0 failed").and_then(|n| n.parse::<u32>().ok());
    assert!(passed.is_some_and(|n| n > 0), "{told}{errors}");
    println!("{counts}");
}
