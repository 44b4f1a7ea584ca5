//! In which order the I/Os of a task lie, and which of them draw a place.

use super::direction::PerOp;
use super::skew::Skew;
use fairdisk_core::{Op, Prng};

/// Where the next I/O lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IoOrder {
    /// Right behind the last one.
    #[default]
    Sequential,
    /// So many bytes behind the last one; negative goes backwards. At the end it goes round.
    Holes(i64),
    /// The same, up to the end of the file: a pass ends there. The first I/O is where it begins.
    Strided(u64),
    /// Anywhere, each block as likely as another.
    Random,
    /// Anywhere, with more to say about it.
    Drawn(RandomOrder),
}

/// How random places are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomOrder {
    /// Whether some blocks are drawn more often than others.
    pub skew: Skew,
    /// Whether a block that was drawn is not drawn again before all others were: the next free one
    /// is taken instead. A skewed order draws again all the same.
    pub every_block_once: bool,
    /// Of 100 places, how many are drawn; the others follow the last I/O.
    pub random_percent: PerOp<u8>,
    /// What is done with a place.
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

/// What is done with a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// One I/O.
    #[default]
    Never,
    /// So many I/Os, each behind the one before in its file.
    Sequential(u32),
    /// So many I/Os, each where the one before in its file was.
    Identical(u32),
}

/// How an I/O comes to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is drawn.
    Draw,
    /// Behind the last I/O of its operation in the file.
    Follow,
    /// Where the last I/O of its operation in the file was.
    Stay,
}

/// Which step each I/O of a task takes. What repeats counts over all files of the task.
#[derive(Debug)]
pub(super) struct Steps {
    /// `None`: no place is drawn.
    order: Option<RandomOrder>,
    /// I/Os that still belong to the last place.
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
    /// How places are drawn, if they are.
    pub(super) const fn random(self) -> Option<RandomOrder> {
        match self {
            Self::Sequential | Self::Holes(_) | Self::Strided(_) => None,
            Self::Random => Some(RandomOrder {
                skew: Skew::Uniform,
                every_block_once: false,
                random_percent: PerOp { read: 100, write: 100, trim: 100 },
                repeat: Repeat::Never,
            }),
            Self::Drawn(order) => Some(order),
        }
    }

    /// Bytes between two I/Os that follow each other.
    pub(super) const fn hole(self) -> i64 {
        match self {
            Self::Holes(bytes) => bytes,
            Self::Sequential | Self::Strided(_) | Self::Random | Self::Drawn(_) => 0,
        }
    }

    /// Bytes left out between two I/Os up to the end of the file.
    pub(super) const fn skipped(self) -> u64 {
        match self {
            Self::Strided(bytes) => bytes,
            Self::Sequential | Self::Holes(_) | Self::Random | Self::Drawn(_) => 0,
        }
    }
}
