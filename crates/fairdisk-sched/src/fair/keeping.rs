//! Whether the disk is kept free for the group or task that has it, while that has nothing queued.
//!
//! It is kept free only if that gains something:
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

use super::Fair;
use super::absence::Away;
use super::answer::{Answer, Notes, Over};
use super::patience::{Absent, Gain, Patience};
use super::turn::Turn;
use fairdisk_core::{Instant, Span, Why};

impl Fair {
    /// The disk is kept free for the group whose turn it is, which has nothing queued and nothing
    /// at the disk; else its turn is over. While requests of others are there, it is not kept at
    /// the group's cost.
    pub(super) fn keep_for_group(
        &self,
        now: Instant,
        turn: Turn,
        notes: &mut Notes,
    ) -> Result<Answer, Over> {
        let patience = self.patience_with_group(now, turn);
        let until = match patience {
            Patience::Until(until) | Patience::AskedFor(until) | Patience::Longer(until, _) => {
                until
            }
            over => return Err(Over::Left(over)),
        };
        let is_asked_for = matches!(patience, Patience::AskedFor(_));
        if self.load.in_flight > 0 && (is_asked_for || turn.kept_since.is_some()) {
            return Err(Over::Done);
        }
        notes.at_own_cost = is_asked_for;
        notes.late = patience.outlasted();
        Ok(Answer::Wait(until, Why::GroupIdleWait))
    }

    /// Notes that the group whose turn it is was waited for in vain for as long as is usual,
    /// `waited`.
    pub(super) fn note_late(&mut self, waited: Span) {
        if let Some(turn) = self.turn {
            let entry = &mut self.groups[turn.group as usize];
            (entry.past.absence.away, entry.past.absence.waited) = (Away::Late, waited);
        }
    }

    /// Notes why the turn of a group ends that has nothing queued. What it misses while it is
    /// behind and thinks, it is not to lose.
    pub(super) fn note_leaving(&mut self, now: Instant, patience: Patience) {
        let Some(Turn { group, queue, .. }) = self.turn else { return };
        let (away, waited) = match patience {
            Patience::TooLong => (Away::TooLong, Span::ZERO),
            Patience::Over(waited) => (Away::Outlasted, waited),
            _ => (Away::No, Span::ZERO),
        };
        let is_behind = away != Away::No && self.tree.behind_by(group).is_some();
        let entry = &mut self.groups[group as usize];
        (entry.past.absence.away, entry.past.absence.waited) =
            (if is_behind { away } else { Away::No }, waited);
        if is_behind {
            self.will_return(now, group, queue);
        }
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
            if self.load.in_flight == 0 {
                // The group has paid for this time, so writers are not charged for it.
                self.load.busy_since = now;
            }
        }
    }

    /// Stops keeping the disk free if the group has come back or nobody else wants the disk.
    #[inline]
    pub(super) fn end_keeping_if_over(&mut self, now: Instant) {
        if let Some(Turn { group, kept_since: Some(_), .. }) = self.turn
            && (self.load.queued == 0 || self.groups[group as usize].waiting > 0)
        {
            self.end_keeping(now);
        }
    }

    /// Whether to keep the disk free for the group whose turn it is, which has nothing queued.
    fn patience_with_group(&self, now: Instant, turn: Turn) -> Patience {
        let group = &self.groups[turn.group as usize];
        let others_want = self.tree.others_want(turn.group) && !self.tree.is_barred(turn.group);
        let Some(since) = group.past.absence.quiet_since.filter(|_| others_want) else {
            return Patience::NotWorthIt;
        };
        let (behind, used_up) = (self.tree.behind_by(turn.group), self.is_used_up(turn));
        let mut gain = Gain::default();
        if behind.is_some() {
            // A task that has its writes flushed thinks once for a request and its flush.
            gain.own = self.own(turn.queue) + group.past.absence.flushing();
            gain.isolation = self.isolation(turn.queue);
            gain.others = self.in_its_place(now);
            gain.time = self.spared(now);
        }
        if !used_up {
            gain.time += self.nearness(turn.queue);
        }
        let pause = group.past.absence.think.pause().filter(|_| self.params.rules.pauses);
        let absent = Absent { since, think: group.past.absence.think.get(), pause };
        let by_rule = match self.params.rules.idling {
            true => absent.patience(now, gain, self.idle_most(turn.group)),
            false => Patience::NotWorthIt,
        };
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

    /// The longest that the group is waited for by the rule.
    pub(super) fn idle_most(&self, group: u32) -> Span {
        self.groups[group as usize]
            .idle
            .map_or(self.params.idle_max, |idle| idle.min(self.params.idle_max))
    }

    /// Whether to keep the disk free for the queue of the turn, which has nothing queued while
    /// others of its group have.
    pub(super) fn patience_with_queue(&self, now: Instant, turn: Turn) -> Patience {
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
        if !self.params.rules.idling {
            return Patience::NotWorthIt;
        }
        let is_pause = group.is_quiet() && self.params.rules.pauses;
        let pause = group.past.absence.think.pause().filter(|_| is_pause);
        let absent = Absent { since, think: queue.times.think.get(), pause };
        absent.patience(now, gain, self.idle_most(turn.group))
    }

    /// The isolation gained if nothing else is served before the queue's next request: the time of
    /// a request, its own or any, whichever is longer. Writes acknowledged before they are done
    /// would make the mean of all too short.
    pub(super) fn isolation(&self, queue: u32) -> Span {
        self.device.times.service.or_zero().max(self.own(queue))
    }

    /// How long the requests take that would go to the disk in the place of one and be served
    /// before it, if the disk takes several: as many as it takes.
    pub(super) fn in_its_place(&self, now: Instant) -> Span {
        let Some(group) = self.tree.first().filter(|_| !self.device.is_serial()) else {
            return Span::ZERO;
        };
        let requests = self.load.queued.min(self.device.depth);
        let each = self.own(self.queues.first_of(now, group)).as_ns();
        let all = Span::from_ns(each.saturating_mul(requests.into()));
        // In turns it is at least the shortest turn of another.
        if self.device.is_in_turns() { all.max(self.shortest_turn()) } else { all }
    }

    /// The mean time of a request of the queue, or zero.
    fn own(&self, queue: u32) -> Span {
        let queue = self.queues.get(queue);
        queue.and_then(|queue| queue.times.service.get()).unwrap_or(Span::ZERO)
    }

    /// The time that the next queue in line loses if another request goes before it.
    fn spared(&self, now: Instant) -> Span {
        let Some(group) = self.tree.first() else { return Span::ZERO };
        self.nearness(self.queues.first_of(now, group))
    }

    /// How much less time a request takes that follows one of the same queue. While that is not
    /// known, a queue gets a try whose requests continue one another: beside many others it would
    /// have no two in a row by chance. Where the disk takes several commands, none follows another
    /// for certain, and nothing would be learned.
    fn nearness(&self, queue: u32) -> Span {
        let Some(queue) = self.queues.get(queue).filter(|_| self.device.rotational) else {
            return Span::ZERO;
        };
        match queue.times.following.get() {
            None if !queue.track.continues || !self.device.is_serial() => Span::ZERO,
            following => self.device.times.switching.or_zero() - following.unwrap_or(Span::ZERO),
        }
    }
}
