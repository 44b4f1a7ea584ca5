//! What the shell drives: workload, host and scheduler behind one small seam.

use fairdisk_core::{Elevator, Instant, Request, RequestId};
use fairdisk_sim::Machine;

/// A state machine that wants requests served. It does no I/O and has no clock; the shell tells it
/// what happened and when, and carries out what it appends to `issue`.
pub trait Load {
    /// When it wants to be advanced by itself; `None` if it only waits for completions.
    fn next_event(&self) -> Option<Instant>;

    /// Its timers due at `now` go off. Requests for the device are appended to `issue`.
    fn advance(&mut self, now: Instant, issue: &mut Vec<Request>);

    /// The device finished a request. Requests for the device are appended to `issue`.
    fn completed(&mut self, now: Instant, id: RequestId, ok: bool, issue: &mut Vec<Request>);

    /// Whether the workload has finished and nothing is in flight.
    fn is_done(&self) -> bool;

    /// No new work from now on; what is in flight finishes.
    fn stop(&mut self, now: Instant);
}

impl<L: Load + ?Sized> Load for &mut L {
    fn next_event(&self) -> Option<Instant> {
        (**self).next_event()
    }

    fn advance(&mut self, now: Instant, issue: &mut Vec<Request>) {
        (**self).advance(now, issue);
    }

    fn completed(&mut self, now: Instant, id: RequestId, ok: bool, issue: &mut Vec<Request>) {
        (**self).completed(now, id, ok, issue);
    }

    fn is_done(&self) -> bool {
        (**self).is_done()
    }

    fn stop(&mut self, now: Instant) {
        (**self).stop(now);
    }
}

impl<E: Elevator> Load for Machine<E> {
    fn next_event(&self) -> Option<Instant> {
        self.next_event()
    }

    fn advance(&mut self, now: Instant, issue: &mut Vec<Request>) {
        self.advance(now, issue);
    }

    fn completed(&mut self, now: Instant, id: RequestId, ok: bool, issue: &mut Vec<Request>) {
        self.completed(now, id, ok, issue);
    }

    fn is_done(&self) -> bool {
        self.is_done()
    }

    fn stop(&mut self, _now: Instant) {
        self.stop();
    }
}
