//! The seam between the file system and whoever decides when I/O happens.

use fairdisk_core::{Flags, Lba, Op, Sectors};

pub use fairdisk_plane::disk::Job;

/// What a piece of device I/O is about, as the gate needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The thread that asked; 0 if the kernel did so for nobody in particular.
    pub caller: u32,
    /// What is done.
    pub op: Op,
    /// Where on the device, as far as the file system below tells.
    pub start: Lba,
    /// How much.
    pub sectors: Sectors,
    /// Whether somebody waits for it.
    pub sync: bool,
    /// Whether the thread that submits may wait for the disk.
    pub may_wait: bool,
    /// Hints.
    pub flags: Flags,
    /// The file: whose last writer or opener is meant when there is no caller.
    pub file: u64,
    /// The account it was [put on](Gate::account) when it was written: the caller may have ended
    /// since.
    pub account: Option<u32>,
}

/// Says on which accounts there are dirty data at this moment; nothing once nobody can know.
pub type DirtyAccounts = Box<dyn Fn() -> Option<Vec<u32>> + Send + Sync>;

/// Decides when pieces of I/O are done.
pub trait Gate: Send + Sync + 'static {
    /// Takes a piece. Every job taken must be finished one day; this call must not wait for it.
    fn submit(&self, piece: Piece, job: Box<dyn Job>);

    /// A thread opened or wrote `file`: from now on, what nobody asks for there is on its account.
    /// Called while the thread waits for the answer, so it can still be looked at.
    fn uses(&self, _caller: u32, _file: u64) {}

    /// Nobody has `file` open any longer, and nothing is left to be written out.
    fn done_with(&self, _file: u64) {}

    /// On whose account dirty data of this caller (or, if 0, of this file) are: accounts are
    /// limited one by one.
    fn account(&self, _caller: u32, _file: u64) -> u32 {
        0
    }

    /// What is asked before the number of an account is used for another one.
    fn asks_before_reuse(&self, _dirty: DirtyAccounts) {}

    /// Whether pieces are performed elsewhere when the thread that submits them may not wait.
    fn has_performers(&self) -> bool {
        false
    }

    /// Whether buffered writes are written out through the gate; otherwise the kernel does that
    /// when it likes.
    fn paces_write_back(&self) -> bool {
        true
    }
}

/// Does everything at once, in the calling thread, and leaves write-back to the kernel.
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
