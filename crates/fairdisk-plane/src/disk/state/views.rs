//! What is told of a disk's state.

use super::{State, Whose};
use crate::disk::{Blocked, Flushes, Presence, Unfinished};
use fairdisk_core::{GroupAccount, GroupId, GroupLoad, Instant, Promising as _, Span, TaskId};
use std::collections::BTreeMap;

impl State {
    pub(in crate::disk) fn account(&self, group: GroupId) -> Option<GroupAccount> {
        self.engine.accounts().group(group).cloned()
    }

    pub(in crate::disk) fn flushes(&self, group: GroupId) -> Flushes {
        self.flushes.get(group.0 as usize).cloned().unwrap_or_default()
    }

    pub(in crate::disk) fn deferred(&self, group: GroupId) -> Span {
        self.engine.deferred(group).unwrap_or_default()
    }

    /// The unfinished requests of each group that has any, with their ages at `now`.
    pub(in crate::disk) fn presence_at(&self, now: Instant) -> BTreeMap<GroupId, Presence> {
        let loads = self.engine.loads().into_iter();
        let presence = |(group, load): (GroupId, GroupLoad)| {
            let why = (load.queued > 0).then(|| self.engine.why_waiting(now, group)).flatten();
            (group, Presence { load, why, ..Presence::default() })
        };
        let mut all: BTreeMap<GroupId, Presence> = loads.map(presence).collect();
        for (whose, job) in self.whose.iter().zip(&self.waiting) {
            let Some(Whose { group, asked, kind, .. }) = *whose else { continue };
            let known = all.entry(group).or_default();
            let age = now - asked;
            known.oldest = known.oldest.max(age);
            // The job of an issued request is at the disk and not in `waiting`.
            if job.is_some() {
                known.waits[kind] = known.waits[kind].max(age);
            }
        }
        all
    }

    /// The oldest request of each task that has waited for one for longer than `least` at `now`.
    pub(in crate::disk) fn blocked_at(&self, now: Instant, least: Span) -> Vec<Blocked> {
        let mut oldest: BTreeMap<TaskId, Blocked> = BTreeMap::new();
        for (whose, job) in self.whose.iter().zip(&self.waiting) {
            let Some(Whose { task, group, asked, sync: true, kind, .. }) = *whose else { continue };
            let blocked = Blocked { task, group, kind, age: now - asked, at_device: job.is_none() };
            let known = oldest.entry(task).or_insert(blocked);
            if blocked.age > known.age {
                *known = blocked;
            }
        }
        oldest.into_values().filter(|blocked| blocked.age > least).collect()
    }

    pub(in crate::disk) fn unfinished(&self) -> Unfinished {
        let there = self.whose.iter().flatten();
        let (tasks, groups) = there.map(|whose| (whose.task, whose.group)).unzip();
        Unfinished { tasks, groups }
    }

    pub(in crate::disk) const fn depth(&self) -> u32 {
        self.engine.depth()
    }

    pub(in crate::disk) fn examines_floors(&self) -> bool {
        self.engine.elevator().examines_floors()
    }
}
