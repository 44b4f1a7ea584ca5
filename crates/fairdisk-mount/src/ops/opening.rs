//! Opening and closing.

use crate::caller::{Caller, User};
use crate::directory::OpenDirectory;
use crate::freshness;
use crate::made_up::refuse_made_up;
use crate::nodes::{Found, Referred, demand_name};
use crate::open_file::OpenFile;
use crate::tree::Tree;
use fuser::FopenFlags;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, FileType, Mode, OFlags, fadvise, fstat, openat};
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

/// What of the caller's flags the file below is opened with. The rest is the kernel's business
/// (truncating), or decided with every request (appending, past the cache, durable).
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
        let (fd, access) = self.open_below(&referred, flags)?;
        Ok(self.opened((node, stat.st_ino), (fd, access), flags, by))
    }

    /// Opens a file, and says how: for some files not every way is allowed.
    fn open_below(&self, referred: &Referred, flags: i32) -> io::Result<(OwnedFd, OFlags)> {
        let access = access(flags);
        let appending = OFlags::from_bits_retain(flags as u32) & OFlags::APPEND;
        let ways = [
            access,
            // Where nothing but appending is allowed.
            access | appending,
            // Of a file that is the caller's and not ours, when we are not root: the time of access
            // is no reason not to read it.
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
        (fd, access): (OwnedFd, OFlags),
        flags: i32,
        (thread, user): (u32, User),
    ) -> (u64, FopenFlags) {
        // The kernel above reads ahead, and its read-ahead passes the gate; that of the file
        // system below would not.
        let _ = fadvise(&fd, 0, None, Advice::Random);
        let state = self.states.of((node, inode), &fd);
        state.opened_by(thread, user);
        let fresh = !freshness::look(&state, &fd);
        let number = self.files.insert(Arc::new(OpenFile::new(state, fd, access)));
        (number, open_flags(flags, fresh))
    }

    /// Makes a file and opens it.
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
        let how = access(flags) | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = {
            let _acting = self.privileges.act_as(caller)?;
            openat(&parent, name, how | OFlags::NOFOLLOW, Mode::from_raw_mode(mode & 0o7777))
        };
        let fd = made.map_err(|error| match error {
            // Somebody else was quicker. The kernel looks again, and checks permissions.
            rustix::io::Errno::EXIST if flags & libc::O_EXCL == 0 => {
                io::Error::from_raw_os_error(libc::ESTALE)
            }
            error => error.into(),
        })?;
        let found = self.nodes.know(within, name, self.proc_fd.reopen(&fd, OFlags::PATH)?)?;
        let by = (caller.thread, caller.user);
        let (file, fd) = ((found.node, found.stat.st_ino), (fd, access(flags)));
        let (number, how) = self.opened(file, fd, flags, by);
        Ok((found, number, how))
    }

    /// Opens a directory.
    pub(crate) fn open_directory(&self, node: u64) -> io::Result<u64> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY;
        // Not by the name `.` in it: to read a directory takes no right to search it.
        let fd = self.proc_fd.reopen(&self.nodes.refer(node)?, flags)?;
        Ok(self.directories.insert(Arc::new(OpenDirectory::new(fd))))
    }
}

fn access(flags: i32) -> OFlags {
    OFlags::from_bits_retain(flags as u32) & PASSED_ON
}

/// How the kernel treats an open file: what it has of it stays unless somebody else has changed
/// it, and direct I/O may come from several at once.
fn open_flags(flags: i32, fresh: bool) -> FopenFlags {
    let mut how = FopenFlags::empty();
    how.set(FopenFlags::FOPEN_KEEP_CACHE, fresh);
    let direct = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
    how.set(direct, flags & libc::O_DIRECT != 0);
    how
}
