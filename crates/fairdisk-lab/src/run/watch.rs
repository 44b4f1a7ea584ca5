//! Monitoring of floors and ceilings: whether groups got their floors and stayed below their
//! ceilings throughout a run.

use super::GroupRun;
use crate::plan::{GroupLabel, GroupNumbers};
use fairdisk_core::{Accounts, Engine, GroupId, Instant, Limit, Qos, Rates, Span};
use fairdisk_sched::Scheduler;
use std::num::NonZeroU64;

/// The interval between checks of the accounts; a ceiling that is exceeded for less is not noticed.
pub(super) const LOOK: Span = Span::from_ms(10);
/// The time over which a floor is averaged.
const WINDOW: Span = Span::from_s(1);
const LOOKS: u32 = (WINDOW.as_ns() / LOOK.as_ns()) as u32;

/// Whether a group's floor and ceiling were kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kept {
    /// Seconds in which the group wanted its floor: it had requests at the disk, or on their way to
    /// it, in at least half of all checks. A run shorter than a second counts as one.
    pub seconds: u32,
    /// Seconds out of these in which it fell short of its floor by more than one request.
    pub below: u32,
    /// The furthest it ran ahead of its ceiling, as time of the ceiling. A burst is allowed, or two
    /// requests if these take longer: one that has just been done, and one on its way.
    pub ahead: Span,
    /// How far ahead it is allowed to run.
    pub allowed: Span,
}

impl Kept {
    /// Adds the result of another disk of the same run.
    pub(super) fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.below += other.below;
        self.ahead = self.ahead.max(other.ahead);
        self.allowed = self.allowed.max(other.allowed);
    }

    /// How far it ran ahead of its ceiling beyond what is allowed.
    #[must_use]
    pub fn over(&self) -> Span {
        self.ahead - self.allowed
    }
}

/// Requests and bytes of a group, including nested groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    ios: u64,
    bytes: u64,
}

impl Count {
    fn of(accounts: &Accounts, members: &[GroupId]) -> Self {
        members.iter().filter_map(|group| accounts.group(*group)).fold(
            Self::default(),
            |sum, one| Self { ios: sum.ios + one.ios(), bytes: sum.bytes + one.bytes() },
        )
    }

    const fn since(self, before: Self) -> Self {
        Self { ios: self.ios - before.ios, bytes: self.bytes - before.bytes }
    }

    /// How long this amount takes at `rates`, the stricter rate deciding, in ns; zero without
    /// rates.
    fn at(self, rates: &Rates) -> f64 {
        let of = |count: u64, rate: Option<NonZeroU64>| {
            rate.map_or(0.0, |rate| count as f64 * 1e9 / rate.get() as f64)
        };
        of(self.ios, rates.iops).max(of(self.bytes, rates.bytes_per_s))
    }

    /// This count and one request more, of the mean size.
    fn and_one(self) -> Self {
        Self { ios: self.ios + 1, bytes: self.bytes + self.bytes / self.ios.max(1) }
    }

    /// Whether the count reaches what `rates` promise in `looks` checks, allowing for one request.
    fn reaches(self, rates: &Rates, looks: u32) -> bool {
        let one_more = self.and_one();
        let promised =
            |rate: NonZeroU64| u128::from(rate.get()) * u128::from(looks) / u128::from(LOOKS);
        rates.iops.is_none_or(|rate| u128::from(one_more.ios) >= promised(rate))
            && rates.bytes_per_s.is_none_or(|rate| u128::from(one_more.bytes) >= promised(rate))
    }
}

/// The rate of I/Os alone and the rate of bytes alone, which are checked separately.
const fn apart(rates: &Rates) -> [Rates; 2] {
    [Rates { bytes_per_s: None, ..*rates }, Rates { iops: None, ..*rates }]
}

/// A group with a floor or a ceiling.
#[derive(Debug)]
struct Watched {
    /// Index of the group in the load.
    at: usize,
    /// The group and the groups nested in it.
    members: Vec<GroupId>,
    qos: Qos,
    last: Count,
    window: Count,
    busy_looks: u32,
    /// How far it is ahead of each rate of its ceiling, and the furthest it was.
    ahead_ns: [f64; 2],
    ahead_most_ns: [f64; 2],
    /// The largest mean size of its requests in a look, in bytes: the nearest to the size of the
    /// largest that the accounts tell.
    bytes_of_one: u64,
    kept: Kept,
}

/// All groups with a floor or a ceiling, on one disk.
#[derive(Debug)]
pub(super) struct Watch {
    groups: Vec<Watched>,
    last: Instant,
    looks: u32,
}

impl Watch {
    /// Starts to monitor the groups of the load that have a floor or a ceiling.
    pub(super) fn new(labels: &[GroupLabel], numbers: GroupNumbers, began: Instant) -> Self {
        let members = numbers.members(labels);
        let promised = labels.iter().enumerate().filter(|(_, label)| {
            !label.spec.qos.floor.is_none() || !label.spec.qos.ceiling.is_none()
        });
        let groups = promised.map(|(at, label)| Watched {
            at,
            members: members[at].iter().map(|inner| numbers.id(*inner)).collect(),
            qos: label.spec.qos,
            last: Count::default(),
            window: Count::default(),
            busy_looks: 0,
            ahead_ns: [0.0; 2],
            ahead_most_ns: [0.0; 2],
            bytes_of_one: 0,
            kept: Kept::default(),
        });
        Self { groups: groups.collect(), last: began, looks: 0 }
    }

    /// Whether there is no group to monitor.
    pub(super) const fn is_idle(&self) -> bool {
        self.groups.is_empty()
    }

    /// Checks the accounts of the disk at `now`.
    pub(super) fn look(&mut self, now: Instant, engine: &Engine<Scheduler>) {
        let passed = (now - self.last).as_ns() as f64;
        self.last = now;
        self.looks += 1;
        let loads = engine.loads();
        let accounts = engine.accounts();
        for group in &mut self.groups {
            let count = Count::of(accounts, &group.members);
            let more = count.since(group.last);
            group.last = count;
            group.runs_ahead(more, passed);
            let load = |id: &GroupId| loads.get(id).is_some_and(|it| it.queued + it.in_flight > 0);
            group.busy_looks += u32::from(group.members.iter().any(load));
            if self.looks.is_multiple_of(LOOKS) {
                group.end_window(count, LOOKS);
            }
        }
    }

    /// Adds the results to those of other disks in the runs of the groups.
    pub(super) fn finish(self, groups: &mut [GroupRun]) {
        for mut group in self.groups {
            if self.looks < LOOKS {
                group.end_window(group.last, self.looks);
            }
            let (ahead, allowed) = group.furthest_ahead();
            let kept = Kept { ahead, allowed, ..group.kept };
            match &mut groups[group.at].kept {
                Some(others) => others.add(&kept),
                none => *none = Some(kept),
            }
        }
    }
}

impl Watched {
    /// Notes that the group did `more` while this many ns passed.
    fn runs_ahead(&mut self, more: Count, passed: f64) {
        self.bytes_of_one = self.bytes_of_one.max(more.bytes / more.ios.max(1));
        let most = self.ahead_ns.iter_mut().zip(&mut self.ahead_most_ns);
        for ((ahead, most), rate) in most.zip(apart(&self.qos.ceiling)) {
            *ahead = (*ahead + more.at(&rate) - passed).max(0.0);
            *most = most.max(*ahead);
        }
    }

    /// The furthest it was ahead of its ceiling and how far it may be, of the rate of which it was
    /// further beyond that.
    fn furthest_ahead(&self) -> (Span, Span) {
        let two = Count { ios: 2, bytes: 2 * self.bytes_of_one };
        let of_rate = |(ahead, (rate, limit)): (&f64, (Rates, Option<Limit>))| {
            let allowed = limit?.burst.max(Span::from_ns(two.at(&rate) as u64));
            Some((Span::from_ns(*ahead as u64), allowed))
        };
        // Those of all requests come first.
        let limits = apart(&self.qos.ceiling).into_iter().zip(self.qos.limits());
        let rates = self.ahead_most_ns.iter().zip(limits).filter_map(of_rate);
        rates.max_by_key(|(ahead, allowed)| *ahead - *allowed).unwrap_or_default()
    }

    fn end_window(&mut self, count: Count, looks: u32) {
        let got = count.since(self.window);
        self.window = count;
        if self.busy_looks >= looks.div_ceil(2) && !self.qos.floor.is_none() {
            self.kept.seconds += 1;
            self.kept.below += u32::from(!got.reaches(&self.qos.floor, looks));
        }
        self.busy_looks = 0;
    }
}
