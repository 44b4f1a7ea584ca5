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

use super::{Fair, Step};
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
}

impl Turn {
    pub(super) const fn new(group: u32, queue: u32) -> Self {
        Self { group, queue, used: Span::ZERO, used_by_queue: Span::ZERO }
    }
}

/// Whether to keep the disk for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// Until then.
    Until(Instant),
    /// It has not come back in time.
    Over,
    /// It would cost more than it buys.
    NotWorthIt,
}

impl Patience {
    /// Why somebody else has the disk then.
    const fn why(self, otherwise: Why) -> Why {
        match self {
            Self::Until(_) | Self::Over => Why::IdleWaitFailed,
            Self::NotWorthIt => otherwise,
        }
    }
}

/// No turn lasts less than one in so many parts of a round.
const SHORTEST: u64 = 8;
/// Thinking may take one in so many parts of what is to be gained: the others lose that time.
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
            if !self.is_at_ceiling(now, at) {
                if self.turn.is_none_or(|turn| turn.group != group) {
                    self.turn = Some(Turn::new(group, queue));
                }
                return self.dispatch(now, at, Why::BelowFloor);
            }
        }
        if let Some(step) = self.serve_target(now) {
            return step;
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
            return match self.patience_with_group(now, turn) {
                Patience::Until(at) => Ok(Step::WaitUntil(at, Why::GroupIdleWait)),
                other => Err(other.why(Why::GroupEmptied)),
            };
        }
        if self.is_used_up(turn) && self.tree.others_want(group) {
            return Err(Why::GroupSliceExpired);
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

    /// Whether the queue that is served in the turn goes on before the one that is `first` in line.
    fn keeps_disk(&self, turn: Turn, first: u32) -> bool {
        let Some(queue) = self.queues.get(turn.queue).filter(|queue| queue.waiting > 0) else {
            return false;
        };
        let in_time = self.device.rotational && turn.used_by_queue < self.task_turn();
        first == turn.queue || in_time && queue.class() == self.queues[first].class()
    }

    /// Serves a queue of the group whose turn it is, unless that is at its ceiling.
    fn serve(&mut self, now: Instant, queue: u32, why: Why) -> Result<Step, Why> {
        let at = self.next_of(now, queue);
        if self.is_at_ceiling(now, at) {
            return Err(Why::GroupEmptied);
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
        let before = self.turn.take();
        loop {
            let Some(group) = self.tree.first() else { return self.wait_for_ceilings() };
            let queue = self.queues.first_of(now, group);
            let at = self.next_of(now, queue);
            if self.is_at_ceiling(now, at) {
                continue;
            }
            let same = before.is_some_and(|turn| turn.group == group);
            let why = if same || !self.device.rotational { Why::LeastServed } else { ended };
            self.turn = Some(Turn::new(group, queue));
            return self.dispatch(now, at, why);
        }
    }

    /// Whether the group has had its part of a round.
    fn is_used_up(&self, turn: Turn) -> bool {
        if !self.device.rotational {
            return true;
        }
        let (round, used) = (self.params.round.as_ns(), turn.used.as_ns());
        if used < round / SHORTEST {
            return false;
        }
        let length = (u128::from(round) * u128::from(self.tree.part(turn.group))) >> 32;
        u128::from(used) >= length
    }

    /// How long a task keeps the disk while others of its group want it.
    fn task_turn(&self) -> Span {
        Span::from_ns(self.params.round.as_ns() / 2)
    }

    /// The group has the disk and nothing queued.
    fn patience_with_group(&self, now: Instant, turn: Turn) -> Patience {
        let group = &self.groups[turn.group as usize];
        if !self.tree.others_want(turn.group) || self.tree.is_barred(turn.group) {
            return Patience::NotWorthIt;
        }
        let isolation = self.tree.is_behind(turn.group);
        let mut gain = if isolation { self.device.service.or_zero() } else { Span::ZERO };
        if !self.is_used_up(turn) {
            gain += self.nearness(turn.queue);
        }
        let most = group.idle.unwrap_or(self.params.idle_max);
        patience(now, group.quiet_since, group.think.get(), gain, most)
    }

    /// The queue that is served has nothing queued, but others of its group have.
    fn patience_with_queue(&self, now: Instant, turn: Turn) -> Patience {
        let Some(queue) = self.queues.get(turn.queue).filter(|queue| queue.waiting == 0) else {
            return Patience::NotWorthIt;
        };
        if queue.task.is_none() || queue.orphan {
            return Patience::NotWorthIt;
        }
        let isolation = self.queues.is_behind(turn.queue);
        let mut gain = if isolation { self.device.service.or_zero() } else { Span::ZERO };
        if turn.used_by_queue < self.task_turn() {
            gain += self.nearness(turn.queue);
        }
        let most = self.groups[turn.group as usize].idle.unwrap_or(self.params.idle_max);
        patience(now, queue.quiet_since, queue.think.get(), gain, most)
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

    /// Whether the disk may be kept for this task now, so that it may pass a full pool.
    pub(super) fn is_waited_for(&self, queue: u32) -> bool {
        let turn = self.turn.filter(|turn| turn.queue == queue);
        turn.is_some() && self.device.is_serial() && self.queues[queue].waiting == 0
    }
}

/// Whether to wait for somebody who was last heard of at `since` and thinks for so long, if what
/// is gained is `gain`.
fn patience(now: Instant, since: Instant, think: Option<Span>, gain: Span, most: Span) -> Patience {
    let worth = Span::from_ns(gain.as_ns() / WORTH).min(most);
    let think = think.unwrap_or(Span::ZERO);
    if gain == Span::ZERO || think > worth {
        return Patience::NotWorthIt;
    }
    // As long again, and a little more: thinking takes sometimes longer than usual.
    let until = since + (think + think + worth).min(most);
    if until > now { Patience::Until(until) } else { Patience::Over }
}
