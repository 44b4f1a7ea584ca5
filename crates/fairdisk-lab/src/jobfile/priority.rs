//! The priority of a job's requests: I/O class and level, and the `nice` value.

use serde::Serialize;

/// The priority of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Priority {
    /// The I/O priority that the scheduler sees.
    pub io: IoPrio,
    /// The `nice` value, -20 (high) to 19 (low).
    pub nice: i8,
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
