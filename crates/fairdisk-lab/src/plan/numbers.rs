//! The numbers of a load's groups in the machine.

use super::loaded::GroupLabel;
use fairdisk_core::GroupId;

/// The name of the root group, which always exists.
pub const ROOT_GROUP: &str = "/";

/// The numbers of groups: the root group is 0, the others count from 1 in order of their indices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupNumbers {
    /// Index of the root group in the load, if tasks of the load are in it.
    pub root: Option<usize>,
}

impl GroupNumbers {
    /// The number of the group with index `at`.
    #[must_use]
    pub fn id(self, at: usize) -> GroupId {
        if self.root == Some(at) { GroupId::ROOT } else { GroupId(at as u32 + 1) }
    }

    /// The index of the group with this number; `None` for a root group without tasks of the load.
    #[must_use]
    pub fn place(self, id: GroupId) -> Option<usize> {
        match id {
            GroupId::ROOT => self.root,
            id => (id.0 as usize).checked_sub(1),
        }
    }

    /// For each group, the indices of the group and of all groups nested in it.
    pub(crate) fn members(self, groups: &[GroupLabel]) -> Vec<Vec<usize>> {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
        for at in 0..groups.len() {
            let mut outer = Some(at);
            // No group is nested in more groups than there are.
            for _ in groups {
                let Some(group) = outer else { break };
                members[group].push(at);
                outer = groups[group].spec.parent.and_then(|id| self.place(id));
            }
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_sim::GroupSpec;

    #[test]
    fn groups_have_those_in_them_however_deep() {
        let group = |parent: Option<u32>| GroupLabel {
            name: String::new(),
            spec: GroupSpec { parent: parent.map(GroupId), ..GroupSpec::default() },
        };
        let groups = [group(None), group(Some(1)), group(Some(2)), group(None)];
        let members = GroupNumbers::default().members(&groups);
        assert_eq!(members, [vec![0, 1, 2], vec![1, 2], vec![2], vec![3]]);
    }

    #[test]
    fn the_root_group_has_its_number_wherever_it_stands() {
        let numbers = GroupNumbers { root: Some(1) };
        assert_eq!([0, 1, 2].map(|at| numbers.id(at)), [GroupId(1), GroupId::ROOT, GroupId(3)]);
        assert!((0..3).all(|at| numbers.place(numbers.id(at)) == Some(at)));
        assert_eq!(GroupNumbers::default().place(GroupId::ROOT), None);
    }
}
