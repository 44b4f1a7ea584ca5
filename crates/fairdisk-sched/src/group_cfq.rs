//! group-cfq: a layer of groups between the scheduler and the queues of CFQ, as posted by Vasily
//! Tarasov (OpenVZ) in February and March 2008 (spec: groups, section 2).
//!
//! Groups with a busy queue form a ring. The first gets the disk for its slice, or until it has
//! nothing queued and nothing at the device. In its turn its queues are served as CFQ serves them.
//! The slice of a group of priority p, from 0 to 7 for the highest, is `cgrp_slice` x (1 + p / 7).
//! Nothing is charged and no group is waited for, so a priority has little effect; each cause of
//! that is a switch. The posted patches are not available: the rules are those of the same author's
//! implementation for OpenVZ of that year.

mod params;
mod rota;

pub use params::{GroupCfqParams, WAIT_MAX};

use crate::cfq::dispatch::Step;
use crate::cfq::engine::{self, Completed};
use crate::cfq::jiffies::Jiffies;
use crate::cfq::patience::Patience;
use crate::cfq::queue::NIL;
use crate::family::Family;
use fairdisk_core::{
    Admission, Bio, Change, Completion, Decision, Description, Driving, Elevator, GroupId,
    Handover, Instant, MayQueue, Merge, Merging, Op, Request, RequestId, Share, Why,
};
use rota::Rota;

/// The group-cfq scheduler.
#[derive(Debug)]
pub struct GroupCfq {
    inner: engine::Cfq,
    params: GroupCfqParams,
    rota: Rota,
    /// Until when the active group may keep the disk with nothing queued.
    kept_until: Jiffies,
}

impl GroupCfq {
    /// A scheduler with the given tunables, quirks and switches.
    #[must_use]
    pub fn new(params: &GroupCfqParams) -> Self {
        let mut inner = engine::Cfq::new(&params.cfq);
        if !params.d3_unbounded_wait {
            inner.patience = Some(Patience::new(params.wait_max, params.cfq.hz));
        }
        inner.device_wide_busy_count = params.device_wide_busy_count;
        let mut scheduler =
            Self { inner, params: *params, rota: Rota::new(*params), kept_until: 0 };
        scheduler.make_group(GroupId::ROOT.0);
        scheduler
    }

    /// The group that a request is accounted to: its own, or the root group if requests of its kind
    /// are not told apart.
    const fn owner(&self, group: GroupId, op: Op) -> u32 {
        let own = match op {
            Op::Read => self.params.reads_of_group,
            _ => self.params.writes_of_group,
        };
        if own { group.0 } else { GroupId::ROOT.0 }
    }

    #[inline]
    fn make_group(&mut self, group: u32) {
        if group as usize >= self.inner.layers.len() {
            self.inner.add_layer(group);
            self.rota.make(group);
        }
    }

    fn set_share(&mut self, group: GroupId, share: Share) {
        self.make_group(group.0);
        self.rota.set_share(group.0, share);
    }

    /// Takes the group out of the ring if it has nothing queued any more.
    fn leave_if_idle(&mut self, group: u32) {
        if !self.inner.is_busy(group) {
            self.rota.leave(group);
        }
    }

    fn begin_next_turn(&mut self, now: Jiffies) -> bool {
        self.kept_until = now;
        self.rota.begin_next_turn(now)
    }

    /// Ends the turn of the active group and the slice of the queue being served in it.
    fn end_turn(&mut self, now: Jiffies, why: Why) {
        let group = self.rota.turn.end(why);
        self.inner.end_layer_idle(group);
        let queue = self.inner.layers[group as usize].active;
        if queue != NIL {
            self.inner.expire(now, queue, false);
        }
        if self.inner.is_busy(group) {
            self.rota.join(group);
        }
    }

    /// Advances time; the idle timer belongs to the active group.
    #[inline]
    fn tick(&mut self, now: Instant) -> Jiffies {
        self.inner.tick(now, self.rota.turn.active)
    }

    /// The next step. Another group is chosen only after a round of dispatches: if the slice is
    /// used up, or no group is active, or the active group is empty.
    fn step(&mut self, now: Jiffies) -> Step {
        loop {
            if let Some(step) = self.inner.continue_round(now) {
                return self.told(step);
            }
            if self.inner.queued == 0 {
                return Step::Nothing;
            }
            if self.rota.slice_used(now) {
                self.end_turn(now, Why::GroupSliceExpired);
            }
            if self.rota.turn.active == NIL && !self.begin_next_turn(now) {
                return Step::Nothing;
            }
            let group = self.rota.turn.active;
            match self.inner.dispatch(now, group) {
                Step::Nothing if self.inner.layers[group as usize].dispatched > 0 => {
                    return Step::Refuse(Why::OwnRequestInFlight);
                }
                Step::Nothing if self.is_waited_for(now) => {
                    self.inner.keep_for_layer(group, self.kept_until);
                    return Step::Refuse(Why::IdleWait);
                }
                Step::Nothing => self.end_turn(now, Why::GroupEmptied),
                step => return self.told(step),
            }
        }
    }

    /// Whether the disk is kept free for the active group, which has nothing queued and nothing at
    /// the device.
    const fn is_waited_for(&self, now: Jiffies) -> bool {
        !self.params.turn_ends_when_empty && now < self.kept_until
    }

    /// Reports why the turn began with the first request of the turn.
    const fn told(&mut self, step: Step) -> Step {
        let Step::Dispatch(id, why) = step else { return step };
        match self.rota.turn.tell() {
            Some(turn) => Step::Dispatch(id, turn),
            None => Step::Dispatch(id, why),
        }
    }
}

impl Elevator for GroupCfq {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        let now = self.tick(now);
        let group = self.owner(request.group, request.op);
        self.make_group(group);
        let displaced = self.inner.admit(now, request, group);
        let active = self.rota.turn.active;
        if group != active {
            self.rota.join(group);
            if self.params.foreign_preemption && active != NIL {
                self.inner.arrived_outside(now, active, request);
            }
        }
        displaced.map_or(Admission::Queued, Admission::Displaces)
    }

    fn decide(&mut self, now: Instant) -> Decision {
        let now = self.tick(now);
        if let Some((id, group)) = self.inner.dispatch_overdue(now) {
            self.leave_if_idle(group);
            return Decision::Dispatch(id, Why::DeadlineExpired);
        }
        if let Some(standing) = self.inner.kicks.standing() {
            return standing;
        }
        self.step(now).or_wait(|why| self.inner.wait(why))
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        let now = self.tick(now);
        let Completed { layer: group, wait } = self.inner.complete(now, completion, true);
        if group == self.rota.turn.active {
            self.kept_until = now + wait;
        }
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        let now = self.inner.ticker.now(now);
        let group = self.inner.layer_of(id);
        self.inner.withdraw(now, id);
        self.leave_if_idle(group);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        let now = self.inner.ticker.now(now);
        loop {
            let group = match self.rota.turn.active {
                NIL => self.rota.first()?,
                active => active,
            };
            let drained = self.inner.drain(now, group);
            self.leave_if_idle(group);
            if drained.is_some() {
                return drained;
            }
            self.rota.turn.end(Why::GroupEmptied);
        }
    }

    fn describe(&self) -> Description {
        let wait_max = self.inner.patience.as_ref().map(Patience::bound);
        Description { wait_max, ..Description::new(GroupCfqParams::NAME, Handover::Batch) }
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        let now = self.inner.ticker.now(now);
        match *change {
            Change::GroupAdded { group, share } | Change::GroupShare { group, share } => {
                self.set_share(group, share);
            }
            Change::GroupRemoved { group } => {
                self.set_share(group, Share::DEFAULT);
                self.inner.layer_gone(now, group.0);
            }
            Change::TaskExited { task } => self.inner.task_exited(now, task),
            _ => {}
        }
    }
}

impl Merging for GroupCfq {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        request.group == bio.group
            && self.inner.may_merge(request, bio, self.owner(bio.group, bio.op))
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.inner.merged(request, how);
    }

    fn displaced(&mut self, now: Instant, moved: RequestId) -> Option<RequestId> {
        let now = self.inner.ticker.now(now);
        self.inner.displaced(now, moved)
    }
}

impl Driving for GroupCfq {
    fn may_queue(&mut self, _now: Instant, bio: &Bio) -> MayQueue {
        self.inner.may_queue(bio, self.owner(bio.group, bio.op))
    }

    fn runs_driver_at(&self) -> Option<Instant> {
        self.inner.runs_driver_at()
    }

    fn activate(&mut self, _now: Instant, id: RequestId) {
        self.inner.activate(id);
    }
}

fairdisk_core::default_extensions!(GroupCfq: Hearing, Promising, Reporting, Attaching);
