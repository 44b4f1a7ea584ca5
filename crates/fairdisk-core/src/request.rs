//! What travels: a [`Bio`] is what a task submits, a [`Request`] is what the elevator orders and
//! the device serves. A request carries one bio or several merged ones.

use crate::time::Instant;
use core::ops::{BitOr, BitOrAssign};

/// Bytes in a sector, the unit of all positions and lengths.
pub const SECTOR_BYTES: u64 = 512;

/// A position on the device in 512-byte sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(pub u64);

/// A length in 512-byte sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sectors(pub u32);

impl Lba {
    /// The position `sectors` further on.
    #[must_use]
    pub const fn after(self, sectors: Sectors) -> Self {
        Self(self.0 + sectors.0 as u64)
    }

    /// How far apart two positions are, in sectors.
    #[must_use]
    pub const fn distance(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
}

impl Sectors {
    /// The length in bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0 as u64 * SECTOR_BYTES
    }
}

/// A request slot of one engine: small, dense, and reused after the request finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// A bio as its submitter names it; unique among the bios in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BioId(pub u64);

/// A task (thread) that submits I/O: small and dense, assigned by the shell. Threads that share an
/// I/O context (`CLONE_IO`) are one task; it exits with the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// A group of tasks: small and dense, assigned by the shell. Group 0 is the root group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

impl GroupId {
    /// The group of everything that was not moved elsewhere.
    pub const ROOT: Self = Self(0);
}

/// What is asked of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Device to memory.
    Read,
    /// Memory to device.
    Write,
    /// Make everything written so far durable.
    Flush,
    /// The range is no longer needed.
    Discard,
    /// The range reads as zeroes from now on.
    WriteZeroes,
}

impl Op {
    /// Whether the operation changes the medium.
    #[must_use]
    pub const fn is_write(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Its name in messages and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
            Self::WriteZeroes => "write of zeroes",
        }
    }
}

/// Hints that travel with a bio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flags(u8);

impl Flags {
    /// No hint.
    pub const NONE: Self = Self(0);
    /// File-system metadata.
    pub const META: Self = Self(1);
    /// Durable before it completes.
    pub const FUA: Self = Self(2);
    /// The submitter will not come back soon: do not wait for it.
    pub const NOIDLE: Self = Self(4);
    /// The submitter holds a lock of its file system that others may be waiting for.
    pub const EXCLUSIVE: Self = Self(8);

    /// Whether every hint of `other` is set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The hints as bits, for journals.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The scheduling class of a task's I/O, as `ionice` sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoClass {
    /// Never set: best effort at a level taken from `nice`.
    #[default]
    None,
    /// Before everything else.
    RealTime,
    /// The ordinary class.
    BestEffort,
    /// Only when nobody else wants the disk.
    Idle,
}

impl IoClass {
    /// How many ranks there are.
    pub const RANKS: usize = 3;

    /// The order in which classes are served, from 0. Where none is set, that is best effort.
    #[must_use]
    pub const fn rank(self) -> usize {
        match self {
            Self::RealTime => 0,
            Self::None | Self::BestEffort => 1,
            Self::Idle => 2,
        }
    }
}

/// An I/O priority: a class and a level from 0 (best) to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IoPrio {
    /// The class.
    pub class: IoClass,
    /// The level, 0 (best) to 7. For [`IoClass::None`] it follows from `nice`.
    pub level: u8,
}

impl IoPrio {
    /// Levels in a class.
    pub const LEVELS: u8 = 8;
    /// No priority set, `nice` 0.
    pub const UNSET: Self = Self { class: IoClass::None, level: 4 };

    /// Best effort at `level` (values above 7 count as 7).
    #[must_use]
    pub const fn best_effort(level: u8) -> Self {
        let level = if level < Self::LEVELS { level } else { Self::LEVELS - 1 };
        Self { class: IoClass::BestEffort, level }
    }

    /// What a task without an I/O priority has at `nice` (-20 to 19): level (nice + 20) / 5.
    #[must_use]
    pub const fn from_nice(nice: i8) -> Self {
        let nice = if nice < -20 {
            -20
        } else if nice > 19 {
            19
        } else {
            nice
        };
        Self { class: IoClass::None, level: (nice + 20) as u8 / 5 }
    }
}

impl Default for IoPrio {
    fn default() -> Self {
        Self::UNSET
    }
}

/// What a task submits: one contiguous piece of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bio {
    /// The submitter's name for it; unique among bios in flight.
    pub id: BioId,
    /// Who submits it.
    pub task: TaskId,
    /// The group it is charged to.
    pub group: GroupId,
    /// What is asked.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// Length; zero only for [`Op::Flush`].
    pub sectors: Sectors,
    /// Whether somebody waits for it.
    pub sync: bool,
    /// Hints.
    pub flags: Flags,
    /// The submitter's priority at this moment.
    pub ioprio: IoPrio,
}

impl Bio {
    /// The sector after the last.
    #[must_use]
    pub const fn end(&self) -> Lba {
        self.start.after(self.sectors)
    }

    /// Whether the two must keep their order: they overlap and one of them changes the medium. A
    /// flush has no position and overlaps nothing.
    #[must_use]
    pub const fn conflicts_with(&self, other: &Self) -> bool {
        !matches!(self.op, Op::Flush)
            && !matches!(other.op, Op::Flush)
            && (self.op.is_write() || other.op.is_write())
            && self.start.0 < other.end().0
            && other.start.0 < self.end().0
    }
}

/// What the elevator orders and the device serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its slot.
    pub id: RequestId,
    /// Who submitted its first bio.
    pub task: TaskId,
    /// The group it is charged to.
    pub group: GroupId,
    /// What is asked.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// Length, all merged bios together.
    pub sectors: Sectors,
    /// Whether somebody waits for it.
    pub sync: bool,
    /// The hints of its first bio; merging does not change them.
    pub flags: Flags,
    /// The submitter's priority when it was submitted.
    pub ioprio: IoPrio,
    /// When its oldest bio got its slot.
    pub arrived: Instant,
}

impl Request {
    /// The sector after the last.
    #[must_use]
    pub const fn end(&self) -> Lba {
        self.start.after(self.sectors)
    }
}
