//! Threads that wait for the disk.

use super::ScheduledGate;
use fairdisk_core::{OpKind, Span};
use fairdisk_plane::disk::Blocked;
use std::fs;

/// A thread that waits for a request of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedTask {
    /// The thread's number.
    pub tid: u32,
    /// The thread's name, as `ps` shows it; empty if it has ended.
    pub name: String,
    /// The path of its group's cgroup.
    pub group: String,
    /// The kind of operation.
    pub kind: OpKind,
    /// The time since the request was made.
    pub age: Span,
    /// Whether the request is at the disk, and not with the scheduler.
    pub at_disk: bool,
}

impl ScheduledGate {
    /// The threads that have waited for a request of theirs for longer than `least`.
    #[must_use]
    pub fn blocked(&self, least: Span) -> Vec<BlockedTask> {
        let blocked = self.disk.blocked(least);
        let identity = self.identity();
        let named = |it: Blocked| {
            let group = identity.heir(it.group);
            let group = identity.groups().find(|known| known.id == group);
            Some(BlockedTask {
                tid: identity.thread(it.task)?,
                name: String::new(),
                group: group.map_or_else(String::new, |known| known.path.to_owned()),
                kind: it.kind,
                age: it.age,
                at_disk: it.at_device,
            })
        };
        let mut all: Vec<BlockedTask> = blocked.into_iter().filter_map(named).collect();
        drop(identity);
        for task in &mut all {
            let name = fs::read_to_string(format!("/proc/{}/comm", task.tid)).unwrap_or_default();
            name.trim_end().clone_into(&mut task.name);
        }
        all
    }
}
