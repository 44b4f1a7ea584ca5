//! A FIFO queue per group, and a record of every request until it completes.

use super::Amount;
use alloc::vec::Vec;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{Decision, Flags, Lba, Merge, Request, RequestId, Why, dense};

#[derive(Clone, Debug, Default)]
struct Queue {
    /// Requests that are served before the others.
    urgent: List,
    list: List,
    queued: u32,
    in_flight: u32,
    /// The end of the group's last dispatched request.
    end: Lba,
}

/// A known request and the number of bios it carries.
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
    /// Indexed by request slot; free slots keep stale records.
    requests: Vec<Known>,
    in_flight: u32,
    /// Requests with this hint are served before the others of their group.
    urgent: Option<Flags>,
}

impl GroupQueues {
    /// Queues without a group.
    pub(crate) const fn new() -> Self {
        Self {
            links: Lists::new(),
            groups: Vec::new(),
            requests: Vec::new(),
            in_flight: 0,
            urgent: None,
        }
    }

    /// Queues without a group, in which requests with `hint` are served before the others of their
    /// group.
    pub(crate) const fn with_urgent(hint: Flags) -> Self {
        let mut queues = Self::new();
        queues.urgent = Some(hint);
        queues
    }

    /// Whether the request is served before the others of its group.
    pub(crate) fn is_urgent(&self, request: &Request) -> bool {
        self.urgent.is_some_and(|hint| request.flags.contains(hint))
    }

    /// Appends an arriving request to its group's queue.
    pub(crate) fn push(&mut self, request: &Request) {
        self.know(request, 1);
        let is_urgent = self.is_urgent(request);
        let queue = dense::entry(&mut self.groups, request.group.0, Queue::default);
        let list = if is_urgent { &mut queue.urgent } else { &mut queue.list };
        self.links.insert(list, request.id.0, ());
        queue.queued += 1;
    }

    /// Updates the record of a queued request after a merge.
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

    /// The amount of I/O of the request in slot `id`, as its group submitted it: each bio counts as
    /// one I/O, or as several if it is long.
    pub(crate) fn amount(&self, id: RequestId) -> Amount {
        let Known { request, bios } = &self.requests[id.0 as usize];
        Amount::new(request.op, u64::from(*bios), request.sectors.bytes())
    }

    /// The request in slot `id`, which must be queued or in flight.
    pub(crate) fn request(&self, id: RequestId) -> &Request {
        &self.requests[id.0 as usize].request
    }

    /// The next request of the group.
    pub(crate) fn first(&self, group: u32) -> Option<&Request> {
        let queue = self.groups.get(group as usize)?;
        let first = queue.urgent.first().or_else(|| queue.list.first())?;
        Some(&self.requests[first as usize].request)
    }

    /// Whether the request starts where the group's last dispatched request ended.
    pub(crate) fn is_sequential(&self, request: &Request) -> bool {
        self.groups[request.group.0 as usize].end == request.start
    }

    /// Removes the group's next request from the queue and counts it as in flight.
    pub(crate) fn dispatch(&mut self, group: u32) -> Option<Request> {
        let request = self.first(group).copied()?;
        self.remove(request.id);
        let queue = &mut self.groups[group as usize];
        queue.end = request.end();
        queue.in_flight += 1;
        self.in_flight += 1;
        Some(request)
    }

    /// Removes a queued request without dispatching it.
    pub(crate) fn remove(&mut self, id: RequestId) -> Request {
        let request = *self.request(id);
        let is_urgent = self.is_urgent(&request);
        let queue = &mut self.groups[request.group.0 as usize];
        let list = if is_urgent { &mut queue.urgent } else { &mut queue.list };
        self.links.remove(list, id.0);
        queue.queued -= 1;
        request
    }

    /// Counts a dispatched request as completed.
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

    /// Requests of the group that are in flight.
    pub(crate) fn in_flight(&self, group: u32) -> u32 {
        self.groups.get(group as usize).map_or(0, |queue| queue.in_flight)
    }

    /// The decision to return when nothing is queued.
    pub(crate) const fn rest(&self) -> Decision {
        if self.in_flight > 0 {
            Decision::WaitCompletion(Why::NothingQueued)
        } else {
            Decision::Idle
        }
    }
}
