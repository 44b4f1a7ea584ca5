//! A closed loop: every task has one bio in flight and submits the next one, at a random position,
//! as soon as that completes. The device takes one request at a time, for a fixed time.

use fairdisk_core::{
    Bio, BioId, Change, Effect, Effects, Elevator, Engine, EngineConfig, Flags, GroupId, Input,
    Instant, IoPrio, Journal, Lba, Op, PoolConfig, Prng, RequestId, Sectors, Share, Sleeper, Span,
    TaskId,
};
use std::collections::VecDeque;

pub(crate) const SERVICE: Span = Span::from_us(500);
const DISK_SECTORS: u64 = 1 << 31;

/// The tasks of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    pub(crate) groups: u32,
    pub(crate) tasks_per_group: u32,
    /// The percentage of bios that are writes.
    pub(crate) writes_percent: u64,
}

impl Crowd {
    pub(crate) const fn tasks(self) -> u32 {
        self.groups * self.tasks_per_group
    }

    pub(crate) const fn group_of(self, task: TaskId) -> GroupId {
        GroupId(1 + task.0 / self.tasks_per_group)
    }

    /// The operation and the position of a task's next bio.
    pub(crate) fn next_io(self, prng: &mut Prng) -> (Op, Lba) {
        let op = if prng.chance(self.writes_percent, 100) { Op::Write } else { Op::Read };
        (op, Lba(8 * prng.below(DISK_SECTORS / 8)))
    }
}

pub(crate) struct ClosedLoop<E> {
    engine: Engine<E>,
    pub(crate) crowd: Crowd,
    now: Instant,
    prng: Prng,
    effects: Effects,
    at_device: Option<RequestId>,
    wake_at: Option<Instant>,
    sleepers: VecDeque<Sleeper>,
    /// Tasks whose bio completed.
    ready: VecDeque<TaskId>,
    submitted: u64,
    completed: u64,
}

impl<E: Elevator> ClosedLoop<E> {
    pub(crate) fn new(elevator: E, crowd: Crowd, pool: PoolConfig) -> Self {
        let config = EngineConfig { pool, ..EngineConfig::default() };
        let mut effects = Effects::new();
        let mut engine = Engine::new(elevator, config, Journal::hashing());
        for group in 1..=crowd.groups {
            let change = Change::GroupAdded { group: GroupId(group), share: Share::DEFAULT };
            engine.handle(Instant::ZERO, Input::Configure(change), &mut effects);
        }
        Self {
            engine,
            crowd,
            now: Instant::ZERO,
            prng: Prng::new(42),
            effects,
            at_device: None,
            wake_at: None,
            sleepers: VecDeque::new(),
            ready: (0..crowd.tasks()).map(TaskId).collect(),
            submitted: 0,
            completed: 0,
        }
    }

    /// Runs until `requests` more requests have completed.
    pub(crate) fn run(&mut self, requests: u64) {
        let until = self.completed + requests;
        while self.completed < until {
            if let Some(task) = self.ready.pop_front() {
                let bio = self.next_bio(task);
                self.handle(Input::Submit(bio));
            } else if let Some(sleeper) = self.sleepers.pop_front() {
                self.handle(Input::Retry(sleeper));
            } else if let Some(request) = self.at_device.take() {
                self.now += SERVICE;
                self.completed += 1;
                self.handle(Input::Completed { request, ok: true });
            } else {
                self.now = self.wake_at.expect("everybody waits and nothing will happen");
                self.handle(Input::Tick);
            }
        }
    }

    fn next_bio(&mut self, task: TaskId) -> Bio {
        self.submitted += 1;
        let (op, start) = self.crowd.next_io(&mut self.prng);
        Bio {
            id: BioId(self.submitted),
            task,
            group: self.crowd.group_of(task),
            op,
            start,
            sectors: Sectors(8),
            sync: op == Op::Read,
            flags: Flags::NONE,
            ioprio: IoPrio::UNSET,
        }
    }

    fn handle(&mut self, input: Input<E>) {
        self.engine.handle(self.now, input, &mut self.effects);
        self.wake_at = self.effects.wake_at;
        for effect in self.effects.as_slice() {
            match *effect {
                Effect::Issue(request) => self.at_device = Some(request.id),
                Effect::Finish { task, .. } => self.ready.push_back(task),
                Effect::Wake { sleeper, .. } => self.sleepers.push_back(sleeper),
                Effect::Sleep { .. } | Effect::Cancelled(_) => {}
            }
        }
    }
}
