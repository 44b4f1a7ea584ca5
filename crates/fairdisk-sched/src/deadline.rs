//! The deadline elevator: batches in sector order, reads before writes, and no request passed over
//! for much longer than its deadline.
//!
//! A *batch* is a run of at most `fifo_batch` requests of one direction in ascending order. After a
//! batch, reads go first if there are any, unless reads have passed waiting writes `writes_starved`
//! times. A batch starts at the oldest request of its direction if that is past its deadline, or if
//! the previous batch was of the other direction; otherwise where the previous batch ended.

use crate::at_device::AtDevice;
use crate::family::Family;
use crate::honours::Honours;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{
    Admission, Bio, Completion, Decision, Description, Elevator, Handover, Instant, Merge, Merging,
    Op, Request, RequestId, Span, Why,
};

/// The tunables, with names and defaults as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineParams {
    /// How long a read may wait before the next batch of reads starts with it.
    pub read_expire: Span,
    /// How long a write may wait before the next batch of writes starts with it.
    pub write_expire: Span,
    /// The most batches of reads that may pass waiting writes.
    pub writes_starved_batches: u32,
    /// The most requests in a batch.
    pub fifo_batch_requests: u32,
    /// Whether a bio may be merged at the front of a request.
    pub front_merges: bool,
}

impl Default for DeadlineParams {
    fn default() -> Self {
        Self {
            read_expire: Span::from_ms(500),
            write_expire: Span::from_s(5),
            writes_starved_batches: 2,
            fifo_batch_requests: 16,
            front_merges: true,
        }
    }
}

impl Family for DeadlineParams {
    const NAME: &'static str = "deadline";
    type Scheduler = Deadline;

    fn honours(&self) -> Honours {
        Honours::NONE
    }

    fn build(&self) -> Deadline {
        Deadline::new(*self)
    }
}

/// The requests of one direction, by position and by deadline.
#[derive(Debug, Default)]
struct Side {
    by_position: Tree,
    by_deadline: List,
    /// The request at which the current batch continues, if it is of this direction.
    next: Option<RequestId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
}

impl Direction {
    const fn of(op: Op) -> Self {
        if op.is_write() { Self::Write } else { Self::Read }
    }
}

/// A queued request's position and direction combined into one sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place(u64);

impl Place {
    const fn new(request: &Request) -> Self {
        Self(request.start.0 << 1 | Direction::of(request.op) as u64)
    }

    const fn direction(self) -> Direction {
        if self.0 & 1 == 0 { Direction::Read } else { Direction::Write }
    }
}

/// The deadline elevator; see the [module documentation](self).
#[derive(Debug)]
pub struct Deadline {
    params: DeadlineParams,
    positions: Forest<Place>,
    deadlines: Lists<Instant>,
    sides: [Side; 2],
    direction: Direction,
    /// Requests dispatched in the current batch.
    batched: u32,
    /// Batches of reads that have passed waiting writes since the last batch of writes.
    starved: u32,
    at_device: AtDevice,
}

impl Deadline {
    /// An elevator with nothing queued.
    #[must_use]
    pub fn new(params: DeadlineParams) -> Self {
        Self {
            params,
            positions: Forest::new(),
            deadlines: Lists::new(),
            sides: [Side::default(), Side::default()],
            direction: Direction::Read,
            batched: 0,
            starved: 0,
            at_device: AtDevice::NONE,
        }
    }

    const fn side(&self, direction: Direction) -> &Side {
        &self.sides[direction as usize]
    }

    fn is_waiting(&self, direction: Direction) -> bool {
        !self.side(direction).by_position.is_empty()
    }

    fn deadline_of(&self, op: Op, arrived: Instant) -> Instant {
        arrived
            + match Direction::of(op) {
                Direction::Read => self.params.read_expire,
                Direction::Write => self.params.write_expire,
            }
    }

    fn choose(&mut self, now: Instant) -> Option<(RequestId, Why)> {
        if let Some(next) = self.side(self.direction).next
            && self.batched < self.params.fifo_batch_requests
        {
            return Some((next, Why::SectorOrder));
        }
        let why = self.turn()?;
        self.batched = 0;
        self.first_of_batch(now, why)
    }

    /// Chooses the direction of a new batch, with the reason if there was a choice. `None` if
    /// nothing is queued.
    fn turn(&mut self) -> Option<Option<Why>> {
        let waiting = (self.is_waiting(Direction::Read), self.is_waiting(Direction::Write));
        let may_pass = self.starved < self.params.writes_starved_batches;
        let (direction, why) = match waiting {
            (false, false) => return None,
            (true, false) => (Direction::Read, None),
            (false, true) => (Direction::Write, None),
            (true, true) if may_pass => (Direction::Read, Some(Why::ReadsFirst)),
            (true, true) => (Direction::Write, Some(Why::WritesStarved)),
        };
        match why {
            Some(Why::ReadsFirst) => self.starved += 1,
            _ if direction == Direction::Write => self.starved = 0,
            _ => {}
        }
        self.direction = direction;
        Some(why)
    }

    fn first_of_batch(&self, now: Instant, why: Option<Why>) -> Option<(RequestId, Why)> {
        let side = self.side(self.direction);
        let oldest = side.by_deadline.first()?;
        if now >= self.deadlines.key(oldest) {
            return Some((RequestId(oldest), Why::DeadlineExpired));
        }
        Some(match side.next {
            Some(next) => (next, why.unwrap_or(Why::SectorOrder)),
            None => (RequestId(oldest), why.unwrap_or(Why::ArrivedFirst)),
        })
    }

    /// Continues the batch after `id`, which is about to be dispatched.
    fn move_on(&mut self, id: RequestId) {
        let next = self.positions.next(id.0).map(RequestId);
        for side in &mut self.sides {
            side.next = None;
        }
        self.sides[self.direction as usize].next = next;
        self.batched += 1;
    }

    fn insert(&mut self, request: &Request, deadline: Instant) {
        let side = &mut self.sides[Direction::of(request.op) as usize];
        self.positions.insert(&mut side.by_position, request.id.0, Place::new(request));
        self.deadlines.insert(&mut side.by_deadline, request.id.0, deadline);
    }

    /// Removes a queued request and returns its deadline.
    fn remove(&mut self, id: RequestId) -> Instant {
        let deadline = self.deadlines.key(id.0);
        let direction = self.positions.key(id.0).direction();
        let side = &mut self.sides[direction as usize];
        if side.next == Some(id) {
            side.next = self.positions.next(id.0).map(RequestId);
        }
        self.positions.remove(&mut side.by_position, id.0);
        self.deadlines.remove(&mut side.by_deadline, id.0);
        deadline
    }

    /// Moves a queued request in both orders. If the batch was to continue with it, it still does.
    fn move_to(&mut self, request: &Request, deadline: Instant) {
        let direction = Direction::of(request.op) as usize;
        let is_next = self.sides[direction].next == Some(request.id);
        self.remove(request.id);
        self.insert(request, deadline);
        if is_next {
            self.sides[direction].next = Some(request.id);
        }
    }

    /// The request that has waited longest: its arrival and its direction.
    fn oldest(&self) -> Option<(Instant, Direction)> {
        let expire = [self.params.read_expire, self.params.write_expire];
        let sides = [Direction::Read, Direction::Write].into_iter().zip(expire);
        let oldest = sides.filter_map(|(direction, expire)| {
            let deadline = self.deadlines.key(self.side(direction).by_deadline.first()?);
            let arrived = deadline.as_ns().saturating_sub(expire.as_ns());
            Some((Instant::from_ns(arrived), direction))
        });
        oldest.min_by_key(|(arrived, _)| *arrived)
    }

    /// When the request arrived that has waited longest.
    pub(crate) fn oldest_arrival(&self) -> Option<Instant> {
        self.oldest().map(|(arrived, _)| arrived)
    }

    /// Takes the request out of the queues that has waited longest. A batch begins with it.
    pub(crate) fn take_oldest(&mut self) -> Option<RequestId> {
        let (_, direction) = self.oldest()?;
        let id = RequestId(self.side(direction).by_deadline.first()?);
        self.direction = direction;
        self.batched = 0;
        if direction == Direction::Write {
            self.starved = 0;
        }
        self.move_on(id);
        self.remove(id);
        Some(id)
    }

    /// Takes the next request out of the queues.
    pub(crate) fn take_next(&mut self, now: Instant) -> Option<(RequestId, Why)> {
        let (id, why) = self.choose(now)?;
        self.move_on(id);
        self.remove(id);
        Some((id, why))
    }
}

impl Elevator for Deadline {
    fn admit(&mut self, _now: Instant, request: &Request) -> Admission {
        let deadline = self.deadline_of(request.op, request.arrived);
        self.insert(request, deadline);
        Admission::Queued
    }

    fn decide(&mut self, now: Instant) -> Decision {
        let next = self.take_next(now);
        self.at_device.decide(next)
    }

    fn complete(&mut self, _now: Instant, _completion: &Completion) {
        self.at_device.complete();
    }

    fn withdraw(&mut self, _now: Instant, id: RequestId) {
        self.remove(id);
    }

    fn drain(&mut self, now: Instant) -> Option<RequestId> {
        self.take_next(now).map(|(id, _)| id)
    }

    fn describe(&self) -> Description {
        // Deadlines are checked only between batches, and a batch takes as long as the device
        // needs, so there is no bound to promise.
        Description::new(DeadlineParams::NAME, Handover::Single)
    }
}

impl Merging for Deadline {
    fn may_merge(&self, request: &Request, bio: &Bio) -> bool {
        let front = bio.end() == request.start;
        request.is_like(bio) && (self.params.front_merges || !front)
    }

    fn merged(&mut self, _now: Instant, request: &Request, how: Merge) {
        match how {
            Merge::Back => {}
            Merge::Front => self.move_to(request, self.deadlines.key(request.id.0)),
            Merge::Absorbed { arrived, .. } => {
                let inherited = self.deadline_of(request.op, arrived);
                let own = self.deadlines.key(request.id.0);
                if inherited < own {
                    self.move_to(request, inherited);
                }
            }
        }
    }
}

fairdisk_core::default_extensions!(Deadline: Driving, Hearing, Promising, Reporting, Attaching);
