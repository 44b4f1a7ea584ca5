//! What requests are charged, when, and to whom.
//!
//! Where one request is served at a time, the time each took is measured. If it has the device for
//! itself it is charged when it completes. Several at a disk with one head are served one after
//! the other, so the time from one completion to the next is what the second took; until then it
//! is charged what its queue's requests took so far. A device that works on several is charged by
//! its model; if a task has it to itself, by the time that passes. Flushes, which no model knows,
//! are charged what the device was busy with them.

use super::cache::Late;
use super::floor::DEBT_MOST;
use super::requests::Rq;
use super::{Fair, NIL};
use fairdisk_core::{Instant, Span};

impl Fair {
    /// Charges a request that is on its way to the device.
    #[inline]
    pub(super) fn charge_dispatched(&mut self, now: Instant, at: u32) {
        if self.in_flight == 1 {
            self.charge_gap(now, at);
            self.busy_since = now;
        }
        if self.device.is_serial() {
            return;
        }
        let (queue, cost) = (self.requests[at].queue, self.cost_of(at));
        self.device.reach(self.requests[at].end);
        let rq = &mut self.requests[at];
        (rq.charged, rq.dispatched, rq.is_counted) = (cost, now, !rq.op.is_write());
        self.cache.reads += u32::from(rq.is_counted);
        self.at_work += cost;
        let group = &mut self.groups[self.queues[queue].group as usize];
        group.burst += cost;
        let time = match self.device.is_paced() {
            true if self.has_alone(queue) => Span::ZERO,
            true => self.pace.time_of(now, cost),
            false => cost,
        };
        self.charge(queue, Span::ZERO, time);
        let rq = self.requests[at];
        self.forgive_floor(&rq);
    }

    /// Nothing was at the device until this request. If somebody went without meanwhile, as the
    /// device was kept for another, whoever had it work in that time pays for it.
    fn charge_gap(&mut self, now: Instant, at: u32) {
        if !self.empties_cache() {
            return;
        }
        let late = self.cache.rested(self.busy_since, now, &mut self.groups);
        let went_without = self.queued > 0 || self.requests[at].arrived < now;
        if let Some(late) = late.filter(|_| went_without) {
            self.charge_late(late);
        }
    }

    /// Whether the device may be busy with writes after it acknowledged them, and what it takes for
    /// what comes then can be measured.
    pub(super) fn empties_cache(&self) -> bool {
        self.device.rotational && self.device.is_measured()
    }

    /// Charges a writer what the device did for it after its write.
    fn charge_late(&mut self, Late { writer, group, before, after, .. }: Late) {
        let (less, more) = (before - after, after - before);
        match writer {
            NIL => self.charge_group(group, less, more),
            writer => self.charge(writer, less, more),
        }
    }

    /// What the request is charged if it is the next at the device.
    pub(super) fn cost_of(&self, at: u32) -> Span {
        let rq = &self.requests[at];
        let told = self.device.cost_of_next(rq);
        match self.device.is_measured() {
            true => self.queues[rq.queue].service.get().unwrap_or(told),
            false => told,
        }
    }

    /// Charges a request that completed; alone at the device it took `device_time`.
    #[inline]
    pub(super) fn charge_completed(&mut self, now: Instant, rq: &Rq, device_time: Span) {
        self.at_work = self.at_work - rq.charged;
        if !self.device.is_serial() && !self.device.is_told() {
            self.device.knee.completed(now, rq.charged, now.since(rq.dispatched));
        }
        let before = core::mem::replace(&mut self.busy_since, now);
        let service = if self.device.is_serial() { device_time } else { now.since(before) };
        // Without costs a charge is in no unit of time.
        let is_timed = self.device.is_measured() || !self.device.is_told();
        let took = if is_timed { service } else { rq.charged };
        self.floors.took(rq.for_floor, took);
        if !self.device.is_measured() {
            if self.device.is_paced() && !self.charge_alone(rq.queue, service) {
                self.pace.passed(now, service, rq.charged);
            }
            return;
        }
        if self.returning.allowance.looks_at(self.queues[rq.queue].group) {
            self.judge_allowance(now, rq, service);
        }
        let served = self.device.served(rq, service, self.in_flight == 0);
        self.settle_allowance(rq, &served);
        let queue = &self.queues[rq.queue];
        let (mut own, mut charged) = (service, rq.charged);
        if self.empties_cache()
            && let Some(late) = self.cache.whose(now, (rq, queue), served, &mut self.groups)
        {
            self.charge_late(late);
            own = own + late.before + late.earlier - late.after;
            charged += late.earlier;
        }
        self.charge(rq.queue, charged, own);
        self.forgive_floor(rq);
        self.queues[rq.queue].service.add(own);
        self.device.measured(rq.follows, own);
        if rq.follows {
            self.queues[rq.queue].following.add(own);
        }
        if self.device.rotational {
            self.note_round(now, self.queues[rq.queue].group, (service, own));
        }
    }

    /// What a floor gave beyond the share is not to be given back.
    #[inline]
    fn forgive_floor(&mut self, rq: &Rq) {
        if rq.for_floor {
            self.tree.forgive(self.queues[rq.queue].group, DEBT_MOST);
        }
    }

    /// Charges a flush: it went before everybody, so its group has what follows the later.
    pub(super) fn charge_flushed(&mut self, now: Instant, group: u32, device_time: Span) {
        self.cache.flushed(&mut self.groups);
        self.returning.allowance.flushed();
        // Where time is measured from one completion to the next, this much is not the next one's.
        self.busy_since = (self.busy_since + device_time).min(now);
        if self.queued == 0 && self.in_flight == 0 {
            // Nobody went without.
            return;
        }
        self.charge_group(group, Span::ZERO, device_time);
        // No flush waits for its turn, so there is no end to what could be owed for them.
        self.tree.forgive_rounds(group);
    }

    /// The queue, which was charged this before, used so much.
    #[inline]
    pub(super) fn charge(&mut self, queue: u32, charged: Span, cost: Span) {
        self.queues.charge(queue, charged, cost);
        self.charge_group(self.queues[queue].group, charged, cost);
        if let Some(turn) = &mut self.turn
            && turn.queue == queue
        {
            turn.used_by_queue = turn.used_by_queue + cost - charged;
        }
    }

    /// The same of a group.
    #[inline]
    pub(super) fn charge_group(&mut self, group: u32, charged: Span, cost: Span) {
        self.tree.charge(group, charged, cost);
        if let Some(turn) = &mut self.turn
            && turn.group == group
        {
            turn.used = turn.used + cost - charged;
        }
    }
}
