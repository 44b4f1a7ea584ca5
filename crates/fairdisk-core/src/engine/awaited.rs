//! Telling the elevator which queued requests bios of other groups wait for.
//!
//! A flush waits for all writes before it, in whatever order they are done, so it reports all that
//! are queued at once. Told only of the latest, which is what it is held behind, the elevator would
//! serve them in reverse, one at a time however many the device takes.

use super::Engine;
use super::bios::BioIndex;
use crate::elevator::Elevator;
use crate::request::{Bio, GroupId, Op};
use alloc::vec::Vec;

impl<E: Elevator> Engine<E> {
    /// Tells the elevator what the bio at `index` waits for, which is held behind `blocker`.
    pub(super) fn tell_waited_for(&mut self, index: BioIndex, bio: &Bio, blocker: BioIndex) {
        match bio.op {
            Op::Flush => self.tell_before_flush(index, bio.group),
            _ => self.tell_awaited(self.bios.root_of(blocker), bio.group),
        }
    }

    /// Tells the elevator of all queued writes before the flush at `index`, or of what those are
    /// held behind. One step for each write in flight. A write that gets its slot later is told
    /// when the one that the flush is held behind is done, or if it is that one.
    fn tell_before_flush(&mut self, index: BioIndex, by: GroupId) {
        let mut next = self.order.first_write();
        while let Some(write) = next.filter(|write| self.bios.is_earlier(*write, index)) {
            self.tell_awaited(self.bios.blocker_of(write).unwrap_or(write), by);
            next = self.order.next_write(write);
        }
    }

    /// Tells a new elevator what bios wait for, of the requests that were carried over. Visits all
    /// bios.
    pub(super) fn tell_held_flushes(&mut self) {
        let is_flush = |index: &BioIndex| self.bios.bio(*index).op == Op::Flush;
        let held = self.bios.all().filter(|index| self.bios.is_held(*index) && is_flush(index));
        let held: Vec<BioIndex> = held.collect();
        held.into_iter().for_each(|flush| {
            let by = self.bios.bio(flush).group;
            self.tell_before_flush(flush, by);
        });
    }

    /// Tells the elevator that the request which carries the bio at `index`, if it is queued, is
    /// waited for by another group.
    fn tell_awaited(&mut self, index: BioIndex, by: GroupId) {
        let id = self.bios.request_of(index).filter(|id| self.requests.is_queued(*id));
        if let Some(id) = id.filter(|id| self.requests[*id].group != by) {
            self.elevator.awaited(self.now, id, by);
        }
    }

    /// Tells the elevator who waits for the bio at `index`, which has come to be queued.
    #[inline]
    pub(super) fn tell_if_awaited(&mut self, index: BioIndex) {
        if self.bios.holds(index) {
            self.tell_waiting(index);
        }
    }

    /// Tells the elevator who waits for the bios of a request, from the one at `first` on.
    pub(super) fn tell_awaited_from(&mut self, first: BioIndex) {
        let mut next = Some(first);
        while let Some(index) = next {
            self.tell_if_awaited(index);
            next = self.bios.next_in_request(index);
        }
    }

    #[cold]
    fn tell_waiting(&mut self, index: BioIndex) {
        let own = self.bios.bio(index).group;
        let group_of = |held| self.bios.bio(held).group;
        let other = self.bios.held_behind(index).map(group_of).find(|by| *by != own);
        if let Some(by) = other {
            self.tell_awaited(index, by);
        }
    }
}
