//! What a recording asks of the gate.

use super::ScheduledGate;
use crate::identity::Asks;
use fairdisk_core::{Entry, GroupId, TaskId};
use fairdisk_trace::Settings;

impl ScheduledGate {
    /// Keeps up to `most` events of the disk from now on, or none.
    pub(crate) fn keep_journal(&self, most: usize) {
        self.disk.keep_journal(most);
    }

    /// Exchanges the events that were kept for an empty list, and returns how many requests are
    /// missing since the beginning.
    pub(crate) fn swap_journal(&self, empty: &mut Vec<Entry>) -> u64 {
        self.disk.swap_journal(empty)
    }

    /// The number of the thread that the scheduler knows as `task`, unless it has ended.
    pub(crate) fn thread_of(&self, task: TaskId) -> Option<u32> {
        self.identity().thread(task)
    }

    /// The settings of the group with this path; `None` if there is none.
    pub(crate) fn settings_of(&self, path: &str) -> Option<Settings> {
        let identity = self.identity();
        let group = identity.groups().find(|known| known.path == path)?;
        let Asks { share, qos, .. } = group.asks;
        Some(Settings::new(share.weight(Asks::WEIGHTS).get(), qos))
    }

    /// The path of a group's cgroup; `None` if it is gone.
    pub(crate) fn path_of(&self, group: GroupId) -> Option<String> {
        let identity = self.identity();
        identity.groups().find(|known| known.id == group).map(|known| known.path.to_owned())
    }
}
