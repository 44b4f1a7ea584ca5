//! Floors, ceilings and latency targets that were set and removed leave no trace: afterwards `fair`
//! shares by weight again, with nested groups and on disks of any kind.

#[path = "support/reads.rs"]
mod reads;

use fairdisk_core::{
    Change, Completion, Cost, CostModel, Decision, Elevator, GroupId, Instant, Lba, Prng,
    Promising, Qos, Rates, RequestId, Share, Span, Weight,
};
use fairdisk_sched::fair::{Fair, FairParams};
use reads::read;
use std::num::NonZeroU64;

const STORMS: u64 = 40;
/// Enough tasks for every group to have something queued at all times.
const TASKS_PER_GROUP: u32 = 10;
const CHANGED_FOR: Span = Span::from_s(3);
const SETTLES_IN: Span = Span::from_s(5);
const MEASURED_FOR: Span = Span::from_s(20);

/// A group; its number is its index plus one.
#[derive(Clone, Copy, Debug)]
struct Group {
    weight: u32,
    /// The parent group, which has a lower index.
    parent: Option<usize>,
}

struct Storm {
    fair: Fair,
    prng: Prng,
    now: Instant,
    groups: Vec<Group>,
    depth: u32,
    service: Span,
    /// Whether the scheduler knows the cost model, on a disk that serves several requests at once.
    told: bool,
    at_device: Vec<(Instant, RequestId)>,
    /// Requests served since the last check, by group.
    served: Vec<u64>,
    refused: u32,
}

impl Storm {
    fn new(seed: u64, told: bool) -> Self {
        let mut prng = Prng::new(seed);
        let depth = if prng.chance(1, 2) { 1 } else { prng.between(2, 6) as u32 };
        let service = Span::from_us(prng.between(500, 2_000));
        let mut groups = Vec::new();
        for at in 0..prng.between(2, 5) {
            let parent = prng.below(at + 1) as usize;
            let parent = Some(parent).filter(|parent| *parent < at as usize);
            groups.push(Group { weight: prng.between(50, 1000) as u32, parent });
        }
        let (now, served) = (Instant::ZERO, vec![0; groups.len()]);
        let (fair, at_device) = (Fair::new(&FairParams::default()), Vec::new());
        let mut storm =
            Self { fair, prng, now, groups, depth, service, told, at_device, served, refused: 0 };
        storm.tell_all();
        (0..storm.groups.len() as u32 * TASKS_PER_GROUP).for_each(|task| storm.submit(task));
        storm
    }

    fn tell_all(&mut self) {
        let rotational = self.prng.chance(1, 2) && self.told;
        self.tell(Change::Rotational { rotational });
        self.tell(Change::Depth { depth: self.depth });
        if self.depth > 1 && self.told {
            let (place, saturation) = (self.service, Span::ZERO);
            let cost = Cost { sequential: place, random: place, byte_ps: 0, random_byte_ps: 0 };
            let depth = self.depth;
            self.tell(Change::Costs(CostModel {
                depth,
                saturation,
                alone: saturation,
                read: cost,
                write: cost,
            }));
        }
        for (at, Group { weight, parent }) in self.groups.clone().into_iter().enumerate() {
            let (group, parent) = (id_of(at), parent.map(id_of));
            let share = Share::Weight(Weight::new(weight).expect("in range"));
            self.tell(Change::GroupAdded { group, share });
            self.tell(Change::GroupParent { group, parent });
        }
    }

    fn tell(&mut self, change: Change) {
        self.fair.configure(self.now, &change);
    }

    fn submit(&mut self, task: u32) {
        let start = Lba(8 * self.prng.below(1 << 28));
        let request = read(task, id_of((task / TASKS_PER_GROUP) as usize), start, self.now);
        self.fair.admit(self.now, &request);
    }

    fn some_qos(&mut self) -> Qos {
        let mut iops = |most: u64| {
            let iops = NonZeroU64::new(self.prng.between(10, most));
            Rates { iops: iops.filter(|_| self.prng.chance(1, 2)), bytes_per_s: None }
        };
        let (floor, ceiling) = (iops(900), iops(400));
        let target = Span::from_ms(self.prng.between(5, 100));
        let latency_p99 = self.prng.chance(1, 2).then_some(target);
        Qos {
            floor,
            ceiling,
            burst: Span::from_ms(self.prng.between(1, 200)),
            latency_p99,
            ..Qos::NONE
        }
    }

    /// Changes the settings of one group; settings that cannot be kept are refused.
    fn change(&mut self) {
        let group = id_of(self.prng.below(self.groups.len() as u64) as usize);
        let qos = if self.prng.chance(1, 4) { Qos::NONE } else { self.some_qos() };
        let change = Change::GroupQos { group, qos };
        match self.fair.accepts(&change) {
            Ok(()) => self.tell(change),
            Err(_) => self.refused += 1,
        }
    }

    fn take_all_back(&mut self) {
        for at in 0..self.groups.len() {
            self.tell(Change::GroupQos { group: id_of(at), qos: Qos::NONE });
        }
    }

    /// Runs until `end`.
    fn run(&mut self, end: Instant) {
        while self.now < end {
            let wakes = self.fill_device();
            let done = self.at_device.iter().map(|(at, _)| *at).min();
            let next = done.into_iter().chain(wakes).min().expect("somebody wants the disk");
            self.now = next;
            if let Some(at) = self.at_device.iter().position(|(at, _)| *at <= next) {
                let (_, request) = self.at_device.swap_remove(at);
                let device_time = self.service;
                self.fair.complete(self.now, &Completion { request, device_time, ok: true });
                self.served[(request.0 / TASKS_PER_GROUP) as usize] += 1;
                self.submit(request.0);
            }
        }
    }

    /// Fills the device. Returns until when the scheduler waits, if it does.
    fn fill_device(&mut self) -> Option<Instant> {
        while self.at_device.len() < self.depth as usize {
            match self.fair.decide(self.now) {
                Decision::Dispatch(request, _) => {
                    self.at_device.push((self.now + self.service, request));
                }
                Decision::WaitUntil(at, _) => return Some(at),
                Decision::WaitCompletion(_) => return None,
                Decision::Idle => panic!("with requests queued"),
            }
        }
        None
    }

    /// The percentage of the disk that a group's own tasks are to get.
    fn asked(&self, at: usize) -> f64 {
        let inside = |outer: Option<usize>| {
            let inner = self.groups.iter().filter(move |group| group.parent == outer);
            inner.map(|group| f64::from(group.weight)).sum::<f64>()
        };
        let own = f64::from(Weight::DEFAULT.get());
        // The tasks of a group with nested groups count as one more group in it.
        let mut part = if inside(Some(at)) > 0.0 { own / (own + inside(Some(at))) } else { 1.0 };
        let mut group = self.groups[at];
        loop {
            let own = if group.parent.is_some() { own } else { 0.0 };
            part *= f64::from(group.weight) / (inside(group.parent) + own);
            match group.parent {
                Some(outer) => group = self.groups[outer],
                None => return 100.0 * part,
            }
        }
    }
}

const fn id_of(at: usize) -> GroupId {
    GroupId(1 + at as u32)
}

#[test]
fn what_was_taken_back_leaves_nothing_behind() {
    let mut refused = 0;
    for seed in 0..STORMS {
        let mut storm = Storm::new(seed, true);
        let end = storm.now + CHANGED_FOR;
        while storm.now < end {
            storm.change();
            storm.run(storm.now + Span::from_ms(40));
        }
        storm.take_all_back();
        storm.run(storm.now + SETTLES_IN);
        storm.served.fill(0);
        storm.run(storm.now + MEASURED_FOR);
        let all: u64 = storm.served.iter().sum();
        for (at, served) in storm.served.iter().enumerate() {
            let (got, asked) = (100.0 * *served as f64 / all as f64, storm.asked(at));
            assert!(
                (got - asked).abs() <= 1.0,
                "seed {seed}: group {at} got {got:.2} % and asked for {asked:.2} %: {:?}, depth {}",
                storm.groups,
                storm.depth
            );
        }
        refused += storm.refused;
    }
    assert!(refused > 0, "some floors cannot be kept");
}

#[test]
fn a_floor_that_no_disk_keeps_leaves_the_others_a_tenth() {
    for seed in 0..STORMS {
        let mut storm = Storm::new(seed, seed % 2 == 0);
        let last = storm.groups.len() - 1;
        let floor = Rates { iops: NonZeroU64::new(1_000_000_000), bytes_per_s: None };
        storm.tell(Change::GroupQos { group: id_of(last), qos: Qos { floor, ..Qos::NONE } });
        storm.run(storm.now + SETTLES_IN);
        storm.served.fill(0);
        storm.run(storm.now + MEASURED_FOR);
        let all: u64 = storm.served.iter().sum();
        let part = 100.0 * storm.served[last] as f64 / all as f64;
        let others = storm.groups.len() > 1;
        let (least, most) = if others { (89.0, 91.0) } else { (100.0, 100.0) };
        assert!((least..=most).contains(&part), "seed {seed}: {part:.2} % of {:?}", storm.groups);
    }
}
