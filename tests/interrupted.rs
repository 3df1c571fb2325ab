//! Calls that are interrupted: whichever request for memory Lua's allocator refuses, and wherever a hook or a finalizer
//! raises, the call ends with that error or gives what it should, the same call works afterwards, and nothing is left.
#![cfg(feature = "vendored")]

use std::collections::BTreeSet;
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use support::counting::{Counting, live};
use support::interrupt::{Ended, Fail, RAISED, State};

mod support;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const NO_MEMORY: &str = "not enough memory";

/// Tests beside each other would be counted together.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

type Mode = fn(usize) -> Fail;

/// A call of `tests/interrupted/calls.lua`, in a state of its own.
struct Case {
    state: State,
    name: String,
    at: usize,
    /// It does something once, and gives something else when it is made again.
    once: bool,
    /// LuaJIT forgets how large a closure is if there is no memory for one of its upvalues (lj_func_newL_gc).
    miscounts: bool,
}

/// Picks the cases whose names contain it.
const ONLY: &str = "PROTOBUF_TEST_CASE";

/// Does `work` with each case.
fn each_case(work: impl Fn(&Case)) {
    let only = env::var(ONLY).unwrap_or_default();
    let (mut first, mut abandoned) = (None, 0);
    for at in 1.. {
        let opened = live();
        let state = State::new();
        state.keep("cases = dofile 'tests/interrupted/calls.lua'");
        if state.ask(&format!("cases[{at}] == nil")) == "true" {
            break;
        }
        let [name, kind] = ["name", "kind"].map(|what| state.ask(&format!("cases[{at}].{what}")));
        let miscounts = cfg!(feature = "luajit") && kind == "closures";
        let case = Case { state, at, name, once: kind == "once", miscounts };
        if case.name.contains(&only) {
            work(&case);
        }
        if case.miscounts {
            // A debug build of LuaJIT aborts where the sum is wrong when it closes.
            case.state.abandon();
            abandoned += live().saturating_sub(opened);
            continue;
        }
        let name = case.name.clone();
        drop(case);
        // What the process keeps for ever is there after the first; a test that ends beside this one takes some KB.
        let closed = live().saturating_sub(abandoned);
        let grown = closed.saturating_sub(*first.get_or_insert(closed));
        assert!(grown < (64 << 10), "{name}: {grown} bytes are left of closed states");
    }
}

impl Case {
    fn prepare(&self) {
        self.state.keep(&format!("return cases[{}].prepare()", self.at));
    }

    /// These, and hooks; but what is done once may be done when a hook raises as it returns.
    fn modes(&self, modes: &[Mode]) -> Vec<Mode> {
        let hooks: &[Mode] = if self.once { &[] } else { &[Fail::Hook] };
        [modes, hooks].concat()
    }

    /// Calls, interrupted. An error must be that of the interruption.
    fn fail(&self, fail: Fail, errors: &mut BTreeSet<String>) -> Ended {
        let ended = self.state.call(fail);
        if let Some((text, memory)) = &ended.error {
            let told = match fail {
                Fail::Hook(_) | Fail::Finalizer(_) => text.contains(RAISED),
                _ if *memory => text == NO_MEMORY,
                _ => text.contains(NO_MEMORY),
            };
            assert!(told && ended.failures > 0, "{}: {fail:?}: {text}", self.name);
            errors.insert(text.clone());
        }
        ended
    }

    /// Calls, not interrupted: it must work.
    fn succeed(&self, after: Fail) {
        let ended = self.state.call(Fail::Never);
        assert!(ended.error.is_none(), "{}: after {after:?}: {:?}", self.name, ended.error);
    }

    /// Calls, interrupted, and if that did nothing, once more without.
    fn fail_and_succeed(&self, fail: Fail, errors: &mut BTreeSet<String>) -> usize {
        let ended = self.fail(fail, errors);
        if ended.error.is_some() || !self.once {
            self.succeed(fail);
        }
        ended.failures
    }
}

/// The places where a call is interrupted: each of the first, then ever fewer.
fn places(first: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), move |n| Some(n + 1 + n / first))
}

/// How many places calls were interrupted at.
static FAILED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_call_may_be_interrupted_anywhere() {
    let _alone = alone();
    let sweep = |case: &Case, again: bool| {
        let mut errors = BTreeSet::new();
        let mut counts = Vec::new();
        case.prepare();
        for mode in case.modes(&[Fail::Once, Fail::From, Fail::Finalizer]) {
            for n in places(60) {
                if !again {
                    case.prepare();
                }
                if case.fail_and_succeed(mode(n), &mut errors) == 0 {
                    counts.push(n - 1);
                    break;
                }
            }
        }
        case.prepare();
        case.fail_and_succeed(Fail::EachOnce, &mut errors);
        println!("{}{}: {counts:?} {errors:?}", case.name, if again { ", again" } else { "" });
        FAILED.fetch_add(counts.iter().sum::<usize>(), Relaxed);
    };
    each_case(|case| {
        sweep(case, false);
        if !case.once {
            sweep(case, true);
        }
    });
    // Some calls need no memory, but not all.
    assert!(FAILED.load(Relaxed) > 100 || env::var_os(ONLY).is_some(), "calls are not interrupted");
}

/// The bytes that Lua and the library had after each round of a call.
#[derive(Debug)]
struct Rounds(Vec<[usize; 2]>);

impl Rounds {
    /// Rounds of calls at most.
    const MOST: usize = 30;
    /// So many rounds apart memory is compared: what leaks now and then shows in one of them.
    const APART: usize = 6;
    /// Calls in each.
    const CALLS: usize = 3;

    /// None yet; they take no memory of their own as they come.
    fn new() -> Self {
        Rounds(Vec::with_capacity(Self::MOST))
    }

    /// Whether memory is no more than it was before. What succeeds first, such as binding a type, is there from then on;
    /// and LuaJIT's own memory grows slowly and shrinks again.
    fn settled(&self) -> bool {
        let [.., last] = &*self.0 else { return false };
        let before = self.0.len().checked_sub(Self::APART + 1).and_then(|at| self.0.get(at));
        before.is_some_and(|before| last.iter().zip(before).all(|(now, before)| now <= before))
    }
}

#[test]
fn interrupted_calls_leave_nothing() {
    let _alone = alone();
    each_case(|case| {
        if case.miscounts {
            return;
        }
        for mode in case.modes(&[Fail::From, Fail::Finalizer]) {
            case.prepare();
            for n in places(8) {
                let mut errors = BTreeSet::new();
                let mut fails = || {
                    (0..Rounds::CALLS).all(|_| {
                        let ended = case.fail(mode(n), &mut errors);
                        ended.failures > 0 && (ended.error.is_some() || !case.once)
                    })
                };
                let mut rounds = Rounds::new();
                while fails() && !rounds.settled() {
                    assert!(rounds.0.len() < Rounds::MOST, "{}: {:?}: memory grows: {rounds:?}", case.name, mode(n));
                    rounds.0.push([case.state.live(), live()]);
                }
                if rounds.0.is_empty() {
                    break;
                }
            }
        }
    });
}
