//! The records that tie a scheduler instance to the groups of its device, and defect D1: a record
//! that stays behind when the instance goes (spec: groups, sections 1.1, 1.7, 1.8).
//!
//! A group holds a set of records, one for each device that two-layer CFQ runs; an engine has one
//! device, so its [`Leftovers`] say for each group whether a record of an instance that is gone is
//! still in that set. Attaching walks the set of every group. In 2008 the walk followed such a
//! record into freed memory and the kernel stopped; here it is found, and said.
//!
//! The root group is made with the scheduler, not by a user, and is left out: the report needs a
//! group that was created.

use alloc::vec::Vec;
use fairdisk_core::{AttachError, GroupId, Leftovers, dense};

/// The groups that hold a record of this instance.
#[derive(Debug)]
pub(super) struct Records {
    /// D1: detaching leaves the records where they are.
    stay_behind: bool,
    linked: Vec<bool>,
}

impl Records {
    pub(super) const fn new(stay_behind: bool) -> Self {
        Self { stay_behind, linked: Vec::new() }
    }

    /// Walks the groups' sets before anything is linked into them.
    pub(super) fn attach(leftovers: &Leftovers) -> Result<(), AttachError> {
        leftovers.first().map_or(Ok(()), |group| Err(AttachError::StaleRecord { group }))
    }

    /// A group exists: it holds a record from now on.
    pub(super) fn link(&mut self, group: GroupId) {
        *dense::entry(&mut self.linked, group.0, || false) = group != GroupId::ROOT;
    }

    /// A group is gone. What it still has queued pins the layer, not the record.
    pub(super) fn unlink(&mut self, group: GroupId) {
        if let Some(linked) = self.linked.get_mut(group.0 as usize) {
            *linked = false;
        }
    }

    /// The instance goes; with the defect its records do not.
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

    /// The report of 30 May 2008: create a group, switch away, switch back.
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
