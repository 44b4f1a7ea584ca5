//! An elevator takes a device over and gives it up: what may stay behind in the groups, and why a
//! device may be refused.

use crate::request::GroupId;
use alloc::vec::Vec;
use core::fmt;

/// What elevators that are gone left behind in the groups of a device. Belongs to the engine: it
/// outlives every elevator, as groups do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    groups: Vec<GroupId>,
}

impl Leftovers {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { groups: Vec::new() }
    }

    /// Whether every group is clean.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The group with the lowest number that still holds something.
    #[must_use]
    pub fn first(&self) -> Option<GroupId> {
        self.groups.iter().min().copied()
    }

    /// Something stays behind in `group`.
    pub fn leave(&mut self, group: GroupId) {
        if !self.groups.contains(&group) {
            self.groups.push(group);
        }
    }

    /// The group is gone, and what it held with it.
    pub fn forget(&mut self, group: GroupId) {
        self.groups.retain(|held| *held != group);
    }
}

/// Why an elevator cannot take a device over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// A group still holds a record of an elevator that is gone.
    StaleRecord {
        /// The group.
        group: GroupId,
    },
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StaleRecord { group } => write!(
                f,
                "group {} still holds a record of a scheduler that is gone; remove the group, or \
                 switch defect D1 off",
                group.0
            ),
        }
    }
}

impl core::error::Error for AttachError {}
