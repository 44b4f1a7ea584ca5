//! Write-back of dirty data in the page cache below.
//!
//! A buffered write goes into the page cache of the file system below and is answered. The dirty
//! range is then written out in pieces that pass the gate like all other I/O. Adjacent writes are
//! gathered into one piece while earlier pieces of the file are in flight, and a range that is
//! written again before its piece passes the gate costs nothing more.
//!
//! Every piece is charged to the account of its writer. While an account exceeds the limit, replies
//! to further buffered writes are held back until enough has reached the disk. It is the writer
//! that waits, never one of our threads.

mod accounts;
mod ranges;

pub(crate) use accounts::Accounts;
pub(crate) use ranges::{Chunk, Ranges};

/// A continuation, to be run once the disk has got that far.
pub(crate) type Then = Box<dyn FnOnce() + Send>;
