//! A queue for each group, first come, first served, and what is known of every request until it
//! is done.

use alloc::vec::Vec;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{Decision, Request, RequestId, Why};

#[derive(Clone, Debug, Default)]
struct Queue {
    list: List,
    queued: u32,
    in_flight: u32,
}

/// The queues of all groups.
#[derive(Debug, Default)]
pub(crate) struct GroupQueues {
    links: Lists<()>,
    groups: Vec<Queue>,
    /// By slot; holds what was there once, too.
    requests: Vec<Request>,
    queued: u32,
    in_flight: u32,
}

impl GroupQueues {
    /// No group.
    pub(crate) const fn new() -> Self {
        Self {
            links: Lists::new(),
            groups: Vec::new(),
            requests: Vec::new(),
            queued: 0,
            in_flight: 0,
        }
    }

    /// Makes sure that the group exists.
    pub(crate) fn make(&mut self, group: u32) {
        if group as usize >= self.groups.len() {
            self.groups.resize(group as usize + 1, Queue::default());
        }
    }

    /// A request that arrived, at the end of its group's queue.
    pub(crate) fn push(&mut self, request: &Request) {
        self.make(request.group.0);
        self.know(request);
        let queue = &mut self.groups[request.group.0 as usize];
        self.links.insert(&mut queue.list, request.id.0, ());
        queue.queued += 1;
        self.queued += 1;
    }

    /// A queued request grew.
    pub(crate) fn know(&mut self, request: &Request) {
        match self.requests.get_mut(request.id.0 as usize) {
            Some(known) => *known = *request,
            None => self.requests.resize(request.id.0 as usize + 1, *request),
        }
    }

    /// The first request of the group.
    pub(crate) fn first(&self, group: u32) -> Option<&Request> {
        let first = self.groups.get(group as usize)?.list.first()?;
        Some(&self.requests[first as usize])
    }

    /// Takes the group's first request, which goes to the device.
    pub(crate) fn dispatch(&mut self, group: u32) -> Option<Request> {
        let request = self.first(group).copied()?;
        self.remove(request.id);
        let queue = &mut self.groups[group as usize];
        queue.in_flight += 1;
        self.in_flight += 1;
        Some(request)
    }

    /// Takes a queued request out; the device does not get it from here.
    pub(crate) fn remove(&mut self, id: RequestId) -> Request {
        let request = self.requests[id.0 as usize];
        let queue = &mut self.groups[request.group.0 as usize];
        self.links.remove(&mut queue.list, id.0);
        queue.queued -= 1;
        self.queued -= 1;
        request
    }

    /// A request of the device is done.
    pub(crate) fn complete(&mut self, id: RequestId) -> Request {
        let request = self.requests[id.0 as usize];
        debug_assert!(self.in_flight > 0, "more requests finished than were dispatched");
        self.groups[request.group.0 as usize].in_flight -= 1;
        self.in_flight -= 1;
        request
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
