//! Acting as whoever asked.
//!
//! The kernel has checked the caller's permissions already (`default_permissions`), with all the
//! caller's groups; what is left to us is that new files belong to the caller, with the caller's
//! umask, and that set-user-id bits fall where the caller may not keep them. All of it is per
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
        let mut acting = ActingAs { privileges: self, user: false, group: false };
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
            set_capabilities(None, CapabilitySets { effective, ..own })?;
        }
        Ok(acting)
    }

    /// Changes to file data or ACLs clear set-user-id and set-group-id bits, until the guard is
    /// dropped; nothing changes if `clear` is false.
    pub(crate) fn clearing(&self, clear: bool) -> io::Result<Clearing> {
        let Some(own) = self.own.filter(|_| clear) else { return Ok(Clearing(None)) };
        let effective = own.effective - CapabilitySet::FSETID;
        set_capabilities(None, CapabilitySets { effective, ..own })?;
        Ok(Clearing(Some(own)))
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
}

impl Drop for ActingAs<'_> {
    fn drop(&mut self) {
        let mut back = Ok(());
        if self.user {
            back = fsid::set_user(0);
            if let Some(own) = self.privileges.own {
                back = back.and(set_capabilities(None, own).map_err(Into::into));
            }
        }
        if self.group {
            back = back.and(fsid::set_group(self.privileges.gid));
        }
        // Going on as somebody else would make files for the wrong user.
        back.expect("a thread can become itself again");
    }
}

/// While it lives, this thread keeps no set-user-id bits.
pub(crate) struct Clearing(Option<CapabilitySets>);

impl Drop for Clearing {
    fn drop(&mut self) {
        if let Some(own) = self.0 {
            // Without it bits are cleared that might stay: never the unsafe way round.
            let _ = set_capabilities(None, own);
        }
    }
}
