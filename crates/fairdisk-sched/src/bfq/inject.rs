//! Injection: while a queue that seeks is waited for on flash, which does more of it at once, the
//! device gets a few requests of other queues (d0edc2473be9).
//!
//! The description says "in a controlled way" and no more. Here at most four requests of others are
//! at the device, oldest queues first, and each is charged to its own queue.

use super::Bfq;
use super::turn::Turn;
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{Decision, Instant, RequestId, Why};

/// The most requests of others at the device while a queue is waited for.
const OTHERS_MAX: u32 = 4;

/// The queues that have pending requests, by the time since when they have some.
#[derive(Debug)]
pub(super) struct Backlog {
    /// Whether they are kept in order.
    on: bool,
    queues: Tree,
    since: Forest<Instant>,
}

impl Backlog {
    pub(super) const fn new(on: bool) -> Self {
        Self { on, queues: Tree::new(), since: Forest::new() }
    }

    /// Adds a queue that has got its first pending request.
    pub(super) fn add(&mut self, queue: u32, now: Instant) {
        if self.on && !self.since.contains(queue) {
            self.since.insert(&mut self.queues, queue, now);
        }
    }

    /// Removes a queue that has no pending request any more.
    pub(super) fn remove(&mut self, queue: u32) {
        if self.since.contains(queue) {
            self.since.remove(&mut self.queues, queue);
        }
    }
}

impl Bfq {
    /// Hands over a request of another queue than the one in service, which has nothing pending and
    /// is waited for; `None` if the device is to stay idle or has enough of others.
    pub(super) fn inject(&mut self, turn: Turn) -> Option<Decision> {
        let q = &self.queues[turn.queue];
        let is_fast = self.params.switches.injection && !self.rotational && self.depth > 1;
        let context = self.tasks.get(q.context).filter(|_| is_fast)?;
        let seeks = context.seek.is_valid() && context.seek.seeks();
        if !seeks || self.params.strict_guarantees || self.outstanding - q.dispatched >= OTHERS_MAX
        {
            return None;
        }
        let other = self.backlog.since.first(&self.backlog.queues)?;
        let index = self.queues[other].pending.next;
        let cost = self.cost(other, self.sectors(index));
        self.hand_over(index, cost);
        self.schedule.charge(self.queues[other].entity, cost);
        self.settle(other);
        Some(Decision::Dispatch(RequestId(index), Why::Injected))
    }
}
