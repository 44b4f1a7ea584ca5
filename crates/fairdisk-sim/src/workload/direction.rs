//! Data direction, and values that differ by operation.

use fairdisk_core::{Op, Prng};

/// What a task does with its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Only reads.
    #[default]
    Read,
    /// Only writes.
    Write,
    /// Only trims.
    Trim,
    /// Reads and writes, each drawn independently with this percentage of reads.
    Mixed(u8),
    /// Reads and writes kept close to this percentage of reads: an operation that has fallen behind
    /// catches up before the next one is drawn.
    MixedEvenly(u8),
    /// Writes, each preceded by a trim of the same range.
    TrimWrite,
}

impl Direction {
    /// The percentage of reads in a mix; `None` if there is no mix.
    const fn read_percent(self) -> Option<u8> {
        match self {
            Self::Mixed(percent) | Self::MixedEvenly(percent) => Some(percent),
            Self::Read | Self::Write | Self::Trim | Self::TrimWrite => None,
        }
    }

    /// The other operation of a mix; `None` if there is no mix.
    pub(super) fn other(self, op: Op) -> Option<Op> {
        self.read_percent().map(|_| if op == Op::Read { Op::Write } else { Op::Read })
    }
}

/// The sequence of operations of a task's I/Os.
#[derive(Debug)]
pub(super) struct Ops {
    direction: Direction,
    /// The operation drawn last, and how many I/Os it must have had before another is drawn.
    last: Op,
    until: u64,
    issued: PerOp<u64>,
}

impl Ops {
    pub(super) fn new(direction: Direction) -> Self {
        Self { direction, last: Op::Read, until: 0, issued: PerOp::all(0) }
    }

    /// The operation of the next I/O. A write that is preceded by its trim counts as a write.
    pub(super) fn next(&mut self, prng: &mut Prng) -> Op {
        match self.direction {
            Direction::Read => Op::Read,
            Direction::Write | Direction::TrimWrite => Op::Write,
            Direction::Trim => Op::Discard,
            Direction::Mixed(read_percent) => drawn(read_percent, prng),
            Direction::MixedEvenly(read_percent) => self.evenly(read_percent, prng),
        }
    }

    /// As in fio: when the operation changes, the new one continues until it has its percentage
    /// relative to what the other one has had.
    fn evenly(&mut self, read_percent: u8, prng: &mut Prng) -> Op {
        if *self.issued.of(self.last) < self.until {
            return self.last;
        }
        let op = drawn(read_percent, prng);
        if op != self.last {
            let percent = if op == Op::Read { read_percent } else { 100 - read_percent };
            self.until = *self.issued.of(self.last) * u64::from(percent) / 100;
            self.last = op;
        }
        op
    }

    /// Counts an issued I/O.
    pub(super) const fn issued(&mut self, op: Op) {
        *self.issued.of_mut(op) += 1;
    }
}

const fn drawn(read_percent: u8, prng: &mut Prng) -> Op {
    if prng.chance(read_percent as u64, 100) { Op::Read } else { Op::Write }
}

/// One value each for reads, writes and trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerOp<T> {
    /// The value for reads.
    pub read: T,
    /// The value for writes.
    pub write: T,
    /// The value for trims.
    pub trim: T,
}

impl<T> PerOp<T> {
    /// The value for `op`; an operation that is neither a read nor a write counts as a trim.
    pub const fn of(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Write => &self.write,
            Op::Flush | Op::Discard | Op::WriteZeroes => &self.trim,
        }
    }

    /// The value for `op`, mutably.
    pub const fn of_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            Op::Flush | Op::Discard | Op::WriteZeroes => &mut self.trim,
        }
    }
}

impl<T: Clone> PerOp<T> {
    /// One value for all three operations.
    pub fn all(value: T) -> Self {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }
}
