//! Pieces of I/O: what they do when the gate lets them through, and whom they tell.

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

/// Does `step` again when a signal came between.
pub(crate) fn uninterrupted<T>(mut step: impl FnMut() -> Result<T, Errno>) -> io::Result<T> {
    loop {
        match step() {
            Err(Errno::INTR) => {}
            other => return other.map_err(Into::into),
        }
    }
}
