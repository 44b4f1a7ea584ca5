//! Latency targets on a device that serves several requests at once and whose cost model is not
//! known, as under a mount.

#[path = "support/filling.rs"]
mod filling;
#[path = "support/reads.rs"]
mod reads;

use fairdisk_core::{
    Change, Completion, Elevator, GroupId, Instant, Lba, Prng, Qos, RequestId, Share, Span,
};
use fairdisk_sched::fair::{Fair, FairParams};
use filling::fill;
use reads::read;
use std::collections::VecDeque;

/// The number of requests the device accepts, and the number that it works on at once.
const DEPTH: u32 = 32;
const SERVERS: usize = 4;
const SERVICE: Span = Span::from_ms(1);
/// How long the task of group 1 thinks: too long for the disk to idle for it.
const THINKS: Span = Span::from_ms(20);

/// Task 0 is the only one of group 1; each task of group 2 has a request at all times.
struct Crowd {
    elevator: Fair,
    now: Instant,
    prng: Prng,
    /// Requests at the device, in its order, and those that it works on, with the times of their
    /// completion.
    there: VecDeque<RequestId>,
    worked_on: Vec<(Instant, RequestId)>,
    /// When task 0 returns; `None` while it waits.
    back: Option<Instant>,
    since: Instant,
    latencies: Vec<Span>,
    others: u64,
}

impl Crowd {
    fn new(target: Span) -> Self {
        let mut elevator = Fair::new(&FairParams::default());
        let qos = Qos { latency_p99: Some(target), ..Qos::NONE };
        let mut tell = |change| elevator.configure(Instant::ZERO, &change);
        tell(Change::Rotational { rotational: false });
        tell(Change::Depth { depth: DEPTH });
        for group in [1, 2].map(GroupId) {
            tell(Change::GroupAdded { group, share: Share::DEFAULT });
        }
        tell(Change::GroupQos { group: GroupId(1), qos });
        let now = Instant::ZERO;
        let mut crowd = Self {
            elevator,
            now,
            prng: Prng::new(1),
            there: VecDeque::new(),
            worked_on: Vec::new(),
            back: Some(now + THINKS),
            since: now,
            latencies: Vec::new(),
            others: 0,
        };
        (1..=2 * DEPTH).for_each(|task| crowd.submit(task));
        crowd
    }

    fn submit(&mut self, task: u32) {
        let start = Lba(8 * self.prng.below(1 << 28));
        let request = read(task, GroupId(1 + task.min(1)), start, self.now);
        self.elevator.admit(self.now, &request);
    }

    fn step(&mut self) {
        let there = self.there.len() + self.worked_on.len();
        let take = |request| self.there.push_back(request);
        let asked = fill(&mut self.elevator, self.now, (there, DEPTH as usize), take);
        while self.worked_on.len() < SERVERS
            && let Some(request) = self.there.pop_front()
        {
            self.worked_on.push((self.now + SERVICE, request));
        }
        let first = self.worked_on.first().map(|(done, _)| *done);
        let next = [first, self.back, asked].into_iter().flatten().min();
        self.now = next.expect("something happens");
        if self.back.is_some_and(|back| back <= self.now) {
            (self.back, self.since) = (None, self.now);
            self.submit(0);
        }
        if first.is_some_and(|done| done <= self.now) {
            let (_, request) = self.worked_on.remove(0);
            let completion = Completion { request, device_time: SERVICE, ok: true };
            self.elevator.complete(self.now, &completion);
            self.done(request.0);
        }
    }

    fn done(&mut self, task: u32) {
        if task > 0 {
            self.others += 1;
            return self.submit(task);
        }
        self.latencies.push(self.now - self.since);
        self.back = Some(self.now + THINKS);
    }
}

#[test]
fn others_leave_room_for_a_target_where_costs_are_not_told() {
    let target = Span::from_ms(6);
    let mut crowd = Crowd::new(target);
    while crowd.now < Instant::ZERO + Span::from_s(30) {
        crowd.step();
    }
    let all = crowd.latencies.len();
    let late = crowd.latencies.iter().filter(|latency| **latency > target).count();
    println!("{late} of {all} late, {} of others", crowd.others);
    assert!(late * 100 <= all, "{late} of {all} late");
    assert!(crowd.others >= 110_000, "the device is not kept idle: {}", crowd.others);
}
