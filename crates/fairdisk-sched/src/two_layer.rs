//! Two-layer CFQ: groups take turns on the device, and inside its turn each group is a complete CFQ
//! (spec: groups, section 1).
//!
//! The outer layer is a round robin over the groups that want the disk, with slices in proportion
//! to weight. A group's slice begins at its first completion. When it ends, the turn of the queue
//! inside ends with it, or is suspended (`inner_turn_resumes`). Driver state (requests in flight,
//! head position, the idle timer) is shared by all groups.

mod line;
mod params;
mod records;

pub use params::{TwoLayerParams, WAIT_MAX};

use crate::cfq::dispatch::Step;
use crate::cfq::engine::{self, Completed};
use crate::cfq::jiffies::Jiffies;
use crate::cfq::patience::Patience;
use crate::cfq::queue::NIL;
use crate::family::Family;
use fairdisk_core::{
    Admission, AttachError, Attaching, Bio, Change, Completion, Decision, Description, Driving,
    Elevator, GroupId, Handover, Hearing, Instant, Leftovers, MayQueue, Merge, Merging, Request,
    RequestId, Share, Span, Submitter, Why,
};
use line::Line;
use records::Records;

/// Two-layer CFQ; see the [module documentation](self).
#[derive(Debug)]
pub struct TwoLayerCfq {
    inner: engine::Cfq,
    inner_turn_resumes: bool,
    line: Line,
    records: Records,
}

impl TwoLayerCfq {
    /// A two-layer CFQ scheduler with the given tunables, quirks and defects.
    #[must_use]
    pub fn new(params: &TwoLayerParams) -> Self {
        let mut inner = engine::Cfq::new(&params.cfq);
        if !params.d3_unbounded_wait {
            inner.patience = Some(Patience::new(params.wait_max, params.cfq.hz));
        }
        inner.layer_idle = params.group_idle;
        let records = Records::new(params.d1_stale_group_records);
        let inner_turn_resumes = params.inner_turn_resumes;
        let mut scheduler = Self { inner, inner_turn_resumes, line: Line::new(*params), records };
        scheduler.set_share(GroupId::ROOT, Share::DEFAULT);
        scheduler
    }

    #[inline]
    fn make_group(&mut self, group: GroupId) {
        if group.0 as usize >= self.inner.layers.len() {
            self.inner.add_layer(group.0);
            self.line.make(group.0);
        }
    }

    fn set_share(&mut self, group: GroupId, share: Share) {
        self.make_group(group);
        self.line.set_share(group.0, share);
    }

    /// Serves what the group still has queued, but forgets the rest: a new group with its number
    /// starts afresh.
    fn remove_group(&mut self, now: Jiffies, group: GroupId) {
        self.make_group(group);
        self.inner.layer_gone(now, group.0);
        self.line.forget(group.0);
        self.set_idle(group, None);
    }

    /// Whether the group keeps the disk because it has requests at the device. The rule is that of
    /// a queue inside (spec: groups, section 1.3), so with an idle time of zero it never does.
    fn waits_in_flight(&self, group: u32) -> bool {
        let layer = &self.inner.layers[group as usize];
        layer.dispatched > 0 && layer.idle.unwrap_or(self.inner.tunables.slice_idle) > 0
    }

    fn set_idle(&mut self, group: GroupId, idle: Option<Span>) {
        self.make_group(group);
        let idle = idle.map(|idle| self.inner.tunables.wait(idle));
        self.inner.layers[group.0 as usize].idle = idle;
    }

    /// Removes the group from the line if it has nothing queued any more.
    fn leave_if_idle(&mut self, group: u32) {
        if !self.inner.is_busy(group) {
            self.line.leave(group);
        }
    }

    /// Takes the disk from the active group and from the queue being served inside it.
    fn expire(&mut self, now: Jiffies, why: Why) {
        let group = self.line.end_turn(why);
        self.inner.end_layer_idle(group);
        let inner = self.inner.layers[group as usize].active;
        if self.inner_turn_resumes {
            self.inner.suspend_turn(now, group);
        } else if inner != NIL {
            self.inner.expire(now, inner, false);
        }
        self.inner.round = None;
        if self.inner.is_busy(group) {
            self.line.rejoin(group);
        }
    }

    /// Advances the clock; a due idle timer acts for the active group.
    #[inline]
    fn tick(&mut self, now: Instant) -> Jiffies {
        self.inner.tick(now, self.line.active())
    }

    /// Ends the used-up slice of the active group while requests are queued.
    #[inline(never)]
    fn end_slice(&mut self, now: Jiffies) {
        if self.line.lengthen(now) {
            return;
        }
        if self.inner_turn_resumes && self.line.first().is_none() {
            self.line.renew_turn();
        } else {
            self.expire(now, Why::GroupSliceExpired);
        }
    }

    #[inline(never)]
    fn begin_next_turn(&mut self, now: Jiffies) -> bool {
        let begun = self.line.begin_next_turn();
        if begun {
            self.inner.resume_turn(now, self.line.active());
        }
        begun
    }

    fn step(&mut self, now: Jiffies) -> Step {
        loop {
            if self.line.slice_used(now) && self.inner.queued > 0 {
                self.end_slice(now);
            }
            if self.line.active() == NIL && !self.begin_next_turn(now) {
                return Step::Nothing;
            }
            let group = self.line.active();
            match self.inner.dispatch(now, group) {
                Step::Dispatch(id, why) => {
                    return Step::Dispatch(id, self.line.tell_turn().unwrap_or(why));
                }
                Step::Refuse(why) => return Step::Refuse(why),
                Step::Nothing if self.inner.queued == 0 => return Step::Nothing,
                Step::Nothing if self.waits_in_flight(group) => {
                    return Step::Refuse(Why::OwnRequestInFlight);
                }
                Step::Nothing => self.expire(now, Why::GroupEmptied),
            }
        }
    }
}

impl Elevator for TwoLayerCfq {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        let now = self.tick(now);
        let group = request.group;
        self.make_group(group);
        let displaced = self.inner.admit(now, request, group.0);
        if group.0 != self.line.active() {
            self.line.join(group.0);
            // Both layers run the same algorithm, so a used-up slice must not keep other groups
            // waiting for the plug.
            if self.line.slice_used(now) {
                self.inner.kicks.kick_at_once();
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
        let keeps = self.inner.tunables.serve_together;
        let Completed { layer: group, wait } = self.inner.complete(now, completion, keeps);
        self.line.completed(now, group, completion.device_time);
        if group == self.line.active() {
            self.inner.wait_for_layer(now, group, wait);
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
            let group = match self.line.active() {
                NIL => self.line.first()?,
                active => active,
            };
            let drained = self.inner.drain(now, group);
            self.leave_if_idle(group);
            if drained.is_some() {
                return drained;
            }
            self.line.end_turn(Why::GroupEmptied);
        }
    }

    fn describe(&self) -> Description {
        let wait_max = self.inner.patience.as_ref().map(Patience::bound);
        Description { wait_max, ..Description::new(TwoLayerParams::NAME, Handover::Batch) }
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        let now = self.inner.ticker.now(now);
        match *change {
            Change::GroupAdded { group, share } => {
                self.records.link(group);
                self.set_share(group, share);
            }
            Change::GroupShare { group, share } => self.set_share(group, share),
            Change::GroupIdle { group, idle } => self.set_idle(group, idle),
            Change::GroupRemoved { group } => {
                self.records.unlink(group);
                self.remove_group(now, group);
            }
            Change::TaskExited { task } => self.inner.task_exited(now, task),
            Change::Depth { depth } => self.inner.takes_at_once(depth),
            _ => {}
        }
    }
}

impl Merging for TwoLayerCfq {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        request.group == bio.group && self.inner.may_merge(request, bio, bio.group.0)
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.inner.merged(request, how);
    }

    fn displaced(&mut self, now: Instant, moved: RequestId) -> Option<RequestId> {
        let now = self.inner.ticker.now(now);
        self.inner.displaced(now, moved)
    }
}

impl Driving for TwoLayerCfq {
    fn may_queue(&mut self, _now: Instant, bio: &Bio) -> MayQueue {
        self.inner.may_queue(bio, bio.group.0)
    }

    fn runs_driver_at(&self) -> Option<Instant> {
        self.inner.runs_driver_at()
    }

    fn activate(&mut self, _now: Instant, id: RequestId) {
        self.inner.activate(id);
    }
}

impl Hearing for TwoLayerCfq {
    fn flushed(&mut self, now: Instant, by: Submitter, _device_time: Span, _ok: bool) {
        let (now, group) = (self.tick(now), by.group);
        self.make_group(group);
        self.inner.flushed(now, group.0, group.0 == self.line.active());
    }
}

impl Attaching for TwoLayerCfq {
    fn attach(&mut self, leftovers: &Leftovers) -> Result<(), AttachError> {
        Records::attach(leftovers)
    }

    fn detach(&mut self, leftovers: &mut Leftovers) {
        self.records.detach(leftovers);
    }
}

fairdisk_core::default_extensions!(TwoLayerCfq: Promising, Reporting);
