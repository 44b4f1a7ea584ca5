//! The job that makes files and directories durable.

use super::uninterrupted;
use crate::data::gate::Job;
use crate::files::descriptor::Descriptor;
use crate::files::directory::OpenDirectory;
use crate::files::open_file::OpenFile;
use crate::requests::answers::errno;
use crate::trouble;
use fuser::ReplyEmpty;
use rustix::fs::{fdatasync, fsync};
use std::io;
use std::sync::Arc;

/// What to make durable.
pub(crate) enum Flushed {
    /// A file, whose opener is also told of earlier write-back errors.
    File(Arc<OpenFile>),
    /// A directory.
    Directory(Arc<OpenDirectory>),
}

/// Makes durable what has been written so far.
pub(crate) struct FlushJob {
    pub(crate) what: Flushed,
    /// Whether to leave out metadata that is not needed to read the data back.
    pub(crate) data_only: bool,
    pub(crate) reply: ReplyEmpty,
}

impl FlushJob {
    fn fd(&self) -> &Descriptor {
        match &self.what {
            Flushed::File(file) => &file.fd,
            Flushed::Directory(directory) => directory.fd(),
        }
    }
}

impl Job for FlushJob {
    fn perform(&mut self) -> io::Result<()> {
        let fd = self.fd();
        let done = uninterrupted(|| if self.data_only { fdatasync(fd) } else { fsync(fd) });
        if let (Err(_), Flushed::File(file)) = (&done, &self.what) {
            file.told_below();
        }
        done
    }

    fn finish(self: Box<Self>, result: io::Result<()>) {
        if let Err(error) = &result {
            trouble::tell("flush", self.fd(), error);
        }
        let earlier = match &self.what {
            Flushed::File(file) => file.take_error(),
            Flushed::Directory(_) => Ok(()),
        };
        match result.and(earlier) {
            Ok(()) => self.reply.ok(),
            Err(error) => self.reply.error(errno(error)),
        }
    }
}
