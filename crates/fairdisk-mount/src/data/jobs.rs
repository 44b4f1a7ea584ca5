//! Jobs: the pieces of I/O that run when the gate lets them through, and then answer the kernel.

mod copy;
mod flush;
mod read;
mod write;
mod write_out;

pub(crate) use copy::CopyJob;
pub(crate) use flush::{FlushJob, Flushed};
pub(crate) use read::ReadJob;
pub(crate) use write::WriteJob;
pub(crate) use write_out::WriteOutJob;

use rustix::io::Errno;
use std::io;

/// Repeats `step` while a signal interrupts it.
pub(crate) fn uninterrupted<T>(mut step: impl FnMut() -> Result<T, Errno>) -> io::Result<T> {
    loop {
        match step() {
            Err(Errno::INTR) => {}
            other => return other.map_err(Into::into),
        }
    }
}
