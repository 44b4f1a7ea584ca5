//! Requests in the order in which tasks asked for them.
//!
//! Recordings have them in the order in which they were done, and some public traces are not sorted
//! at all. Within a window they are put in order; one that comes later than that stays where it is.

use crate::about::About;
use crate::error::TraceError;
use crate::origins::Origins;
use crate::request::Request;
use crate::source::Source;
use fairdisk_core::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The requests among which the next one is searched for: more than any device has at once.
const WINDOW: usize = 1 << 16;

/// A source in order.
#[derive(Debug)]
pub(crate) struct Sorted<S> {
    source: S,
    /// By the time and the order of arrival, an index into `slots`.
    heap: BinaryHeap<Reverse<(Instant, u64, u32)>>,
    slots: Vec<Request>,
    free: Vec<u32>,
    count: u64,
    is_at_end: bool,
}

impl<S: Source> Sorted<S> {
    pub(crate) fn new(source: S) -> Self {
        let (heap, slots, free) = (BinaryHeap::new(), Vec::new(), Vec::new());
        Self { source, heap, slots, free, count: 0, is_at_end: false }
    }

    fn put(&mut self, request: Request) {
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = request,
            None => self.slots.push(request),
        }
        self.count += 1;
        self.heap.push(Reverse((request.queued, self.count, slot)));
    }
}

impl<S: Source> Source for Sorted<S> {
    fn next(&mut self) -> Result<Option<Request>, TraceError> {
        while !self.is_at_end && self.heap.len() < WINDOW {
            match self.source.next()? {
                Some(request) => self.put(request),
                None => self.is_at_end = true,
            }
        }
        let Some(Reverse((.., slot))) = self.heap.pop() else { return Ok(None) };
        self.free.push(slot);
        Ok(Some(self.slots[slot as usize]))
    }

    fn origins(&self) -> &Origins {
        self.source.origins()
    }

    fn about(&self) -> About {
        self.source.about()
    }

    fn lost(&self) -> u64 {
        self.source.lost()
    }
}
