//! Latency targets, in the manner of Linux's io.latency.
//!
//! While every group meets its target, requests are served first come, first served. If the
//! requests of a group take longer than its target, the groups with a looser target or none may
//! have only half as many requests in flight as before, down to one. When the group meets its
//! target again, or stops submitting, they get their depth back in small steps. Metadata is not
//! throttled but charged: a throttled group that submits metadata has to wait longer and longer
//! between its other requests.
//!
//! Sources: Linux, "Control Group v2", IO latency; Josef Bacik, "block: introduce blk-iolatency io
//! controller" (patch description), 2018; Josef Bacik, "The creation of the io.latency block I/O
//! controller", LWN.net, 2019.
//!
//! Shares, floors, ceilings, priorities of tasks and costs are not honoured, and nested groups
//! count as groups beside each other.

mod target;

use crate::family::Family;
use crate::groups::{GroupQueues, Order};
use crate::honours::Honours;
use alloc::vec::Vec;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, Flags, GroupId, Handover,
    Instant, Merge, Merging, Qos, Reporting, Request, RequestId, Span, Why, dense,
};
use target::{Missed, Window};

/// The first delay between the other requests of a throttled group that submits metadata; it
/// doubles each time.
const DELAY_MIN: Span = Span::from_ms(1);

/// The settings of the elevator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IolatencyParams {
    /// How long latencies are collected before they are judged.
    pub window: Span,
    /// On a device without a moving head, the target is missed if more than this percentage of
    /// requests take longer. With a moving head, the mean latency decides.
    pub missed_percent: u32,
    /// How many requests of depth a throttled group gets back at a time.
    pub recovery_requests: u32,
    /// The depth from which a group is no longer throttled.
    pub depth_max: u32,
    /// The longest delay between requests.
    pub delay_max: Span,
}

impl Default for IolatencyParams {
    fn default() -> Self {
        Self {
            window: Span::from_ms(100),
            missed_percent: 10,
            recovery_requests: 1,
            depth_max: 128,
            delay_max: Span::from_s(1),
        }
    }
}

impl Family for IolatencyParams {
    const NAME: &'static str = "iolatency";
    type Scheduler = Iolatency;

    fn honours(&self) -> Honours {
        Honours { latency_targets: true, ..Honours::NONE }
    }

    fn build(&self) -> Iolatency {
        Iolatency::new(*self)
    }
}

/// The state of one group.
#[derive(Clone, Copy, Debug)]
struct Group {
    target: Option<Span>,
    window: Window,
    /// The most requests the group may have in flight.
    depth: u32,
    /// Whether the group has submitted metadata since its depth was last reduced.
    owes: bool,
    /// The delay between the group's requests.
    delay: Span,
    /// When the group's next request may go.
    next_at: Instant,
}

/// The io.latency elevator; see the [module documentation](self).
#[derive(Debug)]
pub struct Iolatency {
    params: IolatencyParams,
    /// Requests held back. Released requests count as in flight here.
    queues: GroupQueues,
    groups: Vec<Group>,
    /// Groups with requests held back, by arrival of the first one.
    held: Order<Instant>,
    /// Those groups in `held` that wait for a point in time.
    delayed: Order<Instant>,
    links: Lists<()>,
    /// Released requests that have not been dispatched.
    line: List,
    /// Indexed by slot: when the request was released, and whether it is in `line`.
    let_go: Vec<(Instant, bool)>,
    rotational: bool,
    /// The group that misses its target, for whose sake others are throttled.
    victim: Option<u32>,
    /// When depths were last changed.
    scaled: Instant,
}

impl Iolatency {
    /// An elevator with nothing queued.
    #[must_use]
    pub const fn new(params: IolatencyParams) -> Self {
        Self {
            params,
            queues: GroupQueues::with_urgent(Flags::META),
            groups: Vec::new(),
            held: Order::new(),
            delayed: Order::new(),
            links: Lists::new(),
            line: List::new(),
            let_go: Vec::new(),
            rotational: true,
            victim: None,
            scaled: Instant::ZERO,
        }
    }

    const fn fresh(&self) -> Group {
        Group {
            target: None,
            window: Window::new(),
            depth: self.params.depth_max,
            owes: false,
            delay: Span::ZERO,
            next_at: Instant::ZERO,
        }
    }

    fn group(&mut self, group: u32) -> &mut Group {
        let fresh = self.fresh();
        dense::entry(&mut self.groups, group, || fresh)
    }

    /// Releases as many of the group's requests as its depth allows.
    fn release(&mut self, now: Instant, group: u32) {
        self.delayed.place(group, None);
        let is_held_back = |of: &Group, max: u32| of.depth < max;
        while let Some(first) = self.queues.first(group).copied() {
            let urgent = self.queues.is_urgent(&first);
            let on_way = self.queues.in_flight(group);
            let max = self.params.depth_max;
            let of = &mut self.groups[group as usize];
            if urgent {
                of.owes |= is_held_back(of, max);
            } else if is_held_back(of, max) {
                if on_way >= of.depth {
                    break;
                }
                if now < of.next_at {
                    let at = of.next_at;
                    self.delayed.place(group, Some(at));
                    break;
                }
                of.next_at = now + of.delay;
            }
            self.queues.dispatch(group);
            self.links.insert(&mut self.line, first.id.0, ());
            self.note_let_go(now, first.id);
        }
        self.held.place(group, self.queues.first(group).map(|first| first.arrived));
    }

    fn note_let_go(&mut self, now: Instant, id: RequestId) {
        *dense::entry(&mut self.let_go, id.0, || (now, false)) = (now, true);
    }

    fn leave_line(&mut self, id: RequestId) {
        self.links.remove(&mut self.line, id.0);
        self.let_go[id.0 as usize].1 = false;
    }

    /// Halves the depth of groups with a looser target than `target`, starting from what they have
    /// in flight now.
    fn hold_back(&mut self, now: Instant, target: Span) {
        for group in 0..self.groups.len() as u32 {
            let on_way = self.queues.in_flight(group);
            let params = self.params;
            let of = &mut self.groups[group as usize];
            if of.target.is_some_and(|own| own <= target) {
                continue;
            }
            let now_has = if of.depth < params.depth_max { of.depth } else { on_way.max(2) };
            of.depth = (now_has.min(params.depth_max) / 2).max(1);
            if core::mem::take(&mut of.owes) {
                let delay = Span::from_ns(of.delay.as_ns().saturating_mul(2)).max(DELAY_MIN);
                of.delay = delay.min(params.delay_max);
            }
        }
        self.scaled = now;
    }

    /// Gives every throttled group some of its depth back.
    fn give_back(&mut self, now: Instant) {
        let mut all_have = true;
        for group in 0..self.groups.len() as u32 {
            let params = self.params;
            let of = &mut self.groups[group as usize];
            if of.depth < params.depth_max {
                of.depth = (of.depth + params.recovery_requests).min(params.depth_max);
                of.delay = of.delay / 2;
                all_have &= of.depth == params.depth_max;
                self.release(now, group);
            }
        }
        if all_have {
            self.victim = None;
        }
        self.scaled = now;
    }

    /// Records a completion of the group that took `took`, and acts on the verdict if a window is
    /// over.
    fn judge(&mut self, now: Instant, group: u32, took: Span) {
        let (params, rotational) = (self.params, self.rotational);
        let of = self.group(group);
        let verdict = of.target.and_then(|target| {
            let percent = (!rotational).then_some(params.missed_percent);
            of.window.note(now, took, target, params.window, percent).map(|missed| (missed, target))
        });
        let due = now - self.scaled >= params.window;
        match verdict {
            Some((Missed::Yes, target)) if due || self.is_tighter(target) => {
                self.victim = Some(group);
                self.hold_back(now, target);
            }
            Some((Missed::No, _)) if due && self.victim == Some(group) => self.give_back(now),
            _ if due && self.victim.is_some_and(|victim| self.stopped(now, victim)) => {
                self.give_back(now);
            }
            _ => {}
        }
    }

    /// Whether `target` is tighter than that of the present victim.
    fn is_tighter(&self, target: Span) -> bool {
        let victim = self.victim.and_then(|victim| self.groups[victim as usize].target);
        victim.is_none_or(|victim| target < victim)
    }

    /// Whether the group has stopped submitting or has no target any more.
    fn stopped(&self, now: Instant, group: u32) -> bool {
        let of = &self.groups[group as usize];
        let quiet = now - of.window.last() >= self.params.window;
        of.target.is_none() || self.queues.outstanding(group) == 0 && quiet
    }

    fn set_target(&mut self, group: u32, qos: Qos) {
        let of = self.group(group);
        of.target = qos.latency_p99;
        of.window = Window::new();
    }

    /// Resets a group whose number may have belonged to another group before.
    fn begin(&mut self, now: Instant, group: u32) {
        let fresh = self.fresh();
        *self.group(group) = fresh;
        self.release(now, group);
    }

    /// Releases requests whose delay is over.
    fn pass(&mut self, now: Instant) {
        while let Some((group, _)) = self.delayed.first().filter(|(_, at)| *at <= now) {
            self.release(now, group);
        }
    }
}

impl Elevator for Iolatency {
    fn admit(&mut self, now: Instant, request: &Request) -> Admission {
        let group = request.group.0;
        self.group(group);
        self.queues.push(request);
        self.release(now, group);
        Admission::Queued
    }

    fn decide(&mut self, now: Instant) -> Decision {
        self.pass(now);
        if let Some(first) = self.line.first() {
            self.leave_line(RequestId(first));
            return Decision::Dispatch(RequestId(first), Why::ArrivedFirst);
        }
        match (self.delayed.first(), self.held.first()) {
            (Some((_, at)), _) => Decision::WaitUntil(at, Why::LatencyMissed),
            (None, Some(_)) => Decision::WaitCompletion(Why::LatencyMissed),
            (None, None) => self.queues.rest(),
        }
    }

    fn complete(&mut self, now: Instant, completion: &Completion) {
        let group = self.queues.complete(completion.request).group.0;
        let took = now - self.let_go[completion.request.0 as usize].0;
        self.judge(now, group, took);
        self.release(now, group);
    }

    fn withdraw(&mut self, now: Instant, id: RequestId) {
        let is_in_line = self.let_go.get(id.0 as usize).is_some_and(|(_, in_line)| *in_line);
        let request = if is_in_line {
            self.leave_line(id);
            self.queues.complete(id)
        } else {
            self.queues.remove(id)
        };
        self.release(now, request.group.0);
    }

    fn drain(&mut self, _now: Instant) -> Option<RequestId> {
        if let Some(first) = self.line.first() {
            self.leave_line(RequestId(first));
            self.queues.complete(RequestId(first));
            return Some(RequestId(first));
        }
        let (group, _) = self.held.first()?;
        let id = self.queues.first(group)?.id;
        self.queues.remove(id);
        self.delayed.place(group, None);
        self.held.place(group, self.queues.first(group).map(|first| first.arrived));
        Some(id)
    }

    fn describe(&self) -> Description {
        Description::new(IolatencyParams::NAME, Handover::Single)
    }

    fn configure(&mut self, now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, .. } | Change::GroupRemoved { group } => {
                self.begin(now, group.0);
            }
            Change::GroupQos { group, qos } => self.set_target(group.0, qos),
            Change::Rotational { rotational } => self.rotational = rotational,
            _ => {}
        }
    }
}

impl Merging for Iolatency {
    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.queues.merged(request, how);
    }
}

impl Reporting for Iolatency {
    fn held_back(&self, now: Instant, group: GroupId) -> Option<Why> {
        self.held.key(group.0)?;
        let may_go = self.delayed.key(group.0).is_some_and(|at| at <= now);
        let mut line = core::iter::successors(self.line.first(), |at| self.links.next(*at));
        let is_let_go = line.any(|at| self.queues.request(RequestId(at)).group == group);
        (!may_go && !is_let_go).then_some(Why::LatencyMissed)
    }
}

fairdisk_core::default_extensions!(Iolatency: Driving, Hearing, Promising, Attaching);
