//! The controller: whether an arriving command completes at once, is served from memory, or waits.

use super::Hdd;
use super::command::{Command, State};
use super::mechanism::Access;
use crate::device::DeviceIo;
use fairdisk_core::request::Op;

impl Hdd {
    /// The state of an arriving command. Fills in its extent.
    pub(super) fn arrival(&mut self, io: &DeviceIo, command: &mut Command, now: u64) -> State {
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
            _ => self.write_arrival(command, io.fua, now),
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
        // If the arm is free and nothing is dirty, the buffer is checked when the arm is given
        // work.
        let look = self.busy(now) || self.cache.has_waiting();
        if (look && self.read_from_buffer(&command.extent, command.ready).is_none())
            || self.cache.holds(command.start, command.end)
        {
            return State::Completes(self.timing.transferred(command.ready, command.bytes()), true);
        }
        State::WantsMedium(Access::Read, self.cache.read_barrier())
    }

    fn write_arrival(&mut self, command: &Command, fua: bool, now: u64) -> State {
        self.buffer.invalidate(&command.extent, self.mechanism.limit());
        if fua || !self.cache.enabled() {
            return State::WantsMedium(Access::Write, self.cache.write_barrier());
        }
        // A write must not overtake one that waits for a place: a stream needs no new place, and
        // would keep the cache full for ever.
        if self.commands.iter().any(|other| matches!(other.state, State::WantsPlace)) {
            return State::WantsPlace;
        }
        self.accept(command, now).unwrap_or(State::WantsPlace)
    }

    /// Puts a write whose data is transferred from `now` on into the cache, if there is room.
    pub(super) fn accept(&mut self, command: &Command, now: u64) -> Option<State> {
        let done = self.timing.transferred(command.ready.max(now), command.bytes());
        let mechanism = &self.mechanism;
        let extent_of = |start, end| mechanism.extent(start, (end - start) as u32);
        let taken = self.cache.take(command, now, done, extent_of);
        taken.then_some(State::Completes(done, true))
    }
}
