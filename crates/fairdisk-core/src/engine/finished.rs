//! Completion: the bios of a completed request finish and its slot becomes free.

use super::Engine;
use super::bios::BioIndex;
use super::effects::{Effect, Effects, Sleeper};
use super::pool::Slot;
use super::requests::Completed;
use crate::elevator::{Completion, Elevator, Submitter};
use crate::journal::Record;
use crate::request::{Op, RequestId};

impl<E: Elevator> Engine<E> {
    pub(super) fn completed(&mut self, id: RequestId, ok: bool, out: &mut Effects) {
        self.log(Record::Completed(id, ok));
        let Completed { request, pool_slot, stamp, first, is_known } = self.requests.completed(id);
        let device_time = self.at_device.completed(self.now, stamp);
        self.disk.completed(self.now, &request);
        self.note_departure();
        let account = self.accounts.group_mut(request.group);
        account.device_requests += 1;
        account.device_time += device_time;
        match (is_known, request.op) {
            (_, Op::Flush) => {
                let by = Submitter { task: request.task, group: request.group };
                self.elevator.flushed(self.now, by, device_time, ok);
            }
            (true, _) => {
                let completion = Completion { request: id, device_time, ok };
                self.elevator.complete(self.now, &completion);
            }
            (false, _) => {}
        }
        let mut next = Some(first);
        while let Some(index) = next {
            next = self.bios.next_in_request(index);
            self.finish(index, ok, out);
        }
        self.give_slot_back(pool_slot, out);
    }

    #[inline]
    fn finish(&mut self, index: BioIndex, ok: bool, out: &mut Effects) {
        let (bio, submitted) = self.bios.submitted(index);
        self.journal.push(self.now, Record::Finished(bio.id, ok));
        self.accounts.completed += 1;
        self.accounts.group_mut(bio.group).finished(bio, self.now - submitted, ok);
        out.list.push(Effect::Finish { bio: bio.id, task: bio.task, ok });
        self.leave(index, out);
    }

    /// Forgets a bio that completed or was withdrawn, and releases the bios held behind it.
    #[inline(always)]
    pub(super) fn leave(&mut self, index: BioIndex, out: &mut Effects) {
        if self.config.keeps_order {
            self.order.remove(index, self.bios.bio(index));
        }
        if let Some(held) = self.bios.remove(index) {
            self.let_go(held, out);
        }
    }

    /// Releases a chain of held bios, starting with `first`.
    #[cold]
    fn let_go(&mut self, first: BioIndex, out: &mut Effects) {
        let mut held = Some(first);
        while let Some(next) = held {
            held = self.bios.unhold(next);
            let bio = *self.bios.bio(next);
            self.place_or_hold(next, &bio, out);
        }
    }

    #[inline(always)]
    pub(super) fn give_slot_back(&mut self, slot: Slot, out: &mut Effects) {
        if let Some(index) = self.pools.give_back(slot) {
            let bio = *self.bios.bio(index);
            self.log(Record::Woken(bio.id));
            out.list.push(Effect::Wake { sleeper: Sleeper(index.0), task: bio.task });
        }
    }
}
