//! Which way data goes, and values that differ by it.

use fairdisk_core::{Op, Prng};

/// What a task does to its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Reads only.
    #[default]
    Read,
    /// Writes only.
    Write,
    /// Trims only.
    Trim,
    /// Reads and writes, each drawn with this percentage of reads.
    Mixed(u8),
    /// Reads and writes near this percentage of reads: an operation that fell behind catches up
    /// before the next is drawn.
    MixedEvenly(u8),
    /// Before each write a trim of the same range.
    TrimWrite,
}

impl Direction {
    /// The percentage of reads in a mix.
    const fn read_percent(self) -> Option<u8> {
        match self {
            Self::Mixed(percent) | Self::MixedEvenly(percent) => Some(percent),
            Self::Read | Self::Write | Self::Trim | Self::TrimWrite => None,
        }
    }

    /// The other operation of a mix.
    pub(super) fn other(self, op: Op) -> Option<Op> {
        self.read_percent().map(|_| if op == Op::Read { Op::Write } else { Op::Read })
    }
}

/// Which operation each I/O of a task has.
#[derive(Debug)]
pub(super) struct Ops {
    direction: Direction,
    /// The operation drawn last, and how many it must have had before another is drawn.
    last: Op,
    until: u64,
    issued: PerOp<u64>,
}

impl Ops {
    pub(super) fn new(direction: Direction) -> Self {
        Self { direction, last: Op::Read, until: 0, issued: PerOp::all(0) }
    }

    /// The operation of the next I/O; a write that is preceded by its trim is a write.
    pub(super) fn next(&mut self, prng: &mut Prng) -> Op {
        match self.direction {
            Direction::Read => Op::Read,
            Direction::Write | Direction::TrimWrite => Op::Write,
            Direction::Trim => Op::Discard,
            Direction::Mixed(read_percent) => drawn(read_percent, prng),
            Direction::MixedEvenly(read_percent) => self.evenly(read_percent, prng),
        }
    }

    /// fio's way: where the operation changes, the new one stays until it has its percentage of
    /// what the other one has had.
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

    /// An I/O was issued.
    pub(super) const fn issued(&mut self, op: Op) {
        *self.issued.of_mut(op) += 1;
    }
}

const fn drawn(read_percent: u8, prng: &mut Prng) -> Op {
    if prng.chance(read_percent as u64, 100) { Op::Read } else { Op::Write }
}

/// A value for reads, one for writes and one for trims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerOp<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T> PerOp<T> {
    /// The value for `op`; what is neither read nor write counts as a trim.
    pub const fn of(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Write => &self.write,
            Op::Flush | Op::Discard | Op::WriteZeroes => &self.trim,
        }
    }

    /// The value for `op`, to change it.
    pub const fn of_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            Op::Flush | Op::Discard | Op::WriteZeroes => &mut self.trim,
        }
    }
}

impl<T: Clone> PerOp<T> {
    /// The same for all three.
    pub fn all(value: T) -> Self {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }
}
