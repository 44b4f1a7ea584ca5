//! The pending requests of a queue: by position, by age, and the one to serve next (spec: cfq,
//! sections 2.6, 2.12, 2.13, 4.12).

use super::choose::{Candidate, is_better};
use super::params::{Quirks, Tunables};
use super::queue::NIL;
use super::requests::{Fifo, Requests};
use fairdisk_core::tree::Tree;
use fairdisk_core::{Instant, Lba};

/// The pending requests of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// Sorted by position.
    sorted: Tree,
    /// Sorted by age.
    fifo: Fifo,
    /// The request to serve next, or `NIL`.
    pub(crate) next: u32,
    /// How many of the requests are for file-system metadata.
    pub(crate) meta: u32,
}

impl Pending {
    /// No requests.
    pub(crate) const fn new() -> Self {
        Self { sorted: Tree::new(), fifo: Fifo::EMPTY, next: NIL, meta: 0 }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub(crate) const fn len(&self) -> u32 {
        self.sorted.len()
    }

    pub(crate) const fn oldest(&self) -> u32 {
        self.fifo.oldest
    }
}

/// The criteria by which the next request is chosen.
#[derive(Clone, Copy)]
pub(crate) struct Choice<'a> {
    /// The end of the last request the driver took.
    pub(crate) head: Lba,
    pub(crate) tunables: &'a Tunables,
}

impl Requests {
    /// The first pending request that starts at `start`.
    pub(crate) fn at_position(&self, pending: &Pending, start: Lba) -> Option<u32> {
        let first = self.sort.lower_bound(&pending.sorted, start.0);
        first.filter(|at| self.sort.key(*at) == start.0)
    }

    /// The request at the position to which a front merge has brought `moved`, if there is another
    /// one.
    pub(crate) fn displaced(&self, pending: &Pending, moved: u32) -> Option<u32> {
        self.at_position(pending, self[moved].start).filter(|at| *at != moved)
    }

    /// Makes a known request pending.
    #[inline]
    pub(crate) fn enqueue(&mut self, pending: &mut Pending, index: u32, by: Choice<'_>) {
        self.sort.insert(&mut pending.sorted, index, self.slots[index as usize].start.0);
        self.append(&mut pending.fifo, index);
        pending.meta += u32::from(self[index].meta());
        pending.next = self.better(pending.next, index, by.head, by.tunables);
    }

    /// Removes a pending request; if it was the next one, its neighbours compete to become the
    /// next.
    #[inline]
    pub(crate) fn dequeue(&mut self, pending: &mut Pending, index: u32, by: Choice<'_>) {
        self.unsort(pending, index, by);
        self.unlink(&mut pending.fifo, index);
        pending.meta -= u32::from(self[index].meta());
    }

    /// Updates the order after a pending request's start has moved.
    pub(crate) fn moved(&mut self, pending: &mut Pending, index: u32, by: Choice<'_>) {
        self.unsort(pending, index, by);
        self.sort.insert(&mut pending.sorted, index, self.slots[index as usize].start.0);
        pending.next = self.better(pending.next, index, by.head, by.tunables);
    }

    /// Updates the order after `index` has absorbed a request that arrived at `arrived`; `was_next`
    /// says whether that one was the next request.
    pub(crate) fn absorbed(
        &mut self,
        pending: &mut Pending,
        index: u32,
        arrived: Instant,
        was_next: bool,
        quirks: Quirks,
    ) {
        if !quirks.q4_no_fifo_inheritance {
            self.move_up(&mut pending.fifo, index, arrived);
        }
        // The fix of Q7 also makes the surviving request the next one (spec: cfq, section 4.12).
        if !quirks.q7_reference_is_driver && was_next {
            pending.next = index;
        }
    }

    /// Removes a request from the order of positions.
    #[inline]
    fn unsort(&mut self, pending: &mut Pending, index: u32, by: Choice<'_>) {
        if pending.next == index {
            pending.next = self.best_neighbour(pending, index, by);
        }
        self.sort.remove(&mut pending.sorted, index);
    }

    /// The better of the two requests adjacent to `index`, or `NIL`.
    #[inline]
    pub(crate) fn best_neighbour(&self, pending: &Pending, index: u32, by: Choice<'_>) -> u32 {
        if pending.len() == 1 { NIL } else { self.better_neighbour(pending, index, by) }
    }

    fn better_neighbour(&self, pending: &Pending, index: u32, by: Choice<'_>) -> u32 {
        let first = || self.sort.first(&pending.sorted).filter(|first| *first != index);
        let follower = self.sort.next(index).or_else(first).unwrap_or(NIL);
        let previous = self.sort.prev(index).unwrap_or(NIL);
        let from_driver = by.tunables.quirks.q7_reference_is_driver;
        let reference = if from_driver { by.head } else { self[index].start };
        self.better(follower, previous, reference, by.tunables)
    }

    /// The better of two requests, each of which may be `NIL`.
    #[inline]
    fn better(&self, first: u32, second: u32, reference: Lba, tunables: &Tunables) -> u32 {
        match (first, second) {
            (NIL, there) | (there, NIL) => there,
            _ => self.better_of_both(first, second, reference, tunables),
        }
    }

    fn better_of_both(&self, first: u32, second: u32, reference: Lba, tunables: &Tunables) -> u32 {
        let candidate = |index| Candidate::from(&self[index]);
        let (one, two) = (candidate(first), candidate(second));
        if is_better(&one, &two, reference, tunables) { first } else { second }
    }
}
