//! What the disk did while a request waited: whom it served and why, and when it stood still.
//!
//! The time of the wait is divided without overlap: while several requests are at the disk, the
//! time until one finishes counts for that one.

use fairdisk_core::{Bio, BioId, Entry, GroupId, Instant, Record, RequestId, Span, Why};
use std::collections::BTreeMap;

/// How often, and how long all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) count: u64,
    pub(super) time: Span,
}

impl Part {
    fn add(&mut self, time: Span) {
        self.count += 1;
        self.time += time;
    }
}

/// What happened between a request's submission and its way to the disk.
#[derive(Debug, Default)]
pub(super) struct Wait {
    /// Other requests served, by group and by the reason they were chosen for.
    pub(super) served: BTreeMap<(GroupId, Option<Why>), Part>,
    /// The disk stood still, by what the scheduler waited for.
    pub(super) idle: BTreeMap<Option<Why>, Part>,
}

impl Wait {
    /// What a group got, all reasons together.
    pub(super) fn of_group(&self, group: GroupId) -> Part {
        let parts = self.served.iter().filter(|((of, _), _)| *of == group);
        parts.fold(Part::default(), |sum, (_, part)| Part {
            count: sum.count + part.count,
            time: sum.time + part.time,
        })
    }

    /// The groups that were served, the one that took most first.
    pub(super) fn groups(&self) -> Vec<GroupId> {
        let mut groups: Vec<GroupId> = self.served.keys().map(|(group, _)| *group).collect();
        groups.dedup();
        groups.sort_by_key(|group| (std::cmp::Reverse(self.of_group(*group).time), *group));
        groups
    }
}

/// A request slot while it is in use.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    group: Option<GroupId>,
    why: Option<Why>,
}

/// Reads a journal from its start until the request went to the disk.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// When the wait began; before that nothing is counted.
    began: Option<Instant>,
    slots: BTreeMap<RequestId, Slot>,
    groups: BTreeMap<BioId, GroupId>,
    at_disk: u32,
    /// Time up to here has been given to somebody.
    charged: Instant,
    waits_for: Option<Why>,
    wait: Wait,
}

impl Reader {
    /// The wait begins.
    pub(super) const fn begin(&mut self, at: Instant) {
        self.began = Some(at);
    }

    /// Reads the next entry.
    pub(super) fn enter(&mut self, entry: &Entry) {
        let at = entry.at;
        match entry.record {
            Record::Submitted(Bio { id: bio, group, .. }) => {
                self.groups.insert(bio, group);
            }
            Record::Queued(bio, request) => {
                let group = self.groups.get(&bio).copied();
                self.slots.insert(request, Slot { group, why: None });
            }
            Record::Dispatched(request, why) => {
                self.slots.entry(request).or_default().why = Some(why);
            }
            Record::Waits(_, why) | Record::WaitsCompletion(why) => self.waits_for = Some(why),
            Record::Issued(_) => {
                if self.at_disk == 0 {
                    self.charge_idle(at);
                }
                self.waits_for = None;
                self.at_disk += 1;
            }
            Record::Completed(request, _) => {
                let slot = self.slots.get(&request).copied().unwrap_or_default();
                self.at_disk = self.at_disk.saturating_sub(1);
                self.charge_served(at, slot);
                // What it waited for has come; what it waits for next is another entry.
                self.waits_for = None;
            }
            _ => {}
        }
    }

    /// The part of the time since the last charge that belongs to the wait.
    fn take(&mut self, until: Instant) -> Option<Span> {
        let from = self.began.map(|began| began.max(self.charged));
        self.charged = until;
        from.map(|from| until - from).filter(|span| *span > Span::ZERO)
    }

    fn charge_idle(&mut self, at: Instant) {
        let why = self.waits_for;
        if let Some(span) = self.take(at) {
            self.wait.idle.entry(why).or_default().add(span);
        }
    }

    fn charge_served(&mut self, at: Instant, slot: Slot) {
        if let Some(span) = self.take(at) {
            let group = slot.group.unwrap_or(GroupId::ROOT);
            self.wait.served.entry((group, slot.why)).or_default().add(span);
        }
    }

    /// The wait, which ended at `end` at the latest. What is left of it was idle, if nobody was at
    /// the disk.
    pub(super) fn finish(mut self, end: Instant) -> Wait {
        if self.at_disk == 0 {
            self.charge_idle(end);
        }
        self.wait
    }
}
