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
    /// Reads and writes, with this percentage of reads.
    Mixed(u8),
    /// Before each write a trim of the same range.
    TrimWrite,
}

impl Direction {
    /// The operation of the next I/O; a write that is preceded by its trim is a write.
    pub(super) const fn draw(self, prng: &mut Prng) -> Op {
        match self {
            Self::Read => Op::Read,
            Self::Write | Self::TrimWrite => Op::Write,
            Self::Trim => Op::Discard,
            Self::Mixed(read_percent) => {
                if prng.chance(read_percent as u64, 100) {
                    Op::Read
                } else {
                    Op::Write
                }
            }
        }
    }

    /// The other operation of a mix.
    pub(super) const fn other(self, op: Op) -> Option<Op> {
        match (self, op) {
            (Self::Mixed(_), Op::Read) => Some(Op::Write),
            (Self::Mixed(_), _) => Some(Op::Read),
            _ => None,
        }
    }

    /// The operations that choose a place and a size.
    pub(super) const fn ops(self) -> &'static [Op] {
        match self {
            Self::Read => &[Op::Read],
            Self::Write | Self::TrimWrite => &[Op::Write],
            Self::Trim => &[Op::Discard],
            Self::Mixed(0) => &[Op::Write],
            Self::Mixed(100) => &[Op::Read],
            Self::Mixed(_) => &[Op::Read, Op::Write],
        }
    }
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
