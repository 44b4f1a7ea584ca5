//! Accounts for what the disk did while a request waited: which groups it served and why, and when
//! it was idle.
//!
//! The wait is divided without overlap: while several requests are at the disk, the time until the
//! next completion is charged to the request that completes.

use fairdisk_core::{Bio, BioId, Entry, GroupId, Instant, Record, RequestId, Span, Why};
use std::collections::BTreeMap;

/// A number of occurrences and their total time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) count: u64,
    pub(super) time: Span,
}

impl Part {
    pub(super) fn add(&mut self, time: Span) {
        self.count += 1;
        self.time += time;
    }
}

/// What the disk did between a request's submission and its way to the disk.
#[derive(Debug, Default)]
pub(super) struct Wait {
    /// Service of other requests, by group and by the reason for which the scheduler chose them.
    pub(super) served: BTreeMap<(GroupId, Option<Why>), Part>,
    /// Idle time of the disk, by what the scheduler waited for; `None` if no request was there.
    pub(super) idle: BTreeMap<Option<Why>, Part>,
    /// Times in which the disk was busy and was given nothing more, by the reason; they are parts
    /// of the service.
    pub(super) spared: BTreeMap<Why, Part>,
    /// How long the request's group was not to be served, whoever else was, by the reason; seen in
    /// looks, and part of the times above.
    pub(super) held_back: BTreeMap<Why, Part>,
}

impl Wait {
    /// The service of one group, for all reasons together.
    pub(super) fn of_group(&self, group: GroupId) -> Part {
        let parts = self.served.iter().filter(|((of, _), _)| *of == group);
        parts.fold(Part::default(), |sum, (_, part)| Part {
            count: sum.count + part.count,
            time: sum.time + part.time,
        })
    }

    /// The groups that were served, in descending order of service time.
    pub(super) fn groups(&self) -> Vec<GroupId> {
        let mut groups: Vec<GroupId> = self.served.keys().map(|(group, _)| *group).collect();
        groups.dedup();
        groups.sort_by_key(|group| (std::cmp::Reverse(self.of_group(*group).time), *group));
        groups
    }
}

/// What a request slot in use carries.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    group: Option<GroupId>,
    why: Option<Why>,
}

/// Reads a journal from its start until the request is sent to the disk, and builds its [`Wait`].
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// When the wait began; nothing before that is counted.
    began: Option<Instant>,
    slots: BTreeMap<RequestId, Slot>,
    groups: BTreeMap<BioId, GroupId>,
    at_disk: u32,
    /// The time up to which everything has been charged.
    charged: Instant,
    waits_for: Option<Why>,
    /// Since when the scheduler gives the busy disk nothing more, and why.
    spares: Option<(Instant, Why)>,
    /// Why the request's group was not to be served in the last look.
    held_back: Option<Why>,
    wait: Wait,
}

impl Reader {
    /// Begins the wait.
    pub(super) const fn begin(&mut self, at: Instant) {
        self.began = Some(at);
    }

    /// Reads the next entry.
    pub(super) fn enter(&mut self, entry: &Entry) {
        let at = entry.at;
        self.note_spared(entry);
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
                // The wait for a completion is over; a wait for something else has its own entry.
                self.waits_for = None;
            }
            _ => {}
        }
    }

    /// Ends a time in which the disk was given nothing more, where the entry does that, and begins
    /// another.
    fn note_spared(&mut self, entry: &Entry) {
        let why = match entry.record {
            Record::Waits(_, why) | Record::WaitsCompletion(why) => Some(why),
            Record::Dispatched(..) => None,
            // The last request at the disk is done: from now on it stands still.
            Record::Completed(..) if self.at_disk <= 1 => None,
            _ => return,
        };
        if let Some((since, spared)) = self.spares.take()
            && let Some(began) = self.began
            && entry.at > began.max(since)
        {
            self.wait.spared.entry(spared).or_default().add(entry.at - began.max(since));
        }
        let spares = why.filter(|why| why.spares_device() && self.at_disk > 0);
        self.spares = spares.map(|why| (entry.at, why));
    }

    /// Notes why the request's group was not to be served in the time from one look to another.
    pub(super) fn look(&mut self, (from, to): (Instant, Instant), why: Option<Why>) {
        let before = std::mem::replace(&mut self.held_back, why);
        let (Some(began), Some(why)) = (self.began, why) else { return };
        let part = self.wait.held_back.entry(why).or_default();
        part.time += to - began.max(from).min(to);
        part.count += u64::from(before != Some(why));
    }

    /// The part of the time since the last charge that belongs to the wait; `None` if that is
    /// nothing. Everything up to `until` is charged afterwards.
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

    /// Ends the wait, at `end` if it has not ended before. Time not yet charged was idle if no
    /// request was at the disk.
    pub(super) fn finish(mut self, end: Instant) -> Wait {
        if self.at_disk == 0 {
            self.charge_idle(end);
        }
        self.wait
    }
}
