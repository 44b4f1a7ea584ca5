//! I/Os in progress. An I/O of a task becomes one or more bios and completes with the last of them.

use fairdisk_core::{BioId, Instant, Op};

/// The part of an I/O yet to be submitted, in bytes of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) disk: u32,
    pub(super) io: u32,
    pub(super) at: u64,
    pub(super) end: u64,
}

/// The kind of an I/O and the task it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IoKind {
    /// A direct read or write by a task, of a file of the machine.
    Data { task: u32, file: u32 },
    /// An indirect block that a task needs before it can continue.
    Metadata { task: u32 },
    /// Pages of a file from `start` on that a task reads into the page cache.
    Pages { task: u32, file: u32, start: u32 },
    /// Buffered data on its way to the disk.
    WriteBehind { task: u32 },
    /// Dirty pages of a file from `start` on, dirtied by `owner`. `submitter` is the task that
    /// submitted them, or `None` for a task of the host.
    WriteBack { owner: u32, submitter: Option<u32>, file: u32, start: u32 },
    /// A flush that a task waits for.
    Flush { task: u32 },
    /// A write by a volume's journal task.
    Journal { volume: u32 },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Io {
    pub(super) kind: IoKind,
    pub(super) started: Instant,
    pub(super) op: Op,
    pub(super) bytes: u64,
    pub(super) failed: bool,
    /// Parts that have not completed, plus one while parts may still be added.
    parts: u32,
    /// Parts created so far; numbers the bios.
    made: u32,
}

impl Io {
    pub(super) const fn new(kind: IoKind, started: Instant, op: Op) -> Self {
        Self { kind, started, op, bytes: 0, failed: false, parts: 1, made: 0 }
    }
}

/// Bits of a [`BioId`] that number the parts of an I/O; the remaining bits number the I/O.
const PART_BITS: u32 = u32::BITS;

#[derive(Debug)]
pub(super) struct Ios {
    ios: Vec<Io>,
    free: Vec<u32>,
}

impl Ios {
    pub(super) const fn new() -> Self {
        Self { ios: Vec::new(), free: Vec::new() }
    }

    pub(super) fn insert(&mut self, io: Io) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.ios[at as usize] = io;
                at
            }
            None => self.add(io),
        }
    }

    #[cold]
    fn add(&mut self, io: Io) -> u32 {
        self.ios.push(io);
        // Reserves enough for every I/O to be free at once.
        self.free.reserve(self.ios.len());
        self.ios.len() as u32 - 1
    }

    pub(super) fn get(&self, index: u32) -> &Io {
        &self.ios[index as usize]
    }

    /// Adds a part to the I/O. Returns its bio's id, and the I/O.
    pub(super) fn add_part(&mut self, index: u32) -> (BioId, &Io) {
        let io = &mut self.ios[index as usize];
        io.parts += 1;
        io.made += 1;
        (BioId(u64::from(index) << PART_BITS | u64::from(io.made)), io)
    }

    pub(super) const fn index_of(bio: BioId) -> u32 {
        (bio.0 >> PART_BITS) as u32
    }

    /// Counts a part as completed, or the I/O as having all its parts. Returns whether that was the
    /// last; the I/O can then be read until another one is inserted.
    #[inline]
    pub(super) fn part_done(&mut self, index: u32, ok: bool) -> bool {
        let io = &mut self.ios[index as usize];
        io.failed |= !ok;
        io.parts -= 1;
        let last = io.parts == 0;
        if last {
            self.free.push(index);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_has_as_many_parts_as_sectors_fit_the_largest() {
        let mut ios = Ios::new();
        let largest = crate::workload::BlockSize::BYTES_MAX / fairdisk_core::SECTOR_BYTES;
        for index in 0..3 {
            let io = Io::new(IoKind::Journal { volume: 0 }, Instant::ZERO, Op::Write);
            assert_eq!(ios.insert(io), index);
        }
        let parts = (0..largest).map(|_| ios.add_part(1).0);
        assert!(parts.collect::<Vec<_>>().iter().all(|part| Ios::index_of(*part) == 1));
        assert_eq!(Ios::index_of(ios.add_part(2).0), 2);
    }
}
