//! What the benchmarks share: cases that criterion measures one by one, and that are then
//! measured once more in turns, so that their ratios do not suffer from a machine that drifts.

#![allow(dead_code, reason = "no benchmark uses all of it")]

use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use mlua::{Function, Lua};

/// Something to measure: it runs the given number of times and says how long that took.
pub struct Case<'a> {
    pub name: &'static str,
    run: Box<dyn FnMut(u64) -> Duration + 'a>,
}

impl<'a> Case<'a> {
    /// A case in Rust; what it returns is kept from the optimizer.
    pub fn rust<T>(name: &'static str, mut task: impl FnMut() -> T + 'a) -> Self {
        let run = move |iterations| {
            let start = Instant::now();
            for _ in 0..iterations {
                black_box(task());
            }
            start.elapsed()
        };
        Self { name, run: Box::new(run) }
    }

    /// A Lua function that takes the number of iterations and loops by itself. Every measurement
    /// starts with the garbage of those before it collected.
    pub fn lua(name: &'static str, lua: &'a Lua, task: Function) -> Self {
        let run = move |iterations| {
            lua.gc_collect().expect("garbage is collected");
            let start = Instant::now();
            task.call::<()>(iterations).expect("the loop runs");
            start.elapsed()
        };
        Self { name, run: Box::new(run) }
    }

    /// A task that measures itself, with what each measurement prepares for it.
    pub fn timed<P>(
        name: &'static str,
        mut prepare: impl FnMut() -> P + 'a,
        mut task: impl FnMut(&mut P) -> Duration + 'a,
    ) -> Self {
        let run = move |iterations| {
            let mut prepared = prepare();
            (0..iterations).map(|_| task(&mut prepared)).sum()
        };
        Self { name, run: Box::new(run) }
    }

    /// How many iterations fill the time of one measurement.
    fn calibrate(&mut self, duration: Duration) -> u64 {
        let mut iterations = 1;
        loop {
            let time = (self.run)(iterations);
            if time >= duration / 10 {
                let share = duration.as_secs_f64() / time.as_secs_f64();
                return (iterations as f64 * share).ceil() as u64;
            }
            iterations *= 2;
        }
    }
}

/// Has criterion measure the cases.
pub fn measure(criterion: &mut Criterion, group: &str, cases: &mut [Case]) {
    let mut group = criterion.benchmark_group(group);
    for case in cases {
        group.bench_function(case.name, |bencher| bencher.iter_custom(&mut case.run));
    }
    group.finish();
}

fn given(option: &str) -> bool {
    env::args().any(|argument| argument == option)
}

/// Whether criterion only tests that the cases run.
pub fn brief() -> bool {
    given("--test")
}

/// How long and how often the cases are measured in turns: briefly when criterion only tests
/// that they run, not at all when it lists them.
pub fn rounds() -> Option<(usize, Duration)> {
    if given("--list") {
        None
    } else if brief() {
        Some((3, Duration::from_millis(10)))
    } else {
        Some((11, Duration::from_millis(100)))
    }
}

/// Nanoseconds per iteration of every case: the medians of rounds in which they take turns.
pub fn medians(cases: &mut [Case], rounds: usize, duration: Duration) -> Vec<f64> {
    let counts: Vec<u64> = cases.iter_mut().map(|case| case.calibrate(duration)).collect();
    let mut times = vec![Vec::new(); cases.len()];
    for _ in 0..rounds {
        for ((case, &count), times) in cases.iter_mut().zip(&counts).zip(&mut times) {
            times.push((case.run)(count).as_nanos() as f64 / count as f64);
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.into_iter().map(median).collect()
}

/// A Lua state as a host has it, with `protobuf` to be required.
pub fn lua() -> Lua {
    // SAFETY: the only scripts that run here are the benchmarks' own; LuaJIT's 64-bit values
    // need its `ffi` library, which a safe state does not load.
    let lua = unsafe { Lua::unsafe_new() };
    protobuf_lua::preload(&lua).expect("protobuf is preloaded");
    lua
}

/// The name of the Lua that runs.
pub fn lua_version(lua: &Lua) -> String {
    lua.load("return jit and jit.version or _VERSION").eval().expect("a version")
}
