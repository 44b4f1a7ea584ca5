//! Two-layer CFQ: groups take turns on the device, and inside its turn each group is a whole CFQ
//! (spec: groups, section 1).
//!
//! The outer layer is round robin over groups that want the disk, with slices in proportion to
//! weight. A group's slice begins at its first completion; when it ends, the turn of the process
//! queue inside ends with it. Driver state (requests in flight, head position, the idle timer) is
//! shared by all groups.

use crate::cfq::CfqParams;
use crate::cfq::dispatch::Step;
use crate::cfq::engine;
use crate::cfq::jiffies::Jiffies;
use alloc::vec::Vec;
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{
    Admission, Bio, Change, Completion, Decision, Description, Elevator, GroupId, Handover,
    Instant, MayQueue, Merge, Request, RequestId, Share, Span, WeightMap, Why,
};

/// What a revision of two-layer CFQ is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoLayerParams {
    /// The CFQ inside each group. All groups share these tunables.
    pub cfq: CfqParams,
    /// The slice of a group of weight 100 (priority 4); others in proportion.
    pub group_slice_ms: u32,
    /// What a group priority is worth.
    pub weight_map: WeightMap,
    /// D1: a group keeps its record of a scheduler instance that is gone.
    pub d1_stale_group_records: bool,
    /// D3: nothing bounds how long a request may wait.
    pub d3_unbounded_wait: bool,
    /// D4: a turn counts as one turn, however long it was. Off: device time divided by weight is
    /// charged, and the group that has had least goes next.
    pub d4_nominal_turns: bool,
}

impl Default for TwoLayerParams {
    fn default() -> Self {
        Self {
            cfq: CfqParams::default(),
            group_slice_ms: 80,
            weight_map: WeightMap::LinearHigh0,
            d1_stale_group_records: true,
            d3_unbounded_wait: true,
            d4_nominal_turns: true,
        }
    }
}

const NIL: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Group {
    slice: Jiffies,
    weight: u64,
    slice_end: Jiffies,
    /// No request of this turn has completed yet.
    slice_new: bool,
    on_tree: bool,
    /// Weighted device time charged, in ns x 100 / weight.
    charged: u64,
}

/// The scheduler.
#[derive(Debug)]
pub struct TwoLayerCfq {
    params: TwoLayerParams,
    inner: engine::Cfq,
    groups: Vec<Group>,
    order: Forest<u64>,
    tree: Tree,
    /// The end of the round-robin line.
    line: u64,
    active: u32,
    turn_ended: Why,
    new_turn: Option<Why>,
}

impl TwoLayerCfq {
    /// Two-layer CFQ with the given tunables, quirks and defects.
    #[must_use]
    pub fn new(params: &TwoLayerParams) -> Self {
        let mut scheduler = Self {
            params: *params,
            inner: engine::Cfq::new(&params.cfq),
            groups: Vec::new(),
            order: Forest::new(),
            tree: Tree::new(),
            line: 0,
            active: NIL,
            turn_ended: Why::GroupEmptied,
            new_turn: None,
        };
        scheduler.set_share(GroupId::ROOT, Share::DEFAULT);
        scheduler
    }

    fn set_share(&mut self, group: GroupId, share: Share) {
        self.make_group(group);
        let weight = share.weight(self.params.weight_map).get();
        let entry = &mut self.groups[group.0 as usize];
        (entry.slice, entry.weight) = (slice(&self.params, weight), u64::from(weight));
    }

    fn make_group(&mut self, group: GroupId) {
        self.inner.add_layer(group.0);
        while self.groups.len() <= group.0 as usize {
            let weight = Share::DEFAULT.weight(self.params.weight_map).get();
            self.groups.push(Group {
                slice: slice(&self.params, weight),
                weight: u64::from(weight),
                slice_end: 0,
                slice_new: false,
                on_tree: false,
                charged: 0,
            });
        }
    }

    // ---- the outer layer -----------------------------------------------------------------

    /// A group that wants the disk stands in line.
    fn enqueue(&mut self, group: u32) {
        if self.groups[group as usize].on_tree {
            return;
        }
        let key = if self.params.d4_nominal_turns {
            self.line += 1;
            self.line
        } else {
            // A group that was away gets no credit for the time it did not ask.
            let least = self.order.first(&self.tree).map_or(0, |first| self.order.key(first));
            let charged = &mut self.groups[group as usize].charged;
            *charged = (*charged).max(least);
            *charged
        };
        self.groups[group as usize].on_tree = true;
        self.order.insert(&mut self.tree, group, key);
    }

    fn dequeue(&mut self, group: u32) {
        if core::mem::take(&mut self.groups[group as usize].on_tree) {
            self.order.remove(&mut self.tree, group);
        }
    }

    fn slice_used(&self, now: Jiffies) -> bool {
        let group = &self.groups[self.active as usize];
        !group.slice_new && now >= group.slice_end
    }

    /// The active group loses the disk, and so does the queue being served inside it.
    fn expire(&mut self, now: Jiffies) {
        let group = core::mem::replace(&mut self.active, NIL);
        let inner = self.inner.layers[group as usize].active;
        if inner != NIL {
            self.inner.expire(now, inner, false);
        }
        self.inner.round = None;
        if self.inner.layers[group as usize].busy > 0 {
            self.enqueue(group);
        }
    }

    fn begin_next_turn(&mut self) -> bool {
        let Some(group) = self.order.first(&self.tree) else { return false };
        self.dequeue(group);
        self.active = group;
        self.groups[group as usize].slice_new = true;
        self.new_turn = Some(self.turn_ended);
        true
    }

    /// The idle timer belongs to the active group.
    fn fire_timer(&mut self, now: Jiffies) {
        if self.active != NIL {
            self.inner.fire_timer(now, self.active);
        }
    }

    fn step(&mut self, now: Jiffies) -> Step {
        loop {
            if self.active != NIL && self.slice_used(now) && self.inner.queued > 0 {
                self.turn_ended = Why::GroupSliceExpired;
                self.expire(now);
            }
            if self.active == NIL && !self.begin_next_turn() {
                return Step::Nothing;
            }
            match self.inner.dispatch(now, self.active) {
                Step::Dispatch(id, why) => {
                    return Step::Dispatch(id, self.new_turn.take().unwrap_or(why));
                }
                Step::Refuse(why) => return Step::Refuse(why),
                Step::Nothing if self.inner.queued == 0 => return Step::Nothing,
                Step::Nothing if self.inner.layers[self.active as usize].dispatched > 0 => {
                    return Step::Refuse(Why::OwnRequestInFlight);
                }
                Step::Nothing => {
                    self.turn_ended = Why::GroupEmptied;
                    self.expire(now);
                }
            }
        }
    }

    fn jiffies(&self, now: Instant) -> Jiffies {
        self.inner.ticker.jiffies(now)
    }
}

fn slice(params: &TwoLayerParams, weight: u32) -> Jiffies {
    let base = u64::from(params.group_slice_ms) * u64::from(params.cfq.hz);
    let default = u64::from(Share::DEFAULT.weight(params.weight_map).get());
    ((base * u64::from(weight) / default / 1000) as Jiffies).max(1)
}

/// Device time per weight, on a scale where weight 100 counts once.
const fn charge(device_time: Span, weight: u64) -> u64 {
    device_time.as_ns() * 100 / weight
}

impl Elevator for TwoLayerCfq {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        let now = self.jiffies(now);
        self.fire_timer(now);
        let group = request.group;
        self.make_group(group);
        let displaced = self.inner.admit(now, request, group.0);
        if group.0 != self.active {
            self.enqueue(group.0);
            // Both layers run the same algorithm: a used-up slice does not keep others waiting.
            if self.active != NIL && self.slice_used(now) {
                self.inner.kick();
            }
        }
        displaced.map_or(Admission::Queued, Admission::Displaces)
    }

    fn decide(&mut self, now: Instant) -> Decision {
        let now = self.jiffies(now);
        self.fire_timer(now);
        if let Some(standing) = self.inner.standing() {
            return standing;
        }
        match self.step(now) {
            Step::Dispatch(id, why) => Decision::Dispatch(id, why),
            Step::Refuse(why) => self.inner.wait(why),
            Step::Nothing => self.inner.wait(Why::NothingQueued),
        }
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        let now = self.jiffies(now);
        self.fire_timer(now);
        let group = self.inner.complete(now, completion.request);
        let entry = &mut self.groups[group as usize];
        entry.charged += charge(completion.device_time, entry.weight);
        if group != self.active {
            return;
        }
        if entry.slice_new {
            entry.slice_new = false;
            entry.slice_end = now + entry.slice;
        }
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        let group = self.inner.rq(id.0).request.group.0;
        self.inner.withdraw(self.jiffies(now), id);
        if self.inner.layers[group as usize].busy == 0 {
            self.dequeue(group);
        }
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, share } | Change::GroupShare { group, share } => {
                self.set_share(group, share);
            }
            Change::TaskExited { task } => {
                let now = self.jiffies(now);
                self.inner.task_exited(now, task);
            }
            Change::GroupRemoved { .. }
            | Change::TaskMoved { .. }
            | Change::TaskPriority { .. } => {}
        }
    }

    fn describe(&self) -> Description {
        Description { name: "two-layer-cfq", handover: Handover::Batch, wait_max: None }
    }

    fn activate(&mut self, _now: Instant, id: RequestId) {
        self.inner.activate(id);
    }

    fn may_queue(&mut self, _now: Instant, bio: &Bio) -> MayQueue {
        self.make_group(bio.group);
        self.inner.may_queue(bio, bio.group.0)
    }

    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        request.group == bio.group && self.inner.may_merge(request, bio, bio.group.0)
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.inner.merged(request, how);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        let now = self.jiffies(now);
        self.active = NIL;
        (0..self.inner.layers.len() as u32).find_map(|layer| self.inner.drain(now, layer))
    }
}
