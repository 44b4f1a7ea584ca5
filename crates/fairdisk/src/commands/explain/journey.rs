//! What the requests of a run go through, read off its journal as it grows.
//!
//! A task's request (a *bio* to the engine) is numbered by its place among all submissions,
//! because the engine's own ids are used again.

use fairdisk_core::{
    Bio, BioId, Entry, GroupId, Instant, Lba, Op, Record, RequestId, Sectors, Span, TaskId, Why,
};
use std::collections::BTreeMap;

/// One request from submission to end.
#[derive(Clone, Debug)]
pub(super) struct Journey {
    /// Its place among all submissions, from 1.
    pub(super) number: u64,
    /// The engine's id for it, unique while it was under way.
    pub(super) bio: BioId,
    pub(super) task: TaskId,
    pub(super) group: GroupId,
    pub(super) op: Op,
    pub(super) start: Lba,
    pub(super) sectors: Sectors,
    pub(super) submitted: Instant,
    pub(super) steps: Vec<(Instant, Step)>,
}

/// One thing that happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// An earlier request had to finish first.
    Held,
    /// There was no free request slot.
    Slept,
    /// It was told that a slot is free.
    Woken,
    /// It joined a queued request.
    Merged,
    /// It was queued.
    Queued,
    /// The scheduler chose it.
    Dispatched(Why),
    /// It went to the disk.
    Issued,
    /// The disk finished it.
    Completed(bool),
    /// Its task was told.
    Finished(bool),
    /// It was withdrawn.
    Cancelled,
}

impl Journey {
    fn at(&self, wanted: impl Fn(Step) -> bool) -> Option<Instant> {
        self.steps.iter().rev().find(|(_, step)| wanted(*step)).map(|(at, _)| *at)
    }

    /// When it went to the disk.
    pub(super) fn issued(&self) -> Option<Instant> {
        self.at(|step| step == Step::Issued)
    }

    /// When its task was told that it is done.
    pub(super) fn finished(&self) -> Option<Instant> {
        self.at(|step| matches!(step, Step::Finished(_)))
    }

    /// From submission to the disk.
    pub(super) fn wait(&self) -> Option<Span> {
        self.issued().map(|issued| issued - self.submitted)
    }

    /// From submission to the end.
    pub(super) fn total(&self) -> Option<Span> {
        self.finished().map(|finished| finished - self.submitted)
    }
}

/// The requests of a run that are under way, as its journal is read on.
#[derive(Debug, Default)]
pub(super) struct Journeys {
    submitted: u64,
    under_way: BTreeMap<BioId, Journey>,
    /// Whose request each slot carries.
    carried: BTreeMap<RequestId, Vec<BioId>>,
}

impl Journeys {
    /// How many were submitted so far.
    pub(super) const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// The request under way with this id of the engine's.
    pub(super) fn get(&self, bio: BioId) -> Option<&Journey> {
        self.under_way.get(&bio)
    }

    /// Reads the next entry; the request that it ends, if it does.
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
        let journey = Journey { number, bio, task, group, op, start, sectors, submitted, steps };
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
