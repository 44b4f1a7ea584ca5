//! Attributes: reading and changing them.

use crate::attributes::timespec;
use crate::caller::User;
use crate::freshness::Stamp;
use crate::nodes::Referred;
use crate::sys::proc_fd::ProcFd;
use crate::tree::Tree;
use fuser::TimeOrNow;
use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Stat, StatVfs, Timestamps, Uid, chmodat, chownat, fstat, fstatvfs,
    ftruncate, utimensat,
};
use std::io;

/// What is to be changed; the rest stays.
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
    /// What a node is; through an open file if there is one.
    pub(crate) fn stat(&self, node: u64, file: Option<u64>) -> io::Result<Stat> {
        let file = file.and_then(|file| self.files.get(file));
        let stat = match file.filter(|file| file.state.node == node) {
            Some(file) => fstat(&file.fd)?,
            None => fstat(self.nodes.refer(node)?)?,
        };
        self.freshen(node, &stat);
        Ok(stat)
    }

    /// Drops what the kernel has of an open file that somebody else has changed.
    pub(crate) fn freshen(&self, node: u64, stat: &Stat) {
        let Some(state) = self.states.find(node) else { return };
        if state.freshness().look(Stamp::of(stat)) {
            self.stale(node);
        }
    }

    /// Changes attributes. The kernel has checked that the caller may, and has cleared the bits
    /// that a change of mode or owner takes away.
    pub(crate) fn change(
        &self,
        node: u64,
        file: Option<u64>,
        changes: &Changes,
        user: User,
    ) -> io::Result<Stat> {
        let fd = self.nodes.refer(node)?;
        let state = self.states.find(node);
        if let Some(state) = &state {
            state.freshness().begin();
        }
        let done = self.apply(file, &fd, changes, user);
        let stat = fstat(&fd);
        if let Some(state) = &state {
            state.freshness().end(stat.as_ref().ok().map(Stamp::of));
            if changes.size.is_some() {
                state.extents().forget();
            }
        }
        done.and(stat.map_err(Into::into))
    }

    fn apply(
        &self,
        file: Option<u64>,
        fd: &Referred,
        changes: &Changes,
        user: User,
    ) -> io::Result<()> {
        // The owner first: changing it takes bits away that the mode may give again.
        if changes.uid.is_some() || changes.gid.is_some() {
            let (uid, gid) = (changes.uid.map(Uid::from_raw), changes.gid.map(Gid::from_raw));
            chownat(fd, "", uid, gid, AtFlags::EMPTY_PATH)?;
        }
        if let Some(mode) = changes.mode {
            let mode = Mode::from_raw_mode(mode & 0o7777);
            chmodat(self.proc_fd.dir(), ProcFd::name(fd), mode, AtFlags::empty())?;
        }
        if let Some(size) = changes.size {
            self.resize(file, fd, size, user)?;
        }
        if changes.atime.is_some() || changes.mtime.is_some() {
            let times = Timestamps {
                last_access: timespec(changes.atime),
                last_modification: timespec(changes.mtime),
            };
            utimensat(fd, "", &times, AtFlags::EMPTY_PATH)?;
        }
        Ok(())
    }

    fn resize(&self, file: Option<u64>, fd: &Referred, size: u64, user: User) -> io::Result<()> {
        let _acting = self.privileges.write_as(user, !user.is_root())?;
        match file.and_then(|file| self.files.get(file)) {
            Some(file) => ftruncate(&file.fd, size)?,
            None => ftruncate(self.proc_fd.reopen(fd, OFlags::WRONLY | OFlags::NONBLOCK)?, size)?,
        }
        Ok(())
    }

    /// The space of the file system below.
    pub(crate) fn space(&self, node: u64) -> io::Result<StatVfs> {
        Ok(fstatvfs(self.nodes.refer(node)?)?)
    }
}
