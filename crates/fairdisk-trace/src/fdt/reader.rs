//! Reads recordings.

use super::{
    BEFORE, BLOCK_BYTES_MOST, HEAD_BYTES, MAGIC, OPS, StoredOrigin, bit, checksum, kind, varint,
};
use crate::about::About;
use crate::error::{Place, TraceError};
use crate::number;
use crate::origins::{Origin, OriginId, Origins};
use crate::request::{Request, Traits};
use crate::settings::Settings;
use crate::source::Source;
use fairdisk_core::{Instant, IoClass, IoPrio, Sectors, Span};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;

/// A recording that is read.
pub struct Fdt {
    file: PathBuf,
    reader: Box<dyn BufRead>,
    at_byte: u64,
    block: Vec<u8>,
    /// Where in the block the next request begins.
    next: usize,
    before: Request,
    /// The numbers of the origins in the file, by those of this reader: a file that was appended to
    /// may have one twice.
    numbers: Vec<OriginId>,
    origins: Origins,
    about: About,
    /// What the times of this part of the file are counted from.
    shift: Span,
    lost: u64,
    is_at_end: bool,
}

/// What follows in a file.
pub(super) enum Block {
    /// A block: its kind and contents.
    Whole(u8, Vec<u8>),
    /// The end, maybe in the middle of a block.
    End,
    /// Something that is no block.
    Damaged,
}

/// Reads a block.
pub(super) fn block(reader: &mut impl Read) -> io::Result<Block> {
    let mut head = [0; HEAD_BYTES];
    if !fill(reader, &mut head)? {
        return Ok(Block::End);
    }
    let number =
        |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (length, expected) = (number(1), number(5));
    if length > BLOCK_BYTES_MOST {
        return Ok(Block::Damaged);
    }
    let mut contents = vec![0; length as usize];
    if !fill(reader, &mut contents)? {
        return Ok(Block::End);
    }
    let is_whole = checksum(head[0], &contents) == expected;
    Ok(if is_whole { Block::Whole(head[0], contents) } else { Block::Damaged })
}

/// Fills `bytes`. Returns whether there were enough.
fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

impl Fdt {
    /// Reads a recording; `reader` is at its beginning.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is no recording.
    pub fn new(file: PathBuf, mut reader: Box<dyn BufRead>) -> Result<Self, TraceError> {
        let mut magic = vec![0; MAGIC.len()];
        let is_there = fill(&mut reader, &mut magic);
        match is_there.map_err(|error| TraceError::Io(file.clone(), error))? {
            true if magic == MAGIC => {}
            _ => return Err(TraceError::bad(&file, Place::Byte(0), "it is no recording")),
        }
        let mut new = Self {
            file,
            reader,
            at_byte: MAGIC.len() as u64,
            block: Vec::new(),
            next: 0,
            before: BEFORE,
            numbers: Vec::new(),
            origins: Origins::default(),
            about: About::default(),
            shift: Span::ZERO,
            lost: 0,
            is_at_end: false,
        };
        // The header is known before the first request is asked for.
        new.read_block()?;
        Ok(new)
    }

    fn bad(&self, why: &str) -> TraceError {
        TraceError::bad(&self.file, Place::Byte(self.at_byte), why)
    }

    fn read_block(&mut self) -> Result<(), TraceError> {
        let read = block(&mut self.reader);
        let read = read.map_err(|error| TraceError::Io(self.file.clone(), error))?;
        let (kind, contents) = match read {
            Block::Whole(kind, contents) => (kind, contents),
            Block::End => {
                self.is_at_end = true;
                return Ok(());
            }
            Block::Damaged => {
                self.is_at_end = true;
                return Err(self.bad("it is damaged: what follows is no block of a recording"));
            }
        };
        let said = (HEAD_BYTES + contents.len()) as u64;
        match kind {
            kind::HEADER => {
                let about: About = serde_json::from_slice(&contents)
                    .map_err(|error| self.bad(&format!("its header cannot be read: {error}")))?;
                // What was appended counts from its own start.
                let starts = about.start_unix_ns.zip(self.about.start_unix_ns);
                self.shift = starts
                    .map_or(Span::ZERO, |(now, first)| Span::from_ns(now.saturating_sub(first)));
                if self.at_byte == MAGIC.len() as u64 {
                    self.about = about;
                }
            }
            kind::ORIGINS => {
                let stored: Vec<StoredOrigin> = serde_json::from_slice(&contents)
                    .map_err(|error| self.bad(&format!("origins cannot be read: {error}")))?;
                let numbers = stored.into_iter().map(|one| self.origins.put(read_origin(one)));
                self.numbers.extend(numbers);
            }
            kind::LOST => {
                let lost = varint::take(&mut &contents[..]).unwrap_or(0);
                self.lost = self.lost.saturating_add(lost);
            }
            kind::WEIGHTS => {
                let weights: BTreeMap<String, u32> = serde_json::from_slice(&contents)
                    .map_err(|error| self.bad(&format!("weights cannot be read: {error}")))?;
                let weights = weights.into_iter();
                let settings = weights.map(|(path, weight)| (path, Settings::of_weight(weight)));
                self.about.settings.extend(settings);
            }
            kind::SETTINGS => {
                let settings: BTreeMap<String, Settings> = serde_json::from_slice(&contents)
                    .map_err(|error| self.bad(&format!("settings cannot be read: {error}")))?;
                self.about.settings.extend(settings);
            }
            kind::REQUESTS => (self.block, self.next, self.before) = (contents, 0, BEFORE),
            // A later version has more to say.
            _ => {}
        }
        self.at_byte += said;
        Ok(())
    }

    fn decode(&mut self) -> Option<Request> {
        let mut bytes = self.block.get(self.next..)?;
        let before = &self.before;
        let (first, rest) = bytes.split_first()?;
        bytes = rest;
        let has = |bit| first & bit != 0;
        let op = *OPS.get(usize::from(first & bit::OP))?;
        let queued = varint::unzigzag(varint::take(&mut bytes)?, before.queued.as_ns());
        let traits = if has(bit::SAME_TRAITS) {
            before.traits
        } else {
            let (first, rest) = bytes.split_first()?;
            bytes = rest;
            Traits::from_bits(*first)
        };
        let origin = match has(bit::SAME_ORIGIN) {
            true => before.origin,
            false => OriginId::at(varint::take(&mut bytes)?),
        };
        let sectors = match has(bit::SAME_LENGTH) {
            true => before.sectors,
            false => Sectors(u32::try_from(varint::take(&mut bytes)?).ok()?),
        };
        let (place, from) = (varint::take(&mut bytes)?, before.end().0);
        let start = match place & 1 {
            0 => varint::unzigzag(place >> 1, from / 8).checked_mul(8)?,
            _ => varint::unzigzag(place >> 1, from),
        };
        let (start, sectors) = number::sectors(start, sectors.0.into())?;
        let mut since = queued;
        let mut time = |is_known: bool| {
            if !is_known {
                return Some(None);
            }
            since = varint::unzigzag(varint::take(&mut bytes)?, since);
            Some(Some(Instant::from_ns(since)))
        };
        let (issued, done) = (time(has(bit::ISSUED))?, time(has(bit::DONE))?);
        self.next = self.block.len() - bytes.len();
        let queued = Instant::from_ns(queued);
        self.before = Request { origin, op, traits, start, sectors, queued, issued, done };
        Some(self.before)
    }
}

fn read_origin(stored: StoredOrigin) -> Origin {
    let StoredOrigin { device, group, task, ioprio } = stored;
    let of = |(class, level): (u8, u8)| {
        let class = match class {
            1 => IoClass::RealTime,
            2 => IoClass::BestEffort,
            3 => IoClass::Idle,
            _ => IoClass::None,
        };
        IoPrio { class, level: level.min(IoPrio::LEVELS - 1) }
    };
    Origin { device, group, task, ioprio: ioprio.map_or(IoPrio::UNSET, of) }
}

impl Source for Fdt {
    fn next(&mut self) -> Result<Option<Request>, TraceError> {
        while self.next >= self.block.len() {
            if self.is_at_end {
                return Ok(None);
            }
            self.read_block()?;
        }
        let decoded = self.decode();
        let known = decoded.and_then(|request| {
            let origin = *self.numbers.get(request.origin.0 as usize)?;
            let shifted = |at: Instant| at + self.shift;
            Some(Request {
                origin,
                queued: shifted(request.queued),
                issued: request.issued.map(shifted),
                done: request.done.map(shifted),
                ..request
            })
        });
        if known.is_none() {
            self.next = self.block.len();
            return Err(self.bad("the block before has something else than requests"));
        }
        Ok(known)
    }

    fn origins(&self) -> &Origins {
        &self.origins
    }

    fn about(&self) -> About {
        self.about.clone()
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}
