//! A rotating disk with command overhead, seeks, exact rotation, zones, a read buffer that reads
//! ahead, a write-back cache and optional command queueing.
//!
//! As in a real disk, three parts work at the same time: the controller takes commands and moves
//! data over the bus, the cache accepts writes while there is room, and the single arm serves
//! whatever needs the medium. The arm's work is never interrupted (only reading ahead is), so the
//! end of each access is known when it begins. An ordinary request therefore takes a single event.

mod access;
mod buffer;
mod cache;
mod choice;
mod command;
mod controller;
mod divisor;
mod geometry;
mod mechanism;
mod seek;
mod spec;
mod timing;

pub use spec::{
    FlushPolicy, HddParams, HddSpec, Order, QueueParams, ReadAheadParams, SeekParams, SeekPoint,
    WriteCacheParams,
};

use super::work::Ledger;
use super::{Device, DeviceIo, Done};
use buffer::ReadBuffer;
use cache::WriteCache;
use choice::Work;
use command::{Command, State};
use fairdisk_core::GroupId;
use fairdisk_core::time::{Instant, Span};
use mechanism::Mechanism;
use timing::Timing;

/// The time of the next event when there is none.
const NEVER: u64 = u64::MAX;

/// What the arm is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arm {
    /// Nothing, or reading ahead.
    Free,
    /// Serving a command until this time.
    Serves(u64),
    /// Destaging a write from the cache until this time.
    Destages(u64),
}

/// A rotating disk with exact rotation, zones, a read buffer that reads ahead, a write-back cache
/// and optional command queueing. Its one arm serves everything that needs the medium.
#[derive(Clone, Debug)]
pub struct Hdd {
    capacity_sectors: u64,
    depth: usize,
    order: Order,
    /// How long other commands may be served ahead of an older one.
    age_limit_ns: u64,
    timing: Timing,
    mechanism: Mechanism,
    buffer: ReadBuffer,
    cache: WriteCache,
    /// All outstanding commands, oldest first.
    commands: Vec<Command>,
    arm: Arm,
    /// The group of the arm's present work, or of its last.
    arm_group: GroupId,
    work: Ledger,
    /// The time up to which `work` has been charged.
    settled: u64,
    next_event: u64,
}

impl Hdd {
    /// An idle disk with its head over the first track. The platters are `phase_ns` further into
    /// their rotation than the parameters say.
    #[must_use]
    pub fn new(spec: &HddSpec, phase_ns: u64) -> Self {
        let params = spec.params();
        let mechanism = Mechanism::new(params, phase_ns);
        Self {
            capacity_sectors: params.capacity_sectors,
            depth: params.queue.depth as usize,
            order: params.queue.order,
            age_limit_ns: params.queue.age_limit_ms.map_or(NEVER, |ms| u64::from(ms) * 1_000_000),
            timing: Timing::new(params),
            buffer: ReadBuffer::new(params.read_ahead),
            cache: WriteCache::new(params.write_cache, mechanism.rotation_ns()),
            mechanism,
            commands: Vec::with_capacity(params.queue.depth as usize),
            arm: Arm::Free,
            arm_group: GroupId::ROOT,
            work: Ledger::default(),
            settled: 0,
            next_event: NEVER,
        }
    }

    /// Charges the time up to `at`: to the group that the arm works for, or else to the group of
    /// the oldest command in the controller or on the bus.
    #[inline(always)]
    fn settle(&mut self, at: u64) {
        if let Arm::Serves(until) | Arm::Destages(until) = self.arm
            && until > self.settled
        {
            let until = until.min(at);
            self.work.add(self.arm_group, until - self.settled);
            self.settled = until;
        }
        if let Some(oldest) = self.commands.first() {
            self.work.add(oldest.group, at - self.settled);
        }
        self.settled = at;
    }

    fn busy(&self, at: u64) -> bool {
        match self.arm {
            Arm::Free => false,
            Arm::Serves(until) => until > at,
            // Free only after the end has been handled and the place in the cache released.
            Arm::Destages(_) => true,
        }
    }

    /// Whether the arm is free and no work is waiting for it.
    fn idle(&self, at: u64) -> bool {
        !self.busy(at) && !self.cache.has_waiting() && !self.commands.iter().any(Command::waits)
    }

    /// Gives the arm work until it is busy or no work is left.
    #[inline]
    fn dispatch(&mut self, at: u64) {
        let quiet = self.commands.is_empty() && !self.cache.has_waiting();
        while !quiet && !self.busy(at) && self.take_up(at) {}
    }

    /// Gives the free arm one piece of work. Returns whether there was any.
    #[inline(never)]
    fn take_up(&mut self, at: u64) -> bool {
        self.arm = Arm::Free;
        self.cache.gather(at);
        match self.choose(at) {
            Some(Work::Command(index, access)) => {
                let command = self.commands[index];
                let done = self.serve(&command, access, at);
                self.commands[index].state = State::Completes(done, true);
            }
            Some(Work::Destage(index)) => self.destage(index, at),
            None => return false,
        }
        true
    }

    /// Handles a write that has reached the medium: its place is free and barriers may be passed.
    fn finish_destage(&mut self, at: u64) {
        self.cache.finish_destage();
        self.arm = Arm::Free;
        let mut full = false;
        for index in 0..self.commands.len() {
            let command = self.commands[index];
            match command.state {
                State::WantsFlush(barrier) if !command.blocked(&self.cache, barrier) => {
                    self.commands[index].state = State::Completes(command.ready.max(at), true);
                }
                State::WantsPlace if !full => match self.accept(&command, at) {
                    Some(state) => self.commands[index].state = state,
                    None => full = true,
                },
                _ => {}
            }
        }
    }

    /// Removes the commands that complete at `at`, oldest first.
    fn complete(&mut self, at: u64, done: &mut Vec<Done>) {
        self.commands.retain(|command| match command.state {
            State::Completes(due, ok) if due <= at => {
                done.push(Done { id: command.id, ok });
                false
            }
            _ => true,
        });
    }

    /// Computes the time of the next event: a completion, or the end of the arm's work if other
    /// work waits for the arm.
    fn plan_event(&mut self) {
        let mut next = NEVER;
        let mut waits = self.cache.has_waiting();
        for command in &self.commands {
            match command.state {
                State::Completes(due, _) => next = next.min(due),
                _ => waits = true,
            }
        }
        self.next_event = match self.arm {
            Arm::Destages(until) => next.min(until),
            Arm::Serves(until) if waits => next.min(until),
            Arm::Serves(_) | Arm::Free => next,
        };
    }
}

impl Device for Hdd {
    fn depth(&self) -> u32 {
        self.depth as u32
    }

    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn submit(&mut self, now: Instant, io: &DeviceIo) {
        let now = now.as_ns();
        self.settle(now);
        assert!(self.commands.len() < self.depth, "more commands than the depth");
        debug_assert!(self.next_event >= now, "what was due has not been collected");
        let ready = now + self.timing.command_overhead_ns;
        let mut command = Command::new(io, ready);
        command.state = match self.arrival(io, &mut command, now) {
            // Nothing to choose from: the common case on a disk without command queueing.
            State::WantsMedium(access, _) if self.idle(now) => {
                State::Completes(self.serve(&command, access, now), true)
            }
            state => state,
        };
        self.commands.push(command);
        self.dispatch(now);
        self.plan_event();
    }

    fn next_event(&self) -> Option<Instant> {
        (self.next_event != NEVER).then(|| Instant::from_ns(self.next_event))
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while self.next_event <= now.as_ns() && self.next_event != NEVER {
            let at = self.next_event;
            self.settle(at);
            if self.arm == Arm::Destages(at) {
                self.finish_destage(at);
            }
            self.complete(at, done);
            self.dispatch(at);
            self.plan_event();
        }
    }

    fn work(&self, group: GroupId) -> Span {
        self.work.of(group)
    }
}
