//! BFQ, "budget fair queueing": every task has a queue, a queue gets the disk for a budget of
//! sectors, and B-WF2Q+ decides which queue is next, in a hierarchy of groups.
//!
//! Written from its papers, its documentation and, for its switches, descriptions of commits: P.
//! Valente, F. Checconi, "High Throughput Disk Scheduling with Fair Bandwidth Distribution", IEEE
//! Transactions on Computers, 2010; P. Valente, M. Andreolini, "Improving Application
//! Responsiveness with the BFQ Disk I/O Scheduler", SYSTOR 2012; P. Valente, A. Avanzini,
//! "Evolution of the BFQ Storage-I/O Scheduler", MST 2015; Documentation/block/bfq-iosched.rst.
//! docs/rivals.md and docs/bfq.md list what is left out.

mod inject;
mod pace;
mod params;
mod queue;
mod schedule;
pub mod switches;
mod timeline;
mod turn;

pub use params::{BfqParams, RaisingParams};
pub use switches::{SWITCHES, Switches};

use crate::cfq::CfqParams;
use crate::cfq::context::Context;
use crate::cfq::params::{Quirks, Tunables};
use crate::cfq::pending::Choice;
use crate::cfq::priority::{AsyncQueues, Priority};
use crate::cfq::requests::Requests;
use crate::cfq::tasks::Tasks;
use crate::family::Family;
use crate::slab::Slab;
use alloc::vec::Vec;
use fairdisk_core::{
    Admission, Bio, Change, Completion, Decision, Description, Elevator, GroupId, Handover,
    Instant, IoPrio, Lba, Merge, Merging, Reporting, Request, RequestId, Share, TaskId, WeightMap,
    Why, dense,
};
use inject::Backlog;
use pace::Pace;
use queue::Queue;
use schedule::{GROUP_WEIGHT_MAX, NIL, Schedule};
use turn::{End, Turn};

/// The BFQ scheduler.
#[derive(Debug)]
pub struct Bfq {
    params: BfqParams,
    /// Tunables of the order of requests within a queue, which is CFQ's.
    order: Tunables,
    schedule: Schedule,
    queues: Slab<Queue>,
    queue_of_entity: Vec<u32>,
    async_queues: Vec<AsyncQueues>,
    tasks: Tasks,
    requests: Requests,
    backlog: Backlog,
    queued: u32,
    outstanding: u32,
    /// The end of the last dispatched request.
    head: Lba,
    turn: Option<Turn>,
    turn_ended: Why,
    pace: Pace,
    depth: u32,
    rotational: bool,
    withdrawn_next: Option<RequestId>,
}

/// A group's share as a weight on BFQ's scale of 1 to 1000.
fn group_weight(share: Share) -> u32 {
    share.weight(WeightMap::LinearHigh0).get().min(GROUP_WEIGHT_MAX as u32)
}

/// Time in the microseconds in which the contexts of tasks count it.
const fn us(now: Instant) -> i64 {
    (now.as_ns() / 1000) as i64
}

impl Bfq {
    /// A BFQ scheduler with the given tunables.
    #[must_use]
    pub fn new(params: &BfqParams) -> Self {
        let order = Tunables::new(&CfqParams {
            back_seek_max_kib: params.back_seek_max_kib,
            back_seek_penalty: params.back_seek_penalty,
            quirks: Quirks::default(),
            ..CfqParams::default()
        });
        let switches = params.switches.effective();
        let mut scheduler = Self {
            params: BfqParams { switches, ..*params },
            order,
            schedule: Schedule::new(),
            queues: Slab::new(),
            queue_of_entity: Vec::new(),
            async_queues: Vec::new(),
            tasks: Tasks::new(),
            requests: Requests::new(),
            backlog: Backlog::new(switches.injection),
            queued: 0,
            outstanding: 0,
            head: Lba(0),
            turn: None,
            turn_ended: Why::QueueEmptied,
            pace: Pace::new(params.max_budget_sectors, params.timeout),
            depth: 1,
            rotational: true,
            withdrawn_next: None,
        };
        scheduler.make_group(GroupId::ROOT);
        scheduler
    }

    fn make_group(&mut self, group: GroupId) {
        self.schedule.make_group(group.0, group_weight(Share::DEFAULT));
        dense::entry(&mut self.async_queues, group.0, || AsyncQueues::new(NIL));
    }

    fn set_share(&mut self, group: GroupId, share: Share) {
        self.make_group(group);
        let entity = self.schedule.of_group(group.0);
        self.schedule.set_weight(entity, group_weight(share));
    }

    /// Resets a group whose number may have belonged to another group before.
    fn begin_group(&mut self, group: GroupId, share: Share) {
        self.set_share(group, share);
        self.schedule.begin_group(group.0);
    }

    // ---- queues ----------------------------------------------------------------------------

    fn queue_of(&mut self, context: u32, request: &Request) -> u32 {
        let group = request.group.0;
        if request.sync {
            if self.tasks[context].sync_queue == NIL {
                let queue = self.make_queue(group, true, request.ioprio, context);
                self.tasks[context].sync_queue = queue;
            }
            return self.tasks[context].sync_queue;
        }
        let place = *self.async_queues[group as usize].place(request.ioprio);
        if place != NIL {
            return place;
        }
        let queue = self.make_queue(group, false, request.ioprio, NIL);
        *self.async_queues[group as usize].place(request.ioprio) = queue;
        queue
    }

    fn make_queue(&mut self, group: u32, sync: bool, ioprio: IoPrio, context: u32) -> u32 {
        let weight = params::weight_of_level(4);
        let entity = self.schedule.make_queue(group, fairdisk_core::IoClass::BestEffort, weight);
        // A new task is served soon, with a small budget that grows if the task uses it up.
        let budget = (self.pace.budget_max() / 4).max(self.pace.budget_min());
        let mut queue = Queue::new(group, sync, ioprio, entity, budget);
        queue.context = context;
        let at = self.queues.put(queue);
        *dense::entry(&mut self.queue_of_entity, entity, || NIL) = at;
        at
    }

    /// Gives a queue a new priority. Its weight counts from the next service of the queue on, its
    /// class at once: if the queue has the disk, its turn ends.
    fn set_priority(&mut self, now: Instant, queue: u32, ioprio: IoPrio) {
        let (new, old) = (Priority::of(ioprio), self.queues[queue].priority);
        if (new.class, new.level) == (old.class, old.level) {
            return;
        }
        if new.class != old.class && self.turn.is_some_and(|turn| turn.queue == queue) {
            self.end_turn(now, End::Preempted);
        }
        let q = &mut self.queues[queue];
        q.priority = new;
        let (entity, weight, active) = (q.entity, q.weight(), q.active);
        self.schedule.set_weight(entity, weight);
        self.schedule.set_class(entity, new.class);
        if active && new.class != old.class {
            self.preempt(now, queue, false);
        }
    }

    /// Gives the queues of a task, one in each group, its new priority.
    fn set_task_priority(&mut self, now: Instant, task: TaskId, ioprio: IoPrio) {
        let mut group = 0;
        while let Some(context) = self.tasks.next_of_task(task, group) {
            let Context { layer, sync_queue, .. } = self.tasks[context];
            if sync_queue != NIL {
                self.set_priority(now, sync_queue, ioprio);
            }
            group = layer + 1;
        }
    }

    /// Activates a queue that has got a pending request, and returns whether it was not active.
    fn wake(&mut self, queue: u32) -> bool {
        let q = &mut self.queues[queue];
        if q.active {
            return false;
        }
        q.active = true;
        let (entity, class, weight, budget) = (q.entity, q.priority.class, q.weight(), q.budget);
        self.schedule.set_class(entity, class);
        self.schedule.set_weight(entity, weight);
        self.schedule.set_budget(entity, budget);
        self.schedule.activate(entity);
        self.schedule.compete(entity);
        true
    }

    /// Deactivates a queue that has no pending request and does not have the disk. Frees it if it
    /// is an orphan and has nothing in flight.
    fn settle(&mut self, queue: u32) {
        let in_service = self.turn.is_some_and(|turn| turn.queue == queue);
        let q = &mut self.queues[queue];
        if !q.pending.is_empty() || in_service {
            return;
        }
        if core::mem::take(&mut q.active) {
            self.schedule.deactivate(q.entity);
        }
        if q.dispatched == 0 {
            self.schedule.retire(q.entity);
        }
        if q.orphan && q.dispatched == 0 {
            self.schedule.free_queue(q.entity);
            self.queues.free(queue);
        }
    }

    fn orphan_queue(&mut self, now: Instant, queue: u32) {
        let Some(q) = self.queues.get_mut(queue) else { return };
        q.orphan = true;
        q.context = NIL;
        match self.turn {
            Some(turn) if turn.queue == queue && q.pending.is_empty() => {
                self.end_turn(now, End::Emptied);
            }
            _ => self.settle(queue),
        }
    }

    fn orphan(&mut self, now: Instant, context: u32) {
        self.tasks.orphan(context);
        let queue = self.tasks[context].sync_queue;
        self.orphan_queue(now, queue);
        if self.tasks[context].requests == 0 {
            self.tasks.release(context);
        }
    }

    /// Serves what the group still has queued, but forgets the rest: a new group with its number
    /// starts afresh.
    fn remove_group(&mut self, now: Instant, group: GroupId) {
        self.begin_group(group, Share::DEFAULT);
        while let Some(context) = self.tasks.any_of_layer(group.0) {
            self.orphan(now, context);
        }
        let none = AsyncQueues::new(NIL);
        let queues = core::mem::replace(&mut self.async_queues[group.0 as usize], none);
        for queue in queues.all() {
            self.orphan_queue(now, queue);
        }
    }

    // ---- requests --------------------------------------------------------------------------

    /// Removes a request from its queue and returns that queue.
    fn remove(&mut self, index: u32) -> u32 {
        let queue = self.requests[index].queue;
        let by = Choice { head: self.head, tunables: &self.order };
        self.requests.dequeue(&mut self.queues[queue].pending, index, by);
        self.queued -= 1;
        if self.queues[queue].pending.is_empty() {
            self.backlog.remove(queue);
        }
        queue
    }

    /// Drops a request's reference to its context, and frees the context after the last one.
    fn let_go(&mut self, context: u32) {
        let owner = &mut self.tasks[context];
        owner.requests -= 1;
        if owner.requests == 0 && !owner.alive {
            self.tasks.release(context);
        }
    }

    /// Hands over a request that counts as `cost` against its queue's budget.
    fn hand_over(&mut self, index: u32, cost: u64) {
        let (end, sectors) = (self.requests[index].end, self.sectors(index));
        let queue = self.remove(index);
        self.queues[queue].dispatched += 1;
        self.queues[queue].is_served(sectors);
        self.outstanding += 1;
        self.head = end;
        if let Some(turn) = self.turn.as_mut().filter(|turn| turn.queue == queue) {
            turn.served += sectors;
            turn.cost += cost;
            turn.idle_until = None;
        }
    }

    fn sectors(&self, index: u32) -> u64 {
        let rq = &self.requests[index];
        rq.end.0 - rq.start.0
    }
}

impl Elevator for Bfq {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        self.make_group(request.group);
        let group = request.group.0;
        let context = self.tasks.find_or_make(us(now), request.task, group, request.ioprio);
        let queue = self.queue_of(context, request);
        // An asynchronous queue may have requests of several tasks.
        if request.sync || !self.queues[queue].active {
            self.set_priority(now, queue, request.ioprio);
        }
        self.queues[queue].arrives(now, u64::from(request.sectors.0), &self.params);
        if request.sync {
            let longest = 2 * self.params.slice_idle.as_us() as i64;
            let context = &mut self.tasks[context];
            context.observe_think(us(now), longest);
            context.seek.observe(request.start, request.end(), false);
        }
        self.tasks[context].requests += 1;
        self.requests.insert(request, queue, context);
        let by = Choice { head: self.head, tunables: &self.order };
        self.requests.enqueue(&mut self.queues[queue].pending, request.id.0, by);
        self.queued += 1;
        self.backlog.add(queue, now);
        let woken = self.wake(queue);
        match &mut self.turn {
            Some(turn) if turn.queue == queue => turn.idle_until = None,
            _ => self.preempt(now, queue, woken),
        }
        Admission::Queued
    }

    fn decide(&mut self, now: Instant) -> Decision {
        if self.queued == 0 {
            return match self.outstanding {
                0 => Decision::Idle,
                _ => Decision::WaitCompletion(Why::NothingQueued),
            };
        }
        if self.params.strict_guarantees && self.outstanding > 0 {
            return Decision::WaitCompletion(Why::OwnRequestInFlight);
        }
        loop {
            let turn = self.turn.or_else(|| self.begin_turn(now));
            let turn = turn.expect("whatever is queued is in the schedule");
            if let Some(decision) = self.continue_turn(now, turn) {
                return decision;
            }
        }
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        let rq = self.requests.take(completion.request.0);
        self.outstanding -= 1;
        let q = &mut self.queues[rq.queue];
        q.dispatched -= 1;
        if q.is_idle() {
            q.idle_since = Some(now);
        }
        let idle = q.is_idle();
        if rq.sync {
            self.tasks[rq.context].completed_sync(us(now));
        }
        let in_service = self.turn.is_some_and(|turn| turn.queue == rq.queue);
        let wait = self.wait_for(rq.queue).filter(|_| in_service && idle);
        if let (Some(turn), Some(wait)) = (&mut self.turn, wait) {
            turn.idle_until = Some(now + wait);
        }
        self.settle(rq.queue);
        self.let_go(rq.context);
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        let queue = self.requests[id.0].queue;
        let was_next = self.queues[queue].pending.next == id.0;
        self.withdrawn_next = was_next.then_some(id);
        self.remove(id.0);
        let context = self.requests.take(id.0).context;
        self.settle(queue);
        self.let_go(context);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        self.end_turn(now, End::Preempted);
        let entity = self.schedule.next(now)?;
        let queue = self.queue_of_entity[entity as usize];
        let index = self.queues[queue].pending.next;
        self.remove(index);
        let context = self.requests.take(index).context;
        self.settle(queue);
        self.let_go(context);
        Some(RequestId(index))
    }

    fn describe(&self) -> Description {
        Description::new(BfqParams::NAME, Handover::Single)
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, share } => self.begin_group(group, share),
            Change::GroupShare { group, share } => self.set_share(group, share),
            Change::GroupParent { group, parent } => {
                let parent = parent.unwrap_or(GroupId::ROOT);
                self.make_group(group);
                self.make_group(parent);
                self.schedule.set_parent(group.0, parent.0);
            }
            Change::GroupRemoved { group } => self.remove_group(now, group),
            Change::TaskPriority { task, ioprio } => self.set_task_priority(now, task, ioprio),
            Change::TaskExited { task } => {
                while let Some(context) = self.tasks.any_of_task(task) {
                    self.orphan(now, context);
                }
            }
            Change::Depth { depth } => self.depth = depth,
            Change::Rotational { rotational } => self.rotational = rotational,
            Change::Costs(costs) => self.depth = costs.depth,
            _ => {}
        }
    }
}

impl Merging for Bfq {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        request.is_like(bio) && request.task == bio.task
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        let index = request.id.0;
        let queue = self.requests[index].queue;
        self.requests.update(request);
        let by = Choice { head: self.head, tunables: &self.order };
        let pending = &mut self.queues[queue].pending;
        match how {
            Merge::Back => {}
            Merge::Front => self.requests.moved(pending, index, by),
            Merge::Absorbed { absorbed, arrived } => {
                let was_next = self.withdrawn_next == Some(absorbed);
                self.requests.absorbed(pending, index, arrived, was_next, Quirks::default());
            }
        }
    }
}

impl Reporting for Bfq {
    fn held_back(&self, now: Instant, group: GroupId) -> Option<Why> {
        self.why_kept_from(now, group.0)
    }
}

fairdisk_core::default_extensions!(Bfq: Driving, Hearing, Promising, Attaching);
