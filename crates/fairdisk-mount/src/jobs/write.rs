//! Writing that is answered when it is on the disk.

use super::uninterrupted;
use crate::gate::Job;
use crate::open_file::OpenFile;
use crate::sys::range::write_out;
use crate::tree::Tree;
use crate::trouble;
use fairdisk_plane::buffer::Buffer;
use fuser::ReplyWrite;
use rustix::io::{ReadWriteFlags, pwritev2};
use std::io::{self, IoSlice};
use std::sync::Arc;

/// Writes a stretch of a file past the page cache, or through it and out.
pub(crate) struct WriteJob {
    pub(crate) tree: Arc<Tree>,
    pub(crate) file: Arc<OpenFile>,
    pub(crate) offset: u64,
    pub(crate) len: usize,
    pub(crate) buffer: Buffer,
    /// How it was opened: `O_DIRECT`, `O_DSYNC`, `O_SYNC`.
    pub(crate) flags: i32,
    /// Set-user-id bits fall.
    pub(crate) clear: bool,
    pub(crate) written: usize,
    pub(crate) reply: ReplyWrite,
}

impl WriteJob {
    fn durability(&self) -> ReadWriteFlags {
        if self.flags & libc::O_SYNC == libc::O_SYNC {
            ReadWriteFlags::SYNC
        } else if self.flags & libc::O_DSYNC != 0 {
            ReadWriteFlags::DSYNC
        } else {
            ReadWriteFlags::empty()
        }
    }

    fn write(&mut self, direct: bool) -> io::Result<()> {
        let flags = self.durability();
        let proc_fd = &self.tree.proc_fd;
        let past =
            direct.then(|| self.file.direct(proc_fd, self.offset, self.len as u64)).flatten();
        let fd = past.unwrap_or(&self.file.fd);
        while self.written < self.len {
            let rest = IoSlice::new(&self.buffer.bytes()[self.written..self.len]);
            let at = self.offset + self.written as u64;
            match uninterrupted(|| pwritev2(fd, &[rest], at, flags)) {
                Ok(0) => break,
                Ok(got) => self.written += got,
                // What is written is written; the next write will meet the error.
                Err(_) if self.written > 0 => break,
                Err(error) => return Err(error),
            }
        }
        if past.is_none() && flags.is_empty() {
            write_out(fd, self.offset, self.written as u64)?;
        }
        Ok(())
    }
}

impl Job for WriteJob {
    fn perform(&mut self) -> io::Result<()> {
        let tree = Arc::clone(&self.tree);
        let _clearing = tree.privileges.clearing(self.clear)?;
        let direct = self.flags & libc::O_DIRECT != 0;
        let file = Arc::clone(&self.file);
        let done = file.change(|| match self.write(direct) {
            // Stricter about alignment than assumed: the page cache can do it.
            Err(error) if direct && error.raw_os_error() == Some(libc::EINVAL) => self.write(false),
            other => other,
        });
        self.file.state.extents().written_out(self.offset);
        done
    }

    fn finish(self: Box<Self>, result: io::Result<()>) {
        match result {
            Ok(()) => self.reply.written(self.written as u32),
            Err(error) => {
                trouble::tell("write", &self.file.fd, &error);
                self.reply.error(error.into());
            }
        }
        self.tree.buffers.put(self.buffer);
    }
}
