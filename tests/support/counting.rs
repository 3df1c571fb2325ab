//! An allocator that counts: how many bytes are live, and how many were at most.
//!
//! Of Lua's memory it sees that of PUC Lua, which mlua takes from Rust's allocator; LuaJIT has one of its own.

#![allow(dead_code, reason = "no test or benchmark uses all of it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The bytes that are allocated.
pub fn live() -> usize {
    LIVE.load(Relaxed)
}

/// What was live at most since [`reset_peak`].
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}

pub fn reset_peak() {
    PEAK.store(live(), Relaxed);
}

fn grown(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
    if live > PEAK.load(Relaxed) {
        PEAK.fetch_max(live, Relaxed);
    }
}

fn shrunk(bytes: usize) {
    LIVE.fetch_sub(bytes, Relaxed);
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let new = unsafe { System.alloc(layout) };
        if !new.is_null() {
            grown(layout.size());
        }
        new
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let new = unsafe { System.alloc_zeroed(layout) };
        if !new.is_null() {
            grown(layout.size());
        }
        new
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(old, layout) };
        shrunk(layout.size());
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let new = unsafe { System.realloc(old, layout, size) };
        if !new.is_null() {
            match size.checked_sub(layout.size()) {
                Some(more) => grown(more),
                None => shrunk(layout.size() - size),
            }
        }
        new
    }
}
