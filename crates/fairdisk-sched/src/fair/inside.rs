//! Inside a group, on a device that serves several requests at once: which of its tasks wait for
//! which.
//!
//! Tasks of one priority have their requests at the device together, and share what the group gets
//! as they ask for it. Where priorities differ, the next request of the group waits as between
//! groups: while the device is fully busy and a task that is before its own is expected, or, on a
//! disk with one head that has nothing to do, for as long as it is worth it. And a task that
//! streams has the device to itself in turns, as beside other groups.

use super::patience::{Gain, Patience};
use super::queue::Queue;
use super::queues::For;
use super::turn::Turn;
use super::{Fair, Step};
use fairdisk_core::{Instant, Span, Why};

impl Fair {
    /// An expected queue of another priority in the group that is before this one.
    #[inline]
    pub(super) fn expected_inside(&mut self, now: Instant, group: u32, queue: u32) -> Option<u32> {
        match self.queues.has_priorities(group) {
            true => self.queues.expected_before(now, queue, For::OtherRanks, Span::ZERO),
            false => None,
        }
    }

    /// Keeps a disk that has nothing to do free for a task of the group whose turn it is, before
    /// the one that is next in it.
    pub(super) fn keep_for_task(&mut self, now: Instant, turn: Turn, next: u32) -> Option<Step> {
        if self.is_busy() {
            return None;
        }
        let queue = self.expected_inside(now, turn.group, next)?;
        let (isolation, others) = (self.isolation(queue), self.in_its_place(now));
        let gain = Gain { isolation, others, ..Gain::default() };
        match self.patience_for(now, Turn { queue, ..turn }, gain) {
            Patience::Until(until) => Some(Step::WaitUntil(until, Why::IdleWait)),
            _ => None,
        }
    }

    /// Whether other queues of its group want the device, or have requests there, beside which the
    /// queue, which streams, is better alone.
    pub(super) fn has_company_inside(&self, queue: u32) -> bool {
        let Queue { group, in_flight, .. } = self.queues[queue];
        let is_shared = || {
            self.queues.others_in_line(queue) || self.groups[group as usize].in_flight > in_flight
        };
        self.has_turns_inside(group) && is_shared()
    }

    /// Whether streams of the group have the device to themselves in turns. A disk with one head
    /// prefers a stream to anything else, or mixes it with others at no cost to them, so there it
    /// only has to wait now and then. Nobody asked for more unless priorities are set.
    fn has_turns_inside(&self, group: u32) -> bool {
        !self.device.is_measured() || self.queues.has_priorities(group)
    }

    /// Until when a queue that streams waits for an expected queue of its group that does not, or
    /// has another priority. Without turns it does so once it had half a round more than that one,
    /// until it has no more.
    pub(super) fn yields_inside(&mut self, now: Instant, queue: u32) -> Option<Instant> {
        let q = &self.queues[queue];
        let lead = match q.is_caught_up_with || self.has_turns_inside(q.group) {
            true => Span::ZERO,
            false => self.params.round / 2,
        };
        let before = self.queues.expected_before(now, queue, For::Seekers, lead);
        self.queues[queue].is_caught_up_with = before.is_some();
        before.and_then(|before| self.queues[before].expected_until(self.params.idle_max))
    }

    /// Whether a task of a better class than the queue's is next in its group.
    pub(super) fn is_preempted(&self, now: Instant, queue: u32) -> bool {
        let q = &self.queues[queue];
        self.groups[q.group as usize].waiting > 0
            && self.queues[self.queues.first_of(now, q.group)].class() < q.class()
    }
}
