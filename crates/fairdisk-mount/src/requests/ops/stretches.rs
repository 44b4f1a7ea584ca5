//! Ranges of files: allocation, holes and copies.

use crate::data::gate::Piece;
use crate::data::jobs::CopyJob;
use crate::files::open_file::OpenFile;
use crate::requests::caller::User;
use crate::requests::ops::Written;
use crate::requests::tree::Tree;
use fairdisk_core::{Flags, Op, SECTOR_BYTES, Sectors, Span};
use fuser::ReplyWrite;
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use std::io;
use std::sync::Arc;

/// The most bytes copied by one request. Callers repeat the call for the rest, and others get a
/// turn in between.
const COPY_BYTES_MAX: usize = 1 << 20;

impl Tree {
    /// Allocates or deallocates space (fallocate(2)).
    pub(crate) fn allocate(
        &self,
        file: u64,
        (offset, len): (u64, u64),
        mode: i32,
        user: User,
    ) -> io::Result<()> {
        let file = self.file(file)?;
        let _acting = self.privileges.write_as(user, !user.is_root())?;
        let mode = FallocateFlags::from_bits_retain(mode as u32);
        let allocate = || Ok(fallocate(&file.fd, mode, offset, len)?);
        let done = file.change(|| file.with_space(allocate));
        file.state.extents().forget();
        done
    }

    /// Finds data or a hole.
    pub(crate) fn seek(&self, file: u64, offset: i64, whence: i32) -> io::Result<i64> {
        let file = self.file(file)?;
        let wrong = || io::Error::from_raw_os_error(libc::ENXIO);
        let offset = u64::try_from(offset).map_err(|_| wrong())?;
        let wanted = match whence {
            libc::SEEK_DATA => SeekFrom::Data(offset),
            libc::SEEK_HOLE => SeekFrom::Hole(offset),
            _ => return Err(io::Error::from_raw_os_error(libc::EINVAL)),
        };
        Ok(seek(&file.fd, wanted)? as i64)
    }

    /// Copies a range from one file to another.
    pub(crate) fn copy(
        self: &Arc<Self>,
        (from, offset): (Arc<OpenFile>, u64),
        to: Arc<OpenFile>,
        written: Written,
        len: u64,
        reply: ReplyWrite,
    ) {
        let len = usize::try_from(len).unwrap_or(usize::MAX).min(COPY_BYTES_MAX);
        let piece = Piece {
            caller: written.caller,
            op: Op::Read,
            start: from.state.extents().position(&from.fd, offset),
            sectors: Sectors((len as u64).div_ceil(SECTOR_BYTES) as u32),
            sync: true,
            may_wait: true,
            flags: Flags::NONE,
            file: from.state.node,
            account: None,
            waited: Span::ZERO,
        };
        let tree = Arc::clone(self);
        let job = CopyJob { tree, from: (from, offset), to, written, len, copied: Ok(0), reply };
        self.gate.submit(piece, Box::new(job));
    }
}
