//! A rotating disk: command overhead, seek, rotation by exact angle, zones, a read buffer that
//! reads ahead, a write-back cache and optional command queueing.
//!
//! Three things go on at once, as in the real thing: the controller takes commands and moves data
//! over the bus, the cache accepts writes while there is room, and the one arm serves whatever
//! needs the medium. The arm's work is never interrupted (only reading ahead is), so the end of
//! each access is known when it begins. That makes one event of an ordinary request.

mod buffer;
mod cache;
mod command;
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

use super::{Device, DeviceIo, Done};
use buffer::{Found, ReadBuffer};
use cache::{Barrier, Dirty, WriteCache};
use command::{Command, State};
use fairdisk_core::request::Op;
use fairdisk_core::time::Instant;
use geometry::Extent;
use mechanism::{Access, Mechanism};
use timing::Timing;

/// Nothing is going to happen.
const NEVER: u64 = u64::MAX;

/// What the arm does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arm {
    /// Nothing, or it reads ahead.
    Free,
    /// Serves a command until this time.
    Serves(u64),
    /// Takes a write from the cache to the medium until this time.
    Destages(u64),
}

/// What the arm could do next.
enum Work {
    Command(usize),
    Destage(usize),
}

/// How a read would go if the arm took it up now.
struct Plan {
    found: Found,
    /// Where the head is now.
    head: u64,
    begin: u64,
    end: u64,
}

/// A rotating disk.
#[derive(Clone, Debug)]
pub struct Hdd {
    capacity_sectors: u64,
    depth: usize,
    order: Order,
    timing: Timing,
    mechanism: Mechanism,
    buffer: ReadBuffer,
    cache: WriteCache,
    /// Oldest first.
    commands: Vec<Command>,
    arm: Arm,
    next_event: u64,
}

impl Hdd {
    /// A quiet disk with its head over the first track, the platters `phase_ns` further on than
    /// the description says.
    #[must_use]
    pub fn new(spec: &HddSpec, phase_ns: u64) -> Self {
        let params = spec.params();
        Self {
            capacity_sectors: params.capacity_sectors,
            depth: params.queue.depth as usize,
            order: params.queue.order,
            timing: Timing::new(params),
            mechanism: Mechanism::new(params, phase_ns),
            buffer: ReadBuffer::new(params.read_ahead),
            cache: WriteCache::new(params.write_cache),
            commands: Vec::with_capacity(params.queue.depth as usize),
            arm: Arm::Free,
            next_event: NEVER,
        }
    }

    /// What becomes of a command when it arrives. Fills in its extent.
    fn arrival(&mut self, io: &DeviceIo, command: &mut Command, now: u64) -> State {
        if !io.fits(self.capacity_sectors) {
            return State::Completes(command.ready, false);
        }
        if io.op == Op::Flush {
            return self.flush_arrival(command);
        }
        if io.op == Op::Discard || io.sectors.0 == 0 {
            return State::Completes(command.ready, true);
        }
        command.extent = self.mechanism.extent(command.start, io.sectors.0);
        match io.op {
            Op::Read => self.read_arrival(command, now),
            _ => self.write_arrival(command, io.fua),
        }
    }

    fn flush_arrival(&self, command: &Command) -> State {
        let barrier = self.cache.flush_barrier();
        if command.blocked(&self.cache, barrier) {
            State::WantsFlush(barrier)
        } else {
            State::Completes(command.ready, true)
        }
    }

    fn read_arrival(&mut self, command: &Command, now: u64) -> State {
        // With the arm free and nothing dirty, the buffer is looked at when the arm is given work.
        let look = self.busy(now) || self.cache.has_waiting();
        if (look && self.read_from_buffer(&command.extent, command.ready).is_none())
            || self.cache.holds(command.start, command.end)
        {
            return State::Completes(self.timing.transferred(command.ready, command.bytes()), true);
        }
        State::WantsMedium(Access::Read, self.cache.read_barrier())
    }

    fn write_arrival(&mut self, command: &Command, fua: bool) -> State {
        self.buffer.invalidate(&command.extent, self.mechanism.limit());
        if fua || !self.cache.enabled() {
            return State::WantsMedium(Access::Write, self.cache.write_barrier());
        }
        let done = self.timing.transferred(command.ready, command.bytes());
        let mechanism = &self.mechanism;
        let extent_of = |start, end| mechanism.extent(start, (end - start) as u32);
        if self.cache.join(command.start, command.end, done, extent_of) {
            return State::Completes(done, true);
        }
        self.accept(command, done).unwrap_or(State::WantsPlace)
    }

    /// Puts a write into the cache if there is room; its data is complete at `done`.
    fn accept(&mut self, command: &Command, done: u64) -> Option<State> {
        if !self.cache.has_room() {
            return None;
        }
        self.cache.insert(command.start, command.end, command.extent, done);
        Some(State::Completes(done, true))
    }

    /// Serves a read from the buffer if all of it is there at `at`; a stream that is being read
    /// ahead may then go on further. Otherwise answers how it would go on the medium.
    fn read_from_buffer(&mut self, extent: &Extent, at: u64) -> Option<Plan> {
        let plan = self.plan_read(extent, at);
        match plan.found {
            Found::Left(_, to) if extent.to <= to => None,
            // What the arm is fetching for a command is not there before the command's end.
            Found::Live if extent.to <= plan.head && !self.busy(at) => {
                self.mechanism.extend(self.buffer.limit(extent), at);
                self.buffer.consume(extent);
                None
            }
            _ => Some(plan),
        }
    }

    fn busy(&self, at: u64) -> bool {
        match self.arm {
            Arm::Free => false,
            Arm::Serves(until) => until > at,
            // Free only once the end was handled and its place in the cache given back.
            Arm::Destages(_) => true,
        }
    }

    /// Whether the arm is free and nobody waits for it.
    fn idle(&self, at: u64) -> bool {
        !self.busy(at) && !self.cache.has_waiting() && !self.commands.iter().any(Command::waits)
    }

    /// Gives the arm work if it is free and there is some.
    fn dispatch(&mut self, at: u64) {
        while !self.busy(at) {
            self.arm = Arm::Free;
            match self.choose(at) {
                Some(Work::Command(index)) => {
                    let command = self.commands[index];
                    self.commands[index].state = self.serve(&command, at);
                }
                Some(Work::Destage(index)) => self.destage(index, at),
                None => return,
            }
        }
    }

    /// The next piece of work. The oldest waiting command decides which side is served: one that
    /// waits for the cache must not be starved by reads, nor a read by the cache.
    fn choose(&self, at: u64) -> Option<Work> {
        let Some(oldest) = self.commands.iter().find(|command| command.waits()) else {
            return self.choose_destage(at, |_| true).map(Work::Destage);
        };
        let behind = match oldest.state {
            State::WantsMedium(_, barrier) => {
                oldest.blocked(&self.cache, barrier).then_some(barrier)
            }
            State::WantsFlush(barrier) => Some(barrier),
            State::WantsPlace | State::Completes(..) => Some(Barrier::EVERYTHING),
        };
        behind
            .and_then(|barrier| {
                self.choose_destage(at, |dirty| barrier.needs(oldest.start, oldest.end, dirty))
            })
            .map(Work::Destage)
            .or_else(|| self.choose_command(at).map(Work::Command))
    }

    fn choose_command(&self, at: u64) -> Option<usize> {
        let candidates = self.commands.iter().enumerate().filter_map(|(index, command)| {
            let State::WantsMedium(access, barrier) = command.state else { return None };
            (!command.blocked(&self.cache, barrier)).then_some((index, command, access))
        });
        if self.order == Order::Fifo || self.depth == 1 {
            return candidates.map(|(index, ..)| index).next();
        }
        candidates
            .min_by_key(|(_, command, access)| {
                let at = command.ready.max(at);
                self.preference(self.order, &command.extent, at, *access)
            })
            .map(|(index, ..)| index)
    }

    fn choose_destage(&self, at: u64, needed: impl Fn(&Dirty) -> bool) -> Option<usize> {
        let order = self.cache.order();
        let waiting = self.cache.waiting().iter().enumerate();
        waiting
            .filter(|(_, dirty)| dirty.ready <= at && needed(dirty))
            .min_by_key(|(_, dirty)| self.preference(order, &dirty.extent, at, Access::Write))
            .map(|(index, _)| index)
    }

    /// What comes first in `order` has the least key; equal keys leave the oldest first.
    fn preference(&self, order: Order, extent: &Extent, at: u64, access: Access) -> (bool, u64) {
        match (order, access) {
            (Order::Fifo, _) => (false, 0),
            (Order::Elevator, _) => (extent.from < self.mechanism.position(at), extent.from),
            (Order::Satf, Access::Read) => (false, self.plan_read(extent, at).begin),
            (Order::Satf, Access::Write) => {
                (false, self.mechanism.reach(extent.from, extent.first, at, access))
            }
        }
    }

    /// Begins what a command needs from the medium, and answers when it completes.
    fn serve(&mut self, command: &Command, at: u64) -> State {
        let at = command.ready.max(at);
        let State::WantsMedium(access, _) = command.state else {
            unreachable!("chosen because it wants the medium")
        };
        let done = match access {
            Access::Read => self.serve_read(command, at),
            Access::Write => self.serve_write(command, at),
        };
        State::Completes(done, true)
    }

    fn serve_read(&mut self, command: &Command, at: u64) -> u64 {
        let bytes = command.bytes();
        let Some(plan) = self.read_from_buffer(&command.extent, at) else {
            return self.timing.transferred(at, bytes);
        };
        let limit = self.buffer.fill(&command.extent, plan.found, plan.head);
        self.mechanism.finish(&command.extent, plan.end, limit);
        self.arm = Arm::Serves(plan.end);
        // Data passes the bus as it comes off the medium.
        self.timing.streamed(command.ready, bytes, plan.end)
    }

    fn serve_write(&mut self, command: &Command, at: u64) -> u64 {
        let bytes = command.bytes();
        // The arm sets off when the transfer begins; the data is there before the head is.
        let arrived = self.timing.transferred(command.ready, bytes);
        let set_off = self.timing.transferred(command.ready, 0).max(at);
        let end = self.write_medium(&command.extent, set_off).max(arrived);
        self.arm = Arm::Serves(end);
        end
    }

    fn destage(&mut self, index: usize, at: u64) {
        let dirty = self.cache.start_destage(index);
        self.arm = Arm::Destages(self.write_medium(&dirty.extent, at));
    }

    /// Writes to the medium and answers when that ends.
    fn write_medium(&mut self, extent: &Extent, at: u64) -> u64 {
        self.buffer.leave(self.mechanism.position(at));
        let begin = self.mechanism.reach(extent.from, extent.first, at, Access::Write);
        let end = begin + (extent.to - extent.from);
        self.mechanism.finish(extent, end, extent.to);
        end
    }

    /// How a read would go: on with a stream, or from where its segment ends, or from its first
    /// sector.
    #[inline]
    fn plan_read(&self, extent: &Extent, at: u64) -> Plan {
        let (head, limit) = (self.mechanism.position(at), self.mechanism.limit());
        let found = self.buffer.find(extent, limit);
        let from = match found {
            Found::Nowhere => extent.from,
            Found::Live if head < limit => {
                let passes = |groove: u64| self.mechanism.passes(groove.max(head)).max(at);
                return Plan { found, head, begin: passes(extent.from), end: passes(extent.to) };
            }
            Found::Live => head.clamp(extent.from, extent.to),
            Found::Left(_, to) => to.clamp(extent.from, extent.to),
        };
        let begin = if from == extent.from {
            self.mechanism.reach(from, extent.first, at, Access::Read)
        } else {
            self.mechanism.reach_groove(from, at)
        };
        Plan { found, head, begin, end: begin + (extent.to - from) }
    }

    /// A write has reached the medium: a place is free, and barriers may be passed.
    fn finish_destage(&mut self, at: u64) {
        self.cache.finish_destage();
        self.arm = Arm::Free;
        for index in 0..self.commands.len() {
            let command = self.commands[index];
            let ready = command.ready.max(at);
            match command.state {
                State::WantsFlush(barrier) if !command.blocked(&self.cache, barrier) => {
                    self.commands[index].state = State::Completes(ready, true);
                }
                State::WantsPlace => {
                    let done = self.timing.transferred(ready, command.bytes());
                    if let Some(state) = self.accept(&command, done) {
                        self.commands[index].state = state;
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes out what completes at `at`, oldest first.
    fn complete(&mut self, at: u64, done: &mut Vec<Done>) {
        self.commands.retain(|command| match command.state {
            State::Completes(due, ok) if due <= at => {
                done.push(Done { id: command.id, ok });
                false
            }
            _ => true,
        });
    }

    /// Works out when something happens next: a completion, or the end of the arm's work if
    /// somebody waits for it.
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
        assert!(self.commands.len() < self.depth, "more commands than the depth");
        debug_assert!(self.next_event >= now, "what was due has not been collected");
        let ready = now + self.timing.command_overhead_ns;
        let mut command = Command::new(io, ready);
        command.state = self.arrival(io, &mut command, now);
        if command.waits() && self.idle(now) {
            // Nothing to choose from: the common case without a queue.
            command.state = self.serve(&command, now);
        }
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
            if self.arm == Arm::Destages(at) {
                self.finish_destage(at);
            }
            self.complete(at, done);
            self.dispatch(at);
            self.plan_event();
        }
    }
}
