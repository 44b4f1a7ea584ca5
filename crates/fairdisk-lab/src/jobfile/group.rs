//! A job's group and its share, from Fairdisk's keys and fio's cgroup keys.

use super::limits::Limits;
use fairdisk_core::Weight;
use serde::Serialize;

/// The group of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupSetting {
    /// The path of the group; starts with `/`.
    pub path: String,
    /// The group's share.
    pub share: GroupShare,
    /// The group's floors, ceilings and latency target.
    pub limits: Limits,
}

/// The share of a group, as the job file gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupShare {
    /// No share given: weight 100.
    Default,
    /// `group_weight`, 1 to 10000.
    Weight(u16),
    /// `group_ioprio`, 0 (high) to 7 (low).
    IoPrio(u8),
    /// fio's `cgroup_weight`, 100 to 1000 on the scale of cgroup v1, whose default is 500.
    CgroupWeight(u16),
}

impl GroupShare {
    /// The resulting weight, 1 to 10000; the default is 100.
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
