//! Turns: who has a device that serves one request at a time, and for how long.
//!
//! On a disk with a head it pays to stay with a task, and near a group's data. So a group has the
//! disk for a while, as long as its part of a round; inside of it a task keeps the disk while it
//! has requests. Elsewhere a turn is one request.
//!
//! Whoever has the disk and nothing queued is waited for only when that buys something. It buys
//! isolation where the next request would be served before all that is queued (its group had less
//! than its share, or its class is better): without waiting it would be served after somebody
//! else's request each time, whatever its weight. It buys time on a disk with a head where the next
//! request is near. Either is compared with what waiting costs: how long the task, or the group,
//! was seen to think.
//!
//! Where it is said how long a group is waited for, that holds although it costs more than it buys.
//! Then the group pays: the time the disk is kept beyond what the rule says is charged to it.

use super::group::Group;
use super::{Fair, Step};
use crate::groups::Nested;
use fairdisk_core::{Instant, Span, Why};

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) group: u32,
    /// The queue that is served inside, or `NIL` if that is gone.
    pub(super) queue: u32,
    /// What the group has used.
    pub(super) used: Span,
    /// How much of that the queue has used.
    pub(super) used_by_queue: Span,
    /// Since when the disk is kept for the group at its own cost.
    pub(super) kept_since: Option<Instant>,
    /// Nobody else's requests are to be at a device that serves several.
    pub(super) alone: bool,
    /// Somebody else was served since the queue was.
    pub(super) is_head_away: bool,
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
        }
    }
}

/// Whether to keep the disk for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Until then.
    Until(Instant),
    /// Until then, as was asked for; the group pays.
    AskedFor(Instant),
    /// It has not come back in time.
    Over,
    /// It would buy something, but thinks for so long that it would cost more.
    TooLong,
    /// It would buy nothing.
    NotWorthIt,
}

impl Patience {
    /// Why somebody else has the disk then.
    const fn why(self, otherwise: Why) -> Why {
        match self {
            Self::Until(_) | Self::AskedFor(_) | Self::Over => Why::IdleWaitFailed,
            Self::TooLong | Self::NotWorthIt => otherwise,
        }
    }
}

/// No turn lasts less than one in so many parts of a round.
const SHORTEST: u64 = 8;
/// Thinking may take one in so many parts of the time that is to be gained: not everybody comes
/// back, and the others lose that time. For isolation it may take as long as the request. Whoever
/// thinks for longer loses little by a request of somebody else in between.
const WORTH: u64 = 4;

impl Fair {
    /// What to do on a device that serves one request at a time.
    pub(super) fn step_serial(&mut self, now: Instant) -> Step {
        if self.in_flight > 0 {
            return Step::WaitCompletion(Why::OwnRequestInFlight);
        }
        while let Some(group) = self.below_floor(now) {
            let queue = self.queues.first_of(now, group);
            let at = self.next_of(now, queue);
            if !self.bar_at_ceiling(now, at) {
                // No turn of its own: that would be more than it is promised, and less later.
                self.end_keeping(now);
                return self.dispatch(now, at, Why::BelowFloor);
            }
        }
        if let Some(step) = self.serve_target(now) {
            return step;
        }
        if let Some(until) = self.about_to_return(now) {
            return Step::WaitUntil(until, Why::GroupIdleWait);
        }
        let why = match self.turn {
            None => Why::GroupEmptied,
            Some(turn) => match self.go_on(now, turn) {
                Ok(step) => return step,
                Err(why) => why,
            },
        };
        self.begin_turn(now, why)
    }

    /// What to do in the turn, or why it has ended.
    fn go_on(&mut self, now: Instant, turn: Turn) -> Result<Step, Why> {
        let Turn { group, queue, .. } = turn;
        if self.groups[group as usize].waiting == 0 {
            return self.keep_for_group(now, turn);
        }
        if self.is_used_up(turn) && self.tree.others_want(group) {
            return Err(Why::GroupSliceExpired);
        }
        if let Some(step) = self.serve_returned(now, turn) {
            return Ok(step);
        }
        let first = self.queues.first_of(now, group);
        if self.keeps_disk(turn, first) {
            return self.serve(now, queue, Why::SliceContinues);
        }
        match self.patience_with_queue(now, turn) {
            Patience::Until(at) => Ok(Step::WaitUntil(at, Why::IdleWait)),
            other => self.serve(now, first, other.why(Why::QueueEmptied)),
        }
    }

    /// The group whose turn it is has nothing queued and nothing at the disk.
    pub(super) fn keep_for_group(&mut self, now: Instant, turn: Turn) -> Result<Step, Why> {
        match self.patience_with_group(now, turn) {
            Patience::Until(at) => Ok(Step::WaitUntil(at, Why::GroupIdleWait)),
            Patience::AskedFor(at) => {
                let kept_since = turn.kept_since.or(Some(now));
                self.turn = Some(Turn { kept_since, ..turn });
                Ok(Step::WaitUntil(at, Why::GroupIdleWait))
            }
            other => {
                let left_early =
                    other == Patience::TooLong && self.tree.behind_by(turn.group).is_some();
                self.groups[turn.group as usize].left_early = left_early;
                if left_early {
                    self.will_return(turn.group);
                }
                Err(other.why(Why::GroupEmptied))
            }
        }
    }

    /// The turn is over.
    pub(super) fn end_turn(&mut self, now: Instant) {
        self.end_keeping(now);
        self.turn = None;
    }

    /// The disk is kept for nobody any more: its group pays for the time it was, if that was asked
    /// for.
    #[inline]
    pub(super) fn end_keeping(&mut self, now: Instant) {
        if let Some(turn) = &mut self.turn
            && let Some(since) = turn.kept_since.take()
        {
            let group = turn.group;
            self.charge_group(group, Span::ZERO, now.since(since));
            if self.in_flight == 0 {
                // It is paid for, whatever the disk did meanwhile.
                self.busy_since = now;
            }
        }
    }

    /// Whoever the disk was kept for has come, or nobody else wants it now.
    #[inline]
    pub(super) fn end_keeping_if_over(&mut self, now: Instant) {
        if let Some(Turn { group, kept_since: Some(_), .. }) = self.turn
            && (self.queued == 0 || self.groups[group as usize].waiting > 0)
        {
            self.end_keeping(now);
        }
    }

    /// Another turn begins.
    pub(super) fn give_turn(&mut self, now: Instant, group: u32, queue: u32) {
        self.end_keeping(now);
        self.groups[group as usize].left_early = false;
        self.turn = Some(Turn::new(group, queue));
    }

    /// Whether the queue that is served in the turn goes on before the one that is `first` in line.
    fn keeps_disk(&self, turn: Turn, first: u32) -> bool {
        let Some(queue) = self.queues.get(turn.queue).filter(|queue| queue.waiting > 0) else {
            return false;
        };
        first == turn.queue
            || self.stays_with_task(turn) && queue.class() == self.queues[first].class()
    }

    /// Serves a queue of the group whose turn it is, unless that is at its ceiling.
    fn serve(&mut self, now: Instant, queue: u32, why: Why) -> Result<Step, Why> {
        let at = self.next_of(now, queue);
        if self.bar_at_ceiling(now, at) {
            return Err(Why::GroupEmptied);
        }
        if let Some(until) = self.write_waits(now, at) {
            return Ok(Step::WaitUntil(until, Why::GroupIdleWait));
        }
        if let Some(turn) = &mut self.turn
            && turn.queue != queue
        {
            (turn.queue, turn.used_by_queue) = (queue, Span::ZERO);
        }
        Ok(self.dispatch(now, at, why))
    }

    /// Gives the disk to the group that has had the least; the turn before ended for this reason.
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
                return Step::WaitUntil(until, Why::GroupIdleWait);
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

    /// Whether so much is no less than a turn of the group on a disk with a head.
    pub(super) fn is_past(&self, used: Span, group: u32) -> bool {
        used >= self.shortest() && used >= self.length(group)
    }

    /// How long the turn is on a disk with a head.
    fn length(&self, group: u32) -> Span {
        let (round, part) = (self.rounds.length.as_ns(), self.tree.part(group));
        Span::from_ns(((u128::from(round) * u128::from(part)) >> 32) as u64).max(self.shortest())
    }

    fn shortest(&self) -> Span {
        self.params.round / SHORTEST
    }

    /// Whether the head stays with the task that is served while others of its group want the disk:
    /// for half of a round. Where it has not the device to itself, it is one that was asked for:
    /// its group's other tasks need not wait for longer because groups have longer turns.
    fn stays_with_task(&self, turn: Turn) -> bool {
        let round = if turn.alone { self.rounds.length } else { self.params.round };
        self.device.rotational && turn.used_by_queue < round / 2
    }

    /// Whether a turn in which a task has the device to itself is over: its group's part of a
    /// round, and no more than a task may keep it.
    pub(super) fn is_over_alone(&self, turn: Turn) -> bool {
        self.is_used_up(turn) || !self.stays_with_task(turn)
    }

    /// The group has the disk and nothing queued.
    fn patience_with_group(&self, now: Instant, turn: Turn) -> Patience {
        let group = &self.groups[turn.group as usize];
        let others_want = self.tree.others_want(turn.group) && !self.tree.is_barred(turn.group);
        let Some(since) = group.quiet_since.filter(|_| others_want) else {
            return Patience::NotWorthIt;
        };
        let (behind, used_up) = (self.tree.behind_by(turn.group), self.is_used_up(turn));
        let mut gain = Gain::default();
        if behind.is_some() {
            gain.own = self.own(turn.queue);
            gain.isolation = self.isolation(turn.queue);
            gain.time = self.spared(now);
        }
        if !used_up {
            gain.time += self.nearness(turn.queue);
        }
        let think = group.think.get();
        let by_rule = patience(now, since, think, gain, self.idle_most(group));
        match group.idle {
            Some(idle)
                if !matches!(by_rule, Patience::Until(_)) && (behind.is_some() || !used_up) =>
            {
                let rest = if used_up { Span::ZERO } else { self.length(turn.group) - turn.used };
                let own = rest.max(behind.unwrap_or(Span::ZERO));
                let paid_until = turn.kept_since.unwrap_or(now) + own;
                asked_for(now, since, think, idle, paid_until)
            }
            _ => by_rule,
        }
    }

    /// So long the device may stand idle to have the heads where they are.
    pub(super) fn worth_alone(&self) -> Span {
        part(self.device.alone())
    }

    /// The longest that somebody of the group is waited for by rule.
    pub(super) fn idle_most(&self, group: &Group) -> Span {
        group.idle.map_or(self.params.idle_max, |idle| idle.min(self.params.idle_max))
    }

    /// The queue that is served has nothing queued, but others of its group have.
    fn patience_with_queue(&self, now: Instant, turn: Turn) -> Patience {
        let isolation = self.queues.is_used(turn.queue) && self.queues.is_behind(turn.queue);
        let mut gain = if isolation { self.isolation(turn.queue) } else { Span::ZERO };
        if self.stays_with_task(turn) {
            gain += self.nearness(turn.queue);
        }
        self.patience_for(now, turn, gain)
    }

    /// Whether to wait for the queue that is served, if that buys `gain` of time.
    pub(super) fn patience_for(&self, now: Instant, turn: Turn, gain: Span) -> Patience {
        let queue = self.queues.get(turn.queue).filter(|queue| queue.waiting == 0);
        let Some(queue) = queue.filter(|queue| queue.task.is_some() && !queue.orphan) else {
            return Patience::NotWorthIt;
        };
        let Some(since) = queue.quiet_since else { return Patience::NotWorthIt };
        let most = self.idle_most(&self.groups[turn.group as usize]);
        patience(now, since, queue.think.get(), Gain { time: gain, ..Gain::default() }, most)
    }

    /// What it is worth that nobody else is served before the queue's next request: one request, of
    /// somebody else or of its own. A write that the device acknowledged before it did it would say
    /// that somebody else takes no time.
    fn isolation(&self, queue: u32) -> Span {
        self.device.service.or_zero().max(self.own(queue))
    }

    /// What a request of the queue takes.
    fn own(&self, queue: u32) -> Span {
        let queue = self.queues.get(queue);
        queue.and_then(|queue| queue.service.get()).unwrap_or(Span::ZERO)
    }

    /// What those who are next in line lose if somebody else is served in between.
    fn spared(&self, now: Instant) -> Span {
        let Some(group) = self.tree.first() else { return Span::ZERO };
        self.nearness(self.queues.first_of(now, group))
    }

    /// By how much sooner a request is done that follows one of the same queue.
    fn nearness(&self, queue: u32) -> Span {
        let following = self.queues.get(queue).and_then(|queue| queue.following.get());
        match following {
            Some(following) if self.device.rotational => {
                self.device.switching.or_zero() - following
            }
            _ => Span::ZERO,
        }
    }

    /// Whether the queue of the group, if that alone wants the disk, has it at once: no promise to
    /// anybody has a say, and nobody else is waited for.
    pub(super) fn is_alone(&self, group: u32, queue: u32) -> bool {
        let has_ceiling = |one: u32| !self.groups[one as usize].qos.ceiling.is_none();
        self.targets.is_empty()
            && self.floors.is_empty()
            && self.barred.first().is_none()
            && !self.tree.path(group).any(has_ceiling)
            && !self.device.pays_alone()
            && self.returning.is_empty()
            && self.has_turn(group, queue)
    }

    /// Whether the turn, if there is one, is that of the queue. Where several are served at once no
    /// task is waited for in the turn of its group.
    fn has_turn(&self, group: u32, queue: u32) -> bool {
        let any = !self.device.is_serial();
        let is_its = |turn: Turn| turn.group == group && (any || turn.queue == queue);
        self.turn.is_none_or(|turn| is_its(turn) && !turn.alone)
    }

    /// Whether the disk may be kept for this task now, so that it may pass a full pool.
    pub(super) fn is_waited_for(&self, queue: u32) -> bool {
        let turn = self.turn.filter(|turn| turn.queue == queue);
        let may_be = turn.is_some_and(|turn| turn.alone || self.device.is_serial());
        may_be && self.queues[queue].waiting == 0
    }
}

/// What is gained where somebody is waited for.
#[derive(Clone, Copy, Default)]
struct Gain {
    /// What the request takes that nobody else is then served before. It may be thought for as
    /// long: the device works for half of the time.
    own: Span,
    /// The same, or what a request of somebody else takes, if that is longer.
    isolation: Span,
    /// What the device then does sooner.
    time: Span,
}

/// How much of what is to be gained thinking may take.
pub(super) fn part(gain: Span) -> Span {
    gain / WORTH
}

/// Whether to wait for somebody who was last heard of at `since` and thinks for so long.
fn patience(now: Instant, since: Instant, think: Option<Span>, gain: Gain, most: Span) -> Patience {
    let Gain { own, isolation, time } = gain;
    let think = think.unwrap_or(Span::ZERO);
    if isolation + time == Span::ZERO {
        return Patience::NotWorthIt;
    }
    let worth = own.max(part(isolation)) + part(time);
    if think > worth.min(most) || most == Span::ZERO {
        return Patience::TooLong;
    }
    // As long again, and a little more: thinking takes sometimes longer than usual.
    let until = since + (think + think + part(isolation + time)).min(most);
    if until > now { Patience::Until(until) } else { Patience::Over }
}

/// Whether to wait for a group for `idle`, as was asked for, as long as it can pay for that. One
/// that usually takes longer would pay for nothing.
fn asked_for(
    now: Instant,
    since: Instant,
    think: Option<Span>,
    idle: Span,
    paid_until: Instant,
) -> Patience {
    let until = (since + idle).min(paid_until);
    if think.is_some_and(|think| think > idle) {
        Patience::TooLong
    } else if until > now {
        Patience::AskedFor(until)
    } else {
        Patience::Over
    }
}
