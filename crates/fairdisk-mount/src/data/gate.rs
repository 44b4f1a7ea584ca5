//! The gate: the interface between the file system and whoever decides when I/O happens.

use fairdisk_core::{Flags, Lba, Op, Sectors, Span};

pub use fairdisk_plane::disk::Job;

/// The properties of a piece of device I/O that a gate needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The thread that made the request; 0 if the kernel names none.
    pub caller: u32,
    /// The operation.
    pub op: Op,
    /// The position on the device, as far as the file system below tells.
    pub start: Lba,
    /// The length.
    pub sectors: Sectors,
    /// Whether somebody waits for the piece.
    pub sync: bool,
    /// Whether the submitting thread may wait for the disk.
    pub may_wait: bool,
    /// Flags of the operation.
    pub flags: Flags,
    /// The node number of the file. If there is no caller, its last user is charged.
    pub file: u64,
    /// The [account](Gate::account) that was charged when the data was written, since the caller
    /// may have ended.
    pub account: Option<u32>,
    /// How long whoever asked has waited already, as for the data that is to be flushed.
    pub waited: Span,
}

/// A function that returns the accounts with dirty data; `None` once the mount is gone.
pub type DirtyAccounts = Box<dyn Fn() -> Option<Vec<u32>> + Send + Sync>;

/// Decides when pieces of I/O are done.
pub trait Gate: Send + Sync + 'static {
    /// Takes a piece and its job. Every job must be finished eventually, but this call must not
    /// wait for it.
    fn submit(&self, piece: Piece, job: Box<dyn Job>);

    /// Takes note that somebody [has come to wait](Job::is_awaited) for jobs that were submitted as
    /// pieces nobody waits for.
    fn hurry(&self) {}

    /// Notes that a thread has opened or written to `file`, and is charged from now on for I/O
    /// there without a caller. Called while the thread waits for the reply, so that it can be
    /// inspected.
    fn uses(&self, _caller: u32, _file: u64) {}

    /// Notes that `file` is no longer open and has no dirty data.
    fn done_with(&self, _file: u64) {}

    /// The account to charge for dirty data of this caller or, if it is 0, of the last user of this
    /// file. The limit on dirty data is per account.
    fn account(&self, _caller: u32, _file: u64) -> u32 {
        0
    }

    /// Registers a function to ask before the number of an account is reused.
    fn asks_before_reuse(&self, _dirty: DirtyAccounts) {}

    /// Whether pieces whose submitting thread may not wait are performed by other threads.
    fn has_performers(&self) -> bool {
        false
    }

    /// Whether buffered writes are written back through the gate. Otherwise the kernel writes them
    /// back at times of its own choosing.
    fn paces_write_back(&self) -> bool {
        true
    }
}

/// A gate that performs everything immediately, in the calling thread, and leaves write-back to the
/// kernel.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenGate;

impl Gate for OpenGate {
    fn submit(&self, _piece: Piece, mut job: Box<dyn Job>) {
        let result = job.perform();
        job.finish(result);
    }

    fn paces_write_back(&self) -> bool {
        false
    }
}
