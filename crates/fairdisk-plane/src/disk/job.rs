//! What is done on a disk once the scheduler says so, by a thread or by the kernel.

use rustix::fd::BorrowedFd;
use std::io;

/// A piece of device I/O on somebody's behalf.
pub trait Job: Send {
    /// Does the I/O, on whatever thread, once the scheduler has issued it.
    ///
    /// # Errors
    /// The I/O failed; [`finish`](Self::finish) is told.
    fn perform(&mut self) -> io::Result<()>;

    /// Whether the time it took is that of the device, and not of memory.
    fn reached_device(&self) -> bool {
        true
    }

    /// Whether all it does is a [`transfer`](Self::transfer), so that the kernel can do it while no
    /// thread waits.
    fn is_transfer(&self) -> bool {
        false
    }

    /// What the kernel is to do. What is lent is not touched until
    /// [`transferred`](Self::transferred) is called; if nothing is lent, or the kernel refuses,
    /// [`perform`](Self::perform) is.
    fn transfer(&mut self) -> Option<Transfer<'_>> {
        None
    }

    /// The kernel has moved so many bytes. What came of the job; nothing if it has to be
    /// [performed](Self::perform) after all.
    fn transferred(&mut self, _moved: io::Result<usize>) -> Option<io::Result<()>> {
        None
    }

    /// Answers whoever waits. A modelled disk may let this be much later.
    fn finish(self: Box<Self>, result: io::Result<()>);
}

/// A stretch of a file on its way.
pub struct Transfer<'a> {
    /// The file.
    pub file: BorrowedFd<'a>,
    /// Offset in the file, in bytes.
    pub at: u64,
    /// Where to.
    pub way: Way<'a>,
}

/// Where a stretch of a file goes.
pub enum Way<'a> {
    /// Into memory.
    In(&'a mut [u8]),
}
