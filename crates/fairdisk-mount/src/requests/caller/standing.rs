//! Inspection of the calling thread: its supplementary groups and its capabilities over files.

use super::User;
use rustix::process::Gid;
use rustix::thread::CapabilitySet;
use std::fs;

/// Capabilities that allow a user to do what otherwise only a file's owner may do.
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

/// What the system tells about a thread that waits for our answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The supplementary groups.
    pub(crate) groups: Vec<Gid>,
    /// Whether the thread has capabilities over others' files. Their scope depends on its user
    /// namespace.
    pub(super) over_files: bool,
    /// Whether the thread has CAP_SYS_ADMIN in its user namespace.
    administers: bool,
}

impl Standing {
    /// Inspects the thread of a request by `user`. `None` if it cannot be seen from here, or
    /// belongs to another user: then the calling thread was killed and its number has been reused.
    pub(crate) fn of(thread: u32, user: User) -> Option<Self> {
        if thread == 0 {
            return None;
        }
        Self::parse(&fs::read_to_string(format!("/proc/{thread}/status")).ok()?, user)
    }

    /// Whether the thread of a request by `user` administers the machine. That excludes threads
    /// that cannot be seen from here and administrators of other user namespaces.
    pub(crate) fn administers(thread: u32, user: User) -> bool {
        let users = |thread| fs::read_link(format!("/proc/{thread}/ns/user")).ok();
        Self::of(thread, user).is_some_and(|standing| standing.administers)
            && users(thread).is_some_and(|theirs| Some(theirs) == users(std::process::id()))
    }

    fn parse(status: &str, user: User) -> Option<Self> {
        let line = |key| status.lines().find_map(|line| line.strip_prefix(key));
        // The fields are the real, effective, saved and file-system ids.
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
