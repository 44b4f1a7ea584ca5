//! The units of I/O: a [`Bio`] is what a task submits, a [`Request`] is what the elevator orders
//! and the device serves. A request carries one bio or several merged ones.

use crate::time::Instant;
use core::ops::{BitOr, BitOrAssign};

/// Bytes per sector, the unit of every position and length.
pub const SECTOR_BYTES: u64 = 512;

/// A position on the device, in 512-byte sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(pub u64);

/// A length, in 512-byte sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sectors(pub u32);

impl Lba {
    /// The position `sectors` after this one.
    #[must_use]
    pub const fn after(self, sectors: Sectors) -> Self {
        Self(self.0 + sectors.0 as u64)
    }

    /// The distance between two positions, in sectors.
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

/// The number of a request slot of one engine: small, dense, and reused once the request has
/// completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u32);

/// The submitter's identifier of a bio; unique among the bios in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BioId(pub u64);

/// A task (thread) that submits I/O. Numbers are small and dense, assigned by the shell. Threads
/// that share an I/O context (`CLONE_IO`) are one task, which exits with the last of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// A group of tasks. Numbers are small and dense, assigned by the shell. Group 0 is the root group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

impl GroupId {
    /// The root group, to which every task belongs that was not moved elsewhere.
    pub const ROOT: Self = Self(0);
}

/// The operation that a bio or request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Transfer from the device to memory.
    Read,
    /// Transfer from memory to the device.
    Write,
    /// Make everything written so far durable.
    Flush,
    /// Declare that the contents of the range are no longer needed.
    Discard,
    /// Set the range to zeroes.
    WriteZeroes,
}

impl Op {
    /// Whether the operation counts as a write; everything but a read does.
    #[must_use]
    pub const fn is_write(self) -> bool {
        !matches!(self, Self::Read)
    }

    /// Whether the operation transfers its sectors, so that what it costs depends on their number.
    #[must_use]
    pub const fn moves_data(self) -> bool {
        !matches!(self, Self::Flush | Self::Discard)
    }

    /// The operation's name in messages and results.
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

/// Hints that accompany a bio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flags(u8);

impl Flags {
    /// No hints.
    pub const NONE: Self = Self(0);
    /// The bio is file-system metadata.
    pub const META: Self = Self(1);
    /// Forced unit access: the data is durable before the bio completes.
    pub const FUA: Self = Self(2);
    /// The submitter will not submit again soon; do not keep the disk idle for it.
    pub const NOIDLE: Self = Self(4);
    /// The submitter holds a file-system lock that others may be waiting for.
    pub const EXCLUSIVE: Self = Self(8);

    /// Whether every hint in `other` is set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The hints as a bit mask, for journals.
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

/// The scheduling class of a task's I/O, as set by `ionice`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IoClass {
    /// No class set: best effort at a level derived from `nice`.
    #[default]
    None,
    /// Served before every other class.
    RealTime,
    /// The ordinary class.
    BestEffort,
    /// Served only when no other class wants the disk.
    Idle,
}

impl IoClass {
    /// The number of ranks.
    pub const RANKS: usize = 3;

    /// The rank of the class in order of service, from 0. An unset class ranks as best effort.
    #[must_use]
    pub const fn rank(self) -> usize {
        match self {
            Self::RealTime => 0,
            Self::None | Self::BestEffort => 1,
            Self::Idle => 2,
        }
    }
}

/// An I/O priority: a class and a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IoPrio {
    /// The scheduling class.
    pub class: IoClass,
    /// The level within the class, 0 (best) to 7. For [`IoClass::None`] it is derived from `nice`.
    pub level: u8,
}

impl IoPrio {
    /// The number of levels in a class.
    pub const LEVELS: u8 = 8;
    /// No priority set, with a `nice` value of 0.
    pub const UNSET: Self = Self { class: IoClass::None, level: 4 };

    /// Best effort at `level`; values above 7 count as 7.
    #[must_use]
    pub const fn best_effort(level: u8) -> Self {
        let level = if level < Self::LEVELS { level } else { Self::LEVELS - 1 };
        Self { class: IoClass::BestEffort, level }
    }

    /// The priority of a task without an I/O priority, from its `nice` value (-20 to 19): level
    /// (nice + 20) / 5.
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

/// A unit of I/O as submitted by a task: one contiguous range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bio {
    /// The submitter's identifier; unique among the bios in flight.
    pub id: BioId,
    /// The submitting task.
    pub task: TaskId,
    /// The group that the bio is charged to.
    pub group: GroupId,
    /// The operation.
    pub op: Op,
    /// The first sector.
    pub start: Lba,
    /// The length; zero only for [`Op::Flush`].
    pub sectors: Sectors,
    /// Whether the submitter waits for the bio to complete.
    pub sync: bool,
    /// Hints for the scheduler.
    pub flags: Flags,
    /// The submitter's priority at the time of submission.
    pub ioprio: IoPrio,
}

impl Bio {
    /// A flush, which has no position and whose submitter waits for it.
    #[must_use]
    pub const fn flush(id: BioId, task: TaskId, group: GroupId, ioprio: IoPrio) -> Self {
        Self {
            id,
            task,
            group,
            op: Op::Flush,
            start: Lba(0),
            sectors: Sectors(0),
            sync: true,
            flags: Flags::NONE,
            ioprio,
        }
    }

    /// The position after the last sector.
    #[must_use]
    pub const fn end(&self) -> Lba {
        self.start.after(self.sectors)
    }

    /// Whether the order of the two bios matters: they overlap and at least one of them changes the
    /// medium. A flush has no position and conflicts with nothing.
    #[must_use]
    pub const fn conflicts_with(&self, other: &Self) -> bool {
        !matches!(self.op, Op::Flush)
            && !matches!(other.op, Op::Flush)
            && (self.op.is_write() || other.op.is_write())
            && self.start.0 < other.end().0
            && other.start.0 < self.end().0
    }
}

/// A unit of I/O as the elevator orders it and the device serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The slot that the request occupies.
    pub id: RequestId,
    /// The task that submitted the first bio.
    pub task: TaskId,
    /// The group that the request is charged to.
    pub group: GroupId,
    /// The operation.
    pub op: Op,
    /// The first sector.
    pub start: Lba,
    /// The length of all merged bios together.
    pub sectors: Sectors,
    /// Whether a submitter waits for the request to complete.
    pub sync: bool,
    /// The hints of the first bio; merging does not change them.
    pub flags: Flags,
    /// The submitter's priority when the first bio was submitted.
    pub ioprio: IoPrio,
    /// When the oldest bio got its request slot.
    pub arrived: Instant,
}

impl Request {
    /// The position after the last sector.
    #[must_use]
    pub const fn end(&self) -> Lba {
        self.start.after(self.sectors)
    }

    /// Whether the bio is of the same group and as synchronous, as it has to be for a scheduler
    /// that keeps groups apart to merge it into this request.
    #[must_use]
    pub fn is_like(&self, bio: &Bio) -> bool {
        self.sync == bio.sync && self.group == bio.group
    }
}
