//! A machine whose figures can be read while a shell drives it.

use fairdisk_core::{Instant, Request, RequestId, Span};
use fairdisk_lab::run::{RunResult, collect};
use fairdisk_plane::Load;
use fairdisk_sched::Scheduler;
use fairdisk_sim::Machine;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// A shared handle on a machine. As in the lab, its figures cover the measured time, from the end
/// of the ramp until the shell stopped it; requests that drain after that still count as in flight.
#[derive(Clone, Debug)]
pub(crate) struct Watched(Rc<RefCell<Inner>>);

#[derive(Debug)]
struct Inner {
    machine: Machine<Scheduler>,
    named: Vec<Range<usize>>,
    /// The index of the root group among the groups of the load, if the load has tasks in it.
    root: Option<usize>,
    began: Instant,
    in_ramp: bool,
    at_stop: Option<RunResult>,
    /// Bios that failed after the stop.
    failed: u64,
}

impl Inner {
    fn end_ramp(&mut self, now: Instant) {
        if self.in_ramp && now >= self.began {
            self.in_ramp = false;
            self.machine.restart_tallies(now);
        }
    }

    fn result(&self, until: Instant) -> RunResult {
        collect(&self.machine, &self.named, self.root, self.began.min(until), until)
    }
}

impl Watched {
    /// Watches `machine`, and discards what it measures during the first `ramp`.
    pub(crate) fn new(
        machine: Machine<Scheduler>,
        named: Vec<Range<usize>>,
        root: Option<usize>,
        ramp: Span,
    ) -> Self {
        let began = Instant::ZERO + ramp;
        let in_ramp = ramp > Span::ZERO;
        Self(Rc::new(RefCell::new(Inner {
            machine,
            named,
            root,
            began,
            in_ramp,
            at_stop: None,
            failed: 0,
        })))
    }

    /// The number of I/Os so far, for each group of the load.
    pub(crate) fn ios(&self) -> Vec<u64> {
        let inner = self.0.borrow();
        let groups = inner.machine.groups();
        let of = |at: usize| if inner.root == Some(at) { 0 } else { at + 1 };
        (0..groups.len() - 1).map(|at| groups[of(at)].ios()).collect()
    }

    /// The result of the run; one that was not stopped ended by itself at `until`. Errors are
    /// counted to the very end, because the shell stops the machine before it reports the first of
    /// them.
    pub(crate) fn result(&self, until: Instant) -> RunResult {
        let inner = self.0.borrow();
        let at_end = inner.result(until);
        let Some(mut result) = inner.at_stop.clone() else { return at_end };
        for (group, at_end) in result.groups.iter_mut().zip(&at_end.groups) {
            group.errors = at_end.errors;
        }
        // Bios that the system, such as a journal, submitted after the stop may have failed, too.
        let failed = inner.failed.min(result.in_flight);
        result.in_flight -= failed;
        result.completed += failed;
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
        Load::advance(&mut inner.machine, now, issue);
    }

    fn completed(&mut self, now: Instant, id: RequestId, ok: bool, issue: &mut Vec<Request>) {
        let mut inner = self.0.borrow_mut();
        inner.end_ramp(now);
        let before = inner.machine.engine(0).accounts().completed;
        Load::completed(&mut inner.machine, now, id, ok, issue);
        if !ok && inner.at_stop.is_some() {
            inner.failed += inner.machine.engine(0).accounts().completed - before;
        }
    }

    fn is_done(&self) -> bool {
        self.0.borrow().machine.is_done()
    }

    fn stop(&mut self, now: Instant) {
        let mut inner = self.0.borrow_mut();
        // The run was stopped during the ramp, so nothing was measured.
        if std::mem::take(&mut inner.in_ramp) {
            inner.machine.restart_tallies(now);
        }
        inner.at_stop = Some(inner.result(now));
        inner.machine.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection;
    use fairdisk_lab::plan::Options;

    /// An interrupt during the ramp, before anything is measured.
    #[test]
    fn what_was_done_in_the_ramp_is_not_measured() {
        let plan = selection::load("two-groups", &Options::default()).expect("it is built in");
        let setup = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect("it fits");
        let mut watched = Watched::new(setup.machine, setup.named, setup.root, Span::from_s(20));
        let (mut issue, mut now) = (Vec::new(), Instant::ZERO);
        while watched.ios().iter().sum::<u64>() == 0 {
            now = watched.next_event().map_or(now, |next| next.max(now));
            watched.advance(now, &mut issue);
            for request in std::mem::take(&mut issue) {
                now += Span::from_ms(1);
                watched.completed(now, request.id, true, &mut issue);
            }
        }
        watched.stop(now);
        let result = watched.result(now);
        assert_eq!(result.elapsed, Span::ZERO);
        assert_eq!(result.groups.iter().map(|group| group.ios).sum::<u64>(), 0);
    }

    /// The only request of one task fails at the disk, which ends the run.
    #[test]
    fn what_failed_came_back() {
        let plan = selection::load("two-groups", &Options::default()).expect("it is built in");
        let setup = plan.setup(&plan.arms[0], &plan.rows[0], 0).expect("it fits");
        let mut watched = Watched::new(setup.machine, setup.named, setup.root, Span::ZERO);
        let (mut issue, mut now) = (Vec::new(), Instant::ZERO);
        while issue.is_empty() {
            now = watched.next_event().expect("tasks start");
            watched.advance(now, &mut issue);
        }
        watched.stop(now);
        watched.completed(now, issue[0].id, false, &mut Vec::new());
        let result = watched.result(now);
        let errors: u64 = result.groups.iter().map(|group| group.errors).sum();
        assert_eq!((errors, result.completed), (1, 1));
        assert_eq!(result.submitted, result.completed + result.in_flight);
        assert_eq!(result.groups.iter().map(|group| group.ios).sum::<u64>(), 0);
    }
}
