//! Acting as whoever asked.
//!
//! The kernel has checked the caller's permissions already (`default_permissions`), with all the
//! caller's groups; what is left to us is that new files belong to the caller, with the caller's
//! umask, that space is taken in the caller's name, and that set-user-id bits fall where the caller
//! may not keep them. All of it is per
//! thread and ends with a guard. Whoever is not root does everything as itself.

use crate::sys::fsid;
use rustix::fs::Mode;
use rustix::process::{getegid, geteuid, umask};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use std::cell::Cell;
use std::io;

thread_local! {
    /// Whether this thread has a umask of its own.
    static OWN_UMASK: Cell<bool> = const { Cell::new(false) };
}

/// Who makes something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) umask: u32,
}

impl Caller {
    pub(crate) const fn user(self) -> User {
        User { uid: self.uid, gid: self.gid }
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

    pub(crate) const fn is_root(self) -> bool {
        self.uid == Self::ROOT.uid
    }
}

/// What this process may do on behalf of others.
#[derive(Debug)]
pub(crate) struct Privileges {
    own: Option<CapabilitySets>,
    gid: u32,
}

impl Privileges {
    /// Looks at what this thread may do.
    pub(crate) fn find() -> Self {
        let needed = CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::DAC_OVERRIDE;
        let own = capabilities(None)
            .ok()
            .filter(|sets| geteuid().is_root() && sets.effective.contains(needed));
        Self { own, gid: getegid().as_raw() }
    }

    /// Whether files can be made for others.
    pub(crate) fn is_root(&self) -> bool {
        self.own.is_some()
    }

    /// What this thread makes from now on belongs to the caller, until the guard is dropped.
    pub(crate) fn act_as(&self, caller: Caller) -> io::Result<ActingAs<'_>> {
        use_umask(caller.umask)?;
        let mut acting = ActingAs::itself(self);
        let Some(own) = self.own else { return Ok(acting) };
        if caller.gid != self.gid {
            acting.group = true;
            fsid::set_group(caller.gid)?;
        }
        if caller.uid != 0 {
            acting.user = true;
            fsid::set_user(caller.uid)?;
            // The change of user took these away. The kernel has already said that the caller may.
            let kept = CapabilitySet::DAC_OVERRIDE | CapabilitySet::MKNOD;
            let lost = CapabilitySet::CHOWN
                | CapabilitySet::FOWNER
                | CapabilitySet::FSETID
                | CapabilitySet::SYS_RESOURCE
                | CapabilitySet::DAC_READ_SEARCH;
            let effective = (own.effective - lost) | (kept & own.permitted);
            acting.set_capabilities(own, effective)?;
        }
        Ok(acting)
    }

    /// What this thread changes in files from now on takes space as whatever `user` writes: not
    /// what is kept for root, nor beyond a quota. Set-user-id and set-group-id bits are cleared if
    /// `clear`. Until the guard is dropped.
    pub(crate) fn write_as(&self, user: User, clear: bool) -> io::Result<ActingAs<'_>> {
        let mut acting = ActingAs::itself(self);
        let Some(own) = self.own.filter(|_| clear || !user.is_root()) else { return Ok(acting) };
        let mut effective = own.effective;
        if !user.is_root() {
            if user.gid != self.gid {
                acting.group = true;
                fsid::set_group(user.gid)?;
            }
            acting.user = true;
            fsid::set_user(user.uid)?;
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
    capabilities: bool,
}

impl<'a> ActingAs<'a> {
    const fn itself(privileges: &'a Privileges) -> Self {
        Self { privileges, user: false, group: false, capabilities: false }
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
        // Going on as somebody else would make files for the wrong user.
        back.expect("a thread can become itself again");
    }
}
