//! Turns: which group has a disk with a head, or a device that serves one request at a time, and
//! for how long.
//!
//! On a disk with a head it pays to stay with a task and near a group's data. So a group has the
//! disk for its part of a round, and in it a task keeps the disk while it has requests. So it has
//! on a device whose costs are not told, while that is better (`sharing`). Elsewhere a turn is one
//! request. What becomes of the turn while its group or task has nothing queued is in `keeping`.

use super::Fair;
use super::absence::Away;
use super::answer::{After, Answer, Ask, Notes, Over};
use super::idle::Idle;
use super::patience::Patience;
use super::queue::Queue;
use super::queues::TURNS_MOST;
use super::requests::Rq;
use super::rounds::Rounds;
use core::cmp::Ordering;
use fairdisk_core::{Instant, Span, Why};

/// The third request in a row shows what staying is worth. The first may lie in the buffer of the
/// disk, which had read ahead there, and the second then pays for the way.
pub(super) const SETTLED: u8 = 3;

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
    /// How many requests were served in a row where the turn is, up to `SETTLED`.
    pub(super) in_a_row: u8,
    /// Whether the group has the turn for its latency target.
    pub(super) is_brought: bool,
}

/// What is known of turns in general.
#[derive(Debug)]
pub(super) struct Turns {
    pub(super) rounds: Rounds,
    /// When the last turn began in which a queue had the device to itself.
    pub(super) alone_since: Instant,
    /// What of the time since then was not charged.
    pub(super) idle_alone: Idle,
}

impl Turns {
    pub(super) fn new(round: Span) -> Self {
        let (alone_since, idle_alone) = (Instant::ZERO, Idle::default());
        Self { rounds: Rounds::new(round), alone_since, idle_alone }
    }
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
            in_a_row: 0,
            is_brought: false,
        }
    }

    /// Replaces `charged` by `cost` in what the group has used of the turn.
    #[inline]
    pub(super) fn note_used(&mut self, charged: Span, cost: Span) {
        self.used = self.used + cost - charged;
    }

    /// Replaces `charged` by `cost` in what the queue has used of it.
    #[inline]
    pub(super) fn note_used_by_queue(&mut self, charged: Span, cost: Span) {
        self.used_by_queue = self.used_by_queue + cost - charged;
    }
}

impl Fair {
    /// What is next in a turn on a device that serves one request at a time.
    pub(super) fn in_serial_turn(&self, now: Instant, turn: Turn, notes: &mut Notes) -> Answer {
        self.goes_on(now, turn, notes).unwrap_or_else(|(over, ended)| {
            Answer::EndTurn(over, Ask::Line { ended, before: turn.group })
        })
    }

    /// What is next in the turn, or that it is over, and why.
    fn goes_on(&self, now: Instant, turn: Turn, notes: &mut Notes) -> Result<Answer, (Over, Why)> {
        let group = turn.group;
        if self.groups[group as usize].waiting == 0 {
            return self.keep_for_group(now, turn, notes).map_err(|over| match over {
                Over::Left(patience) => (over, patience.why(Why::GroupEmptied)),
                _ => (over, Why::GroupEmptied),
            });
        }
        if self.is_used_up(turn) && self.tree.others_want(group) {
            return Err((Over::Done, Why::GroupSliceExpired));
        }
        if let Some(returned) = self.first_returned(now, turn) {
            return returned.map_err(|why| (Over::Done, why));
        }
        let first = self.queues.first_of(now, group);
        if let Some(next) = self.next_in_turn(now, turn) {
            let of_first = self.next_of(now, first);
            return match self.makes_way(turn, of_first) {
                Some(why) => self.goes_on_with(now, self.first_near(of_first), why, notes),
                None => self.goes_on_with(now, next, Why::SliceContinues, notes),
            };
        }
        match self.patience_with_queue(now, turn) {
            Patience::Until(at) => Ok(Answer::Wait(at, Why::IdleWait)),
            other => {
                let next = self.first_near(self.next_of(now, first));
                self.goes_on_with(now, next, other.why(Why::QueueEmptied), notes)
            }
        }
    }

    /// The request with which the turn goes on: of its group and class the next one near, as tasks
    /// that read one file close together are served as one; else the next of its queue.
    fn next_in_turn(&self, now: Instant, turn: Turn) -> Option<u32> {
        let queue = self.queues.get(turn.queue).filter(|queue| queue.group == turn.group)?;
        let by_place = &self.groups[turn.group as usize].by_place;
        let is_like = |at: &u32| self.is_like(queue, *at);
        if let Some(next) = self.requests.next_near(by_place, queue.track.position).filter(is_like)
        {
            return Some(next);
        }
        match queue.waiting {
            0 => self.requests.first_near(by_place, queue.track.position).filter(is_like),
            _ => Some(self.first_near(self.next_of(now, turn.queue))),
        }
    }

    /// The first of the requests near this one, with which the others are on the way.
    fn first_near(&self, at: u32) -> u32 {
        let Rq { queue, start, .. } = self.requests[at];
        let queue = &self.queues[queue];
        let by_place = &self.groups[queue.group as usize].by_place;
        let first = self.requests.first_near(by_place, start);
        first.filter(|first| self.is_like(queue, *first)).unwrap_or(at)
    }

    /// Whether the request and those of the queue are of tasks of one class.
    fn is_like(&self, queue: &Queue, at: u32) -> bool {
        let other = &self.queues[self.requests[at].queue];
        queue.task.is_some() && other.class() == queue.class()
    }

    /// Begins a turn of the group with the queue, and returns it.
    pub(super) fn give_turn(&mut self, now: Instant, group: u32, queue: u32) -> &mut Turn {
        self.end_keeping(now);
        self.groups[group as usize].past.absence.away = Away::No;
        self.set_back(group, false);
        self.turn.insert(Turn::new(group, queue))
    }

    /// Why the turn, which could go on where it is, makes way for this request of the queue that
    /// is first in line; `None` if it goes on, which may bring it there.
    fn makes_way(&self, turn: Turn, at: u32) -> Option<Why> {
        let Rq { queue: first, start, .. } = self.requests[at];
        if first == turn.queue {
            return None;
        }
        let queue = &self.queues[turn.queue];
        let is_near = queue.task.is_some() && TURNS_MOST.is_near(queue.track.position, start);
        match self.queues[first].class().cmp(&queue.class()) {
            Ordering::Less => Some(Why::Preempted),
            Ordering::Equal if is_near || self.stays_before(turn, first) => None,
            Ordering::Equal => Some(Why::SliceExpired),
            Ordering::Greater => Some(Why::ClassStarved),
        }
    }

    /// The turn goes on with this request, unless the group is at its ceiling, or another would
    /// lose what its ceiling allows.
    fn goes_on_with(
        &self,
        now: Instant,
        at: u32,
        why: Why,
        notes: &mut Notes,
    ) -> Result<Answer, (Over, Why)> {
        if let Some(over) = self.over_at_ceiling(now, at) {
            return Err((over, Why::GroupCeilingReached));
        }
        if let Some(saver) = self.saver(now) {
            let at = self.next_of(now, self.queues.first_of(now, saver));
            if let Some(bar) = self.ceiling_bar(now, at) {
                return Ok(Answer::Bar(bar, Ask::Turn));
            }
            if self.write_waits(now, at, notes).is_none() {
                let (why, turn) = (Why::Preempted, After::New { is_brought: false });
                return Ok(Answer::Dispatch { at, why, turn });
            }
        }
        let held = self.hold_write(now, at, notes);
        Ok(held.unwrap_or(Answer::Dispatch { at, why, turn: After::WithQueue }))
    }

    /// Whether the group has had its part of a round.
    pub(super) fn is_used_up(&self, turn: Turn) -> bool {
        if !self.device.has_rounds() {
            return true;
        }
        self.is_past(turn.used, turn.group)
    }

    /// Whether `used` is at least a whole turn of the group on a disk with a head.
    pub(super) fn is_past(&self, used: Span, group: u32) -> bool {
        used >= self.shortest_turn() && used >= self.length(group)
    }

    /// The length of a turn of the group on a disk with a head.
    pub(super) fn length(&self, group: u32) -> Span {
        let (round, part) = (self.turns.rounds.length.as_ns(), self.tree.part(group));
        Span::from_ns(((u128::from(round) * u128::from(part)) >> 32) as u64)
            .max(self.shortest_turn())
    }

    /// The length of the shortest turn on a disk with a head.
    pub(super) fn shortest_turn(&self) -> Span {
        self.turns.rounds.shortest_turn
    }

    /// Whether the queue may keep the disk while others of its group want it: for half of a round.
    /// That is half of `round_ms`, unless the queue has the device to itself: tasks need not wait
    /// longer because groups have longer turns.
    pub(super) fn stays_with_task(&self, turn: Turn) -> bool {
        let round = if turn.alone { self.turns.rounds.length } else { self.params.round };
        self.device.rotational && turn.used_by_queue < round / 2
    }

    /// Whether the queue of the turn goes on before this one of its class, which is first in line.
    /// What nobody waits for makes way for what somebody does.
    fn stays_before(&self, turn: Turn, first: u32) -> bool {
        let is_asynchronous = |queue: u32| self.queues[queue].task.is_none();
        self.stays_with_task(turn) && (!is_asynchronous(turn.queue) || is_asynchronous(first))
    }

    /// Whether a turn in which a task has the device to itself is over: after its group's part of a
    /// round, or after half a round.
    pub(super) fn is_over_alone(&self, turn: Turn) -> bool {
        self.is_used_up(turn) || !self.stays_with_task(turn)
    }

    /// Whether the queue of the group gets the disk at once if it alone wants it: no promise to any
    /// group applies, and nobody else is waited for.
    pub(super) fn is_alone(&self, group: u32, queue: u32) -> bool {
        self.promises.targets.is_empty()
            && self.promises.floors.is_empty()
            && self.promises.barred.first().is_none()
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
