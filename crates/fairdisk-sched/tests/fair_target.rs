//! A latency target brings service forward and does not add to a group's share, on a disk that
//! takes one request at a time and on one with a head that takes several.

#[path = "support/filling.rs"]
mod filling;
#[path = "support/reads.rs"]
mod reads;

use fairdisk_core::{
    Change, Completion, Cost, CostModel, Elevator, GroupId, Instant, Lba, Prng, Qos, RequestId,
    Share, Span, Weight,
};
use fairdisk_sched::fair::{Fair, FairParams};
use filling::fill;
use reads::read;
use std::collections::VecDeque;

const SERVICE: Span = Span::from_ms(8);
/// The tasks of group 1, each with a read at all times. Task 0 is the only one of group 2.
const TASKS: u32 = 8;
/// How long task 0 thinks between two reads.
const THINKS: Span = Span::from_us(100);

/// Two groups, of which the first wants more than its share and has a target that it cannot meet.
struct Greedy {
    elevator: Fair,
    now: Instant,
    prng: Prng,
    depth: usize,
    /// The requests at the disk, in its order, and since when it works on the first.
    there: VecDeque<RequestId>,
    since: Instant,
    /// When task 0 returns; `None` while it waits.
    back: Option<Instant>,
    /// The number of requests of each group that are done.
    done: [u64; 2],
}

impl Greedy {
    fn new(depth: u32, weights: [u32; 2]) -> Self {
        let mut elevator = Fair::new(&FairParams::default());
        let now = Instant::ZERO;
        let cost = Cost { random: SERVICE, sequential: SERVICE / 4, ..Cost::default() };
        let (saturation, alone) = (SERVICE, SERVICE);
        let costs = CostModel { depth, saturation, alone, read: cost, write: cost };
        elevator.configure(now, &Change::Costs(costs));
        for (group, weight) in (1..).map(GroupId).zip(weights) {
            let share = Share::Weight(Weight::new(weight).expect("it is in range"));
            elevator.configure(now, &Change::GroupAdded { group, share });
        }
        let qos = Qos { latency_p99: Some(Span::from_ms(50)), ..Qos::NONE };
        elevator.configure(now, &Change::GroupQos { group: GroupId(1), qos });
        let mut greedy = Self {
            elevator,
            now,
            prng: Prng::new(1),
            depth: depth as usize,
            there: VecDeque::new(),
            since: now,
            back: Some(now),
            done: [0, 0],
        };
        (1..=TASKS).for_each(|task| greedy.submit(task));
        greedy
    }

    fn submit(&mut self, task: u32) {
        let group = GroupId(if task > 0 { 1 } else { 2 });
        let request = read(task, group, Lba(8 * self.prng.below(1 << 28)), self.now);
        self.elevator.admit(self.now, &request);
    }

    fn step(&mut self) {
        let there = self.there.len();
        let take = |request| self.there.push_back(request);
        let asked = fill(&mut self.elevator, self.now, (there, self.depth), take);
        if there == 0 {
            self.since = self.now;
        }
        let done = self.there.front().map(|_| self.since + SERVICE);
        let next = [done, self.back, asked].into_iter().flatten().min();
        self.now = next.expect("something happens");
        if self.back.is_some_and(|back| back <= self.now) {
            self.back = None;
            self.submit(0);
        }
        if done.is_some_and(|done| done <= self.now) {
            let request = self.there.pop_front().expect("it is there");
            self.since = self.now;
            let completion = Completion { request, device_time: SERVICE, ok: true };
            self.elevator.complete(self.now, &completion);
            match request.0 {
                0 => {
                    self.back = Some(self.now + THINKS);
                    self.done[1] += 1;
                }
                task => {
                    self.submit(task);
                    self.done[0] += 1;
                }
            }
        }
    }

    /// The time that the first group has in a minute, in ms.
    fn of_a_minute(mut self) -> u64 {
        while self.now < Instant::ZERO + Span::from_s(60) {
            self.step();
        }
        self.done[0] * SERVICE.as_ms()
    }
}

/// The group has its part of a minute, and 100 ms and a turn more at most. It had 22 % of the time
/// of a disk that takes one request at a time, and more of that of others: virtual time went with
/// it while group 2 was thinking or had its request at the disk.
#[test]
fn a_target_does_not_add_to_a_share() {
    for depth in [1, 32] {
        for (weights, part) in [([20, 100], 10_000), ([1, 1000], 60), ([100, 100], 30_000)] {
            let got = Greedy::new(depth, weights).of_a_minute();
            println!("depth {depth}, weights {weights:?}: {got} ms of {part}");
            let least = part * 97 / 100;
            assert!((least..=part + 200).contains(&got), "{depth}, {weights:?}: {got} of {part}");
        }
    }
}
