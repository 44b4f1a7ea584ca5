//! Impersonation of the caller in accesses to the file system below.
//!
//! The kernel above has already checked the caller's permissions (`default_permissions`), from what
//! it knows of the file. Changes to the tree are made as the caller all the same, with the caller's
//! groups and no further rights, so that the file system below has the last word, charges quotas to
//! the caller and makes the caller the owner of what is created. For callers with capabilities over
//! others' files, or callers that cannot be inspected from here, the check above is the only one:
//! what such capabilities are worth depends on the caller's user namespace.
//!
//! An open file is a right in itself, so data is written in the caller's name only for the
//! accounting of space.
//!
//! Identities are per thread and end with a guard. A process without root privileges does
//! everything as itself.

mod standing;

use crate::sys::fsid;
use fuser::Request;
use rustix::fs::Mode;
use rustix::process::{Gid, getegid, geteuid, getgroups, umask};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_thread_groups,
};
pub(crate) use standing::Standing;
use std::cell::Cell;
use std::io;

thread_local! {
    /// Whether this thread has a umask of its own, not shared with the process.
    static OWN_UMASK: Cell<bool> = const { Cell::new(false) };
}

/// The origin of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) user: User,
    /// The thread number; 0 if the kernel gives none.
    pub(crate) thread: u32,
    umask: u32,
}

impl Caller {
    /// The caller of a request that creates nothing.
    pub(crate) fn of(request: &Request) -> Self {
        Self { user: User::of(request), thread: request.pid(), umask: 0 }
    }

    /// Sets the umask for what the request creates.
    pub(crate) const fn with_umask(self, umask: u32) -> Self {
        Self { umask, ..self }
    }
}

/// The user and group to which a request is attributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl User {
    /// Root, who may keep set-user-id bits and use the space reserved for root.
    pub(crate) const ROOT: Self = Self { uid: 0, gid: 0 };

    pub(crate) fn of(request: &Request) -> Self {
        Self { uid: request.uid(), gid: request.gid() }
    }

    pub(crate) const fn is_root(self) -> bool {
        self.uid == Self::ROOT.uid
    }
}

/// The privileges of this process for acting on behalf of others.
#[derive(Debug)]
pub(crate) struct Privileges {
    own: Option<CapabilitySets>,
    gid: u32,
    groups: Vec<Gid>,
}

impl Privileges {
    /// Determines the privileges of the calling thread.
    pub(crate) fn find() -> Self {
        let needed = CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::DAC_OVERRIDE;
        let own = capabilities(None)
            .ok()
            .filter(|sets| geteuid().is_root() && sets.effective.contains(needed));
        let groups = getgroups().unwrap_or_default();
        Self { own, gid: getegid().as_raw(), groups }
    }

    /// Whether the process can act as other users.
    pub(crate) fn is_root(&self) -> bool {
        self.own.is_some()
    }

    /// Makes the calling thread act as the caller in file-system accesses, until the guard is
    /// dropped.
    pub(crate) fn act_as(&self, caller: Caller) -> io::Result<ActingAs<'_>> {
        use_umask(caller.umask)?;
        let mut acting = ActingAs::itself(self);
        let Some(own) = self.own else { return Ok(acting) };
        if caller.user.is_root() {
            acting.set_group(caller.user.gid)?;
            return Ok(acting);
        }
        let standing = Standing::of(caller.thread, caller.user);
        let effective = match &standing {
            Some(Standing { over_files: false, .. }) => CapabilitySet::empty(),
            _ => own.effective - CapabilitySet::FSETID - CapabilitySet::SYS_RESOURCE,
        };
        acting.set_groups(&standing.map_or_else(Vec::new, |standing| standing.groups))?;
        acting.set_user(caller.user)?;
        acting.set_capabilities(own, effective)?;
        Ok(acting)
    }

    /// Makes the calling thread write to open files on the account of `user`, until the guard is
    /// dropped: not into the space reserved for root, and within the user's quota. If `clear`,
    /// writing clears set-user-id and set-group-id bits.
    pub(crate) fn write_as(&self, user: User, clear: bool) -> io::Result<ActingAs<'_>> {
        let mut acting = ActingAs::itself(self);
        let Some(own) = self.own.filter(|_| clear || !user.is_root()) else { return Ok(acting) };
        let mut effective = own.effective;
        if !user.is_root() {
            acting.set_user(user)?;
            effective -= CapabilitySet::SYS_RESOURCE;
        }
        if clear {
            effective -= CapabilitySet::FSETID;
        }
        acting.set_capabilities(own, effective)?;
        Ok(acting)
    }
}

fn use_umask(mask: u32) -> io::Result<()> {
    if !OWN_UMASK.get() {
        fsid::own_umask()?;
        OWN_UMASK.set(true);
    }
    umask(Mode::from_raw_mode(mask & 0o777));
    Ok(())
}

/// Guards an impersonation; dropping it restores the thread's own identity.
pub(crate) struct ActingAs<'a> {
    privileges: &'a Privileges,
    user: bool,
    group: bool,
    groups: bool,
    capabilities: bool,
}

impl<'a> ActingAs<'a> {
    const fn itself(privileges: &'a Privileges) -> Self {
        Self { privileges, user: false, group: false, groups: false, capabilities: false }
    }

    /// Switches user and group. This also drops capabilities, so those to keep must be set
    /// afterwards.
    fn set_user(&mut self, user: User) -> io::Result<()> {
        self.set_group(user.gid)?;
        self.user = true;
        fsid::set_user(user.uid)
    }

    fn set_group(&mut self, gid: u32) -> io::Result<()> {
        if gid == self.privileges.gid {
            return Ok(());
        }
        self.group = true;
        fsid::set_group(gid)
    }

    fn set_groups(&mut self, groups: &[Gid]) -> io::Result<()> {
        if groups == self.privileges.groups {
            return Ok(());
        }
        self.groups = true;
        Ok(set_thread_groups(groups)?)
    }

    fn set_capabilities(
        &mut self,
        own: CapabilitySets,
        effective: CapabilitySet,
    ) -> io::Result<()> {
        self.capabilities = true;
        Ok(set_capabilities(None, CapabilitySets { effective, ..own })?)
    }
}

impl Drop for ActingAs<'_> {
    fn drop(&mut self) {
        let mut back = Ok(());
        if self.user {
            back = fsid::set_user(0);
        }
        if let Some(own) = self.privileges.own.filter(|_| self.capabilities) {
            back = back.and(set_capabilities(None, own).map_err(Into::into));
        }
        if self.group {
            back = back.and(fsid::set_group(self.privileges.gid));
        }
        if self.groups {
            back = back.and(set_thread_groups(&self.privileges.groups).map_err(Into::into));
        }
        // A thread that kept the wrong identity would create files for the wrong user.
        back.expect("a thread can become itself again");
    }
}
