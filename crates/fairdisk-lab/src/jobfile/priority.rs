//! The priority of a job's requests: I/O class and level, and the `nice` value.

use serde::Serialize;

use super::check::{NEUTRAL, say};
use super::draft::{Draft, List, value};
use super::note::Notes;
use super::per_op::PerOp;
use super::render::Lines;

/// The priority of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Priority {
    /// The I/O priority that the scheduler sees.
    pub io: IoPrio,
    /// The `nice` value, -20 (high) to 19 (low).
    pub nice: i8,
    /// The requests that have another priority.
    pub preferred: Option<Preferred>,
}

/// Requests that have a priority of their own (`cmdprio_percentage`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Preferred {
    /// The percentage of requests; none of trims.
    pub percent: PerOp<u8>,
    /// Their priority (`cmdprio_class`, `cmdprio`).
    pub io: PerOp<IoPrio>,
}

/// The keys of requests with a priority of their own.
#[derive(Debug, Clone, Default)]
pub(super) struct PreferredKeys {
    pub(super) percent: List<u8>,
    pub(super) class: List<u8>,
    pub(super) level: List<u8>,
}

impl PreferredKeys {
    /// fio has real time as the class, unless another is given, and leaves trims alone.
    pub(super) fn preferred(&self) -> Option<Preferred> {
        let of = |slot: &List<u8>, default: u8| {
            value(slot).unwrap_or_else(|| PerOp::all(None)).unwrap_or(&default)
        };
        let percent = PerOp { trim: 0, ..of(&self.percent, 0) };
        let (class, level) = (of(&self.class, 1), of(&self.level, 0));
        let io = |class: u8, level: u8| match class {
            0 => IoPrio::FromNice,
            1 => IoPrio::RealTime { level },
            2 => IoPrio::BestEffort { level },
            _ => IoPrio::Idle,
        };
        let io = PerOp {
            read: io(class.read, level.read),
            write: io(class.write, level.write),
            trim: IoPrio::FromNice,
        };
        percent.iter().any(|percent| *percent > 0).then_some(Preferred { percent, io })
    }
}

pub(super) fn remarks(draft: &Draft, notes: &mut Notes) {
    let keys = &draft.preferred;
    let is_off = keys.preferred().is_none();
    say(notes, &keys.percent, is_off, NEUTRAL);
    for slot in [&keys.class, &keys.level] {
        say(notes, slot, is_off, "no effect: it takes cmdprio_percentage, which is not in force");
    }
}

impl Preferred {
    pub(super) fn lines(&self, lines: &mut Lines) {
        let text = "of reads,writes have a priority of their own";
        lines.set("cmdprio_percentage", both(self.percent.read, self.percent.write), text);
        let of = |io: IoPrio| match io {
            IoPrio::FromNice => (0, 0),
            IoPrio::RealTime { level } => (1, level),
            IoPrio::BestEffort { level } => (2, level),
            IoPrio::Idle => (3, 0),
        };
        let (read, write) = (of(self.io.read), of(self.io.write));
        lines.set("cmdprio_class", both(read.0, write.0), "");
        lines.set("cmdprio", both(read.1, write.1), "");
    }
}

/// The values for reads and writes, as one if they are alike.
fn both(read: u8, write: u8) -> String {
    if read == write { read.to_string() } else { format!("{read},{write}") }
}

/// A Linux I/O priority, as set by `ionice`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IoPrio {
    /// Not set: best effort at a level derived from the `nice` value.
    #[default]
    FromNice,
    /// Served before every other class.
    RealTime {
        /// The level, 0 (high) to 7 (low).
        level: u8,
    },
    /// The ordinary class.
    BestEffort {
        /// The level, 0 (high) to 7 (low).
        level: u8,
    },
    /// Served only when no other class wants the disk.
    Idle,
}

impl Priority {
    /// The level within best effort for a priority that is not set.
    #[must_use]
    pub fn level_from_nice(nice: i8) -> u8 {
        u8::try_from((i16::from(nice.clamp(-20, 19)) + 20) / 5).unwrap_or(4)
    }
}
