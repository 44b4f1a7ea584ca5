//! Looks at the mounts of a disk now and then, and tells the log what somebody should know.

use fairdisk_core::Span;
use fairdisk_mount::{GroupStatus, Mounts};
use std::collections::BTreeMap;

/// Rounds of the main loop between two looks: five seconds.
const ROUNDS: u32 = 50;

/// Rounds between two looks at the settings of groups that wait: half a second.
const SETTINGS_ROUNDS: u32 = 5;

/// Rounds of the main loop after which what nobody has used meanwhile is let go.
pub(super) const REST_ROUNDS: u32 = 25;

/// Rounds between two words about what is still being written out: a second.
const LEFT_ROUNDS: u32 = 10;

/// What waits longer for the disk is worth a warning.
const LONG_WAIT: Span = Span::from_s(5);

/// What was told already.
#[derive(Debug, Default)]
pub(super) struct Observer {
    rounds: u32,
    longest: BTreeMap<String, Span>,
    unattributed: u64,
    kept_back: u64,
    /// Rounds for which something of mounts that are gone has been left.
    leaving: u32,
}

impl Observer {
    /// Called in every round of the main loop.
    pub(super) fn look_now_and_then(&mut self, mounts: &Mounts) {
        self.rounds += 1;
        self.tell_left(mounts.left_behind(), mounts.jobs_left_behind());
        if self.rounds.is_multiple_of(SETTINGS_ROUNDS) {
            mounts.gate().look_again();
        }
        if self.rounds.is_multiple_of(REST_ROUNDS) {
            mounts.rest();
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
            // A fault of ours: nothing is wrong with the disk, and shares may be off.
            tracing::warn!(requests, "let through unasked, and charged to nobody");
        }
        self.kept_back = all;
    }

    /// What mounts that are gone have left takes as long as the disk and its ceilings let it.
    fn tell_left(&mut self, bytes: u64, requests: usize) -> bool {
        self.leaving = if bytes > 0 || requests > 0 { self.leaving + 1 } else { 0 };
        let tells = self.leaving > 0 && self.leaving.is_multiple_of(LEFT_ROUNDS);
        if tells {
            tracing::info!(bytes, requests, "still being written out");
        }
        tells
    }

    /// Groups that waited too long, and twice as long as when it was told last.
    fn long_waits(&mut self, groups: &[GroupStatus]) -> Vec<(String, Span)> {
        self.longest.retain(|path, _| groups.iter().any(|group| group.path == *path));
        let mut found = Vec::new();
        for GroupStatus { path, account, .. } in groups {
            let told = self.longest.get(path).copied().unwrap_or_default();
            let wait = account.wait_max;
            // One that begins anew under an old name has waited less.
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
    use fairdisk_core::{GroupAccount, GroupId, GroupLoad};
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
                account: GroupAccount { wait_max: Span::from_s(*s), ..GroupAccount::default() },
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
