//! Lua states on many threads that have registered the same files: they see the same, whatever others reload
//! meanwhile, and when all are closed the memory is back.
#![cfg(feature = "vendored")]

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use mlua::{Lua, ObjectLike, Table};

use support::counting::{Counting, live};
use support::scale::{self, File, Random};
use support::{Project, register};

mod support;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SEED: u64 = 7;
const THREADS: usize = 8;
const RELOADERS: usize = 2;

/// The states of each thread; `PROTOBUF_TEST_STATES` changes it.
fn states() -> usize {
    env::var("PROTOBUF_TEST_STATES").map_or(250, |n| n.parse().expect("a number"))
}

/// Threads whose states all register the same project.
struct Threads {
    project: Project,
}

impl Threads {
    fn open(&self) -> (Lua, Table) {
        let (lua, protobuf) = support::lua();
        assert_eq!(register(&lua, &protobuf, &self.project.set).expect("it registers"), (true, vec![], vec![]));
        (lua, protobuf)
    }

    /// The life of the states of one thread.
    fn work(&self, states: usize, seed: u64, all_open: &Barrier) {
        let mut random = Random(seed);
        let mut open = || -> Vec<(Lua, Table)> {
            let open = |_| {
                let (lua, protobuf) = self.open();
                for _ in 0..3 {
                    self.project.use_one(&lua, &mut random);
                }
                // The string that was registered.
                lua.gc_collect().expect("garbage is collected");
                (lua, protobuf)
            };
            (0..states).map(open).collect()
        };
        // Whoever fails must not leave the others waiting.
        let opened = catch_unwind(AssertUnwindSafe(&mut open));
        all_open.wait();
        all_open.wait();
        let mut opened = opened.unwrap_or_else(|panic| resume_unwind(panic));
        random.shuffle(&mut opened);
        while let Some((lua, protobuf)) = opened.pop() {
            self.project.use_one(&lua, &mut random);
            let file = self.project.random_file(&mut random);
            assert!(!has_revision(&protobuf, file, 1));
            drop((lua, protobuf));
        }
    }

    /// Reloads files in states of its own until told to end, and at least once.
    fn reload(&self, seed: u64, end: &AtomicBool) -> u16 {
        let mut random = Random(seed);
        let mut version = 1;
        loop {
            let (lua, protobuf) = self.open();
            let one = self.project.random_file(&mut random);
            let other = loop {
                let other = self.project.random_file(&mut random);
                if other.name != one.name {
                    break other;
                }
            };
            // A file alone.
            let replaced = register(&lua, &protobuf, &one.revised(version)).expect("it reloads");
            assert_eq!(replaced, (true, vec![], vec![one.name.clone()]));
            assert!(has_revision(&protobuf, one, version) && !has_revision(&protobuf, one, version + 1));
            self.project.use_one(&lua, &mut random);

            // The whole set, in which another file differs, and that one is as before.
            let revised = other.revised(version);
            let set =
                self.project.files.iter().map(|file| if file.name == other.name { &revised } else { &file.bytes });
            let set = scale::set(set.map(Vec::as_slice));
            let (_, missing, mut replaced) = register(&lua, &protobuf, &set).expect("it reloads");
            replaced.sort();
            let mut expected = vec![one.name.clone(), other.name.clone()];
            expected.sort();
            assert_eq!((missing, replaced), (vec![], expected));
            assert!(!has_revision(&protobuf, one, version) && has_revision(&protobuf, other, version));
            self.project.use_one(&lua, &mut random);

            if end.load(Ordering::Relaxed) {
                return version;
            }
            version += 1;
        }
    }

    /// Runs all threads to their end; gives the bytes that were live while all states were open.
    fn run(&self, states: usize) -> usize {
        let (all_open, end) = (Barrier::new(THREADS + 1), AtomicBool::new(false));
        thread::scope(|scope| {
            let reload = |i| {
                scope.spawn({
                    let end = &end;
                    move || self.reload(100 + i as u64, end)
                })
            };
            let work = |i| {
                scope.spawn({
                    let all_open = &all_open;
                    move || self.work(states, i as u64, all_open)
                })
            };
            let reloaders: Vec<_> = (0..RELOADERS).map(reload).collect();
            let workers: Vec<_> = (0..THREADS).map(work).collect();
            all_open.wait();
            let height = live();
            all_open.wait();
            let worked: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
            end.store(true, Ordering::Relaxed);
            let reloads: Vec<_> = reloaders.into_iter().map(|reloader| reloader.join().expect("it reloads")).collect();
            worked.into_iter().for_each(|worked| worked.expect("it works"));
            println!("reloads: {reloads:?}");
            height
        })
    }
}

fn has_revision(protobuf: &Table, file: &File, version: u16) -> bool {
    let field = format!("revision_{version}");
    protobuf.call_function("check", (file.revised_type(), field)).expect("a boolean")
}

/// The only test here: others beside it would be counted too.
#[test]
fn many_states_share_and_give_back() {
    let threads = Threads { project: Project::new(SEED, 1000, 70) };
    // What the process keeps for ever is there after the first time.
    threads.run(1);
    let (before, start) = (live(), Instant::now());
    let height = threads.run(states());
    let after = live();
    let count = states() * THREADS;
    println!("{count} states in {:.1?}", start.elapsed());
    println!("{before} bytes before, {after} after, {} for each open state", (height.saturating_sub(before)) / count);
    // A compiled set of its own would be many times the descriptors; the rest is for those who reload.
    assert!(height.saturating_sub(before) < count * threads.project.set.len() / 2 + (128 << 20), "states do not share");
    assert!(after.abs_diff(before) < 64 << 10, "{before} bytes before, {after} after");
}
