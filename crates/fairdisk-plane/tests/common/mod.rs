//! A small load for tests: an engine with a closed loop of tasks around it.
#![allow(
    dead_code,
    unused_imports,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "every test program uses its own part"
)]

pub mod backend;
mod fixed_disk;
mod loop_device;
mod small_disk;
pub mod target;

pub use fixed_disk::fixed_disk;
pub use loop_device::LoopDevice;
pub use small_disk::SmallDisk;

use fairdisk_core::{
    Bio, BioId, Effect, Effects, Elevator, Engine, EngineConfig, Flags, GroupId, Input, Instant,
    IoPrio, Journal, Lba, Op, Prng, Request, RequestId, Sectors, Sleeper, Span, TaskId,
};
use fairdisk_plane::Load;
use std::collections::BTreeSet;

/// The load that the tasks make.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    pub tasks: u32,
    pub bios_per_task: u32,
    pub capacity_sectors: u64,
    pub sectors_max: u32,
    /// The percentages of reads, writes, flushes, discards and write-zeroes.
    pub percent: [u32; 5],
    /// The longest time between a completion and the task's next bio.
    pub think_max: Span,
    /// The granularity of that time.
    pub think_step: Span,
}

impl Mix {
    pub const ALL: [u32; 5] = [45, 40, 5, 5, 5];

    pub const fn new(tasks: u32, bios_per_task: u32, capacity_sectors: u64) -> Self {
        Self {
            tasks,
            bios_per_task,
            capacity_sectors,
            sectors_max: 32,
            percent: Self::ALL,
            think_max: Span::from_us(500),
            think_step: Span::from_ns(1),
        }
    }
}

/// A timer event. Events are ordered by time, then by the order in which they were set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Submit(u32),
    Retry(u32),
}

/// A load in which every task has one bio at a time and thinks before the next.
#[derive(Debug)]
pub struct ClosedLoop<E> {
    pub engine: Engine<E>,
    mix: Mix,
    prng: Prng,
    left: Vec<u32>,
    events: BTreeSet<(Instant, u64, Event)>,
    sleepers: Vec<Option<Sleeper>>,
    set: u64,
    tick: Option<Instant>,
    running: u32,
    next_bio: u64,
    effects: Effects,
    pub failed: u64,
    stopping: bool,
}

impl<E: Elevator> ClosedLoop<E> {
    pub fn new(elevator: E, config: EngineConfig, mix: Mix, seed: u64) -> Self {
        let mut load = Self {
            engine: Engine::new(elevator, config, Journal::keeping()),
            mix,
            prng: Prng::new(seed),
            left: vec![mix.bios_per_task; mix.tasks as usize],
            events: BTreeSet::new(),
            sleepers: vec![None; mix.tasks as usize],
            set: 0,
            tick: None,
            running: mix.tasks,
            next_bio: 0,
            effects: Effects::new(),
            failed: 0,
            stopping: false,
        };
        for task in 0..mix.tasks {
            load.set(Instant::ZERO, Event::Submit(task));
        }
        load
    }

    fn set(&mut self, at: Instant, event: Event) {
        self.set += 1;
        self.events.insert((at, self.set, event));
    }

    fn feed(&mut self, now: Instant, input: Input<E>, issue: &mut Vec<Request>) {
        self.engine.handle(now, input, &mut self.effects);
        self.tick = self.effects.wake_at;
        for effect in self.effects.as_slice().to_vec() {
            match effect {
                Effect::Issue(request) => issue.push(request),
                Effect::Finish { task, ok, .. } => self.finished(now, task.0, ok),
                Effect::Sleep { .. } => {}
                Effect::Wake { sleeper, task } => {
                    self.sleepers[task.0 as usize] = Some(sleeper);
                    self.set(now, Event::Retry(task.0));
                }
                Effect::Cancelled(bio) => panic!("nobody cancelled {bio:?}"),
            }
        }
    }

    fn finished(&mut self, now: Instant, task: u32, ok: bool) {
        self.failed += u64::from(!ok);
        let step = self.mix.think_step.as_ns();
        let think = Span::from_ns(self.prng.below(self.mix.think_max.as_ns() / step + 1) * step);
        self.set(now + think, Event::Submit(task));
    }

    fn submit(&mut self, now: Instant, task: u32, issue: &mut Vec<Request>) {
        let left = &mut self.left[task as usize];
        if *left == 0 || self.stopping {
            self.running -= 1;
            return;
        }
        *left -= 1;
        let bio = self.bio(task);
        self.feed(now, Input::Submit(bio), issue);
    }

    fn bio(&mut self, task: u32) -> Bio {
        self.next_bio += 1;
        let op = self.op();
        let sectors = self.prng.between(1, self.mix.sectors_max.into());
        let start = self.prng.below(self.mix.capacity_sectors - sectors + 1);
        let fua = op == Op::Write && self.prng.chance(1, 20);
        let flush = op == Op::Flush;
        Bio {
            id: BioId(self.next_bio),
            task: TaskId(task),
            group: GroupId::ROOT,
            op,
            start: Lba(if flush { 0 } else { start }),
            sectors: Sectors(if flush { 0 } else { sectors as u32 }),
            sync: op == Op::Read || self.prng.chance(1, 2),
            flags: if fua { Flags::FUA } else { Flags::NONE },
            ioprio: IoPrio::UNSET,
        }
    }

    fn op(&mut self) -> Op {
        let ops = [Op::Read, Op::Write, Op::Flush, Op::Discard, Op::WriteZeroes];
        let mut roll = self.prng.below(100) as u32;
        for (op, percent) in ops.into_iter().zip(self.mix.percent) {
            if roll < percent {
                return op;
            }
            roll -= percent;
        }
        Op::Read
    }
}

impl<E: Elevator> Load for ClosedLoop<E> {
    fn next_event(&self) -> Option<Instant> {
        let event = self.events.first().map(|event| event.0);
        event.into_iter().chain(self.tick).min()
    }

    fn advance(&mut self, now: Instant, issue: &mut Vec<Request>) {
        if self.tick.is_some_and(|tick| tick <= now) {
            self.feed(now, Input::Tick, issue);
        }
        while let Some(event) = self.events.first().copied().filter(|event| event.0 <= now) {
            self.events.remove(&event);
            match event.2 {
                Event::Submit(task) => self.submit(now, task, issue),
                Event::Retry(task) => {
                    let sleeper = self.sleepers[task as usize].take().unwrap();
                    self.feed(now, Input::Retry(sleeper), issue);
                }
            }
        }
    }

    fn completed(&mut self, now: Instant, id: RequestId, ok: bool, issue: &mut Vec<Request>) {
        self.feed(now, Input::Completed { request: id, ok }, issue);
    }

    fn is_done(&self) -> bool {
        self.running == 0 && self.engine.in_flight() == 0
    }

    fn stop(&mut self, _now: Instant) {
        self.stopping = true;
    }
}
