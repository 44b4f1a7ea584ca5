//! Turns: which group has a disk with a head, or a device that serves one request at a time, and
//! for how long.
//!
//! On a disk with a head it pays to stay with a task and near a group's data. So a group has the
//! disk for its part of a round, and in it a task keeps the disk while it has requests. Elsewhere a
//! turn is one request.
//!
//! If the group or task that has the disk has nothing queued, the disk is kept free for it only if
//! that gains something:
//!
//! - isolation, if its next request would be served before everything queued, because its group is
//!   behind or its class is better. Otherwise somebody else's request would be served before each
//!   of its own, whatever its weight;
//! - time, on a disk with a head, if its next request is near.
//!
//! The gain is compared with the cost of waiting, which is the usual think time of the task or
//! group.
//!
//! If `idle=` sets how long a group is waited for, that holds even at a loss. The group is then
//! charged for the idle time that the rule would not have allowed.

use super::group::{Away, Group};
use super::patience::{Absent, Gain, Patience, worth_waiting};
use super::{Fair, NIL, Step};
use core::cmp::Ordering;
use fairdisk_core::{Instant, Span, Why};

/// The current turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) group: u32,
    /// The queue that is served in the turn, or `NIL` if that is gone.
    pub(super) queue: u32,
    /// The service the group has used in the turn.
    pub(super) used: Span,
    /// The part of `used` that the queue has used.
    pub(super) used_by_queue: Span,
    /// Since when the disk is kept free for the group at its own cost.
    pub(super) kept_since: Option<Instant>,
    /// Whether no other queue's requests are issued, on a device that serves several.
    pub(super) alone: bool,
    /// Whether another queue has been served since this one was.
    pub(super) is_head_away: bool,
    /// Whether the group has the turn for its latency target.
    pub(super) is_brought: bool,
}

impl Turn {
    pub(super) const fn new(group: u32, queue: u32) -> Self {
        let (used, used_by_queue) = (Span::ZERO, Span::ZERO);
        Self {
            group,
            queue,
            used,
            used_by_queue,
            kept_since: None,
            alone: false,
            is_head_away: false,
            is_brought: false,
        }
    }
}

/// No turn is shorter than an eighth of a round: 25 ms of a default one, about two random requests
/// of a disk with a head.
const SHORTEST_PARTS: u64 = 8;

impl Fair {
    /// The next step on a device that serves one request at a time.
    pub(super) fn step_serial(&mut self, now: Instant) -> Step {
        if self.is_busy() {
            return Step::WaitCompletion(Why::OneAtATime);
        }
        if let Some(step) = self.serve_awaited(now) {
            // As a floor below, it begins no turn.
            self.end_keeping(now);
            return step;
        }
        while let Some(group) = self.below_floor(now) {
            let queue = self.queues.first_of(now, group);
            let at = self.next_of(now, queue);
            if !self.bar_at_ceiling(now, at) {
                // Service for a floor begins no turn, which would be more than is promised and
                // would cost share later.
                self.end_keeping(now);
                return self.dispatch(now, at, Why::BelowFloor);
            }
        }
        if let Some(step) = self.serve_target(now) {
            return step;
        }
        if let Some(until) = self.about_to_return(now) {
            return Step::WaitUntil(until, Why::HeldForThinker);
        }
        let why = match self.turn {
            None => Why::LeastServed,
            Some(turn) => match self.go_on(now, turn) {
                Ok(step) => return step,
                Err(why) => why,
            },
        };
        self.begin_turn(now, why)
    }

    /// The next step in the turn, or why it has ended.
    fn go_on(&mut self, now: Instant, turn: Turn) -> Result<Step, Why> {
        let Turn { group, queue, .. } = turn;
        if self.groups[group as usize].waiting == 0 {
            return self.keep_for_group(now, turn);
        }
        if self.is_used_up(turn) && self.tree.others_want(group) {
            return Err(Why::GroupSliceExpired);
        }
        if let Some(returned) = self.serve_returned(now, turn) {
            return returned;
        }
        let first = self.queues.first_of(now, group);
        if self.queues.get(queue).is_some_and(|queue| queue.waiting > 0) {
            return match self.makes_way(turn, first) {
                Some(why) => self.serve(now, first, why),
                None => self.serve(now, queue, Why::SliceContinues),
            };
        }
        match self.patience_with_queue(now, turn) {
            Patience::Until(at) => Ok(Step::WaitUntil(at, Why::IdleWait)),
            other => self.serve(now, first, other.why(Why::QueueEmptied)),
        }
    }

    /// Decides whether to keep the disk free for the group whose turn it is, which has nothing
    /// queued and nothing at the disk. Returns why the turn ends if not.
    pub(super) fn keep_for_group(&mut self, now: Instant, turn: Turn) -> Result<Step, Why> {
        match self.patience_with_group(now, turn) {
            Patience::Until(at) => Ok(Step::WaitUntil(at, Why::GroupIdleWait)),
            Patience::AskedFor(at) => {
                self.begin_keeping(now);
                Ok(Step::WaitUntil(at, Why::GroupIdleWait))
            }
            Patience::Longer(at, waited) => {
                self.note_late(turn.group, waited);
                Ok(Step::WaitUntil(at, Why::GroupIdleWait))
            }
            other => {
                self.note_leaving(now, turn.group, other);
                Err(other.why(Why::GroupEmptied))
            }
        }
    }

    /// Notes that a group was waited for in vain for as long as is usual, `waited`.
    pub(super) fn note_late(&mut self, group: u32, waited: Span) {
        let entry = &mut self.groups[group as usize];
        (entry.away, entry.waited) = (Away::Late, waited);
    }

    /// Notes why the turn of a group ends that has nothing queued. What it misses while it is
    /// behind and thinks, it is not to lose.
    pub(super) fn note_leaving(&mut self, now: Instant, group: u32, patience: Patience) {
        let (away, waited) = match patience {
            Patience::TooLong => (Away::TooLong, Span::ZERO),
            Patience::Over(waited) => (Away::Outlasted, waited),
            _ => (Away::No, Span::ZERO),
        };
        let is_behind = away != Away::No && self.tree.behind_by(group).is_some();
        let entry = &mut self.groups[group as usize];
        (entry.away, entry.waited) = (if is_behind { away } else { Away::No }, waited);
        if is_behind {
            let queue = self.turn.map_or(NIL, |turn| turn.queue);
            self.will_return(now, group, queue);
        }
    }

    /// Ends the turn.
    pub(super) fn end_turn(&mut self, now: Instant) {
        self.end_keeping(now);
        self.turn = None;
    }

    /// Keeps the disk free at the cost of the group whose turn it is, from now on if not already.
    pub(super) fn begin_keeping(&mut self, now: Instant) {
        if let Some(turn) = &mut self.turn {
            turn.kept_since.get_or_insert(now);
        }
    }

    /// Stops keeping the disk free, and charges the group for the time if `idle=` asked for it.
    #[inline]
    pub(super) fn end_keeping(&mut self, now: Instant) {
        if let Some(turn) = &mut self.turn
            && let Some(since) = turn.kept_since.take()
        {
            let group = turn.group;
            self.charge_group(group, Span::ZERO, now.since(since));
            if self.in_flight == 0 {
                // The group has paid for this time, so writers are not charged for it.
                self.busy_since = now;
            }
        }
    }

    /// Stops keeping the disk free if the group has come back or nobody else wants the disk.
    #[inline]
    pub(super) fn end_keeping_if_over(&mut self, now: Instant) {
        if let Some(Turn { group, kept_since: Some(_), .. }) = self.turn
            && (self.queued == 0 || self.groups[group as usize].waiting > 0)
        {
            self.end_keeping(now);
        }
    }

    /// Begins a turn of the group with the queue, and returns it.
    pub(super) fn give_turn(&mut self, now: Instant, group: u32, queue: u32) -> &mut Turn {
        self.end_keeping(now);
        let entry = &mut self.groups[group as usize];
        entry.away = Away::No;
        self.returning.set_back(entry, false);
        self.turn.insert(Turn::new(group, queue))
    }

    /// Why the queue that is served in the turn, and has more requests, makes way for `first`, the
    /// first in line; `None` if it goes on.
    fn makes_way(&self, turn: Turn, first: u32) -> Option<Why> {
        if first == turn.queue {
            return None;
        }
        let class = |queue: u32| self.queues[queue].class();
        match class(first).cmp(&class(turn.queue)) {
            Ordering::Less => Some(Why::Preempted),
            Ordering::Equal if self.stays_with_task(turn) => None,
            Ordering::Equal => Some(Why::SliceExpired),
            Ordering::Greater => Some(Why::ClassStarved),
        }
    }

    /// Serves a queue of the group whose turn it is, unless the group is at its ceiling, or another
    /// would lose what its ceiling allows.
    fn serve(&mut self, now: Instant, queue: u32, why: Why) -> Result<Step, Why> {
        let at = self.next_of(now, queue);
        if !self.barred.is_unused()
            && let Some(step) = self.heed_ceilings(now, at)
        {
            return step;
        }
        if let Some(until) = self.write_waits(now, at) {
            return Ok(Step::WaitUntil(until, Why::HeldForThinker));
        }
        if let Some(turn) = &mut self.turn
            && turn.queue != queue
        {
            (turn.queue, turn.used_by_queue) = (queue, Span::ZERO);
        }
        Ok(self.dispatch(now, at, why))
    }

    /// Begins a turn of the group that is first in line. `ended` is why the turn before ended.
    fn begin_turn(&mut self, now: Instant, ended: Why) -> Step {
        self.end_keeping(now);
        let before = self.turn.take();
        loop {
            let Some(group) = self.tree.first() else { return self.wait_for_ceilings() };
            let queue = self.queues.first_of(now, group);
            let at = self.next_of(now, queue);
            if self.bar_at_ceiling(now, at) {
                continue;
            }
            if let Some(until) = self.write_waits(now, at) {
                return Step::WaitUntil(until, Why::HeldForThinker);
            }
            if let Some(step) = self.empty_cache(now, at) {
                return step;
            }
            let same = before.is_some_and(|turn| turn.group == group);
            let why = if same || !self.device.rotational { Why::LeastServed } else { ended };
            self.give_turn(now, group, queue);
            return self.dispatch(now, at, why);
        }
    }

    /// Whether the group has had its part of a round.
    pub(super) fn is_used_up(&self, turn: Turn) -> bool {
        if !self.device.rotational {
            return true;
        }
        self.is_past(turn.used, turn.group)
    }

    /// Whether `used` is at least a whole turn of the group on a disk with a head.
    pub(super) fn is_past(&self, used: Span, group: u32) -> bool {
        used >= self.shortest() && used >= self.length(group)
    }

    /// The length of a turn of the group on a disk with a head.
    fn length(&self, group: u32) -> Span {
        let (round, part) = (self.rounds.length.as_ns(), self.tree.part(group));
        Span::from_ns(((u128::from(round) * u128::from(part)) >> 32) as u64).max(self.shortest())
    }

    /// The length of the shortest turn on a disk with a head.
    pub(super) fn shortest(&self) -> Span {
        self.params.round / SHORTEST_PARTS
    }

    /// Whether the queue may keep the disk while others of its group want it: for half of a round.
    /// That is half of `round_ms`, unless the queue has the device to itself: tasks need not wait
    /// longer because groups have longer turns.
    fn stays_with_task(&self, turn: Turn) -> bool {
        let round = if turn.alone { self.rounds.length } else { self.params.round };
        self.device.rotational && turn.used_by_queue < round / 2
    }

    /// Whether a turn in which a task has the device to itself is over: after its group's part of a
    /// round, or after half a round.
    pub(super) fn is_over_alone(&self, turn: Turn) -> bool {
        self.is_used_up(turn) || !self.stays_with_task(turn)
    }

    /// Whether to keep the disk free for the group whose turn it is, which has nothing queued.
    fn patience_with_group(&self, now: Instant, turn: Turn) -> Patience {
        let group = &self.groups[turn.group as usize];
        let others_want = self.tree.others_want(turn.group) && !self.tree.is_barred(turn.group);
        let Some(since) = group.quiet_since.filter(|_| others_want) else {
            return Patience::NotWorthIt;
        };
        let (behind, used_up) = (self.tree.behind_by(turn.group), self.is_used_up(turn));
        let mut gain = Gain::default();
        if behind.is_some() {
            // A task that has its writes flushed thinks once for a request and its flush.
            gain.own = self.own(turn.queue) + group.flushing();
            gain.isolation = self.isolation(turn.queue);
            gain.others = self.in_its_place(now);
            gain.time = self.spared(now);
        }
        if !used_up {
            gain.time += self.nearness(turn.queue);
        }
        let absent = Absent { since, think: group.think.get(), pause: group.think.pause() };
        let by_rule = absent.patience(now, gain, self.idle_most(group));
        match group.idle {
            Some(idle)
                if !matches!(by_rule, Patience::Until(_) | Patience::Longer(..))
                    && (behind.is_some() || !used_up) =>
            {
                let rest = if used_up { Span::ZERO } else { self.length(turn.group) - turn.used };
                let own = rest.max(behind.unwrap_or(Span::ZERO));
                let paid_until = turn.kept_since.unwrap_or(now) + own;
                absent.asked_for(now, idle, paid_until)
            }
            _ => by_rule,
        }
    }

    /// How long the device may stay idle to leave the heads where they are.
    pub(super) fn worth_alone(&self) -> Span {
        worth_waiting(self.device.elsewhere())
    }

    /// The longest that the group is waited for by the rule.
    pub(super) fn idle_most(&self, group: &Group) -> Span {
        group.idle.map_or(self.params.idle_max, |idle| idle.min(self.params.idle_max))
    }

    /// Whether to keep the disk free for the queue of the turn, which has nothing queued while
    /// others of its group have.
    fn patience_with_queue(&self, now: Instant, turn: Turn) -> Patience {
        let isolation = self.queues.is_used(turn.queue) && self.queues.is_behind(turn.queue);
        let mut gain = if isolation { self.isolation(turn.queue) } else { Span::ZERO };
        if self.stays_with_task(turn) {
            gain += self.nearness(turn.queue);
        }
        self.patience_for(now, turn, Gain { time: gain, ..Gain::default() })
    }

    /// Whether to keep the disk free for the queue of the turn for this gain.
    pub(super) fn patience_for(&self, now: Instant, turn: Turn, gain: Gain) -> Patience {
        let queue = self.queues.get(turn.queue).filter(|queue| queue.waiting == 0);
        let Some(queue) = queue.filter(|queue| queue.task.is_some() && !queue.orphan) else {
            return Patience::NotWorthIt;
        };
        let Some(since) = queue.quiet_since else { return Patience::NotWorthIt };
        let group = &self.groups[turn.group as usize];
        let pause = group.think.pause().filter(|_| group.is_quiet());
        let absent = Absent { since, think: queue.think.get(), pause };
        absent.patience(now, gain, self.idle_most(group))
    }

    /// The isolation gained if nothing else is served before the queue's next request: the time of
    /// a request, its own or any, whichever is longer. Writes acknowledged before they are done
    /// would make the mean of all too short.
    pub(super) fn isolation(&self, queue: u32) -> Span {
        self.device.service.or_zero().max(self.own(queue))
    }

    /// How long the requests take that would go to the disk in the place of one and be served
    /// before it, if the disk takes several: as many as it takes.
    pub(super) fn in_its_place(&self, now: Instant) -> Span {
        let Some(group) = self.tree.first().filter(|_| !self.device.is_serial()) else {
            return Span::ZERO;
        };
        let requests = self.queued.min(self.device.depth);
        let each = self.own(self.queues.first_of(now, group)).as_ns();
        Span::from_ns(each.saturating_mul(requests.into()))
    }

    /// The mean time of a request of the queue, or zero.
    fn own(&self, queue: u32) -> Span {
        let queue = self.queues.get(queue);
        queue.and_then(|queue| queue.service.get()).unwrap_or(Span::ZERO)
    }

    /// The time that the next queue in line loses if another request goes before it.
    fn spared(&self, now: Instant) -> Span {
        let Some(group) = self.tree.first() else { return Span::ZERO };
        self.nearness(self.queues.first_of(now, group))
    }

    /// How much less time a request takes that follows one of the same queue.
    fn nearness(&self, queue: u32) -> Span {
        let following = self.queues.get(queue).and_then(|queue| queue.following.get());
        match following {
            Some(following) if self.device.rotational => {
                self.device.switching.or_zero() - following
            }
            _ => Span::ZERO,
        }
    }

    /// Whether the queue of the group gets the disk at once if it alone wants it: no promise to any
    /// group applies, and nobody else is waited for.
    pub(super) fn is_alone(&self, group: u32, queue: u32) -> bool {
        self.targets.is_empty()
            && self.floors.is_empty()
            && self.barred.first().is_none()
            && !self.has_ceiling(group)
            && !self.device.pays_alone()
            && self.returning.is_empty()
            && self.has_turn(group, queue)
    }

    /// Whether there is no turn or it is the queue's. On a device that serves several requests at
    /// once, any queue of the turn's group will do.
    fn has_turn(&self, group: u32, queue: u32) -> bool {
        let any = !self.device.is_serial();
        let is_its = |turn: Turn| turn.group == group && (any || turn.queue == queue);
        self.turn.is_none_or(|turn| is_its(turn) && !turn.alone)
    }

    /// Whether the disk may be kept free for this queue, so that its task may exceed a full pool.
    pub(super) fn is_waited_for(&self, queue: u32) -> bool {
        let turn = self.turn.filter(|turn| turn.queue == queue);
        let may_be = turn.is_some_and(|turn| turn.alone || self.device.is_serial());
        may_be && self.queues[queue].waiting == 0
    }
}
