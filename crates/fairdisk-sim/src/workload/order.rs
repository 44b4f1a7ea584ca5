//! The order of a task's I/Os, and which of them draw a position.

use super::direction::PerOp;
use super::skew::Skew;
use fairdisk_core::{Op, Prng};

/// The position of the next I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoOrder {
    /// Right after the previous one.
    #[default]
    Sequential,
    /// At this distance in bytes after the end of the previous one; negative distances go
    /// backwards. Wraps around at the end of the file.
    Holes(i64),
    /// At this distance in bytes after the end of the previous one; after the end of the file, one
    /// block further than the time before, so that every block has its turn.
    Interleaved(u64),
    /// At this distance in bytes after the end of the previous one; a pass ends at the end of the
    /// file. The first I/O is at the start.
    Strided(u64),
    /// A random block, each equally likely.
    Random,
    /// A random block, drawn with these options.
    Drawn(RandomOrder),
}

/// Options for drawing random positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomOrder {
    /// Whether some blocks are drawn more often than others.
    pub skew: Skew,
    /// Whether a block is drawn again only after all others: if it was drawn already, the next free
    /// block is taken instead. Has no effect on a skewed order.
    pub every_block_once: bool,
    /// Percentage of positions that are drawn; the others follow the previous I/O.
    pub random_percent: PerOp<u8>,
    /// How often a position is used.
    pub repeat: Repeat,
}

impl Default for RandomOrder {
    fn default() -> Self {
        Self {
            skew: Skew::Uniform,
            every_block_once: true,
            random_percent: PerOp::all(100),
            repeat: Repeat::Never,
        }
    }
}

/// A part of a file, right behind the zone before it, into which a part of the positions falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// The percentage of positions; those of all zones sum to 100.
    pub percent: u8,
    /// The length of the zone.
    pub length: ZoneLength,
}

/// The length of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneLength {
    /// A percentage of the used part of the file.
    Percent(u8),
    /// A number of bytes.
    Bytes(u64),
}

/// How often a position is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// For one I/O.
    #[default]
    Never,
    /// For this many I/Os, each right after the previous one in its file.
    Sequential(u32),
    /// For this many I/Os, each at the position of the previous one in its file.
    Identical(u32),
}

/// How an I/O gets its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The position is drawn.
    Draw,
    /// After the last I/O of the operation in the file.
    Follow,
    /// At the position of the last I/O of the operation in the file.
    Stay,
}

/// The sequence of steps of a task's I/Os. Repetitions count over all files of the task.
#[derive(Debug)]
pub(super) struct Steps {
    /// How positions are drawn; `None` if they are not.
    order: Option<RandomOrder>,
    /// I/Os left at the present position.
    repeats: u32,
}

impl Steps {
    pub(super) const fn new(order: IoOrder) -> Self {
        Self { order: order.random(), repeats: 0 }
    }

    pub(super) fn next(&mut self, op: Op, prng: &mut Prng) -> Step {
        let Some(order) = self.order else { return Step::Follow };
        if self.repeats > 0 {
            self.repeats -= 1;
            return match order.repeat {
                Repeat::Identical(_) => Step::Stay,
                Repeat::Sequential(_) | Repeat::Never => Step::Follow,
            };
        }
        self.repeats = match order.repeat {
            Repeat::Never => 0,
            Repeat::Sequential(ios) | Repeat::Identical(ios) => ios.saturating_sub(1),
        };
        let percent = *order.random_percent.of(op);
        let draws = percent == 100 || prng.chance(u64::from(percent), 100);
        if draws { Step::Draw } else { Step::Follow }
    }
}

impl IoOrder {
    /// How positions are drawn; `None` if they are not.
    pub(super) const fn random(self) -> Option<RandomOrder> {
        match self {
            Self::Sequential | Self::Holes(_) | Self::Interleaved(_) | Self::Strided(_) => None,
            Self::Random => Some(RandomOrder {
                skew: Skew::Uniform,
                every_block_once: false,
                random_percent: PerOp { read: 100, write: 100, trim: 100 },
                repeat: Repeat::Never,
            }),
            Self::Drawn(order) => Some(order),
        }
    }

    /// The gap in bytes between consecutive I/Os.
    pub(super) const fn hole(self) -> i64 {
        match self {
            Self::Holes(bytes) => bytes,
            _ => 0,
        }
    }

    /// The gap in bytes between I/Os that are interleaved.
    pub(super) const fn interleaved(self) -> Option<u64> {
        match self {
            Self::Interleaved(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The bytes skipped between two I/Os on the way to the end of the file.
    pub(super) const fn skipped(self) -> u64 {
        match self {
            Self::Strided(bytes) => bytes,
            _ => 0,
        }
    }
}
