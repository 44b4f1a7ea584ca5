//! In steady state the engine and the schedulers do not allocate: not rarely, never.

#[path = "support/closed_loop.rs"]
mod closed_loop;

use closed_loop::{ClosedLoop, Crowd};
use fairdisk_core::{PoolConfig, PoolLayout};
use fairdisk_sched::SchedulerSpec;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a counter for each thread.
struct Counting;

// SAFETY: every call goes unchanged to the system's allocator, which keeps the contract. Counting
// touches only a thread-local number that needs neither allocation nor a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// Allocations over 100 000 requests after a warm-up.
fn steady(spec: SchedulerSpec, layout: PoolLayout) -> u64 {
    let crowd = Crowd { groups: 10, tasks_per_group: 10, writes_percent: 30 };
    // Small enough that tasks sleep for slots.
    let pool = PoolConfig { layout, requests: 24, batch_requests: 8 };
    let mut run = ClosedLoop::new(spec.build(), crowd, pool);
    run.run(50_000);
    let before = allocations();
    run.run(100_000);
    allocations() - before
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    drop(std::hint::black_box(Box::new(7)));
    assert_eq!(allocations() - before, 1);
}

#[test]
fn no_scheduler_allocates_in_steady_state() {
    for name in SchedulerSpec::NAMES {
        for layout in [PoolLayout::Unlimited, PoolLayout::PerDirection, PoolLayout::PerGroup] {
            let spec = SchedulerSpec::named(name).expect("it is listed");
            assert_eq!(steady(spec, layout), 0, "{name} allocates with {layout:?} slots");
        }
    }
}
