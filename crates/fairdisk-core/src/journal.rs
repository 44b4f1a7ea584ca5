//! The journal: a record of every input and every effect, with its time. Runs, machines and shells
//! are compared by the journal's hash.

use crate::elevator::Change;
use crate::request::{Bio, BioId, RequestId};
use crate::time::Instant;
use crate::why::Why;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// An entry of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The time of the event.
    pub at: Instant,
    /// The event.
    pub record: Record,
}

/// The events that a journal records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A task submitted a bio.
    Submitted(Bio),
    /// A bio waits until an earlier one, which it overlaps or which its flush depends on, has
    /// finished.
    Held(BioId),
    /// A bio waits for a request slot.
    Sleeps(BioId),
    /// A sleeping bio was told that a slot is free.
    Woken(BioId),
    /// A bio was merged into a queued request.
    Merged(BioId, RequestId),
    /// A bio adjoins a queued request, which would have more segments with it than the adapter
    /// takes.
    TooManySegments(BioId, RequestId),
    /// The first request absorbed the bios of the second one, which was withdrawn.
    Absorbed(RequestId, RequestId),
    /// A bio became a request of its own.
    Queued(BioId, RequestId),
    /// The elevator moved a request to the dispatch list, for this reason.
    Dispatched(RequestId, Why),
    /// The elevator waits until this instant, for this reason.
    Waits(Instant, Why),
    /// The elevator waits for a completion, for this reason.
    WaitsCompletion(Why),
    /// A request was issued to the device.
    Issued(RequestId),
    /// The device completed a request; the flag says whether it succeeded.
    Completed(RequestId, bool),
    /// A bio completed; the flag says whether it succeeded.
    Finished(BioId, bool),
    /// A bio was withdrawn.
    Cancelled(BioId),
    /// Somebody waits for an asynchronous bio from now on.
    Hurried(BioId),
    /// A group, a task or the device changed.
    Configured(Change),
    /// The elevator with this name took over.
    Switched(&'static str),
}

/// The running hash of all entries and, if wanted, the entries themselves.
#[derive(Clone, Debug)]
pub struct Journal {
    hash: u64,
    len: u64,
    /// The most entries that are kept.
    most: usize,
    kept: Vec<Entry>,
    missed: u64,
}

impl Default for Journal {
    fn default() -> Self {
        Self::hashing()
    }
}

impl Journal {
    /// A journal that keeps only the hash.
    #[must_use]
    pub const fn hashing() -> Self {
        Self { hash: 0x6661_6972_6469_736B, len: 0, most: 0, kept: Vec::new(), missed: 0 }
    }

    /// A journal that keeps every entry.
    #[must_use]
    pub fn keeping() -> Self {
        Self { most: usize::MAX, ..Self::hashing() }
    }

    /// Keeps entries from now on until there are `most` that have not been drained, or none.
    pub fn keep_up_to(&mut self, most: usize) {
        (self.most, self.missed, self.kept) = (most, 0, Vec::new());
    }

    /// Exchanges the kept entries for an empty list, whose allocation is used for the next ones.
    pub fn swap_kept(&mut self, empty: &mut Vec<Entry>) {
        empty.clear();
        core::mem::swap(&mut self.kept, empty);
    }

    /// The submissions that were not kept, as there were too many entries, since that was last set.
    #[must_use]
    pub const fn missed(&self) -> u64 {
        self.missed
    }

    /// The hash of all entries so far. The same on every machine, for one version of the journal's
    /// format.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        crate::prng::mix(self.hash ^ self.len)
    }

    /// The number of entries so far.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no entries yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The kept entries; empty if the journal keeps only the hash or after a
    /// [`drain`](Self::drain).
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.kept
    }

    /// Removes and returns the kept entries. Hash and length are not affected.
    pub fn drain(&mut self) -> impl Iterator<Item = Entry> {
        self.kept.drain(..)
    }

    /// Appends an entry. Inlined, so that the kind of the record is known: 4 % of a run's
    /// instructions.
    #[inline(always)]
    pub fn push(&mut self, at: Instant, record: Record) {
        let mut hash = Words(step(self.hash, at.as_ns()));
        hash.record(&record);
        self.hash = hash.0;
        self.len += 1;
        if self.most > 0 {
            self.keep(Entry { at, record });
        }
    }

    #[cold]
    fn keep(&mut self, entry: Entry) {
        match self.kept.len() < self.most {
            true => self.kept.push(entry),
            false => self.missed += u64::from(matches!(entry.record, Record::Submitted(_))),
        }
    }
}

const fn step(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A hash to which words are added. Every number is one word, whatever its width and the machine's
/// byte order.
struct Words(u64);

impl Words {
    /// Adds a record: its tag, followed by its fields. The encoding must not change, or hashes of
    /// earlier runs cannot be compared; a record that is gone leaves a gap among the tags.
    #[inline(always)]
    fn record(&mut self, record: &Record) {
        match *record {
            Record::Submitted(ref bio) => self.bio(bio),
            Record::Held(bio) => self.add([2, bio.0]),
            Record::Sleeps(bio) => self.add([3, bio.0]),
            Record::Woken(bio) => self.add([4, bio.0]),
            Record::Merged(bio, request) => self.add([5, bio.0, u64::from(request.0)]),
            Record::TooManySegments(bio, request) => self.add([19, bio.0, u64::from(request.0)]),
            Record::Queued(bio, request) => self.add([6, bio.0, u64::from(request.0)]),
            Record::Dispatched(request, why) => self.add([7, u64::from(request.0), why as u64]),
            Record::Waits(until, why) => self.add([8, until.as_ns(), why as u64]),
            Record::WaitsCompletion(why) => self.add([9, why as u64]),
            Record::Issued(request) => self.add([10, u64::from(request.0)]),
            Record::Completed(request, ok) => {
                self.add([11, u64::from(request.0), u64::from(ok)]);
            }
            Record::Finished(bio, ok) => self.add([12, bio.0, u64::from(ok)]),
            Record::Cancelled(bio) => self.add([13, bio.0]),
            Record::Hurried(bio) => self.add([18, bio.0]),
            Record::Configured(ref change) => self.change(change),
            Record::Switched(name) => self.switch(name),
            Record::Absorbed(request, absorbed) => {
                self.add([16, u64::from(request.0), u64::from(absorbed.0)]);
            }
        }
    }

    #[inline]
    fn add<const N: usize>(&mut self, words: [u64; N]) {
        self.0 = words.into_iter().fold(self.0, step);
    }

    fn bio(&mut self, bio: &Bio) {
        let Bio { id, task, group, op, start, sectors, sync, flags, ioprio } = *bio;
        let who = u64::from(task.0) << 32 | u64::from(group.0);
        let how = [op as u8, u8::from(sync), flags.bits(), ioprio.class as u8, ioprio.level];
        let how = how.iter().fold(0, |how, byte| how << 8 | u64::from(*byte));
        self.add([1, id.0, who, start.0, u64::from(sectors.0), how]);
    }

    #[cold]
    fn change(&mut self, change: &Change) {
        self.add([14]);
        change.hash(self);
    }

    #[cold]
    fn switch(&mut self, name: &str) {
        self.add([15]);
        name.hash(self);
    }
}

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add([u64::from(*byte)]));
    }

    fn write_u16(&mut self, number: u16) {
        self.add([u64::from(number)]);
    }

    fn write_u32(&mut self, number: u32) {
        self.add([u64::from(number)]);
    }

    fn write_u64(&mut self, number: u64) {
        self.add([number]);
    }

    fn write_isize(&mut self, number: isize) {
        self.add([number as u64]);
    }
}
