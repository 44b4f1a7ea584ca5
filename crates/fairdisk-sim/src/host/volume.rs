//! Where the bytes of a file lie, and which metadata must be read to find them.
//!
//! ext2 and ext3 keep the addresses of a file's 4 KiB blocks in the file's inode (the first 12)
//! and in indirect blocks of 1024 addresses, which lie right before the data they describe.
//! A cold file's indirect blocks are read on first use, through the same request queue.

use fairdisk_core::{Lba, SECTOR_BYTES, Sectors};

/// Bytes in a block.
pub(crate) const BLOCK_BYTES: u64 = 4096;
/// A block in sectors.
pub(crate) const BLOCK_SECTORS: Sectors = Sectors((BLOCK_BYTES / SECTOR_BYTES) as u32);
/// Blocks whose addresses the inode itself holds.
const DIRECT: u64 = 12;
/// Addresses in an indirect block.
const FAN_OUT: u64 = 1024;

/// What manages a stretch of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeKind {
    /// Nothing: a partition used as it is.
    Raw,
    /// ext2: indirect blocks, no journal.
    Ext2,
    /// ext3: indirect blocks and a journal.
    Ext3,
}

/// A stretch of the disk and how it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeSpec {
    /// What manages it.
    pub kind: VolumeKind,
    /// Where it begins.
    pub start: Lba,
    /// Whether the indirect blocks are cached already.
    pub warm: bool,
    /// The journal, for ext3.
    pub journal: Option<super::JournalSpec>,
}

/// A file, or a raw stretch, of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Index of its volume.
    pub volume: u32,
    /// Where it begins on the disk; contiguous from there.
    pub start: Lba,
    /// Its size.
    pub bytes: u64,
    /// The place of its inode in the table, from 0.
    pub inode: u32,
}

/// Bytes on disk of an ext file of `bytes`, indirect blocks included.
#[must_use]
pub const fn ext_bytes_on_disk(bytes: u64) -> u64 {
    let blocks = bytes.div_ceil(BLOCK_BYTES);
    let chunks = blocks.saturating_sub(DIRECT).div_ceil(FAN_OUT);
    (blocks + chunks + 1) * BLOCK_BYTES
}

/// A file in use.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) spec: FileSpec,
    indirect: bool,
    /// Indirect blocks in memory, by the chunk they describe.
    cached: Vec<bool>,
    /// The block that points to the indirect blocks after the first.
    root_cached: bool,
    /// The last second in which its inode's times were set.
    pub(crate) touched_second: u64,
    /// How many bytes it has.
    pub(crate) size: u64,
}

/// Where a byte lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapped {
    /// Here, and so many contiguous bytes with it.
    At(Lba, u64),
    /// This metadata block must be read first.
    NeedsBlock(Lba),
}

impl File {
    pub(crate) fn new(spec: FileSpec, volume: &VolumeSpec) -> Self {
        let indirect = volume.kind != VolumeKind::Raw;
        let blocks = spec.bytes.div_ceil(BLOCK_BYTES);
        let chunks = if indirect { blocks.saturating_sub(DIRECT).div_ceil(FAN_OUT) } else { 0 };
        Self {
            spec,
            indirect,
            cached: vec![volume.warm; chunks as usize],
            root_cached: volume.warm,
            touched_second: u64::MAX,
            size: spec.bytes,
        }
    }

    /// The file is made, with its indirect blocks in memory and nothing in it.
    pub(crate) fn create(&mut self) {
        self.size = 0;
        self.cached.fill(true);
        self.root_cached = true;
    }

    /// Where the byte at `offset` lies, or what must be read to know. The block named counts as
    /// cached from then on: the caller reads it before it asks again.
    pub(crate) fn map(&mut self, offset: u64) -> Mapped {
        debug_assert!(offset < self.spec.bytes, "offset {offset} lies beyond the file");
        if !self.indirect {
            return Mapped::At(self.at_sector(offset / SECTOR_BYTES), self.spec.bytes - offset);
        }
        let block = offset / BLOCK_BYTES;
        let Some(past) = block.checked_sub(DIRECT) else {
            return self.found(block, offset, DIRECT);
        };
        let chunk = past / FAN_OUT;
        if chunk > 0 && !self.root_cached {
            self.root_cached = true;
            return Mapped::NeedsBlock(self.at_block(DIRECT + 1 + FAN_OUT));
        }
        if !self.cached[chunk as usize] {
            self.cached[chunk as usize] = true;
            let before = if chunk == 0 { 0 } else { chunk + 1 };
            return Mapped::NeedsBlock(self.at_block(DIRECT + chunk * FAN_OUT + before));
        }
        let metadata = if chunk == 0 { 1 } else { chunk + 2 };
        self.found(block + metadata, offset, DIRECT + (chunk + 1) * FAN_OUT)
    }

    /// The byte lies in `block` on disk; contiguous up to the file's block `end`.
    fn found(&self, block: u64, offset: u64, end: u64) -> Mapped {
        let start =
            self.at_block(block).after(Sectors((offset % BLOCK_BYTES / SECTOR_BYTES) as u32));
        Mapped::At(start, self.spec.bytes.min(end * BLOCK_BYTES) - offset)
    }

    const fn at_block(&self, block: u64) -> Lba {
        self.at_sector(block * (BLOCK_BYTES / SECTOR_BYTES))
    }

    const fn at_sector(&self, sector: u64) -> Lba {
        Lba(self.spec.start.0 + sector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn file(kind: VolumeKind, bytes: u64) -> File {
        let volume = VolumeSpec { kind, start: Lba(0), warm: false, journal: None };
        File::new(FileSpec { volume: 0, start: Lba(8000), bytes, inode: 1 }, &volume)
    }

    #[test]
    fn every_block_has_a_place_of_its_own() {
        let mut file = file(VolumeKind::Ext3, 20 * MIB);
        let mut places = std::collections::BTreeSet::new();
        for offset in (0..20 * MIB).step_by(4096) {
            loop {
                match file.map(offset) {
                    Mapped::NeedsBlock(lba) => assert!(places.insert(lba), "{lba:?} used twice"),
                    Mapped::At(lba, contiguous) => {
                        assert!(places.insert(lba), "{lba:?} used twice");
                        assert!(contiguous >= 4096);
                        break;
                    }
                }
            }
        }
        let last = places.last().map_or(0, |lba| lba.0 - 8000);
        assert!((last + 8) * 512 <= ext_bytes_on_disk(20 * MIB));
    }

    #[test]
    fn a_new_file_has_no_blocks_to_read() {
        let mut file = file(VolumeKind::Ext2, 20 * MIB);
        file.create();
        assert!((0..20 * MIB).step_by(4096).all(|at| matches!(file.map(at), Mapped::At(..))));
    }

    #[test]
    fn a_250_mib_file_has_62_indirect_blocks_and_a_root() {
        let mut file = file(VolumeKind::Ext2, 250 * MIB);
        let mut reads = 0;
        for offset in (0..250 * MIB).step_by(4096) {
            while let Mapped::NeedsBlock(_) = file.map(offset) {
                reads += 1;
            }
        }
        assert_eq!(reads, 63 + 1);
    }

    #[test]
    fn a_raw_stretch_needs_nothing() {
        let mut file = file(VolumeKind::Raw, MIB);
        assert_eq!(file.map(4096), Mapped::At(Lba(8008), MIB - 4096));
    }
}
