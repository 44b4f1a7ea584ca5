//! Requests that others wait for: a request that overlaps one of another group begins only after
//! that has finished. If it waited for the other group's turn, its group's share or target would be
//! lost to a long queue that is not its own, so what is waited for goes first.
//!
//! Its group is charged as for any service. A group that is ahead of its share by [`DEBT_MOST`]
//! waits for its turn all the same: whoever waits brings service forward, and does not add to it.

use super::Fair;
use super::answer::{After, Answer, Notes};
use super::hierarchy::DEBT_MOST;
use alloc::collections::VecDeque;
use fairdisk_core::{Instant, Why};

/// How many of them a decision looks at. If the groups of all these may not be served now, others
/// are looked at once something has happened, but not before: asked again, a decision is the same.
const LOOKED_AT: usize = 4;

/// The queued requests that other groups wait for.
#[derive(Debug)]
pub(super) struct Awaited {
    /// In the order in which they came to be waited for, but for those that were passed over. Some
    /// have been served since.
    requests: VecDeque<u32>,
    /// Whether the last look served none although it was at as many as that: until something
    /// happens, the same are looked at.
    was_in_vain: bool,
}

impl Awaited {
    pub(super) const fn new() -> Self {
        Self { requests: VecDeque::new(), was_in_vain: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Notes that a look served none although it was at as many as are looked at.
    #[inline]
    pub(super) const fn note(&mut self, in_vain: bool) {
        self.was_in_vain |= in_vain;
    }

    /// Notes that this one is served. Those before it were passed over.
    pub(super) fn note_served(&mut self, at: u32) {
        if let Some(passed_over) = self.requests.iter().position(|one| *one == at) {
            self.requests.rotate_left(passed_over);
        }
        self.was_in_vain = false;
    }

    /// Notes that something has happened: after a look in vain others are looked at.
    #[inline]
    pub(super) fn look_on(&mut self) {
        if self.was_in_vain {
            self.was_in_vain = false;
            self.requests.rotate_left(LOOKED_AT.min(self.requests.len()));
        }
    }
}

impl Fair {
    /// Notes that another group waits for the queued request `at`.
    pub(super) fn note_awaited(&mut self, at: u32) {
        let rq = &mut self.requests[at];
        if !core::mem::replace(&mut rq.is_awaited, true) {
            self.promises.awaited.requests.push_back(at);
            self.promises.awaited.look_on();
        }
    }

    /// Drops those that are no longer queued of the first ones.
    #[cold]
    #[inline(never)]
    pub(super) fn settle_awaited(&mut self) {
        let mut queued = 0;
        while queued < LOOKED_AT {
            let Some(at) = self.promises.awaited.requests.get(queued) else { return };
            match self.requests.get(*at).is_some_and(|rq| rq.is_awaited) {
                true => queued += 1,
                false => _ = self.promises.awaited.requests.remove(queued),
            }
        }
    }

    /// A request that another group waits for is next.
    #[inline]
    pub(super) fn first_awaited(&self, now: Instant, notes: &mut Notes) -> Option<Answer> {
        if self.promises.awaited.is_empty() { None } else { self.first_of_awaited(now, notes) }
    }

    #[cold]
    fn first_of_awaited(&self, now: Instant, notes: &mut Notes) -> Option<Answer> {
        for at in self.promises.awaited.requests.iter().take(LOOKED_AT) {
            let group = self.queues[self.requests[*at].queue].group;
            let is_barred = self.promises.barred.has_ceilings() && self.tree.is_barred(group);
            if !is_barred && !self.tree.is_ahead(group, DEBT_MOST) {
                // As a floor, it begins no turn.
                return Some(self.dispatch_or_bar(now, *at, Why::Awaited, After::Aside));
            }
        }
        notes.awaited_in_vain = self.promises.awaited.requests.len() >= LOOKED_AT;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::FairParams;
    use crate::samples::{request, submitter};
    use alloc::vec::Vec;
    use core::num::NonZeroU64;
    use fairdisk_core::{
        Bio, BioId, Change, Completion, Decision, Effects, Elevator, Engine, EngineConfig, Entry,
        Flags, GroupId, Hearing, Input, IoPrio, Journal, Lba, Op, Qos, Rates, Record, RequestId,
        Sectors, Span, TaskId,
    };

    /// A disk that takes one request at a time. Group 1 has requests 0 to 3, of which the first is
    /// at the disk, and group 2 request 4.
    fn busy() -> Fair {
        busy_at(Rates::NONE)
    }

    /// A disk as in [`busy`], where group 1 has a ceiling.
    fn busy_at(ceiling: Rates) -> Fair {
        let mut fair = Fair::new(&FairParams::default());
        let qos = Qos { ceiling, ..Qos::NONE };
        fair.configure(Instant::ZERO, &Change::GroupQos { group: GroupId(1), qos });
        for slot in 0..4 {
            fair.admit(Instant::ZERO, &request(slot, 1, Op::Write, Instant::ZERO));
        }
        let Decision::Dispatch(RequestId(0), _) = fair.decide(Instant::ZERO) else {
            panic!("nothing else is there")
        };
        fair.admit(Instant::ZERO, &request(4, 2, Op::Read, Instant::ZERO));
        fair
    }

    fn next(fair: &mut Fair, done: u32, at_ms: u64) -> Decision {
        let (now, request) = (Instant::from_ns(at_ms * 1_000_000), RequestId(done));
        fair.complete(now, &Completion { request, device_time: Span::from_ms(8), ok: true });
        fair.decide(now)
    }

    #[test]
    fn what_another_group_waits_for_goes_first_and_once() {
        let mut fair = busy();
        fair.awaited(Instant::ZERO, RequestId(3), GroupId(2));
        fair.awaited(Instant::ZERO, RequestId(3), GroupId(2));
        assert_eq!(next(&mut fair, 0, 8), Decision::Dispatch(RequestId(3), Why::Awaited));
        let decision = next(&mut fair, 3, 16);
        assert!(!matches!(decision, Decision::Dispatch(_, Why::Awaited)), "{decision:?}");
        assert!(fair.promises.awaited.requests.is_empty());
    }

    #[test]
    fn one_that_may_not_be_served_now_is_in_nobodys_way() {
        let mut fair = busy_at(Rates { iops: NonZeroU64::new(1), ..Rates::NONE });
        for slot in [5, 6] {
            fair.admit(Instant::ZERO, &request(slot, 3, Op::Write, Instant::ZERO));
        }
        fair.awaited(Instant::ZERO, RequestId(3), GroupId(2));
        fair.awaited(Instant::ZERO, RequestId(6), GroupId(2));
        assert_eq!(next(&mut fair, 0, 8), Decision::Dispatch(RequestId(6), Why::Awaited));
        assert_eq!(fair.promises.awaited.requests.iter().filter(|at| **at == 3).count(), 1);
    }

    /// What is waited for in five groups, of which only the last may be served: one too many to be
    /// looked at. The disk is kept free for a sixth group.
    #[test]
    fn others_are_looked_at_once_something_happens_and_not_before() {
        let mut fair = Fair::new(&FairParams::default());
        let ceiling = Rates { iops: NonZeroU64::new(1), ..Rates::NONE };
        for group in 1..=4 {
            let qos = Qos { ceiling, ..Qos::NONE };
            fair.configure(Instant::ZERO, &Change::GroupQos { group: GroupId(group), qos });
            for slot in [group, 10 + group] {
                fair.admit(Instant::ZERO, &request(slot, group, Op::Write, Instant::ZERO));
            }
        }
        let idle = Some(Span::from_s(1));
        fair.configure(Instant::ZERO, &Change::GroupIdle { group: GroupId(6), idle });
        fair.admit(Instant::ZERO, &request(6, 6, Op::Read, Instant::ZERO));
        let mut served = Vec::new();
        let mut decision = fair.decide(Instant::ZERO);
        loop {
            decision = match decision {
                Decision::Dispatch(RequestId(slot), _) => {
                    served.push(slot);
                    if served.len() == 5 {
                        break;
                    }
                    next(&mut fair, slot, 8 * served.len() as u64)
                }
                Decision::WaitUntil(at, _) => fair.decide(at),
                other => panic!("{other:?}"),
            };
        }
        assert_eq!(served, [1, 2, 3, 4, 6], "each group had one");
        fair.admit(Instant::ZERO, &request(15, 5, Op::Write, Instant::ZERO));
        let now = Instant::from_ns(48_000_000);
        (11..=15).for_each(|slot| fair.awaited(now, RequestId(slot), GroupId(7)));
        let waits = next(&mut fair, 6, 48);
        assert!(matches!(waits, Decision::WaitUntil(_, Why::GroupIdleWait)), "{waits:?}");
        assert_eq!(fair.decide(now), waits);
        fair.flushes(now, submitter(7));
        fair.flushed(now, submitter(7), Span::ZERO, true);
        assert_eq!(fair.decide(now), Decision::Dispatch(RequestId(15), Why::Awaited));
    }

    /// How often a request was dispatched because a group waits for it, at a disk to which group 1
    /// has written, where group `by` then reads what it wrote last.
    fn times_awaited(by: u32) -> usize {
        let journal = Journal::keeping();
        let fair = Fair::new(&FairParams::default());
        let mut engine = Engine::new(fair, EngineConfig::default(), journal);
        let mut effects = Effects::new();
        let mut submit = |id, group, op, start| {
            let bio = Bio {
                id: BioId(id),
                task: TaskId(group),
                group: GroupId(group),
                op,
                start: Lba(start),
                sectors: Sectors(8),
                sync: true,
                flags: Flags::NONE,
                ioprio: IoPrio::UNSET,
            };
            engine.handle(Instant::ZERO, Input::Submit(bio), &mut effects);
        };
        (0..4).for_each(|id| submit(id, 1, Op::Write, 10_000 * id));
        submit(4, 2, Op::Read, 90_000);
        submit(5, by, Op::Read, 30_000);
        let completed = Input::Completed { request: RequestId(0), ok: true };
        engine.handle(Instant::from_ns(8_000_000), completed, &mut effects);
        let is_awaited =
            |entry: &Entry| matches!(entry.record, Record::Dispatched(_, Why::Awaited));
        engine.drain_journal().filter(is_awaited).count()
    }

    #[test]
    fn what_a_group_waits_for_itself_goes_in_its_turn() {
        assert_eq!((times_awaited(1), times_awaited(2)), (0, 1));
    }

    /// A slot that is used again is another request's.
    #[test]
    fn what_was_withdrawn_is_waited_for_no_longer() {
        let mut fair = busy();
        fair.awaited(Instant::ZERO, RequestId(3), GroupId(2));
        fair.withdraw(Instant::ZERO, RequestId(3));
        fair.admit(Instant::ZERO, &request(3, 1, Op::Write, Instant::ZERO));
        let decision = next(&mut fair, 0, 8);
        assert!(!matches!(decision, Decision::Dispatch(_, Why::Awaited)), "{decision:?}");
    }

    /// On a disk that takes several requests one that is waited for does not wait for room.
    #[test]
    fn it_goes_first_on_disks_that_take_several() {
        let mut fair = Fair::new(&FairParams::default());
        fair.configure(Instant::ZERO, &Change::Depth { depth: 8 });
        for slot in 0..4 {
            fair.admit(Instant::ZERO, &request(slot, 1, Op::Write, Instant::ZERO));
        }
        fair.awaited(Instant::ZERO, RequestId(2), GroupId(2));
        let first = fair.decide(Instant::ZERO);
        assert_eq!(first, Decision::Dispatch(RequestId(2), Why::Awaited));
    }
}
