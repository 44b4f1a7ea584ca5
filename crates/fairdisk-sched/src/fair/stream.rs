//! Streams on a device with heads that serves several requests: a task that reads one thing after
//! the other has the device to itself for a while.
//!
//! Among requests at other places each piece of a stream costs a seek of each head it needs, as
//! much as any other request; alone the heads stay where they are. No share of such a device makes
//! up for that, so the task has a turn as on a disk that serves one request at a time. Nobody
//! else's request is issued in it, and what passes is charged to the task. Between its turns those
//! who had less go on without it, also where they have but one request at the device or are about
//! to: one piece of a stream beside each of theirs would be half of the disk's time. Writes have no
//! such turns: where they are acknowledged before they are done, what passes says nothing of what
//! they cost.

use super::turn::{Patience, Turn};
use super::{Fair, Step};
use fairdisk_core::{Instant, Span, Why};

/// How far reads of a queue were seen to continue each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Streak(u8);

/// So many in a row are a stream, and so many more are remembered.
const STREAM: u8 = 4;
const MOST: u8 = 2 * STREAM;

impl Streak {
    /// A request was dispatched that reads on where the one before it ended, or does anything else.
    /// A stream that jumps now and then is one all the same.
    #[inline]
    pub(super) fn add(&mut self, continues: bool) {
        self.0 = if continues { (self.0 + 1).min(MOST) } else { self.0 / 2 };
    }

    const fn is_stream(self) -> bool {
        self.0 >= STREAM
    }
}

impl Fair {
    /// Whether the queue streams, and that pays here only where it has the device to itself.
    pub(super) fn is_better_alone(&self, queue: u32) -> bool {
        self.device.pays_alone() && self.queues[queue].streak.is_stream()
    }

    /// Whether others than the queue want the device or have requests there.
    pub(super) fn has_company(&self, queue: u32) -> bool {
        let q = &self.queues[queue];
        self.tree.others_want(q.group)
            || self.queues.others_in_line(queue)
            || self.in_flight > q.in_flight
    }

    /// Whether a stream of the group, which is next, leaves the device to a group that had less and
    /// has requests there, or is back before long.
    pub(super) fn yields(&self, now: Instant, group: u32) -> bool {
        if !self.tree.has_passed_expected(group) {
            return false;
        }
        let soon = now + self.worth_alone();
        self.is_busy() || self.expected.first_until().is_some_and(|until| until <= soon)
    }

    /// Nobody else's requests are issued in this turn.
    pub(super) fn begin_alone(&mut self, now: Instant, group: u32, queue: u32) {
        self.give_turn(now, group, queue);
        self.turn = self.turn.map(|turn| Turn { alone: true, ..turn });
        self.pace.matters(now);
    }

    /// What to do in a turn in which a queue has the device to itself, if it goes on.
    pub(super) fn go_on_alone(&mut self, now: Instant) -> Option<Step> {
        let turn = self.turn.filter(|turn| turn.alone)?;
        let step = self.step_alone(now, turn);
        if step.is_none() {
            self.end_turn(now);
        }
        step
    }

    fn step_alone(&mut self, now: Instant, turn: Turn) -> Option<Step> {
        let queue = turn.queue;
        let q = self.queues.get(queue)?;
        // Who had less than its share and has nothing queued just now would lose the heads.
        let goes_on = q.waiting == 0 && self.tree.behind_by(turn.group).is_some();
        if self.is_over_alone(turn) && !goes_on || !q.streak.is_stream() {
            return None;
        }
        if self.in_flight > q.in_flight && self.device.has_work_elsewhere(self.at_work) {
            return Some(Step::WaitCompletion(Why::DepthLimited));
        }
        if q.waiting > 0 {
            let at = self.next_of(now, queue);
            return (!self.bar_at_ceiling(now, at))
                .then(|| self.dispatch(now, at, Why::SliceContinues));
        }
        if q.in_flight > 0 {
            return Some(Step::WaitCompletion(Why::OwnRequestInFlight));
        }
        let Patience::Until(until) = self.patience_for(now, turn, self.device.alone()) else {
            return None;
        };
        let kept_since = turn.kept_since.or(Some(now));
        self.turn = Some(Turn { kept_since, ..turn });
        Some(Step::WaitUntil(until, Why::IdleWait))
    }

    /// Charges what passed until a request completed to its queue, if nobody else's is at the
    /// device in its turn. Whether that is so.
    pub(super) fn charge_alone(&mut self, completed: u32, elapsed: Span) -> bool {
        let alone = self.has_alone(completed) && self.in_flight == self.queues[completed].in_flight;
        if alone {
            self.charge(completed, Span::ZERO, elapsed);
        }
        alone
    }

    /// Whether the queue has the device to itself, or will once what is there is done.
    pub(super) fn has_alone(&self, queue: u32) -> bool {
        self.turn.is_some_and(|turn| turn.alone && turn.queue == queue)
    }
}
