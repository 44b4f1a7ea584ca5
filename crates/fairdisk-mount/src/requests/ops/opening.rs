//! Opening of files and directories.

use crate::fair_pool::Share;
use crate::files::descriptor::{Descriptor, one_more};
use crate::files::directory::OpenDirectory;
use crate::files::freshness::{self, Stamp};
use crate::files::nodes::{Found, Referred, demand_name};
use crate::files::open_file::OpenFile;
use crate::mounting::made_up::refuse_made_up;
use crate::requests::caller::{Caller, User};
use crate::requests::tree::Tree;
use fuser::FopenFlags;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, FileType, Mode, OFlags, fadvise, fstat, openat};
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

/// The caller's open flags that are passed to the file below. Others are handled by the kernel
/// (O_TRUNC) or with each request (O_APPEND, O_DIRECT, O_SYNC).
const PASSED_ON: OFlags =
    OFlags::RDONLY.union(OFlags::WRONLY).union(OFlags::RDWR).union(OFlags::NOATIME);

impl Tree {
    /// Opens a file.
    pub(crate) fn open(
        self: &Arc<Self>,
        node: u64,
        flags: i32,
        by: (u32, User),
    ) -> io::Result<(u64, FopenFlags)> {
        let referred = self.nodes.refer(node)?;
        let stat = fstat(&referred)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        refuse_made_up(&referred)?;
        let share = one_more(by.1)?;
        let (fd, access) = self.open_below(&referred, flags)?;
        Ok(self.opened((node, stat.st_ino), (fd, share, access), flags, (by.0, None)))
    }

    /// Opens the file below. Returns the descriptor and the flags that succeeded, as some files do
    /// not permit all.
    fn open_below(&self, referred: &Referred, flags: i32) -> io::Result<(OwnedFd, OFlags)> {
        let access = access(flags);
        let appending = OFlags::from_bits_retain(flags as u32) & OFlags::APPEND;
        let ways = [
            access,
            // An append-only file.
            access | appending,
            // A file of the caller's that is not ours, if we are not root: it is read even though
            // its access time changes.
            (access | appending) - OFlags::NOATIME,
        ];
        let mut refused = io::Error::from_raw_os_error(libc::EPERM);
        for access in ways {
            match self.proc_fd.reopen(referred, access | OFlags::NONBLOCK) {
                Ok(fd) => return Ok((fd, access)),
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    fn opened(
        &self,
        (node, inode): (u64, u64),
        (fd, share, access): (OwnedFd, Share, OFlags),
        flags: i32,
        (thread, made): (u32, Option<Stamp>),
    ) -> (u64, FopenFlags) {
        // Read-ahead is left to the kernel above, whose requests pass the gate; that of the file
        // system below would bypass it.
        let _ = fadvise(&fd, 0, None, Advice::Random);
        let state = self.states.of((node, inode), &fd);
        state.opened_by(thread, share.user());
        made.into_iter().for_each(|stamp| state.made(stamp));
        let fresh = !freshness::look(&state, &fd);
        let number = self.files.insert(Arc::new(OpenFile::new(state, (fd, share), access)));
        (number, open_flags(flags, fresh))
    }

    /// Creates a file and opens it.
    pub(crate) fn create(
        self: &Arc<Self>,
        (within, name): (u64, &OsStr),
        mode: u32,
        flags: i32,
        caller: Caller,
    ) -> io::Result<(Found, u64, FopenFlags)> {
        demand_name(name)?;
        let parent = self.nodes.refer(within)?;
        refuse_made_up(&parent)?;
        let share = one_more(caller.user)?;
        let how = access(flags) | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode & 0o7777);
        let made = self.making(caller, || openat(&parent, name, how | OFlags::NOFOLLOW, mode));
        let fd = made.map_err(|error| match error.raw_os_error() {
            // Somebody else has created it first. The kernel looks it up again and checks
            // permissions.
            Some(libc::EEXIST) if flags & libc::O_EXCL == 0 => {
                io::Error::from_raw_os_error(libc::ESTALE)
            }
            _ => error,
        })?;
        let found = self.nodes.know(within, name, self.proc_fd.reopen(&fd, OFlags::PATH)?)?;
        let (file, fd) = ((found.node, found.stat.st_ino), (fd, share, access(flags)));
        let by = (caller.thread, Some(Stamp::of(&found.stat)));
        let (number, how) = self.opened(file, fd, flags, by);
        Ok((found, number, how))
    }

    /// Notes that a program closes a file. Returns an error of its write-back.
    pub(crate) fn close(&self, file: u64) -> io::Result<()> {
        let file = self.file(file)?;
        file.state.is_being_closed();
        file.mention_error()
    }

    /// Opens a directory.
    pub(crate) fn open_directory(&self, node: u64, user: User) -> io::Result<u64> {
        let share = one_more(user)?;
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        // Not by the name `.` in it, which would require search permission on the directory.
        let fd = self.proc_fd.reopen(&self.nodes.refer(node)?, flags)?;
        let fd = Descriptor::of(fd, Arc::default(), share);
        Ok(self.directories.insert(Arc::new(OpenDirectory::new(fd))))
    }
}

fn access(flags: i32) -> OFlags {
    OFlags::from_bits_retain(flags as u32) & PASSED_ON
}

/// How the kernel handles the open file: cached data is kept if it is fresh, and direct I/O may be
/// concurrent.
fn open_flags(flags: i32, fresh: bool) -> FopenFlags {
    let mut how = FopenFlags::empty();
    how.set(FopenFlags::FOPEN_KEEP_CACHE, fresh);
    let direct = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
    how.set(direct, flags & libc::O_DIRECT != 0);
    how
}
