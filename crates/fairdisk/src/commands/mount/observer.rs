//! Periodic observation of the mounts of a disk, and log messages about what needs attention.

use fairdisk_core::{OpKind, Span};
use fairdisk_mount::{BlockedTask, GroupStatus, Mounts, give_memory_back, tell_unsaid};
use std::collections::{BTreeMap, BTreeSet};

/// The number of rounds of the main loop between two observations, which amounts to 5 s.
const ROUNDS: u32 = 50;

/// The number of rounds after which the settings of waiting groups are read again: 0.5 s.
const SETTINGS_ROUNDS: u32 = 5;

/// The number of rounds after which open files are looked at for changes by others: 1 s.
pub(super) const LOOK_ROUNDS: u32 = 10;

/// The number of rounds after which unused file systems below the sources are released: 2.5 s.
pub(super) const REST_ROUNDS: u32 = 25;

/// The number of rounds between two messages about data that is still being written out: 1 s.
const LEFT_ROUNDS: u32 = 10;

/// The number of observations, of 5 s each, in a period of the longest waits lately: 30 s.
const PERIOD: u32 = 6;

/// The wait for the disk beyond which a warning is logged.
const LONG_WAIT: Span = Span::from_s(5);

/// The wait after which the kernel calls a task hung, unless told otherwise.
const HUNG: Span = Span::from_s(120);

/// The figures that have been logged already.
#[derive(Debug, Default)]
pub(super) struct Observer {
    rounds: u32,
    /// By group and kind of operation.
    longest: BTreeMap<(String, OpKind), Span>,
    /// The threads whose present wait has been logged as that of a hung task.
    hung: BTreeSet<u32>,
    unattributed: u64,
    kept_back: u64,
    /// The number of observations in the current period of the longest waits.
    period: u32,
    /// The number of rounds since when mounts that have ended have had data to write out.
    leaving: u32,
}

impl Observer {
    /// Does the work of one round of the main loop.
    pub(super) fn look_now_and_then(&mut self, mounts: &Mounts) {
        self.rounds += 1;
        tell_unsaid(false);
        mounts.gate().look_at_waits();
        self.tell_left(mounts.left_behind(), mounts.jobs_left_behind());
        if self.rounds.is_multiple_of(SETTINGS_ROUNDS) {
            mounts.gate().look_again(self.rounds.is_multiple_of(LOOK_ROUNDS));
        }
        if self.rounds.is_multiple_of(LOOK_ROUNDS) {
            mounts.look_below();
            follow_rules(mounts);
        }
        if self.rounds.is_multiple_of(REST_ROUNDS) {
            mounts.rest();
            give_memory_back();
        }
        if self.rounds < ROUNDS {
            return;
        }
        self.rounds = 0;
        self.period = (self.period + 1) % PERIOD;
        if self.period == 0 {
            mounts.gate().begin_period();
        }
        let groups = mounts.gate().groups();
        for (group, kind, wait) in self.long_waits(&groups) {
            tell_long_wait(group, kind, wait);
        }
        for task in self.newly_hung(mounts.gate().blocked(HUNG)) {
            tell_hung(&task);
        }
        let all = mounts.unattributed_writes();
        if all > self.unattributed {
            let writes = all - self.unattributed;
            tracing::info!(writes, "writes of nobody charged to the last user of their file");
        }
        self.unattributed = all;
        let all = mounts.gate().kept_back();
        if all > self.kept_back {
            let requests = all - self.kept_back;
            // This is a fault of ours: the disk is fine, but shares may be inaccurate.
            tracing::warn!(requests, "let through unasked, and charged to nobody");
        }
        self.kept_back = all;
    }

    /// Logs now and then that ended mounts still have data to write out, which takes as long as the
    /// disk and the ceilings require. Returns whether it has logged.
    fn tell_left(&mut self, bytes: u64, requests: usize) -> bool {
        self.leaving = if bytes > 0 || requests > 0 { self.leaving + 1 } else { 0 };
        let tells = self.leaving > 0 && self.leaving.is_multiple_of(LEFT_ROUNDS);
        if tells {
            tracing::info!(bytes, requests, "still being written out");
        }
        tells
    }

    /// Those of the `blocked` threads whose present wait has not been logged.
    fn newly_hung(&mut self, blocked: Vec<BlockedTask>) -> Vec<BlockedTask> {
        let present: BTreeSet<u32> = blocked.iter().map(|task| task.tid).collect();
        let known = std::mem::replace(&mut self.hung, present);
        blocked.into_iter().filter(|task| !known.contains(&task.tid)).collect()
    }

    /// The groups whose longest wait for an operation of a kind is too long, and at least twice as
    /// long as when it was last logged. Flushes wait from the call to the answer.
    fn long_waits<'a>(
        &mut self,
        groups: &'a [GroupStatus],
    ) -> Vec<(&'a GroupStatus, OpKind, Span)> {
        self.longest.retain(|(path, _), _| groups.iter().any(|group| group.path == *path));
        let mut found = Vec::new();
        for group in groups {
            for (kind, op) in group.account.ops.iter() {
                let wait = match kind {
                    OpKind::Flush => op.wait_max.max(group.flushes.longest.total()),
                    _ => op.wait_max,
                };
                let key = (group.path.clone(), kind);
                let told = self.longest.get(&key).copied().unwrap_or_default();
                // A new group of the same name has had shorter waits.
                if wait < told {
                    self.longest.remove(&key);
                } else if wait > LONG_WAIT && wait.as_ns() >= 2 * told.as_ns() {
                    self.longest.insert(key, wait);
                    found.push((group, kind, wait));
                }
            }
        }
        found
    }
}

/// Logs a thread that the kernel would call a hung task, in words by which people look for one.
fn tell_hung(task: &BlockedTask) {
    let BlockedTask { tid, name, group, kind, age, at_disk } = task;
    let (pid, op, blocked_s) = (*tid, kind.name(), age.as_ms() / 1000);
    let at = if *at_disk { "disk" } else { "scheduler" };
    tracing::warn!(
        task = format!("{name}:{pid}"),
        group,
        op,
        blocked_s,
        at,
        "task blocked for more than 120 seconds"
    );
}

/// Has changed rules for groups hold, and logs what they are.
fn follow_rules(mounts: &Mounts) {
    let Some(hierarchy) = mounts.gate().hierarchy() else { return };
    let Some(loaded) = hierarchy.rules().follow() else { return };
    for problem in &loaded.problems {
        tracing::warn!(%problem, "rules refused, the former ones hold");
    }
    if loaded.problems.is_empty() {
        tracing::info!(rules = loaded.rules.all.len(), files = loaded.files, "rules read");
    }
}

fn tell_long_wait(group: &GroupStatus, kind: OpKind, wait: Span) {
    let seconds = |span: Span| span.as_ms() as f64 / 1e3;
    let (longest_wait_s, longest) = (seconds(wait), group.flushes.longest);
    let (group, op) = (&group.path, kind.name());
    if kind == OpKind::Flush && longest.total() == wait {
        let (own_data_s, scheduler_s) = (seconds(longest.own_data), seconds(longest.scheduler));
        let source_s = seconds(longest.device);
        tracing::warn!(group, op, longest_wait_s, own_data_s, scheduler_s, source_s, "long wait");
    } else {
        tracing::warn!(group, op, longest_wait_s, "long wait");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::{GroupAccount, GroupId, GroupLoad, Rates};
    use fairdisk_mount::identity::Asks;
    use fairdisk_plane::disk::{FlushTimes, Flushes};

    #[test]
    fn what_is_left_is_told_once_a_second_if_it_takes_so_long() {
        let mut observer = Observer::default();
        let mut told = |left: &[(u64, usize)]| -> Vec<bool> {
            left.iter().map(|(bytes, requests)| observer.tell_left(*bytes, *requests)).collect()
        };
        let nothing = [false; 9];
        assert_eq!(told(&[(1 << 20, 0); 9]), nothing);
        assert_eq!(told(&[(0, 5)]), [true]);
        assert_eq!(told(&[(0, 5); 9]), nothing);
        assert_eq!(told(&[(0, 0)]), [false], "it is done");
        assert_eq!(told(&[(0, 1); 9]), nothing);
    }

    fn group(path: &str) -> GroupStatus {
        GroupStatus {
            id: GroupId::ROOT,
            path: path.to_owned(),
            asks: Asks::DEFAULT,
            parent: None,
            refused: Rates::NONE,
            account: GroupAccount::default(),
            flushes: Flushes::default(),
            deferred: Span::ZERO,
            load: GroupLoad::default(),
            oldest: Span::ZERO,
            waits: Vec::new(),
        }
    }

    #[test]
    fn a_hung_task_is_told_once_for_each_wait() {
        let mut observer = Observer::default();
        let mut told = |tids: &[u32]| -> Vec<u32> {
            let blocked = |tid: &u32| BlockedTask {
                tid: *tid,
                name: "cat".to_owned(),
                group: "/a".to_owned(),
                kind: OpKind::Read,
                age: Span::from_s(121),
                at_disk: false,
            };
            let new = observer.newly_hung(tids.iter().map(blocked).collect());
            new.into_iter().map(|task| task.tid).collect()
        };
        assert_eq!(told(&[7, 8]), [7, 8]);
        assert_eq!(told(&[7, 8, 9]), [9]);
        assert!(told(&[7]).is_empty());
        assert_eq!(told(&[7, 8]), [8], "it waits again");
    }

    /// A flush that waits for its own data has not reached the scheduler, and is long all the same.
    #[test]
    fn a_flush_is_long_from_the_call_to_the_answer() {
        let mut observer = Observer::default();
        let own_data = Span::from_s(4);
        let longest = FlushTimes { own_data, device: Span::from_s(2), ..FlushTimes::default() };
        let flushes = Flushes { longest, ..Flushes::default() };
        let groups = [GroupStatus { flushes, ..group("/a") }];
        let found = observer.long_waits(&groups);
        let found: Vec<_> = found.iter().map(|(_, kind, wait)| (*kind, *wait)).collect();
        assert_eq!(found, [(OpKind::Flush, Span::from_s(6))]);
    }

    #[test]
    fn a_long_wait_is_told_once_and_again_when_it_has_doubled() {
        let mut observer = Observer::default();
        let mut told = |waits: &[(&str, u64)]| {
            let group = |(path, s): &(&str, u64)| {
                let mut account = GroupAccount::default();
                account.waited(OpKind::Read, Span::from_s(*s));
                GroupStatus { account, ..group(path) }
            };
            let groups: Vec<GroupStatus> = waits.iter().map(group).collect();
            let found = observer.long_waits(&groups);
            let seconds = |(group, _, wait): (&GroupStatus, _, Span)| {
                (group.path.clone(), wait.as_ms() / 1000)
            };
            found.into_iter().map(seconds).collect::<Vec<_>>()
        };
        assert_eq!(told(&[("/a", 5), ("/b", 6)]), [("/b".to_owned(), 6)]);
        assert_eq!(told(&[("/a", 7), ("/b", 11)]), [("/a".to_owned(), 7)]);
        assert_eq!(told(&[("/a", 7), ("/b", 12)]), [("/b".to_owned(), 12)]);
        assert_eq!(told(&[("/b", 13)]), []);
        assert_eq!(told(&[("/a", 8), ("/b", 1)]), [("/a".to_owned(), 8)]);
        assert_eq!(told(&[("/b", 6)]), [("/b".to_owned(), 6)]);
    }
}
