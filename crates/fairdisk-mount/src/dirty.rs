//! Data written to the page cache below and not yet on the disk.
//!
//! A buffered write goes into the page cache of the file system below and is answered. What it
//! made dirty is written out in pieces that pass the gate like everything else: adjacent writes
//! are gathered into one piece while earlier pieces of the file are on their way, and a stretch
//! that is written again before its piece was let through costs nothing more.
//!
//! Every piece counts for the account of its writer. Above the limit the answers to further writes
//! are put off until enough has reached the disk: it is the writer that waits, never a thread of
//! ours.

mod accounts;
mod ranges;

pub(crate) use accounts::Accounts;
pub(crate) use ranges::{Chunk, Ranges};

/// Something to be done when the disk got that far.
pub(crate) type Then = Box<dyn FnOnce() + Send>;
