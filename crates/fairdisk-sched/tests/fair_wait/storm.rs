//! A storm: groups whose tasks have a request queued again as soon as one is done.

use crate::bound::{Bound, GROUPS, Seen, early};
use crate::reads::read;
use fairdisk_core::{
    Auditor, Change, Completion, Decision, Driving, Elevator, GroupId, Instant, IoPrio, Lba, Op,
    Prng, Promising, Qos, Request, RequestId, Share, Span, TaskId, Weight, Why,
};
use fairdisk_sched::fair::FairParams;
use fairdisk_sched::{Scheduler, SchedulerSpec};

/// The number of requests that a disk takes at once which picks the next of several.
pub(crate) const DEPTH: usize = 4;
/// The most tasks of a group. The request of a task has the slot with its number.
pub(crate) const TASKS: usize = 6;

/// Whether anything happens but requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Steady,
    Restless,
}

/// Where the request of a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// There is none, before the group is created and after it is removed.
    None,
    /// There is none until then.
    Pauses(Instant),
    Queued,
    AtDisk,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) id: TaskId,
    pub(crate) ioprio: IoPrio,
    pub(crate) stage: Stage,
    /// What its request does, where, and since when.
    pub(crate) is_write: bool,
    pub(crate) position: Lba,
    pub(crate) arrived: Instant,
    /// Whether the scheduler has dispatched its request, not one before it.
    pub(crate) is_known: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) weight: u64,
    pub(crate) target: Option<Span>,
    /// The longest that the disk is kept for it.
    pub(crate) idle: Option<Span>,
    /// How many tasks it has, unless it is removed.
    pub(crate) tasks: Option<usize>,
    pub(crate) queued: usize,
    pub(crate) at_disk: usize,
    /// When it last had a request taken or done, or began to want the disk.
    pub(crate) since: Instant,
    /// Whether it may be behind, as it came not long ago.
    pub(crate) catches_up: bool,
    pub(crate) bound: Bound,
}

pub(crate) struct Storm {
    pub(crate) elevator: Auditor<Scheduler>,
    /// Whether that is `fair`.
    pub(crate) is_fair: bool,
    pub(crate) prng: Prng,
    pub(crate) now: Instant,
    pub(crate) groups: Vec<Group>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) next_task: u32,
    pub(crate) service_max: Span,
    /// A request takes all of that after another group's, and a small part of it otherwise.
    pub(crate) seeks: bool,
    /// The group whose request was done last, and that whose was taken last.
    pub(crate) before: Option<usize>,
    taken_before: Option<usize>,
    pub(crate) rotational: bool,
    /// Whether the disk has a head and picks the next of several commands, so that rounds may
    /// become longer.
    pub(crate) picks_next: bool,
    /// Whether groups may have latency targets.
    pub(crate) has_targets: bool,
    /// The requests at the disk, apart from the one being served; when that is done, and how long
    /// it takes.
    pub(crate) at_disk: Vec<RequestId>,
    pub(crate) serving: Option<(Instant, Span, RequestId)>,
    /// Something happens after one request in so many, if anything does, and one in so many fails.
    pub(crate) event_in: Option<u64>,
    pub(crate) failure_in: Option<u64>,
}

pub(crate) fn weight_of(weight: u64) -> Weight {
    Weight::new(weight as u32).expect("in range")
}

/// The group of the request.
pub(crate) const fn group_of(request: RequestId) -> usize {
    request.0 as usize / TASKS
}

pub(crate) const fn number_of(group: usize) -> GroupId {
    GroupId(1 + group as u32)
}

impl Storm {
    pub(crate) fn new(kind: Kind, seed: u64) -> Self {
        let mut prng = Prng::new(seed);
        let alive = prng.between(2, GROUPS as u64) as usize;
        let rotational = prng.chance(1, 2);
        let picks_next = rotational && prng.chance(1, 2);
        let has_targets = prng.chance(1, 3);
        // Two at least, so that a group always wants the disk.
        let tasks = prng.between(2, TASKS as u64) as usize;
        let service_max = Span::from_us(prng.between(100, 12_000));
        let seeks = prng.chance(1, 2);
        let is_restless = kind == Kind::Restless;
        let event_in = is_restless.then(|| prng.between(5, 200));
        let failure_in = (is_restless && prng.chance(1, 2)).then(|| prng.between(3, 30));
        let mut storm = Self {
            elevator: Auditor::new(fair()),
            is_fair: true,
            prng,
            now: Instant::ZERO,
            groups: vec![Group::none(); GROUPS],
            tasks: (0..(GROUPS * TASKS) as u32).map(newborn).collect(),
            next_task: (GROUPS * TASKS) as u32,
            service_max,
            seeks,
            before: None,
            taken_before: None,
            rotational,
            picks_next,
            has_targets,
            at_disk: Vec::new(),
            serving: None,
            event_in,
            failure_in,
        };
        storm.tell_disk();
        (0..alive).for_each(|group| storm.create(group, tasks));
        // All begin at once.
        storm.groups.iter_mut().for_each(|group| group.catches_up = false);
        storm
    }

    // ---- groups --------------------------------------------------------------------------

    pub(crate) fn configure(&mut self, change: Change) {
        assert_eq!(self.elevator.accepts(&change), Ok(()));
        self.elevator.configure(self.now, &change);
    }

    pub(crate) fn tell_disk(&mut self) {
        let rotational = self.rotational;
        self.configure(Change::Rotational { rotational });
        if self.picks_next {
            self.configure(Change::Depth { depth: DEPTH as u32 });
        }
    }

    /// Creates a group of so many tasks.
    pub(crate) fn create(&mut self, group: usize, tasks: usize) {
        let weight = self.prng.between(1, 1000);
        (self.groups[group].weight, self.groups[group].tasks) = (weight, Some(tasks));
        let share = Share::Weight(weight_of(weight));
        self.configure(Change::GroupAdded { group: number_of(group), share });
        if self.has_targets && self.prng.chance(1, 2) {
            self.set_target(group, true);
        }
        for task in group * TASKS..group * TASKS + tasks {
            if self.tasks[task].stage == Stage::None {
                self.submit(task);
            }
        }
    }

    pub(crate) fn set_target(&mut self, group: usize, has_target: bool) {
        let latency_p99 = has_target.then(|| Span::from_ms(self.prng.between(1, 60)));
        let qos = Qos { latency_p99, ..Qos::NONE };
        self.configure(Change::GroupQos { group: number_of(group), qos });
        self.groups[group].target = latency_p99;
    }

    /// Submits a request of the task.
    pub(crate) fn submit(&mut self, task: usize) {
        let is_write = self.prng.chance(1, 3);
        let (position, arrived) = (Lba(8 * self.prng.below(1 << 28)), self.now);
        self.tasks[task] = Task { is_write, position, arrived, ..self.tasks[task] };
        self.admit(task);
    }

    /// Gives the scheduler the task's request.
    pub(crate) fn admit(&mut self, task: usize) {
        let group = task / TASKS;
        if self.groups[group].is_quiet() {
            self.note_coming(group);
        }
        if self.groups[group].queued == 0 {
            self.groups[group].since = self.now;
        }
        self.groups[group].queued += 1;
        self.tasks[task].stage = Stage::Queued;
        let Task { id, ioprio, is_write, position, arrived, .. } = self.tasks[task];
        let op = if is_write { Op::Write } else { Op::Read };
        let request = read(task as u32, number_of(group), position, arrived);
        self.elevator.admit(self.now, &Request { op, task: id, ioprio, ..request });
    }

    // ---- waiting -------------------------------------------------------------------------

    /// The groups as they are. A round is as long as was asked for.
    pub(crate) fn seen(&self) -> [Seen; GROUPS] {
        let round = FairParams::default().round;
        let wants = |group: &&Group| !group.is_quiet();
        let all = self.groups.iter().filter(wants).map(|group| group.weight).sum::<u64>();
        // What is at the disk when a turn is used up is done first.
        let rest = Span::from_ns(self.service_max.as_ns() * self.places() as u64);
        let mut seen = [Seen::default(); GROUPS];
        for (one, group) in seen.iter_mut().zip(&self.groups).filter(|(_, it)| !it.is_quiet()) {
            let part = match self.rotational {
                true => round.scaled(group.weight, all).max(round / 8),
                false => Span::ZERO,
            };
            one.weight = group.weight;
            one.turn = part + rest;
            one.early = if group.target.is_some() { early(rest) } else { Span::ZERO };
        }
        seen
    }

    pub(crate) fn note(&mut self) {
        let seen = self.seen();
        for (at, group) in self.groups.iter_mut().enumerate() {
            group.bound.note(at, &seen);
        }
    }

    /// Notes that others may have to wait longer for what happens.
    pub(crate) fn add(&mut self, group: usize, more: Span) {
        let others = self.groups.iter_mut().enumerate().filter(|(at, _)| *at != group);
        others.for_each(|(_, other)| other.bound.add(more));
    }

    /// Fails if a group waits for longer than it may.
    pub(crate) fn check(&self) {
        for (at, group) in self.groups.iter().enumerate().filter(|(_, it)| it.queued > 0) {
            let (waited, most) = (self.now - group.since, group.bound.longest());
            assert!(
                waited <= most || !self.is_fair,
                "group {at} waited {waited}, at most {most}: {group:?}"
            );
        }
    }

    /// Begins the bound of the group, which begins a turn. Tasks that pause may come back, and the
    /// disk be kept free for them.
    fn begin_bound(&mut self, group: usize) {
        let pauses = |task: &&Task| matches!(task.stage, Stage::Pauses(_));
        let pausing = (0..).zip(&self.tasks).filter(|(_, task)| pauses(task));
        let kept = pausing.map(|(task, _)| self.kept_for(group_of(RequestId(task))));
        let kept = kept.fold(Span::ZERO, |all, kept| all + kept);
        let bound = &mut self.groups[group].bound;
        *bound = Bound::default();
        bound.add(kept);
    }

    pub(crate) const fn places(&self) -> usize {
        if self.picks_next { DEPTH } else { 1 }
    }

    /// Notes that a request was dispatched for this reason.
    fn taken(&mut self, request: RequestId, why: Why) {
        self.check();
        self.elevator.activate(self.now, request);
        let at = group_of(request);
        let group = &mut self.groups[at];
        group.since = self.now;
        group.queued -= 1;
        group.at_disk += 1;
        // In a turn that goes on, or out of turn, it may not be first in line.
        let is_first = matches!(why, Why::LeastServed | Why::GroupSliceExpired | Why::GroupEmptied);
        if self.taken_before.replace(at) != Some(at) && is_first {
            self.begin_bound(at);
            if !self.groups[at].catches_up {
                // It was first in line, so nobody who wants the disk is behind any more.
                self.groups.iter_mut().for_each(|group| group.catches_up &= group.queued == 0);
            }
        }
        let task = &mut self.tasks[request.0 as usize];
        (task.stage, task.is_known) = (Stage::AtDisk, true);
        self.at_disk.push(request);
    }

    // ---- time ----------------------------------------------------------------------------

    /// Serves until one request is done.
    pub(crate) fn serve_one(&mut self) {
        self.something();
        loop {
            self.wake();
            let until = self.take();
            self.pick();
            let done = self.serving.map(|(done, ..)| done);
            let wakes = self.tasks.iter().filter_map(|task| match task.stage {
                Stage::Pauses(until) => Some(until),
                _ => None,
            });
            let next = until.into_iter().chain(wakes).min();
            match (done, next) {
                (Some(done), next) if next.is_none_or(|next| done <= next) => {
                    return self.complete();
                }
                (_, Some(next)) => self.now = next,
                (_, None) => panic!("nothing will ever happen again"),
            }
        }
    }

    /// Lets tasks go on whose pause is over.
    fn wake(&mut self) {
        for task in 0..self.tasks.len() {
            if matches!(self.tasks[task].stage, Stage::Pauses(until) if until <= self.now) {
                self.submit(task);
            }
        }
    }

    /// Takes requests while there is a place at the disk. Returns when to ask again, if the
    /// scheduler waits until then.
    fn take(&mut self) -> Option<Instant> {
        while self.at_disk.len() + usize::from(self.serving.is_some()) < self.places() {
            self.note();
            match self.elevator.decide(self.now) {
                Decision::Dispatch(request, why) => self.taken(request, why),
                Decision::WaitUntil(at, _) => return Some(at),
                _ => return None,
            }
        }
        None
    }

    fn complete(&mut self) {
        let Some((now, device_time, request)) = self.serving.take() else { return };
        self.now = now;
        let fails = self.failure_in.is_some_and(|one_in| self.prng.chance(1, one_in));
        let (at, task) = (group_of(request), request.0 as usize);
        let is_known = std::mem::take(&mut self.tasks[task].is_known);
        if is_known {
            let completion = Completion { request, device_time, ok: !fails };
            self.elevator.complete(now, &completion);
        }
        self.tasks[task].stage = Stage::None;
        self.groups[at].since = now;
        if self.groups[at].tasks.is_some_and(|tasks| task % TASKS < tasks) {
            self.submit(task);
        }
        self.groups[at].at_disk -= usize::from(is_known);
    }
}

impl Group {
    fn none() -> Self {
        let bound = Bound::default();
        let (target, idle, tasks, since) = (None, None, None, Instant::ZERO);
        let (weight, queued, at_disk, catches_up) = (100, 0, 0, false);
        Self { weight, target, idle, tasks, queued, at_disk, since, catches_up, bound }
    }

    /// Whether it has nothing queued and nothing at the disk.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.queued == 0 && self.at_disk == 0
    }
}

const fn newborn(id: u32) -> Task {
    let (id, ioprio, stage) = (TaskId(id), IoPrio::UNSET, Stage::None);
    let (position, arrived) = (Lba(0), Instant::ZERO);
    Task { id, ioprio, stage, is_write: false, position, arrived, is_known: false }
}

fn fair() -> Scheduler {
    SchedulerSpec::Fair(FairParams::default()).build()
}
