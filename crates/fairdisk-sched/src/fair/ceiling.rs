//! Ceilings: groups that may have no more for now.
//!
//! What was let go in time may be done together where a device serves several requests at once. So
//! what is at such a device counts as well, as if all of it were done now: until it is, none of it
//! makes room for more.

use super::Fair;
use super::group::Group;
use super::hierarchy::Hierarchy;
use crate::groups::{Amount, Nested, Order};
use fairdisk_core::{Instant, Rates};

pub(super) use crate::groups::Ceiling;

/// Groups that are at their ceiling, until when.
#[derive(Debug)]
pub(super) struct Barred {
    until: Order<Instant>,
    /// How many groups have a ceiling; without one nobody is looked at.
    capped: u32,
}

impl Barred {
    pub(super) const fn new() -> Self {
        Self { until: Order::new(), capped: 0 }
    }

    /// A group has another ceiling from now on than it had before.
    pub(super) fn changed(&mut self, before: &Rates, after: &Rates) {
        self.capped += u32::from(!after.is_none());
        self.capped -= u32::from(!before.is_none());
    }

    /// Whether no group has a ceiling.
    pub(super) const fn is_unused(&self) -> bool {
        self.capped == 0
    }

    /// When the first of them may go on.
    pub(super) fn first(&self) -> Option<Instant> {
        self.until.first().map(|(_, at)| at)
    }

    /// Whether the group itself may not go on.
    pub(super) fn contains(&self, group: u32) -> bool {
        self.until.key(group).is_some()
    }

    /// When all of `groups` may go on, if one of them may not yet.
    pub(super) fn until(&self, groups: impl Iterator<Item = u32>) -> Option<Instant> {
        groups.filter_map(|group| self.until.key(group)).max()
    }

    /// The group may go on at once; whether it might not before.
    pub(super) fn release(&mut self, group: u32, tree: &mut Hierarchy) -> bool {
        let barred = self.contains(group);
        if barred {
            self.until.place(group, None);
            tree.set_barred(group, false);
        }
        barred
    }

    /// A group whose time has come.
    #[inline]
    pub(super) fn due(&self, now: Instant) -> Option<u32> {
        self.until.first().filter(|(_, at)| *at <= now).map(|(group, _)| group)
    }

    /// Bars the first around `group` that would be above its ceiling with so much more; whether
    /// there was one.
    pub(super) fn bar(
        &mut self,
        now: Instant,
        group: u32,
        amount: Amount,
        tree: &mut Hierarchy,
        groups: &[Group],
    ) -> bool {
        let over = tree.path(group).find_map(|one| {
            let at = groups[one as usize].ready_at(now, amount);
            (at > now).then_some((one, at))
        });
        let Some((one, at)) = over else { return false };
        self.bar_until(one, at, tree);
        true
    }

    /// Bars the group until then.
    pub(super) fn bar_until(&mut self, group: u32, at: Instant, tree: &mut Hierarchy) {
        self.until.place(group, Some(at));
        tree.set_barred(group, true);
    }
}

impl Fair {
    /// The group has what the request asks for, and so have those around it. Where several are
    /// served at once it counts until it is done, and as what was done then.
    pub(super) fn use_ceilings_up(&mut self, now: Instant, at: u32, group: u32) {
        let is_held = !self.device.is_serial();
        let amount = self.requests[at].amount();
        self.requests[at].is_held = is_held;
        for one in self.tree.path(group) {
            let Group { qos, ceiling, there, .. } = &mut self.groups[one as usize];
            ceiling.pass(now, &qos.ceiling, amount);
            if is_held {
                there.add(amount);
            }
        }
    }

    /// So much of the group that was at the device is done.
    pub(super) fn done_below_ceilings(&mut self, now: Instant, group: u32, amount: Amount) {
        for one in self.tree.path(group) {
            let Group { qos, done, there, .. } = &mut self.groups[one as usize];
            there.take(amount);
            done.pass(now, &qos.ceiling, amount);
        }
    }
}
