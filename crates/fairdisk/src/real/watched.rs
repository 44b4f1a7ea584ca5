//! A machine that can be looked at while a shell drives it.

use fairdisk_core::{Instant, Request, RequestId, Span};
use fairdisk_lab::run::{RunResult, collect};
use fairdisk_plane::Load;
use fairdisk_sched::Scheduler;
use fairdisk_sim::Machine;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// A handle on a machine. Its figures are those of the measured time: from the end of the ramp
/// until the shell stopped it, as in the lab, so what drains afterwards is still in flight.
#[derive(Clone, Debug)]
pub(crate) struct Watched(Rc<RefCell<Inner>>);

#[derive(Debug)]
struct Inner {
    machine: Machine<Scheduler>,
    named: Vec<Range<usize>>,
    began: Instant,
    in_ramp: bool,
    at_stop: Option<RunResult>,
}

impl Inner {
    fn end_ramp(&mut self, now: Instant) {
        if self.in_ramp && now >= self.began {
            self.in_ramp = false;
            self.machine.restart_tallies();
        }
    }

    fn result(&self, until: Instant) -> RunResult {
        collect(&self.machine, &self.named, self.began.min(until), until)
    }
}

impl Watched {
    /// Watches `machine`, whose first `ramp` does not count.
    pub(crate) fn new(machine: Machine<Scheduler>, named: Vec<Range<usize>>, ramp: Span) -> Self {
        let began = Instant::ZERO + ramp;
        let in_ramp = ramp > Span::ZERO;
        Self(Rc::new(RefCell::new(Inner { machine, named, began, in_ramp, at_stop: None })))
    }

    /// I/Os so far, of every group but the root group.
    pub(crate) fn ios(&self) -> Vec<u64> {
        let inner = self.0.borrow();
        inner.machine.groups().iter().skip(1).map(|tally| tally.ios()).collect()
    }

    /// What came of it, if it ended by itself at `until`. I/Os that failed are counted to the very
    /// end: the shell stops the machine before it hears of the first of them.
    pub(crate) fn result(&self, until: Instant) -> RunResult {
        let inner = self.0.borrow();
        let at_end = inner.result(until);
        let Some(mut result) = inner.at_stop.clone() else { return at_end };
        for (group, at_end) in result.groups.iter_mut().zip(&at_end.groups) {
            group.errors = at_end.errors;
        }
        result
    }
}

impl Load for Watched {
    fn next_event(&self) -> Option<Instant> {
        self.0.borrow().machine.next_event()
    }

    fn advance(&mut self, now: Instant, issue: &mut Vec<Request>) {
        let mut inner = self.0.borrow_mut();
        inner.end_ramp(now);
        inner.machine.advance(now, issue);
    }

    fn completed(&mut self, now: Instant, id: RequestId, ok: bool, issue: &mut Vec<Request>) {
        let mut inner = self.0.borrow_mut();
        inner.end_ramp(now);
        inner.machine.completed(now, id, ok, issue);
    }

    fn is_done(&self) -> bool {
        self.0.borrow().machine.is_done()
    }

    fn stop(&mut self, now: Instant) {
        let mut inner = self.0.borrow_mut();
        inner.at_stop = Some(inner.result(now));
        inner.machine.stop();
    }
}
