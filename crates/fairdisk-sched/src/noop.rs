//! First come, first served: for devices that need no ordering, and as the baseline against which
//! other elevators are measured.

use crate::at_device::AtDevice;
use crate::family::Family;
use crate::honours::Honours;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{
    Admission, Completion, Decision, Description, Driving, Elevator, GroupId, Handover, Instant,
    Request, RequestId, TaskId, Why,
};

/// There is nothing to set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoopParams;

impl Family for NoopParams {
    const NAME: &'static str = "noop";
    type Scheduler = Noop;

    fn honours(&self) -> Honours {
        Honours::NONE
    }

    fn build(&self) -> Noop {
        Noop::new()
    }
}

/// The first-come-first-served elevator.
#[derive(Debug, Default)]
pub struct Noop {
    links: Lists<()>,
    queue: List,
    at_device: AtDevice,
}

impl Noop {
    /// An elevator with nothing queued.
    #[must_use]
    pub const fn new() -> Self {
        Self { links: Lists::new(), queue: List::new(), at_device: AtDevice::NONE }
    }

    fn take_first(&mut self) -> Option<RequestId> {
        let first = self.queue.first()?;
        self.links.remove(&mut self.queue, first);
        Some(RequestId(first))
    }
}

impl Elevator for Noop {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        self.links.insert(&mut self.queue, request.id.0, ());
        Admission::Queued
    }

    fn decide(&mut self, _now: Instant) -> Decision {
        let next = self.take_first();
        self.at_device.decide(next.map(|id| (id, Why::ArrivedFirst)))
    }

    fn complete(&mut self, _now: Instant, _completion: &Completion) {
        self.at_device.complete();
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        self.links.remove(&mut self.queue, id.0);
    }

    fn drain(&mut self, _now: Instant) -> Option<RequestId> {
        self.take_first()
    }

    fn describe(&self) -> Description {
        Description {
            overtaken_max: Some(0),
            ..Description::new(NoopParams::NAME, Handover::Single)
        }
    }
}

impl Driving for Noop {
    fn lets_through(&self, _task: TaskId, _group: GroupId) -> bool {
        true
    }
}

fairdisk_core::default_extensions!(Noop: Merging, Hearing, Promising, Reporting, Attaching);
