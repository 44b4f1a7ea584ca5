//! In steady state the engine and the schedulers never allocate memory.

#[path = "support/closed_loop.rs"]
mod closed_loop;
#[path = "support/counting.rs"]
mod counting;

use closed_loop::{ClosedLoop, Crowd};
use counting::allocations;
use fairdisk_core::{Apart, PoolConfig, PoolLayout, Span};
use fairdisk_sched::SchedulerSpec;
use fairdisk_sched::bfq::{self, BfqParams};
use fairdisk_sched::cfq::switches::REVISIONS;
use fairdisk_sched::cfq::{CfqParams, Switches};

/// Allocations over 100 000 requests after a warm-up.
fn steady(spec: SchedulerSpec, layout: PoolLayout) -> u64 {
    let crowd = Crowd { groups: 10, tasks_per_group: 10, writes_percent: 30 };
    // A pool small enough for tasks to sleep for slots.
    let pool = PoolConfig { layout, requests: 24, batch_requests: 8 };
    let mut run = ClosedLoop::new(spec.build(), crowd, pool);
    // All tasks write, then all read, so that as many sleep at once as ever will.
    for writes_percent in [100, 0, crowd.writes_percent] {
        run.crowd.writes_percent = writes_percent;
        run.run(50_000);
    }
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
fn no_revision_of_cfq_allocates_in_steady_state() {
    for revision in REVISIONS {
        let switches = Switches::of_revision(revision).expect("it is listed");
        let spec = SchedulerSpec::Cfq(CfqParams { switches, ..CfqParams::default() });
        assert_eq!(steady(spec, PoolLayout::Shared(Apart::Direction)), 0, "{revision} allocates");
    }
}

#[test]
fn no_revision_of_bfq_allocates_in_steady_state() {
    for revision in [bfq::Switches::FIRST].iter().chain(bfq::switches::REVISIONS) {
        let switches = bfq::Switches::of_revision(revision).expect("it is listed");
        let seeky_idle = Span::from_ms(2);
        let spec = SchedulerSpec::Bfq(BfqParams { switches, seeky_idle, ..BfqParams::default() });
        assert_eq!(steady(spec, PoolLayout::Shared(Apart::Direction)), 0, "{revision} allocates");
    }
}

#[test]
fn no_scheduler_allocates_in_steady_state() {
    for name in SchedulerSpec::NAMES {
        for layout in [
            PoolLayout::Unlimited,
            PoolLayout::Shared(Apart::Direction),
            PoolLayout::PerGroup(Apart::Direction),
        ] {
            let spec = SchedulerSpec::named(name).expect("it is listed");
            assert_eq!(steady(spec, layout), 0, "{name} allocates with {layout:?} slots");
        }
    }
}
