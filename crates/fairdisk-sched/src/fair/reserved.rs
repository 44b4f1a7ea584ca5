//! What is reserved at an array for a task that has just been served and is due back.
//!
//! Others make room for a group that is expected by giving the device nothing more once it is fully
//! busy. Between two requests of a task nothing of it is there, so others would fill its place
//! meanwhile, and its next request would come on top. If it reads as much as keeps all heads busy,
//! it would never have the array without as much of others. So its place counts as work at the
//! device for as long as it usually thinks.

use super::Fair;
use super::patience::wait_for;
use crate::groups::Order;
use fairdisk_core::{Instant, Span};

/// Groups for which something is reserved, by until when. How much is kept in the group.
#[derive(Debug)]
pub(super) struct Reserved {
    until: Order<Instant>,
    /// The modelled cost of the request that was completed last.
    done: Span,
}

impl Reserved {
    pub(super) const fn new() -> Self {
        Self { until: Order::new(), done: Span::ZERO }
    }

    /// Notes that a request of this cost was completed.
    pub(super) const fn note_done(&mut self, cost: Span) {
        self.done = cost;
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.until.len() == 0
    }

    /// When the first of what is reserved is given up.
    pub(super) fn first_until(&self) -> Option<Instant> {
        self.until.first().map(|(_, until)| until)
    }
}

impl Fair {
    /// Reserves the place of the task of the queue, whose request has just completed, for as long
    /// as it usually thinks: if the group, which has nothing queued, is behind, and if that is
    /// worth leaving heads idle for.
    #[cold]
    #[inline(never)]
    pub(super) fn reserve(&mut self, now: Instant, group: u32, queue: u32) {
        self.release_reserved(group);
        let most = self.worth_alone();
        let is_worth = |think: &Span| *think <= most;
        let quiet = self.queues.get(queue).filter(|queue| queue.is_quiet());
        let Some(think) = quiet.and_then(|queue| queue.times.think.get()).filter(is_worth) else {
            return;
        };
        if self.tree.behind_by(group).is_none() {
            return;
        }
        let cost = self.expected.reserved.done;
        self.groups[group as usize].beside.reserved = cost;
        self.load.at_work += cost;
        self.expected.reserved.until.place(group, Some(now + wait_for(think, Span::ZERO, most)));
    }

    /// Gives up what is reserved for the group, if anything is.
    #[cold]
    #[inline(never)]
    pub(super) fn release_reserved(&mut self, group: u32) {
        self.expected.reserved.until.place(group, None);
        let cost = core::mem::take(&mut self.groups[group as usize].beside.reserved);
        self.load.at_work = self.load.at_work - cost;
    }

    /// Gives up what is reserved for those who should have come back by `now`.
    #[cold]
    #[inline(never)]
    pub(super) fn release_reserved_due(&mut self, now: Instant) {
        while let Some((group, _)) =
            self.expected.reserved.until.first().filter(|(_, it)| *it <= now)
        {
            self.release_reserved(group);
        }
    }
}
