//! The mark at the end of every file Fairdisk made.
//!
//! 4 KiB after the data area, which requests never reach:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 16 | signature |
//! | 16 | 4 | version, 1 |
//! | 20 | 4 | bit 0: the data area was written out |
//! | 24 | 8 | bytes in the data area |
//! | 32 | 8 | checksum of the 32 bytes before |
//! | 40 | 4056 | zero |
//!
//! Numbers are little-endian. A file counts as marked only if all of it fits, the length of the
//! file included, so a cut or extended file counts as somebody else's.

use super::data::size_of;
use fairdisk_core::prng::mix;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Length of the mark, and granularity of the data area before it.
pub(super) const MARK_BYTES: u64 = 4096;

const SIGNATURE: [u8; 16] = *b"FAIRDISK-TARGET\n";
const VERSION: u32 = 1;
const ALLOCATED: u32 = 1;

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Bytes in the data area, a multiple of 4096.
    pub data_bytes: u64,
    /// Whether the data area was written out.
    pub allocated: bool,
}

impl Mark {
    /// The mark of a new file with room for `bytes`; `None` if no file can be that long.
    pub(super) fn for_bytes(bytes: u64) -> Option<Self> {
        let data_bytes = bytes.checked_next_multiple_of(MARK_BYTES)?;
        let mark = Self { data_bytes, allocated: false };
        i64::try_from(data_bytes.checked_add(MARK_BYTES)?).is_ok().then_some(mark)
    }

    /// Length of a file with this mark.
    pub(super) const fn file_bytes(&self) -> u64 {
        self.data_bytes + MARK_BYTES
    }

    /// The mark of `file`, if it has one.
    pub(super) fn read(file: &File) -> io::Result<Option<Self>> {
        let len = size_of(file)?;
        let Some(at) = len.checked_sub(MARK_BYTES) else { return Ok(None) };
        let mut block = [0; MARK_BYTES as usize];
        file.read_exact_at(&mut block, at)?;
        Ok(Self::decode(&block).filter(|mark| mark.file_bytes() == len))
    }

    /// Writes the mark where it belongs.
    pub(super) fn write(&self, file: &File) -> io::Result<()> {
        file.write_all_at(&self.encode(), self.data_bytes)
    }

    fn encode(&self) -> [u8; MARK_BYTES as usize] {
        let flags = if self.allocated { ALLOCATED } else { 0 };
        let mut block = [0; MARK_BYTES as usize];
        block[..16].copy_from_slice(&SIGNATURE);
        block[16..20].copy_from_slice(&VERSION.to_le_bytes());
        block[20..24].copy_from_slice(&flags.to_le_bytes());
        block[24..32].copy_from_slice(&self.data_bytes.to_le_bytes());
        let sum = checksum(&block[..32]);
        block[32..40].copy_from_slice(&sum.to_le_bytes());
        block
    }

    fn decode(block: &[u8; MARK_BYTES as usize]) -> Option<Self> {
        let mark = Self {
            allocated: block[20] == ALLOCATED as u8,
            data_bytes: u64::from_le_bytes(*block[24..].first_chunk()?),
        };
        let fits = mark.data_bytes <= i64::MAX as u64 - MARK_BYTES
            && mark.data_bytes.is_multiple_of(MARK_BYTES);
        (fits && mark.encode() == *block).then_some(mark)
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xFA1D, |sum, byte| mix(sum ^ u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded_and_any_flipped_bit_is_noticed() {
        let mark = Mark { data_bytes: 8192, allocated: true };
        let block = mark.encode();
        assert_eq!(Mark::decode(&block), Some(mark));
        for bit in 0..MARK_BYTES as usize * 8 {
            let mut damaged = block;
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Mark::decode(&damaged), None, "bit {bit}");
        }
    }

    #[test]
    fn sizes_are_rounded_up_and_absurd_ones_refused() {
        assert_eq!(Mark::for_bytes(1).map(|mark| mark.file_bytes()), Some(8192));
        assert_eq!(Mark::for_bytes(u64::MAX), None);
        assert_eq!(Mark::for_bytes(i64::MAX as u64), None);
    }
}
