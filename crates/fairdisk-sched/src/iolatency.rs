//! Latency targets, in the manner of Linux's io.latency.
//!
//! As long as every group meets its target, all is first come, first served. If the requests of a
//! group take longer than its target, groups with a looser target, or none, may have only half as
//! many requests on their way as before, down to one; when the group meets its target again, or
//! stops asking, they get back what they had in small steps. Metadata is not held back, but is
//! charged: a group that is held back and sends some waits longer and longer between its other
//! requests.
//!
//! Sources: Linux, "Control Group v2", IO latency; Josef Bacik, "block: introduce blk-iolatency io
//! controller" (patch description), 2018; Josef Bacik, "The creation of the io.latency block I/O
//! controller", LWN.net, 2019.
//!
//! Shares, floors, ceilings, priorities of tasks and costs are not looked at, and groups in groups
//! are groups beside each other.

mod target;

use crate::family::Family;
use crate::groups::{GroupQueues, Order};
use crate::honours::Honours;
use crate::registry::Scheduler;
use alloc::vec::Vec;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{
    Admission, Change, Completion, Decision, Description, Elevator, Flags, Handover, Instant,
    Merge, Qos, Request, RequestId, Span, Why, dense,
};
use target::{Missed, Window};

/// A group that sends metadata while it is held back waits so long between its other requests at
/// first, and twice as long each time.
const DELAY_MIN: Span = Span::from_ms(1);

/// How it is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IolatencyParams {
    /// For how long latencies are collected before they are judged.
    pub window: Span,
    /// Without a head, a target is missed if more than so many of a hundred requests take longer.
    /// With one, if they do on average.
    pub missed_percent: u32,
    /// So many requests a group that is held back gets back at a time.
    pub recovery_requests: u32,
    /// With so many it is held back no longer.
    pub depth_max: u32,
    /// The longest wait between requests.
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

    fn honours(&self) -> Honours {
        Honours { latency_targets: true, ..Honours::NONE }
    }

    fn build(&self) -> Scheduler {
        Scheduler::Iolatency(Iolatency::new(*self))
    }
}

/// A group.
#[derive(Clone, Copy, Debug)]
struct Group {
    target: Option<Span>,
    window: Window,
    /// How many of its requests may be on their way.
    depth: u32,
    /// It sent metadata since it was held back.
    owes: bool,
    /// The wait between its requests.
    delay: Span,
    /// The next may go at this time.
    next_at: Instant,
}

/// The elevator.
#[derive(Debug)]
pub struct Iolatency {
    params: IolatencyParams,
    /// What is held back. Requests that are let go count as in flight here.
    queues: GroupQueues,
    groups: Vec<Group>,
    /// Groups of which something is held back, by when it came.
    held: Order<Instant>,
    /// Those of them that wait for a time.
    delayed: Order<Instant>,
    links: Lists<()>,
    /// What was let go and is not at the device.
    line: List,
    /// By slot: when the request was let go, and whether it is in line.
    let_go: Vec<(Instant, bool)>,
    rotational: bool,
    /// The group for which others are held back.
    victim: Option<u32>,
    /// When depths were changed last.
    scaled: Instant,
}

impl Iolatency {
    /// An empty elevator.
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

    /// Lets go what the group may have on its way.
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

    /// Groups with a looser target than `target` may have half as many requests on their way as
    /// they have now.
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

    /// All groups get a little back.
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

    /// A request of the group took so long: is it time to judge?
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

    /// Whether a group with this target goes before the one for which others are held back.
    fn is_tighter(&self, target: Span) -> bool {
        let victim = self.victim.and_then(|victim| self.groups[victim as usize].target);
        victim.is_none_or(|victim| target < victim)
    }

    /// Whether the group wants nothing any more, or nothing special.
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

    /// Another group may have had this number.
    fn begin(&mut self, now: Instant, group: u32) {
        let fresh = self.fresh();
        *self.group(group) = fresh;
        self.release(now, group);
    }

    /// Lets go what was delayed until now.
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

    fn describe(&self) -> Description {
        Description::new(IolatencyParams::NAME, Handover::Single)
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        self.queues.merged(request, how);
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
}
