//! [`Auditor`] wraps an elevator and checks the laws of the [`Elevator`] contract on every call. It
//! allocates and scans all requests, so it belongs in tests and simulations, not where speed
//! matters.

mod turns;

use crate::elevator::{
    Admission, AttachError, Attaching, Change, Completion, Decision, Description, Driving,
    Elevator, Hearing, Leftovers, MayQueue, Merge, Merging, Promising, Reporting, Submitter,
};
use crate::refusal::Refusal;
use crate::request::{Bio, GroupId, Request, RequestId, TaskId};
use crate::time::{Instant, Span};
use crate::why::Why;
use alloc::collections::BTreeMap;
use turns::TurnsAudit;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Queued { since: Instant, group: GroupId, number: u64, overtaken: u32 },
    Dispatched,
}

/// An elevator under audit. Panics, naming the law, as soon as a call breaks one.
#[derive(Debug)]
pub struct Auditor<E> {
    inner: E,
    now: Instant,
    requests: BTreeMap<RequestId, Stage>,
    queued: usize,
    /// Flushes at the device, by the group of their submitter.
    flushes: BTreeMap<GroupId, usize>,
    turns: TurnsAudit,
    /// Requests admitted so far; numbers each request in order of arrival.
    admitted: u64,
    /// The last decision, for as long as no call has changed the elevator's state.
    standing: Option<Decision>,
    decisions: u64,
}

impl<E: Elevator> Auditor<E> {
    /// Puts `inner` under audit.
    pub const fn new(inner: E) -> Self {
        Self {
            inner,
            now: Instant::ZERO,
            requests: BTreeMap::new(),
            queued: 0,
            flushes: BTreeMap::new(),
            turns: TurnsAudit::new(),
            admitted: 0,
            standing: None,
            decisions: 0,
        }
    }

    /// The audited elevator.
    pub const fn inner(&self) -> &E {
        &self.inner
    }

    /// The number of decisions checked so far.
    pub const fn decisions(&self) -> u64 {
        self.decisions
    }

    fn at(&mut self, now: Instant) {
        assert!(now >= self.now, "law 1: now went back from {} to {now}", self.now);
        self.now = now;
    }

    fn changed(&mut self, now: Instant) {
        self.at(now);
        self.standing = None;
    }

    fn leaves_queue(&mut self, id: RequestId) {
        let stage = self.requests.get_mut(&id);
        let Some(stage) = stage else { panic!("law 2: {id:?} was invented") };
        assert!(matches!(stage, Stage::Queued { .. }), "law 2: {id:?} came out twice");
        *stage = Stage::Dispatched;
        self.queued -= 1;
        self.turns.left(id);
    }

    /// Requests and flushes at the device or on their way there.
    fn in_flight(&self) -> usize {
        self.requests.len() - self.queued + self.flushes.values().sum::<usize>()
    }

    fn check_wait(&self, decision: Decision, now: Instant) {
        match decision {
            Decision::WaitUntil(until, why) => {
                assert!(
                    until > now,
                    "law 4: {why:?} waits until {until}, which is not after {now}"
                );
                assert!(!self.requests.is_empty(), "law 5: {why:?} waits although empty");
            }
            Decision::WaitCompletion(why) => {
                let in_flight = self.in_flight();
                assert!(in_flight > 0, "law 4: {why:?} waits for a completion, none is in flight");
            }
            Decision::Idle => {
                assert!(self.requests.is_empty(), "law 5: idle with {:?}", self.requests);
            }
            Decision::Dispatch(..) => {}
        }
    }

    /// Law 9, waiting time. Scans every queued request: a request that is never chosen would
    /// otherwise never be checked.
    fn check_patience(&self, now: Instant) {
        let Some(bound) = self.inner.describe().wait_max else { return };
        for (id, stage) in &self.requests {
            if let Stage::Queued { since, .. } = *stage {
                assert!(now - since <= bound, "law 9: {id:?} has waited {}", now - since);
            }
        }
    }

    /// Law 9, overtaking. Dispatching `id` overtakes every queued request that was admitted before
    /// it.
    fn check_overtaking(&mut self, id: RequestId) {
        let Some(bound) = self.inner.describe().overtaken_max else { return };
        let Some(Stage::Queued { number: own, .. }) = self.requests.get(&id).copied() else {
            return;
        };
        for (id, stage) in &mut self.requests {
            if let Stage::Queued { number, overtaken, .. } = stage
                && *number < own
            {
                *overtaken += 1;
                assert!(*overtaken <= bound, "law 9: {id:?} was overtaken {overtaken} times");
            }
        }
    }

    /// Law 9, turns.
    fn check_turns(&mut self, now: Instant, id: RequestId, why: Why) {
        let bound = self.inner.describe().turns_max;
        if let Some(Stage::Queued { group, .. }) = self.requests.get(&id) {
            self.turns.dispatched((now, id, *group), why, bound);
        }
    }

    fn check_standing(&self, decision: Decision, now: Instant) {
        let Some(before) = self.standing else { return };
        let due = matches!(before, Decision::WaitUntil(until, _) if now >= until);
        if due {
            assert!(decision != before, "law 4: {before:?} is the answer at {now} too");
        } else {
            assert!(decision == before, "law 3: {before:?} became {decision:?} at {now}");
        }
    }
}

impl<E: Elevator> Elevator for Auditor<E> {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        self.changed(now);
        self.admitted += 1;
        let (group, number) = (request.group, self.admitted);
        let stage = Stage::Queued { since: now, group, number, overtaken: 0 };
        let known = self.requests.insert(request.id, stage);
        assert!(known.is_none(), "law 2: {:?} was admitted twice", request.id);
        self.turns.admitted(request);
        self.queued += 1;
        let admission = self.inner.admit(now, request);
        if let Admission::Displaces(older) = admission {
            self.leaves_queue(older);
        }
        admission
    }

    fn decide(&mut self, now: Instant) -> Decision {
        self.at(now);
        self.decisions += 1;
        let decision = self.inner.decide(now);
        self.check_wait(decision, now);
        self.check_standing(decision, now);
        self.check_patience(now);
        self.standing = None;
        self.inner.check_accounts();
        match decision {
            Decision::Dispatch(id, why) => {
                self.check_overtaking(id);
                self.check_turns(now, id, why);
                self.leaves_queue(id);
            }
            _ => {
                let again = self.inner.decide(now);
                assert!(again == decision, "law 3: {decision:?} became {again:?} when asked again");
                self.standing = Some(decision);
            }
        }
        decision
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        self.changed(now);
        let stage = self.requests.remove(&completion.request);
        assert!(
            stage == Some(Stage::Dispatched),
            "law 2: {:?} finished while {stage:?}",
            completion.request
        );
        self.inner.complete(now, completion);
        self.inner.check_accounts();
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        self.changed(now);
        self.leaves_queue(id);
        self.requests.remove(&id);
        self.inner.withdraw(now, id);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        self.changed(now);
        let id = self.inner.drain(now)?;
        self.leaves_queue(id);
        self.requests.remove(&id);
        Some(id)
    }

    fn describe(&self) -> Description {
        self.inner.describe()
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        self.changed(now);
        self.turns.changed(change);
        self.inner.configure(now, change);
    }
}

impl<E: Elevator> Merging for Auditor<E> {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        self.inner.may_merge(request, bio)
    }

    fn may_absorb(&self, request: &Request, next: &Request) -> bool {
        self.inner.may_absorb(request, next)
    }

    fn merged(&mut self, now: Instant, request: &Request, how: Merge) {
        self.changed(now);
        self.turns.grown(request);
        self.inner.merged(now, request, how);
    }

    fn displaced(&mut self, now: Instant, moved: RequestId) -> Option<RequestId> {
        self.changed(now);
        let older = self.inner.displaced(now, moved)?;
        self.leaves_queue(older);
        Some(older)
    }
}

impl<E: Elevator> Driving for Auditor<E> {
    fn may_queue(&mut self, now: Instant, bio: &Bio) -> MayQueue {
        self.changed(now);
        self.inner.may_queue(now, bio)
    }

    fn runs_driver_at(&self) -> Option<Instant> {
        self.inner.runs_driver_at()
    }

    fn activate(&mut self, now: Instant, id: RequestId) {
        self.at(now);
        assert!(
            self.requests.get(&id) == Some(&Stage::Dispatched),
            "law 2: {id:?} is activated but was not dispatched"
        );
        self.inner.activate(now, id);
    }

    fn lets_through(&self, task: TaskId, group: GroupId) -> bool {
        self.inner.lets_through(task, group)
    }
}

impl<E: Elevator> Hearing for Auditor<E> {
    fn flushes(&mut self, now: Instant, by: Submitter) {
        self.changed(now);
        *self.flushes.entry(by.group).or_default() += 1;
        self.inner.flushes(now, by);
    }

    fn flushed(&mut self, now: Instant, by: Submitter, device_time: Span, ok: bool) {
        self.changed(now);
        // A flush that was issued before this elevator attached was never counted; another that the
        // group has at the device is taken for it.
        if let Some(flushes) = self.flushes.get_mut(&by.group) {
            *flushes = flushes.saturating_sub(1);
        }
        self.inner.flushed(now, by, device_time, ok);
    }

    fn awaited(&mut self, now: Instant, id: RequestId, by: GroupId) {
        self.changed(now);
        assert!(
            matches!(self.requests.get(&id), Some(Stage::Queued { .. })),
            "law 2: {id:?} is waited for but is not queued"
        );
        self.inner.awaited(now, id, by);
    }
}

impl<E: Elevator> Promising for Auditor<E> {
    fn accepts(&self, change: &Change) -> Result<(), Refusal> {
        self.inner.accepts(change)
    }

    fn examines_floors(&self) -> bool {
        self.inner.examines_floors()
    }
}

impl<E: Elevator> Reporting for Auditor<E> {
    fn charged(&self, group: GroupId) -> Option<Span> {
        self.inner.charged(group)
    }

    fn deferred(&self, group: GroupId) -> Option<Span> {
        self.inner.deferred(group)
    }

    fn held_back(&self, now: Instant, group: GroupId) -> Option<Why> {
        self.inner.held_back(now, group)
    }

    fn check_accounts(&self) {
        self.inner.check_accounts();
    }
}

impl<E: Elevator> Attaching for Auditor<E> {
    fn attach(&mut self, leftovers: &Leftovers) -> Result<(), AttachError> {
        self.inner.attach(leftovers)
    }

    fn detach(&mut self, leftovers: &mut Leftovers) {
        assert!(self.queued == 0, "law 2: it gives the device up with {:?}", self.requests);
        self.inner.detach(leftovers);
    }
}
