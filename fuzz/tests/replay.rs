//! The corpora, with plain `cargo test`: what the fuzzer found is read once more by each target.

use std::fs;
use std::thread;

/// As in the main thread, where the fuzzer runs.
const STACK: usize = 8 << 20;

fn replay(name: &str, run: fn(&[u8])) {
    let corpus = format!("{}/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let all = move || {
        assert!(fs::read_dir(&corpus).is_ok_and(|mut files| files.next().is_some()), "no corpus");
        for file in fs::read_dir(corpus).expect("there is a corpus") {
            let path = file.expect("a file").path();
            println!("{}", path.display());
            run(&fs::read(path).expect("it reads"));
        }
    };
    thread::Builder::new().stack_size(STACK).spawn(all).expect("a thread").join().expect("no input fails");
}

macro_rules! replayed {
    ($($target:ident)*) => {$(
        #[test]
        fn $target() {
            replay(stringify!($target), protobuf_lua_fuzz::$target::run);
        }
    )*};
}

replayed! { decode encode json pattern register reload source tables text }
