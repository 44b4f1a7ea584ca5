//! A layer: one complete CFQ with a service tree of queues, an active queue and shared asynchronous
//! queues. Flat CFQ has one layer, two-layer CFQ has one per group.

use super::context::DecayingMean;
use super::jiffies::Jiffies;
use super::priority::{self, AsyncQueues, PRIORITIES};
use super::queue::NIL;
use super::service::ServiceTree;
use fairdisk_core::{IoClass, Why};

#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) tree: ServiceTree,
    /// Queues with a pending request.
    pub(crate) busy: u32,
    pub(crate) active: u32,
    /// Why the previous active queue lost the disk.
    pub(crate) turn_ended: Why,
    /// Requests dispatched and not completed.
    pub(crate) dispatched: u32,
    /// How long the disk is kept for the layer when it has nothing queued; zero disables it. `None`
    /// leaves the decision to the statistics of the layer's tasks.
    pub(crate) idle: Option<Jiffies>,
    /// How long it takes, once the layer has no requests, until one of its tasks submits one.
    pub(crate) think: DecayingMean,
    /// Since when the layer has had no requests; `None` while it has some.
    pub(crate) emptied: Option<Jiffies>,
    /// Synchronous queues that have requests, queued or dispatched, counted by priority and by
    /// whether the task is not seeky (index 0) or seeky (1). Maintained only if tasks may be served
    /// together.
    present: [[u32; 2]; PRIORITIES],
    pub(crate) async_queues: AsyncQueues,
}

impl Layer {
    pub(crate) const fn new() -> Self {
        Self {
            tree: ServiceTree::new(),
            busy: 0,
            active: NIL,
            turn_ended: Why::QueueEmptied,
            dispatched: 0,
            idle: None,
            think: DecayingMean::new(),
            emptied: None,
            present: [[0; 2]; PRIORITIES],
            async_queues: AsyncQueues::new(NIL),
        }
    }

    /// Counts a completed request.
    pub(crate) const fn completed(&mut self, now: Jiffies) {
        self.dispatched -= 1;
        self.note_empty(now);
    }

    /// Records `now` as the time the layer ran empty, if it has no requests.
    pub(crate) const fn note_empty(&mut self, now: Jiffies) {
        if self.busy == 0 && self.dispatched == 0 {
            self.emptied = Some(now);
        }
    }

    /// Counts a queue that has got its first request. Returns the entry under which it is counted.
    pub(crate) fn enter(&mut self, class: IoClass, level: u8, seeks: bool) -> (u8, bool) {
        let priority = priority::number(class, level);
        self.present[priority][usize::from(seeks)] += 1;
        (priority as u8, seeks)
    }

    /// Removes a queue that has no requests left, counted under the given entry.
    pub(crate) fn leave(&mut self, (priority, seeks): (u8, bool)) {
        self.present[usize::from(priority)][usize::from(seeks)] -= 1;
    }

    /// Whether a queue of a different priority has requests.
    pub(crate) fn has_others(&self, class: IoClass, level: u8) -> bool {
        let own = priority::number(class, level);
        let others = self.present.iter().enumerate().filter(|(at, _)| *at != own);
        others.flat_map(|(_, counts)| counts).any(|count| *count > 0)
    }

    /// Whether a queue of this priority whose task is not seeky has requests.
    pub(crate) fn has_sequential(&self, class: IoClass, level: u8) -> bool {
        self.present[priority::number(class, level)][0] > 0
    }

    /// Detaches all asynchronous queues from the layer and returns them.
    pub(crate) const fn take_async_queues(&mut self) -> [u32; PRIORITIES] {
        core::mem::replace(&mut self.async_queues, AsyncQueues::new(NIL)).all()
    }
}
