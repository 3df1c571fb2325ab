//! Registering: a set for the first time, again, in other Lua states; many files in one set and one by one; reloads.
//! The time, and the memory that it takes, beside prost-reflect's pool of the same descriptors.
//!
//! Ends with tables of medians. Memory is what a counting allocator saw, plus Lua's own on LuaJIT, which has an
//! allocator of its own. The counting is in all times.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use mlua::{Function, Lua, LuaString, Table};
use prost_reflect::DescriptorPool;

use counting::{Counting, live, peak, reset_peak};
use scale::{File, Random};
use support::Case;

#[path = "../tests/support/counting.rs"]
mod counting;
#[path = "../tests/support/scale.rs"]
mod scale;
mod support;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SEED: u64 = 1;

/// A Lua state with the module, and the strings that it will register.
struct State {
    lua: Lua,
    register: Function,
    strings: Vec<LuaString>,
}

impl State {
    fn new(strings: &[&[u8]]) -> State {
        let lua = support::lua();
        let protobuf: Table = lua.load("return require 'protobuf'").eval().expect("the module");
        let register = protobuf.get("register").expect("its function");
        let strings = strings.iter().map(|bytes| lua.create_string(bytes).expect("a string")).collect();
        State { lua, register, strings }
    }

    fn registered(strings: &[&[u8]]) -> State {
        let state = State::new(strings);
        state.register();
        state
    }

    /// Registers all strings, and tells how long that takes.
    fn register(&self) -> Duration {
        let start = Instant::now();
        for bytes in &self.strings {
            self.register.call::<()>(bytes).expect("it registers");
        }
        start.elapsed()
    }

    /// The bytes that Lua's own allocator has, if it is not Rust's.
    fn hidden(lua: &Lua) -> usize {
        lua.gc_collect().expect("garbage is collected");
        lua.gc_collect().expect("garbage is collected");
        if cfg!(feature = "luajit") { lua.used_memory() } else { 0 }
    }
}

/// Registering in a new state, while none lives that has the same.
fn first<'a>(name: &'static str, strings: Vec<&'a [u8]>) -> Case<'a> {
    Case::timed(name, || (), move |_| State::new(&strings).register())
}

/// Registering a changed file, and the one that was there, by turns.
fn reload<'a>(name: &'static str, set: &'a [u8], file: &'a File) -> Case<'a> {
    let prepare = move || {
        let state = State::registered(&[set]);
        let versions = [file.revised(1), file.bytes.clone()];
        (versions.map(|bytes| state.lua.create_string(bytes).expect("a string")), state)
    };
    Case::timed(name, prepare, |(versions, state)| {
        let start = Instant::now();
        let outcome = state.register.call(&versions[0]);
        let time = start.elapsed();
        let (_, _, replaced): (bool, Option<Table>, Option<Table>) = outcome.expect("it reloads");
        assert_eq!(replaced.map(|files| files.raw_len()), Some(1), "one file is replaced");
        versions.reverse();
        time
    })
}

/// The set that many states have.
fn shared_cases(set: &[u8]) -> Vec<Case<'_>> {
    vec![
        first("first registration", vec![set]),
        Case::timed("in a second state", move || State::registered(&[set]), move |_| State::new(&[set]).register()),
        Case::timed("again in the same state", move || State::registered(&[set]), |state| state.register()),
    ]
}

/// The files of a set in several orders.
struct Orders<'a> {
    in_order: Vec<&'a [u8]>,
    reversed: Vec<&'a [u8]>,
    shuffled: Vec<&'a [u8]>,
}

impl<'a> Orders<'a> {
    fn new(files: &'a [File]) -> Self {
        let in_order: Vec<&[u8]> = files.iter().map(|file| &*file.bytes).collect();
        let reversed = in_order.iter().rev().copied().collect();
        let mut shuffled = in_order.clone();
        Random(SEED).shuffle(&mut shuffled);
        Orders { in_order, reversed, shuffled }
    }
}

/// The large set: as one, file by file, and reloads.
fn large_cases<'a>(set: &'a [u8], files: &'a [File]) -> Vec<Case<'a>> {
    let reflect = move |_: &mut ()| {
        let start = Instant::now();
        let pool = DescriptorPool::decode(black_box(set)).expect("it links");
        let time = start.elapsed();
        drop(pool);
        time
    };
    let Orders { in_order, reversed, shuffled } = Orders::new(files);
    vec![
        Case::timed("prost-reflect", || (), reflect),
        first("one set", vec![set]),
        first("file by file, in order", in_order),
        first("file by file, reversed", reversed),
        first("file by file, shuffled", shuffled),
        reload("reload of a leaf", set, files.last().expect("a file")),
        reload("reload of the root", set, files.first().expect("a file")),
    ]
}

/// What the first of these cases take.
fn large_memory(set: &[u8], files: &[File]) -> Vec<(usize, usize)> {
    let Orders { in_order, reversed, shuffled } = Orders::new(files);
    let reflect = memory(|| DescriptorPool::decode(set).expect("it links"));
    let registering = [vec![set], in_order, reversed, shuffled];
    [reflect].into_iter().chain(registering.iter().map(|strings| memory_of_registering(strings))).collect()
}

/// What was live more after `make` than before, and at most in between.
fn memory<T>(make: impl FnOnce() -> T) -> (usize, usize) {
    let before = live();
    reset_peak();
    let made = make();
    let now = live();
    drop(made);
    (now.saturating_sub(before), peak().saturating_sub(before))
}

/// What registering in a new state takes.
fn memory_of_registering(strings: &[&[u8]]) -> (usize, usize) {
    let state = State::new(strings);
    let before = State::hidden(&state.lua);
    let mut hidden = 0;
    let (live, peak) = memory(|| {
        state.register();
        hidden = State::hidden(&state.lua).saturating_sub(before);
    });
    (live + hidden, peak + hidden)
}

/// The mean size of a Lua state.
fn size_of_state(make: impl Fn() -> Lua) -> f64 {
    const STATES: usize = 32;
    let mut hidden = 0;
    let (live, _) = memory(|| {
        let states: Vec<Lua> = (0..STATES).map(|_| make()).collect();
        hidden = states.iter().map(State::hidden).sum();
        states
    });
    (live + hidden) as f64 / STATES as f64
}

/// Sizes of states: with Lua alone, with the module too, and with the set registered too, which another has.
fn sizes_of_states(set: &[u8]) -> [f64; 3] {
    let module = || State::new(&[]).lua;
    // What the process keeps for ever.
    drop(module());
    let _other = State::registered(&[set]);
    [size_of_state(bare), size_of_state(module), size_of_state(|| State::registered(&[set]).lua)]
}

fn bare() -> Lua {
    // SAFETY: nothing runs in it.
    unsafe { Lua::unsafe_new() }
}

fn kilobytes(bytes: usize) -> f64 {
    bytes as f64 / 1024.0
}

fn print_sizes(set: &[u8]) {
    let [bare, module, registered] = sizes_of_states(set);
    println!("\n{:<30} {:>10}", "", "KB");
    println!("{:<30} {:>10.1}", "a bare Lua state", bare / 1024.0);
    println!("{:<30} {:>10.1}", "the module in it", (module - bare) / 1024.0);
    println!("{:<30} {:>10.1}", "the set, which another has", (registered - module) / 1024.0);
}

fn main() {
    let (shared, large) = if support::brief() { ((60, 6), (120, 10)) } else { ((1000, 70), (3000, 200)) };
    let set = scale::set_of(&scale::files(SEED, shared.0, shared.1));
    let files = scale::files(SEED, large.0, large.1);
    let large_set = scale::set_of(&files);
    let mut shared_cases = shared_cases(&set);
    let mut large_cases = large_cases(&large_set, &files);

    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    support::measure(&mut criterion, "shared", &mut shared_cases);
    support::measure(&mut criterion, "large", &mut large_cases);
    criterion.final_summary();

    let Some((rounds, duration)) = support::rounds() else {
        return;
    };
    println!("\n{}, medians of {rounds} rounds in turns", support::lua_version(&support::lua()));

    let size = kilobytes(set.len());
    println!("\n{} messages in {} files, {size:.0} KB\n\n{:<30} {:>10} {:>10}", shared.0, shared.1, "", "ms", "us/KB");
    let times = support::medians(&mut shared_cases, rounds, duration);
    for (case, time) in shared_cases.iter().zip(times) {
        println!("{:<30} {:>10.3} {:>10.3}", case.name, time / 1e6, time / 1e3 / size);
    }
    print_sizes(&set);

    println!("\n{} messages in {} files, {:.0} KB\n", large.0, large.1, kilobytes(large_set.len()));
    println!("{:<30} {:>10} {:>10} {:>10} {:>10} {:>10}", "", "ms", "to reflect", "to one set", "live KB", "peak KB");
    let times = support::medians(&mut large_cases, rounds, duration);
    let memory = large_memory(&large_set, &files).into_iter().map(Some).chain(std::iter::repeat(None));
    for ((case, time), memory) in large_cases.iter().zip(&times).zip(memory) {
        print!("{:<30} {:>10.2} {:>10.2} {:>10.2}", case.name, time / 1e6, time / times[0], time / times[1]);
        match memory {
            Some((live, peak)) => println!(" {:>10.0} {:>10.0}", kilobytes(live), kilobytes(peak)),
            None => println!(),
        }
    }
    print_sizes(&large_set);
}
