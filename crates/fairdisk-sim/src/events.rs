//! The event queue: a total order by time, then by the order of scheduling.

use fairdisk_core::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Events of kind `T` at their times; equal times come out first in, first out.
#[derive(Debug)]
pub(crate) struct Events<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    serial: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    at: Instant,
    serial: u64,
    event: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.serial) == (other.at, other.serial)
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.serial).cmp(&(other.at, other.serial))
    }
}

impl<T> Events<T> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), serial: 0 }
    }

    pub(crate) fn push(&mut self, at: Instant, event: T) {
        self.serial += 1;
        self.heap.push(Reverse(Entry { at, serial: self.serial, event }));
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|entry| entry.0.at)
    }

    /// The first event due at `now`.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<T> {
        if self.next_at()? > now {
            return None;
        }
        self.heap.pop().map(|entry| entry.0.event)
    }
}
