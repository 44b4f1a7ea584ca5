//! Devices that serve several requests at once: start-time fair queueing with as many requests at
//! the device as it takes, SFQ(D) (Jin, Chase, Kaur, "Interposed proportional sharing for a storage
//! service utility", 2004). A request is charged its cost when it is dispatched.

use super::expected::Held;
use super::hierarchy::WHOLE_DISK;
use super::queue::WEIGHT_MOST;
use super::requests::Rq;
use super::saving::Heeded;
use super::turn::Turn;
use super::{Fair, Step};
use fairdisk_core::{Bio, Instant, Request, Span, TaskId, Why};

/// Those in line get at least a fourth of their part of a device without a head, however long
/// others stay behind. Chosen: with half of it, a few readers beside large writes on `nvme` do 15
/// to 18 thousand I/Os a second, with a fourth 26 to 33, and alone 50.
const HELD_FACTOR: u64 = 4;
/// Writes are merged up to twice what fills the device.
const WRITE_FACTOR: u64 = 2;

/// What becomes of the group that is first in line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    Serve,
    /// It was barred: the next one is first in line.
    Barred,
    /// It waits, and everybody behind it.
    Wait(Step),
}

impl Fair {
    /// The next step on a device that serves several requests at once.
    pub(super) fn step_queueing(&mut self, now: Instant) -> Step {
        self.expected.release_due(now, &mut self.tree, &mut self.groups);
        if !self.reserved.is_empty() {
            self.release_reserved_due(now);
        }
        if !self.returning.is_empty() {
            // Drops groups that should have come back by now.
            self.next_back(now);
        }
        if let Some(step) = self.serve_awaited(now) {
            return step;
        }
        loop {
            if let Some(at) = self.next_below_floor(now) {
                return self.dispatch(now, at, Why::BelowFloor);
            }
            if let Some(step) = self.serve_target(now) {
                return step;
            }
            if self.hold_back_for_room(now) {
                return Step::WaitCompletion(self.why_held_back());
            }
            if let Some(step) = self.leave_room_for_floors(now) {
                return step;
            }
            let had_turn = self.turn.is_some();
            if let Some(step) = self.go_on_in_turn(now) {
                return step;
            }
            if had_turn && self.turn.is_none() && !self.floors.is_empty() {
                // Another request is next, which may leave a floor too little room.
                continue;
            }
            let Some(group) = self.tree.first() else {
                return self.wait_for_ceilings();
            };
            let queue = self.queues.first_of(now, group);
            let at = self.next_of(now, queue);
            match self.judge_first(now, group, at) {
                Verdict::Serve => {}
                Verdict::Barred => continue,
                Verdict::Wait(step) => return step,
            }
            if self.is_better_alone(queue) {
                if let Some(step) = self.yields(now, group, queue) {
                    return step;
                }
                if self.has_company(queue) {
                    self.begin_alone(now, group, queue);
                    continue;
                }
            }
            if self.turn.is_none() || !self.device.is_measured() {
                self.give_turn(now, group, queue);
            }
            return self.dispatch(now, at, Why::LeastServed);
        }
    }

    /// The next step in the turn, if there is one that goes on.
    #[inline]
    fn go_on_in_turn(&mut self, now: Instant) -> Option<Step> {
        if self.device.is_measured()
            && !self.turn.is_some_and(|turn| turn.alone)
            && let Some(step) = self.go_on_at_depth(now)
        {
            return Some(step);
        }
        self.go_on_alone(now)
    }

    /// What becomes of the group that is first in line with this request.
    #[inline]
    fn judge_first(&mut self, now: Instant, group: u32, at: u32) -> Verdict {
        if self.waits_for_others(group) {
            return Verdict::Wait(Step::WaitCompletion(Why::OthersInFlight));
        }
        if let Some(step) = self.make_room(now, group, at) {
            return Verdict::Wait(step);
        }
        if self.bar_at_ceiling(now, at)
            || self.bar_early_write(now, group, at)
            || self.bar_before_flush(now, group, at)
        {
            return Verdict::Barred;
        }
        self.hold_write(now, at).map_or(Verdict::Serve, Verdict::Wait)
    }

    /// Whether a turn of the group waits for what others have at the device: while that is there,
    /// the time that passes would not be what the group's requests take.
    fn waits_for_others(&self, group: u32) -> bool {
        self.device.is_in_turns() && self.in_flight > self.groups[group as usize].in_flight
    }

    /// The reason for holding everybody back for room: none is needed for those who are barred.
    fn why_held_back(&self) -> Why {
        let bar = self.barred.first().filter(|_| self.tree.first().is_none());
        bar.map_or(Why::TargetRoomUsed, |_| self.why_barred())
    }

    /// The next step in a turn on a disk with a head; `None` if the turn has ended.
    pub(super) fn go_on_at_depth(&mut self, now: Instant) -> Option<Step> {
        let turn = self.turn?;
        let group = turn.group;
        let waits = self.groups[group as usize].waiting > 0;
        let others = self.tree.others_want(group) || self.tree.has_passed_expected(group);
        if others && self.is_used_up(turn) && (waits || self.tree.behind_by(group).is_none()) {
            self.end_turn(now);
            return None;
        }
        if waits {
            if let Some(returned) = self.serve_returned(now, turn) {
                if returned.is_err() {
                    self.end_turn(now);
                }
                return returned.ok();
            }
            let queue = self.queues.first_of(now, group);
            if self.is_better_alone(queue) {
                if let Some(step) = self.yields(now, group, queue) {
                    return Some(step);
                }
                if self.has_company(queue) {
                    let used_by_queue = Span::ZERO;
                    self.turn = Some(Turn { queue, used_by_queue, alone: true, ..turn });
                    return self.go_on_alone(now);
                }
            }
            if self.waits_for_others(group) {
                return Some(Step::WaitCompletion(Why::OthersInFlight));
            }
            let at = self.next_of(now, queue);
            let kept = self.keep_for_task(now, turn, queue);
            if let Some(step) = kept.or_else(|| self.make_room(now, group, at)) {
                return Some(step);
            }
            if self.barred.has_ceilings() {
                match self.heed_ceilings_at_depth(now, at) {
                    Heeded::TurnGoesOn => {}
                    Heeded::TurnEnded => return None,
                    Heeded::Next(step) => return Some(step),
                }
            }
            if self.bar_before_flush(now, group, at) {
                self.end_turn(now);
                return None;
            }
            if let Some(step) = self.hold_write(now, at) {
                return Some(step);
            }
            return Some(self.dispatch(now, at, Why::GroupSliceContinues));
        }
        let is_quiet = self.groups[group as usize].is_quiet();
        if !is_quiet || self.in_flight > 0 && self.expected.contains(group) {
            self.device.depth_limit.contend();
            let waits_for_it = self.device.is_saturated(self.at_work)
                || self.is_saturated(self.at_work) && !self.goes_away(group);
            let waits_for_it = waits_for_it && self.params.rules.kept_slices;
            return waits_for_it.then_some(Step::WaitCompletion(Why::GroupSliceKept));
        }
        // While requests of others are there, the disk is not idle at the group's cost.
        let is_paid =
            |it: &Self| it.in_flight > 0 && it.turn.is_some_and(|it| it.kept_since.is_some());
        let kept = self.keep_for_group(now, turn).ok().filter(|_| !is_paid(self));
        if kept.is_none() {
            self.end_turn(now);
        }
        kept
    }

    /// Lets a write that is next, and everybody behind it in line, wait for a thinker; `None` if it
    /// need not wait.
    fn hold_write(&mut self, now: Instant, at: u32) -> Option<Step> {
        let until = self.write_waits(now, at)?;
        Some(Step::WaitUntil(until, Why::HeldForThinker))
    }

    /// Whether the group, once it has nothing queued and nothing at the device, thinks for longer
    /// than it would be waited for. Room for the last of its requests would cost others more than
    /// it gains.
    fn goes_away(&self, group: u32) -> bool {
        self.groups[group as usize]
            .past
            .think
            .get()
            .is_some_and(|think| think > self.params.idle_max)
    }

    /// Lets the group, which is first in line with this request, and everybody behind it wait if an
    /// expected group is behind it and the device is fully busy; `None` if it need not wait. A
    /// write counts with all of its cost: the device may acknowledge it at once and work on it long
    /// afterwards. So does a read that fills a device without a head by itself.
    fn make_room(&mut self, now: Instant, group: u32, at: u32) -> Option<Step> {
        // A flush waits for the backlog alone, which `backlog` sees to.
        let flushes = !self.device.works_beside_flushes() && self.cache.flushes > 0;
        let is_busy = self.in_flight > 0 || flushes;
        if !is_busy && self.reserved.is_empty() || self.device.is_in_turns() {
            return None;
        }
        let inside = match self.tree.has_passed_expected(group) {
            true => None,
            false => Some(self.expected_inside(now, group, self.requests[at].queue)?),
        };
        self.device.depth_limit.contend();
        let rq = &self.requests[at];
        let waits = match rq.op.is_write() {
            true => self.is_saturated(self.at_work + self.cost_of(at) + self.programs_beside(rq)),
            false => self.has_no_room_for_read(at),
        };
        let due = inside.and_then(|queue| self.expected_until(queue)).unwrap_or(Instant::MAX);
        if !waits || !self.device.is_flash() {
            return waits.then_some(Step::wait_until(due, Why::DepthLimited));
        }
        let most = || match inside {
            None => now + self.held_back_most(group, at),
            Some(before) => now + self.held_back_inside(before, at),
        };
        // What waits for a task of its own group and what waits for another group have limits of
        // their own.
        let held = self.expected.held.filter(|held| held.is_inside == inside.is_some());
        let until = match held {
            None => most(),
            Some(held) if held.request == at => held.until,
            Some(held) => held.until.min(most()),
        };
        self.expected.held = Some(Held { request: at, until, is_inside: inside.is_some() });
        self.expected.held_back += 1;
        (until > now).then_some(Step::wait_until(until.min(due), Why::DepthLimited))
    }

    /// How long a request is held back for this expected queue of its own group: as the request of
    /// another group is, if all others of its class had the highest level. A better class goes
    /// before it until the request's own has been passed over.
    fn held_back_inside(&self, before: u32, at: u32) -> Span {
        let queue = &self.queues[self.requests[at].queue];
        if self.queues[before].class() < queue.class() {
            return self.params.expire;
        }
        let all = WEIGHT_MOST * u64::from(self.queues.in_line_with(self.requests[at].queue) + 1);
        self.cost_of(at).scaled(HELD_FACTOR * all, queue.weight())
    }

    /// Whether the device is fully busy for this read.
    #[inline]
    fn has_no_room_for_read(&mut self, at: u32) -> bool {
        let (rq, more) = (&self.requests[at], self.device.more_to_saturate());
        let is_large = self.device.is_filled_by(rq.op, rq.bytes());
        match is_large && self.params.rules.large_requests {
            true => self.is_saturated(self.at_work + self.cost_of(at) - more),
            false => self.is_saturated(self.at_work - more) && !self.may_have_more(more),
        }
    }

    /// What the device programs beside a write that is durable when it completes, and counts like
    /// it: all of that delays the reads for which there is to be room.
    fn programs_beside(&self, rq: &Rq) -> Span {
        if rq.is_durable() { self.device.programs } else { Span::ZERO }
    }

    /// How long those in line are held back at most, with this request of the group as the next: a
    /// few times as long as their part of the device takes for it. Those for whom they make room
    /// may be behind because their tasks wait for each request; however long others wait, they do
    /// not catch up then.
    fn held_back_most(&self, group: u32, at: u32) -> Span {
        let part = self.tree.part_in_line(group);
        self.cost_of(at).scaled(HELD_FACTOR * WHOLE_DISK, part)
    }

    /// Whether the request would hold others up if the bio were merged into it. Without a head
    /// nothing is gained by a request that is more than enough to keep the device fully busy by
    /// itself, and what others have there waits for all of it. Writes, which wait for room in
    /// any case, are merged a little further.
    pub(super) fn would_hold_up_others(&self, request: &Request, bio: &Bio) -> bool {
        let bytes = request.sectors.bytes() + bio.sectors.bytes();
        let bytes = if request.op.is_write() { bytes / WRITE_FACTOR } else { bytes };
        let group = bio.group.0;
        let has_company = || {
            self.tree.others_want(group)
                || self.tree.has_passed_expected(group)
                || self.in_flight > self.groups[group as usize].in_flight
        };
        self.params.rules.large_requests
            && self.device.is_filled_by(request.op, bytes)
            && has_company()
    }

    /// Whether the next requests of the task pass at once, as [`Elevator::lets_through`] has it.
    ///
    /// [`Elevator::lets_through`]: fairdisk_core::Elevator::lets_through
    #[inline]
    pub(super) fn lets_task_through(&self, task: TaskId, group: u32) -> bool {
        // A disk that picks the next of several commands, or has turns, may be kept free for
        // another task.
        let may_wait = (self.device.picks_next() || self.device.is_in_turns())
            && self.queues.has_priorities(group);
        !may_wait && self.queues.find(task, group).is_some_and(|queue| self.is_alone(group, queue))
    }

    /// Whether a request is at the device, or a flush there or on its way.
    pub(super) const fn is_busy(&self) -> bool {
        self.in_flight > 0 || self.cache.flushes > 0
    }

    /// Whether the device is fully busy with this work. A flush occupies every head of a disk, and
    /// any request occupies a single head.
    fn is_saturated(&self, work: Span) -> bool {
        let flushes = self.device.rotational && self.cache.flushes > 0;
        let arm = self.device.serves_one_group() && self.in_flight > 0;
        flushes || arm || self.device.is_saturated(work)
    }
}
