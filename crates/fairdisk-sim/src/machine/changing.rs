//! What somebody does to a machine while it runs: other schedulers, groups that come and go, tasks
//! that are ended.

use super::Machine;
use fairdisk_core::{AttachError, Change, Elevator, GroupId, Input, Instant, Refusal};

impl<E: Elevator> Machine<E> {
    /// Lets another elevator take over a disk with all that is queued.
    ///
    /// # Errors
    /// The elevator refuses; the present one stays.
    pub fn switch(&mut self, now: Instant, disk: u32, elevator: E) -> Result<(), AttachError> {
        self.feed(now, disk, Input::Switch(Box::new(elevator)));
        let refused = self.outbox.effects.switch_refused;
        self.settle(now);
        refused.map_or(Ok(()), Err)
    }

    /// Makes a group that was to be made later, with its settings.
    pub fn make_group(&mut self, now: Instant, group: GroupId) {
        let spec = self.config.groups[group.0 as usize];
        let added = Change::GroupAdded { group, share: spec.share };
        for change in std::iter::once(added).chain(spec.more(group)) {
            self.change_everywhere(now, change);
        }
    }

    /// Applies a change on all disks. Returns the first refusal, if there was one.
    pub fn change_everywhere(&mut self, now: Instant, change: Change) -> Option<Refusal> {
        let mut refused = None;
        for disk in 0..self.disks.len() as u32 {
            self.feed(now, disk, Input::Configure(change));
            refused = refused.or(self.outbox.effects.change_refused);
            self.settle(now);
        }
        refused
    }

    /// Ends a task as soon as it waits for none of its I/Os.
    pub fn end_task(&mut self, index: u32) {
        self.task(index).end();
    }
}
