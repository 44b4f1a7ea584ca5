//! Periodic observation of the mounts of a disk, and log messages about what needs attention.

use fairdisk_core::Span;
use fairdisk_mount::{GroupStatus, Mounts, give_memory_back, tell_unsaid};
use std::collections::BTreeMap;

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

/// The wait for the disk beyond which a warning is logged.
const LONG_WAIT: Span = Span::from_s(5);

/// The figures that have been logged already.
#[derive(Debug, Default)]
pub(super) struct Observer {
    rounds: u32,
    longest: BTreeMap<String, Span>,
    unattributed: u64,
    kept_back: u64,
    /// The number of rounds since when mounts that have ended have had data to write out.
    leaving: u32,
}

impl Observer {
    /// Does the work of one round of the main loop.
    pub(super) fn look_now_and_then(&mut self, mounts: &Mounts) {
        self.rounds += 1;
        tell_unsaid(false);
        self.tell_left(mounts.left_behind(), mounts.jobs_left_behind());
        if self.rounds.is_multiple_of(SETTINGS_ROUNDS) {
            mounts.gate().look_again();
        }
        if self.rounds.is_multiple_of(LOOK_ROUNDS) {
            mounts.look_below();
        }
        if self.rounds.is_multiple_of(REST_ROUNDS) {
            mounts.rest();
            give_memory_back();
        }
        if self.rounds < ROUNDS {
            return;
        }
        self.rounds = 0;
        for (group, wait) in self.long_waits(&mounts.gate().groups()) {
            tracing::warn!(group, longest_wait_s = wait.as_ms() as f64 / 1e3, "long wait");
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

    /// The groups whose longest wait is too long, and at least twice as long as when it was last
    /// logged.
    fn long_waits(&mut self, groups: &[GroupStatus]) -> Vec<(String, Span)> {
        self.longest.retain(|path, _| groups.iter().any(|group| group.path == *path));
        let mut found = Vec::new();
        for GroupStatus { path, account, .. } in groups {
            let told = self.longest.get(path).copied().unwrap_or_default();
            let wait = account.wait_max;
            // A new group of the same name has had shorter waits.
            if wait < told {
                self.longest.remove(path);
            } else if wait > LONG_WAIT && wait.as_ns() >= 2 * told.as_ns() {
                self.longest.insert(path.clone(), wait);
                found.push((path.clone(), wait));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::{GroupAccount, GroupId, GroupLoad, Rates};
    use fairdisk_mount::identity::Asks;

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

    #[test]
    fn a_long_wait_is_told_once_and_again_when_it_has_doubled() {
        let mut observer = Observer::default();
        let mut told = |waits: &[(&str, u64)]| {
            let group = |(path, s): &(&str, u64)| GroupStatus {
                id: GroupId::ROOT,
                path: (*path).to_owned(),
                asks: Asks::DEFAULT,
                parent: None,
                refused: Rates::NONE,
                account: GroupAccount { wait_max: Span::from_s(*s), ..GroupAccount::default() },
                deferred: Span::ZERO,
                load: GroupLoad::default(),
                oldest: Span::ZERO,
            };
            let groups: Vec<GroupStatus> = waits.iter().map(group).collect();
            let found = observer.long_waits(&groups);
            found.into_iter().map(|(path, wait)| (path, wait.as_ms() / 1000)).collect::<Vec<_>>()
        };
        assert_eq!(told(&[("/a", 5), ("/b", 6)]), [("/b".to_owned(), 6)]);
        assert_eq!(told(&[("/a", 7), ("/b", 11)]), [("/a".to_owned(), 7)]);
        assert_eq!(told(&[("/a", 7), ("/b", 12)]), [("/b".to_owned(), 12)]);
        assert_eq!(told(&[("/b", 13)]), []);
        assert_eq!(told(&[("/a", 8), ("/b", 1)]), [("/a".to_owned(), 8)]);
        assert_eq!(told(&[("/b", 6)]), [("/b".to_owned(), 6)]);
    }
}
