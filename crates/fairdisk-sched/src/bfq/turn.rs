//! A turn: how long a queue has the disk, whether the disk idles for it, and what it is charged.

use super::Bfq;
use fairdisk_core::{Decision, Instant, Span, Why};

/// The turn of the queue in service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) queue: u32,
    pub(super) began: Instant,
    /// Sectors dispatched in this turn.
    pub(super) served: u64,
    budget: u64,
    /// Until when the disk idles for the queue, once it has run empty.
    pub(super) idle_until: Option<Instant>,
    /// Whether the oldest request has been checked against its FIFO deadline in this turn.
    pub(super) fifo_checked: bool,
    /// Why the turn began; taken by the first dispatch that reports it.
    pub(super) why: Option<Why>,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The queue has used up its budget.
    Exhausted,
    /// The turn has reached the time limit.
    TimedOut,
    /// The queue is empty, and the disk does not idle for it or idled in vain.
    Emptied,
    /// A queue of a better class wants the disk.
    Preempted,
}

impl Turn {
    /// Whether `sectors` more fit into the budget. The first request of a turn always does.
    pub(super) const fn has_room(&self, sectors: u64) -> bool {
        self.served == 0 || self.served + sectors <= self.budget
    }

    pub(super) fn is_over(&self, now: Instant, timeout: Span) -> bool {
        self.served > 0 && now.since(self.began) >= timeout
    }
}

impl Bfq {
    /// Gives the disk to the next queue in the schedule.
    pub(super) fn begin_turn(&mut self, now: Instant) -> Option<Turn> {
        let entity = self.schedule.next(now)?;
        let queue = self.queue_of_entity[entity as usize];
        let budget = self.queues[queue].budget;
        let why = Some(self.turn_ended);
        let turn = Turn {
            queue,
            began: now,
            served: 0,
            budget,
            idle_until: None,
            fifo_checked: false,
            why,
        };
        self.turn = Some(turn);
        self.turn
    }

    /// Ends the turn of the queue in service, charges it and sets its next budget.
    pub(super) fn end_turn(&mut self, now: Instant, end: End) {
        let Some(turn) = self.turn.take() else { return };
        self.turn_ended = match end {
            End::Exhausted | End::TimedOut => Why::SliceExpired,
            End::Emptied if turn.idle_until.is_some() => Why::IdleWaitFailed,
            End::Emptied => Why::QueueEmptied,
            End::Preempted => Why::Preempted,
        };
        let span = now.since(turn.began);
        self.pace.observe(turn.served, span);
        let charge = self.charge(&turn, span, end);
        let (least, most) = (self.pace.budget_min(), self.pace.budget_max());
        let q = &mut self.queues[turn.queue];
        // A queue that used up its budget gets a larger one, one that ran empty gets what it used.
        // The directions are those of the documentation (bfq-iosched.rst, section 2); the amounts
        // are chosen here.
        let budget = match end {
            End::Exhausted => 2 * q.budget,
            End::Emptied => turn.served,
            End::TimedOut | End::Preempted => q.budget,
        };
        q.budget = budget.clamp(least, most);
        q.lower(now);
        let (entity, budget, weight) = (q.entity, q.budget, q.weight());
        self.schedule.set_weight(entity, weight);
        self.schedule.set_budget(entity, budget);
        if q.active {
            self.schedule.charge(entity, charge);
        }
        self.settle(turn.queue);
    }

    /// The sectors to charge for a turn. A queue that was slow is charged for its time: as many
    /// sectors as the device would have transferred meanwhile (Documentation/block/bfq-iosched.rst,
    /// 1-1: queues that would lower throughput share by time). With strict guarantees, and for
    /// raised queues, only the sectors served count.
    fn charge(&self, turn: &Turn, span: Span, end: End) -> u64 {
        let in_time = self.pace.worth(span);
        let slow = end == End::TimedOut || 2 * turn.served < in_time;
        let by_sectors = self.params.strict_guarantees || self.queues[turn.queue].is_raised();
        if slow && !by_sectors { turn.served.max(in_time) } else { turn.served }
    }

    /// The wait for the queue in service, which has nothing pending: until its idle wait is over or
    /// its request in flight is done. `None` if the disk is not kept for it.
    pub(super) fn keep_for(&self, now: Instant, turn: Turn) -> Option<Decision> {
        match turn.idle_until {
            Some(until) if now < until => Some(Decision::WaitUntil(until, Why::IdleWait)),
            None if self.queues[turn.queue].dispatched > 0 && self.is_waited_for(turn.queue) => {
                Some(Decision::WaitCompletion(Why::OwnRequestInFlight))
            }
            _ => None,
        }
    }

    /// Why the disk is kept from the group, which wants it: for a queue of another group that has
    /// nothing pending. A group has no other reason to wait than its place in the schedule.
    pub(super) fn why_kept_from(&self, now: Instant, group: u32) -> Option<Why> {
        let turn = self.turn.filter(|_| self.schedule.wants(group))?;
        let q = &self.queues[turn.queue];
        let is_for_another = q.pending.is_empty() && q.group != group;
        match self.keep_for(now, turn).filter(|_| is_for_another)? {
            Decision::WaitUntil(_, why) | Decision::WaitCompletion(why) => Some(why),
            _ => None,
        }
    }

    /// Whether the disk should idle for the queue in service after it has run empty.
    pub(super) fn is_waited_for(&self, queue: u32) -> bool {
        let q = &self.queues[queue];
        let Some(context) = self.tasks.get(q.context) else { return false };
        if !q.sync || q.orphan || !context.alive || self.params.slice_idle == Span::ZERO {
            return false;
        }
        if self.params.strict_guarantees {
            return true;
        }
        let soon =
            !context.think.is_valid() || context.think.mean() <= self.params.slice_idle.as_us();
        let seeks = context.seek.is_valid() && context.seek.seeks();
        let faster = (self.rotational || self.depth == 1) && !seeks;
        let fair = q.is_raised() || self.schedule.is_asymmetric();
        !q.priority.is_idle() && soon && (faster || fair)
    }
}
