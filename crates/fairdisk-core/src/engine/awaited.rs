//! Telling the elevator which queued requests bios of other groups wait for.

use super::Engine;
use super::bios::BioIndex;
use crate::elevator::Elevator;
use crate::request::GroupId;

impl<E: Elevator> Engine<E> {
    /// Tells the elevator what a bio of the group `by` waits for, which is held behind `blocker`.
    pub(super) fn tell_waited_for(&mut self, blocker: BioIndex, by: GroupId) {
        self.tell_awaited(self.bios.root_of(blocker), by);
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
