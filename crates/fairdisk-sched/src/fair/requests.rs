//! Requests: where each is queued, and which of a queue is next.

use super::NIL;
use super::queue::Queue;
use crate::groups::Amount;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use fairdisk_core::list::Lists;
use fairdisk_core::tree::Forest;
use fairdisk_core::{Instant, Lba, Op, Request, Span, dense};

/// A request from its arrival to its completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rq {
    pub(super) queue: u32,
    pub(super) op: Op,
    pub(super) start: Lba,
    pub(super) end: Lba,
    pub(super) arrived: Instant,
    /// When it was handed over, where several are at the device at once.
    pub(super) dispatched: Instant,
    /// How many bios it carries.
    pub(super) bios: u32,
    /// What it was charged when it was dispatched.
    pub(super) charged: Span,
    /// It is one of the reads that are counted at the device.
    pub(super) is_counted: bool,
    /// It followed a request of the same queue.
    pub(super) follows: bool,
    /// It goes on where its queue's last request ended.
    pub(super) continues_queue: bool,
    /// It went for its group's floor.
    pub(super) for_floor: bool,
    /// It counts for ceilings until it is done.
    pub(super) is_held: bool,
}

impl Rq {
    const FREE: Self = Self {
        queue: NIL,
        op: Op::Read,
        start: Lba(0),
        end: Lba(0),
        arrived: Instant::ZERO,
        dispatched: Instant::ZERO,
        bios: 0,
        charged: Span::ZERO,
        is_counted: false,
        follows: false,
        continues_queue: false,
        for_floor: false,
        is_held: false,
    };

    pub(super) const fn bytes(&self) -> u64 {
        (self.end.0 - self.start.0) * fairdisk_core::SECTOR_BYTES
    }

    /// What it is of what its group asked for: a bio is an I/O.
    pub(super) const fn amount(&self) -> Amount {
        Amount { ios: self.bios as u64, bytes: self.bytes() }
    }
}

/// All requests by slot.
#[derive(Debug)]
pub(super) struct Requests {
    slots: Vec<Rq>,
    positions: Forest<u64>,
    ages: Lists<Instant>,
}

impl Requests {
    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), positions: Forest::new(), ages: Lists::new() }
    }

    /// Puts a request that arrived into its queue.
    #[inline]
    pub(super) fn insert(&mut self, request: &Request, at: u32, queue: &mut Queue) {
        let slot = dense::entry(&mut self.slots, request.id.0, || Rq::FREE);
        *slot = Rq {
            queue: at,
            op: request.op,
            start: request.start,
            end: request.end(),
            arrived: request.arrived,
            bios: 1,
            ..Rq::FREE
        };
        self.positions.insert(&mut queue.by_position, request.id.0, request.start.0);
        self.ages.insert(&mut queue.by_age, request.id.0, request.arrived);
        queue.waiting += 1;
    }

    /// Takes a queued request out of its queue.
    #[inline]
    pub(super) fn remove(&mut self, at: u32, queue: &mut Queue) {
        self.positions.remove(&mut queue.by_position, at);
        self.ages.remove(&mut queue.by_age, at);
        queue.waiting -= 1;
    }

    /// The request is gone.
    pub(super) fn forget(&mut self, at: u32) -> Rq {
        let rq = self[at];
        // What it carried is asked for when another has absorbed it.
        self[at].queue = NIL;
        rq
    }

    /// The request, if it is known.
    pub(super) fn get(&self, at: u32) -> Option<&Rq> {
        self.slots.get(at as usize).filter(|rq| rq.queue != NIL)
    }

    /// The request of the queue, which has some, that came first, and when.
    #[inline]
    pub(super) fn oldest(&self, queue: &Queue) -> (u32, Instant) {
        let oldest = queue.by_age.first().expect("it has requests");
        (oldest, self.ages.key(oldest))
    }

    /// The request of the queue, which has some, that is next: the oldest, or on a disk with a head
    /// the one ahead of it, unless the oldest has waited for `expire`.
    #[inline]
    pub(super) fn next(&self, now: Instant, queue: &Queue, expire: Option<Span>) -> u32 {
        let (oldest, arrived) = self.oldest(queue);
        match expire {
            Some(expire) if queue.waiting > 1 && now.since(arrived) < expire => {
                let ahead = self.positions.lower_bound(&queue.by_position, queue.position.0);
                ahead.or_else(|| self.positions.first(&queue.by_position)).unwrap_or(oldest)
            }
            _ => oldest,
        }
    }

    /// A queued request grew to what it is now.
    pub(super) fn grown(&mut self, request: &Request, bios: u32, queue: &mut Queue) {
        let at = request.id.0;
        let rq = &mut self[at];
        let moved = rq.start != request.start;
        (rq.start, rq.end) = (request.start, request.end());
        rq.bios += bios;
        if moved {
            self.positions.set_key(&mut queue.by_position, at, request.start.0);
        }
        if request.arrived < self.ages.key(at) {
            self.ages.remove(&mut queue.by_age, at);
            self.ages.insert(&mut queue.by_age, at, request.arrived);
        }
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
