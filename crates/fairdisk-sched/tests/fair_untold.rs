//! Weights on a device that serves several requests at once and whose costs are not told, as under
//! a mount: two groups that could each keep it busy, on a host that is busy itself, so that
//! requests come back in batches and at an uneven rate.

#[path = "support/reads.rs"]
mod reads;

use fairdisk_core::{
    Change, Completion, Decision, Elevator, GroupId, Instant, Lba, Prng, Share, Span, Weight,
};
use fairdisk_sched::fair::{Fair, FairParams};
use reads::read;
use std::collections::VecDeque;

const DEPTH: usize = 32;
/// The tasks of each group, each with one request.
const TASKS: u32 = 32;
/// What the device has done is noticed once in a tick, and the next request of its task is there up
/// to `BACK_TICKS` later. For 20 ms at a
/// time the host has more or less of its CPUs for it: from `DONE_LEAST` to `DONE_MOST` requests are
/// done in each tick.
const TICK: Span = Span::from_us(200);
const BACK_TICKS: u64 = 4;
const PHASE_TICKS: u64 = 100;
const DONE_LEAST: u64 = 3;
const DONE_MOST: u64 = 21;

/// The fraction of the requests done that were of the group with seven eighths of the weights, and
/// how many were done in a tick.
fn served(until: Span) -> (f64, f64) {
    let (mut fair, mut prng) = (Fair::new(&FairParams::default()), Prng::new(1));
    let mut now = Instant::ZERO;
    let mut tell = |change| fair.configure(now, &change);
    tell(Change::Rotational { rotational: false });
    tell(Change::Depth { depth: DEPTH as u32 });
    for (group, weight) in [(1, 700), (2, 100)] {
        let share = Share::Weight(Weight::new(weight).expect("in range"));
        tell(Change::GroupAdded { group: GroupId(group), share });
    }
    let mut back: Vec<(u64, u32)> = (0..2 * TASKS).map(|task| (0, task)).collect();
    let (mut there, mut counts) = (VecDeque::new(), [0_u32; 2]);
    let (mut ticks, mut does) = (0_u64, 0);
    while now < Instant::ZERO + until {
        for (_, task) in back.extract_if(.., |(at, _)| *at <= ticks) {
            let place = Lba(8 * prng.below(1 << 28));
            fair.admit(now, &read(task, GroupId(1 + task / TASKS), place, now));
        }
        while there.len() < DEPTH
            && let Decision::Dispatch(request, _) = fair.decide(now)
        {
            there.push_back(request);
        }
        if ticks % PHASE_TICKS == 0 {
            does = prng.between(DONE_LEAST, DONE_MOST);
        }
        now += TICK;
        ticks += 1;
        for _ in 0..does {
            let Some(request) = there.pop_front() else { break };
            fair.complete(now, &Completion { request, device_time: TICK, ok: true });
            counts[(request.0 / TASKS) as usize] += 1;
            back.push((ticks + prng.below(BACK_TICKS), request.0));
        }
    }
    let done = f64::from(counts[0] + counts[1]);
    (f64::from(counts[0]) / done, done / ticks as f64)
}

#[test]
fn a_group_that_can_use_its_share_gets_it_however_unevenly_requests_come_back() {
    let (share, done) = served(Span::from_s(4));
    assert!(share > 0.75, "{share}");
    assert!(done > 0.4 * (DONE_LEAST + DONE_MOST) as f64, "{done}");
}
