//! What the linker must know.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let enabled = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let system = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if enabled("MODULE") {
        module(&system);
    } else if enabled("VENDORED") && system != "windows" {
        // C modules that scripts load find the host's Lua.
        println!("cargo:rustc-link-arg-bins=-rdynamic");
    }
}

/// The shared object that Lua loads.
fn module(system: &str) {
    match system {
        // Closing a Lua state unloads its modules, but threads of this one keep destructors that
        // run later, and another state may still hold code of it: so it stays loaded.
        "linux" | "android" | "freebsd" => println!("cargo:rustc-link-arg=-Wl,-z,nodelete"),
        // The symbols of Lua come from the program that loads the module.
        "macos" | "ios" => println!("cargo:rustc-link-arg=-Wl,-undefined,dynamic_lookup"),
        _ => {}
    }
}
