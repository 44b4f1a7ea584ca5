//! Jobs: the I/O that is done on a disk once the scheduler has issued it, by a thread or by the
//! kernel.

use rustix::fd::BorrowedFd;
use std::io;

/// A piece of device I/O, and the answer to whoever waits for it.
pub trait Job: Send {
    /// Does the I/O, on any thread, once the scheduler has issued it.
    ///
    /// # Errors
    /// The I/O failed; the error is passed to [`finish`](Self::finish).
    fn perform(&mut self) -> io::Result<()>;

    /// Whether the time that the job took was spent on the device, and not in memory.
    fn reached_device(&self) -> bool {
        true
    }

    /// Whether the job is nothing but a [`transfer`](Self::transfer), which the kernel can do
    /// without a waiting thread.
    fn is_transfer(&self) -> bool {
        false
    }

    /// The transfer for the kernel to do. The borrowed memory must not be touched until
    /// [`transferred`](Self::transferred) is called. If this returns `None` or the kernel refuses,
    /// [`perform`](Self::perform) is called instead.
    fn transfer(&mut self) -> Option<Transfer<'_>> {
        None
    }

    /// Receives the number of bytes that the kernel has moved, or its error. Returns the result of
    /// the job, or `None` if it must be [performed](Self::perform) after all.
    fn transferred(&mut self, _moved: io::Result<usize>) -> Option<io::Result<()>> {
        None
    }

    /// Whether somebody has come to wait for the job, though it was submitted as asynchronous. It
    /// is asked with the disk locked, so it must take no lock.
    fn is_awaited(&self) -> bool {
        false
    }

    /// Answers whoever waits. With a modelled disk this may be called much later than
    /// [`perform`](Self::perform).
    fn finish(self: Box<Self>, result: io::Result<()>);
}

/// A transfer between a range of a file and memory.
pub struct Transfer<'a> {
    /// The file.
    pub file: BorrowedFd<'a>,
    /// The offset in the file in bytes.
    pub at: u64,
    /// The direction, and the memory.
    pub way: Way<'a>,
}

/// The direction of a transfer.
pub enum Way<'a> {
    /// From the file into this memory.
    In(&'a mut [u8]),
}
