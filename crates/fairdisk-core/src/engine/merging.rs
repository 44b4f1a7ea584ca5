//! Merging: a bio joins a queued request that it adjoins, and two requests that have come to adjoin
//! become one.

use super::Engine;
use super::bios::BioIndex;
use super::effects::Effects;
use crate::elevator::{Elevator, Merge};
use crate::journal::Record;
use crate::request::{Bio, Flags, Op, Request, RequestId};
use crate::why::Why;

impl<E: Elevator> Engine<E> {
    pub(super) const fn merge_allowed(&self, bio: &Bio) -> bool {
        self.config.merge_sectors_max > 0
            && matches!(bio.op, Op::Read | Op::Write)
            && !bio.flags.contains(Flags::FUA)
    }

    /// Merges the bio into an adjoining queued request, if there is one. Returns whether it did.
    #[inline(always)]
    pub(super) fn merge_bio(&mut self, index: BioIndex, bio: &Bio, out: &mut Effects) -> bool {
        self.merge_allowed(bio)
            && !self.merge.has_nothing_near(bio.start, bio.end())
            && self.merge_nearby(index, bio, out)
    }

    #[inline(never)]
    fn merge_nearby(&mut self, index: BioIndex, bio: &Bio, out: &mut Effects) -> bool {
        let any = |_| true;
        let back = self.merge.ending_at(bio.op, bio.start, any);
        let touches = back.is_some() || self.merge.starting_at(bio.op, bio.end(), any).is_some();
        touches && self.join(index, bio, back, out)
    }

    /// Prefers the request touched last, whether the bio adjoins its start or its end, then a
    /// request that ends at the bio's start (spec: cfq, section 1.3).
    fn join(
        &mut self,
        index: BioIndex,
        bio: &Bio,
        back: Option<RequestId>,
        out: &mut Effects,
    ) -> bool {
        let fits = |id| self.segments_fit(id, index) && self.may_join(id, bio);
        let back = back.filter(|id| fits(*id));
        let front = self.merge.starting_at(bio.op, bio.end(), fits);
        match (back, front) {
            (Some(id), front) if front != Some(self.merge.latest()) => {
                self.grow_back(id, index, bio, out);
            }
            (_, Some(id)) => self.grow_front(id, index, bio, out),
            (_, None) => {
                if self.segments.is_some() {
                    self.log_unjoined(index, bio);
                }
                return false;
            }
        }
        true
    }

    fn grow_back(&mut self, id: RequestId, index: BioIndex, bio: &Bio, out: &mut Effects) {
        self.grow(id, index, bio, Merge::Back);
        let end = self.requests[id].end();
        let fits = |next| self.can_absorb(id, next);
        if let Some(next) = self.merge.starting_at(bio.op, end, fits) {
            self.absorb(id, next, out);
        }
    }

    fn grow_front(&mut self, id: RequestId, index: BioIndex, bio: &Bio, out: &mut Effects) {
        self.grow(id, index, bio, Merge::Front);
        if let Some(older) = self.elevator.displaced(self.now, id) {
            self.hand_over(older, Why::Displaced);
        }
        let start = self.requests[id].start;
        let fits = |previous| self.can_absorb(previous, id);
        if let Some(previous) = self.merge.ending_at(bio.op, start, fits) {
            self.absorb(previous, id, out);
        }
    }

    /// Whether the bio may join the request, whatever their segments.
    pub(super) fn may_join(&self, id: RequestId, bio: &Bio) -> bool {
        let request = &self.requests[id];
        request.sectors.0.saturating_add(bio.sectors.0) <= self.config.merge_sectors_max
            && self.elevator.may_merge(request, bio)
    }

    fn grow(&mut self, id: RequestId, index: BioIndex, bio: &Bio, how: Merge) {
        self.log(Record::Merged(bio.id, id));
        self.disk.merged(bio.op);
        self.merge.remove(id);
        self.requests.append(&mut self.bios, id, index);
        if let Some(table) = &mut self.segments {
            table.grown(id, index, how);
        }
        let request = self.requests.request_mut(id);
        if how == Merge::Front {
            request.start = bio.start;
        }
        request.sectors.0 += bio.sectors.0;
        let request = *request;
        self.merge.insert(&request);
        self.elevator.merged(self.now, &request, how);
        self.tell_if_awaited(index);
    }

    /// Whether `id` may absorb `next`, the request right behind it.
    fn can_absorb(&self, id: RequestId, next: RequestId) -> bool {
        // After a front merge the first bio is the oldest one, not the one with the lowest
        // position.
        let first = self.requests.first_bio(next);
        let Request { start, sectors, sync, .. } = self.requests[next];
        let whole = Bio { start, sectors, sync, ..*self.bios.bio(first) };
        id != next
            && self.may_join(id, &whole)
            && self.segments.as_ref().is_none_or(|table| table.fits_together(id, next))
            && self.elevator.may_absorb(&self.requests[id], &self.requests[next])
    }

    fn absorb(&mut self, id: RequestId, next: RequestId, out: &mut Effects) {
        let (joined, slot) = (self.requests[next], self.requests.pool_slot(next));
        self.log(Record::Absorbed(id, next));
        self.disk.merged(joined.op);
        self.disk.left(joined.arrived.max(self.requests[id].arrived), self.now);
        self.elevator.withdraw(self.now, next);
        self.merge.remove(next);
        self.merge.remove(id);
        let first = self.requests.first_bio(next);
        self.requests.join(&mut self.bios, id, next);
        if let Some(table) = &mut self.segments {
            table.absorbed(id, next);
        }
        let request = self.requests.request_mut(id);
        request.sectors.0 += joined.sectors.0;
        request.arrived = request.arrived.min(joined.arrived);
        let request = *request;
        self.merge.insert(&request);
        let how = Merge::Absorbed { absorbed: next, arrived: joined.arrived };
        self.elevator.merged(self.now, &request, how);
        self.tell_awaited_from(first);
        self.give_slot_back(slot, out);
    }
}
