//! What is submitted as asynchronous, and then somebody waits for it.

use super::Engine;
use super::effects::Effects;
use super::pool::Slot;
use crate::elevator::{Admission, Elevator};
use crate::journal::Record;
use crate::request::BioId;
use crate::why::Why;

impl<E: Elevator> Engine<E> {
    /// Makes the bio synchronous, with the others of its request, unless it is on its way to the
    /// device. To the elevator its request leaves and comes again.
    #[inline(never)]
    pub(super) fn hurry(&mut self, id: BioId, out: &mut Effects) {
        let Some(index) = self.bios.find(id) else { return };
        let before = *self.bios.bio(index);
        if before.sync {
            return;
        }
        self.log(Record::Hurried(id));
        let bio = self.bios.make_sync(index);
        if self.bios.is_held(index) {
            // It comes as a synchronous one.
        } else if self.pools.forget_sleeper(&before, index) {
            self.place(index, &bio, out);
        } else if let Some(id) =
            self.bios.request_of(index).filter(|id| self.requests.is_queued(*id))
        {
            let before = Slot::from(&self.requests[id]);
            self.elevator.withdraw(self.now, id);
            self.requests.request_mut(id).sync = true;
            self.pools.add((&self.requests[id]).into());
            self.give_slot_back(before, out);
            if let Admission::Displaces(older) = self.elevator.admit(self.now, &self.requests[id]) {
                self.hand_over(older, Why::Displaced);
            }
            self.tell_awaited_from(self.requests.first_bio(id));
        }
    }
}
