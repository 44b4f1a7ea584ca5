//! A backend that keeps a disk in memory, allocated where it was written.

use super::{Backend, Chosen, Done, in_range, wait_ready};
use crate::buffer::Buffer;
use crate::clock::Clock;
use fairdisk_core::{Instant, Op, Request, SECTOR_BYTES};
use std::collections::BTreeMap;
use std::io;

/// The unit of allocation in bytes: large enough that sequential writes rarely allocate, small
/// enough that scattered ones waste little.
const CHUNK: usize = 64 * 1024;

/// A disk in memory that completes every request immediately. Unwritten ranges read as zeroes.
#[derive(Debug)]
pub struct Memory {
    capacity_sectors: u64,
    depth: u32,
    chunks: BTreeMap<u64, Box<[u8]>>,
    ready: Vec<Done>,
}

impl Memory {
    /// A disk of `capacity_sectors` that takes up to `depth` requests at once.
    #[must_use]
    pub const fn new(capacity_sectors: u64, depth: u32) -> Self {
        Self { capacity_sectors, depth, chunks: BTreeMap::new(), ready: Vec::new() }
    }

    fn perform(&mut self, request: &Request, data: &mut Buffer) {
        let start = request.start.0 * SECTOR_BYTES;
        match request.op {
            Op::Read => self.read(start, data.bytes_mut()),
            Op::Write => self.write(start, data.bytes()),
            Op::Discard | Op::WriteZeroes => self.zero(start, request.sectors.bytes()),
            Op::Flush => {}
        }
    }

    fn read(&self, start: u64, bytes: &mut [u8]) {
        for piece in pieces(start, bytes.len() as u64) {
            let target = &mut bytes[piece.offset..][..piece.len];
            match self.chunks.get(&piece.chunk) {
                Some(chunk) => target.copy_from_slice(&chunk[piece.within..][..piece.len]),
                None => target.fill(0),
            }
        }
    }

    fn write(&mut self, start: u64, bytes: &[u8]) {
        for piece in pieces(start, bytes.len() as u64) {
            let empty = || vec![0; CHUNK].into_boxed_slice();
            let chunk = self.chunks.entry(piece.chunk).or_insert_with(empty);
            chunk[piece.within..][..piece.len].copy_from_slice(&bytes[piece.offset..][..piece.len]);
        }
    }

    fn zero(&mut self, start: u64, len: u64) {
        for piece in pieces(start, len) {
            if piece.len == CHUNK {
                self.chunks.remove(&piece.chunk);
            } else if let Some(chunk) = self.chunks.get_mut(&piece.chunk) {
                chunk[piece.within..][..piece.len].fill(0);
            }
        }
    }
}

/// The part of a range that is within one chunk.
struct Piece {
    chunk: u64,
    within: usize,
    offset: usize,
    len: usize,
}

fn pieces(start: u64, len: u64) -> impl Iterator<Item = Piece> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        if offset == len {
            return None;
        }
        let at = start + offset;
        let within = at % CHUNK as u64;
        let take = (CHUNK as u64 - within).min(len - offset);
        let piece = Piece {
            chunk: at / CHUNK as u64,
            within: within as usize,
            offset: offset as usize,
            len: take as usize,
        };
        offset += take;
        Some(piece)
    })
}

impl Backend for Memory {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn in_flight(&self) -> u32 {
        self.ready.len() as u32
    }

    fn submit(&mut self, _now: Instant, request: &Request, mut data: Buffer) {
        let result = in_range(request, self.capacity_sectors);
        if result.is_ok() {
            self.perform(request, &mut data);
        }
        self.ready.push(Done { id: request.id, data, result });
    }

    fn wait(
        &mut self,
        clock: &dyn Clock,
        deadline: Option<Instant>,
        done: &mut Vec<Done>,
    ) -> io::Result<()> {
        wait_ready(&mut self.ready, clock, deadline, done);
        Ok(())
    }

    fn chosen(&self) -> Chosen {
        Chosen::new("memory", "asked for")
    }
}
