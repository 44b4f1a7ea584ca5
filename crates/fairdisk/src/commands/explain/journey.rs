//! What every request of a run went through, read off its journal.
//!
//! A task's request (a *bio* to the engine) is numbered by its place among all submissions,
//! because the engine's own ids are used again.

use fairdisk_core::{
    BioId, Entry, GroupId, Instant, Lba, Op, Record, RequestId, Sectors, Span, TaskId, Why,
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

/// All requests of a run.
#[derive(Debug, Default)]
pub(super) struct Journeys {
    all: Vec<Journey>,
    /// Requests under way, by the engine's id.
    under_way: BTreeMap<BioId, usize>,
    /// Whose request each slot carries.
    carried: BTreeMap<RequestId, Vec<usize>>,
}

impl Journeys {
    /// Reads a journal.
    pub(super) fn read(entries: &[Entry]) -> Self {
        let mut journeys = Self::default();
        entries.iter().for_each(|entry| journeys.enter(entry.at, entry.record));
        journeys
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.all.len()
    }

    /// The request with this number.
    pub(super) fn get(&self, number: u64) -> Option<&Journey> {
        self.all.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// The finished requests that took longest, the longest first.
    pub(super) fn slowest(&self, count: usize) -> Vec<&Journey> {
        let mut finished: Vec<&Journey> =
            self.all.iter().filter(|journey| journey.finished().is_some()).collect();
        finished.sort_by_key(|journey| (std::cmp::Reverse(journey.total()), journey.number));
        finished.truncate(count);
        finished
    }

    fn enter(&mut self, at: Instant, record: Record) {
        match record {
            Record::Submitted { bio, task, group, op, start, sectors } => {
                self.under_way.insert(bio, self.all.len());
                let number = self.all.len() as u64 + 1;
                let steps = Vec::new();
                self.all.push(Journey {
                    number,
                    bio,
                    task,
                    group,
                    op,
                    start,
                    sectors,
                    submitted: at,
                    steps,
                });
            }
            Record::Held(bio) => self.step(bio, at, Step::Held),
            Record::Sleeps(bio) => self.step(bio, at, Step::Slept),
            Record::Woken(bio) => self.step(bio, at, Step::Woken),
            Record::Queued(bio, request) => {
                self.step(bio, at, Step::Queued);
                let carried = self.under_way.get(&bio).copied();
                self.carried.insert(request, carried.into_iter().collect());
            }
            Record::Merged(bio, request) => {
                self.step(bio, at, Step::Merged);
                let carried = self.under_way.get(&bio).copied();
                self.carried.entry(request).or_default().extend(carried);
            }
            Record::Absorbed(request, absorbed) => {
                let more = self.carried.remove(&absorbed).unwrap_or_default();
                self.carried.entry(request).or_default().extend(more);
            }
            Record::Dispatched(request, why) => self.steps(request, at, Step::Dispatched(why)),
            Record::Issued(request) => self.steps(request, at, Step::Issued),
            Record::Completed(request, ok) => self.steps(request, at, Step::Completed(ok)),
            Record::Finished(bio, ok) => {
                self.step(bio, at, Step::Finished(ok));
                self.under_way.remove(&bio);
            }
            Record::Cancelled(bio) => {
                self.step(bio, at, Step::Cancelled);
                self.under_way.remove(&bio);
            }
            Record::Waits(..)
            | Record::WaitsCompletion(_)
            | Record::Configured
            | Record::Switched => {}
        }
    }

    fn step(&mut self, bio: BioId, at: Instant, step: Step) {
        if let Some(index) = self.under_way.get(&bio) {
            self.all[*index].steps.push((at, step));
        }
    }

    fn steps(&mut self, request: RequestId, at: Instant, step: Step) {
        for index in self.carried.get(&request).into_iter().flatten() {
            self.all[*index].steps.push((at, step));
        }
    }
}
