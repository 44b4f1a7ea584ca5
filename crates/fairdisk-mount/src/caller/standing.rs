//! What the system says of a thread that asks: its other groups, and whether it has rights over
//! files that are not its user's.

use super::User;
use rustix::process::Gid;
use rustix::thread::CapabilitySet;
use std::fs;

/// Rights with which one user may do to a file what only another may.
const OVER_FILES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::LINUX_IMMUTABLE)
    .union(CapabilitySet::MAC_OVERRIDE)
    .union(CapabilitySet::MKNOD)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::SYS_ADMIN);

/// A thread that waits for our answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The other groups.
    pub(crate) groups: Vec<Gid>,
    /// Whether it has rights over files of others. What they are worth depends on its namespace.
    pub(super) over_files: bool,
    /// Whether it administers its namespace.
    administers: bool,
}

impl Standing {
    /// Of the thread that asks in the name of a user. Nothing if it cannot be seen from here, or
    /// is not that user: one that was killed, and whose number another has by now.
    pub(crate) fn of(thread: u32, user: User) -> Option<Self> {
        if thread == 0 {
            return None;
        }
        Self::parse(&fs::read_to_string(format!("/proc/{thread}/status")).ok()?, user)
    }

    /// Whether the thread that asks in the name of a user administers the machine: not one that
    /// cannot be seen from here, nor an administrator of a namespace with other users.
    pub(crate) fn administers(thread: u32, user: User) -> bool {
        let users = |thread| fs::read_link(format!("/proc/{thread}/ns/user")).ok();
        Self::of(thread, user).is_some_and(|standing| standing.administers)
            && users(thread).is_some_and(|theirs| Some(theirs) == users(std::process::id()))
    }

    fn parse(status: &str, user: User) -> Option<Self> {
        let line = |key| status.lines().find_map(|line| line.strip_prefix(key));
        // Real, effective, saved, and the one that counts for files.
        let for_files = |key| line(key)?.split_whitespace().nth(3)?.parse().ok();
        if for_files("Uid:") != Some(user.uid) || for_files("Gid:") != Some(user.gid) {
            return None;
        }
        let groups = line("Groups:")?.split_whitespace().filter_map(|gid| gid.parse().ok());
        let rights = u64::from_str_radix(line("CapEff:")?.trim(), 16).ok()?;
        let rights = CapabilitySet::from_bits_retain(rights);
        Some(Self {
            groups: groups.map(Gid::from_raw).collect(),
            over_files: rights.intersects(OVER_FILES),
            administers: rights.contains(CapabilitySet::SYS_ADMIN),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(groups: &str, rights: &str) -> String {
        format!(
            "Name:\ta\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t{groups} \nCapEff:\t{rights}\n"
        )
    }

    #[test]
    fn a_thread_is_what_it_is_for_files() {
        let user = User { uid: 4, gid: 8 };
        let plain = Standing::parse(&status("4 24", "0000000000000400"), user).unwrap();
        assert_eq!(plain.groups, [4, 24].map(Gid::from_raw));
        assert!(!plain.over_files, "the network is no business of ours");
        let alone = Standing::parse(&status("", "000001ffffffffff"), user).unwrap();
        assert!(alone.groups.is_empty() && alone.over_files);
    }

    #[test]
    fn who_is_somebody_else_by_now_says_nothing() {
        for user in [User { uid: 1, gid: 8 }, User { uid: 4, gid: 5 }] {
            assert_eq!(Standing::parse(&status("", "0"), user), None);
        }
        assert_eq!(Standing::parse("", User::ROOT), None);
        assert_eq!(Standing::of(0, User::ROOT), None);
    }
}
