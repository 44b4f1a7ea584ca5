//! The records that tie a scheduler instance to the groups of its device, and defect D1: a record
//! that stays behind when the instance is gone (spec: groups, sections 1.1, 1.7, 1.8).
//!
//! A group holds a set of records, one for each device that runs two-layer CFQ. An engine has one
//! device, so its [`Leftovers`] tell for each group whether the set still contains a record of an
//! instance that is gone. Attaching walks the set of every group. In 2008 the walk followed such a
//! record into freed memory and the kernel crashed; here it is found and reported.
//!
//! The root group is left out: it is created with the scheduler, and the report needs a group
//! created by a user.

use alloc::vec::Vec;
use fairdisk_core::{AttachError, GroupId, Leftovers, dense};

/// The groups that hold a record of this instance.
#[derive(Debug)]
pub(super) struct Records {
    /// Whether detaching leaves the records behind (D1).
    stay_behind: bool,
    linked: Vec<bool>,
}

impl Records {
    pub(super) const fn new(stay_behind: bool) -> Self {
        Self { stay_behind, linked: Vec::new() }
    }

    /// Checks the groups' sets before anything is linked into them.
    pub(super) fn attach(leftovers: &Leftovers) -> Result<(), AttachError> {
        leftovers.first().map_or(Ok(()), |group| Err(AttachError::StaleRecord { group }))
    }

    /// Records a new group, which holds a record from now on.
    pub(super) fn link(&mut self, group: GroupId) {
        *dense::entry(&mut self.linked, group.0, || false) = group != GroupId::ROOT;
    }

    /// Forgets a removed group. What it still has queued keeps the layer alive, not the record.
    pub(super) fn unlink(&mut self, group: GroupId) {
        if let Some(linked) = self.linked.get_mut(group.0 as usize) {
            *linked = false;
        }
    }

    /// Removes the records of this instance; with the defect they stay in the groups.
    pub(super) fn detach(&mut self, leftovers: &mut Leftovers) {
        for (at, linked) in self.linked.iter_mut().enumerate() {
            if core::mem::take(linked) && self.stay_behind {
                leftovers.leave(GroupId(at as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: GroupId = GroupId(1);
    const B: GroupId = GroupId(2);

    /// The report of 30 May 2008: create a group, switch away and switch back.
    #[test]
    fn a_record_that_stayed_behind_is_found_by_the_next_attach() {
        let (mut records, mut leftovers) = (Records::new(true), Leftovers::new());
        assert_eq!(Records::attach(&leftovers), Ok(()));
        [GroupId::ROOT, A, B].into_iter().for_each(|group| records.link(group));
        records.unlink(A);
        records.detach(&mut leftovers);
        assert_eq!(Records::attach(&leftovers), Err(AttachError::StaleRecord { group: B }));
        leftovers.forget(B);
        assert_eq!(Records::attach(&leftovers), Ok(()), "the group took it along");
    }

    #[test]
    fn the_root_group_alone_does_no_harm() {
        let (mut records, mut leftovers) = (Records::new(true), Leftovers::new());
        records.link(GroupId::ROOT);
        records.detach(&mut leftovers);
        assert!(leftovers.is_empty());
    }

    #[test]
    fn without_the_defect_nothing_stays_behind() {
        let (mut records, mut leftovers) = (Records::new(false), Leftovers::new());
        [A, B].into_iter().for_each(|group| records.link(group));
        records.detach(&mut leftovers);
        assert!(leftovers.is_empty());
    }
}
