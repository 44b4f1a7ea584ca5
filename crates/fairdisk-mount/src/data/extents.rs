//! Translation of file offsets to positions on the disk.
//!
//! The mapping that the file system below reports (FIEMAP) is cached until the file's size or
//! layout changes. Where there is none (no FIEMAP, a hole, or blocks not yet allocated), the
//! position continues from the last known extent before it, or is derived from the inode number,
//! since file systems tend to place the data of inodes in inode order. Such positions are stable,
//! and close for files that are close.

use crate::sys::fiemap::{Mapped, extents_from};
use fairdisk_core::{Lba, SECTOR_BYTES};
use rustix::fd::AsFd;

/// The most extents cached for a file. For a file with more, the mapping is queried again as it is
/// traversed.
const KEPT_MAX: usize = 4096;
/// How far before an offset a query begins, in bytes, so that an unmapped offset can continue from
/// an extent there.
const BACK: u64 = 1 << 20;

/// A contiguous range of a file on the disk. All fields are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The offset in the file.
    pub(crate) logical: u64,
    /// The offset on the device.
    pub(crate) physical: u64,
    /// The length.
    pub(crate) len: u64,
}

/// The parameters of positions for data without a mapping.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fallback {
    /// The size of the file system in sectors.
    pub(crate) sectors: u64,
    /// The number of inodes of the file system; 0 if it has no fixed number.
    pub(crate) inodes: u64,
}

/// The place of a file system on its disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The first sector of the file system on the disk.
    pub(crate) start: u64,
    pub(crate) fallback: Fallback,
}

impl Fallback {
    /// An estimate of where the data of an inode begins, as a byte offset in the file system.
    fn start(&self, inode: u64) -> u64 {
        let sectors = u128::from(self.sectors.max(1));
        let at = if self.inodes == 0 {
            // Multiplicative hashing by the golden ratio: inode numbers say nothing about the
            // position.
            (u128::from(inode.wrapping_mul(0x9E37_79B9_7F4A_7C15)) * sectors) >> 64
        } else {
            sectors * u128::from(inode % self.inodes) / u128::from(self.inodes)
        };
        at as u64 * SECTOR_BYTES
    }
}

/// The known part of one file's mapping.
#[derive(Debug)]
pub(crate) struct Extents {
    inode: u64,
    layout: Layout,
    known: Vec<Extent>,
    /// The range of offsets that has been queried, for which `known` is complete.
    asked: std::ops::Range<u64>,
    /// Whether the file system below has no FIEMAP.
    mute: bool,
}

impl Extents {
    /// An empty mapping of a file.
    pub(crate) fn new(inode: u64, layout: Layout) -> Self {
        Self { inode, layout, known: Vec::new(), asked: 0..0, mute: false }
    }

    /// The position on the disk of `offset` in the file, which is open as `fd`.
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

    /// Whether the position of `offset` is known without querying the file system.
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

    /// Discards the mapping, because the layout may have changed.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.asked = 0..0;
    }

    /// Notes that `offset` was written out. If it had no extent, one may have been allocated, so
    /// the mapping is discarded.
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
