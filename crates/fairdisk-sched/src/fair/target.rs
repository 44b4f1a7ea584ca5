//! Latency targets: a group whose request would be late otherwise goes first, whoever has the disk.
//!
//! What it gets that way is charged like everything else, and who is ahead of its share by
//! [`DEBT_MOST`] waits for its turn: a target brings a group's service forward, it does not add to
//! it.

use super::floor::DEBT_MOST;
use super::{Fair, Step};
use crate::groups::Order;
use fairdisk_core::{Instant, Qos, Span, Why};

/// Groups with targets that have something queued, by when that should go.
#[derive(Debug)]
pub(super) struct Targets {
    due: Order<Instant>,
    /// Some group has, or had, a target.
    any: bool,
}

impl Targets {
    pub(super) const fn new() -> Self {
        Self { due: Order::new(), any: false }
    }

    /// When the first of them should go.
    pub(super) fn first_due(&self) -> Option<Instant> {
        self.due.first().map(|(_, at)| at)
    }
}

impl Fair {
    /// The group has this target from now on, or none.
    pub(super) fn set_target(&mut self, now: Instant, group: u32, qos: &Qos) {
        self.targets.any |= qos.latency_p99.is_some();
        self.target_wants(now, group);
    }

    /// What the group has queued has changed. Its next request should go after half of the target,
    /// or sooner where two requests take longer than the other half: the one at the device by then
    /// and its own.
    #[inline]
    pub(super) fn target_wants(&mut self, now: Instant, group: u32) {
        if !self.targets.any {
            return;
        }
        self.targets.due.place(group, None);
        let entry = &self.groups[group as usize];
        let Some(target) = entry.qos.latency_p99.filter(|_| entry.waiting > 0) else { return };
        let queue = self.queues.first_of(now, group);
        let (_, arrived) = self.requests.oldest(&self.queues[queue]);
        let service = self.device.service.or_zero();
        let half = Span::from_ns(target.as_ns() / 2);
        let due = arrived + half.min(target - (service + service));
        self.targets.due.place(group, Some(due));
    }

    /// A group that would miss its target, and does not ask for too much. One that is at a ceiling
    /// is due once it may go on.
    fn near_target(&mut self, now: Instant) -> Option<u32> {
        loop {
            let (group, _) = self.targets.due.first().filter(|(_, at)| *at <= now)?;
            let waits = self.groups[group as usize].waiting > 0;
            if !waits || self.tree.is_ahead(group, DEBT_MOST) {
                self.targets.due.place(group, None);
                continue;
            }
            let until = self.barred.until(self.tree.path(group));
            if until.is_none() {
                return Some(group);
            }
            self.targets.due.place(group, until);
        }
    }

    /// Serves a group that would miss its target otherwise.
    pub(super) fn serve_target(&mut self, now: Instant) -> Option<Step> {
        loop {
            let group = self.near_target(now)?;
            let queue = self.queues.first_of(now, group);
            let (at, _) = self.requests.oldest(&self.queues[queue]);
            if self.is_at_ceiling(now, at) {
                continue;
            }
            if self.turn.is_none_or(|turn| turn.group != group) {
                self.give_turn(now, group, queue);
            }
            return Some(self.dispatch(now, at, Why::NearTarget));
        }
    }
}
