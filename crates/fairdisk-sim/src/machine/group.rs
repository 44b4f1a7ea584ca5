//! What a group of a machine asks for, as the schedulers are told.

use fairdisk_core::{Change, GroupId, Qos, Share};

/// What a group asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSpec {
    /// Its part of what it shares.
    pub share: Share,
    /// The group it lies in.
    pub parent: Option<GroupId>,
    /// Its floor, ceiling and latency target.
    pub qos: Qos,
}

impl GroupSpec {
    /// What there is to say about `group` beside its share.
    pub(super) fn more(&self, group: GroupId) -> impl Iterator<Item = Change> + use<> {
        let parent = self.parent.map(|parent| Change::GroupParent { group, parent: Some(parent) });
        let qos = (self.qos != Qos::NONE).then_some(Change::GroupQos { group, qos: self.qos });
        parent.into_iter().chain(qos)
    }
}
