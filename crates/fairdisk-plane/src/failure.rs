//! Failures of single requests.

use fairdisk_core::{Instant, Lba, Request};
use rustix::io::Errno;
use std::fmt;

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The system returned an error.
    Os(Errno),
    /// The file ended before the request was complete.
    Short,
    /// The request extends beyond the last sector.
    OutOfRange {
        /// The size of the target in sectors.
        capacity_sectors: u64,
    },
    /// This sector's contents differ from what was written to it.
    Corrupt(Lba),
    /// The device model refused the request.
    Modelled,
}

impl Failure {
    /// Whether it is that the disk of the file is full, or what a user may have of it.
    #[must_use]
    pub fn is_for_want_of_space(&self) -> bool {
        matches!(self, Self::Os(Errno::NOSPC | Errno::DQUOT))
    }
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Os(errno)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Os(errno) => {
                write!(f, "{}", std::io::Error::from(*errno))?;
                match *errno {
                    _ if self.is_for_want_of_space() => {
                        f.write_str("; free space on that disk, or run on a smaller size")
                    }
                    Errno::IO => f.write_str("; the disk reports a defect, see the kernel's log"),
                    Errno::ROFS | Errno::BADF => {
                        f.write_str("; the target is open for reading only")
                    }
                    _ => Ok(()),
                }
            }
            Self::Short => f.write_str("the file ended early; was it cut while the run went on?"),
            Self::OutOfRange { capacity_sectors } => {
                write!(f, "beyond the last of {capacity_sectors} sectors; use a larger target")
            }
            Self::Corrupt(lba) => {
                write!(f, "sector {} reads back different bytes than were written to it", lba.0)
            }
            Self::Modelled => f.write_str("the modelled device has no such sectors"),
        }
    }
}

/// A failed request, with the time and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedRequest {
    /// When the failure was noticed.
    pub at: Instant,
    /// The request that failed.
    pub request: Request,
    /// Why the request failed.
    pub failure: Failure,
}

impl fmt::Display for FailedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = self.request.op.name();
        let (sectors, start) = (self.request.sectors.0, self.request.start.0);
        write!(f, "{what} of {sectors} sectors at sector {start} failed: {}", self.failure)
    }
}
