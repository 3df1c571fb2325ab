//! Everything at once, for as long as one likes: threads open and close Lua states without end, and in each all
//! functions are called in random order, with what is right and with what is wrong. What is right comes out right each
//! time, and memory is flat.
#![cfg(feature = "vendored")]

use std::env;
use std::fs;
use std::panic;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use mlua::{Function, Lua, Table};

use support::counting::{Counting, live};
use support::scale::Random;
use support::{Project, register};

mod support;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");
/// What a state does, a few calls at a time.
const CALLS: &str = include_str!("support/soak.lua");
const SEED: u64 = 27;
const THREADS: usize = 4;
/// Memory is looked at where all states are closed, that often.
const WINDOWS: usize = 15;
/// What may stay: of what Rust allocates, and of what the process has, in which the allocator leaves gaps.
const LIVE: usize = 16 << 10;
const RESIDENT: usize = 12 << 20;

/// How long it takes; `PROTOBUF_TEST_SECONDS` changes it.
fn seconds() -> u64 {
    env::var("PROTOBUF_TEST_SECONDS").map_or(5, |n| n.parse().expect("a number"))
}

/// What all threads share.
struct Soak {
    /// What states register and use.
    project: Project,
    /// The bytes of the messages in [`CALLS`].
    expected: OnceLock<Vec<mlua::BString>>,
    states: AtomicU64,
    reloads: AtomicU64,
    passed: AtomicU64,
    refused: AtomicU64,
}

impl Soak {
    fn new() -> Soak {
        let (project, expected, count) = (Project::new(SEED, 60, 8), OnceLock::new(), AtomicU64::default);
        Soak { project, expected, states: count(), reloads: count(), passed: count(), refused: count() }
    }

    /// Opens and closes states until it is time.
    fn work(&self, seed: u64, end: Instant) {
        let mut random = Random(seed);
        while Instant::now() < end {
            let (lua, protobuf) = support::lua();
            self.live(&lua, &protobuf, &mut random, end).unwrap_or_else(|e| panic!("{e}"));
            self.states.fetch_add(1, Relaxed);
        }
    }

    /// The life of a state.
    fn live(&self, lua: &Lua, protobuf: &Table, random: &mut Random, end: Instant) -> mlua::Result<()> {
        let calls = lua.load(CALLS).set_name("@tests/support/soak.lua").into_function()?;
        for _ in 0..random.below(5) {
            match random.below(4) {
                0 => self.use_project(lua, protobuf, random)?,
                _ => self.call(protobuf, &calls, random)?,
            }
            if Instant::now() > end {
                break;
            }
        }
        // Half of them are closed with all their garbage.
        if random.below(2) == 0 {
            lua.gc_collect()?;
        }
        Ok(())
    }

    fn call(&self, protobuf: &Table, calls: &Function, random: &mut Random) -> mlua::Result<()> {
        let seed = 1 + random.below(1 << 30);
        let expected = self.expected.get().map(|all| all.as_slice());
        let (passed, refused, bytes): (u64, u64, Vec<mlua::BString>) =
            calls.call((protobuf, FOLDER, seed, 20, expected))?;
        self.expected.get_or_init(|| bytes);
        self.passed.fetch_add(passed, Relaxed);
        self.refused.fetch_add(refused, Relaxed);
        Ok(())
    }

    /// Registers the project, or what is left of it, uses some of its types, and reloads a file.
    fn use_project(&self, lua: &Lua, protobuf: &Table, random: &mut Random) -> mlua::Result<()> {
        let Project { set, .. } = &self.project;
        let _ = register(lua, protobuf, &set[..random.below(set.len())]);
        register(lua, protobuf, set)?;
        let file = self.project.random_file(random);
        for revised in [true, false] {
            for _ in 0..2 {
                self.project.use_one(lua, random);
                self.passed.fetch_add(6, Relaxed);
            }
            let version = 1 + random.below(50) as u16;
            let bytes = if revised { file.revised(version) } else { file.bytes.clone() };
            let (_, missing, replaced) = register(lua, protobuf, &bytes)?;
            assert_eq!((missing, replaced), (vec![], vec![file.name.clone()]));
            self.reloads.fetch_add(1, Relaxed);
        }
        Ok(())
    }
}

/// What the process has in memory, where that can be known.
fn resident() -> usize {
    const PAGE: usize = 4096;
    let pages = fs::read_to_string("/proc/self/statm");
    pages.map_or(0, |all| all.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok()).expect("a number") * PAGE)
}

fn median(of: &[(usize, usize)], what: impl Fn(&(usize, usize)) -> usize) -> usize {
    let mut all: Vec<usize> = of.iter().map(what).collect();
    all.sort_unstable();
    all[all.len() / 2]
}

/// The only test here: others beside it would be counted too.
#[test]
fn nothing_gets_lost() {
    // The compiler of text catches panics of its parser's. A backtrace of one would leave tens of megabytes of symbols.
    panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    let soak = Soak::new();
    let window = Duration::from_millis(seconds() * 1000 / WINDOWS as u64);
    let mut memory = Vec::with_capacity(WINDOWS);
    for i in 0..WINDOWS {
        let end = Instant::now() + window;
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let soak = &soak;
                scope.spawn(move || soak.work((i * THREADS + thread) as u64, end));
            }
        });
        memory.push((live(), resident()));
    }
    let count = |n: &AtomicU64| n.load(Relaxed);
    let (passed, refused) = (count(&soak.passed), count(&soak.refused));
    println!(
        "{} states, {} reloads, {passed} calls right, {refused} refused",
        count(&soak.states),
        count(&soak.reloads)
    );
    for (i, (live, resident)) in memory.iter().enumerate() {
        println!(
            "after {:>6.1} s: {live} bytes live, {} KB resident",
            window.as_secs_f64() * (i + 1) as f64,
            resident >> 10
        );
    }
    assert!(passed > 0 && refused > 0);
    let (early, late) = (&memory[WINDOWS / 3..WINDOWS * 2 / 3], &memory[WINDOWS * 2 / 3..]);
    let live = [early, late].map(|part| median(part, |m| m.0));
    let resident = [early, late].map(|part| median(part, |m| m.1));
    println!("live: {live:?}, resident: {resident:?}");
    assert!(live[1] < live[0] + LIVE, "more and more is live: {live:?}");
    assert!(resident[1] < resident[0] + RESIDENT, "more and more is resident: {resident:?}");
}
