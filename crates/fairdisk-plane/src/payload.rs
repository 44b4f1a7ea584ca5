//! Payloads: the contents of writes, and the verification of reads.

use crate::buffer::Buffer;
use fairdisk_core::prng::mix;
use fairdisk_core::{Lba, Op, Request, SECTOR_BYTES};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// Fills the buffers of writes and verifies those of reads.
pub trait Payload {
    /// Fills the buffer of a write that is about to be submitted.
    fn fill(&mut self, request: &Request, data: &mut Buffer);

    /// Reports a completed request. Returns the first sector of a read whose contents are wrong.
    fn check(&mut self, request: &Request, data: &Buffer, ok: bool) -> Option<Lba>;
}

/// A payload for measurements: writes noise and verifies nothing. The noise never repeats, so that
/// a disk that compresses over many blocks does not find earlier blocks again.
#[derive(Clone, Copy, Debug)]
pub struct Anything {
    words: u64,
}

impl Anything {
    /// A payload that differs from all others, so that a repeated run does not write the same data
    /// again.
    #[must_use]
    pub fn new() -> Self {
        Self { words: RandomState::new().hash_one(0) }
    }
}

impl Default for Anything {
    fn default() -> Self {
        Self::new()
    }
}

impl Payload for Anything {
    fn fill(&mut self, _: &Request, data: &mut Buffer) {
        for word in data.bytes_mut().chunks_exact_mut(size_of::<u64>()) {
            self.words = self.words.wrapping_add(1);
            word.copy_from_slice(&mix(self.words).to_le_bytes());
        }
    }

    fn check(&mut self, _: &Request, _: &Buffer, _: bool) -> Option<Lba> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Zeroes,
    Generation(u64),
}

/// A payload for tests: writes a pattern derived from the sector number and a generation, remembers
/// the generation of every sector, and compares what is read. Needs memory for each sector written.
///
/// It relies on the engine never having overlapping requests in flight together.
#[derive(Debug, Default)]
pub struct Pattern {
    generation: u64,
    /// The known contents of sectors; a sector that is missing may contain anything.
    sectors: BTreeMap<u64, Content>,
    writing: BTreeMap<u64, u64>,
    /// The number of sectors compared.
    checked: u64,
}

impl Pattern {
    /// A payload that knows nothing about the contents of any sector.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of sectors compared so far.
    #[must_use]
    pub const fn checked(&self) -> u64 {
        self.checked
    }

    fn compare(&mut self, request: &Request, data: &Buffer) -> Option<Lba> {
        for (lba, bytes) in sectors_of(request).zip(data.bytes().chunks(SECTOR_BYTES as usize)) {
            let Some(content) = self.sectors.get(&lba) else { continue };
            self.checked += 1;
            if !holds(*content, lba, bytes) {
                return Some(Lba(lba));
            }
        }
        None
    }

    fn written(&mut self, request: &Request, content: Option<Content>) {
        for lba in sectors_of(request) {
            match content {
                Some(content) => self.sectors.insert(lba, content),
                None => self.sectors.remove(&lba),
            };
        }
    }
}

impl Payload for Pattern {
    fn fill(&mut self, request: &Request, data: &mut Buffer) {
        self.generation += 1;
        self.writing.insert(request.start.0, self.generation);
        let chunks = data.bytes_mut().chunks_mut(SECTOR_BYTES as usize);
        for (lba, bytes) in sectors_of(request).zip(chunks) {
            for (index, word) in bytes.chunks_mut(8).enumerate() {
                word.copy_from_slice(&pattern_word(lba, self.generation, index));
            }
        }
    }

    fn check(&mut self, request: &Request, data: &Buffer, ok: bool) -> Option<Lba> {
        match request.op {
            Op::Read if ok => return self.compare(request, data),
            Op::Read | Op::Flush => {}
            Op::Write => {
                let generation = self.writing.remove(&request.start.0).filter(|_| ok);
                self.written(request, generation.map(Content::Generation));
            }
            Op::WriteZeroes => self.written(request, ok.then_some(Content::Zeroes)),
            Op::Discard => self.written(request, None),
        }
        None
    }
}

fn sectors_of(request: &Request) -> std::ops::Range<u64> {
    request.start.0..request.end().0
}

fn pattern_word(lba: u64, generation: u64, index: usize) -> [u8; 8] {
    mix(mix(lba ^ generation.rotate_left(32)) ^ index as u64).to_le_bytes()
}

fn holds(content: Content, lba: u64, bytes: &[u8]) -> bool {
    match content {
        Content::Zeroes => bytes.iter().all(|byte| *byte == 0),
        Content::Generation(generation) => {
            let mut words = bytes.chunks(8).enumerate();
            words.all(|(index, word)| word == pattern_word(lba, generation, index))
        }
    }
}
