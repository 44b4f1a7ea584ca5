//! A queue: what one task has queued for one group, or what a group writes that nobody waits for.

use super::mean::Mean;
use super::stream::Streak;
use fairdisk_core::list::List;
use fairdisk_core::tree::Tree;
use fairdisk_core::{Instant, IoClass, IoPrio, Lba, Span, TaskId};

/// Classes of tasks in a group; a lower number goes first.
pub(super) const CLASSES: usize = IoClass::RANKS;

/// A queue.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) group: u32,
    /// `None` for the asynchronous writes of the group.
    pub(super) task: Option<TaskId>,
    pub(super) ioprio: IoPrio,
    /// Service it has had by its level, in the time of its class.
    pub(super) start: u64,
    pub(super) in_line: bool,
    pub(super) by_position: Tree,
    pub(super) by_age: List,
    pub(super) waiting: u32,
    pub(super) in_flight: u32,
    /// Where the request ended that was dispatched last.
    pub(super) position: Lba,
    /// How far its reads continue each other.
    pub(super) streak: Streak,
    /// When the last of its requests completed, if one has.
    pub(super) quiet_since: Option<Instant>,
    /// From then to its next request.
    pub(super) think: Mean,
    /// What a request takes.
    pub(super) service: Mean,
    /// What a request takes that follows one of the same queue.
    pub(super) following: Mean,
    /// Nobody will add to it.
    pub(super) orphan: bool,
}

impl Queue {
    pub(super) fn new(group: u32, task: Option<TaskId>, ioprio: IoPrio) -> Self {
        Self {
            group,
            task,
            ioprio,
            start: 0,
            in_line: false,
            by_position: Tree::new(),
            by_age: List::new(),
            waiting: 0,
            in_flight: 0,
            position: Lba(0),
            streak: Streak::default(),
            quiet_since: None,
            think: Mean::default(),
            service: Mean::default(),
            following: Mean::default(),
            orphan: false,
        }
    }

    /// Its class in the group; what is asynchronous is ordinary.
    pub(super) const fn class(&self) -> usize {
        self.ioprio.class.rank()
    }

    /// Its weight in the class: 8 at level 0, 1 at level 7.
    const fn weight(&self) -> u64 {
        let level = self.ioprio.level as u64;
        if level < 7 { 8 - level } else { 1 }
    }

    /// Adds what it used to its start, for which it was charged something before.
    pub(super) const fn charge(&mut self, charged: Span, cost: Span) {
        let start = self.start.saturating_add(cost.as_ns() / self.weight());
        self.start = start.saturating_sub(charged.as_ns() / self.weight());
    }

    /// Whether it has neither requests queued nor at the device.
    pub(super) const fn is_quiet(&self) -> bool {
        self.waiting == 0 && self.in_flight == 0
    }
}
