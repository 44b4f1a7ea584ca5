//! The job that copies between files.

use super::uninterrupted;
use crate::data::gate::Job;
use crate::files::open_file::OpenFile;
use crate::requests::answers::errno;
use crate::requests::ops::Written;
use crate::requests::tree::Tree;
use crate::trouble;
use fuser::ReplyWrite;
use rustix::fs::copy_file_range;
use std::io;
use std::sync::Arc;

/// Copies a range of a file to another one with copy_file_range(2). The job passes the gate as the
/// read; what it makes dirty is written back like any buffered write.
pub(crate) struct CopyJob {
    pub(crate) tree: Arc<Tree>,
    pub(crate) from: (Arc<OpenFile>, u64),
    pub(crate) to: Arc<OpenFile>,
    /// The write to the target.
    pub(crate) written: Written,
    pub(crate) len: usize,
    /// The number of bytes copied, or the error that makes the kernel above copy by itself.
    pub(crate) copied: io::Result<usize>,
    pub(crate) reply: ReplyWrite,
}

impl Job for CopyJob {
    fn perform(&mut self) -> io::Result<()> {
        let tree = Arc::clone(&self.tree);
        let _acting = tree.privileges.write_as(self.written.user, self.written.clear)?;
        let (from, offset) = &self.from;
        let done = self.to.change(|| {
            let copy = || {
                let (mut here, mut there) = (*offset, self.written.offset);
                let (source, target) = (&from.fd, &self.to.fd);
                copy_file_range(source, Some(&mut here), target, Some(&mut there), self.len)
            };
            self.to.with_space(|| uninterrupted(copy))
        });
        self.copied = match done {
            Err(error) if !is_left_to_others(&error) => return Err(error),
            done => done,
        };
        // The file system may have shared blocks instead of copying them.
        self.to.state.extents().forget();
        Ok(())
    }

    fn finish(self: Box<Self>, result: io::Result<()>) {
        let Self { tree, to, written, copied, reply, .. } = *self;
        match result.map(|()| copied) {
            Ok(Ok(copied)) => {
                let range = (written.offset, written.offset + copied as u64);
                tree.dirtied(&to, written, range, Box::new(move || reply.written(copied as u32)));
            }
            Ok(Err(error)) => reply.error(errno(error)),
            Err(error) => {
                trouble::tell("copy", &to.fd, &error);
                reply.error(errno(error));
            }
        }
    }
}

/// Whether the kernel above copies by reading and writing after this error, as between two file
/// systems.
fn is_left_to_others(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EXDEV | libc::EOPNOTSUPP))
}
