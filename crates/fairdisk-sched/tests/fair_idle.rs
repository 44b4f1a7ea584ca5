//! A group for which an idle wait is configured gets its share of the time, including the waits,
//! and takes nothing from the others.

#[path = "support/reads.rs"]
mod reads;

use fairdisk_core::{
    Change, Completion, Decision, Elevator, GroupId, Instant, Lba, Prng, RequestId, Share, Span,
    Weight,
};
use fairdisk_sched::fair::{Fair, FairParams};
use reads::read;

/// The group that thinks after each request; the others always want the disk.
const THINKER: GroupId = GroupId(1);
const STORMS: u64 = 100;

struct Storm {
    elevator: Fair,
    prng: Prng,
    now: Instant,
    /// The weights of the groups, from group 1 on.
    weights: Vec<u64>,
    used: Vec<Span>,
    service: Span,
    think: Span,
    rotational: bool,
    /// When the thinking group submits again.
    back_at: Option<Instant>,
}

impl Storm {
    /// A storm in which the group thinks for longer than a request takes, so that by default the
    /// disk would not idle for it.
    fn new(seed: u64) -> Self {
        let mut prng = Prng::new(seed);
        let weights: Vec<u64> = (0..prng.between(2, 5)).map(|_| prng.between(100, 1000)).collect();
        let service = Span::from_us(prng.between(500, 8_000));
        let think = service + Span::from_us(prng.between(0, 8_000));
        let rotational = prng.chance(1, 2);
        let mut elevator = Fair::new(&FairParams::default());
        elevator.configure(Instant::ZERO, &Change::Rotational { rotational });
        for (group, weight) in (1..).map(GroupId).zip(&weights) {
            let share = Share::Weight(Weight::new(*weight as u32).expect("in range"));
            elevator.configure(Instant::ZERO, &Change::GroupAdded { group, share });
        }
        let used = vec![Span::ZERO; weights.len()];
        let (now, back_at) = (Instant::ZERO, Some(Instant::ZERO));
        let mut storm =
            Self { elevator, prng, now, weights, used, service, think, rotational, back_at };
        (2..2 * storm.weights.len() as u32).for_each(|task| storm.submit(task));
        storm
    }

    /// The group of a task: two tasks in each, of which the thinking group uses one.
    const fn group_of(task: u32) -> GroupId {
        GroupId(1 + task / 2)
    }

    fn submit(&mut self, task: u32) {
        let start = Lba(8 * self.prng.below(1 << 28));
        let request = read(task, Self::group_of(task), start, self.now);
        self.elevator.admit(self.now, &request);
    }

    fn pass_until(&mut self, end: Instant) {
        if let Some(at) = self.back_at.filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.back_at = None;
            self.submit(0);
        } else {
            self.now = end;
        }
    }

    fn serve(&mut self, request: RequestId) {
        let done = self.now + self.service;
        while self.now < done {
            self.pass_until(done);
        }
        let device_time = self.service;
        self.elevator.complete(self.now, &Completion { request, device_time, ok: true });
        self.used[(Self::group_of(request.0).0 - 1) as usize] += device_time;
        if Self::group_of(request.0) == THINKER {
            self.back_at = Some(self.now + self.think);
        } else {
            self.submit(request.0);
        }
    }

    /// The percentage of time that each group used, and that of its weight, if the disk idles for
    /// the thinking group for up to `idle`.
    fn run(mut self, idle: Span) -> Vec<(f64, f64)> {
        let idle = Some(idle);
        self.elevator.configure(Instant::ZERO, &Change::GroupIdle { group: THINKER, idle });
        let end = Instant::ZERO + Span::from_s(60);
        while self.now < end {
            match self.elevator.decide(self.now) {
                Decision::Dispatch(request, _) => self.serve(request),
                Decision::WaitUntil(at, _) => self.pass_until(at),
                other => panic!("{other:?} with requests queued and none in flight"),
            }
        }
        let all: u64 = self.weights.iter().sum();
        let elapsed = self.now.since(Instant::ZERO).as_ns() as f64;
        let percent = |(used, weight): (&Span, &u64)| {
            (100.0 * used.as_ns() as f64 / elapsed, 100.0 * *weight as f64 / all as f64)
        };
        self.used.iter().zip(&self.weights).map(percent).collect()
    }
}

#[test]
fn who_is_waited_for_pays_for_it() {
    for seed in 0..STORMS {
        let storm = Storm::new(seed);
        let (think, service) = (storm.think.as_ns() as f64, storm.service.as_ns() as f64);
        let told = format!(
            "seed {seed}: weights {:?}, thinks {} after {}, rotational {}",
            storm.weights, storm.think, storm.service, storm.rotational
        );
        let idle = storm.think + Span::from_ms(storm.prng.clone().between(1, 20));
        let shares = storm.run(idle);
        for (got, asked) in &shares[1..] {
            assert!(*got >= asked - 1.0, "{told}: {shares:?}");
        }
        // The group uses the part of its share in which it does not think.
        let (got, asked) = shares[0];
        let uses = asked * service / (service + think);
        assert!(got >= uses - 1.0 && got <= asked + 1.0, "{told}: {uses} in {shares:?}");
    }
}
