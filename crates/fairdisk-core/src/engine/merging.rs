//! Merging: a bio joins a queued request it touches, and two requests that have come to touch
//! become one.

use super::Engine;
use super::bios::BioIndex;
use super::effects::Effects;
use crate::elevator::{Elevator, Merge};
use crate::journal::Record;
use crate::request::{Bio, Flags, Op, RequestId};

impl<E: Elevator> Engine<E> {
    pub(super) const fn merge_allowed(&self, bio: &Bio) -> bool {
        self.config.merge_sectors_max > 0
            && matches!(bio.op, Op::Read | Op::Write)
            && !bio.flags.contains(Flags::FUA)
    }

    /// Lets the bio join a queued request it touches, if there is one.
    #[inline(always)]
    pub(super) fn merge_bio(&mut self, index: BioIndex, bio: &Bio, out: &mut Effects) -> bool {
        if !self.merge_allowed(bio) {
            return false;
        }
        let back = self.merge.ending_at(bio.op, bio.start);
        let front = self.merge.starting_at(bio.op, bio.end());
        (back.is_some() || front.is_some()) && self.join(index, bio, back, front, out)
    }

    fn join(
        &mut self,
        index: BioIndex,
        bio: &Bio,
        back: Option<RequestId>,
        front: Option<RequestId>,
        out: &mut Effects,
    ) -> bool {
        if let Some(id) = back.filter(|id| self.can_merge(*id, bio)) {
            self.grow(id, index, bio, Merge::Back);
            let end = self.requests[id].end();
            if let Some(next) = self.merge.starting_at(bio.op, end) {
                self.absorb(id, next, out);
            }
            return true;
        }
        if let Some(id) = front.filter(|id| self.can_merge(*id, bio)) {
            self.grow(id, index, bio, Merge::Front);
            let start = self.requests[id].start;
            if let Some(previous) = self.merge.ending_at(bio.op, start) {
                self.absorb(previous, id, out);
            }
            return true;
        }
        false
    }

    fn can_merge(&self, id: RequestId, bio: &Bio) -> bool {
        let request = &self.requests[id];
        request.sectors.0.saturating_add(bio.sectors.0) <= self.config.merge_sectors_max
            && self.elevator.may_merge(request, bio)
    }

    fn grow(&mut self, id: RequestId, index: BioIndex, bio: &Bio, how: Merge) {
        self.log(Record::Merged(bio.id, id));
        self.merge.remove(id);
        self.requests.append(&mut self.bios, id, index);
        let request = self.requests.request_mut(id);
        if how == Merge::Front {
            request.start = bio.start;
        }
        request.sectors.0 += bio.sectors.0;
        let request = *request;
        self.merge.insert(&request);
        self.elevator.merged(self.now, &request, how);
    }

    /// Lets `id` take over the request `next` right behind it, if that is allowed.
    fn absorb(&mut self, id: RequestId, next: RequestId, out: &mut Effects) {
        let first = self.requests.first_bio(next);
        let joined = self.requests[next];
        // The first bio is the oldest, not the lowest, after a front merge.
        let (start, sectors) = (joined.start, joined.sectors);
        let whole = Bio { start, sectors, ..*self.bios.bio(first) };
        if id == next || !self.can_merge(id, &whole) {
            return;
        }
        self.log(Record::Absorbed(id, next));
        self.elevator.withdraw(self.now, next);
        self.merge.remove(next);
        self.merge.remove(id);
        self.requests.join(&mut self.bios, id, next);
        let request = self.requests.request_mut(id);
        request.sectors.0 += joined.sectors.0;
        request.arrived = request.arrived.min(joined.arrived);
        let request = *request;
        self.merge.insert(&request);
        let how = Merge::Absorbed { absorbed: next, arrived: joined.arrived };
        self.elevator.merged(self.now, &request, how);
        self.give_slot_back((&joined).into(), out);
    }
}
