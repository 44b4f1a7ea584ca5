//! Impersonation of users in accesses to the kernel's cgroup files.
//!
//! The kernel decides by the credentials of the process that opened a control file whether a task
//! may be moved or a group changed. These have to be the credentials of whoever opened the file
//! through the mount, not those of the daemon: the owner of a subtree may move tasks within it and
//! do nothing else, which only the kernel can check.

use crate::requests::caller::{self, Standing};
use fuser::Request;
use rustix::process::{Gid, Uid, getegid, getgroups};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_thread_groups,
    set_thread_res_gid, set_thread_res_uid,
};
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::PathBuf;

/// A user who has opened a file, with the credentials that count.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// The supplementary groups.
    groups: Vec<Gid>,
    /// The namespaces of cgroups and of tasks, as the kernel calls them; nothing if it does not
    /// say.
    cgroups: Option<PathBuf>,
    tasks: Option<PathBuf>,
}

/// Guards an impersonation; dropping it restores the thread's own identity.
pub(super) struct Being {
    own: Option<Own>,
}

/// The thread's own identity.
struct Own {
    sets: CapabilitySets,
    gid: Gid,
    groups: Vec<Gid>,
}

impl User {
    /// The user who makes a request. The calling thread waits for our answer, so its credentials
    /// cannot change meanwhile. For one that cannot be seen from here, only the ids of the request
    /// count.
    pub(super) fn of(request: &Request) -> Self {
        let task = request.pid();
        let standing = Standing::of(task, caller::User::of(request));
        Self {
            uid: request.uid(),
            gid: request.gid(),
            groups: standing.map_or_else(Vec::new, |standing| standing.groups),
            cgroups: namespace(task, "cgroup"),
            tasks: namespace(task, "pid"),
        }
    }

    /// Whether the user's cgroup namespace is ours. The kernel does not let a user move tasks
    /// across the border of the namespace, but could not enforce this here, where it sees our
    /// namespace.
    pub(super) fn sees_our_tree(&self) -> bool {
        self.cgroups.is_some() && self.cgroups == namespace("self", "cgroup")
    }

    /// Whether the user's PID namespace is ours, so that task numbers mean the same tasks.
    pub(super) fn counts_as_we_do(&self) -> bool {
        self.tasks.is_some() && self.tasks == namespace("self", "pid")
    }

    /// Makes the calling thread act as the user, without capabilities, until the guard is dropped.
    pub(super) fn be(&self) -> io::Result<Being> {
        if self.uid == 0 {
            return Ok(Being { own: None });
        }
        let sets = capabilities(None)?;
        let own = Own { sets, gid: getegid(), groups: getgroups()? };
        set_thread_groups(&self.groups)?;
        let being = Being { own: Some(own) };
        set_thread_res_gid(None, Gid::from_raw(self.gid), None)?;
        set_thread_res_uid(None, Uid::from_raw(self.uid), None)?;
        set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..sets })?;
        Ok(being)
    }
}

fn namespace(task: impl Display, kind: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{task}/ns/{kind}")).ok()
}

impl Drop for Being {
    fn drop(&mut self) {
        let Some(Own { sets, gid, groups }) = self.own.take() else { return };
        let back = set_thread_res_uid(None, Uid::ROOT, None)
            .and_then(|()| set_capabilities(None, sets))
            .and_then(|()| set_thread_res_gid(None, gid, None))
            .and_then(|()| set_thread_groups(&groups));
        // A thread that kept the wrong identity would do root's work as that user.
        back.expect("a thread can become itself again");
    }
}
