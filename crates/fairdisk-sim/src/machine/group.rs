//! The settings of a machine's groups, of which the schedulers are told.

use fairdisk_core::{Change, GroupId, Qos, Share};

/// The settings of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSpec {
    /// The group's share among its siblings.
    pub share: Share,
    /// The parent group; `None` for a top-level group.
    pub parent: Option<GroupId>,
    /// The group's floor, ceiling and latency target.
    pub qos: Qos,
}

impl GroupSpec {
    /// The changes that tell a scheduler of the group's settings other than its share.
    pub(super) fn more(&self, group: GroupId) -> impl Iterator<Item = Change> + use<> {
        let parent = self.parent.map(|parent| Change::GroupParent { group, parent: Some(parent) });
        let qos = (self.qos != Qos::NONE).then_some(Change::GroupQos { group, qos: self.qos });
        parent.into_iter().chain(qos)
    }
}
