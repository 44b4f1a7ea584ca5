//! Reading and changing of file attributes.

use crate::files::freshness::{self, Changing, Stamp};
use crate::files::nodes::Referred;
use crate::mounting::made_up::refuse_made_up;
use crate::requests::attributes::timespec;
use crate::requests::caller::{Caller, User};
use crate::requests::tree::Tree;
use crate::sys::proc_fd::ProcFd;
use fuser::TimeOrNow;
use rustix::fd::AsFd as _;
use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Stat, StatVfs, Timestamps, Uid, chmodat, chownat, fstat, fstatvfs,
    ftruncate, utimensat,
};
use std::io;
use std::sync::atomic::Ordering;

/// The most open files that are looked at in one second.
const LOOKS_MAX: usize = 4096;

/// A change of attributes; those that are `None` stay.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) mode: Option<u32>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) size: Option<u64>,
    pub(crate) atime: Option<TimeOrNow>,
    pub(crate) mtime: Option<TimeOrNow>,
}

impl Tree {
    /// The attributes of a node, through the open file `file` if there is one.
    pub(crate) fn stat(&self, node: u64, file: Option<u64>) -> io::Result<Stat> {
        let file = file.and_then(|file| self.files.get(file));
        let stat = match file.filter(|file| file.state.node == node) {
            Some(file) => fstat(&file.fd)?,
            None => fstat(self.nodes.refer(node)?)?,
        };
        self.freshen(node, &stat);
        Ok(stat)
    }

    /// Tells the kernel to drop its cached data of an open file if somebody else has changed it.
    /// That is not waited for, since it lasts as long as the reads under way.
    pub(crate) fn freshen(&self, node: u64, stat: &Stat) {
        let Some(state) = self.states.find(node) else { return };
        if state.freshness().is_right(Stamp::of(stat)) {
            return;
        }
        // Checked again under the lock, since a write of ours may have ended meanwhile.
        if self.nodes.refer(node).is_ok_and(|fd| freshness::look(&state, fd)) {
            self.stale(node);
        }
    }

    /// Looks at the open files of which the kernel may have cached something, a limited number at
    /// once.
    pub(crate) fn look_below(&self) {
        let from = self.looked_up_to.load(Ordering::Relaxed);
        let (files, next) = self.files.some(from, LOOKS_MAX);
        self.looked_up_to.store(next, Ordering::Relaxed);
        for file in files.iter().filter(|file| !file.state.cached().is_empty()) {
            if fstat(&file.fd).is_ok_and(|stat| !file.state.freshness().is_right(Stamp::of(&stat)))
                && freshness::look(&file.state, &file.fd)
            {
                self.stale(file.state.node);
            }
        }
    }

    /// Changes attributes.
    pub(crate) fn change(
        &self,
        node: u64,
        file: Option<u64>,
        changes: &Changes,
        caller: Caller,
    ) -> io::Result<Stat> {
        let fd = self.nodes.refer(node)?;
        let changes_data = changes.size.is_some() || changes.mtime.is_some();
        let Some(state) = self.states.find(node).filter(|_| changes_data) else {
            self.touching(node, &fd, || self.apply(file, &fd, changes, caller))?;
            return Ok(fstat(&fd)?);
        };
        let done = {
            let _changing = Changing::begin(&state, fd.as_fd());
            self.apply(file, &fd, changes, caller)
        };
        if changes.size.is_some() {
            state.extents().forget();
        }
        done.and_then(|()| Ok(fstat(&fd)?))
    }

    fn apply(
        &self,
        file: Option<u64>,
        fd: &Referred,
        changes: &Changes,
        caller: Caller,
    ) -> io::Result<()> {
        // The owner first, since changing it clears mode bits that the mode may set again.
        if changes.uid.is_some() || changes.gid.is_some() {
            let (uid, gid) = (changes.uid.map(Uid::from_raw), changes.gid.map(Gid::from_raw));
            let _acting = self.privileges.act_as(caller)?;
            chownat(fd, "", uid, gid, AtFlags::EMPTY_PATH)?;
        }
        if let Some(mode) = changes.mode {
            let mode = mode & 0o7777;
            let unasked = only_clears(fstat(fd)?.st_mode & 0o7777, mode);
            let _acting = (!unasked).then(|| self.privileges.act_as(caller)).transpose()?;
            let (dir, name) = (self.proc_fd.dir(), ProcFd::name(fd));
            chmodat(dir, name, Mode::from_raw_mode(mode), AtFlags::empty())?;
        }
        if let Some(size) = changes.size {
            self.resize(file, fd, size, caller.user)?;
        }
        if changes.atime.is_some() || changes.mtime.is_some() {
            let times = Timestamps {
                last_access: timespec(changes.atime),
                last_modification: timespec(changes.mtime),
            };
            let _acting = self.privileges.act_as(caller)?;
            utimensat(fd, "", &times, AtFlags::EMPTY_PATH)?;
        }
        Ok(())
    }

    fn resize(&self, file: Option<u64>, fd: &Referred, size: u64, user: User) -> io::Result<()> {
        let _acting = self.privileges.write_as(user, !user.is_root())?;
        match file.and_then(|file| self.files.get(file)) {
            Some(file) => ftruncate(&file.fd, size)?,
            None => {
                refuse_made_up(fd)?;
                ftruncate(self.proc_fd.reopen(fd, OFlags::WRONLY | OFlags::NONBLOCK)?, size)?;
            }
        }
        Ok(())
    }

    /// The size and free space of the file system below, once removed files are closed.
    pub(crate) fn space(&self, node: u64) -> io::Result<StatVfs> {
        self.states.leaving.settle();
        Ok(fstatvfs(self.nodes.refer(node)?)?)
    }
}

/// Whether a change of mode only clears set-user-id and set-group-id bits. Kernels before 5.12
/// request that for whoever writes, even without the right to change the mode.
const fn only_clears(before: u32, after: u32) -> bool {
    let taken = before & !after;
    after & !before == 0 && taken != 0 && taken & !0o6000 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_writing_takes_away_are_told_from_a_change_of_mode() {
        for (before, after, expected) in [
            (0o6777, 0o777, true),
            (0o4755, 0o755, true),
            (0o755, 0o755, false),
            (0o4755, 0o744, false),
            (0o4755, 0o2755, false),
            (0o1777, 0o777, false),
        ] {
            assert_eq!(only_clears(before, after), expected, "{before:o} {after:o}");
        }
    }
}
