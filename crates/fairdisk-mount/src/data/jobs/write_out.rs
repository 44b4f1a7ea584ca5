//! The job that writes back what a buffered write left in the page cache.

use crate::data::dirty::Chunk;
use crate::data::gate::Job;
use crate::files::open_file::OpenFile;
use crate::requests::tree::Tree;
use crate::sys::range::write_out;
use crate::trouble;
use std::io;
use std::sync::Arc;

/// Writes back a range of a file, and keeps the file open until that is done.
pub(crate) struct WriteOutJob {
    pub(crate) tree: Arc<Tree>,
    pub(crate) file: Arc<OpenFile>,
    pub(crate) chunk: Chunk,
}

impl Job for WriteOutJob {
    fn perform(&mut self) -> io::Result<()> {
        self.file.state.ranges().let_through(&self.chunk);
        let fd = self.file.for_write_out(&self.tree.proc_fd);
        // As the user who wrote, since blocks may only now be allocated.
        let _acting = self.tree.privileges.write_as(self.chunk.user, false)?;
        let done = write_out(fd, self.chunk.start, self.chunk.bytes());
        self.file.state.extents().written_out(self.chunk.start);
        done
    }

    fn finish(self: Box<Self>, result: io::Result<()>) {
        let Self { tree, file, chunk } = *self;
        if let Err(error) = result {
            trouble::tell("write back", &file.fd, &error);
            file.failed(&error);
        }
        let (next, free) = file.state.ranges().finished(&chunk);
        if let Some(next) = next {
            tree.send(&file, next, false);
        }
        tree.accounts.settle(chunk.account, chunk.bytes());
        free.into_iter().for_each(|then| then());
    }
}
