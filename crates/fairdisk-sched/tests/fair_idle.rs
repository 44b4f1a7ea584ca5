//! A group that is waited for because that was asked for gets its share of the time, the waiting
//! included, and takes none from the others.

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
    /// By group, from 1.
    weights: Vec<u64>,
    used: Vec<Span>,
    service: Span,
    think: Span,
    rotational: bool,
    /// When the thinker asks for something again.
    back_at: Option<Instant>,
}

impl Storm {
    /// It thinks for longer than a request takes: by rule nobody would be waited for.
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

    /// Two tasks in each group, of which the thinker uses one.
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

    /// What each group used of the time, and has of the weights, in percent; one that is waited for
    /// `idle`.
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
        // Of its share it uses what it does not think for.
        let (got, asked) = shares[0];
        let uses = asked * service / (service + think);
        assert!(got >= uses - 1.0 && got <= asked + 1.0, "{told}: {uses} in {shares:?}");
    }
}
