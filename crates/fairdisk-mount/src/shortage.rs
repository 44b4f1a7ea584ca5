//! Errors that indicate a temporary shortage of resources.

use rustix::io::Errno;
use std::io;

/// Whether the process or the system has run out of descriptors or memory.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    let short = [Errno::MFILE, Errno::NFILE, Errno::NOMEM].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| short.contains(&code))
}
