//! Which group a job belongs to and what the group is due: Fairdisk's keys and fio's cgroup keys.

use super::limits::Limits;
use fairdisk_core::Weight;
use serde::Serialize;

/// A job's group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupSetting {
    /// Starts with `/`.
    pub path: String,
    /// What it is due.
    pub share: GroupShare,
    /// What it asks for beside that.
    pub limits: Limits,
}

/// What a group is due, as it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupShare {
    /// Nothing said: weight 100.
    Default,
    /// `group_weight`, 1 to 10000.
    Weight(u16),
    /// `group_ioprio`, 0 (high) to 7 (low).
    IoPrio(u8),
    /// fio's `cgroup_weight`, 100 to 1000 on the scale of cgroup v1, where 500 is the default.
    CgroupWeight(u16),
}

impl GroupShare {
    /// The weight in effect, 1 to 10000, default 100.
    #[must_use]
    pub fn weight(self) -> u16 {
        match self {
            Self::Default => 100,
            Self::Weight(weight) => weight,
            Self::IoPrio(priority) => 25 * (8 - u16::from(priority.min(7))),
            Self::CgroupWeight(weight) => (weight / Weight::BLKIO_SCALE as u16).max(1),
        }
    }
}
