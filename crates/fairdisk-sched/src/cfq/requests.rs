//! The requests that CFQ knows, and the FIFO of a queue's pending ones.

use super::queue::NIL;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use fairdisk_core::tree::Forest;
use fairdisk_core::{Flags, Instant, Lba, Request, dense};

/// CFQ's record of a request, from arrival to completion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rq {
    pub(crate) start: Lba,
    pub(crate) end: Lba,
    pub(crate) arrived: Instant,
    pub(crate) queue: u32,
    /// The context of the request's task.
    pub(crate) context: u32,
    older: u32,
    younger: u32,
    pub(crate) sync: bool,
    pub(crate) flags: Flags,
}

impl Rq {
    /// Whether the request is for file-system metadata.
    pub(crate) const fn meta(&self) -> bool {
        self.flags.contains(Flags::META)
    }

    const FREE: Self = Self {
        start: Lba(0),
        end: Lba(0),
        arrived: Instant::ZERO,
        queue: NIL,
        context: NIL,
        older: NIL,
        younger: NIL,
        sync: false,
        flags: Flags::NONE,
    };
}

/// Requests in order of arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fifo {
    pub(crate) oldest: u32,
    youngest: u32,
}

impl Fifo {
    pub(crate) const EMPTY: Self = Self { oldest: NIL, youngest: NIL };
}

/// All requests, indexed by slot.
#[derive(Debug)]
pub(crate) struct Requests {
    pub(super) slots: Vec<Rq>,
    /// The nodes of all queues' trees of pending requests by position.
    pub(super) sort: Forest<u64>,
}

impl Requests {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), sort: Forest::new() }
    }

    /// Records `request`, which arrived in `queue`.
    #[inline(always)]
    pub(crate) fn insert(&mut self, request: &Request, queue: u32, context: u32) {
        let slot = dense::entry(&mut self.slots, request.id.0, || Rq::FREE);
        *slot = Rq {
            start: request.start,
            end: request.end(),
            arrived: request.arrived,
            queue,
            context,
            older: NIL,
            younger: NIL,
            sync: request.sync,
            flags: request.flags,
        };
    }

    /// Updates the record with what a merge has changed.
    pub(crate) fn update(&mut self, request: &Request) {
        let rq = &mut self[request.id.0];
        (rq.start, rq.end, rq.arrived) = (request.start, request.end(), request.arrived);
    }

    /// The record of a request, if it is known.
    pub(crate) fn get(&self, at: u32) -> Option<&Rq> {
        self.slots.get(at as usize).filter(|rq| rq.queue != NIL)
    }

    /// Removes and returns the record of a request, which must be known.
    #[inline]
    pub(crate) fn take(&mut self, at: u32) -> Rq {
        let rq = &mut self[at];
        assert!(rq.queue != NIL, "request {at} is not known");
        let taken = *rq;
        rq.queue = NIL;
        taken
    }

    /// Appends `at` to `fifo` as the youngest.
    #[inline]
    pub(crate) fn append(&mut self, fifo: &mut Fifo, at: u32) {
        self.link(fifo, fifo.youngest, at);
    }

    /// Inserts `at` right after `older`, or as the oldest if that is `NIL`.
    fn link(&mut self, fifo: &mut Fifo, older: u32, at: u32) {
        let younger = if older == NIL { fifo.oldest } else { self[older].younger };
        (self[at].older, self[at].younger) = (older, younger);
        *self.younger_of(fifo, older) = at;
        *self.older_of(fifo, younger) = at;
    }

    pub(crate) fn unlink(&mut self, fifo: &mut Fifo, at: u32) {
        let Rq { older, younger, .. } = self[at];
        *self.younger_of(fifo, older) = younger;
        *self.older_of(fifo, younger) = older;
    }

    fn younger_of<'a>(&'a mut self, fifo: &'a mut Fifo, at: u32) -> &'a mut u32 {
        if at == NIL { &mut fifo.oldest } else { &mut self[at].younger }
    }

    fn older_of<'a>(&'a mut self, fifo: &'a mut Fifo, at: u32) -> &'a mut u32 {
        if at == NIL { &mut fifo.youngest } else { &mut self[at].older }
    }

    /// Moves `at` forward to the place of a request that arrived at `arrived`.
    pub(crate) fn move_up(&mut self, fifo: &mut Fifo, at: u32, arrived: Instant) {
        let mut older = self[at].older;
        while older != NIL && self[older].arrived > arrived {
            older = self[older].older;
        }
        self.unlink(fifo, at);
        self.link(fifo, older, at);
    }
}

impl Index<u32> for Requests {
    type Output = Rq;
    #[inline]
    fn index(&self, at: u32) -> &Rq {
        &self.slots[at as usize]
    }
}

impl IndexMut<u32> for Requests {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Rq {
        &mut self.slots[at as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::request;
    use alloc::vec::Vec;
    use fairdisk_core::Op;

    fn fifo_of(arrivals: &[u64]) -> (Requests, Fifo) {
        let (mut requests, mut fifo) = (Requests::new(), Fifo::EMPTY);
        for (at, arrived) in arrivals.iter().enumerate() {
            let request = request(at as u32, 0, Op::Read, Instant::from_ns(*arrived));
            requests.insert(&request, 0, 0);
            requests.append(&mut fifo, at as u32);
        }
        (requests, fifo)
    }

    fn order(requests: &Requests, fifo: Fifo) -> Vec<u32> {
        let known = |at: u32| Some(at).filter(|at| *at != NIL);
        core::iter::successors(known(fifo.oldest), |at| known(requests[*at].younger)).collect()
    }

    #[test]
    fn the_oldest_comes_first() {
        let (mut requests, mut fifo) = fifo_of(&[1, 2, 3, 4]);
        requests.unlink(&mut fifo, 2);
        assert_eq!(order(&requests, fifo), [0, 1, 3]);
        requests.unlink(&mut fifo, 3);
        requests.append(&mut fifo, 2);
        requests.unlink(&mut fifo, 0);
        assert_eq!(order(&requests, fifo), [1, 2]);
    }

    #[test]
    fn one_that_took_over_an_older_one_moves_up_to_its_place() {
        let (mut requests, mut fifo) = fifo_of(&[10, 20, 30, 40]);
        requests.move_up(&mut fifo, 3, Instant::from_ns(15));
        assert_eq!(order(&requests, fifo), [0, 3, 1, 2]);
        requests.move_up(&mut fifo, 2, Instant::ZERO);
        assert_eq!(order(&requests, fifo), [2, 0, 3, 1]);
    }
}
