//! Acting as whoever asked.
//!
//! The kernel above has checked what the caller may (`default_permissions`), by what it knows of
//! the file. What changes a file system is done as the caller all the same, with the caller's
//! groups and no other rights: the file system below has the last word, counts space in the
//! caller's name and gives the caller what is made. For callers who have rights over files of
//! others, or cannot be seen from here, the check above is all there is: what such rights are worth
//! depends on where the caller is.
//!
//! Open files are a right by themselves: what is written is space in the caller's name, no more.
//!
//! All of it is per thread and ends with a guard. Whoever is not root does everything as itself.

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
    /// Whether this thread has a umask of its own.
    static OWN_UMASK: Cell<bool> = const { Cell::new(false) };
}

/// Who asks for something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) user: User,
    /// The thread; 0 if the kernel does not say.
    pub(crate) thread: u32,
    umask: u32,
}

impl Caller {
    /// Who made a request that makes nothing.
    pub(crate) fn of(request: &Request) -> Self {
        Self { user: User::of(request), thread: request.pid(), umask: 0 }
    }

    /// What is made is without these bits.
    pub(crate) const fn with_umask(self, umask: u32) -> Self {
        Self { umask, ..self }
    }
}

/// Whose rights to space on the disk count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl User {
    /// Who may keep set-user-id bits and use what is left for emergencies.
    pub(crate) const ROOT: Self = Self { uid: 0, gid: 0 };

    pub(crate) fn of(request: &Request) -> Self {
        Self { uid: request.uid(), gid: request.gid() }
    }

    pub(crate) const fn is_root(self) -> bool {
        self.uid == Self::ROOT.uid
    }
}

/// What this process may do on behalf of others.
#[derive(Debug)]
pub(crate) struct Privileges {
    own: Option<CapabilitySets>,
    gid: u32,
    groups: Vec<Gid>,
}

impl Privileges {
    /// Looks at what this thread may do.
    pub(crate) fn find() -> Self {
        let needed = CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::DAC_OVERRIDE;
        let own = capabilities(None)
            .ok()
            .filter(|sets| geteuid().is_root() && sets.effective.contains(needed));
        let groups = getgroups().unwrap_or_default();
        Self { own, gid: getegid().as_raw(), groups }
    }

    /// Whether files can be made for others.
    pub(crate) fn is_root(&self) -> bool {
        self.own.is_some()
    }

    /// This thread is the caller towards file systems, until the guard is dropped.
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

    /// What this thread changes in open files from now on takes space as whatever `user` writes:
    /// not what is kept for root, nor beyond a quota. Set-user-id and set-group-id bits are cleared
    /// if `clear`. Until the guard is dropped.
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

/// While it lives, this thread acts as somebody else.
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

    /// Takes rights away, too: those that are to stay are set afterwards.
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
        // Going on as somebody else would make files for the wrong user.
        back.expect("a thread can become itself again");
    }
}
