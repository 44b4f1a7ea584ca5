//! Inside a group, on a device that serves several requests at once: which of its tasks wait for
//! which.
//!
//! Tasks of one priority have their requests at the device together, and share what the group gets
//! as they ask for it. Where priorities differ, the next request of the group waits as between
//! groups: while the device is fully busy and a task that is before its own is expected, or, on a
//! disk with one head that has nothing to do, for as long as it is worth it. And a task that
//! streams has the device to itself in turns, as beside other groups.

use super::Fair;
use super::answer::Answer;
use super::patience::{Gain, Patience};
use super::queue::Queue;
use super::queues::For;
use super::turn::Turn;
use fairdisk_core::{Instant, Why};

impl Fair {
    /// An expected queue of another priority in the group that is before this one.
    #[inline]
    pub(super) fn expected_inside(&self, now: Instant, group: u32, queue: u32) -> Option<u32> {
        match self.queues.has_priorities(group) {
            true => self.expected_before(now, queue, For::OtherRanks),
            false => None,
        }
    }

    /// Whether tasks of the group wait for each other. Where several requests are worked on at
    /// once, other groups would wait with them, while less than the device takes is there: so
    /// nobody does beside other groups.
    pub(super) fn waits_inside(&self, group: u32) -> bool {
        let entry = &self.groups[group as usize];
        let is_alone = || !self.tree.others_want(group) && self.load.in_flight == entry.in_flight;
        self.params.rules.inside && (self.device.is_measured() || is_alone())
    }

    /// An expected queue of its group for which this one has to wait.
    fn expected_before(&self, now: Instant, queue: u32, whom: For) -> Option<u32> {
        let group = self.queues[queue].group;
        if !self.waits_inside(group) {
            return None;
        }
        let most = self.idle_most(group);
        self.queues.expected_before(now, queue, whom, most)
    }

    /// Drops the places of tasks that should have come back by `now`, in the group whose turn it is
    /// and the one that is first in line.
    #[inline]
    pub(super) fn settle_places(&mut self, now: Instant) {
        let groups = [self.turn.map(|turn| turn.group), self.tree.first()];
        for group in groups.into_iter().flatten() {
            if self.queues.keeps_places(group) {
                let most = self.idle_most(group);
                self.queues.settle_places(now, group, most);
            }
        }
    }

    /// Until when a queue with nothing queued is expected in its group.
    pub(super) fn expected_until(&self, queue: u32) -> Option<Instant> {
        let queue = &self.queues[queue];
        queue.expected_until(self.idle_most(queue.group))
    }

    /// Notes that a flush of the queue's task is done. Where others of the group wait for the task,
    /// it thinks since then.
    pub(super) fn note_flushed_by(&mut self, now: Instant, queue: u32) {
        let queue = &mut self.queues[queue];
        queue.flushes = queue.flushes.saturating_sub(1);
        if !self.device.is_serial() {
            queue.quiet_since = Some(now);
        }
    }

    /// Keeps a disk that has nothing to do free for a task of the group whose turn it is, before
    /// the one that is next in it.
    pub(super) fn keep_for_task(&self, now: Instant, turn: Turn, next: u32) -> Option<Answer> {
        if self.is_busy() {
            return None;
        }
        let queue = self.expected_inside(now, turn.group, next)?;
        let (isolation, others) = (self.isolation(queue), self.in_its_place(now));
        let gain = Gain { isolation, others, ..Gain::default() };
        match self.patience_for(now, Turn { queue, ..turn }, gain) {
            Patience::Until(until) => {
                let until = until.min(self.expected_until(queue)?);
                Some(Answer::Wait(until, Why::IdleWait))
            }
            _ => None,
        }
    }

    /// Whether other queues of its group want the device, or have requests there, beside which the
    /// queue, which streams, is better alone.
    pub(super) fn has_company_inside(&self, queue: u32) -> bool {
        let Queue { group, in_flight, .. } = self.queues[queue];
        self.queues.others_in_line(queue) || self.groups[group as usize].in_flight > in_flight
    }

    /// Until when a queue that streams waits for an expected queue of its group that does not, or
    /// has another priority.
    pub(super) fn yields_inside(&self, now: Instant, queue: u32) -> Option<Instant> {
        let before = self.expected_before(now, queue, For::Seekers)?;
        self.expected_until(before)
    }

    /// Whether a task of a better class than the queue's is next in its group.
    pub(super) fn is_preempted(&self, now: Instant, queue: u32) -> bool {
        let q = &self.queues[queue];
        self.groups[q.group as usize].waiting > 0
            && self.queues[self.queues.first_of(now, q.group)].class() < q.class()
    }
}

#[cfg(test)]
mod tests {
    use crate::fair::{Fair, FairParams};
    use crate::samples::request;
    use fairdisk_core::{
        Change, Completion, Cost, CostModel, Decision, Elevator, Instant, IoClass, IoPrio, Op,
        Request, RequestId, Span,
    };

    /// A disk with one head that takes several commands.
    fn disk() -> Fair {
        let mut fair = Fair::new(&FairParams::default());
        let time = Span::from_ms(8);
        let cost = Cost { random: time, sequential: time / 2, ..Cost::default() };
        let (saturation, alone) = (time, time);
        let costs = CostModel { depth: 32, saturation, alone, read: cost, write: cost };
        fair.configure(Instant::ZERO, &Change::Costs(costs));
        fair
    }

    #[test]
    fn a_wait_for_a_task_is_the_same_until_the_instant_it_names() {
        let (mut fair, mut now) = (disk(), Instant::ZERO);
        let ioprio = IoPrio { class: IoClass::RealTime, level: 4 };
        let mut serve = |fair: &mut Fair, slot, us| {
            let decision = fair.decide(now);
            assert!(matches!(decision, Decision::Dispatch(id, _) if id.0 == slot), "{decision:?}");
            now += Span::from_us(us);
            let device_time = Span::from_us(us);
            fair.complete(now, &Completion { request: RequestId(slot), device_time, ok: true });
            now
        };
        let mut at = Instant::ZERO;
        for _ in 0..20 {
            fair.admit(at, &request(1, 1, Op::Read, at));
            at = serve(&mut fair, 1, 8000);
        }
        fair.admit(at, &request(1, 1, Op::Read, at));
        for _ in 0..24 {
            fair.admit(at, &Request { ioprio, ..request(2, 1, Op::Read, at) });
            at = serve(&mut fair, 2, 400);
        }
        let first = fair.decide(at);
        let Decision::WaitUntil(until, _) = first else { panic!("{first:?}") };
        while at < until {
            assert_eq!(fair.decide(at), first, "at {at}");
            at += Span::from_us(50);
        }
    }
}
