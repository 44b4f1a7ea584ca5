//! The journeys of a run's requests, reconstructed from its journal as it grows.
//!
//! A task's request (a *bio* to the engine) is numbered by its place among all submissions, because
//! the engine reuses its ids.

use super::stall::Stall;
use fairdisk_core::{
    Bio, BioId, Entry, GroupId, Instant, Lba, Op, Record, RequestId, Sectors, Span, TaskId, Why,
};
use fairdisk_sim::machine::StallStep;
use std::collections::BTreeMap;

/// One request from its submission to its end.
#[derive(Clone, Debug)]
pub(super) struct Journey {
    /// The place of the request among all submissions, counted from 1.
    pub(super) number: u64,
    pub(super) task: TaskId,
    pub(super) group: GroupId,
    pub(super) op: Op,
    pub(super) start: Lba,
    pub(super) sectors: Sectors,
    pub(super) submitted: Instant,
    /// Its task's wait for memory before that, since the task's request before.
    pub(super) stall: Stall,
    pub(super) steps: Vec<(Instant, Step)>,
}

/// An event in the life of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The request was held back: an earlier request has to finish first.
    Held,
    /// There was no free request slot, and the task went to sleep.
    Slept,
    /// The task was told that a request slot is free.
    Woken,
    /// A queued request next to it takes no more segments.
    TooManySegments,
    /// The request was merged into a queued request.
    Merged,
    /// The request was queued with the scheduler.
    Queued,
    /// The scheduler chose the request, for this reason.
    Dispatched(Why),
    /// The request was sent to the disk.
    Issued,
    /// The disk completed the request, successfully if true.
    Completed(bool),
    /// The task was told that the request is complete, successfully if true.
    Finished(bool),
    /// The request was withdrawn.
    Cancelled,
}

impl Journey {
    fn at(&self, wanted: impl Fn(Step) -> bool) -> Option<Instant> {
        self.steps.iter().rev().find(|(_, step)| wanted(*step)).map(|(at, _)| *at)
    }

    /// When the request was sent to the disk.
    pub(super) fn issued(&self) -> Option<Instant> {
        self.at(|step| step == Step::Issued)
    }

    /// When the task was told that the request is complete.
    pub(super) fn finished(&self) -> Option<Instant> {
        self.at(|step| matches!(step, Step::Finished(_)))
    }

    /// The time from submission until the request was sent to the disk.
    pub(super) fn wait(&self) -> Option<Span> {
        self.issued().map(|issued| issued - self.submitted)
    }

    /// The time from submission until the task was told.
    pub(super) fn total(&self) -> Option<Span> {
        self.finished().map(|finished| finished - self.submitted)
    }
}

/// The requests of a run that are under way at the current position in its journal.
#[derive(Debug, Default)]
pub(super) struct Journeys {
    submitted: u64,
    under_way: BTreeMap<BioId, Journey>,
    /// The bios that each request slot carries.
    carried: BTreeMap<RequestId, Vec<BioId>>,
    /// What has become of tasks that wait for memory, and have submitted nothing since.
    stalls: BTreeMap<TaskId, Stall>,
}

impl Journeys {
    /// The number of requests submitted so far.
    pub(super) const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// The request under way that has this engine id.
    pub(super) fn get(&self, bio: BioId) -> Option<&Journey> {
        self.under_way.get(&bio)
    }

    /// Notes what becomes of a task that waits for memory.
    pub(super) fn stalled(&mut self, at: Instant, task: TaskId, step: StallStep) {
        self.stalls.entry(task).or_default().add(at, step);
    }

    /// Reads the next entry. Returns the request that it ends, if any.
    pub(super) fn enter(&mut self, entry: &Entry) -> Option<Journey> {
        let at = entry.at;
        match entry.record {
            Record::Submitted(_) => self.submit(entry),
            Record::Held(bio) => self.step(bio, at, Step::Held),
            Record::Sleeps(bio) => self.step(bio, at, Step::Slept),
            Record::Woken(bio) => self.step(bio, at, Step::Woken),
            Record::Queued(bio, request) => {
                self.step(bio, at, Step::Queued);
                self.carried.insert(request, vec![bio]);
            }
            Record::Merged(bio, request) => {
                self.step(bio, at, Step::Merged);
                self.carried.entry(request).or_default().push(bio);
            }
            Record::TooManySegments(bio, _) => self.step(bio, at, Step::TooManySegments),
            Record::Absorbed(request, absorbed) => {
                let more = self.carried.remove(&absorbed).unwrap_or_default();
                self.carried.entry(request).or_default().extend(more);
            }
            Record::Dispatched(request, why) => self.steps(request, at, Step::Dispatched(why)),
            Record::Issued(request) => self.steps(request, at, Step::Issued),
            Record::Completed(request, ok) => self.steps(request, at, Step::Completed(ok)),
            Record::Finished(bio, ok) => return self.end(bio, at, Step::Finished(ok)),
            Record::Cancelled(bio) => return self.end(bio, at, Step::Cancelled),
            Record::Waits(..)
            | Record::WaitsCompletion(_)
            | Record::Hurried(_)
            | Record::Configured(_)
            | Record::Switched(_) => {}
        }
        None
    }

    fn submit(&mut self, entry: &Entry) {
        let Record::Submitted(Bio { id: bio, task, group, op, start, sectors, .. }) = entry.record
        else {
            return;
        };
        self.submitted += 1;
        let (number, submitted, steps) = (self.submitted, entry.at, Vec::new());
        let stall = self.stalls.get_mut(&task).map(|it| it.take_until(submitted));
        let stall = stall.unwrap_or_default();
        let journey = Journey { number, task, group, op, start, sectors, submitted, stall, steps };
        self.under_way.insert(bio, journey);
    }

    fn step(&mut self, bio: BioId, at: Instant, step: Step) {
        if let Some(journey) = self.under_way.get_mut(&bio) {
            journey.steps.push((at, step));
        }
    }

    fn steps(&mut self, request: RequestId, at: Instant, step: Step) {
        for bio in self.carried.get(&request).into_iter().flatten() {
            if let Some(journey) = self.under_way.get_mut(bio) {
                journey.steps.push((at, step));
            }
        }
    }

    fn end(&mut self, bio: BioId, at: Instant, step: Step) -> Option<Journey> {
        self.step(bio, at, step);
        self.under_way.remove(&bio)
    }
}
