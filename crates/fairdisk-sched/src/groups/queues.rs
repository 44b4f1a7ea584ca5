//! A queue for each group, first come, first served, and what is known of every request until it
//! is done.

use super::Amount;
use alloc::vec::Vec;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{Decision, Flags, Lba, Merge, Request, RequestId, Why, dense};

#[derive(Clone, Debug, Default)]
struct Queue {
    /// Requests that go before the others.
    urgent: List,
    list: List,
    queued: u32,
    in_flight: u32,
    /// Where the request of the group that was taken last ends.
    end: Lba,
}

/// A request, and how many bios it carries.
#[derive(Clone, Copy, Debug)]
struct Known {
    request: Request,
    bios: u32,
}

/// The queues of all groups.
#[derive(Debug)]
pub(crate) struct GroupQueues {
    links: Lists<()>,
    groups: Vec<Queue>,
    /// By slot; holds what was there once, too.
    requests: Vec<Known>,
    in_flight: u32,
    /// Requests with this hint go before the others of their group.
    urgent: Option<Flags>,
}

impl GroupQueues {
    /// No group.
    pub(crate) const fn new() -> Self {
        Self {
            links: Lists::new(),
            groups: Vec::new(),
            requests: Vec::new(),
            in_flight: 0,
            urgent: None,
        }
    }

    /// No group; requests with this hint will go before the others of their group.
    pub(crate) const fn with_urgent(hint: Flags) -> Self {
        let mut queues = Self::new();
        queues.urgent = Some(hint);
        queues
    }

    /// Whether the request goes before the others of its group.
    pub(crate) fn is_urgent(&self, request: &Request) -> bool {
        self.urgent.is_some_and(|hint| request.flags.contains(hint))
    }

    /// A request that arrived, at the end of its group's queue.
    pub(crate) fn push(&mut self, request: &Request) {
        self.know(request, 1);
        let is_urgent = self.is_urgent(request);
        let queue = dense::entry(&mut self.groups, request.group.0, Queue::default);
        let list = if is_urgent { &mut queue.urgent } else { &mut queue.list };
        self.links.insert(list, request.id.0, ());
        queue.queued += 1;
    }

    /// A queued request grew.
    pub(crate) fn merged(&mut self, request: &Request, how: Merge) {
        let more = match how {
            Merge::Back | Merge::Front => 1,
            Merge::Absorbed { absorbed, .. } => self.bios(absorbed),
        };
        self.know(request, self.bios(request.id) + more);
    }

    fn know(&mut self, request: &Request, bios: u32) {
        let known = Known { request: *request, bios };
        *dense::entry(&mut self.requests, request.id.0, || known) = known;
    }

    fn bios(&self, id: RequestId) -> u32 {
        self.requests[id.0 as usize].bios
    }

    /// What the request in slot `id` is of what its group asked for: a bio is an I/O.
    pub(crate) fn amount(&self, id: RequestId) -> Amount {
        let Known { request, bios } = &self.requests[id.0 as usize];
        Amount { ios: u64::from(*bios), bytes: request.sectors.bytes() }
    }

    /// The request in slot `id`, queued or in flight.
    pub(crate) fn request(&self, id: RequestId) -> &Request {
        &self.requests[id.0 as usize].request
    }

    /// The first request of the group.
    pub(crate) fn first(&self, group: u32) -> Option<&Request> {
        let queue = self.groups.get(group as usize)?;
        let first = queue.urgent.first().or_else(|| queue.list.first())?;
        Some(&self.requests[first as usize].request)
    }

    /// Whether the request begins where the one before it ended.
    pub(crate) fn is_sequential(&self, request: &Request) -> bool {
        self.groups[request.group.0 as usize].end == request.start
    }

    /// Takes the group's first request, which goes to the device.
    pub(crate) fn dispatch(&mut self, group: u32) -> Option<Request> {
        let request = self.first(group).copied()?;
        self.remove(request.id);
        let queue = &mut self.groups[group as usize];
        queue.end = request.end();
        queue.in_flight += 1;
        self.in_flight += 1;
        Some(request)
    }

    /// Takes a queued request out; the device does not get it from here.
    pub(crate) fn remove(&mut self, id: RequestId) -> Request {
        let request = *self.request(id);
        let is_urgent = self.is_urgent(&request);
        let queue = &mut self.groups[request.group.0 as usize];
        let list = if is_urgent { &mut queue.urgent } else { &mut queue.list };
        self.links.remove(list, id.0);
        queue.queued -= 1;
        request
    }

    /// A request of the device is done.
    pub(crate) fn complete(&mut self, id: RequestId) -> Request {
        let request = *self.request(id);
        debug_assert!(self.in_flight > 0, "more requests finished than were dispatched");
        self.groups[request.group.0 as usize].in_flight -= 1;
        self.in_flight -= 1;
        request
    }

    /// Requests of the group that are queued or in flight.
    pub(crate) fn outstanding(&self, group: u32) -> u32 {
        self.groups.get(group as usize).map_or(0, |queue| queue.queued + queue.in_flight)
    }

    /// Requests of the group in flight.
    pub(crate) fn in_flight(&self, group: u32) -> u32 {
        self.groups.get(group as usize).map_or(0, |queue| queue.in_flight)
    }

    /// The decision where nothing is queued.
    pub(crate) const fn rest(&self) -> Decision {
        if self.in_flight > 0 {
            Decision::WaitCompletion(Why::NothingQueued)
        } else {
            Decision::Idle
        }
    }
}
