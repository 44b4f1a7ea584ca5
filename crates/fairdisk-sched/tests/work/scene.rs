//! A storm of any size: groups of three tasks, each with one request at a time, whose settings and
//! nesting change all the time. The time per request is such that the rate of a group stays the
//! same, however many groups there are.

use crate::meter::Meter;
use fairdisk_core::{
    Admission, Bio, BioId, Change, Completion, Cost, CostModel, Decision, Elevator, Flags, GroupId,
    Instant, IoClass, IoPrio, Lba, Merge, Op, Prng, Qos, Rates, Request, RequestId, Sectors, Share,
    Span, Submitter, TaskId, Weight,
};
use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroU64;

/// Tasks per group.
const TASKS: u32 = 3;
/// A number that no task of the storm has.
const NOBODY: TaskId = TaskId(0);
/// The longest request that merging builds, in sectors.
const MERGED_MAX: u32 = 64;

/// The parameters of a storm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) groups: u32,
    /// The number of requests the device accepts; if more than one, it has no moving head.
    pub(crate) depth: u32,
    /// A long pause to insert now and then.
    pub(crate) pause: Option<Span>,
    /// The number of calls to observe.
    pub(crate) calls: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asleep,
    Queued,
    AtDevice,
}

struct Task {
    id: TaskId,
    group: u32,
    ioprio: IoPrio,
    state: State,
    /// The last request, as the scheduler knows it.
    request: Option<Request>,
}

pub(crate) struct Scene<E> {
    weather: Weather,
    elevator: E,
    meter: Meter,
    prng: Prng,
    now: Instant,
    service: Span,
    /// The slot of a task's request is the task's index here.
    tasks: Vec<Task>,
    at_device: VecDeque<(Instant, u32)>,
    asleep: BTreeSet<(Instant, u32)>,
    /// Whose flush is at the device.
    flushing: Option<Submitter>,
}

impl<E: Elevator> Scene<E> {
    /// Runs the storm on an elevator.
    pub(crate) fn run(weather: Weather, elevator: E, meter: Meter) -> Meter {
        let tasks = (0..weather.groups * TASKS).map(|task| Task {
            id: TaskId(1 + task),
            group: 1 + task / TASKS,
            ioprio: IoPrio::UNSET,
            state: State::Asleep,
            request: None,
        });
        let mut scene = Self {
            weather,
            elevator,
            meter,
            prng: Prng::new(6),
            now: Instant::ZERO,
            service: Span::from_ns(80_000_000 / u64::from(weather.groups)),
            tasks: tasks.collect(),
            at_device: VecDeque::new(),
            asleep: BTreeSet::new(),
            flushing: None,
        };
        scene.set_up();
        // By then everything has been served, moved and removed, so that tables have reached their
        // size.
        let often = 8 * scene.tasks.len();
        (0..often).for_each(|_| scene.step());
        scene.meter.begin();
        let until = scene.meter.calls() + weather.calls;
        while scene.meter.calls() < until {
            scene.step();
        }
        scene.end();
        scene.meter
    }

    fn set_up(&mut self) {
        let Weather { depth, groups, .. } = self.weather;
        let random = self.service;
        let cost = Cost { sequential: random, random, byte_ps: 0, random_byte_ps: 0 };
        let saturation = self.service;
        self.configure("", Change::Depth { depth });
        self.configure("", Change::Rotational { rotational: depth == 1 });
        let costs = CostModel { depth, saturation, alone: saturation, read: cost, write: cost };
        self.configure("", Change::Costs(costs));
        for group in 1..=groups {
            let (share, group) = (Share::DEFAULT, GroupId(group));
            self.configure("", Change::GroupAdded { group, share });
            self.nest(group.0);
            self.limit(group.0);
        }
        (0..self.tasks.len() as u32).for_each(|task| self.submit(task));
    }

    fn configure(&mut self, kind: &'static str, change: Change) {
        let Self { elevator, now, meter, .. } = self;
        meter.call(kind, || elevator.configure(*now, &change));
    }

    fn step(&mut self) {
        match self.prng.below(40) {
            0 => self.change(),
            1 => self.withdraw(),
            2 if self.prng.chance(1, 40) => self.pause(),
            3 if self.prng.chance(1, 10) => self.flush(),
            4 => self.merge(),
            5 if self.prng.chance(1, 4) => self.wait_for_one(),
            _ => self.serve(),
        }
    }

    fn pause(&mut self) {
        let pause = self.weather.pause.unwrap_or(Span::ZERO);
        self.now += pause;
    }

    /// Begins a flush, or ends the one that is at the device.
    fn flush(&mut self) {
        let ended = self.flushing.take();
        let by = ended.unwrap_or_else(|| self.some_submitter());
        let Self { elevator, now, meter, service, .. } = self;
        if ended.is_some() {
            return meter.call("flushed", || elevator.flushed(*now, by, *service, true));
        }
        meter.call("flushes", || elevator.flushes(*now, by));
        self.flushing = Some(by);
    }

    /// Takes out everything that is queued, lets what is at the device complete, and asks about
    /// tasks that would then be alone.
    fn end(&mut self) {
        let Self { elevator, now, meter, .. } = self;
        while let Some(id) = meter.call("drain", || elevator.drain(*now)) {
            self.tasks[id.0 as usize].state = State::Asleep;
        }
        assert!(self.tasks.iter().all(|task| task.state != State::Queued), "something is left");
        if self.flushing.is_some() {
            self.flush();
        }
        while let Some((done, at)) = self.at_device.pop_front() {
            self.now = self.now.max(done);
            self.completed(at);
        }
        for Task { id, group, .. } in &self.tasks {
            let Self { elevator, meter, .. } = self;
            meter.call("lets_through", || elevator.lets_through(*id, GroupId(*group)));
        }
    }

    // ---- requests --------------------------------------------------------------------------

    fn submit(&mut self, at: u32) {
        let task = &mut self.tasks[at as usize];
        task.state = State::Queued;
        let is_write = self.prng.chance(1, 3);
        // Some requests belong to a task of no group, on behalf of any group.
        let is_nobodys = self.prng.chance(1, 8);
        let request = Request {
            id: RequestId(at),
            task: if is_nobodys { NOBODY } else { task.id },
            group: GroupId(task.group),
            op: if is_write { Op::Write } else { Op::Read },
            start: Lba(8 * self.prng.below(1 << 28)),
            sectors: Sectors(8),
            sync: !is_write || self.prng.chance(1, 2),
            flags: if self.prng.chance(1, 20) { Flags::META } else { Flags::NONE },
            ioprio: task.ioprio,
            arrived: self.now,
        };
        task.request = Some(request);
        let Self { elevator, now, meter, .. } = self;
        let bio = bio_of(&request);
        meter.call("may_queue", || elevator.may_queue(*now, &bio));
        if let Admission::Displaces(other) = meter.call("admit", || elevator.admit(*now, &request))
        {
            self.issue(other);
        }
    }

    /// Appends a bio to a queued request, if the scheduler lets it.
    fn merge(&mut self) {
        let at = self.some_task() as usize;
        let Task { state: State::Queued, request: Some(request), .. } = &mut self.tasks[at] else {
            return;
        };
        let bio = Bio { start: request.end(), sectors: Sectors(8), ..bio_of(request) };
        let Self { elevator, now, meter, .. } = self;
        let may = meter.call("may_merge", || elevator.may_merge(request, &bio));
        if may && request.sectors.0 < MERGED_MAX {
            request.sectors.0 += bio.sectors.0;
            meter.call("merged", || elevator.merged(*now, request, Merge::Back));
        }
    }

    /// Another group waits for a queued request.
    fn wait_for_one(&mut self) {
        let (at, by) = (self.some_task(), self.some_group());
        let task = &self.tasks[at as usize];
        if task.state == State::Queued && task.group != by.0 {
            let Self { elevator, now, meter, .. } = self;
            meter.call("awaited", || elevator.awaited(*now, RequestId(at), by));
        }
    }

    fn issue(&mut self, id: RequestId) {
        let Self { elevator, now, meter, .. } = self;
        meter.call("activate", || elevator.activate(*now, id));
        self.tasks[id.0 as usize].state = State::AtDevice;
        let free = self.at_device.back().map_or(self.now, |(done, _)| self.now.max(*done));
        self.at_device.push_back((free + self.service, id.0));
    }

    fn serve(&mut self) {
        self.wake();
        let mut until = None;
        if self.at_device.len() < self.weather.depth as usize {
            let Self { elevator, now, meter, .. } = self;
            match meter.call("decide", || elevator.decide(*now)) {
                Decision::Dispatch(id, _) => return self.issue(id),
                Decision::WaitUntil(at, _) => until = Some(at),
                Decision::WaitCompletion(_) | Decision::Idle => {}
            }
        }
        let done = self.at_device.front().map(|(done, _)| *done);
        let wakes = self.asleep.first().map(|(at, _)| *at);
        let Some(next) = [done, wakes, until].into_iter().flatten().min() else {
            assert!(self.flushing.is_some(), "something happens");
            return self.flush();
        };
        self.now = self.now.max(next);
        if done.is_some_and(|done| done <= self.now) {
            self.complete();
        }
    }

    fn complete(&mut self) {
        let Some((_, at)) = self.at_device.pop_front() else { return };
        self.completed(at);
        if self.prng.chance(1, 4) { self.sleep(at) } else { self.submit(at) }
    }

    fn completed(&mut self, at: u32) {
        let completion = Completion { request: RequestId(at), device_time: self.service, ok: true };
        let Self { elevator, now, meter, .. } = self;
        meter.call("complete", || elevator.complete(*now, &completion));
    }

    fn sleep(&mut self, at: u32) {
        self.tasks[at as usize].state = State::Asleep;
        let until = self.now + Span::from_us(self.prng.below(20_000));
        self.asleep.insert((until, at));
    }

    fn wake(&mut self) {
        if let Some((at, task)) = self.asleep.first().copied().filter(|(at, _)| *at <= self.now) {
            self.asleep.remove(&(at, task));
            self.submit(task);
        }
    }

    fn withdraw(&mut self) {
        let at = self.some_task();
        if self.tasks[at as usize].state == State::Queued {
            let Self { elevator, now, meter, .. } = self;
            meter.call("withdraw", || elevator.withdraw(*now, RequestId(at)));
            self.sleep(at);
        }
    }

    // ---- changes ---------------------------------------------------------------------------

    fn some_task(&mut self) -> u32 {
        self.prng.below(self.tasks.len() as u64) as u32
    }

    /// A task and its group.
    fn some_submitter(&mut self) -> Submitter {
        let at = self.prng.below(self.tasks.len() as u64) as usize;
        let Task { id, group, .. } = self.tasks[at];
        Submitter { task: id, group: GroupId(group) }
    }

    fn some_group(&mut self) -> GroupId {
        GroupId(self.prng.between(1, u64::from(self.weather.groups)) as u32)
    }

    /// The first groups hold others, and stay.
    const fn holders(&self) -> u32 {
        self.weather.groups / 8
    }

    fn change(&mut self) {
        let group = self.some_group();
        match self.prng.below(8) {
            0 => {
                let weight = Weight::new(self.prng.between(1, 10_000) as u32);
                let share = Share::Weight(weight.expect("in range"));
                self.configure("share", Change::GroupShare { group, share });
            }
            1 => self.limit(group.0),
            2 => self.nest(group.0),
            3 => {
                let idle = self.prng.chance(1, 2).then_some(Span::from_ms(20));
                self.configure("idle", Change::GroupIdle { group, idle });
            }
            4 => self.reprioritise(),
            5 => {
                let at = self.some_task();
                let home = 1 + at / TASKS;
                let other = if home == self.weather.groups { 1 } else { home + 1 };
                let group = if self.prng.chance(1, 2) { home } else { other };
                self.move_task(at, group);
            }
            6 => {
                let at = self.some_task() as usize;
                let task = self.tasks[at].id;
                self.configure("exit", Change::TaskExited { task });
                // The task alternates between two numbers.
                let all = self.tasks.len() as u32;
                self.tasks[at].id = TaskId(1 + (task.0 - 1 + all) % (2 * all));
            }
            _ if group.0 > self.holders() => self.replace(group),
            _ => {}
        }
    }

    /// Sets a floor, a ceiling, a target, or several of them.
    fn limit(&mut self, group: u32) {
        let mut some = |least: u64, most: u64| {
            let number = self.prng.between(least, most);
            self.prng.chance(1, 2).then_some(number)
        };
        let iops =
            |iops: Option<u64>| Rates { iops: iops.and_then(NonZeroU64::new), ..Rates::NONE };
        let (floor, ceiling) = (iops(some(1, 10)), iops(some(10, 40)));
        let latency_p99 = some(5, 200).map(Span::from_ms);
        let burst = Span::from_ms(100);
        let (qos, group) =
            (Qos { floor, ceiling, burst, latency_p99, ..Qos::NONE }, GroupId(group));
        self.configure("qos", Change::GroupQos { group, qos });
    }

    /// Moves the group into one of those that hold others, or to the top level.
    fn nest(&mut self, group: u32) {
        if group > self.holders() {
            let outer = self.prng.between(1, u64::from(self.holders())) as u32;
            let parent = self.prng.chance(1, 2).then_some(GroupId(outer));
            self.configure("parent", Change::GroupParent { group: GroupId(group), parent });
        }
    }

    fn reprioritise(&mut self) {
        let classes = [IoClass::None, IoClass::RealTime, IoClass::BestEffort, IoClass::Idle];
        let class = classes[self.prng.below(4) as usize];
        let ioprio = IoPrio { class, level: self.prng.below(8) as u8 };
        let at = self.some_task() as usize;
        let task = self.tasks[at].id;
        self.tasks[at].ioprio = ioprio;
        self.configure("priority", Change::TaskPriority { task, ioprio });
    }

    fn move_task(&mut self, at: u32, group: u32) {
        let task = &mut self.tasks[at as usize];
        task.group = group;
        let (task, group) = (task.id, GroupId(group));
        self.configure("move", Change::TaskMoved { task, group });
    }

    /// Removes the group and gives its number to another one.
    fn replace(&mut self, group: GroupId) {
        for at in 0..self.tasks.len() as u32 {
            if self.tasks[at as usize].group == group.0 {
                self.move_task(at, 1);
            }
        }
        self.configure("parent", Change::GroupParent { group, parent: None });
        self.configure("removed", Change::GroupRemoved { group });
        let share = Share::DEFAULT;
        self.configure("added", Change::GroupAdded { group, share });
        let first = (group.0 - 1) * TASKS;
        (first..first + TASKS).for_each(|at| self.move_task(at, group.0));
    }
}

/// The bio of a request that has only one.
const fn bio_of(request: &Request) -> Bio {
    let Request { task, group, op, start, sectors, sync, flags, ioprio, .. } = *request;
    Bio { id: BioId(0), task, group, op, start, sectors, sync, flags, ioprio }
}
