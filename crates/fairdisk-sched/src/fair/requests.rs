//! The requests: where each is queued, and which request of a queue is next.

use super::NIL;
use super::queue::Queue;
use super::queues::TURNS_MOST;
use crate::groups::Amount;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use fairdisk_core::list::Lists;
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{Flags, Instant, Lba, Op, Request, Span, dense};

/// A request, from its arrival to its completion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rq {
    pub(super) queue: u32,
    pub(super) op: Op,
    pub(super) start: Lba,
    pub(super) end: Lba,
    pub(super) arrived: Instant,
    /// The number of bios it carries.
    pub(super) bios: u32,
    /// Whether the device may acknowledge it before it has done it: a write that need not be
    /// durable by then.
    pub(super) may_be_cached: bool,
    /// Whether it is queued and another group waits for it.
    pub(super) is_awaited: bool,
    pub(super) dispatched: Dispatched,
}

/// How a request was dispatched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispatched {
    /// When, on a device that serves several requests at once.
    pub(super) at: Instant,
    /// What it was charged.
    pub(super) charged: Span,
    /// Whether its task had the device to itself, so that it is charged when it completes.
    pub(super) is_alone: bool,
    /// Whether the device programs a page for it meanwhile, which does not keep it busy.
    pub(super) is_programmed: bool,
    /// Whether it counts as one of `Cache::reads`.
    pub(super) is_counted: bool,
    /// Whether it followed a request of the same queue at the device.
    pub(super) follows: bool,
    /// Whether it reads on from where the queue's previous request ended.
    pub(super) continues_queue: bool,
    /// Whether it was served for its group's floor.
    pub(super) for_floor: bool,
    /// Whether it counts towards ceilings until it completes.
    pub(super) is_held: bool,
}

impl Dispatched {
    const NOT: Self = Self {
        at: Instant::ZERO,
        charged: Span::ZERO,
        is_alone: false,
        is_programmed: false,
        is_counted: false,
        follows: false,
        continues_queue: false,
        for_floor: false,
        is_held: false,
    };
}

impl Rq {
    pub(super) const FREE: Self = Self {
        queue: NIL,
        op: Op::Read,
        start: Lba(0),
        end: Lba(0),
        arrived: Instant::ZERO,
        bios: 0,
        may_be_cached: false,
        is_awaited: false,
        dispatched: Dispatched::NOT,
    };

    pub(super) const fn bytes(&self) -> u64 {
        (self.end.0 - self.start.0) * fairdisk_core::SECTOR_BYTES
    }

    /// How much of the device it keeps busy while it is there, where several requests are served at
    /// once.
    pub(super) const fn work(&self) -> Span {
        if self.dispatched.is_programmed { Span::ZERO } else { self.dispatched.charged }
    }

    /// Whether it writes something that is durable when it completes.
    pub(super) const fn is_durable(&self) -> bool {
        self.op.is_write() && !self.may_be_cached
    }

    /// What it counts towards floors and ceilings; each bio is one I/O, or several if it is long.
    pub(super) const fn amount(&self) -> Amount {
        Amount::new(self.op, self.bios as u64, self.bytes())
    }
}

/// All requests, by slot.
#[derive(Debug)]
pub(super) struct Requests {
    slots: Vec<Rq>,
    positions: Forest<u64>,
    /// Synchronous requests of each group on a disk with a head.
    places: Forest<u64>,
    ages: Lists<Instant>,
}

impl Requests {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            positions: Forest::new(),
            places: Forest::new(),
            ages: Lists::new(),
        }
    }

    /// Adds a new request to its queue.
    #[inline]
    pub(super) fn insert(&mut self, request: &Request, at: u32, queue: &mut Queue) {
        let slot = dense::entry(&mut self.slots, request.id.0, || Rq::FREE);
        *slot = Rq {
            queue: at,
            op: request.op,
            start: request.start,
            end: request.end(),
            arrived: request.arrived,
            may_be_cached: request.op.is_write() && !request.flags.contains(Flags::FUA),
            bios: 1,
            ..Rq::FREE
        };
        self.positions.insert(&mut queue.queued.by_position, request.id.0, request.start.0);
        self.ages.insert(&mut queue.queued.by_age, request.id.0, request.arrived);
        queue.waiting += 1;
    }

    /// Notes where a queued request of the group begins, whichever its queue.
    pub(super) fn place(&mut self, at: u32, group: &mut Tree) {
        self.places.insert(group, at, self.slots[at as usize].start.0);
    }

    /// The next request of the group that begins at this place or a little after it.
    pub(super) fn next_near(&self, group: &Tree, place: Lba) -> Option<u32> {
        let at = self.places.lower_bound(group, place.0)?;
        TURNS_MOST.is_near(place, Lba(self.places.key(at))).then_some(at)
    }

    /// The first request of the group that begins a little before this place, or at it.
    pub(super) fn first_near(&self, group: &Tree, place: Lba) -> Option<u32> {
        let from = place.0.saturating_sub(TURNS_MOST.near.0.into());
        let at = self.places.lower_bound(group, from)?;
        (self.places.key(at) <= place.0).then_some(at)
    }

    /// Forgets where a request of the group begins, which is queued no more.
    pub(super) fn unplace(&mut self, at: u32, group: &mut Tree) {
        if self.places.contains(at) {
            self.places.remove(group, at);
        }
    }

    /// Removes a queued request from its queue.
    #[inline]
    pub(super) fn remove(&mut self, at: u32, queue: &mut Queue) {
        self.positions.remove(&mut queue.queued.by_position, at);
        self.ages.remove(&mut queue.queued.by_age, at);
        queue.waiting -= 1;
    }

    /// Removes a request and returns it.
    pub(super) fn forget(&mut self, at: u32) -> Rq {
        let rq = self[at];
        // The rest of the slot stays readable: its bios are needed if another request has absorbed
        // it.
        self[at].queue = NIL;
        rq
    }

    /// All requests.
    pub(super) fn all(&self) -> impl Iterator<Item = &Rq> {
        self.slots.iter().filter(|rq| rq.queue != NIL)
    }

    /// The request in slot `at`, if there is one.
    pub(super) fn get(&self, at: u32) -> Option<&Rq> {
        self.slots.get(at as usize).filter(|rq| rq.queue != NIL)
    }

    /// The oldest request of a queue that has requests, and when it arrived.
    #[inline]
    pub(super) fn oldest(&self, queue: &Queue) -> (u32, Instant) {
        let oldest = queue.queued.by_age.first().expect("it has requests");
        (oldest, self.ages.key(oldest))
    }

    /// The next request of a queue that has requests. With `expire`, which is set on a disk with a
    /// head, it is the next by position unless the oldest has waited for that long; else the
    /// oldest.
    #[inline]
    pub(super) fn next(&self, now: Instant, queue: &Queue, expire: Option<Span>) -> u32 {
        let (oldest, arrived) = self.oldest(queue);
        match expire {
            _ if queue.waiting == 1 => oldest,
            Some(expire) if now.since(arrived) < expire => {
                let ahead =
                    self.positions.lower_bound(&queue.queued.by_position, queue.track.position.0);
                ahead.or_else(|| self.positions.first(&queue.queued.by_position)).unwrap_or(oldest)
            }
            _ => oldest,
        }
    }

    /// Updates a queued request that has grown by a merge.
    pub(super) fn grown(
        &mut self,
        request: &Request,
        bios: u32,
        queue: &mut Queue,
        by_place: &mut Tree,
    ) {
        let at = request.id.0;
        let rq = &mut self[at];
        let moved = rq.start != request.start;
        (rq.start, rq.end) = (request.start, request.end());
        rq.bios += bios;
        if moved {
            self.positions.set_key(&mut queue.queued.by_position, at, request.start.0);
            if self.places.contains(at) {
                self.places.set_key(by_place, at, request.start.0);
            }
        }
        if request.arrived < self.ages.key(at) {
            self.ages.remove(&mut queue.queued.by_age, at);
            self.ages.insert(&mut queue.queued.by_age, at, request.arrived);
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
