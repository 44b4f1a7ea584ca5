//! The state of a shared disk, without threads and clock: it is told what happened and when, and
//! says what to perform and whom to answer.

mod views;

use super::few::Few;
use super::flushes::{FlushTimes, Flushes};
use super::meter::Meter;
use super::unheard::Which;
use super::{Device, Job, Order};
use fairdisk_core::{
    AttachError, Bio, BioId, Change, Effect, Effects, Engine, EngineConfig, Entry, GroupId, Input,
    Instant, Journal, Lba, OpKind, Refusal, Request, RequestId, Sleeper, TaskId, dense,
};
use fairdisk_sched::Scheduler;
use fairdisk_sim::device::{Device as _, DeviceIo, DeviceModel, Done};
use std::io;

/// A request that the scheduler has issued, with the jobs to perform in this order.
pub(super) struct Issued {
    pub(super) request: RequestId,
    pub(super) jobs: Jobs,
}

impl Issued {
    /// Whether the kernel can do all of its jobs.
    pub(super) fn is_transfer(&self) -> bool {
        self.jobs.iter().all(|(job, _)| job.is_transfer())
    }
}

/// A job with its result, which is meaningful once the job has been performed.
pub(super) type Performed = (Box<dyn Job>, io::Result<()>);

/// The jobs of a request.
pub(super) type Jobs = Few<Performed>;

/// The joint outcome of a request's jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    ok: bool,
    /// Whether the time of the jobs was spent on the device.
    reached_device: bool,
}

impl Outcome {
    /// Whether the duration reveals something about the device.
    pub(super) const fn is_telling(self) -> bool {
        self.ok && self.reached_device
    }

    pub(super) fn of(jobs: &Jobs) -> Self {
        let (mut ok, mut reached_device) = (true, true);
        for (job, result) in jobs.iter() {
            ok &= result.is_ok();
            reached_device &= job.reached_device();
        }
        Self { ok, reached_device }
    }
}

/// What to do once the lock is released.
#[derive(Default)]
pub(super) struct Todo {
    pub(super) issued: Few<Issued>,
    pub(super) finished: Jobs,
}

pub(super) struct State {
    engine: Engine<Scheduler>,
    effects: Effects,
    woken: Vec<Sleeper>,
    /// The jobs that wait, by the number of their bio.
    waiting: Vec<Option<Box<dyn Job>>>,
    /// The number of waiting jobs.
    waits: usize,
    /// The request that went to the disk before the scheduler was asked.
    unasked: Option<RequestId>,
    /// How often the scheduler would have held back a request that it had promised to issue at
    /// once.
    kept_back: u64,
    /// The origin of each unfinished bio, by its number.
    whose: Vec<Option<Whose>>,
    /// How long the flushes of each group took.
    flushes: Vec<Flushes>,
    free: Vec<u32>,
    model: Option<Model>,
    meter: Option<Meter>,
    wake_at: Option<Instant>,
    pub(super) todo: Todo,
}

/// The origin of a bio, and when it was submitted.
#[derive(Clone, Copy)]
struct Whose {
    task: TaskId,
    group: GroupId,
    asked: Instant,
    /// Whether somebody waits for it.
    sync: bool,
    kind: OpKind,
    /// What it has waited for so far, if it is a flush.
    waited: FlushTimes,
}

/// The device model that sets the pace, and the state of each request.
struct Model {
    device: DeviceModel,
    halves: Vec<Half>,
    done: Vec<Done>,
}

/// A request is complete when the model says so and its jobs have been performed.
#[derive(Default)]
enum Half {
    #[default]
    Neither,
    Performed(Jobs),
    Due {
        ok: bool,
    },
}

impl State {
    pub(super) fn new(scheduler: Scheduler, mut config: EngineConfig, device: Device) -> Self {
        let (mut model, mut meter) = (None, None);
        match device {
            Device::Fixed => {}
            Device::Measured { most, may_turn } => {
                let meter = meter.insert(Meter::new(most, may_turn));
                config.depth = meter.depth();
            }
            Device::Modelled(device) => {
                config.depth = device.depth();
                model = Some(Model { device: *device, halves: Vec::new(), done: Vec::new() });
            }
        }
        let tells_depth = model.as_ref().is_none_or(|model| model.device.serves_together());
        let mut state = Self {
            engine: Engine::new(scheduler, config, Journal::hashing()),
            effects: Effects::new(),
            woken: Vec::new(),
            waiting: Vec::new(),
            waits: 0,
            unasked: None,
            kept_back: 0,
            whose: Vec::new(),
            flushes: Vec::new(),
            free: Vec::new(),
            model,
            meter,
            wake_at: None,
            todo: Todo::default(),
        };
        if tells_depth {
            state.set_depth(Instant::ZERO, config.depth);
        }
        state
    }

    fn set_depth(&mut self, now: Instant, depth: u32) {
        self.feed(now, Input::Configure(Change::Depth { depth }));
    }

    pub(super) fn begin_period(&mut self) {
        self.engine.begin_period();
    }

    pub(super) fn keep_journal(&mut self, most: usize) {
        self.engine.keep_journal(most);
    }

    /// Exchanges the kept entries of the journal for an empty list, and returns how many requests
    /// are missing.
    pub(super) fn swap_journal(&mut self, empty: &mut Vec<Entry>) -> u64 {
        self.engine.swap_journal(empty);
        self.engine.journal().missed()
    }

    /// When [`advance`](Self::advance) is due next.
    pub(super) fn next_event(&self) -> Option<Instant> {
        let model = self.model.as_ref().and_then(|model| model.device.next_event());
        self.wake_at.into_iter().chain(model).min()
    }

    pub(super) fn submit(&mut self, now: Instant, order: &Order, job: Box<dyn Job>) {
        self.advance(now);
        let bio = self.bio(now, order, Some(job));
        self.feed(now, Input::Submit(bio));
    }

    /// Tells the scheduler for which of the waiting jobs somebody has come to wait.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.advance(now);
        let mut hurried = Vec::new();
        for ((number, job), whose) in (0..).zip(&self.waiting).zip(&mut self.whose) {
            let Some(whose) = whose.as_mut().filter(|whose| !whose.sync) else { continue };
            whose.sync = job.as_ref().is_some_and(|job| job.is_awaited());
            if whose.sync {
                hurried.push(BioId(number));
            }
        }
        if !hurried.is_empty() {
            self.feed(now, Input::Hurry(hurried.into()));
        }
    }

    /// Notes that a request has gone to the disk without the scheduler being asked.
    pub(super) fn begun(&mut self, now: Instant, order: &Order) {
        self.advance(now);
        let bio = self.bio(now, order, None);
        self.feed(now, Input::Submit(bio));
        if self.unasked.is_none() {
            // The request is at the disk nevertheless, and no group is charged for it.
            self.kept_back += 1;
            self.feed(now, Input::Cancel(bio.id));
        }
    }

    /// How often the scheduler would have held back a request that it had promised to issue at
    /// once. This should never happen.
    pub(super) const fn kept_back(&self) -> u64 {
        self.kept_back
    }

    fn bio(&mut self, now: Instant, order: &Order, job: Option<Box<dyn Job>>) -> Bio {
        let number = self.free.pop().unwrap_or(self.waiting.len() as u32);
        if number as usize == self.waiting.len() {
            self.waiting.push(None);
            self.whose.push(None);
        }
        let sync = order.sync || job.as_ref().is_some_and(|job| job.is_awaited());
        self.waits += usize::from(job.is_some());
        self.waiting[number as usize] = job;
        self.whose[number as usize] = Some(Whose {
            task: order.task,
            group: order.group,
            asked: now,
            sync,
            kind: order.op.into(),
            waited: FlushTimes { own_data: order.waited, ..FlushTimes::default() },
        });
        Bio {
            id: BioId(number.into()),
            task: order.task,
            group: order.group,
            op: order.op,
            start: self.within_model(order),
            sectors: order.sectors,
            sync,
            flags: order.flags,
            ioprio: order.ioprio,
        }
    }

    /// The position on the model's disk, modulo its size, since the real disk may be larger.
    fn within_model(&self, order: &Order) -> Lba {
        let Some(model) = &self.model else { return order.start };
        let capacity = model.device.capacity_sectors().max(1);
        let last = capacity.saturating_sub(order.sectors.0.into());
        Lba((order.start.0 % capacity).min(last))
    }

    /// Notes that the jobs of a request have been performed.
    pub(super) fn performed(&mut self, now: Instant, which: Which, jobs: Jobs) {
        self.advance(now);
        let (Some(model), Which::Issued(id)) = (&mut self.model, which) else {
            let outcome = Outcome::of(&jobs);
            jobs.each(|job| self.todo.finished.push(job));
            self.answered(now, which, outcome);
            return self.take_up_measured(now);
        };
        match std::mem::take(&mut model.halves[id.0 as usize]) {
            Half::Due { ok } => self.complete(now, id, ok, jobs),
            Half::Neither | Half::Performed(_) => {
                model.halves[id.0 as usize] = Half::Performed(jobs);
            }
        }
    }

    /// Notes that the jobs of a request have been performed and answered.
    pub(super) fn answered(&mut self, now: Instant, which: Which, outcome: Outcome) {
        let id = match which {
            Which::Issued(id) => id,
            Which::Unasked => match self.unasked.take() {
                Some(id) => id,
                None => return,
            },
        };
        self.advance(now);
        if let Some(meter) = &mut self.meter {
            meter.completed(now, id, outcome, self.waits);
        }
        self.feed(now, Input::Completed { request: id, ok: outcome.ok });
    }

    /// Tells the scheduler what has been measured, once all events are told: requests that followed
    /// the decisive one were passed as if nothing had changed.
    pub(super) fn take_up_measured(&mut self, now: Instant) {
        let Some(meter) = &mut self.meter else { return };
        meter.tell().for_each(|change| self.feed(now, Input::Configure(change)));
    }

    /// Whether jobs may be answered as soon as they are performed.
    pub(super) const fn answers_at_once(&self) -> bool {
        self.model.is_none()
    }

    /// Whether the scheduler would issue this request at once, and all that its task submits next
    /// until any other event.
    pub(super) fn lets_through(&self, order: &Order) -> bool {
        self.model.is_none() && self.engine.lets_through(order.task, order.group)
    }

    /// The number of jobs that the scheduler has not issued.
    pub(super) const fn waiting(&self) -> usize {
        self.waits
    }

    pub(super) fn configure(&mut self, now: Instant, change: Change) -> Result<(), Refusal> {
        self.advance(now);
        self.handle(now, Input::Configure(change));
        if let Change::GroupAdded { group, .. } = change {
            *dense::entry(&mut self.flushes, group.0, Flushes::default) = Flushes::default();
        }
        let refused = self.effects.change_refused.take();
        self.retry_woken(now);
        refused.map_or(Ok(()), Err)
    }

    /// Switches to another scheduler.
    pub(super) fn switch(&mut self, now: Instant, scheduler: Scheduler) -> Result<(), AttachError> {
        self.advance(now);
        self.handle(now, Input::Switch(Box::new(scheduler)));
        let refused = self.effects.switch_refused.take();
        self.retry_woken(now);
        refused.map_or(Ok(()), Err)
    }

    /// Handles everything that is due at `now` or before.
    pub(super) fn advance(&mut self, now: Instant) {
        while let Some(done) = self.model.as_mut().and_then(|model| model.next_done(now)) {
            self.due(now, done);
        }
        if self.wake_at.is_some_and(|at| at <= now) {
            self.feed(now, Input::Tick);
        }
    }

    fn due(&mut self, now: Instant, done: Done) {
        let Some(model) = &mut self.model else { return };
        match std::mem::take(&mut model.halves[done.id.0 as usize]) {
            Half::Performed(jobs) => self.complete(now, done.id, done.ok, jobs),
            Half::Neither | Half::Due { .. } => {
                model.halves[done.id.0 as usize] = Half::Due { ok: done.ok };
            }
        }
    }

    fn complete(&mut self, now: Instant, request: RequestId, ok: bool, jobs: Jobs) {
        let ok = ok && jobs.iter().all(|(_, result)| result.is_ok());
        jobs.each(|job| self.todo.finished.push(job));
        self.feed(now, Input::Completed { request, ok });
    }

    /// Passes an input to the engine and carries out the effects, including the retries of woken
    /// sleepers.
    fn feed(&mut self, now: Instant, input: Input<Scheduler>) {
        self.handle(now, input);
        self.retry_woken(now);
    }

    fn retry_woken(&mut self, now: Instant) {
        while let Some(sleeper) = self.woken.pop() {
            self.handle(now, Input::Retry(sleeper));
        }
    }

    fn handle(&mut self, now: Instant, input: Input<Scheduler>) {
        self.engine.handle(now, input, &mut self.effects);
        self.wake_at = self.effects.wake_at;
        for at in 0..self.effects.as_slice().len() {
            match self.effects.as_slice()[at] {
                Effect::Issue(request) => self.issue(now, &request),
                Effect::Sleep { .. } => {}
                Effect::Wake { sleeper, .. } => self.woken.push(sleeper),
                Effect::Finish { bio, .. } | Effect::Cancelled(bio) => {
                    if let Some(whose) = self.whose[bio.0 as usize].take() {
                        self.count_flush(now, &whose);
                    }
                    self.free.push(bio.0 as u32);
                }
            }
        }
    }

    /// Counts how long the bio took, if it is a flush.
    fn count_flush(&mut self, now: Instant, whose: &Whose) {
        if whose.kind == OpKind::Flush {
            let device = now - whose.asked - whose.waited.scheduler;
            let times = FlushTimes { device, ..whose.waited };
            dense::entry(&mut self.flushes, whose.group.0, Flushes::default).count(times);
        }
    }

    fn issue(&mut self, now: Instant, request: &Request) {
        if let Some(model) = &mut self.model {
            model.submit(now, request);
        }
        if let Some(meter) = &mut self.meter {
            meter.issued(now, request);
        }
        let mut jobs = Jobs::default();
        for bio in self.engine.bios_of(request.id) {
            if let Some(whose) = &mut self.whose[bio.0 as usize] {
                whose.waited.scheduler = now - whose.asked;
            }
            if let Some(job) = self.waiting[bio.0 as usize].take() {
                self.waits -= 1;
                jobs.push((job, Ok(())));
            }
        }
        if jobs.len() == 0 {
            self.unasked = Some(request.id);
        } else {
            self.todo.issued.push(Issued { request: request.id, jobs });
        }
    }
}

impl Model {
    fn submit(&mut self, now: Instant, request: &Request) {
        *dense::entry(&mut self.halves, request.id.0, Half::default) = Half::Neither;
        self.device.submit(now, &DeviceIo::of(request));
    }

    /// The next completion by `now`. All completions are collected before the first is reported,
    /// because the device must be advanced before it takes another request.
    fn next_done(&mut self, now: Instant) -> Option<Done> {
        if self.done.is_empty() {
            while let Some(at) = self.device.next_event().filter(|at| *at <= now) {
                self.device.advance(at, &mut self.done);
            }
            self.done.reverse();
        }
        self.done.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::tests::order;
    use fairdisk_core::{Op, Sectors, Share, Span};
    use fairdisk_sched::SchedulerSpec;

    #[test]
    fn what_is_let_through_and_would_have_to_wait_is_counted_and_in_nobodys_way() {
        let order = order(1);
        for name in ["noop", "fair"] {
            let scheduler = SchedulerSpec::named(name).expect("it is known").build();
            let mut state = State::new(scheduler, EngineConfig::default(), Device::Fixed);
            let now = Instant::ZERO;
            let done = Outcome::of(&Jobs::default());
            // Requests at the disk are reported by nobody in these tests.
            state.begun(now, &order);
            state.unasked = None;
            state.begun(now, &order);
            assert_eq!(state.kept_back(), 1, "{name}: the disk takes one");
            state.answered(now, Which::Unasked, done);
            assert_eq!(state.unfinished().groups.len(), 1, "{name}: the first alone is there");
        }
    }

    /// What is performed, and answered, later.
    struct Nothing;

    impl Job for Nothing {
        fn perform(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn finish(self: Box<Self>, _: io::Result<()>) {}
    }

    #[test]
    fn a_disk_that_does_more_with_half_of_it_at_once_is_given_half() {
        for name in ["noop", "fair"] {
            let scheduler = SchedulerSpec::named(name).expect("it is known").build();
            let device = Device::Measured { most: 32, may_turn: false };
            let mut state = State::new(scheduler, EngineConfig::default(), device);
            let mut now = Instant::ZERO;
            let mut given = Vec::new();
            (1..=64).for_each(|task| state.submit(now, &order(task), Box::new(Nothing)));
            for _ in 0..400 {
                let mut there = Vec::new();
                std::mem::take(&mut state.todo).issued.each(|issued| there.push(issued));
                given.push(there.len());
                now += Span::from_us(if there.len() > 16 { 320 } else { 150 });
                for (task, Issued { request, jobs }) in (1..).zip(there) {
                    state.performed(now, Which::Issued(request), jobs);
                    state.submit(now, &order(task), Box::new(Nothing));
                }
            }
            assert_eq!((given[0], given[399]), (32, 16), "{name}");
        }
    }

    #[test]
    fn a_task_is_blocked_by_its_oldest_request_that_it_waits_for() {
        let scheduler = SchedulerSpec::named("noop").expect("it is known").build();
        let mut state = State::new(scheduler, EngineConfig::default(), Device::Fixed);
        let (at, s) = (|s| Instant::ZERO + Span::from_s(s), Span::from_s);
        let background = Order { op: Op::Write, sync: false, ..order(3) };
        for (since, order) in [(0, order(1)), (1, order(2)), (2, background), (50, order(2))] {
            state.submit(at(since), &order, Box::new(Nothing));
        }
        let blocked = state.blocked_at(at(122), s(120));
        let blocked: Vec<_> = blocked.iter().map(|it| (it.task.0, it.age, it.at_device)).collect();
        assert_eq!(blocked, [(1, s(122), true), (2, s(121), false)]);
        assert_eq!(state.blocked_at(at(120), s(120)), [], "longer than that");
    }

    /// Performs what has been issued.
    fn perform(state: &mut State, now: Instant) {
        let issued = std::mem::take(&mut state.todo).issued;
        issued.each(|it| state.performed(now, Which::Issued(it.request), it.jobs));
    }

    /// A flush counts from the call to the answer, and what it waited for is told apart. A group
    /// that comes later under the same number begins with nothing.
    #[test]
    fn a_flush_has_waited_for_its_own_data_for_the_scheduler_and_for_the_device() {
        let scheduler = SchedulerSpec::named("noop").expect("it is known").build();
        let mut state = State::new(scheduler, EngineConfig::default(), Device::Fixed);
        let (ms, at) = (Span::from_ms, |ms| Instant::ZERO + Span::from_ms(ms));
        let read = order(1);
        let flush = Order { op: Op::Flush, sectors: Sectors(0), waited: ms(30), ..order(2) };
        state.submit(at(0), &read, Box::new(Nothing));
        state.submit(at(5), &flush, Box::new(Nothing));
        perform(&mut state, at(20));
        perform(&mut state, at(26));
        let flushes = state.flushes(GroupId::ROOT);
        let times = FlushTimes { own_data: ms(30), scheduler: ms(15), device: ms(6) };
        assert_eq!((flushes.longest, flushes.total.count()), (times, 1), "the read is none");
        let all = [&flushes.total, &flushes.own_data, &flushes.scheduler, &flushes.device];
        assert_eq!(all.map(|it| it.max().as_ms()), [51, 30, 15, 6]);
        let (group, share) = (GroupId::ROOT, Share::DEFAULT);
        state.configure(at(26), Change::GroupAdded { group, share }).expect("it is no floor");
        assert_eq!(state.flushes(group).total.count(), 0);
    }
}
