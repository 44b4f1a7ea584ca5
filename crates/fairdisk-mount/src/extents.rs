//! From offsets in a file to positions on the device.
//!
//! What the file system below says is kept until the file changes its size or layout. Where it
//! says nothing (no FIEMAP, a hole, blocks not chosen yet), the position goes on from the last
//! known block before it, or is made up from the inode number: file systems tend to put the data
//! of inodes in the order of the inodes. Such positions are stable, and near for near files.

use crate::sys::fiemap::{Mapped, extents_from};
use fairdisk_core::{Lba, SECTOR_BYTES};
use rustix::fd::AsFd;

/// Extents kept of one file; a file in more pieces is asked about again as it is walked through.
const KEPT_MAX: usize = 4096;
/// How far before an offset a question begins: what has no position yet goes on from there.
const BACK: u64 = 1 << 20;

/// A stretch of a file in one piece on the device, all in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Offset in the file.
    pub(crate) logical: u64,
    /// Offset on the device.
    pub(crate) physical: u64,
    /// How long.
    pub(crate) len: u64,
}

/// Positions for what has none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fallback {
    /// Sectors of the file system.
    pub(crate) sectors: u64,
    /// Inodes of the file system; 0 if it does not count them.
    pub(crate) inodes: u64,
}

/// Where a file system is, and positions for what has none in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Sectors of the disk before the file system.
    pub(crate) start: u64,
    pub(crate) fallback: Fallback,
}

impl Fallback {
    /// Where the data of an inode might begin, in bytes.
    fn start(&self, inode: u64) -> u64 {
        let sectors = u128::from(self.sectors.max(1));
        let at = if self.inodes == 0 {
            // Spread by the golden ratio: the inode number says nothing about the place.
            (u128::from(inode.wrapping_mul(0x9E37_79B9_7F4A_7C15)) * sectors) >> 64
        } else {
            sectors * u128::from(inode % self.inodes) / u128::from(self.inodes)
        };
        at as u64 * SECTOR_BYTES
    }
}

/// What is known about the layout of one file.
#[derive(Debug)]
pub(crate) struct Extents {
    inode: u64,
    layout: Layout,
    known: Vec<Extent>,
    /// What has been asked about: from here to there, nothing in between is missing.
    asked: std::ops::Range<u64>,
    /// The file system below has no FIEMAP.
    mute: bool,
}

impl Extents {
    /// Nothing known yet.
    pub(crate) fn new(inode: u64, layout: Layout) -> Self {
        Self { inode, layout, known: Vec::new(), asked: 0..0, mute: false }
    }

    /// Where `offset` of the file is on the disk; `fd` is the file, open.
    pub(crate) fn position(&mut self, fd: impl AsFd, offset: u64) -> Lba {
        if !self.knows(offset) {
            let follows = offset == self.asked.end;
            let from = if follows { offset } else { offset.saturating_sub(BACK) };
            match extents_from(fd, from) {
                Ok(mapped) => self.learn(from, mapped),
                Err(_) => self.mute = true,
            }
        }
        self.place(offset)
    }

    /// Whether the position of `offset` is known without asking the file system.
    pub(crate) fn knows(&self, offset: u64) -> bool {
        self.mute || self.asked.contains(&offset)
    }

    fn learn(&mut self, offset: u64, mapped: Mapped) {
        let follows = offset == self.asked.end && self.known.len() < KEPT_MAX;
        if !follows {
            self.known.clear();
            self.asked.start = offset;
        }
        self.asked.end = mapped.end;
        self.known.extend(mapped.extents);
    }

    fn place(&self, offset: u64) -> Lba {
        let after = self.known.partition_point(|extent| extent.logical <= offset);
        let bytes = match after.checked_sub(1).map(|at| self.known[at]) {
            Some(extent) => extent.physical.saturating_add(offset - extent.logical),
            None => self.layout.fallback.start(self.inode).saturating_add(offset),
        };
        Lba(self.layout.start + bytes / SECTOR_BYTES)
    }

    /// Forgets what is known: the layout may have changed.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.asked = 0..0;
    }

    /// Blocks may have been chosen for `offset` and what follows: asks again if it had none.
    pub(crate) fn written_out(&mut self, offset: u64) {
        let after = self.known.partition_point(|extent| extent.logical <= offset);
        let covered = after
            .checked_sub(1)
            .map(|at| self.known[at])
            .is_some_and(|extent| offset - extent.logical < extent.len);
        if !covered {
            self.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout =
        Layout { start: 0, fallback: Fallback { sectors: 1_000_000, inodes: 1000 } };

    fn extent(logical: u64, physical: u64, len: u64) -> Extent {
        Extent { logical, physical, len }
    }

    fn known() -> Extents {
        let mut extents = Extents::new(10, LAYOUT);
        let pieces = vec![extent(0, 1 << 20, 8192), extent(16384, 4 << 20, 4096)];
        extents.learn(0, Mapped { extents: pieces, end: u64::MAX });
        extents
    }

    #[test]
    fn offsets_inside_extents_are_where_the_extent_is() {
        assert_eq!(known().place(0), Lba(2048));
        assert_eq!(known().place(4096), Lba(2056));
        assert_eq!(known().place(16384), Lba(8192));
    }

    #[test]
    fn positions_are_those_of_the_whole_disk() {
        let layout = Layout { start: 2048, ..LAYOUT };
        let mut extents = Extents::new(10, layout);
        assert_eq!(extents.place(0), Lba(2048 + 10_000));
        extents.learn(0, Mapped { extents: vec![extent(0, 1 << 20, 8192)], end: u64::MAX });
        assert_eq!(extents.place(4096), Lba(2048 + 2056));
    }

    #[test]
    fn holes_and_the_end_go_on_from_the_block_before() {
        assert_eq!(known().place(8192), Lba(2064));
        assert_eq!(known().place(16384 + 8192), Lba(8192 + 16));
    }

    #[test]
    fn what_has_no_position_gets_one_in_the_order_of_inodes() {
        let place = |inode| Extents::new(inode, LAYOUT).place(0);
        assert_eq!(place(10), Lba(10_000));
        assert_eq!(place(11), Lba(11_000));
        assert_eq!(place(1010), place(10));
        let uncounted = Layout { start: 0, fallback: Fallback { sectors: 1000, inodes: 0 } };
        let spread = Extents::new(12345, uncounted).place(0);
        assert!(spread.0 < 1000);
        assert_eq!(spread, Extents::new(12345, uncounted).place(0));
    }

    #[test]
    fn what_is_asked_in_order_is_kept_and_a_jump_starts_anew() {
        let mut extents = Extents::new(10, LAYOUT);
        extents.learn(0, Mapped { extents: vec![extent(0, 512, 4096)], end: 4096 });
        extents.learn(4096, Mapped { extents: vec![extent(4096, 51200, 4096)], end: 8192 });
        assert_eq!(extents.asked, 0..8192);
        assert_eq!((extents.place(0), extents.place(4096)), (Lba(1), Lba(100)));
        extents.learn(1 << 20, Mapped { extents: vec![extent(1 << 20, 1024, 512)], end: u64::MAX });
        assert_eq!(extents.asked, (1 << 20)..u64::MAX);
        assert_eq!(extents.place(1 << 20), Lba(2));
    }

    #[test]
    fn writing_out_asks_again_only_where_nothing_was_known() {
        let mut extents = known();
        extents.written_out(4096);
        assert_eq!(extents.known.len(), 2);
        extents.written_out(8192);
        assert!(extents.known.is_empty() && extents.asked.is_empty());
    }

    #[test]
    fn a_real_file_has_positions() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &[1; 8192], 0).unwrap();
        file.sync_all().unwrap();
        let mut extents = Extents::new(10, LAYOUT);
        let first = extents.position(&file, 0);
        if extents.mute {
            eprintln!("skipped, positions: no FIEMAP here");
            return;
        }
        assert_eq!(extents.position(&file, 4096), Lba(first.0 + 8));
    }
}
