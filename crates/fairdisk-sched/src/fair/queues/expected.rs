//! Which queues of a group with nothing queued are expected, on a device that serves several
//! requests at once: those that have requests there, and those of tasks that think.
//!
//! As between groups, a task with few requests in flight would get less than its part beside tasks
//! that fill the device, however soon each request is handed over. Tasks of one priority share what
//! their group gets as they ask for it: to hold them back for each other would cost throughput that
//! nobody asked to give. So only groups keep such places whose tasks differ in priority, or one of
//! which streams.

use super::super::queue::{LEVELS, Queue};
use super::Queues;
use super::places::{For, Rank};
use crate::groups::{VirtualTime, virtual_time};
use fairdisk_core::{Instant, Span};

/// At most this many places of a priority are passed over because their queues stream, too, or
/// should have come back. Most of them have a request at the device, and few disks with heads take
/// more.
const PASSED_MOST: u32 = 32;

impl Queues {
    /// Whether queues with nothing queued keep their places anywhere.
    pub(in super::super) const fn uses_places(&self) -> bool {
        self.places.are_of_use
    }

    /// Sets whether queues with nothing queued keep their places at all, and how much service they
    /// may catch up on.
    pub(in super::super) fn keep_places(&mut self, are_of_use: bool, lag: Span) {
        (self.places.are_of_use, self.places.lag) = (are_of_use, lag);
        (0..self.leaves.len() as u32).for_each(|group| self.look_at_ranks(group));
    }

    /// Updates whether the group's queues keep their places.
    fn look_at_ranks(&mut self, group: u32) {
        let ranks = &self.leaves[group as usize].ranks;
        let stream = self.get(ranks.stream).filter(|one| one.group == group);
        let streams = stream.is_some_and(|one| one.track.streak.is_stream());
        let are_kept = self.places.are_of_use && (ranks.are_mixed() || streams);
        self.leaves[group as usize].ranks.are_kept = are_kept;
    }

    /// Notes that a queue of the group streams.
    pub(in super::super) fn note_stream(&mut self, at: u32) {
        let group = self[at].group;
        self.leaves[group as usize].ranks.stream = at;
        self.look_at_ranks(group);
    }

    /// Whether queues of the group with nothing queued keep a place.
    pub(in super::super) fn keeps_places(&self, group: u32) -> bool {
        self.leaves.get(group as usize).is_some_and(|leaf| leaf.ranks.are_kept)
    }

    /// Drops the places of queues of the group that should have come back by `now`, unless others
    /// are before them. One that comes back at this instant keeps its own.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn settle_places(&mut self, now: Instant, group: u32, most: Span) {
        let starts = &mut self.places.starts;
        for Rank { places, .. } in &mut self.leaves[group as usize].ranks.ranks {
            while let Some(first) = starts.first(places) {
                let queue = &mut self.queues[first];
                if queue.expected_until(most).is_some_and(|until| until >= now) {
                    break;
                }
                queue.order.has_place = false;
                starts.remove(places, first);
            }
        }
    }

    /// Whether the tasks of the group have different priorities.
    pub(in super::super) fn has_priorities(&self, group: u32) -> bool {
        self.leaves.get(group as usize).is_some_and(|leaf| leaf.ranks.are_mixed())
    }

    /// Whether the group has tasks of a worse priority than the queue's.
    pub(in super::super) fn has_worse(&self, at: u32) -> bool {
        let (group, own) = (self[at].group, self[at].rank());
        let ranks = self.leaves.get(group as usize).map(|leaf| &leaf.ranks.ranks);
        ranks.is_some_and(|ranks| ranks.iter().any(|one| one.rank > own))
    }

    /// Notes that a task can add requests to the queue, with the priority it has.
    pub(super) fn add_rank(&mut self, at: u32) {
        let (group, rank) = (self[at].group, self[at].rank());
        self.leaves[group as usize].ranks.of(rank).queues += 1;
        self.look_at_ranks(group);
        if self[at].in_flight > 0 && !self[at].order.in_line {
            self.keep_place(at);
        }
    }

    /// Notes that the task adds no more requests to the queue with the priority it has.
    pub(super) fn remove_rank(&mut self, at: u32) {
        self.drop_place(at);
        let (group, rank) = (self[at].group, self[at].rank());
        let ranks = &mut self.leaves[group as usize].ranks;
        ranks.of(rank).queues -= 1;
        ranks.ranks.retain(|one| one.queues > 0);
        self.look_at_ranks(group);
    }

    /// Keeps the place of a queue that has nothing queued any more. Nobody waits for asynchronous
    /// writes: their priority is nobody's wish.
    #[cold]
    #[inline(never)]
    pub(super) fn keep_place(&mut self, at: u32) {
        let Queue { group, task, orphan, ref order, .. } = self[at];
        let start = order.claim.start;
        self.look_at_ranks(group);
        if orphan || task.is_none() || !self.leaves[group as usize].ranks.are_kept {
            return;
        }
        let rank = self[at].rank();
        let places = &mut self.leaves[group as usize].ranks.of(rank).places;
        self.places.starts.insert(places, at, start);
        self[at].order.has_place = true;
    }

    /// Moves the place of a queue that has been charged.
    #[cold]
    #[inline(never)]
    pub(super) fn move_place(&mut self, at: u32) {
        let Queue { group, ref order, .. } = self[at];
        let start = order.claim.start;
        let rank = self[at].rank();
        let places = &mut self.leaves[group as usize].ranks.of(rank).places;
        self.places.starts.set_key(places, at, start);
    }

    /// Drops the place of a queue, if it has one.
    pub(super) fn drop_place(&mut self, at: u32) {
        if !core::mem::replace(&mut self[at].order.has_place, false) {
            return;
        }
        let (group, rank) = (self[at].group, self[at].rank());
        let places = &mut self.leaves[group as usize].ranks.of(rank).places;
        self.places.starts.remove(places, at);
    }

    /// Drops the place of a queue that has something queued again, and returns how far behind it
    /// may begin: while it was expected it kept its place.
    #[cold]
    #[inline(never)]
    pub(super) fn take_place(&mut self, now: Instant, at: u32) -> VirtualTime {
        self.drop_place(at);
        let queue = &self[at];
        let is_in_time = queue.expected_until(self.places.idle_max).is_some_and(|it| it >= now);
        if is_in_time { virtual_time(self.places.lag, queue.weight()) } else { 0 }
    }

    /// An expected queue of the group for which this one, which has something queued, has to wait:
    /// one of a better class, or one of the same class that has had less. None if the class was
    /// passed over for so long that it is its turn. Tasks that think for longer than `most` are not
    /// expected.
    pub(in super::super) fn expected_before(
        &self,
        now: Instant,
        at: u32,
        whom: For,
        most: Span,
    ) -> Option<u32> {
        let queue = &self.queues[at];
        let (class, own) = (queue.class(), queue.rank());
        let leaf = &self.leaves[queue.group as usize];
        if leaf.classes[class].is_passed_over(now, self.patience) {
            return None;
        }
        let starts = &self.places.starts;
        leaf.ranks.ranks.iter().find_map(|Rank { rank, places, .. }| {
            let of = usize::from(*rank / LEVELS);
            let is_asked = of <= class && (whom == For::Seekers || *rank != own);
            let (mut next, mut passed) = (starts.first(places).filter(|_| is_asked), 0);
            while let Some(one) =
                next.filter(|one| of < class || starts.key(*one) < queue.order.claim.start)
            {
                let is_expected = self.queues[one].expected_until(most) > Some(now);
                if is_expected && (*rank != own || !self.queues[one].track.streak.is_stream()) {
                    return Some(one);
                }
                passed += 1;
                next = starts.next(one).filter(|_| passed < PASSED_MOST);
            }
            None
        })
    }
}
