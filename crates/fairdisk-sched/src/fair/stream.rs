//! Streams on a device with heads that serves several requests: a task that reads sequentially gets
//! turns in which it has the device to itself.
//!
//! Among requests at other places each piece of a stream costs a seek of every head it needs, as
//! much as any request, while alone it leaves the heads where they are. No share of the device
//! makes up for that. So the task gets turns as on a disk that serves one request at a time: no
//! other request is issued. The task is charged what is stated for its requests, but no more than
//! its heads can have done in the time that passes: if few of them work, that is longer.
//!
//! Between its turns the task leaves the device to groups that are behind, even if they have a
//! single request there or are about to come back. A piece of a stream beside each of their
//! requests would be half of the disk's time.
//!
//! Writes get no such turns: if they are acknowledged before they are done, the time that passes
//! does not show what they cost.

use super::Fair;
use super::answer::{After, Answer, Notes, Over};
use super::idle::Idle;
use super::patience::{Gain, Patience, worth_waiting};
use super::requests::Rq;
use super::turn::Turn;
use fairdisk_core::{Instant, Span, Why};

impl Fair {
    /// Whether the queue streams on a device where streams pay only if they have it to themselves.
    pub(super) fn is_better_alone(&self, queue: u32) -> bool {
        self.params.rules.streams_alone
            && self.device.pays_alone()
            && self.queues[queue].track.streak.is_stream()
    }

    /// Whether others than the queue want the device, have requests there or, on an array, are
    /// expected, for which it matters that the queue has turns. A disk with one head has turns of
    /// groups, too.
    pub(super) fn has_company(&self, queue: u32) -> bool {
        let group = self.queues[queue].group;
        self.tree.others_want(group)
            || !self.device.is_measured() && self.tree.others_are_expected(group)
            || self.load.in_flight > self.groups[group as usize].in_flight
            || self.has_company_inside(queue)
    }

    /// Whether a stream of the group, which is next, leaves the device to a group that is behind
    /// and has requests there, or is due back soon; or to another queue of its own group.
    pub(super) fn yields(&self, now: Instant, group: u32, queue: u32) -> Option<Answer> {
        let (soon, is_busy) = (now + self.worth_alone(), self.is_busy());
        let is_soon = |until: Instant| is_busy || until <= soon;
        let wait = |until| Answer::Wait(until, Why::StreamYields);
        if self.tree.has_passed_expected(group)
            && (is_busy || self.expected.first_until().is_some_and(is_soon))
        {
            return Some(wait(Instant::MAX));
        }
        self.yields_inside(now, queue).filter(|until| is_soon(*until)).map(wait)
    }

    /// How long the device may stay idle to leave the heads where they are.
    pub(super) fn worth_alone(&self) -> Span {
        worth_waiting(self.device.elsewhere())
    }

    /// Begins a turn in which no other queue's requests are issued.
    pub(super) fn begin_alone(&mut self, now: Instant, group: u32, queue: u32) {
        self.give_turn(now, group, queue).alone = true;
        (self.turns.alone_since, self.turns.idle_alone) = (now, Idle::default());
        self.device.pace.matters(now);
    }

    /// What is next in a turn in which a queue has the device to itself.
    pub(super) fn in_turn_alone(&self, now: Instant, turn: Turn, notes: &mut Notes) -> Answer {
        match self.goes_on_alone(now, turn, notes) {
            Ok(answer) => answer,
            Err(over) => self.ends_turn(over),
        }
    }

    fn goes_on_alone(&self, now: Instant, turn: Turn, notes: &mut Notes) -> Result<Answer, Over> {
        let queue = turn.queue;
        let q = self.queues.get(queue).ok_or(Over::Done)?;
        // A group that is behind and has nothing queued for the moment would lose the heads'
        // position.
        let goes_on = q.waiting == 0 && self.tree.behind_by(turn.group).is_some();
        let is_over = self.is_over_alone(turn) && !goes_on || self.is_preempted(now, queue);
        if is_over || !q.track.streak.is_stream() || self.is_interrupted(now, turn) {
            return Err(Over::Done);
        }
        if let Some(returned) = self.first_returned(now, turn) {
            return returned.map_err(|_| Over::Done);
        }
        if self.load.in_flight > q.in_flight && self.device.has_work_elsewhere(self.load.at_work) {
            return Ok(Answer::Wait(Instant::MAX, Why::OthersInFlight));
        }
        if q.waiting > 0 {
            let at = self.next_of(now, queue);
            return match self.over_at_ceiling(now, at) {
                Some(over) => Err(over),
                None if self.saver(now).is_some() => Err(Over::Done),
                None => Ok(Answer::Dispatch { at, why: Why::SliceContinues, turn: After::Same }),
            };
        }
        if q.in_flight > 0 {
            return Ok(Answer::Wait(Instant::MAX, Why::OwnRequestInFlight));
        }
        self.keep_alone(now, turn, notes)
    }

    /// Whether a task of a group that is behind was away when the turn began, and is back. It would
    /// otherwise have one request, or as many as come at once, in all the time that streams take.
    /// On a disk with one head such a task is served in the turn of another group.
    fn is_interrupted(&self, now: Instant, turn: Turn) -> bool {
        if self.device.is_measured() {
            return false;
        }
        let Some(group) = self.tree.first().filter(|group| *group != turn.group) else {
            return false;
        };
        let q = &self.queues[self.queues.first_of(now, group)];
        let was_there =
            q.in_flight > 0 || q.quiet_since.is_some_and(|it| it > self.turns.alone_since);
        let (_, arrived) = self.requests.oldest(q);
        !was_there && arrived > self.turns.alone_since && self.tree.behind_by(turn.group).is_none()
    }

    /// The device is kept free for the queue that has it to itself and nothing queued.
    fn keep_alone(&self, now: Instant, turn: Turn, notes: &mut Notes) -> Result<Answer, Over> {
        let mut gain = Gain { time: self.device.elsewhere(), ..Gain::default() };
        let is_measured = self.device.is_measured();
        if is_measured && self.tree.behind_by(turn.group).is_some() {
            gain.others = self.in_its_place(now);
        }
        let patience = self.patience_for(now, turn, gain);
        match patience {
            Patience::Until(until) | Patience::Longer(until, _) => {
                (notes.at_own_cost, notes.late) = (true, patience.outlasted());
                Ok(Answer::Wait(until, Why::IdleWait))
            }
            Patience::Over(_) if is_measured && self.groups[turn.group as usize].is_quiet() => {
                Err(Over::Left(patience))
            }
            _ => Err(Over::Done),
        }
    }

    /// Charges a request that completed `elapsed` after the one before to its queue, if that had
    /// the device to itself. Else notes how fast the device is for others than streams.
    #[cold]
    #[inline(never)]
    pub(super) fn charge_paced(&mut self, now: Instant, rq: &Rq, elapsed: Span) {
        let queue = rq.queue;
        if rq.dispatched.is_alone {
            // Where few heads work, a turn takes longer than the pace is kept.
            self.device.pace.matters(now);
            let there = self.queues[queue].in_flight + 1;
            let cost = match self.params.rules.heads {
                true => self.turns.idle_alone.cost_of(&self.device, rq, elapsed, there),
                false => rq.dispatched.charged.min(elapsed),
            };
            self.charge(queue, Span::ZERO, cost);
        } else if !self.is_better_alone(queue) {
            let work = self.work_within(rq, elapsed);
            self.device.pace.passed(now, work, rq.dispatched.charged);
        }
    }

    /// How much of the array's work a request among others was that completed `elapsed` after the
    /// one before. Not all heads are busy with those at random places.
    fn work_within(&self, rq: &Rq, elapsed: Span) -> Span {
        match self.params.rules.heads && self.device.costs_as_elsewhere(rq) {
            true => self.device.work_at_random(elapsed, self.load.at_work + rq.dispatched.charged),
            // How many heads work on what lies one after the other is not known.
            false => elapsed,
        }
    }

    /// Whether the queue has the device to itself, or will once what is there is done.
    pub(super) fn has_alone(&self, queue: u32) -> bool {
        self.turn.is_some_and(|turn| turn.alone && turn.queue == queue)
    }
}
