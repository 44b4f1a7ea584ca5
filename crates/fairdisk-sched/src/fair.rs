//! Fairdisk's own scheduler: nested groups, each with a weight, a floor, a ceiling and a latency
//! target, and inside a group its tasks with their `ionice`. What it shares out is the device's
//! time.
//!
//! A request waits in the queue of its task (`requests`, `queue`) inside its `group`. The next one
//! is found in `decide`, which asks in one order and changes nothing while it asks: the `answer`.
//! `again` says until when a wait stays right. What is dispatched passes through `dispatching`, and
//! `charging` says who pays for it, when and how much.
//!
//! - The order: `claims`. The `hierarchy` is of groups, `queues` of the tasks of a group.
//! - Where requests are served one after the other, whoever has the disk may keep it for a turn:
//!   `turn`, `rounds`. It may be kept free meanwhile: `keeping`, `patience`, `absence`, `think`.
//!   Who thinks for too long is served once it is back: `returning`, `allowance`.
//! - Where several are served at once, their modelled cost is charged: `queueing`, `device`,
//!   `untold`. Groups make room for each other (`expected`, `reserved`, `room_worth`), and tasks of
//!   a group (`inside`). A task that streams from several heads gets turns alone:
//!   `stream`, `idle`, `pace`.
//! - Promises to a group: `ceiling` and `saving`, `floor`, `target`. What another group waits for
//!   goes first: `awaited`.
//! - Without a head: groups have the device together or in turns (`sharing`). Where costs are not
//!   told, how much may be there is searched for (`depth_limit`). Both are tried: `ways`, `looks`.
//! - What a device does after it has acknowledged a write: `cache`, `writes_first`; and
//!   beside whoever has that flushed: `backlog`, `commits`.
//! - Each rule is a switch: `rules`.
//! - What is learned by measuring: `service`, `usual`, `mean`, `median`. All accounts are checked
//!   in storms: `audit`.
//!
//! docs/fair.md states the rules and defines the terms used here: behind, ahead, think time, stated
//! time.

mod absence;
mod again;
mod allowance;
mod answer;
mod audit;
mod awaited;
mod backlog;
mod cache;
mod ceiling;
mod changes;
mod charging;
mod claims;
mod commits;
mod decide;
mod depth_limit;
mod device;
mod dispatching;
mod expected;
mod floor;
mod flushing;
mod group;
mod hierarchy;
mod idle;
mod inside;
mod keeping;
mod looks;
mod mean;
mod median;
mod pace;
mod params;
mod patience;
mod queue;
mod queueing;
mod queues;
mod requests;
mod reserved;
mod returning;
mod room_worth;
mod rounds;
mod rules;
mod saving;
mod service;
mod sharing;
mod stream;
mod target;
mod think;
mod turn;
mod untold;
mod usual;
mod ways;
mod writes_first;

pub use params::FairParams;
pub use rules::{RULES, Rule, Rules};

use crate::family::Family;
use crate::groups::Amount;
use alloc::boxed::Box;
use alloc::vec::Vec;
use awaited::Awaited;
use ceiling::Barred;
use device::Device;
use expected::Expected;
use fairdisk_core::{
    Admission, Bio, Change, Completion, Decision, Description, Driving, Elevator, GroupId,
    Handover, Instant, MayQueue, Merge, Merging, Promising, Refusal, Reporting, Request, RequestId,
    Span, TaskId, Why,
};
use floor::Floors;
use group::Group;
use hierarchy::Hierarchy;
use queues::{Queues, TURNS_MOST};
use requests::Requests;
use returning::Returning;
use target::Targets;
use think::Done;
use turn::{Turn, Turns};

/// Index that stands for no group or no queue.
const NIL: u32 = u32::MAX;

/// The `fair` scheduler.
#[derive(Debug)]
pub struct Fair {
    params: FairParams,
    /// The order of groups.
    tree: Hierarchy,
    /// By group number.
    groups: Vec<Group>,
    queues: Queues,
    requests: Requests,
    load: Load,
    turn: Option<Turn>,
    turns: Box<Turns>,
    /// Thinkers that left their turn.
    returning: Box<Returning>,
    /// Groups with nothing queued, for which others make room.
    expected: Expected,
    promises: Box<Promises>,
    device: Device,
}

/// What is queued and at the device.
#[derive(Debug, Default)]
struct Load {
    queued: u32,
    in_flight: u32,
    /// The modelled cost of the requests at the device, where requests are charged by the model,
    /// and of those for which a place is reserved.
    at_work: Span,
    /// When the device last completed a request, or was last given one while it was empty.
    busy_since: Instant,
}

/// What goes before shares, or bounds them.
#[derive(Debug)]
struct Promises {
    /// Groups that may have no more for now.
    barred: Barred,
    floors: Floors,
    targets: Targets,
    /// Requests that other groups wait for.
    awaited: Awaited,
}

impl Fair {
    /// A scheduler without requests, whose only group is the root.
    #[must_use]
    pub fn new(params: &FairParams) -> Self {
        let mut scheduler = Self {
            params: *params,
            tree: Hierarchy::new(params.credit, params.lag(true)),
            groups: Vec::new(),
            queues: Queues::new(params.expire, params.idle_max),
            requests: Requests::new(),
            load: Load::default(),
            turn: None,
            turns: Box::new(Turns::new(params.round)),
            returning: Box::new(Returning::new()),
            expected: Expected::new(),
            promises: Box::new(Promises {
                barred: Barred::new(),
                floors: Floors::new(),
                targets: Targets::new(),
                awaited: Awaited::new(),
            }),
            device: Device::new(params.rules),
        };
        scheduler.make_group(GroupId::ROOT);
        scheduler
    }

    #[inline]
    fn make_group(&mut self, group: GroupId) {
        while self.groups.len() <= group.0 as usize {
            let at = self.groups.len() as u32;
            self.groups.push(Group::new());
            self.device.cache.make_group();
            self.tree.make(at);
            self.queues.make_group(at);
        }
    }

    /// Notes that something was done: where a decision looks at only a few, it looks at others
    /// next.
    #[inline]
    fn look_on(&mut self) {
        self.promises.awaited.look_on();
        self.promises.targets.ahead.look_on();
    }

    /// The request of the queue that is served next.
    #[inline]
    fn next_of(&self, now: Instant, queue: u32) -> u32 {
        let expire = self.device.rotational.then_some(self.params.expire);
        self.requests.next(now, &self.queues[queue], expire)
    }
}

impl Elevator for Fair {
    #[inline]
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        self.make_group(request.group);
        self.tree.pass(now);
        let group = request.group.0;
        let queue = if request.sync {
            self.queues.of_task(now, request.task, group, request.ioprio)
        } else {
            self.queues.asynchronous(group)
        };
        if request.sync && self.has_nothing_synchronous(group) {
            self.note_back(now, group, queue);
        }
        let entry = &mut self.groups[group as usize];
        let q = &mut self.queues[queue];
        if request.sync && q.is_quiet() {
            q.times.think.add(self.device.thought(now, q.quiet_since, self.params.idle_max));
        }
        if entry.is_quiet() {
            if entry.was_away(now, self.params.credit) {
                entry.past.worth.break_off();
            }
            entry.past.burst = Span::ZERO;
            entry.past.commits.wants(now);
        }
        self.requests.insert(request, queue, q);
        if request.sync && self.device.rotational && self.device.is_serial() {
            self.requests.place(request.id.0, &mut entry.by_place);
        }
        entry.waiting += 1;
        self.load.queued += 1;
        if q.waiting == 1 {
            self.queues.join(now, queue);
        }
        if entry.waiting == 1 {
            self.expect_no_more(group);
            if !self.expected.reserved.is_empty() {
                self.release_reserved(group);
            }
            self.tree.set_wants(group, true);
            self.floors_resume(now, group);
            self.target_wants(now, group);
        }
        Admission::Queued
    }

    #[inline]
    fn decide(&mut self, now: Instant) -> Decision {
        self.decide_next(now)
    }

    #[inline]
    fn complete(&mut self, now: Instant, completion: &Completion) {
        self.tree.pass(now);
        let rq = self.requests.forget(completion.request.0);
        let queue = rq.queue;
        let group = self.queues[queue].group;
        self.load.in_flight -= 1;
        let q = &mut self.queues[queue];
        q.in_flight -= 1;
        q.quiet_since = Some(now);
        let entry = &mut self.groups[group as usize];
        entry.in_flight -= 1;
        entry.past.absence.note_done(now, Done::Request);
        entry.past.absence.unflushed = entry.past.absence.unflushed.saturating_add(1);
        let left_early = entry.past.absence.left_early();
        if let Some(target) = entry.qos.latency_p99 {
            self.adjust_room(now, group, (&rq, completion.device_time), target);
        }
        if rq.dispatched.is_held {
            self.done_below_ceilings(now, group, rq.amount());
        }
        self.charge_completed(now, &rq, completion.device_time);
        if left_early && self.queues[queue].task.is_some() {
            self.will_return(now, group, queue);
        }
        self.device.cache.reads -= u32::from(rq.dispatched.is_counted);
        self.look_on();
        self.rest(now, group);
        self.expect(now, group, queue);
        self.release_queue(queue);
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        self.tree.pass(now);
        self.take_out(id.0);
        let group = self.queues[self.requests[id.0].queue].group;
        if !self.has_synchronous_queued(group) {
            self.set_back(group, false);
        }
        self.target_wants(now, group);
        self.rest(now, group);
        self.expect(now, group, NIL);
        let rq = self.requests.forget(id.0);
        self.release_queue(rq.queue);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        while let Some(group) = self.promises.barred.due(Instant::MAX) {
            self.promises.barred.release(group, &mut self.tree);
        }
        self.turn = None;
        let group = self.tree.first()?;
        let at = self.next_of(now, self.queues.first_of(now, group));
        self.take_out(at);
        let rq = self.requests.forget(at);
        self.release_queue(rq.queue);
        Some(RequestId(at))
    }

    fn describe(&self) -> Description {
        let turns_max = Some(TURNS_MOST);
        Description { turns_max, ..Description::new(FairParams::NAME, Handover::Single) }
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        self.tree.pass(now);
        match *change {
            Change::GroupAdded { group, share } | Change::GroupShare { group, share } => {
                self.make_group(group);
                self.set_share(group, share);
            }
            Change::GroupParent { group, parent } => {
                self.make_group(group);
                if let Some(parent) = parent {
                    self.make_group(parent);
                }
                self.set_parent(group.0, parent.map(|parent| parent.0));
            }
            Change::GroupQos { group, qos } => {
                self.make_group(group);
                self.set_qos(now, group, qos);
            }
            Change::GroupIdle { group, idle } => {
                self.make_group(group);
                self.groups[group.0 as usize].idle = idle;
            }
            Change::GroupRemoved { group } => {
                self.make_group(group);
                self.remove_group(now, group);
            }
            Change::TaskMoved { .. } => {}
            Change::TaskPriority { task, ioprio } => self.queues.reprioritise(now, task, ioprio),
            Change::TaskExited { task } => {
                self.queues.task_exited(task);
                self.forget_free_queues();
            }
            Change::Depth { depth } => self.change_device(now, |it| it.depth = depth.max(1)),
            Change::Rotational { rotational } => {
                self.change_device(now, |it| it.set_rotational(rotational));
            }
            Change::Costs(costs) => self.change_device(now, |it| it.learn(costs)),
        }
    }
}

impl Merging for Fair {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        let queue = if bio.sync {
            self.queues.find(bio.task, bio.group.0)
        } else {
            self.queues.find_asynchronous(bio.group.0)
        };
        let known = self.requests.get(request.id.0).map(|rq| rq.queue);
        let is_of_queue = request.sync == bio.sync && queue.is_some() && known == queue;
        is_of_queue
            && !self.would_hold_up_others(request, bio)
            && self.ceilings_let_grow(request, Amount::of(bio))
    }

    fn may_absorb(&self, request: &Request, next: &Request) -> bool {
        self.ceilings_let_grow(request, self.requests[next.id.0].amount())
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        let bios = match how {
            Merge::Back | Merge::Front => 1,
            Merge::Absorbed { absorbed, .. } => self.requests[absorbed.0].bios,
        };
        let queue = self.requests[request.id.0].queue;
        let queue = &mut self.queues[queue];
        let by_place = &mut self.groups[queue.group as usize].by_place;
        self.requests.grown(request, bios, queue, by_place);
    }
}

impl Driving for Fair {
    fn may_queue(&mut self, _now: Instant, bio: &Bio) -> MayQueue {
        let queue = if bio.sync { self.queues.find(bio.task, bio.group.0) } else { None };
        // Tasks of worse priority may have filled the pool, and wait for this one.
        let is_before = |queue: u32| {
            !self.device.is_serial()
                && self.queues[queue].waiting == 0
                && self.queues.has_worse(queue)
        };
        match queue {
            Some(queue) if self.is_waited_for(queue) || is_before(queue) => MayQueue::Must,
            _ => MayQueue::May,
        }
    }

    fn lets_through(&self, task: TaskId, group: GroupId) -> bool {
        self.lets_task_through(task, group.0)
    }
}

impl Promising for Fair {
    fn accepts(&self, change: &Change) -> Result<(), Refusal> {
        match *change {
            Change::GroupQos { group, qos } => self.admits(group, &qos),
            _ => Ok(()),
        }
    }

    fn examines_floors(&self) -> bool {
        self.device.knows_costs()
    }
}

impl Reporting for Fair {
    fn deferred(&self, group: GroupId) -> Option<Span> {
        Some(self.groups.get(group.0 as usize).map_or(Span::ZERO, |group| group.past.deferred))
    }

    fn held_back(&self, now: Instant, group: GroupId) -> Option<Why> {
        self.why_held_back_by_bar(now, group.0)
    }

    fn check_accounts(&self) {
        self.check_all_accounts();
    }
}

fairdisk_core::default_extensions!(Fair: Attaching);
