//! Writes recordings.

use super::reader::{Block, block};
use super::{BEFORE, HEAD_BYTES, MAGIC, OPS, StoredOrigin, bit, checksum, kind, varint};
use crate::about::About;
use crate::origins::{Origin, OriginId, Origins};
use crate::request::Request;
use crate::settings::Settings;
use fairdisk_core::IoClass;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};

/// After this many requests a block is written.
pub const BLOCK_REQUESTS_MOST: usize = 4096;

/// Writes a recording, block by block.
#[derive(Debug)]
pub struct Recorder<W> {
    out: W,
    /// The contents of the block of requests that is filled.
    block: Vec<u8>,
    requests: usize,
    before: Request,
    /// The origins that have been written.
    origins: usize,
    /// What the numbers of origins are off by, behind origins of an earlier part of the file.
    first_origin: u32,
}

impl<W: Write> Recorder<W> {
    /// Begins a recording.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written.
    pub fn new(mut out: W, about: &About) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Self::behind(out, about, 0)
    }

    fn behind(out: W, about: &About, first_origin: u32) -> io::Result<Self> {
        let (block, requests, origins) = (Vec::new(), 0, 0);
        let mut new = Self { out, block, requests, before: BEFORE, origins, first_origin };
        new.write_block(kind::HEADER, &serde_json::to_vec(about)?)?;
        Ok(new)
    }

    /// Adds a request, whose origin is one of `origins`.
    ///
    /// # Errors
    /// Returns an error if a block cannot be written.
    pub fn add(&mut self, request: &Request, origins: &Origins) -> io::Result<()> {
        if request.origin.0 as usize >= self.origins {
            self.write_origins(origins)?;
        }
        self.encode(request);
        self.requests += 1;
        if self.requests >= BLOCK_REQUESTS_MOST {
            self.flush_block()?;
        }
        Ok(())
    }

    /// Notes that requests were lost.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn lost(&mut self, requests: u64) -> io::Result<()> {
        self.flush_block()?;
        let mut contents = Vec::new();
        varint::put(&mut contents, requests);
        self.write_block(kind::LOST, &contents)
    }

    /// Notes the settings that groups have, by path.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn settings(&mut self, settings: &BTreeMap<String, Settings>) -> io::Result<()> {
        self.flush_block()?;
        self.write_block(kind::SETTINGS, &serde_json::to_vec(settings)?)
    }

    /// Writes all requests so far, so that a reader finds them.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.flush_block()?;
        self.out.flush()
    }

    /// Ends the recording and returns where it went.
    ///
    /// # Errors
    /// Returns an error if the last block cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.out)
    }

    fn encode(&mut self, request: &Request) {
        let Request { origin, op, traits, start, sectors, queued, issued, done } = *request;
        let (before, out) = (&self.before, &mut self.block);
        let number = OPS.iter().position(|one| *one == op).unwrap_or_default() as u8;
        let mut first = number;
        for (bit, is_so) in [
            (bit::SAME_TRAITS, traits == before.traits),
            (bit::SAME_ORIGIN, origin == before.origin),
            (bit::SAME_LENGTH, sectors == before.sectors),
            (bit::ISSUED, issued.is_some()),
            (bit::DONE, done.is_some()),
        ] {
            first |= if is_so { bit } else { 0 };
        }
        out.push(first);
        varint::put(out, varint::zigzag(queued.as_ns(), before.queued.as_ns()));
        if first & bit::SAME_TRAITS == 0 {
            out.push(traits.bits());
        }
        if first & bit::SAME_ORIGIN == 0 {
            varint::put(out, u64::from(origin.0 + self.first_origin));
        }
        if first & bit::SAME_LENGTH == 0 {
            varint::put(out, u64::from(sectors.0));
        }
        let from = before.end().0;
        let is_even = start.0 % 8 == 0 && from % 8 == 0;
        let place = match is_even {
            true => u128::from(varint::zigzag(start.0 / 8, from / 8)) << 1,
            false => u128::from(varint::zigzag(start.0, from)) << 1 | 1,
        };
        // Places are below 2^62, so the difference leaves room for the bit.
        varint::put(out, place as u64);
        let mut since = queued;
        for at in [issued, done].into_iter().flatten() {
            varint::put(out, varint::zigzag(at.as_ns(), since.as_ns()));
            since = at;
        }
        self.before = *request;
    }

    fn flush_block(&mut self) -> io::Result<()> {
        if self.requests > 0 {
            let block = core::mem::take(&mut self.block);
            self.write_block(kind::REQUESTS, &block)?;
            (self.block, self.requests, self.before) = (block, 0, BEFORE);
            self.block.clear();
        }
        Ok(())
    }

    fn write_origins(&mut self, origins: &Origins) -> io::Result<()> {
        // What was recorded before does not refer to them, but a reader needs them first.
        let new: Vec<StoredOrigin> = origins.all()[self.origins..].iter().map(stored).collect();
        self.origins = origins.all().len();
        self.write_block(kind::ORIGINS, &serde_json::to_vec(&new)?)
    }

    fn write_block(&mut self, kind: u8, contents: &[u8]) -> io::Result<()> {
        let mut head = [kind; HEAD_BYTES];
        head[1..5].copy_from_slice(&(contents.len() as u32).to_le_bytes());
        head[5..].copy_from_slice(&checksum(kind, contents).to_le_bytes());
        self.out.write_all(&head)?;
        self.out.write_all(contents)
    }
}

fn stored(origin: &Origin) -> StoredOrigin {
    let Origin { device, group, task, ioprio } = origin.clone();
    let class = match ioprio.class {
        IoClass::None => 0,
        IoClass::RealTime => 1,
        IoClass::BestEffort => 2,
        IoClass::Idle => 3,
    };
    let ioprio = (origin.ioprio != Default::default()).then_some((class, ioprio.level));
    StoredOrigin { device, group, task, ioprio }
}

/// Opens a recording to append to it, behind its last whole block; what follows that is cut off.
///
/// # Errors
/// Returns an error if the file cannot be read or written, or is no recording.
pub fn append_to(mut file: File, about: &About) -> io::Result<Recorder<File>> {
    let mut magic = vec![0; MAGIC.len()];
    file.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no recording of Fairdisk"));
    }
    let mut end = MAGIC.len() as u64;
    let mut origins = 0;
    loop {
        let (kind, contents) = match block(&mut file)? {
            Block::Whole(kind, contents) => (kind, contents),
            Block::End => break,
            Block::Damaged => {
                let why = "it is damaged, and what follows would be cut off";
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        };
        end += (HEAD_BYTES + contents.len()) as u64;
        if kind == kind::ORIGINS {
            let these: Vec<StoredOrigin> = serde_json::from_slice(&contents)?;
            origins += these.len() as u32;
        }
    }
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    Recorder::behind(file, about, origins)
}

impl OriginId {
    /// The origin with this number.
    pub(super) const fn at(number: u64) -> Self {
        Self(number as u32)
    }
}
