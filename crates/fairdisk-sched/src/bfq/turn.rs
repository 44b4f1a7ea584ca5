//! A turn: how long a queue has the disk, whether the disk idles for it, and what it is charged.

use super::{Bfq, BfqParams};
use fairdisk_core::{Decision, Instant, RequestId, Span, Why};

/// The turn of the queue in service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) queue: u32,
    pub(super) began: Instant,
    /// Sectors dispatched in this turn.
    pub(super) served: u64,
    /// What they count against the budget.
    pub(super) cost: u64,
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
    /// Whether `cost` more fits into the budget. The first request of a turn always does.
    pub(super) const fn has_room(&self, cost: u64) -> bool {
        self.served == 0 || self.cost + cost <= self.budget
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
            cost: 0,
            budget,
            idle_until: None,
            fifo_checked: false,
            why,
        };
        self.turn = Some(turn);
        self.turn
    }

    /// The next request of the queue that has the disk: the oldest if it is past its FIFO deadline,
    /// which is checked once per turn, else the best one by position.
    fn next_request(&mut self, now: Instant, turn: Turn) -> (u32, Why) {
        let why = turn.why.unwrap_or(Why::SliceContinues);
        let q = &self.queues[turn.queue];
        let (oldest, next) = (q.pending.oldest(), q.pending.next);
        let limit =
            if q.sync { self.params.fifo_expire_sync } else { self.params.fifo_expire_async };
        let waited = now.since(self.requests[oldest].arrived);
        if !turn.fifo_checked && waited >= limit && oldest != next {
            (oldest, Why::DeadlineExpired)
        } else {
            (next, why)
        }
    }

    /// The decision for the queue that has the disk; `None` if its turn is over.
    pub(super) fn continue_turn(&mut self, now: Instant, turn: Turn) -> Option<Decision> {
        let q = &self.queues[turn.queue];
        if q.pending.is_empty() {
            let kept = self.keep_for(now, turn);
            if kept.is_none() {
                self.end_turn(now, End::Emptied);
                return None;
            }
            return self.inject(turn).or(kept);
        }
        if turn.is_over(now, self.params.timeout) {
            self.end_turn(now, End::TimedOut);
            return None;
        }
        let (index, why) = self.next_request(now, turn);
        let cost = self.cost(turn.queue, self.sectors(index));
        if !turn.has_room(cost) {
            self.end_turn(now, End::Exhausted);
            return None;
        }
        if let Some(turn) = &mut self.turn {
            (turn.fifo_checked, turn.why) = (true, None);
        }
        self.hand_over(index, cost);
        Some(Decision::Dispatch(RequestId(index), why))
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
            End::Exhausted if self.params.switches.budget_feedback => 2 * q.budget,
            End::Exhausted => q.budget + most / 8,
            End::Emptied => turn.cost,
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
    /// 1-1: queues that would lower throughput share by time); before that change, its budget. With
    /// strict guarantees, and for raised queues, only the sectors served count.
    fn charge(&self, turn: &Turn, span: Span, end: End) -> u64 {
        let in_time = self.pace.worth(span);
        let slow = end == End::TimedOut || 2 * turn.served < in_time;
        let by_sectors = self.params.strict_guarantees || self.queues[turn.queue].is_raised();
        match self.params.switches.slow_by_time {
            _ if by_sectors || !slow => turn.cost,
            true => turn.cost.max(in_time),
            false => turn.cost.max(turn.budget),
        }
    }

    /// What `sectors` of a queue count against its budget and its share.
    pub(super) fn cost(&self, queue: u32, sectors: u64) -> u64 {
        let on = &self.params.switches;
        if self.queues[queue].sync {
            return sectors;
        }
        let for_raised = if on.raised_first && self.schedule.raised() > 0 { 2 } else { 1 };
        let only_symmetric = on.overcharge_in_symmetry;
        let factor = match on.write_overcharge_3 {
            _ if !on.write_overcharge || only_symmetric && self.schedule.is_asymmetric(on) => 1,
            true => 3,
            false => 10,
        };
        sectors * factor * for_raised
    }

    /// The wait for the queue in service, which has nothing pending: until its idle wait is over or
    /// its request in flight is done. `None` if the disk is not kept for it.
    pub(super) fn keep_for(&self, now: Instant, turn: Turn) -> Option<Decision> {
        match turn.idle_until {
            Some(until) if now < until => Some(Decision::WaitUntil(until, Why::IdleWait)),
            None if self.queues[turn.queue].dispatched > 0
                && self.wait_for(turn.queue).is_some() =>
            {
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

    /// How long the disk is to idle for the queue in service after it has run empty, if it is.
    pub(super) fn wait_for(&self, queue: u32) -> Option<Span> {
        let BfqParams { slice_idle, seeky_idle, switches: on, .. } = &self.params;
        let q = &self.queues[queue];
        let context = self.tasks.get(q.context).filter(|it| it.alive && q.sync && !q.orphan)?;
        if self.params.strict_guarantees {
            return (*slice_idle > Span::ZERO).then_some(*slice_idle);
        }
        let soon = !context.think.is_valid() || context.think.mean() <= slice_idle.as_us();
        let others_first = on.raised_first && !q.is_raised() && self.schedule.raised() > 0;
        if q.priority.is_idle() || !soon || others_first {
            return None;
        }
        let seeks = context.seek.is_valid() && context.seek.seeks();
        let owed = on.raised_keep_device && q.is_raised() || self.schedule.is_asymmetric(on);
        let slows = on.random_in_symmetry && seeks || on.flash_in_symmetry && !self.rotational;
        if slows && !owed && self.depth > 1 {
            return None;
        }
        let is_short = seeks && !(on.seeky_in_symmetry && owed);
        let span = if is_short { *seeky_idle.min(slice_idle) } else { *slice_idle };
        (span > Span::ZERO).then_some(span)
    }

    /// Ends the current turn if `queue`, which has a request now, should have the disk at once: for
    /// a better class within the same group, or if it had `woken` for a greater weight.
    pub(super) fn preempt(&mut self, now: Instant, queue: u32, woken: bool) {
        let Some(turn) = self.turn else { return };
        let (new, old) = (&self.queues[queue], &self.queues[turn.queue]);
        let better = new.priority.is_real_time() && !old.priority.is_real_time()
            || old.priority.is_idle() && !new.priority.is_idle();
        let heavier = self.params.switches.weight_preempts
            && woken
            && self.schedule.comes_before(new.entity, old.entity);
        if better && new.group == old.group || heavier {
            self.end_turn(now, End::Preempted);
        }
    }
}
