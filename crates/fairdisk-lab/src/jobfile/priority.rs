//! The priority of a job's requests: I/O class and level, and the `nice` value.

use serde::Serialize;

use super::check::say;
use super::draft::{Draft, List, value};
use super::note::Notes;
use super::per_op::PerOp;
use super::render::{Lines, one_or_three};

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
    /// The percentage of requests.
    pub percent: PerOp<u8>,
    /// Their priority (`cmdprio_class`, `cmdprio`).
    pub io: IoPrio,
}

/// The keys of requests with a priority of their own.
#[derive(Debug, Clone, Default)]
pub(super) struct PreferredKeys {
    pub(super) percent: List<u8>,
    pub(super) class: List<u8>,
    pub(super) level: List<u8>,
}

impl PreferredKeys {
    /// fio has real time as the class, unless another is given.
    pub(super) fn preferred(&self) -> Option<Preferred> {
        let of = |slot: &List<u8>, default: u8| {
            value(slot).unwrap_or_else(|| PerOp::all(None)).unwrap_or(&default)
        };
        let percent = of(&self.percent, 0);
        let (class, level) = (of(&self.class, 1).read, of(&self.level, 0).read);
        let io = match class {
            0 => IoPrio::FromNice,
            1 => IoPrio::RealTime { level },
            2 => IoPrio::BestEffort { level },
            _ => IoPrio::Idle,
        };
        percent.iter().any(|percent| *percent > 0).then_some(Preferred { percent, io })
    }
}

pub(super) fn remarks(draft: &Draft, notes: &mut Notes) {
    let keys = &draft.preferred;
    let is_off = keys.preferred().is_none();
    say(notes, &keys.percent, is_off, "no effect: the value of fio without the key");
    for slot in [&keys.class, &keys.level] {
        say(notes, slot, is_off, "no effect: it takes cmdprio_percentage, which is not in force");
    }
}

impl Preferred {
    pub(super) fn lines(&self, lines: &mut Lines) {
        let parts: Vec<String> = self.percent.iter().map(u8::to_string).collect();
        lines.set("cmdprio_percentage", one_or_three(&parts), "have a priority of their own");
        let (class, level) = match self.io {
            IoPrio::FromNice => (0, None),
            IoPrio::RealTime { level } => (1, Some(level)),
            IoPrio::BestEffort { level } => (2, Some(level)),
            IoPrio::Idle => (3, None),
        };
        lines.set("cmdprio_class", class, "");
        if let Some(level) = level {
            lines.set("cmdprio", level, "");
        }
    }
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
