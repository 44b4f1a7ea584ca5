//! A queue: the requests of one task in one group, or the asynchronous writes of a group.

use super::claims::Claim;
use super::mean::Mean;
use super::patience::wait_for;
use fairdisk_core::list::List;
use fairdisk_core::tree::Tree;
use fairdisk_core::{Instant, IoClass, IoPrio, Lba, Span, TaskId};

/// The number of `ionice` classes; the lower index is served first.
pub(super) const CLASSES: usize = IoClass::RANKS;

/// The number of levels in a class.
pub(super) const LEVELS: u8 = IoPrio::LEVELS;

/// The weight of a queue of level 0 within its class.
pub(super) const WEIGHT_MOST: u64 = 8;

/// A queue of requests.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) group: u32,
    /// The task; `None` for the asynchronous writes of the group.
    pub(super) task: Option<TaskId>,
    pub(super) ioprio: IoPrio,
    /// Whether nobody can add requests to it any more, so that it is freed when empty.
    pub(super) orphan: bool,
    pub(super) order: InOrder,
    pub(super) queued: Queued,
    pub(super) waiting: u32,
    pub(super) in_flight: u32,
    /// Flushes of the task at the device or on their way there.
    pub(super) flushes: u8,
    pub(super) track: Track,
    /// When the last of its requests completed, if any has.
    pub(super) quiet_since: Option<Instant>,
    pub(super) times: Times,
}

/// The queue's place in the order of its group.
#[derive(Clone, Debug)]
pub(super) struct InOrder {
    /// In the line of its class, with the weight of its level.
    pub(super) claim: Claim,
    pub(super) in_line: bool,
    pub(super) last_turn: LastTurn,
    /// Whether the queue, with nothing queued, keeps a place among those that are expected.
    pub(super) has_place: bool,
}

/// The queued requests.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    pub(super) by_position: Tree,
    pub(super) by_age: List,
}

/// Where the dispatched requests were.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// The end of the last one, or nowhere.
    pub(super) position: Lba,
    /// Whether that began where the one before had ended.
    pub(super) continues: bool,
    /// How far the reads have been sequential.
    pub(super) streak: Streak,
}

/// Mean times.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    /// From `quiet_since` to the next request.
    pub(super) think: Mean,
    /// Of a request.
    pub(super) service: Mean,
    /// Of a request that follows one of the same queue.
    pub(super) following: Mean,
}

const fn level(ioprio: IoPrio) -> u8 {
    if ioprio.level < LEVELS { ioprio.level } else { LEVELS - 1 }
}

/// 8 at level 0 down to 1 at level 7.
const fn weight(ioprio: IoPrio) -> u64 {
    WEIGHT_MOST - level(ioprio) as u64
}

impl Queue {
    pub(super) fn new(group: u32, task: Option<TaskId>, ioprio: IoPrio) -> Self {
        Self {
            group,
            task,
            ioprio,
            orphan: false,
            order: InOrder {
                claim: Claim::new(weight(ioprio)),
                in_line: false,
                last_turn: LastTurn::NONE,
                has_place: false,
            },
            queued: Queued { by_position: Tree::new(), by_age: List::new() },
            waiting: 0,
            in_flight: 0,
            flushes: 0,
            track: Track { position: Lba(u64::MAX), continues: false, streak: Streak::default() },
            quiet_since: None,
            times: Times::default(),
        }
    }

    /// Index of the `ionice` class; asynchronous writes are best effort.
    pub(super) const fn class(&self) -> usize {
        self.ioprio.class.rank()
    }

    /// Its level in the class; levels beyond the last count as the last.
    pub(super) const fn level(&self) -> u8 {
        level(self.ioprio)
    }

    /// Sets its class and level, and the weight that goes with the level.
    pub(super) const fn set_priority(&mut self, ioprio: IoPrio) {
        (self.ioprio, self.order.claim.weight) = (ioprio, weight(ioprio));
    }

    /// The weight within its class.
    pub(super) const fn weight(&self) -> u64 {
        self.order.claim.weight
    }

    /// Until when the queue, with nothing queued, is expected: for ever while it has requests or
    /// flushes at the device, and not at all if it thinks for longer than `most`. Where requests
    /// are measured, the time of one is gained.
    pub(super) fn expected_until(&self, most: Span) -> Option<Instant> {
        if self.in_flight > 0 || self.flushes > 0 {
            return Some(Instant::MAX);
        }
        let think = self.times.think.get().filter(|think| *think <= most)?;
        let wait = wait_for(think, self.times.service.or_zero(), most);
        self.quiet_since.map(|since| since + wait)
    }

    /// Its priority as a number: the lower is served first.
    pub(super) const fn rank(&self) -> u8 {
        self.class() as u8 * LEVELS + self.level()
    }

    /// Whether no requests are queued or at the device.
    pub(super) const fn is_quiet(&self) -> bool {
        self.waiting == 0 && self.in_flight == 0
    }
}

/// The last turn of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastTurn {
    pub(super) since: Option<Instant>,
    /// How many of its requests began where the one before ended.
    pub(super) continued: u32,
}

impl LastTurn {
    pub(super) const NONE: Self = Self { since: None, continued: 0 };
}

/// The length of a queue's current run of sequential reads, up to `STREAK_MOST`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Streak(u8);

/// A queue streams after 4 sequential reads in a row, which random reads do not produce by chance.
const STREAM_READS: u8 = 4;
/// The longest streak that counts: halved by one jump, it is still a stream.
const STREAK_MOST: u8 = 2 * STREAM_READS;

impl Streak {
    /// Notes a dispatched request that continues the read before it, or does not. A jump halves the
    /// streak, so that a stream which jumps now and then remains one.
    #[inline]
    pub(super) fn add(&mut self, continues: bool) {
        self.0 = if continues { (self.0 + 1).min(STREAK_MOST) } else { self.0 / 2 };
    }

    pub(super) const fn is_stream(self) -> bool {
        self.0 >= STREAM_READS
    }
}
