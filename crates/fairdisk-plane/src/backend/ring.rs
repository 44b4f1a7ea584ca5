//! An `io_uring` instance with all the operations we need, or the reason why there is none.

use crate::clock::{Clock, Stance};
use fairdisk_core::Instant;
use io_uring::{IoUring, Probe, cqueue, opcode, squeue, types};
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::time::Duration;

/// An `io_uring` instance.
pub struct Ring {
    uring: IoUring,
}

/// Why the kernel provides no usable ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRing(String);

impl fmt::Display for NoRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ring({} entries)", self.uring.params().sq_entries())
    }
}

impl Ring {
    /// Sets up a ring for `depth` requests at once.
    ///
    /// # Errors
    /// The kernel has no `io_uring`, forbids it, or lacks an operation.
    pub fn new(depth: u32) -> Result<Self, NoRing> {
        // The thread that waits for completions also processes them, so no thread needs to be
        // interrupted for one (IORING_SETUP_COOP_TASKRUN). Kernels before 5.19 do not know this
        // flag.
        let uring = (IoUring::builder().setup_clamp().setup_coop_taskrun().build(depth))
            .or_else(|_| IoUring::builder().setup_clamp().build(depth))
            .map_err(|error| refused(&error))?;
        if uring.params().sq_entries() < depth {
            return Err(NoRing(format!("the kernel allows no ring of {depth} entries")));
        }
        if !uring.params().is_feature_ext_arg() {
            return Err(NoRing("the kernel's io_uring cannot wait with a timeout".to_owned()));
        }
        let mut probe = Probe::new();
        uring.submitter().register_probe(&mut probe).map_err(|error| refused(&error))?;
        for (code, name) in WANTED {
            if !probe.is_supported(code) {
                return Err(NoRing(format!("the kernel's io_uring cannot {name}")));
            }
        }
        Ok(Self { uring })
    }

    /// Queues an entry, which reaches the kernel with the next [`enter`](Self::enter).
    ///
    /// # Safety
    /// Everything the entry points to must stay valid and untouched until its completion has been
    /// taken from [`next`](Self::next).
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the caller guarantees that what the entry points to stays valid and untouched.
        let pushed = unsafe { self.uring.submission().push(entry) };
        if pushed.is_ok() {
            return Ok(());
        }
        // The submission queue is full of entries that the kernel has not fetched yet.
        self.enter(0, None)?;
        // SAFETY: as above.
        unsafe { self.uring.submission().push(entry) }.map_err(io::Error::other)
    }

    /// Submits the queued entries, if there are any.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.uring.submission().is_empty() { Ok(()) } else { self.enter(0, None) }
    }

    /// Submits the queued entries and waits for `want` completions, but no longer than `span`.
    pub(crate) fn enter(&self, want: usize, span: Option<Duration>) -> io::Result<()> {
        let entered = match span {
            None => self.uring.submitter().submit_and_wait(want),
            Some(span) => {
                let timespec = types::Timespec::from(span);
                let args = types::SubmitArgs::new().timespec(&timespec);
                self.uring.submitter().submit_with_args(want, &args)
            }
        };
        match entered {
            Ok(_) => Ok(()),
            // Timed out, interrupted, or the completion queue is full: in each case the caller
            // looks for completions again.
            Err(error) if is_benign(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Submits the queued entries and waits once in the manner that `clock` prescribes. Returns
    /// false if the deadline has passed.
    pub(super) fn pause(&self, clock: &dyn Clock, deadline: Option<Instant>) -> io::Result<bool> {
        match clock.stance(deadline) {
            Stance::Block(span) => self.enter(1, span)?,
            Stance::Spin => self.enter(0, None)?,
            Stance::Over => {
                self.enter(0, None)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The next completion, if one has arrived.
    pub(crate) fn next(&mut self) -> Option<cqueue::Entry> {
        self.uring.completion().next()
    }
}

const WANTED: [(u8, &str); 4] = [
    (opcode::Read::CODE, "read"),
    (opcode::Write::CODE, "write"),
    (opcode::Fsync::CODE, "flush"),
    (opcode::Fallocate::CODE, "discard"),
];

fn is_benign(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::TIME | Errno::INTR | Errno::BUSY | Errno::AGAIN)
    )
}

fn refused(error: &io::Error) -> NoRing {
    let why = match Errno::from_io_error(error) {
        Some(Errno::NOSYS) => "this kernel has no io_uring".to_owned(),
        Some(Errno::PERM | Errno::ACCESS) => {
            "io_uring is forbidden here (kernel.io_uring_disabled or a container's filter)"
                .to_owned()
        }
        Some(Errno::NOMEM) => "the limit on locked memory leaves no room for io_uring".to_owned(),
        _ => format!("the kernel refuses io_uring: {error}"),
    };
    NoRing(why)
}
