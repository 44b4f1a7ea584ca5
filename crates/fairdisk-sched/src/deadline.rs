//! The deadline elevator: batches in sector order, reads before writes, and no request passed over
//! for much longer than its deadline.
//!
//! A *batch* is a run of at most `fifo_batch` requests of one direction in ascending order. When it
//! ends, the next batch is one of reads if there are any, unless writes were passed over
//! `writes_starved` times. It starts where the last batch of its direction stopped, or at the
//! oldest request if that one is past its deadline.

use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{
    Admission, Bio, Change, Completion, Decision, Description, Elevator, Handover, Instant, Lba,
    Merge, Op, Request, RequestId, Span, Why,
};

/// What can be set, under the names and with the defaults known from Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadlineParams {
    /// How long a read may wait before a new batch starts with it.
    pub read_expire: Span,
    /// How long a write may wait before a new batch of writes starts with it.
    pub write_expire: Span,
    /// How many batches of reads may pass waiting writes.
    pub writes_starved_batches: u32,
    /// Requests in a batch.
    pub fifo_batch_requests: u32,
    /// Whether bios may be merged at the front of a request.
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

/// The requests of one direction, in both orders.
#[derive(Debug, Default)]
struct Side {
    by_position: Tree,
    by_deadline: Tree,
    /// Where the batch goes on, if the last one was of this direction.
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

/// The deadline elevator.
#[derive(Debug)]
pub struct Deadline {
    params: DeadlineParams,
    positions: Forest<Lba>,
    deadlines: Forest<Instant>,
    sides: [Side; 2],
    direction: Direction,
    /// Requests of the running batch so far.
    batched: u32,
    /// Batches of reads that passed waiting writes since the last batch of writes.
    starved: u32,
    in_flight: u32,
}

impl Deadline {
    /// An empty elevator.
    #[must_use]
    pub fn new(params: DeadlineParams) -> Self {
        Self {
            params,
            positions: Forest::new(),
            deadlines: Forest::new(),
            sides: [Side::default(), Side::default()],
            direction: Direction::Read,
            batched: 0,
            starved: 0,
            in_flight: 0,
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

    /// Chooses the direction of a new batch, and says why if there was a choice.
    fn turn(&mut self) -> Option<Option<Why>> {
        let writes = self.is_waiting(Direction::Write);
        if !self.is_waiting(Direction::Read) {
            self.direction = Direction::Write;
            self.starved = 0;
            return writes.then_some(None);
        }
        self.direction = Direction::Read;
        if !writes {
            return Some(None);
        }
        if self.starved < self.params.writes_starved_batches {
            self.starved += 1;
            return Some(Some(Why::ReadsFirst));
        }
        self.direction = Direction::Write;
        self.starved = 0;
        Some(Some(Why::WritesStarved))
    }

    fn first_of_batch(&self, now: Instant, why: Option<Why>) -> Option<(RequestId, Why)> {
        let side = self.side(self.direction);
        let oldest = self.deadlines.first(&side.by_deadline)?;
        if now >= self.deadlines.key(oldest) {
            return Some((RequestId(oldest), Why::DeadlineExpired));
        }
        Some(match side.next {
            Some(next) => (next, why.unwrap_or(Why::SectorOrder)),
            None => (RequestId(oldest), why.unwrap_or(Why::ArrivedFirst)),
        })
    }

    /// The batch goes on behind `id`, which is about to be taken.
    fn move_on(&mut self, id: RequestId) {
        let next = self.positions.next(id.0).map(RequestId);
        for side in &mut self.sides {
            side.next = None;
        }
        self.sides[self.direction as usize].next = next;
        self.batched += 1;
    }

    fn take(&mut self, direction: Direction, id: RequestId) {
        let side = &mut self.sides[direction as usize];
        self.positions.remove(&mut side.by_position, id.0);
        self.deadlines.remove(&mut side.by_deadline, id.0);
    }

    /// Which side a queued request is on.
    fn direction_of(&self, id: RequestId) -> Direction {
        let reads = &self.side(Direction::Read).by_position;
        if self.positions.is_in(reads, id.0) { Direction::Read } else { Direction::Write }
    }
}
