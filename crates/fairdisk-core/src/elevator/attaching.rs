//! Attaching an elevator to a device: the records that earlier elevators may leave in the groups,
//! and the reason an elevator may refuse to attach.

use crate::request::GroupId;
use alloc::vec::Vec;
use core::fmt;

/// What an elevator does when it takes a device over and gives it up. By default it leaves nothing
/// behind, and does not mind what others have left.
pub trait Attaching {
    /// Attaches to a device before any other call about it. `leftovers` lists the groups in which
    /// earlier elevators left records.
    ///
    /// # Errors
    /// Returns why the elevator cannot work with those records; the caller then keeps its present
    /// elevator.
    fn attach(&mut self, _leftovers: &Leftovers) -> Result<(), AttachError> {
        Ok(())
    }

    /// Detaches from the device after a drain. Groups from which the elevator fails to remove its
    /// records are added to `leftovers`.
    fn detach(&mut self, _leftovers: &mut Leftovers) {}
}

/// The groups that still hold records of detached elevators. The engine owns this list because,
/// like the groups, it outlives every elevator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    groups: Vec<GroupId>,
}

impl Leftovers {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { groups: Vec::new() }
    }

    /// Whether no group holds a stale record.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The lowest-numbered group that still holds a stale record.
    #[must_use]
    pub fn first(&self) -> Option<GroupId> {
        self.groups.iter().min().copied()
    }

    /// Notes that a detached elevator left a record in `group`.
    pub fn leave(&mut self, group: GroupId) {
        if !self.groups.contains(&group) {
            self.groups.push(group);
        }
    }

    /// Drops the note for `group`, which has been removed together with its records.
    pub fn forget(&mut self, group: GroupId) {
        self.groups.retain(|held| *held != group);
    }
}

/// Why an elevator cannot attach to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// A group still holds a record of a detached elevator.
    StaleRecord {
        /// The group that holds the record.
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
