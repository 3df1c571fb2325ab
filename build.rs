//! What the linker must know when the library is built as a module that Lua loads.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_MODULE").is_none() {
        return;
    }
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        // Closing a Lua state unloads its modules, but threads of this one keep destructors that
        // run later, and another state may still hold code of it: so it stays loaded.
        Ok("linux" | "android" | "freebsd") => {
            println!("cargo:rustc-link-arg=-Wl,-z,nodelete")
        }
        // The symbols of Lua come from the program that loads the module.
        Ok("macos" | "ios") => {
            println!("cargo:rustc-link-arg=-Wl,-undefined,dynamic_lookup")
        }
        _ => {}
    }
}
