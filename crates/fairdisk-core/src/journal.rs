//! The journal: every input and effect with its time. Its hash is the unit of comparison between
//! runs, machines and shells.

use crate::elevator::Why;
use crate::request::{BioId, GroupId, Lba, Op, RequestId, Sectors, TaskId};
use crate::time::Instant;
use alloc::vec::Vec;

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When.
    pub at: Instant,
    /// What.
    pub record: Record,
}

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A task submitted a bio.
    Submitted {
        /// The bio.
        bio: BioId,
        /// Its task.
        task: TaskId,
        /// Its group.
        group: GroupId,
        /// What it asks.
        op: Op,
        /// Where.
        start: Lba,
        /// How much.
        sectors: Sectors,
    },
    /// A bio waits until an earlier one it overlaps (or a flush depends on) has finished.
    Held(BioId),
    /// A bio waits for a request slot.
    Sleeps(BioId),
    /// A sleeping bio was told that a slot is free.
    Woken(BioId),
    /// A bio became part of a queued request.
    Merged(BioId, RequestId),
    /// A queued request took over the bios of the second one, which is no more.
    Absorbed(RequestId, RequestId),
    /// A bio became a request of its own.
    Queued(BioId, RequestId),
    /// The elevator moved a request to the dispatch list.
    Dispatched(RequestId, Why),
    /// The elevator waits until an instant.
    Waits(Instant, Why),
    /// The elevator waits for a completion.
    WaitsCompletion(Why),
    /// A request went to the device.
    Issued(RequestId),
    /// The device finished a request.
    Completed(RequestId, bool),
    /// A bio finished.
    Finished(BioId, bool),
    /// A bio was withdrawn.
    Cancelled(BioId),
    /// Groups or tasks changed.
    Configured,
    /// Another elevator took over.
    Switched,
}

/// The running hash of all entries and, on request, the entries themselves.
#[derive(Clone, Debug)]
pub struct Journal {
    hash: u64,
    len: u64,
    keeps: bool,
    kept: Vec<Entry>,
}

impl Default for Journal {
    fn default() -> Self {
        Self::hashing()
    }
}

impl Journal {
    /// A journal that keeps only its hash.
    #[must_use]
    pub const fn hashing() -> Self {
        Self { hash: 0x6661_6972_6469_736B, len: 0, keeps: false, kept: Vec::new() }
    }

    /// A journal that keeps every entry.
    #[must_use]
    pub fn keeping() -> Self {
        Self { keeps: true, ..Self::hashing() }
    }

    /// The hash of everything so far. Stable between machines and versions of this format.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        crate::prng::mix(self.hash ^ self.len)
    }

    /// Number of entries so far.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing has happened.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entries, if they are kept.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.kept
    }

    /// Gives away the entries that are kept. Hash and length go on as if nothing had happened.
    pub fn drain(&mut self) -> impl Iterator<Item = Entry> {
        self.kept.drain(..)
    }

    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, at: Instant, record: Record) {
        let (tag, a, b) = words(&record);
        let mut hash = step(self.hash, at.as_ns());
        hash = step(hash, a ^ (tag << 56));
        self.hash = step(hash, b);
        self.len += 1;
        if self.keeps {
            self.keep(Entry { at, record });
        }
    }

    #[cold]
    fn keep(&mut self, entry: Entry) {
        self.kept.push(entry);
    }
}

const fn step(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A record as a tag and two words; the encoding is part of the hash's stability.
fn words(record: &Record) -> (u64, u64, u64) {
    match *record {
        Record::Submitted { bio, task, group, op, start, sectors } => (
            1,
            bio.0 ^ (u64::from(task.0) << 32) ^ (op as u64) << 60,
            start.0 ^ (u64::from(sectors.0) << 40) ^ (u64::from(group.0) << 20),
        ),
        Record::Held(bio) => (2, bio.0, 0),
        Record::Sleeps(bio) => (3, bio.0, 0),
        Record::Woken(bio) => (4, bio.0, 0),
        Record::Merged(bio, request) => (5, bio.0, u64::from(request.0)),
        Record::Queued(bio, request) => (6, bio.0, u64::from(request.0)),
        Record::Dispatched(request, why) => (7, u64::from(request.0), why as u64),
        Record::Waits(until, why) => (8, until.as_ns(), why as u64),
        Record::WaitsCompletion(why) => (9, 0, why as u64),
        Record::Issued(request) => (10, u64::from(request.0), 0),
        Record::Completed(request, ok) => (11, u64::from(request.0), u64::from(ok)),
        Record::Finished(bio, ok) => (12, bio.0, u64::from(ok)),
        Record::Cancelled(bio) => (13, bio.0, 0),
        Record::Configured => (14, 0, 0),
        Record::Switched => (15, 0, 0),
        Record::Absorbed(request, absorbed) => (16, u64::from(request.0), u64::from(absorbed.0)),
    }
}
