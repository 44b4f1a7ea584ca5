//! Being somebody else towards the kernel, for one thread and a moment.
//!
//! Whether a task may be moved, or a group be changed, is decided by the rights of whoever opened
//! the file that says so. That has to be whoever opened it through the mount, not the one who
//! serves it: who owns a part of the tree may move what is in there and nothing else, which only
//! the kernel can tell.

use crate::caller::{self, Standing};
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

/// A user who opened something.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// The other groups.
    groups: Vec<Gid>,
    /// The namespaces of cgroups and of tasks, as the kernel calls them; nothing if it does not
    /// say.
    cgroups: Option<PathBuf>,
    tasks: Option<PathBuf>,
}

/// While it lives, this thread is that user.
pub(super) struct Being {
    own: Option<Own>,
}

/// What this thread is itself.
struct Own {
    sets: CapabilitySets,
    gid: Gid,
    groups: Vec<Gid>,
}

impl User {
    /// Whoever asks; its thread waits for our answer, so it is still what it was. One that we
    /// cannot see has nothing but what the request says.
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

    /// Whether the tree of version 2 ends for the user where it ends for us. A namespace is a
    /// border: beyond it the kernel would not let the user change anything, and could not tell.
    pub(super) fn sees_our_tree(&self) -> bool {
        self.cgroups.is_some() && self.cgroups == namespace("self", "cgroup")
    }

    /// Whether the number of a task is that of the same task for us.
    pub(super) fn counts_as_we_do(&self) -> bool {
        self.tasks.is_some() && self.tasks == namespace("self", "pid")
    }

    /// This thread is the user until the guard is dropped, with no more rights.
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
        // Going on as somebody else would do root's work in the wrong name.
        back.expect("a thread can become itself again");
    }
}
