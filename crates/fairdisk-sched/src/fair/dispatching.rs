//! What a request leaves behind in every part of the scheduler when it is dispatched.

use super::turn::SETTLED;
use super::{Fair, NIL};
use fairdisk_core::{Instant, Why};

impl Fair {
    /// Dispatches a request, and charges it to ceilings, floors and shares.
    #[inline]
    pub(super) fn dispatch(&mut self, now: Instant, at: u32, why: Why) {
        let rq = &mut self.requests[at];
        rq.dispatched.follows = self.turn.as_mut().is_some_and(|turn| {
            turn.in_a_row = match why {
                _ if turn.queue != rq.queue => 0,
                Why::SliceContinues => SETTLED.min(turn.in_a_row + 1),
                _ => 1,
            };
            turn.in_a_row == SETTLED
        });
        rq.dispatched.for_floor = why == Why::BelowFloor;
        let queue = rq.queue;
        let q = &self.queues[queue];
        let (group, continues) = (q.group, rq.start == q.track.position);
        rq.dispatched.continues_queue = continues;
        let (start, end) = (rq.start, rq.end);
        let (op, amount, may_be_cached) = (rq.op, rq.amount(), rq.may_be_cached);
        match self.promises.targets.is_empty() || !self.params.rules.brought {
            true => self.tree.reach(group),
            false => self.reach_beside_targets(group, why),
        }
        // What another group waits for goes before all of its own.
        self.queues.reach(now, queue, (why != Why::Awaited).then_some(start));
        if why == Why::Awaited {
            self.promises.awaited.note_served(at);
        }
        self.take_out(at);
        let q = &mut self.queues[queue];
        q.track.streak.add(continues && !op.is_write());
        (q.track.continues, q.track.position) = (continues, end);
        q.in_flight += 1;
        let is_background = q.task.is_none();
        let entry = &mut self.groups[group as usize];
        entry.in_flight += 1;
        let is_back = entry.past.absence.is_back && !is_background;
        entry.last = amount;
        let is_empty = entry.waiting == 0;
        self.load.in_flight += 1;
        if is_back {
            self.note_served_back(at);
        }
        if self.promises.barred.has_ceilings() {
            self.use_ceilings_up(now, at, group);
        }
        self.pay_floors(now, group, amount);
        if may_be_cached {
            self.use_allowance(amount.bytes);
            self.add_to_backlog(now, at, group);
        }
        if self.is_better_alone(queue) && self.waits_inside(group) {
            self.queues.note_stream(queue);
        }
        self.charge_dispatched(now, at);
        if !self.promises.targets.is_empty() {
            self.dispatched_beside_targets(now, at);
        }
        if is_empty {
            self.expect_back(now, group, NIL);
        }
    }

    /// Removes a queued request from its queue.
    #[inline]
    pub(super) fn take_out(&mut self, at: u32) {
        self.expected.let_go(at);
        let rq = &mut self.requests[at];
        rq.is_awaited = false;
        let queue = rq.queue;
        let q = &mut self.queues[queue];
        self.requests.remove(at, q);
        let (group, is_empty) = (q.group, q.waiting == 0);
        self.load.queued -= 1;
        if is_empty {
            self.queues.leave(queue);
        }
        let entry = &mut self.groups[group as usize];
        self.requests.unplace(at, &mut entry.by_place);
        entry.waiting -= 1;
        entry.beside.held.let_go(at);
        if entry.waiting == 0 {
            self.tree.set_wants(group, false);
        }
    }
}
