//! The mark at the end of every file that Fairdisk made.
//!
//! It occupies 4 KiB after the data area, which requests never reach:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 16 | signature |
//! | 16 | 4 | version, 2 |
//! | 20 | 4 | zero |
//! | 24 | 8 | size of the data area in bytes |
//! | 32 | 8 | number of its bytes, from the first on, that were written out |
//! | 40 | 8 | checksum of the 40 bytes before |
//! | 48 | 4048 | zero |
//!
//! Numbers are little-endian. A file counts as marked only if every field is valid and the length
//! of the file fits, so a truncated or extended file counts as foreign. Version 1 has no count of
//! written bytes; there the number at offset 20 is 1 if all were written out.

use super::FileNeeds;
use super::data::{first_hole, size_of};
use fairdisk_core::prng::mix;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The size of the mark, and the granularity of the data area before it, in bytes.
pub(super) const MARK_BYTES: u64 = 4096;

const SIGNATURE: [u8; 16] = *b"FAIRDISK-TARGET\n";
const VERSION: u32 = 2;
const VERSION_1: u32 = 1;

/// The contents of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The size of the data area in bytes, a multiple of 4096.
    pub data_bytes: u64,
    /// The number of bytes, from the first on, that are written out, so that reads of them reach
    /// the disk.
    pub written_bytes: u64,
}

impl Mark {
    /// The mark of a file of holes with room for `bytes`; `None` if no file can be that long.
    pub(super) fn for_bytes(bytes: u64) -> Option<Self> {
        let data_bytes = bytes.checked_next_multiple_of(MARK_BYTES)?;
        let mark = Self { data_bytes, written_bytes: 0 };
        i64::try_from(data_bytes.checked_add(MARK_BYTES)?).is_ok().then_some(mark)
    }

    /// Whether a file with this mark is large enough, and written out as far as needed.
    pub(super) const fn serves(&self, needs: &FileNeeds) -> bool {
        let reach = needs.bytes();
        self.data_bytes >= reach && (!needs.allocate || self.written_bytes >= reach)
    }

    /// The length in bytes of a file with this mark.
    pub(super) const fn file_bytes(&self) -> u64 {
        self.data_bytes + MARK_BYTES
    }

    /// Reads the mark of `file`, if it has one. Data that was written out but has become a hole, by
    /// a discard or a sparse copy, does not count as written out.
    pub(super) fn read(file: &File) -> io::Result<Option<Self>> {
        let len = size_of(file)?;
        let Some(at) = len.checked_sub(MARK_BYTES) else { return Ok(None) };
        let mut block = [0; MARK_BYTES as usize];
        file.read_exact_at(&mut block, at)?;
        let mark = Self::decode(&block).filter(|mark| mark.file_bytes() == len);
        Ok(mark.map(|mark| {
            let hole = first_hole(file).unwrap_or(mark.written_bytes);
            Self { written_bytes: mark.written_bytes.min(hole), ..mark }
        }))
    }

    /// Writes the mark to its place after the data area.
    pub(super) fn write(&self, file: &File) -> io::Result<()> {
        file.write_all_at(&self.encode(), self.data_bytes)
    }

    fn encode(&self) -> [u8; MARK_BYTES as usize] {
        encode(VERSION, 0, &[self.data_bytes, self.written_bytes])
    }

    fn decode(block: &[u8; MARK_BYTES as usize]) -> Option<Self> {
        let data_bytes = u64::from_le_bytes(*block[24..].first_chunk()?);
        let written_bytes = u64::from_le_bytes(*block[32..].first_chunk()?);
        if data_bytes > i64::MAX as u64 - MARK_BYTES || !data_bytes.is_multiple_of(MARK_BYTES) {
            return None;
        }
        let mark = |written_bytes| Self { data_bytes, written_bytes };
        if encode(VERSION_1, 0, &[data_bytes]) == *block {
            Some(mark(0))
        } else if encode(VERSION_1, 1, &[data_bytes]) == *block {
            Some(mark(data_bytes))
        } else {
            let fits = written_bytes <= data_bytes && mark(written_bytes).encode() == *block;
            fits.then(|| mark(written_bytes))
        }
    }
}

fn encode(version: u32, flags: u32, numbers: &[u64]) -> [u8; MARK_BYTES as usize] {
    let mut block = [0; MARK_BYTES as usize];
    block[..16].copy_from_slice(&SIGNATURE);
    block[16..20].copy_from_slice(&version.to_le_bytes());
    block[20..24].copy_from_slice(&flags.to_le_bytes());
    let mut end = 24;
    for number in numbers {
        block[end..end + 8].copy_from_slice(&number.to_le_bytes());
        end += 8;
    }
    let sum = checksum(&block[..end]);
    block[end..end + 8].copy_from_slice(&sum.to_le_bytes());
    block
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xFA1D, |sum, byte| mix(sum ^ u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_and_any_flipped_bit_is_noticed() {
        let mark = Mark { data_bytes: 8192, written_bytes: 4096 };
        let block = mark.encode();
        assert_eq!(Mark::decode(&block), Some(mark));
        for bit in 0..MARK_BYTES as usize * 8 {
            let mut damaged = block;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Mark::decode(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn a_mark_of_version_1_is_recognised() {
        for (flag, checksum, written_bytes) in
            [(0, 0x9872_4f68_1299_63f2_u64, 0), (1, 0x25fe_c3b1_a64f_3a1d, 8192)]
        {
            let mut block = [0; MARK_BYTES as usize];
            block[..16].copy_from_slice(b"FAIRDISK-TARGET\n");
            (block[16], block[20]) = (1, flag);
            block[24..32].copy_from_slice(&8192_u64.to_le_bytes());
            block[32..40].copy_from_slice(&checksum.to_le_bytes());
            assert_eq!(Mark::decode(&block), Some(Mark { data_bytes: 8192, written_bytes }));
        }
    }

    #[test]
    fn sizes_are_rounded_up_and_absurd_ones_refused() {
        assert_eq!(Mark::for_bytes(1).map(|mark| mark.file_bytes()), Some(8192));
        assert_eq!(Mark::for_bytes(u64::MAX), None);
        assert_eq!(Mark::for_bytes(i64::MAX as u64), None);
    }
}
