//! What is submitted as asynchronous, and then somebody waits for it.

use super::Engine;
use super::bios::BioIndex;
use crate::elevator::{Admission, Elevator};
use crate::journal::Record;
use crate::request::{BioId, RequestId};
use crate::why::Why;
use alloc::vec::Vec;

impl<E: Elevator> Engine<E> {
    /// Makes the bios synchronous that are not on their way to the device, in one pass over all.
    /// `ids` are in order.
    ///
    /// A hurried request keeps its slot among the asynchronous ones, and a bio that sleeps for such
    /// a slot is woken before others: so however much is hurried, it takes no slot from what is
    /// submitted as synchronous. To the elevator its request leaves and comes again.
    #[inline(never)]
    pub(super) fn hurry(&mut self, ids: &[BioId]) {
        debug_assert!(ids.is_sorted(), "they are found by halves");
        let is_meant = |index: &BioIndex| {
            let bio = self.bios.bio(*index);
            !bio.sync && !self.bios.is_hurried(*index) && ids.binary_search(&bio.id).is_ok()
        };
        let meant: Vec<BioIndex> = self.bios.all().filter(is_meant).collect();
        let mut sleeps = false;
        for index in meant {
            self.log(Record::Hurried(self.bios.bio(index).id));
            if self.bios.is_held(index) {
                // It comes as a synchronous one.
                self.bios.make_sync(index);
                continue;
            }
            self.bios.hurry(index);
            match self.bios.request_of(index) {
                Some(id) => self.hurry_request(id),
                None => sleeps = true,
            }
        }
        if sleeps {
            self.pools.put_first(|sleeper| self.bios.is_hurried(sleeper));
        }
    }

    fn hurry_request(&mut self, id: RequestId) {
        if !self.requests.is_queued(id) || self.requests[id].sync {
            return;
        }
        self.elevator.withdraw(self.now, id);
        self.requests.hurry(id);
        if let Admission::Displaces(older) = self.elevator.admit(self.now, &self.requests[id]) {
            self.hand_over(older, Why::Displaced);
        }
        self.tell_awaited_from(self.requests.first_bio(id));
    }
}
