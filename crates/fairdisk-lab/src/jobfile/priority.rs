//! The priority of a job's requests: I/O class and level, and the CPU's nice value.

use serde::Serialize;

/// A job's priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Priority {
    /// What the scheduler sees.
    pub io: IoPrio,
    /// -20 (high) to 19 (low).
    pub nice: i8,
}

/// A Linux I/O priority, as `ionice` sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IoPrio {
    /// Never set: best effort, the level follows the nice value.
    #[default]
    FromNice,
    /// Before everything else.
    RealTime {
        /// 0 (high) to 7 (low).
        level: u8,
    },
    /// The common class.
    BestEffort {
        /// 0 (high) to 7 (low).
        level: u8,
    },
    /// Only when nobody else wants the disk.
    Idle,
}

impl Priority {
    /// The level in effect within best effort, for a priority that was never set.
    #[must_use]
    pub fn level_from_nice(nice: i8) -> u8 {
        u8::try_from((i16::from(nice.clamp(-20, 19)) + 20) / 5).unwrap_or(4)
    }
}
