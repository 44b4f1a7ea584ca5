//! The job that reads file data.

use super::uninterrupted;
use crate::data::gate::Job;
use crate::files::open_file::OpenFile;
use crate::requests::answers::errno;
use crate::requests::tree::Tree;
use crate::trouble;
use fairdisk_plane::buffer::Buffer;
use fairdisk_plane::disk::{Transfer, Way};
use fuser::ReplyData;
use rustix::fd::AsFd;
use rustix::io::{ReadWriteFlags, pread, preadv2};
use std::io::{self, IoSliceMut};
use std::sync::Arc;

/// Reads a range of a file.
pub(crate) struct ReadJob {
    tree: Arc<Tree>,
    file: Arc<OpenFile>,
    offset: u64,
    len: usize,
    direct: bool,
    buffer: Buffer,
    /// Whether part of the data was not in the page cache below.
    reached_device: bool,
    filled: usize,
    reply: ReplyData,
}

impl ReadJob {
    /// A read of `len` bytes at `offset`; with direct I/O if `direct`.
    pub(crate) fn new(
        tree: Arc<Tree>,
        file: Arc<OpenFile>,
        (offset, len): (u64, usize),
        direct: bool,
        reply: ReplyData,
    ) -> Self {
        let buffer = Buffer::empty();
        Self { tree, file, offset, len, direct, buffer, reached_device: true, filled: 0, reply }
    }

    /// Reads what is in the page cache below. Returns whether that was everything.
    fn take_cached(&mut self) -> bool {
        let rest = &mut self.buffer.bytes_mut()[self.filled..self.len];
        let at = self.offset + self.filled as u64;
        let got = preadv2(&self.file.fd, &mut [IoSliceMut::new(rest)], at, ReadWriteFlags::NOWAIT);
        // On an error, or where the file system does not support RWF_NOWAIT, an ordinary read
        // follows.
        self.filled += got.unwrap_or(0);
        self.filled == self.len
    }

    /// Reads the rest, up to the end of the file.
    fn fill(&mut self, direct: bool) -> io::Result<()> {
        if !direct && self.take_cached() {
            self.reached_device = false;
            return Ok(());
        }
        let proc_fd = &self.tree.proc_fd;
        let direct =
            direct.then(|| self.file.direct(proc_fd, self.offset, self.len as u64)).flatten();
        let fd = direct.unwrap_or(&self.file.fd);
        while self.filled < self.len {
            let rest = &mut self.buffer.bytes_mut()[self.filled..self.len];
            let got = uninterrupted(|| pread(fd, &mut *rest, self.offset + self.filled as u64))?;
            self.filled += got;
            // Direct I/O is short only at the end of the file.
            if got == 0 || direct.is_some() {
                break;
            }
        }
        Ok(())
    }
}

impl Job for ReadJob {
    fn perform(&mut self) -> io::Result<()> {
        if self.buffer.bytes().is_empty() {
            self.buffer = self.tree.buffers.take(self.len);
        }
        match self.fill(self.direct) {
            // The alignment was not sufficient for direct I/O after all, so go through the page
            // cache.
            Err(error) if self.direct && error.raw_os_error() == Some(libc::EINVAL) => {
                self.fill(false)
            }
            other => other,
        }
    }

    fn reached_device(&self) -> bool {
        self.reached_device
    }

    fn is_transfer(&self) -> bool {
        self.direct && self.file.may_be_direct(self.offset, self.len as u64)
    }

    fn transfer(&mut self) -> Option<Transfer<'_>> {
        let file = self.file.direct(&self.tree.proc_fd, self.offset, self.len as u64)?.as_fd();
        self.buffer = self.tree.buffers.take(self.len);
        let way = Way::In(&mut self.buffer.bytes_mut()[..self.len]);
        Some(Transfer { file, at: self.offset, way })
    }

    fn transferred(&mut self, moved: io::Result<usize>) -> Option<io::Result<()>> {
        match moved {
            Ok(filled) => self.filled = filled,
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return None,
            Err(error) => return Some(Err(error)),
        }
        Some(Ok(()))
    }

    fn finish(self: Box<Self>, result: io::Result<()>) {
        match result {
            Ok(()) => self.reply.data(&self.buffer.bytes()[..self.filled]),
            Err(error) => {
                trouble::tell("read", &self.file.fd, &error);
                self.reply.error(errno(error));
            }
        }
        self.tree.buffers.put(self.buffer);
    }
}
