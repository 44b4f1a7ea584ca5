//! What a request is charged, when, and to which queue and group.
//!
//! - Where one request is served at a time, its time is measured and charged when it completes.
//! - A disk with one head serves several requests one after the other, so the time from one
//!   completion to the next is what the later request took. At dispatch it is charged an estimate,
//!   the mean of its queue's requests, and the difference at completion.
//! - On a device that works on several at once, the modelled cost is charged at dispatch. A task
//!   that has the device to itself is charged at completion, no more than the time that passes.
//! - A flush, whose cost no model states, is charged the time the device was busy with it. Where
//!   writes were charged what they are stated to cost once they are done, that part is paid. A
//!   device without a head that serves several requests at once does other work beside, so there a
//!   flush costs as much as the smallest write.

use super::cache::Late;
use super::requests::Rq;
use super::service::is_buffered;
use super::{Fair, NIL};
use fairdisk_core::{Instant, Span};

/// In about this time a group makes up for a flush, and a task within its group. Chosen: a full
/// cache of `hdd-ncq` takes a second, and groups with a tenth of the weights pay for all of it.
const MADE_UP_WITHIN: Span = Span::from_s(10);

impl Fair {
    /// Charges a request that is being dispatched.
    #[inline]
    pub(super) fn charge_dispatched(&mut self, now: Instant, at: u32) {
        if self.load.in_flight == 1 {
            self.charge_gap(now, at);
            self.load.busy_since = now;
        }
        if self.device.is_serial() {
            return;
        }
        let (queue, cost) = (self.requests[at].queue, self.cost_of(at));
        self.device.reach(self.requests[at].end);
        let rq = &mut self.requests[at];
        (rq.dispatched.charged, rq.dispatched.at) = (cost, now);
        rq.dispatched.is_counted = !rq.may_be_cached;
        self.device.cache.reads += u32::from(rq.dispatched.is_counted);
        if rq.is_durable() && self.params.rules.programs {
            rq.dispatched.is_programmed = self.device.begin_durable(cost);
        }
        self.load.at_work += rq.work();
        let group = self.queues[queue].group;
        let past = &mut self.groups[group as usize].past;
        (past.burst, past.spent) = (past.burst + cost, past.spent + cost);
        let time = match self.device.is_paced() {
            true if self.has_alone(queue) => {
                self.requests[at].dispatched.is_alone = true;
                Span::ZERO
            }
            true => {
                let time = match self.params.rules.pace {
                    true => self.device.pace.time_of(now, cost),
                    false => cost,
                };
                if self.requests[at].op.is_write() {
                    self.device.cache.paid += time;
                }
                time
            }
            false => cost,
        };
        self.charge(queue, Span::ZERO, time);
        // What is measured is accounted for once it is known.
        if !self.device.is_measured() && self.requests[at].dispatched.for_floor {
            self.forgive_floor(group, time);
        }
    }

    /// Charges the idle period of the device that ends with this request. If others had to wait
    /// meanwhile because the device was kept free, the period is charged to the writer whose
    /// acknowledged writes the device worked on.
    fn charge_gap(&mut self, now: Instant, at: u32) {
        if !self.charges_late_writes() {
            return;
        }
        let late = self.device.cache.rested(self.load.busy_since, now);
        let went_without = self.load.queued > 0 || self.requests[at].arrived < now;
        if let Some(late) = late.filter(|_| went_without) {
            self.charge_late(late);
        }
    }

    /// Whether the device may work on writes after it has acknowledged them, and the delay of later
    /// requests can be measured.
    pub(super) fn empties_cache(&self) -> bool {
        self.device.rotational && self.device.is_measured()
    }

    /// Whether a writer is charged for what the device does after it has acknowledged its writes.
    fn charges_late_writes(&self) -> bool {
        self.params.rules.late_writes && self.empties_cache()
    }

    /// Charges a writer's queue, or its group if the queue is gone, for delayed work on its writes.
    fn charge_late(&mut self, Late { writer, group, before, after, .. }: Late) {
        let (less, more) = (before - after, after - before);
        let deferred = &mut self.groups[group as usize].past.deferred;
        *deferred = *deferred + more - less;
        match writer {
            NIL => self.charge_group(group, less, more),
            writer => self.charge(writer, less, more),
        }
    }

    /// The charge in time of the request if it is dispatched next.
    pub(super) fn cost_of(&self, at: u32) -> Span {
        let rq = &self.requests[at];
        let told = self.device.cost_of_next(rq);
        match self.device.is_measured() {
            true => self.queues[rq.queue].times.service.get().unwrap_or(told),
            false => told,
        }
    }

    /// Charges a completed request. `device_time` is what it took, if it was alone at the device.
    #[inline]
    pub(super) fn charge_completed(&mut self, now: Instant, rq: &Rq, device_time: Span) {
        if !self.device.is_serial() {
            self.look(now, rq);
        }
        self.load.at_work = self.load.at_work - rq.work();
        self.expected.done += rq.dispatched.charged;
        let (service, is_theirs) = self.measure(now, rq, device_time);
        // Without a cost model, a charge on a queueing device is not in any unit of time.
        // While others leave room for a floor, the time that passes is what it takes.
        let is_told = self.device.is_told() && !self.promises.floors.room_needed.is_made;
        let is_timed = self.device.is_measured() || !is_told;
        let took = match is_timed {
            true if is_theirs => Span::ZERO,
            true => service,
            false => rq.dispatched.charged,
        };
        self.promises.floors.took(rq, took);
        if !self.device.is_measured() {
            self.expected.reserved.note_done(rq.dispatched.charged);
            if self.device.is_paced() {
                self.charge_paced(now, rq, service);
            }
            return;
        }
        if self.returning.allowance.looks_at(self.queues[rq.queue].group) {
            self.judge_allowance(now, rq, service);
        }
        let served = self.device.served(rq, service, self.load.in_flight);
        self.settle_allowance(rq, &served);
        let queue = &self.queues[rq.queue];
        let (mut own, mut charged) = (service, rq.dispatched.charged);
        if self.charges_late_writes()
            && let Some(late) = self.device.cache.whose(now, (rq, queue), served)
        {
            self.charge_late(late);
            own = own + late.before + late.earlier - late.after;
            charged += late.earlier;
        }
        let cost = if is_theirs { Span::ZERO } else { own };
        self.charge(rq.queue, charged, cost);
        if rq.dispatched.for_floor {
            self.forgive_floor(self.queues[rq.queue].group, cost);
        }
        self.queues[rq.queue].times.service.add(own);
        self.device.measured(rq, own);
        if rq.dispatched.follows {
            self.queues[rq.queue].times.following.add(own);
        }
    }

    /// Accounts for a completed request in what is tried: how much may be at the device, where its
    /// costs are not told, and whether groups have turns, where it has no head.
    fn look(&mut self, now: Instant, rq: &Rq) {
        let (group, cost) = (self.queues[rq.queue].group, self.device.cost_in_look(rq));
        if self.params.rules.depth_limit && !self.device.is_told() && !self.device.is_in_turns() {
            self.look_at_depth(now, group, cost);
        }
        if self.params.rules.sharing && !self.device.rotational {
            self.look_at_sharing(now, group, cost);
        }
    }

    /// The time of a completed request, and whether that time belongs to reads at the device: a
    /// write that is only taken into the cache does not need the head, which is at work for them.
    #[inline]
    fn measure(&mut self, now: Instant, rq: &Rq, device_time: Span) -> (Span, bool) {
        let before = core::mem::replace(&mut self.load.busy_since, now);
        if self.device.is_serial() {
            return (device_time, false);
        }
        if !rq.op.is_write() {
            return (now.since(before), false);
        }
        if rq.is_durable() {
            self.device.end_durable(now, rq);
        }
        if rq.is_durable() || self.device.cache.reads == 0 || !self.device.is_measured() {
            return (now.since(before), false);
        }
        let took = now.since(before.max(self.device.cache.taken_in));
        let is_theirs = is_buffered(took, self.device.cost_of_any(rq.bytes()));
        if is_theirs {
            self.device.cache.taken_in = now;
        }
        self.load.busy_since = if is_theirs { before } else { before + took };
        (took, is_theirs)
    }

    /// Accounts for a charge of service for a floor of the group or of one around it, so that what
    /// the floor gave beyond the share is not taken back.
    #[cold]
    #[inline(never)]
    fn forgive_floor(&mut self, group: u32, cost: Span) {
        // The floor may have been taken back since.
        let floored = self.floored_around(group).unwrap_or(group);
        self.tree.forgive_floor(group, floored, cost);
    }

    /// Charges a flush of the group by the task of the queue, if it has one. A flush goes ahead of
    /// everybody, so the later requests of those who pay wait instead.
    pub(super) fn charge_flushed(
        &mut self,
        (queue, group): (Option<u32>, u32),
        device_time: Span,
        ok: bool,
    ) {
        // With nothing queued and nothing at the device, the flush delayed nobody.
        let delays = self.load.queued > 0 || self.load.in_flight > 0;
        // Nothing is known to be done after a flush that has failed.
        let mut own = match ok {
            true if self.device.works_beside_flushes() => {
                device_time.min(self.device.smallest_write())
            }
            true => device_time - self.device.cache.paid,
            false => device_time,
        };
        if delays {
            own = self.charge_flush(group, own, ok);
            // A task without a queue has had no request that others of its group waited for.
            if let Some(queue) = queue {
                self.queues.charge_within(queue, own, MADE_UP_WITHIN);
                self.note_used_by(queue, Span::ZERO, own);
            }
        }
        if ok {
            self.groups[group as usize].past.absence.flushed(own);
        }
    }

    /// Charges the group for its part of a flush.
    fn pay_for_flush(&mut self, group: u32, part: Span) {
        self.tree.charge(group, Span::ZERO, part);
        self.note_used(group, Span::ZERO, part);
    }

    /// Lets the groups whose writes a flush has finished pay for it, and `by` pay the rest, which
    /// is returned.
    pub(super) fn charge_flush(&mut self, by: u32, took: Span, ok: bool) -> Span {
        let mut rest = took;
        if ok && self.charges_late_writes() {
            let is_told = self.device.is_told();
            for (group, part) in self.device.cache.parts_of_flush(took, is_told) {
                if group != by && part > Span::ZERO {
                    self.pay_for_flush(group, part);
                    // Without costs nobody pays for what the disk does while it is kept free.
                    if is_told {
                        self.groups[group as usize].past.absence.flushed(part);
                    }
                    rest = rest - part;
                }
            }
        }
        self.pay_for_flush(by, rest);
        rest
    }

    /// Notes that a flush has finished all acknowledged writes, or has failed and tells nothing of
    /// them.
    pub(super) fn note_flushed(&mut self, now: Instant, device_time: Span, ok: bool) {
        if ok {
            self.device.cache.flushed();
            self.returning.allowance.flushed();
        }
        // The flush took this part of the time until the next completion.
        self.load.busy_since = (self.load.busy_since + device_time).min(now);
    }

    /// Replaces a charge of `charged` to the queue and its group by `cost`.
    #[inline]
    pub(super) fn charge(&mut self, queue: u32, charged: Span, cost: Span) {
        let group = self.queues[queue].group;
        self.queues.charge(queue, charged, cost);
        self.tree.charge(group, charged, cost);
        // A queue is first only in a turn of its own group, which is looked at once.
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.group == group) {
            turn.note_used(charged, cost);
            if turn.queue == queue {
                turn.note_used_by_queue(charged, cost);
            }
        }
    }

    /// Replaces `charged` by `cost` in what the queue has used of a turn, if it is first in one.
    #[inline]
    fn note_used_by(&mut self, queue: u32, charged: Span, cost: Span) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.queue == queue) {
            turn.note_used_by_queue(charged, cost);
        }
    }

    /// Replaces a charge of `charged` to the group by `cost`.
    #[inline]
    pub(super) fn charge_group(&mut self, group: u32, charged: Span, cost: Span) {
        self.tree.charge(group, charged, cost);
        self.note_used(group, charged, cost);
    }

    /// Replaces `charged` by `cost` in what the group has used of its turn, if it has one.
    #[inline]
    fn note_used(&mut self, group: u32, charged: Span, cost: Span) {
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.group == group) {
            turn.note_used(charged, cost);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fair::{Fair, FairParams, NIL};
    use crate::samples::{request, submitter};
    use fairdisk_core::{
        Change, Completion, Cost, CostModel, Decision, Elevator, Flags, GroupId, Hearing, Instant,
        Op, Request, RequestId, Span, Why,
    };

    /// At a disk that serves one at a time, in so many ms each.
    fn told_to_take(ms: u64) -> Fair {
        let mut fair = Fair::new(&FairParams::default());
        let time = Span::from_ms(ms);
        let cost = Cost { random: time, ..Cost::default() };
        let (saturation, alone) = (time, time);
        let costs = CostModel { depth: 1, saturation, alone, read: cost, write: cost };
        fair.configure(Instant::ZERO, &Change::Costs(costs));
        fair
    }

    /// The group that has written most of what is left to be done.
    fn writer(fair: &Fair) -> Option<u32> {
        let parts = fair.device.cache.parts_of_flush(Span::from_ms(8), true);
        let (group, _) = parts
            .into_iter()
            .filter(|(_, part)| *part > Span::ZERO)
            .max_by_key(|(_, part)| *part)?;
        Some(group)
    }

    /// The group with the most writes left to be done, at a disk with a write cache that took a
    /// write of group 1 in at once and was then flushed.
    fn writer_after_a_flush(ok: bool) -> Option<u32> {
        let us = |us| Instant::ZERO + Span::from_us(us);
        let mut fair = told_to_take(8);
        fair.admit(us(0), &request(0, 1, Op::Write, us(0)));
        assert!(matches!(fair.decide(us(0)), Decision::Dispatch(..)));
        let (request, device_time) = (RequestId(0), Span::from_us(300));
        fair.complete(us(300), &Completion { request, device_time, ok: true });
        fair.flushes(us(300), submitter(2));
        fair.flushed(us(900), submitter(2), Span::from_us(600), ok);
        writer(&fair)
    }

    #[test]
    fn only_a_flush_that_succeeded_has_finished_the_writes() {
        assert_eq!([true, false].map(writer_after_a_flush), [None, Some(1)]);
    }

    #[test]
    fn a_write_that_is_durable_when_it_completes_leaves_nothing_to_be_done() {
        let writer_after = |flags, took| {
            let mut fair = told_to_take(8);
            let write = request(0, 1, Op::Write, Instant::ZERO);
            fair.admit(Instant::ZERO, &Request { flags, ..write });
            assert!(matches!(fair.decide(Instant::ZERO), Decision::Dispatch(..)));
            let device_time = Span::from_us(took);
            let completion = Completion { request: RequestId(0), device_time, ok: true };
            fair.complete(Instant::ZERO + device_time, &completion);
            writer(&fair)
        };
        assert_eq!(writer_after(Flags::NONE, 3000), Some(1));
        assert_eq!(writer_after(Flags::FUA, 3000), None);
        // No head moves as fast.
        assert_eq!(writer_after(Flags::FUA, 300), Some(1));
    }

    #[test]
    fn a_flush_is_charged_to_those_whose_writes_it_does() {
        let us = |us| Instant::ZERO + Span::from_us(us);
        let mut fair = told_to_take(8);
        for (slot, group) in [(0, 1), (1, 1), (2, 1), (3, 2)] {
            let now = us(400 * u64::from(slot));
            fair.admit(now, &request(slot, group, Op::Write, now));
            assert!(matches!(fair.decide(now), Decision::Dispatch(..)));
            let (request, device_time) = (RequestId(slot), Span::from_us(400));
            fair.complete(now + device_time, &Completion { request, device_time, ok: true });
        }
        let parts = |ms| {
            let parts = fair.device.cache.parts_of_flush(Span::from_ms(ms), true);
            [0, 1, 2].map(|at| (parts[at].0, parts[at].1.as_us()))
        };
        assert_eq!(parts(16), [(1, 12_000), (2, 4000), (NIL, 0)]);
        // What takes longer than all that was left is paid by who flushed.
        assert_eq!(parts(60), [(1, 3 * 7600), (2, 7600), (NIL, 0)]);
        let untold = fair.device.cache.parts_of_flush(Span::from_ms(60), false);
        assert_eq!(untold.map(|(_, part)| part.as_us())[..3], [45_000, 15_000, 0]);
        // Group 3 flushes while group 4 wants the disk, and pays for nothing.
        fair.admit(us(1600), &request(4, 4, Op::Read, us(1600)));
        fair.flushes(us(1600), submitter(3));
        fair.flushed(us(17_600), submitter(3), Span::from_ms(16), true);
        let ahead = |ms| [1, 2, 3].map(|group| fair.tree.is_ahead(group, Span::from_ms(ms)));
        assert_eq!([3, 10].map(ahead), [[true, true, false], [true, false, false]]);
        let parts = fair.device.cache.parts_of_flush(Span::from_ms(16), true);
        assert_eq!(parts[0], (NIL, Span::ZERO), "nothing is left of any write");
        // The think times of the writers are compared with that, too, for each request.
        let flushing = [1, 2, 3].map(|group| fair.groups[group].past.absence.flushing().as_us());
        assert_eq!(flushing, [4000, 4000, 0]);
    }

    #[test]
    fn whose_group_is_gone_leaves_no_second_place_to_another() {
        let us = |us| Instant::ZERO + Span::from_us(us);
        let mut fair = told_to_take(8);
        let write = |fair: &mut Fair, slot: u32, group: u32| {
            let now = us(600 * u64::from(slot));
            fair.admit(now, &request(slot, group, Op::Write, now));
            assert!(matches!(fair.decide(now), Decision::Dispatch(..)));
            let (request, device_time) = (RequestId(slot), Span::from_us(400));
            fair.complete(now + device_time, &Completion { request, device_time, ok: true });
        };
        (0..3).for_each(|slot| write(&mut fair, slot, 1 + slot));
        fair.configure(us(1800), &Change::GroupRemoved { group: GroupId(1) });
        write(&mut fair, 3, 3);
        let parts = fair.device.cache.parts_of_flush(Span::from_ms(60), true);
        assert_eq!(parts.iter().filter(|(group, _)| *group == 3).count(), 1, "{parts:?}");
    }

    /// What a flush of 12 ms at an array is noted to have cost group 1, in ms, after a write of
    /// `writer` that was charged 8 ms, while a read of group 2 is there.
    fn owed_for_a_flush(writer: u32, ok: bool) -> u64 {
        let ms = |ms| Instant::ZERO + Span::from_ms(ms);
        let mut fair = Fair::new(&FairParams::default());
        let [next, random, saturation] = [1, 8, 32].map(Span::from_ms);
        let cost = Cost { sequential: next, random, ..Cost::default() };
        let costs = CostModel { depth: 32, saturation, alone: random, read: cost, write: cost };
        fair.configure(ms(0), &Change::Costs(costs));
        for (slot, group, op) in [(0, writer, Op::Write), (1, 2, Op::Read)] {
            fair.admit(ms(0), &request(slot, group, op, ms(0)));
            assert!(matches!(fair.decide(ms(0)), Decision::Dispatch(..)));
        }
        let device_time = Span::from_ms(1);
        fair.complete(ms(1), &Completion { request: RequestId(0), device_time, ok: true });
        fair.flushes(ms(1), submitter(1));
        let took = Span::from_ms(12);
        fair.flushed(ms(13), submitter(1), took, ok);
        assert_eq!(fair.device.cache.paid == Span::ZERO, ok, "only what succeeded has used it up");
        fair.groups[1].past.absence.flushing().as_ms()
    }

    #[test]
    fn at_an_array_a_flush_costs_what_was_not_paid_with_the_writes() {
        assert_eq!([1, 2].map(|writer| owed_for_a_flush(writer, true)), [4, 4]);
        // Nothing is known of one that has failed.
        assert_eq!(owed_for_a_flush(1, false), 0);
    }

    #[test]
    fn nothing_is_chosen_while_a_flush_is_at_a_disk_that_serves_one_at_a_time() {
        let us = |us| Instant::ZERO + Span::from_us(us);
        let mut fair = told_to_take(8);
        fair.flushes(us(0), submitter(1));
        fair.admit(us(0), &request(0, 2, Op::Read, us(0)));
        assert_eq!(fair.decide(us(0)), Decision::WaitCompletion(Why::OneAtATime));
        fair.flushed(us(900), submitter(1), Span::from_us(900), true);
        assert!(matches!(fair.decide(us(900)), Decision::Dispatch(..)));
    }

    /// Writes at a disk with one head, which is at work for a read: two are taken in, the third has
    /// to wait for a place in the cache.
    #[test]
    fn what_passes_while_a_write_is_taken_in_is_the_reads_time() {
        let us = |us| Instant::ZERO + Span::from_us(us);
        let mut fair = Fair::new(&FairParams::default());
        let cost = Cost { random: Span::from_ms(4), ..Cost::default() };
        let (saturation, alone) = (Span::from_ms(4), Span::from_ms(8));
        let costs = CostModel { depth: 32, saturation, alone, read: cost, write: cost };
        fair.configure(us(0), &Change::Costs(costs));
        for (slot, op) in [(0, Op::Read), (1, Op::Write)] {
            fair.admit(us(0), &request(slot, 1, op, us(0)));
            assert!(matches!(fair.decide(us(0)), Decision::Dispatch(..)));
        }
        let (read, write) = (fair.requests[0], fair.requests[1]);
        let mut measure = |now, rq| {
            let (took, is_theirs) = fair.measure(us(now), rq, Span::ZERO);
            (took.as_us(), is_theirs)
        };
        assert_eq!(measure(300, &write), (300, true));
        assert_eq!(measure(600, &write), (300, true));
        assert_eq!(measure(3000, &write), (2400, false));
        // The read has the time in which the first two were taken in, and what is left.
        assert_eq!(measure(5000, &read), (2600, false));
        assert_eq!(measure(5200, &read), (200, false));
    }
}
