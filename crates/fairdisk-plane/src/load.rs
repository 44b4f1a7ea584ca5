//! The interface between the shell and what it drives: workload, host and scheduler.

use fairdisk_core::{Elevator, Instant, Request, RequestId};
use fairdisk_sim::Machine;

/// A state machine that issues requests. It does no I/O and has no clock: the shell reports events
/// with their times to it, and serves the requests that it appends to `issue`.
pub trait Load {
    /// When the load's next timer is due; `None` if it only waits for completions.
    fn next_event(&self) -> Option<Instant>;

    /// Runs the timers due at `now`, and appends requests for the device to `issue`.
    fn advance(&mut self, now: Instant, issue: &mut Vec<Request>);

    /// Reports that the device completed a request, and appends requests for the device to `issue`.
    fn completed(&mut self, now: Instant, id: RequestId, ok: bool, issue: &mut Vec<Request>);

    /// Whether the workload has ended and no request is in flight.
    fn is_done(&self) -> bool;

    /// Ends the workload: no new work begins, and what is in flight completes.
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

/// A machine with one disk.
impl<E: Elevator> Load for Machine<E> {
    fn next_event(&self) -> Option<Instant> {
        self.next_event()
    }

    fn advance(&mut self, now: Instant, issue: &mut Vec<Request>) {
        self.advance(now);
        self.take_issued(|issued| issue.push(issued.request));
    }

    fn completed(&mut self, now: Instant, id: RequestId, ok: bool, issue: &mut Vec<Request>) {
        self.completed(now, 0, id, ok);
        self.take_issued(|issued| issue.push(issued.request));
    }

    fn is_done(&self) -> bool {
        self.is_done()
    }

    fn stop(&mut self, _now: Instant) {
        self.stop();
    }
}
