//! A turn: how long a queue has the disk, when it is waited for, and what it is charged.

use super::Bfq;
use fairdisk_core::{Instant, Span, Why};

/// The queue that has the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) queue: u32,
    pub(super) began: Instant,
    /// Sectors handed over in it.
    pub(super) served: u64,
    budget: u64,
    /// Until when the disk is kept for it, once it has run empty.
    pub(super) idle_until: Option<Instant>,
    /// The oldest request has been looked at.
    pub(super) fifo_checked: bool,
    /// Why it began, until that is told.
    pub(super) why: Option<Why>,
}

/// Why a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The budget is used up.
    Exhausted,
    /// It has lasted long enough.
    TimedOut,
    /// The queue has nothing more, and is not waited for or did not come back.
    Emptied,
    /// A queue of a better class wants the disk.
    Preempted,
}

impl Turn {
    /// Whether `sectors` more fit. The first request always does.
    pub(super) const fn has_room(&self, sectors: u64) -> bool {
        self.served == 0 || self.served + sectors <= self.budget
    }

    pub(super) fn is_over(&self, now: Instant, timeout: Span) -> bool {
        self.served > 0 && now.since(self.began) >= timeout
    }
}

impl Bfq {
    /// The queue that is next in the schedule gets the disk.
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

    /// The queue loses the disk, is charged, and gets its next budget.
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
        // Those who use their budgets up get larger ones, others what they need: which way is the
        // documentation's (bfq-iosched.rst, section 2), by how much is chosen here.
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

    /// Sectors, but time where the queue held the device up: then what the device would have done
    /// meanwhile (Documentation/block/bfq-iosched.rst, 1-1: time-based sharing for those who would
    /// cause a loss of throughput). Not with strict guarantees, and not for who is favoured.
    fn charge(&self, turn: &Turn, span: Span, end: End) -> u64 {
        let in_time = self.pace.worth(span);
        let slow = end == End::TimedOut || 2 * turn.served < in_time;
        let by_sectors = self.params.strict_guarantees || self.queues[turn.queue].is_raised();
        if slow && !by_sectors { turn.served.max(in_time) } else { turn.served }
    }

    /// Whether the disk is kept for a queue that has it and has run empty.
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
