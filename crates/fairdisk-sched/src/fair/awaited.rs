//! Requests that others wait for: a request that overlaps one of another group begins only after
//! that has finished. If it waited for the other group's turn, its group's share or target would be
//! lost to a long queue that is not its own, so what is waited for goes first.
//!
//! Its group is charged as for any service. A group that is ahead of its share by [`DEBT_MOST`]
//! waits for its turn all the same: whoever waits brings service forward, and does not add to it.

use super::floor::DEBT_MOST;
use super::{Fair, Step};
use alloc::collections::VecDeque;
use fairdisk_core::{GroupId, Instant, Why};

/// The queued requests that other groups wait for.
#[derive(Debug)]
pub(super) struct Awaited {
    /// In the order in which they came to be waited for. Some have been served since.
    requests: VecDeque<u32>,
}

impl Awaited {
    pub(super) const fn new() -> Self {
        Self { requests: VecDeque::new() }
    }
}

impl Fair {
    /// Notes that the group `by` waits for the queued request `at`.
    pub(super) fn note_awaited(&mut self, at: u32, by: GroupId) {
        let rq = &mut self.requests[at];
        if self.queues[rq.queue].group != by.0 && !rq.is_awaited {
            rq.is_awaited = true;
            self.awaited.requests.push_back(at);
        }
    }

    /// Serves a request that another group waits for.
    #[inline]
    pub(super) fn serve_awaited(&mut self, now: Instant) -> Option<Step> {
        if self.awaited.requests.is_empty() { None } else { self.serve_first_awaited(now) }
    }

    #[cold]
    fn serve_first_awaited(&mut self, now: Instant) -> Option<Step> {
        loop {
            let at = *self.awaited.requests.front()?;
            let rq = self.requests.get(at).filter(|rq| rq.is_awaited);
            let Some(group) = rq.map(|rq| self.queues[rq.queue].group) else {
                self.awaited.requests.pop_front();
                continue;
            };
            if self.tree.is_ahead(group, DEBT_MOST) || self.bar_at_ceiling(now, at) {
                return None;
            }
            return Some(self.dispatch(now, at, Why::Awaited));
        }
    }
}
