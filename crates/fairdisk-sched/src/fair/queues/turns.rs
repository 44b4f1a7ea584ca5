//! How long a task may be passed over by others of its class and level.
//!
//! The order of a class is one of service received, so who had an expensive request waits until the
//! others had as much. What a request takes varies: one read may wait for all that is in the write
//! cache of the disk. And newcomers begin beside who had the least, however many come. So a task
//! goes first once the others had several turns each.

use super::super::NIL;
use super::Queues;
use super::class::{PASSED_OVER_TURNS, TURNS_MOST};
use crate::fair::queue::LastTurn;
use fairdisk_core::{Instant, Lba};

impl Queues {
    /// The queue's group, its class there, and its level in that. Nobody waits for what is
    /// asynchronous, so that has no level.
    fn place_of(&self, at: u32) -> Option<(usize, usize, u8)> {
        let queue = &self.queues[at];
        queue.task.is_some().then(|| (queue.group as usize, queue.class(), queue.level()))
    }

    /// Notes that a queue has come into line.
    pub(super) fn begin_waiting(&mut self, at: u32) {
        let Some((group, class, level)) = self.place_of(at) else { return };
        let requests = u64::from(self.queues[at].order.last_turn.continued.max(1));
        let level = self.leaves[group].classes[class].level(level);
        let in_line = u64::from(level.waits.len()) + 1;
        let due = level.turns + PASSED_OVER_TURNS * in_line * requests;
        self.due.insert(&mut level.waits, at, due);
    }

    /// Notes that a queue leaves the line.
    pub(super) fn end_waiting(&mut self, at: u32) {
        let Some((group, class, level)) = self.place_of(at) else { return };
        let level = self.leaves[group].classes[class].level(level);
        self.due.remove(&mut level.waits, at);
    }

    /// Notes that a queue in line is served in its group's order, with a request that begins at
    /// `place`: that begins a [turn](Turns) or is part of the last one.
    #[inline]
    pub(super) fn count_turn(&mut self, now: Instant, at: u32, place: Lba) {
        let leaf = &mut self.leaves[self.queues[at].group as usize];
        let before = core::mem::replace(&mut leaf.served_last, at);
        let Some((group, class, level)) = self.place_of(at) else { return };
        let taken_over = self
            .get(before)
            .filter(|it| before != at && TURNS_MOST.is_near(it.track.position, place));
        let taken_over = taken_over.and_then(|it| it.order.last_turn.since);
        let queue = &mut self.queues[at];
        if taken_over.is_some() {
            queue.order.last_turn = LastTurn { since: taken_over, continued: 0 };
        }
        let continues = queue.track.position == place;
        let goes_on = continues || before == at || taken_over.is_some();
        let turn = &mut queue.order.last_turn;
        if goes_on && turn.since.is_some_and(|since| now.since(since) < TURNS_MOST.length) {
            turn.continued = (turn.continued + u32::from(continues)).min(TURNS_MOST.continued);
            return;
        }
        *turn = LastTurn { since: Some(now), continued: 0 };
        self.leaves[group].classes[class].level(level).turns += 1;
    }

    /// Notes that a queue is gone, so that another with its number begins a turn of its own.
    pub(super) fn forget_turn(&mut self, at: u32) {
        let last = &mut self.leaves[self.queues[at].group as usize].served_last;
        if *last == at {
            *last = NIL;
        }
    }
}
