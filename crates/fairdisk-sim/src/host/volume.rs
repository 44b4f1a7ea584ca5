//! File mapping: where the bytes of a file are on disk, and which metadata must be read to find
//! them.
//!
//! ext2 and ext3 keep the addresses of a file's 4 KiB blocks in the file's inode (the first 12) and
//! in indirect blocks of 1024 addresses, which lie right before the data they describe. The
//! indirect blocks of a cold file are read on first use, through the same request queue.

use fairdisk_core::{Lba, SECTOR_BYTES, Sectors};

/// Bytes per block.
pub(crate) const BLOCK_BYTES: u64 = 4096;
/// Sectors per block.
pub(crate) const BLOCK_SECTORS: Sectors = Sectors((BLOCK_BYTES / SECTOR_BYTES) as u32);
/// Blocks whose addresses are in the inode itself.
const DIRECT: u64 = 12;
/// Addresses per indirect block.
const FAN_OUT: u64 = 1024;

/// What manages a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeKind {
    /// Nothing: the partition is used directly.
    Raw,
    /// ext2: indirect blocks, no journal.
    Ext2,
    /// ext3: indirect blocks and a journal.
    Ext3,
}

/// A contiguous range of a disk and how it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeSpec {
    /// The number of the disk in the machine.
    pub disk: u32,
    /// What manages the volume.
    pub kind: VolumeKind,
    /// The position at which the volume begins.
    pub start: Lba,
    /// Whether the indirect blocks are in memory from the start.
    pub warm: bool,
    /// The journal; only for ext3.
    pub journal: Option<super::JournalSpec>,
}

/// A file, or a range of a raw volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Index of the file's volume.
    pub volume: u32,
    /// The position on disk at which the file begins; the file is contiguous from there.
    pub start: Lba,
    /// The file's size in bytes.
    pub bytes: u64,
    /// The index of the file's inode in the inode table, from 0.
    pub inode: u32,
}

/// Bytes on disk of an ext2 or ext3 file of `bytes` bytes, including indirect blocks.
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
    /// The disk of its volume.
    pub(crate) disk: u32,
    indirect: bool,
    /// The indirect blocks, by the chunk that they describe.
    indirect_blocks: Vec<Metadata>,
    /// The block that points to all indirect blocks but the first.
    root: Metadata,
    /// The last second in which the inode's times were set.
    pub(crate) touched_second: u64,
    /// The file's present size in bytes.
    pub(crate) size: u64,
}

/// What is known of a metadata block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metadata {
    /// It must be read.
    Unread,
    /// Its contents are known.
    Known,
    /// Its contents are known, and it was put into the page cache, which it may have left.
    Cached,
}

/// Which metadata block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pointer {
    /// The one that points to all indirect blocks but the first.
    Root,
    /// The indirect block of a chunk.
    Chunk(u64),
}

/// Where a byte of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mapped {
    /// At this position, followed by this many contiguous bytes.
    At(Lba, u64),
    /// Unknown until this metadata block has been read.
    NeedsBlock(Lba),
}

impl File {
    pub(crate) fn new(spec: FileSpec, volume: &VolumeSpec) -> Self {
        let indirect = volume.kind != VolumeKind::Raw;
        let blocks = spec.bytes.div_ceil(BLOCK_BYTES);
        let at_first = if volume.warm { Metadata::Known } else { Metadata::Unread };
        let chunks = if indirect { blocks.saturating_sub(DIRECT).div_ceil(FAN_OUT) } else { 0 };
        Self {
            spec,
            disk: volume.disk,
            indirect,
            indirect_blocks: vec![at_first; chunks as usize],
            root: at_first,
            touched_second: u64::MAX,
            size: spec.bytes,
        }
    }

    /// Creates the file, empty and with its indirect blocks in memory.
    pub(crate) fn create(&mut self) {
        self.size = 0;
        self.indirect_blocks.fill(Metadata::Known);
        self.root = Metadata::Known;
    }

    /// Where the byte at `offset` is, or which block must be read to know. A block that is returned
    /// counts as cached from then on: the caller must read it before it asks again.
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
        let unread = self.pointers(offset).find(|at| self.metadata(*at) == Metadata::Unread);
        if let Some(at) = unread {
            self.set_metadata(at, Metadata::Known);
            return Mapped::NeedsBlock(self.place(at));
        }
        let metadata = if chunk == 0 { 1 } else { chunk + 2 };
        self.found(block + metadata, offset, DIRECT + (chunk + 1) * FAN_OUT)
    }

    /// The metadata blocks that map the byte at `offset`, in the order in which they are read.
    pub(crate) fn pointers(&self, offset: u64) -> impl Iterator<Item = Pointer> + use<> {
        let past = (offset / BLOCK_BYTES).checked_sub(DIRECT).filter(|_| self.indirect);
        let chunk = past.map(|past| past / FAN_OUT);
        let root = chunk.filter(|chunk| *chunk > 0).map(|_| Pointer::Root);
        root.into_iter().chain(chunk.map(Pointer::Chunk))
    }

    /// All metadata blocks of the file.
    pub(crate) fn all_pointers(&self) -> impl Iterator<Item = Pointer> + use<> {
        let chunks = self.indirect_blocks.len() as u64;
        let root = (chunks > 1).then_some(Pointer::Root);
        root.into_iter().chain((0..chunks).map(Pointer::Chunk))
    }

    /// Where a metadata block is.
    pub(crate) const fn place(&self, at: Pointer) -> Lba {
        match at {
            Pointer::Root => self.at_block(DIRECT + 1 + FAN_OUT),
            Pointer::Chunk(0) => self.at_block(DIRECT),
            Pointer::Chunk(chunk) => self.at_block(DIRECT + chunk * FAN_OUT + chunk + 1),
        }
    }

    /// What is known of a metadata block.
    pub(crate) fn metadata(&self, at: Pointer) -> Metadata {
        match at {
            Pointer::Root => self.root,
            Pointer::Chunk(chunk) => self.indirect_blocks[chunk as usize],
        }
    }

    /// Records what is known of a metadata block.
    pub(crate) fn set_metadata(&mut self, at: Pointer, known: Metadata) {
        match at {
            Pointer::Root => self.root = known,
            Pointer::Chunk(chunk) => self.indirect_blocks[chunk as usize] = known,
        }
    }

    /// The result for a byte in block `block` on disk, with data contiguous up to the file's block
    /// `end`.
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
        let volume = VolumeSpec { disk: 0, kind, start: Lba(0), warm: false, journal: None };
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
