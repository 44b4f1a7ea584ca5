//! A solid-state disk: a controller with a limited rate of commands, a bus, a write buffer, and
//! flash units that work in parallel.
//!
//! A read waits for the units that hold its pages and then for the bus. A write completes when its
//! data is in the buffer. The units program buffered data when they have nothing to read, a page at
//! a time on whichever unit is free. Data that does not fill a page stays in the buffer until more
//! comes, a flush or a write with FUA waits for it, or the buffer is full: a page is programmed
//! once, and as a whole (US patent 10,013,177, 2018, describes such a buffer). A program or
//! collection that has begun is not interrupted: reads that arrive at such a unit wait for its end,
//! which causes the tail of their latencies.
//!
//! Simplifications: the location of data in flash follows its address, a page is always read whole,
//! reads are not served from the write buffer, and nothing is read ahead, so a sequential stream
//! needs several outstanding reads to reach the rate of the bus.

mod spec;
mod units;

pub use spec::{CollectionParams, SsdParams, SsdSpec};

use super::rate::Rate;
use super::work::Ledger;
use super::{Device, DeviceIo, Done};
use crate::events::Events;
use fairdisk_core::GroupId;
use fairdisk_core::request::Op;
use fairdisk_core::time::{Instant, Span};
use std::collections::VecDeque;
use units::{Begun, Units, Work};

/// An outstanding command.
#[derive(Clone, Copy, Debug)]
struct Command {
    io: DeviceIo,
    /// Units that still have pages to read for this command.
    units: u32,
    /// For a flush: the number of bytes that must have been programmed before it completes.
    barrier: u64,
}

/// An event that is scheduled to happen by itself.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The controller has processed the command in this slot.
    Taken(u32),
    /// The data of the command in this slot has passed the bus.
    Transferred(u32),
    /// This unit has finished its work.
    Worked(u32),
}

/// A solid-state disk: a controller, a bus, a write buffer, and flash units that work in parallel
/// and are not interrupted by reads.
#[derive(Clone, Debug)]
pub struct Ssd {
    capacity_sectors: u64,
    command_ns: u64,
    controller_ns: u64,
    bus: Rate,
    buffer_bytes: u64,
    flush_drains: bool,
    /// Indexed by slot.
    commands: Vec<Option<Command>>,
    free: Vec<u32>,
    units: Units,
    /// When the controller can take the next command, and when the bus is free.
    controller_free: u64,
    bus_free: u64,
    /// Bytes accepted into the buffer and bytes programmed, since the start of the run.
    accepted: u64,
    programmed: u64,
    /// Writes that wait for room in the buffer, and flushes that wait for data to be programmed.
    for_room: VecDeque<u32>,
    for_barrier: VecDeque<u32>,
    events: Events<Event>,
    begun: Vec<Begun>,
    work: Ledger,
}

impl Ssd {
    /// An idle disk with fresh cells.
    #[must_use]
    pub fn new(spec: &SsdSpec) -> Self {
        let params = spec.params();
        Self {
            capacity_sectors: params.capacity_sectors,
            command_ns: Span::from_us(params.command_us.into()).as_ns(),
            controller_ns: 1_000_000_000 / u64::from(params.commands_per_s),
            bus: Rate::from_mb_per_s(params.bus_mb_per_s),
            buffer_bytes: u64::from(params.write_buffer_kib) << 10,
            flush_drains: params.flush_drains,
            commands: vec![None; params.depth as usize],
            free: (0..params.depth).rev().collect(),
            units: Units::new(params),
            controller_free: 0,
            bus_free: 0,
            accepted: 0,
            programmed: 0,
            for_room: VecDeque::with_capacity(params.depth as usize),
            for_barrier: VecDeque::with_capacity(params.depth as usize),
            events: Events::new(),
            begun: Vec::new(),
            work: Ledger::default(),
        }
    }

    fn plan(&mut self, at: u64, event: Event) {
        self.events.push(Instant::from_ns(at), event);
    }

    fn plan_begun(&mut self, at: u64) {
        while let Some(Begun { unit, takes_ns }) = self.begun.pop() {
            self.plan(at + takes_ns, Event::Worked(unit));
        }
    }

    fn command(&mut self, slot: u32) -> &mut Command {
        self.commands[slot as usize].as_mut().expect("events name commands that are there")
    }

    fn complete(&mut self, slot: u32, done: &mut Vec<Done>) {
        let io = self.command(slot).io;
        self.commands[slot as usize] = None;
        self.free.push(slot);
        done.push(Done { id: io.id, ok: io.fits(self.capacity_sectors) });
    }

    /// Charges a command for its use of the disk: of controller, bus and units together, the share
    /// of the one it uses longest, since that is what other commands would wait for.
    fn settle(&mut self, io: &DeviceIo) {
        let bytes = io.sectors.bytes();
        let (bus, units) = match io.op {
            Op::Read => (self.bus.ns(bytes), self.units.reading_ns(io.start.0 * 512, bytes)),
            Op::Write => (self.bus.ns(bytes), self.units.programming_ns(bytes)),
            Op::Flush | Op::Discard | Op::WriteZeroes => (0, 0),
        };
        self.work.add(io.group, self.controller_ns.max(bus).max(units));
    }

    /// Sends the data of a command over the bus.
    fn transfer(&mut self, at: u64, slot: u32) {
        let bytes = self.command(slot).io.sectors.bytes();
        self.bus_free = self.bus_free.max(at) + self.bus.ns(bytes);
        self.plan(self.bus_free, Event::Transferred(slot));
    }

    fn taken(&mut self, at: u64, slot: u32, done: &mut Vec<Done>) {
        let io = self.command(slot).io;
        if !io.fits(self.capacity_sectors) {
            return self.complete(slot, done);
        }
        self.settle(&io);
        match io.op {
            Op::Read => {
                let (first, bytes) = (io.start.0 * 512, io.sectors.bytes());
                let units = self.units.read(slot, first, bytes, &mut self.begun);
                self.command(slot).units = units;
                self.plan_begun(at);
            }
            Op::Write => self.transfer(at, slot),
            Op::Flush => self.wait_for_flash(at, slot, done),
            // Only the mapping table changes.
            Op::Discard | Op::WriteZeroes => self.complete(slot, done),
        }
    }

    /// Completes the command once everything now in the buffer has been programmed.
    fn wait_for_flash(&mut self, at: u64, slot: u32, done: &mut Vec<Done>) {
        if !self.flush_drains || self.programmed == self.accepted {
            return self.complete(slot, done);
        }
        self.units.drain(&mut self.begun);
        self.plan_begun(at);
        self.command(slot).barrier = self.accepted;
        self.for_barrier.push_back(slot);
    }

    /// Accepts writes into the buffer in order of arrival, as far as there is room.
    fn accept(&mut self, at: u64, done: &mut Vec<Done>) {
        while let Some(slot) = self.for_room.front().copied() {
            let io = self.command(slot).io;
            let held = self.accepted - self.programmed;
            if held > 0 && held + io.sectors.bytes() > self.buffer_bytes {
                self.units.drain(&mut self.begun);
                return self.plan_begun(at);
            }
            self.for_room.pop_front();
            self.accepted += io.sectors.bytes();
            self.units.program(io.sectors.bytes(), &mut self.begun);
            self.plan_begun(at);
            if io.fua { self.wait_for_flash(at, slot, done) } else { self.complete(slot, done) }
        }
    }

    fn worked(&mut self, at: u64, unit: u32, done: &mut Vec<Done>) {
        let (work, next) = self.units.finish(unit);
        self.begun.extend(next);
        self.plan_begun(at);
        match work {
            Work::Read(slot) => {
                let command = self.command(slot);
                command.units -= 1;
                if command.units == 0 {
                    self.transfer(at, slot);
                }
            }
            Work::Program(bytes) => {
                self.programmed += bytes;
                self.accept(at, done);
                while let Some(slot) = self.for_barrier.front().copied()
                    && self.command(slot).barrier <= self.programmed
                {
                    self.for_barrier.pop_front();
                    self.complete(slot, done);
                }
            }
            Work::Collect => {}
        }
    }
}

impl Device for Ssd {
    fn depth(&self) -> u32 {
        self.commands.len() as u32
    }

    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn submit(&mut self, now: Instant, io: &DeviceIo) {
        let slot = self.free.pop().expect("more requests than the depth");
        self.commands[slot as usize] = Some(Command { io: *io, units: 0, barrier: 0 });
        let taken = self.controller_free.max(now.as_ns());
        self.controller_free = taken + self.controller_ns;
        self.plan(taken + self.command_ns, Event::Taken(slot));
    }

    fn next_event(&self) -> Option<Instant> {
        self.events.next_at()
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(at) = self.events.next_at().filter(|at| *at <= now)
            && let Some(event) = self.events.pop_due(at)
        {
            let at = at.as_ns();
            match event {
                Event::Taken(slot) => self.taken(at, slot, done),
                Event::Worked(unit) => self.worked(at, unit, done),
                Event::Transferred(slot) if self.command(slot).io.op == Op::Read => {
                    self.complete(slot, done);
                }
                Event::Transferred(slot) => {
                    self.for_room.push_back(slot);
                    self.accept(at, done);
                }
            }
        }
    }

    fn work(&self, group: GroupId) -> Span {
        self.work.of(group)
    }
}
