//! The job that writes back what a buffered write left in the page cache.

use crate::data::dirty::Chunk;
use crate::data::gate::Job;
use crate::files::open_file::FileState;
use crate::requests::tree::Tree;
use crate::sys::range::write_out;
use crate::trouble;
use std::io;
use std::sync::Arc;

/// Writes back a range of a file, and keeps the file open until that is done, unless it is removed.
pub(crate) struct WriteOutJob {
    pub(crate) tree: Arc<Tree>,
    pub(crate) file: Arc<FileState>,
    pub(crate) chunk: Chunk,
}

impl Job for WriteOutJob {
    fn perform(&mut self) -> io::Result<()> {
        self.file.ranges().let_through(&self.chunk);
        let Some(fd) = self.file.write_out_descriptor() else { return Ok(()) };
        // As the user who wrote, since blocks may only now be allocated.
        let _acting = self.tree.privileges.write_as(self.chunk.user, false)?;
        let done = write_out(&fd, self.chunk.start, self.chunk.bytes());
        self.file.extents().written_out(self.chunk.start);
        done
    }

    fn is_awaited(&self) -> bool {
        self.file.is_awaited(self.chunk.number)
    }

    fn finish(self: Box<Self>, result: io::Result<()>) {
        let Self { tree, file, chunk } = *self;
        if let (Err(error), Some(fd)) = (result, file.write_out_descriptor()) {
            trouble::tell("write back", &fd, &error);
            file.failed(&fd, &error);
        }
        tree.written_out(&file, &chunk);
    }
}
