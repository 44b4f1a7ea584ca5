//! No request waits for more than five times as long as those of its group do in the mean, whatever
//! requests take and whoever comes, where tasks of one priority have one request at a time, on
//! disks that take one command and on disks that take several.

#[path = "support/filling.rs"]
mod filling;
#[path = "support/reads.rs"]
mod reads;

use fairdisk_core::{
    Change, Completion, Elevator, GroupId, Instant, Lba, Prng, Request, RequestId, Share, Span,
    TaskId, Weight,
};
use fairdisk_sched::fair::{Fair, FairParams};
use filling::fill;
use reads::read;

const STORMS: u64 = 40;
const REQUESTS: usize = 20_000;
const TIMES_THE_MEAN: u64 = 5;

/// What the requests of a storm are like.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// One request in so many takes several times as long as others.
    Uneven { one_in: u64 },
    /// All are alike, but every other task leaves after its request, and another comes.
    Fleeting,
}

#[derive(Clone, Copy)]
struct Task {
    id: TaskId,
    group: usize,
    arrived: Instant,
}

struct Storm {
    elevator: Fair,
    kind: Kind,
    prng: Prng,
    now: Instant,
    /// One has the slot with its number.
    tasks: Vec<Task>,
    next_task: u32,
    places: usize,
    there: Vec<RequestId>,
    /// By group: how long requests waited until they were dispatched.
    waits: [Vec<Span>; 2],
}

impl Storm {
    fn new(kind: Kind, seed: u64) -> Self {
        let mut prng = Prng::new(seed);
        let mut elevator = Fair::new(&FairParams::default());
        let places = if prng.chance(1, 3) { 4 } else { 1 };
        let mut tell = |change| elevator.configure(Instant::ZERO, &change);
        tell(Change::Rotational { rotational: prng.chance(2, 3) });
        tell(Change::Depth { depth: places });
        for group in [1, 2].map(GroupId) {
            let weight = Weight::new(prng.between(100, 800) as u32).expect("in range");
            tell(Change::GroupAdded { group, share: Share::Weight(weight) });
        }
        let mut storm = Self {
            elevator,
            kind,
            prng,
            now: Instant::ZERO,
            tasks: Vec::new(),
            next_task: 0,
            places: places as usize,
            there: Vec::new(),
            waits: [Vec::new(), Vec::new()],
        };
        for group in [0, 1] {
            for _ in 0..storm.prng.between(40, 80) {
                let (id, arrived) = (storm.new_task(), Instant::ZERO);
                storm.tasks.push(Task { id, group, arrived });
                storm.submit(storm.tasks.len() - 1);
            }
        }
        storm
    }

    fn new_task(&mut self) -> TaskId {
        self.next_task += 1;
        TaskId(self.next_task)
    }

    fn submit(&mut self, at: usize) {
        let start = Lba(8 * self.prng.below(1 << 28));
        let task = &mut self.tasks[at];
        task.arrived = self.now;
        let group = GroupId(1 + task.group as u32);
        let request = Request { task: task.id, ..read(at as u32, group, start, self.now) };
        self.elevator.admit(self.now, &request);
    }

    fn service(&mut self) -> Span {
        match self.kind {
            Kind::Uneven { one_in } if self.prng.chance(1, one_in) => Span::from_ms(80),
            _ => Span::from_us(self.prng.between(4000, 12_000)),
        }
    }

    /// Gives the disk what it takes. Returns when to ask again.
    fn fill(&mut self) -> Option<Instant> {
        let (there, places, now) = (self.there.len(), self.places, self.now);
        let Self { elevator, there: at_disk, tasks, waits, .. } = self;
        fill(elevator, now, (there, places), |request| {
            let Task { group, arrived, .. } = tasks[request.0 as usize];
            waits[group].push(now - arrived);
            at_disk.push(request);
        })
    }

    /// Serves one request. The scheduler is asked for the next before the task hears of it, as by
    /// an engine.
    fn serve(&mut self) {
        let again = self.fill();
        if self.there.is_empty() {
            self.now = again.expect("somebody is served");
            return self.serve();
        }
        let request = self.there.remove(self.prng.below(self.there.len() as u64) as usize);
        let at = request.0 as usize;
        let device_time = self.service();
        self.now += device_time;
        self.elevator.complete(self.now, &Completion { request, device_time, ok: true });
        if matches!(self.kind, Kind::Fleeting) && at % 2 == 1 {
            let task = self.tasks[at].id;
            self.elevator.configure(self.now, &Change::TaskExited { task });
            self.tasks[at].id = self.new_task();
        }
        self.fill();
        self.submit(at);
    }

    /// Fails if a request of a group waited for too long, or has by now.
    fn judge(mut self) {
        let queued = |at: &usize| !self.there.contains(&RequestId(*at as u32));
        for at in (0..self.tasks.len()).filter(queued) {
            self.waits[self.tasks[at].group].push(self.now - self.tasks[at].arrived);
        }
        for waits in &self.waits {
            let sum: Span = waits.iter().fold(Span::ZERO, |sum, wait| sum + *wait);
            let mean = sum / waits.len() as u64;
            let longest = waits.iter().copied().max().expect("there were some");
            let most = Span::from_ns(TIMES_THE_MEAN * mean.as_ns());
            assert!(longest <= most, "{longest}, {mean} in the mean: {:?}", self.kind);
        }
    }
}

fn weather(kind: Kind) {
    for seed in 0..STORMS {
        let run = || {
            let mut storm = Storm::new(kind, seed);
            (0..REQUESTS).for_each(|_| storm.serve());
            storm.judge();
        };
        std::panic::catch_unwind(run).unwrap_or_else(|_| panic!("seed {seed}"));
    }
}

#[test]
fn a_task_waits_a_few_times_the_mean_after_a_request_that_took_long() {
    weather(Kind::Uneven { one_in: 20 });
}

#[test]
fn a_task_waits_a_few_times_the_mean_beside_others_that_come_and_go() {
    weather(Kind::Fleeting);
}
