//! Devices that serve several requests at once: start-time fair queueing with as many requests at
//! the device as it takes, SFQ(D) (Jin, Chase, Kaur, "Interposed proportional sharing for a storage
//! service utility", 2004). A request is charged its cost when it is dispatched.

use super::Fair;
use super::answer::{After, Answer, Held, Notes, Over};
use super::hierarchy::WHOLE_DISK;
use super::queue::WEIGHT_MOST;
use super::requests::Rq;
use super::turn::Turn;
use fairdisk_core::{Bio, Instant, Request, Span, TaskId, Why};

/// Those in line get at least a fourth of their part of a device without a head, however long
/// others stay behind. Chosen: with half of it, a few readers beside large writes on `nvme` do 15
/// to 18 thousand I/Os a second, with a fourth 26 to 33, and alone 50.
const HELD_FACTOR: u64 = 4;
/// Writes are merged up to twice what fills the device.
const WRITE_FACTOR: u64 = 2;

impl Fair {
    /// A turn of the group waits for what others have at the device: while that is there, the time
    /// that passes would not be what the group's requests take.
    pub(super) fn waits_for_others(&self, group: u32) -> Option<Answer> {
        let waits = self.device.is_in_turns()
            && self.load.in_flight > self.groups[group as usize].in_flight;
        waits.then_some(Answer::Wait(Instant::MAX, Why::OthersInFlight))
    }

    /// What is next in a turn on a disk with a head, or while groups have turns; `None` if the line
    /// may go on meanwhile.
    pub(super) fn in_turn_at_depth(
        &self,
        now: Instant,
        turn: Turn,
        notes: &mut Notes,
    ) -> Option<Answer> {
        let group = turn.group;
        let waits = self.groups[group as usize].waiting > 0;
        let others = self.tree.others_want(group) || self.tree.has_passed_expected(group);
        if others && self.is_used_up(turn) && (waits || self.tree.behind_by(group).is_none()) {
            return Some(self.ends_turn(Over::Done));
        }
        match waits {
            true => Some(
                self.goes_on_at_depth(now, turn, notes).unwrap_or_else(|it| self.ends_turn(it)),
            ),
            false => self.stays_at_depth(now, turn, notes),
        }
    }

    /// What is next in a turn of a group that has something queued.
    fn goes_on_at_depth(
        &self,
        now: Instant,
        turn: Turn,
        notes: &mut Notes,
    ) -> Result<Answer, Over> {
        let group = turn.group;
        if let Some(returned) = self.first_returned(now, turn) {
            return returned.map_err(|_| Over::Done);
        }
        let queue = self.queues.first_of(now, group);
        if self.is_better_alone(queue) {
            if let Some(wait) = self.yields(now, group, queue) {
                return Ok(wait);
            }
            if self.has_company(queue) {
                return Ok(Answer::GoOnAlone { queue });
            }
        }
        let at = self.next_of(now, queue);
        let waits = self.waits_for_others(group);
        let waits = waits.or_else(|| self.keep_for_task(now, turn, queue));
        if let Some(wait) = waits.or_else(|| self.make_room(now, group, at, notes)) {
            return Ok(wait);
        }
        if let Some(over) = self.over_at_ceiling(now, at) {
            return Err(over);
        }
        if let Some(group) = self.saver(now) {
            return Ok(Answer::BeginTurn { group, queue: self.queues.first_of(now, group) });
        }
        if let Some(bar) = self.flush_bar(now, group, at, notes) {
            return Err(Over::Barred(bar));
        }
        let (why, turn) = (Why::GroupSliceContinues, After::Same);
        Ok(self.hold_write(now, at, notes).unwrap_or(Answer::Dispatch { at, why, turn }))
    }

    /// What is next in a turn of a group that has nothing queued.
    fn stays_at_depth(&self, now: Instant, turn: Turn, notes: &mut Notes) -> Option<Answer> {
        let group = turn.group;
        let is_quiet = self.groups[group as usize].is_quiet();
        if is_quiet && !(self.load.in_flight > 0 && self.expected.contains(group)) {
            let kept = self.keep_for_group(now, turn, notes);
            return Some(kept.unwrap_or_else(|over| self.ends_turn(over)));
        }
        notes.is_contended = true;
        let waits_for_it = self.device.is_saturated(self.load.at_work)
            || self.is_saturated(self.load.at_work) && !self.goes_away(group);
        let waits_for_it = waits_for_it && self.params.rules.kept_slices;
        waits_for_it.then_some(Answer::Wait(Instant::MAX, Why::GroupSliceKept))
    }

    /// A write that is next, and everybody behind it in line, waits for a thinker.
    pub(super) fn hold_write(&self, now: Instant, at: u32, notes: &mut Notes) -> Option<Answer> {
        let until = self.write_waits(now, at, notes)?;
        Some(Answer::Wait(until, Why::HeldForThinker))
    }

    /// Whether the group, once it has nothing queued and nothing at the device, thinks for longer
    /// than it would be waited for. Room for the last of its requests would cost others more than
    /// it gains.
    fn goes_away(&self, group: u32) -> bool {
        self.groups[group as usize]
            .past
            .absence
            .think
            .get()
            .is_some_and(|think| think > self.params.idle_max)
    }

    /// Lets the group, which is first in line with this request, and everybody behind it wait if an
    /// expected group is behind it and the device is fully busy; `None` if it need not wait. A
    /// write counts with all of its cost: the device may acknowledge it at once and work on it long
    /// afterwards. So does a read that fills a device without a head by itself.
    pub(super) fn make_room(
        &self,
        now: Instant,
        group: u32,
        at: u32,
        notes: &mut Notes,
    ) -> Option<Answer> {
        // A flush waits for the backlog alone, which `backlog` sees to.
        let flushes = !self.device.works_beside_flushes() && self.device.cache.flushes > 0;
        let is_busy = self.load.in_flight > 0 || flushes;
        if !is_busy && self.expected.reserved.is_empty() || self.device.is_in_turns() {
            return None;
        }
        let inside = match self.tree.has_passed_expected(group) {
            true => None,
            false => Some(self.expected_inside(now, group, self.requests[at].queue)?),
        };
        notes.is_contended = true;
        let rq = &self.requests[at];
        let waits = match rq.op.is_write() {
            true => {
                self.is_saturated(self.load.at_work + self.cost_of(at) + self.programs_beside(rq))
            }
            false => self.has_no_room_for_read(at),
        };
        let due = inside.and_then(|queue| self.expected_until(queue)).unwrap_or(Instant::MAX);
        if !waits || !self.device.is_flash() {
            return waits.then_some(Answer::Wait(due, Why::DepthLimited));
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
        notes.held = Some(Held { request: at, until, is_inside: inside.is_some() });
        (until > now).then_some(Answer::Wait(until.min(due), Why::DepthLimited))
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
    fn has_no_room_for_read(&self, at: u32) -> bool {
        let rq = &self.requests[at];
        let is_large = self.device.is_filled_by(rq.op, rq.bytes());
        let cost = match is_large && self.params.rules.large_requests {
            true => self.cost_of(at),
            false => Span::ZERO,
        };
        self.is_saturated(self.load.at_work + cost - self.device.more_to_saturate())
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
                || self.load.in_flight > self.groups[group as usize].in_flight
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
        // While others commit, writes may have to wait for their flushes.
        let may_wait = may_wait || !self.device.backlog.is_awaited_by_none_but(group);
        !may_wait && self.queues.find(task, group).is_some_and(|queue| self.is_alone(group, queue))
    }

    /// Whether a request is at the device, or a flush there or on its way.
    pub(super) const fn is_busy(&self) -> bool {
        self.load.in_flight > 0 || self.device.cache.flushes > 0
    }

    /// Whether the device is fully busy with this work. A flush occupies every head of a disk, and
    /// any request occupies a single head.
    fn is_saturated(&self, work: Span) -> bool {
        let flushes = self.device.rotational && self.device.cache.flushes > 0;
        let arm = self.device.serves_one_group() && self.load.in_flight > 0;
        flushes || arm || self.device.is_saturated(work)
    }
}
