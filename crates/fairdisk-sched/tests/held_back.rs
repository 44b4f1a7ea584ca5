//! What schedulers say of a group that may have nothing at the moment, for `explain`: the reason
//! while it may not, and none while only its place in line keeps it back.

#[path = "support/reads.rs"]
mod reads;

use fairdisk_core::{
    Change, Completion, Cost, CostModel, Decision, Elevator, GroupId, Instant, Lba, Qos, Reporting,
    RequestId, Share, Span, Why,
};
use fairdisk_sched::{Scheduler, SchedulerSpec};
use reads::read;

const ONE: GroupId = GroupId(1);
const OTHER: GroupId = GroupId(2);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_ms(ms)
}

/// A scheduler that knows two groups.
fn built(name: &str) -> Scheduler {
    let mut scheduler = SchedulerSpec::named(name).expect("it is listed").build();
    for group in [ONE, OTHER] {
        let share = Share::DEFAULT;
        scheduler.configure(at(0), &Change::GroupAdded { group, share });
    }
    scheduler
}

/// Admits a read of the task with the number of the slot.
fn admit(scheduler: &mut Scheduler, ms: u64, slot: u32, group: GroupId) {
    let start = Lba((u64::from(slot) + 1) << 10);
    scheduler.admit(at(ms), &read(slot, group, start, at(ms)));
}

/// Dispatches all that may be, and returns what it waits for then.
fn dispatch_all(scheduler: &mut Scheduler, ms: u64) -> Decision {
    loop {
        match scheduler.decide(at(ms)) {
            Decision::Dispatch(..) => {}
            wait => return wait,
        }
    }
}

fn complete(scheduler: &mut Scheduler, ms: u64, slot: u32) {
    let (request, device_time) = (RequestId(slot), Span::from_ms(1));
    scheduler.complete(at(ms), &Completion { request, device_time, ok: true });
}

#[test]
fn iocost_tells_of_a_group_that_has_used_its_budget_up() {
    let mut iocost = built("iocost");
    let cost = Cost { random: Span::from_ms(5), ..Cost::default() };
    let (saturation, alone) = (Span::ZERO, Span::from_ms(5));
    let costs = CostModel { depth: 1, saturation, alone, read: cost, write: cost };
    iocost.configure(at(0), &Change::Costs(costs));
    assert_eq!(iocost.held_back(at(0), ONE), None, "it wants nothing");
    (0..40).for_each(|slot| admit(&mut iocost, 1000, slot, ONE));
    let Decision::WaitUntil(until, Why::BudgetUsed) = dispatch_all(&mut iocost, 1000) else {
        panic!("it has no more than it saved")
    };
    assert_eq!(iocost.held_back(at(1000), ONE), Some(Why::BudgetUsed));
    assert_eq!(iocost.held_back(until, ONE), None, "it has budget again");
    admit(&mut iocost, 1000, 40, OTHER);
    assert_eq!(iocost.held_back(at(1000), OTHER), None, "it saved some, too");
}

/// iolatency at 140 ms, with so many requests of the other group at the device, in the slots from 1
/// on. The first group has missed its target meanwhile.
fn missing_its_target(others: u32) -> Scheduler {
    let mut iolatency = built("iolatency");
    let qos = Qos { latency_p99: Some(Span::from_ms(5)), ..Qos::NONE };
    iolatency.configure(at(0), &Change::GroupQos { group: ONE, qos });
    (1..=others).for_each(|slot| admit(&mut iolatency, 0, slot, OTHER));
    for period in 0..7 {
        admit(&mut iolatency, 20 * period, 0, ONE);
        dispatch_all(&mut iolatency, 20 * period);
        complete(&mut iolatency, 20 * (period + 1), 0);
    }
    iolatency
}

#[test]
fn iolatency_tells_of_a_group_that_another_misses_its_target_for() {
    let mut iolatency = missing_its_target(4);
    // Four requests were at the device, of which it may have half from now on.
    admit(&mut iolatency, 140, 5, OTHER);
    let wait = dispatch_all(&mut iolatency, 140);
    assert_eq!(wait, Decision::WaitCompletion(Why::LatencyMissed));
    assert_eq!(iolatency.held_back(at(140), OTHER), Some(Why::LatencyMissed));
    admit(&mut iolatency, 140, 0, ONE);
    assert_eq!(iolatency.held_back(at(140), ONE), None, "it has a target of its own");
    (1..4).for_each(|slot| complete(&mut iolatency, 141, slot));
    assert_eq!(iolatency.held_back(at(141), OTHER), None, "it may have one more");
}

#[test]
fn iolatency_tells_of_no_group_while_anything_of_it_is_let_go() {
    let mut iolatency = missing_its_target(2);
    (3..6).for_each(|slot| admit(&mut iolatency, 140, slot, OTHER));
    assert_eq!(iolatency.held_back(at(140), OTHER), Some(Why::LatencyMissed));
    (1..3).for_each(|slot| complete(&mut iolatency, 141, slot));
    // One of three may go, and has not been asked for.
    assert_eq!(iolatency.held_back(at(141), OTHER), None);
    let wait = dispatch_all(&mut iolatency, 141);
    assert_eq!(wait, Decision::WaitCompletion(Why::LatencyMissed));
    assert_eq!(iolatency.held_back(at(141), OTHER), Some(Why::LatencyMissed));
}

#[test]
fn bfq_tells_of_a_group_from_which_the_disk_is_kept_for_the_task_of_another() {
    let mut bfq = built("bfq");
    admit(&mut bfq, 0, 0, ONE);
    let own = dispatch_all(&mut bfq, 0);
    assert_eq!(own, Decision::WaitCompletion(Why::NothingQueued));
    admit(&mut bfq, 1, 1, OTHER);
    assert_eq!(bfq.decide(at(1)), Decision::WaitCompletion(Why::OwnRequestInFlight));
    assert_eq!(bfq.held_back(at(1), OTHER), Some(Why::OwnRequestInFlight));
    complete(&mut bfq, 5, 0);
    let Decision::WaitUntil(until, Why::IdleWait) = bfq.decide(at(5)) else {
        panic!("the disk is kept for the first task")
    };
    assert_eq!(bfq.held_back(at(5), OTHER), Some(Why::IdleWait));
    assert_eq!(bfq.held_back(at(5), ONE), None, "it is kept for it");
    assert_eq!(bfq.held_back(until, OTHER), None, "it was kept for long enough");
    // Once the first task is back, nothing but its place keeps the other one waiting.
    admit(&mut bfq, 6, 0, ONE);
    assert_eq!(bfq.held_back(at(6), OTHER), None);
}
