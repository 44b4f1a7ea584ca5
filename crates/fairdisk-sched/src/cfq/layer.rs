//! One whole CFQ: a service tree of queues, the active one, and the shared asynchronous queues.
//! The flat scheduler has one layer, two-layer CFQ has one for each group.

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
    /// Why the last active queue lost the disk.
    pub(crate) turn_ended: Why,
    /// Requests handed over and not completed.
    pub(crate) dispatched: u32,
    /// How long the disk is kept for the layer when it has nothing queued, if that is not left to
    /// what its tasks do; zero is not at all.
    pub(crate) idle: Option<Jiffies>,
    /// How long it takes until one of its tasks comes when none has anything.
    pub(crate) think: DecayingMean,
    /// Since when none has anything.
    pub(crate) emptied: Option<Jiffies>,
    /// Synchronous queues with requests, queued or handed over, by priority, those of tasks that do
    /// not seek before those of tasks that do; counted only where tasks may be served together.
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

    /// A request finished.
    pub(crate) const fn completed(&mut self, now: Jiffies) {
        self.dispatched -= 1;
        self.note_empty(now);
    }

    /// If none of its tasks has anything, that is so since `now`.
    pub(crate) const fn note_empty(&mut self, now: Jiffies) {
        if self.busy == 0 && self.dispatched == 0 {
            self.emptied = Some(now);
        }
    }

    /// A queue of this priority, of a task that seeks or not, has requests; gives what it is
    /// counted as.
    pub(crate) fn enter(&mut self, class: IoClass, level: u8, seeks: bool) -> (u8, bool) {
        let priority = priority::number(class, level);
        self.present[priority][usize::from(seeks)] += 1;
        (priority as u8, seeks)
    }

    /// A queue that was counted has none any more.
    pub(crate) fn leave(&mut self, (priority, seeks): (u8, bool)) {
        self.present[usize::from(priority)][usize::from(seeks)] -= 1;
    }

    /// Whether a queue of another priority than this has requests.
    pub(crate) fn has_others(&self, class: IoClass, level: u8) -> bool {
        let own = priority::number(class, level);
        let others = self.present.iter().enumerate().filter(|(at, _)| *at != own);
        others.flat_map(|(_, counts)| counts).any(|count| *count > 0)
    }

    /// Whether a queue of this priority has requests whose task does not seek.
    pub(crate) fn has_sequential(&self, class: IoClass, level: u8) -> bool {
        self.present[priority::number(class, level)][0] > 0
    }

    /// Gives all asynchronous queues up.
    pub(crate) const fn take_async_queues(&mut self) -> [u32; PRIORITIES] {
        core::mem::replace(&mut self.async_queues, AsyncQueues::new(NIL)).all()
    }
}
