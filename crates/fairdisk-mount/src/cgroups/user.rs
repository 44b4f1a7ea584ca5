//! Being somebody else towards the kernel, for one thread and a moment.
//!
//! Whether a task may be moved is decided by the user who opened the file that says so. That has to
//! be whoever opened it through the mount, not the one who serves it.

use rustix::process::{Gid, Uid, getegid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_thread_res_gid,
    set_thread_res_uid,
};
use std::io;

/// A user who opened something.
#[derive(Clone, Copy, Debug)]
pub(super) struct User {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// While it lives, this thread is that user.
pub(super) struct Being {
    own: Option<(CapabilitySets, Gid)>,
}

impl User {
    /// This thread is the user until the guard is dropped. Permissions of files have been checked
    /// by then, with all the groups of the user, and are not in the way.
    pub(super) fn be(self) -> io::Result<Being> {
        if self.uid == 0 {
            return Ok(Being { own: None });
        }
        let sets = capabilities(None)?;
        let being = Being { own: Some((sets, getegid())) };
        set_thread_res_gid(None, Gid::from_raw(self.gid), None)?;
        set_thread_res_uid(None, Uid::from_raw(self.uid), None)?;
        let effective = CapabilitySet::DAC_OVERRIDE & sets.permitted;
        set_capabilities(None, CapabilitySets { effective, ..sets })?;
        Ok(being)
    }
}

impl Drop for Being {
    fn drop(&mut self) {
        let Some((sets, gid)) = self.own else { return };
        let back = set_thread_res_uid(None, Uid::ROOT, None)
            .and_then(|()| set_capabilities(None, sets))
            .and_then(|()| set_thread_res_gid(None, gid, None));
        // Going on as somebody else would do root's work in the wrong name.
        back.expect("a thread can become itself again");
    }
}
