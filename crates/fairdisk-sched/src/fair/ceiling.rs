//! Ceilings: how much a group may have at most.
//!
//! A leaky bucket in the form of time (the generic cell rate algorithm of ITU-T I.371): what a
//! group has had so far is paid for up to some instant. It may be ahead of that by its burst.

use super::hierarchy::Hierarchy;
use crate::groups::Order;
use fairdisk_core::{Instant, Qos, Span};

/// How far a group has used its ceiling up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ceiling {
    /// Until then what it has had is paid for.
    used_until: Instant,
}

impl Ceiling {
    /// When a group may have something that takes `time` at its ceiling. What is longer than its
    /// burst may go once all before is paid for.
    fn allows_at(&self, time: Span, burst: Span) -> Instant {
        let early = burst - time;
        Instant::from_ns(self.used_until.as_ns().saturating_sub(early.as_ns()))
    }

    /// The group has something that takes `time` at its ceiling.
    fn use_up(&mut self, now: Instant, time: Span) {
        self.used_until = self.used_until.max(now) + time;
    }
}

/// What a number of bios and bytes take at the group's ceiling; `None` without one.
fn time_of(qos: &Qos, bios: u32, bytes: u64) -> Option<Span> {
    if qos.ceiling.is_none() {
        return None;
    }
    let of_bytes = qos.ceiling.time_of(bytes);
    let of_bios = qos.ceiling.time_of(0).as_ns().saturating_mul(bios.into());
    Some(of_bytes.max(Span::from_ns(of_bios)))
}

/// A group with its ceiling.
pub(super) trait Capped {
    /// What it may have, and what of that it has had.
    fn capped(&mut self, group: u32) -> (&Qos, &mut Ceiling);
}

/// Groups that are at their ceiling, until when.
#[derive(Debug)]
pub(super) struct Barred {
    until: Order<Instant>,
}

impl Barred {
    pub(super) const fn new() -> Self {
        Self { until: Order::new() }
    }

    /// When the first of them may go on.
    pub(super) fn first(&self) -> Option<Instant> {
        self.until.first().map(|(_, at)| at)
    }

    /// When all of `groups` may go on, if one of them may not yet.
    pub(super) fn until(&self, groups: impl Iterator<Item = u32>) -> Option<Instant> {
        groups.filter_map(|group| self.until.key(group)).max()
    }

    /// The group may go on at once.
    pub(super) fn release(&mut self, group: u32, tree: &mut Hierarchy) {
        if self.until.key(group).is_some() {
            self.until.place(group, None);
            tree.set_barred(group, false);
        }
    }

    /// Those whose time has come may go on; whether there were any.
    #[inline]
    pub(super) fn release_due(&mut self, now: Instant, tree: &mut Hierarchy) -> bool {
        let mut any = false;
        while let Some((group, _)) = self.until.first().filter(|(_, at)| *at <= now) {
            self.release(group, tree);
            any = true;
        }
        any
    }

    /// Bars the first around `group` that would be above its ceiling with so much more; whether
    /// there was one.
    pub(super) fn bar(
        &mut self,
        now: Instant,
        group: u32,
        (bios, bytes): (u32, u64),
        tree: &mut Hierarchy,
        groups: &mut impl Capped,
    ) -> bool {
        let over = tree.path(group).find_map(|one| {
            let (qos, ceiling) = groups.capped(one);
            let at = ceiling.allows_at(time_of(qos, bios, bytes)?, qos.burst);
            (at > now).then_some((one, at))
        });
        let Some((one, at)) = over else { return false };
        self.until.place(one, Some(at));
        tree.set_barred(one, true);
        true
    }

    /// The group has so much more, and so have those around it.
    pub(super) fn use_up(
        now: Instant,
        group: u32,
        (bios, bytes): (u32, u64),
        tree: &Hierarchy,
        groups: &mut impl Capped,
    ) {
        for one in tree.path(group) {
            let (qos, ceiling) = groups.capped(one);
            if let Some(time) = time_of(qos, bios, bytes) {
                ceiling.use_up(now, time);
            }
        }
    }
}
