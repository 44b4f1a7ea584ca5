//! Ceilings: which groups may have no more for now.
//!
//! Requests may be done together, however well they were spread when they were dispatched: a device
//! serves several at once, or one of them takes long and the next does not. So a ceiling also
//! counts what is at the device, as if all of it completed now: a request makes room for another
//! only once it is done.

use super::Fair;
use super::answer::{Answer, Bar, Cause, Over};
use super::hierarchy::Hierarchy;
use crate::groups::{Amount, Nested, Order};
use fairdisk_core::{Instant, Qos, Request, Why};

pub(super) use crate::groups::Ceiling;

/// The barred groups, by when their bar ends.
#[derive(Debug)]
pub(super) struct Barred {
    until: Order<Instant>,
    /// The groups that were at their ceiling, by when they will have saved up all that they may.
    full: Order<Instant>,
    /// The number of groups with a ceiling. While it is zero, no ceiling is checked.
    capped: u32,
}

impl Barred {
    pub(super) const fn new() -> Self {
        Self { until: Order::new(), full: Order::new(), capped: 0 }
    }

    /// Notes that the group's ceiling is `after` instead of `before`.
    pub(super) fn changed(&mut self, group: u32, before: &Qos, after: &Qos) {
        self.saves_until(group, None);
        self.capped += u32::from(!after.is_unlimited());
        self.capped -= u32::from(!before.is_unlimited());
    }

    /// The number of groups with a ceiling.
    pub(super) const fn capped(&self) -> u32 {
        self.capped
    }

    /// Whether any group has a ceiling.
    pub(super) const fn has_ceilings(&self) -> bool {
        self.capped > 0
    }

    /// When the first bar ends.
    pub(super) fn first(&self) -> Option<Instant> {
        self.first_group().map(|(_, at)| at)
    }

    /// The group whose bar ends first, and when.
    pub(super) fn first_group(&self) -> Option<(u32, Instant)> {
        self.until.first()
    }

    /// Whether the group itself, rather than one around it, is barred.
    pub(super) fn contains(&self, group: u32) -> bool {
        self.bar_of(group).is_some()
    }

    /// When the bar on the group itself ends.
    fn bar_of(&self, group: u32) -> Option<Instant> {
        self.until.key(group)
    }

    /// When the last bar on any of `groups` ends; `None` if none of them is barred.
    pub(super) fn until(&self, groups: impl Iterator<Item = u32>) -> Option<Instant> {
        groups.filter_map(|group| self.until.key(group)).max()
    }

    /// The group that has first saved up all that it may, and when.
    pub(super) fn first_full(&self) -> Option<(u32, Instant)> {
        self.full.first()
    }

    /// Whether the group was at its ceiling and what it saves up matters.
    fn is_saving(&self, group: u32) -> bool {
        self.full.key(group).is_some()
    }

    /// Notes when the group will have saved up all that it may; `None` if that does not matter.
    pub(super) fn saves_until(&mut self, group: u32, full: Option<Instant>) {
        self.full.place(group, full);
    }

    /// Lifts the bar of the group. Returns whether it had one.
    pub(super) fn release(&mut self, group: u32, tree: &mut Hierarchy) -> bool {
        let barred = self.contains(group);
        if barred {
            self.until.place(group, None);
            tree.set_barred(group, false);
        }
        barred
    }

    /// A group whose bar has ended by `now`.
    #[inline]
    pub(super) fn due(&self, now: Instant) -> Option<u32> {
        self.until.first().filter(|(_, at)| *at <= now).map(|(group, _)| group)
    }

    /// Begins a bar.
    fn begin(&mut self, group: u32, until: Instant, tree: &mut Hierarchy) {
        self.until.place(group, Some(until));
        tree.set_barred(group, true);
    }
}

impl Fair {
    /// The bar for which the request has to wait, if a group around it is at its ceiling, or would
    /// be with the request: that of the innermost one.
    #[inline]
    pub(super) fn ceiling_bar(&self, now: Instant, at: u32) -> Option<Bar> {
        if self.promises.barred.has_ceilings() { self.bar_above_ceiling(now, at) } else { None }
    }

    /// Why the turn is over in which this request is next, if its group may have nothing more for
    /// now.
    #[inline]
    pub(super) fn over_at_ceiling(&self, now: Instant, at: u32) -> Option<Over> {
        if !self.promises.barred.has_ceilings() {
            return None;
        }
        // A larger request in a group around it may have been found to be too much before.
        match self.tree.is_barred(self.queues[self.requests[at].queue].group) {
            true => Some(Over::Done),
            false => self.bar_above_ceiling(now, at).map(Over::Barred),
        }
    }

    fn bar_above_ceiling(&self, now: Instant, at: u32) -> Option<Bar> {
        let rq = &self.requests[at];
        self.tree.path(self.queues[rq.queue].group).find_map(|group| {
            let until = self.groups[group as usize].ready_at(now, rq.amount());
            (until > now).then_some(Bar { group, until, cause: Cause::Ceiling })
        })
    }

    /// Begins a bar.
    pub(super) fn begin_bar(&mut self, bar: Bar) {
        match bar.cause {
            Cause::Ceiling => {
                let full = self.groups[bar.group as usize].full_at();
                self.promises.barred.saves_until(bar.group, Some(full));
            }
            Cause::Flush => {
                self.hold_back_in_look();
                self.hold_for_flush(bar);
            }
        }
        self.promises.barred.begin(bar.group, bar.until, &mut self.tree);
    }

    /// Lifts the bar of the group, and lets floors that waited for it claim service again.
    pub(super) fn release_barred(&mut self, group: u32) {
        if self.promises.barred.release(group, &mut self.tree) {
            self.floors_want(group);
            self.barred_floors_want(group);
        }
    }

    /// Whether the group, or one around it, has a ceiling.
    pub(super) fn has_ceiling(&self, group: u32) -> bool {
        self.tree.path(group).any(|one| !self.groups[one as usize].qos.is_unlimited())
    }

    /// Whether the group may be barred for others' sake. Exempt are groups that have a floor or
    /// target of their own, or are inside one that has, and groups with groups inside, which would
    /// wait with them.
    pub(super) fn may_wait_alone(&self, group: u32) -> bool {
        !self.tree.has_inner(group)
            && !self.tree.path(group).any(|one| {
                let qos = &self.groups[one as usize].qos;
                qos.latency_p99.is_some() || !qos.floor.is_none()
            })
    }

    /// The reason for the first bar that ends.
    pub(super) fn why_barred(&self) -> Why {
        let (group, at) = self.promises.barred.first_group().expect("a group is barred");
        self.why_barred_until(group, at)
    }

    fn why_barred_until(&self, group: u32, at: Instant) -> Why {
        if self.is_held_for_flush(group, at) { Why::BacklogLimited } else { Why::AtCeiling }
    }

    /// The reason for the first bar on the group or on one around it that has not ended by `now`.
    pub(super) fn why_held_back_by_bar(&self, now: Instant, group: u32) -> Option<Why> {
        self.groups.get(group as usize)?;
        let bars =
            self.tree.path(group).filter_map(|one| Some((one, self.promises.barred.bar_of(one)?)));
        let mut bars = bars.filter(|(_, at)| *at > now);
        bars.next().map(|(one, at)| self.why_barred_until(one, at))
    }

    /// Waits for the first bar to end, and gives the reason for that one: no group in line may be
    /// served before.
    pub(super) fn wait_for_bars(&self) -> Answer {
        let at = self
            .promises
            .barred
            .first()
            .expect("whoever wants the disk and is not barred is in line");
        Answer::Wait(at, self.why_barred())
    }

    /// Whether the ceilings of the request's group, and of the groups around it, let it grow by
    /// `more`.
    #[inline]
    pub(super) fn ceilings_let_grow(&self, request: &Request, more: Amount) -> bool {
        !self.promises.barred.has_ceilings() || self.all_ceilings_let_grow(request.id.0, more)
    }

    #[cold]
    fn all_ceilings_let_grow(&self, at: u32, more: Amount) -> bool {
        let rq = &self.requests[at];
        let amount = rq.amount().and(more);
        self.tree
            .path(self.queues[rq.queue].group)
            .all(|one| Ceiling::may_grow_to(&self.groups[one as usize].qos, amount))
    }

    /// Counts a dispatched request towards the ceilings of its group and the groups around it, and
    /// as being at the device until it completes.
    pub(super) fn use_ceilings_up(&mut self, now: Instant, at: u32, group: u32) {
        let amount = self.requests[at].amount();
        self.requests[at].dispatched.is_held = true;
        for one in self.tree.path(group) {
            let entry = &mut self.groups[one as usize];
            entry.used.ceiling.pass(now, &entry.qos, amount);
            entry.used.there.add(amount);
            if self.promises.barred.is_saving(one) {
                self.promises.barred.saves_until(one, Some(self.groups[one as usize].full_at()));
            }
        }
    }

    /// Moves a completed request from what is at the device to what is done, for the ceilings of
    /// its group and the groups around it.
    pub(super) fn done_below_ceilings(&mut self, now: Instant, group: u32, amount: Amount) {
        for one in self.tree.path(group) {
            let entry = &mut self.groups[one as usize];
            entry.used.there.take(amount);
            entry.used.done.pass(now, &entry.qos, amount);
        }
    }
}
