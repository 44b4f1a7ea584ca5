//! No group waits longer for its turn than docs/fair.md says, in storms of groups that want the
//! disk: `FAIRDISK_FAIR_STORMS` of them, or a few.

#[path = "support/reads.rs"]
mod reads;

use fairdisk_core::{
    Change, Completion, Decision, Elevator, GroupId, Instant, Lba, Op, Prng, Qos, Request,
    RequestId, Share, Span, Weight,
};
use fairdisk_sched::fair::{Fair, FairParams};
use reads::read;
use std::env;

/// The number of requests that a disk takes at once which picks the next of several.
const DEPTH: usize = 4;

fn weight_of(weight: u64) -> Weight {
    Weight::new(weight as u32).expect("in range")
}

/// Groups whose tasks have a request queued again as soon as one is done.
struct Storm {
    elevator: Fair,
    prng: Prng,
    now: Instant,
    weights: Vec<u64>,
    /// Whether each group has a latency target.
    has_target: Vec<bool>,
    tasks: u32,
    service_max: Span,
    /// A request takes all of that after another group's, and a small part of it otherwise.
    seeks: bool,
    /// The group that was served last.
    before: Option<usize>,
    rotational: bool,
    /// Whether the disk has a head and picks the next of several commands, so that rounds may
    /// become longer.
    picks_next: bool,
    /// The requests at the disk, apart from the one being served; when that is done, and how long
    /// it takes.
    at_disk: Vec<RequestId>,
    serving: Option<(Instant, Span, RequestId)>,
    /// When each group last had a request taken or done.
    since: Vec<Instant>,
    /// What each task's request does.
    is_write: Vec<bool>,
}

impl Storm {
    fn new(seed: u64) -> Self {
        let mut prng = Prng::new(seed);
        let groups = prng.between(2, 7);
        let weights: Vec<u64> = (0..groups).map(|_| prng.between(1, 1000)).collect();
        let mut elevator = Fair::new(&FairParams::default());
        let rotational = prng.chance(1, 2);
        elevator.configure(Instant::ZERO, &Change::Rotational { rotational });
        let picks_next = rotational && prng.chance(1, 2);
        if picks_next {
            elevator.configure(Instant::ZERO, &Change::Depth { depth: DEPTH as u32 });
        }
        let has_targets = prng.chance(1, 3);
        let mut has_target = vec![false; weights.len()];
        for (at, weight) in weights.iter().enumerate() {
            let (group, share) = (GroupId(1 + at as u32), Share::Weight(weight_of(*weight)));
            elevator.configure(Instant::ZERO, &Change::GroupAdded { group, share });
            if has_targets && prng.chance(1, 2) {
                let latency_p99 = Some(Span::from_ms(prng.between(1, 60)));
                let qos = Qos { latency_p99, ..Qos::NONE };
                elevator.configure(Instant::ZERO, &Change::GroupQos { group, qos });
                has_target[at] = true;
            }
        }
        // Two at least, so that a group always wants the disk.
        let tasks = prng.between(2, 6) as u32;
        let service_max = Span::from_us(prng.between(100, 12_000));
        let (seeks, before) = (prng.chance(1, 2), None);
        let since = vec![Instant::ZERO; weights.len()];
        let is_write = vec![false; weights.len() * tasks as usize];
        let now = Instant::ZERO;
        let mut storm = Self {
            elevator,
            prng,
            now,
            weights,
            has_target,
            tasks,
            service_max,
            seeks,
            before,
            rotational,
            picks_next,
            at_disk: Vec::new(),
            serving: None,
            since,
            is_write,
        };
        (0..groups as u32 * tasks).for_each(|task| storm.submit(task));
        storm
    }

    fn submit(&mut self, task: u32) {
        let is_write = self.prng.chance(1, 3);
        self.is_write[task as usize] = is_write;
        let start = Lba(8 * self.prng.below(1 << 28));
        let request = read(task, GroupId(1 + task / self.tasks), start, self.now);
        let request = Request { op: if is_write { Op::Write } else { Op::Read }, ..request };
        self.elevator.admit(self.now, &request);
    }

    /// The longest wait of a group for its next request: its turn and those of the others. A
    /// round is as long as was asked for; where the disk picks the next of several, it is no
    /// longer than a tenth of the time in which nobody came, nor than four times what was asked
    /// for.
    fn bound(&self, group: usize) -> Span {
        let asked = FairParams::default().round;
        let longest = if self.picks_next { asked + asked + asked + asked } else { asked };
        let round = (self.now.since(Instant::ZERO) / 10).clamp(asked, longest).as_ns();
        let all: u64 = self.weights.iter().sum();
        let turn = |weight: u64| {
            let shortest = asked.as_ns() / 8;
            let turn = if self.rotational { (round * weight / all).max(shortest) } else { 0 };
            // What is at the disk when a turn is used up is done first.
            turn + self.service_max.as_ns() * self.places() as u64
        };
        let turns: u64 = self.weights.iter().map(|weight| turn(*weight)).sum();
        // What a group with a target may have before its turn. The others have their parts for it
        // before it is served again.
        let early = |has_target: bool| match has_target {
            true => Span::from_ms(100).as_ns() + turn(0),
            false => 0,
        };
        let all_early: u64 = self.has_target.iter().map(|has_target| early(*has_target)).sum();
        let own = turn(self.weights[group]) + early(self.has_target[group]);
        Span::from_ns(own * all / self.weights[group] + turns + all_early)
    }

    /// Serves until one request is done.
    fn serve_one(&mut self) {
        loop {
            let until = self.take();
            self.pick();
            match (self.serving, until) {
                (Some((done, ..)), until) if until.is_none_or(|until| done <= until) => {
                    return self.complete();
                }
                (_, Some(until)) => self.now = until,
                (_, None) => panic!("nothing will ever happen again"),
            }
        }
    }

    const fn places(&self) -> usize {
        if self.picks_next { DEPTH } else { 1 }
    }

    /// Takes requests while there is a place at the disk. Returns when to ask again, if the
    /// scheduler waits until then.
    fn take(&mut self) -> Option<Instant> {
        while self.at_disk.len() + usize::from(self.serving.is_some()) < self.places() {
            match self.elevator.decide(self.now) {
                Decision::Dispatch(request, _) => self.taken(request),
                Decision::WaitUntil(at, _) => return Some(at),
                _ => return None,
            }
        }
        None
    }

    fn taken(&mut self, request: RequestId) {
        let group = (request.0 / self.tasks) as usize;
        let waited = self.now - self.since[group];
        assert!(
            waited <= self.bound(group),
            "group {group} of {:?} waited {waited}, at most {}",
            self.weights,
            self.bound(group)
        );
        self.since[group] = self.now;
        self.at_disk.push(request);
    }

    /// Begins with one of the requests at the disk, if it does nothing.
    fn pick(&mut self) {
        if self.serving.is_some() || self.at_disk.is_empty() {
            return;
        }
        let at = self.prng.below(self.at_disk.len() as u64) as usize;
        let request = self.at_disk.remove(at);
        let group = (request.0 / self.tasks) as usize;
        // No write is so fast that it looks like one that the disk has yet to do.
        let most = self.service_max.as_us();
        let least = if self.is_write[request.0 as usize] { most / 3 } else { 50 };
        let follows = self.before.replace(group) == Some(group);
        let us = match self.seeks {
            true if follows => self.prng.between(least.min(most / 4), most / 3),
            true => most,
            false => self.prng.between(least, most),
        };
        let takes = Span::from_us(us);
        self.serving = Some((self.now + takes, takes, request));
    }

    fn complete(&mut self) {
        let Some((now, device_time, request)) = self.serving.take() else { return };
        self.now = now;
        self.elevator.complete(now, &Completion { request, device_time, ok: true });
        self.since[(request.0 / self.tasks) as usize] = now;
        self.submit(request.0);
    }
}

#[test]
fn no_group_waits_longer_than_stated() {
    let storms =
        env::var("FAIRDISK_FAIR_STORMS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    for seed in 0..storms {
        let run = || {
            let mut storm = Storm::new(seed);
            (0..600).for_each(|_| storm.serve_one());
            // Rounds become longer after 2 s, and are four times as long after 8.
            let longest = storm.now.max(Instant::ZERO + Span::from_s(10));
            for _ in 0..3000 {
                if storm.now < longest {
                    storm.serve_one();
                }
            }
        };
        std::panic::catch_unwind(run).unwrap_or_else(|_| panic!("seed {seed}"));
    }
}
