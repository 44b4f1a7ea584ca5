//! What the disk did: when it had requests, and what came of them.

use super::Engine;
use crate::diskstats::DiskStats;
use crate::elevator::Elevator;
use crate::time::Instant;

impl<E: Elevator> Engine<E> {
    /// What the disk did, as of `now`. Visits every request, so it is meant for occasional use.
    #[must_use]
    pub fn disk_stats_at(&self, now: Instant) -> DiskStats {
        self.disk.at(now, self.requests.present())
    }

    /// Notes that a request has come.
    #[inline(always)]
    pub(super) fn note_arrival(&mut self) {
        if self.requests.count() == 1 {
            self.disk.busy(self.now);
        }
    }

    /// Notes that a request has left.
    #[inline(always)]
    pub(super) fn note_departure(&mut self) {
        if self.requests.count() == 0 {
            self.disk.idle(self.now);
        }
    }
}
