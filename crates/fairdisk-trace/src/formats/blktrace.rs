//! The binary files of blktrace: one per CPU, each a sequence of events in the byte order of the
//! machine that recorded it.

use crate::about::About;
use crate::error::{Place, TraceError};
use crate::number::sectors;
use crate::origins::{OriginId, Origins};
use crate::pairing::{Event, Pairing, Step};
use crate::request::{Request, Traits};
use crate::source::Source;
use fairdisk_core::{Instant, IoPrio, Op, SECTOR_BYTES};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, BufRead, Read as _};
use std::path::PathBuf;

/// The magic number of an event but for the version, which is its lowest byte.
pub(crate) const MAGIC: u32 = 0x6561_7400;
/// The version that is written.
pub(crate) const VERSION: u32 = 7;
/// The length of an event of that version, in bytes.
pub(crate) const EVENT_BYTES: usize = 48;
/// The length of an event of version 8.
const EVENT_BYTES_8: usize = 64;

/// Bits of an action beyond its number in the low byte.
pub(crate) mod bits {
    pub(crate) const CGROUP: u32 = 1 << 8;
    pub(crate) const READ: u32 = 1 << 16;
    pub(crate) const WRITE: u32 = 1 << 17;
    pub(crate) const FLUSH: u32 = 1 << 18;
    pub(crate) const SYNC: u32 = 1 << 19;
    pub(crate) const QUEUE: u32 = 1 << 20;
    pub(crate) const ISSUE: u32 = 1 << 22;
    pub(crate) const COMPLETE: u32 = 1 << 23;
    pub(crate) const PC: u32 = 1 << 25;
    pub(crate) const NOTIFY: u32 = 1 << 26;
    pub(crate) const AHEAD: u32 = 1 << 27;
    pub(crate) const META: u32 = 1 << 28;
    pub(crate) const DISCARD: u32 = 1 << 29;
    pub(crate) const FUA: u32 = 1 << 31;
}

/// Whether a file that begins so is one of blktrace.
pub(crate) fn is_magic(start: &[u8]) -> bool {
    start.get(..4).is_some_and(|it| byte_order(it).is_some())
}

/// Whether the number is stored with its low byte first; `None` if it is no magic number.
fn byte_order(magic: &[u8]) -> Option<bool> {
    let magic: [u8; 4] = magic.try_into().ok()?;
    if u32::from_le_bytes(magic) & !0xff == MAGIC {
        return Some(true);
    }
    (u32::from_be_bytes(magic) & !0xff == MAGIC).then_some(false)
}

/// An event as it is stored.
#[derive(Clone, Debug, Default)]
struct Raw {
    sequence: u32,
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
    cpu: u32,
    cgroup: Option<u32>,
    rest: Vec<u8>,
    is_little: bool,
}

/// The file of a CPU.
struct Cpu {
    file: PathBuf,
    reader: Box<dyn BufRead>,
    at_byte: u64,
    next: Option<Raw>,
    /// The beginning of the next event, if it was found behind something else.
    head: Option<[u8; EVENT_BYTES]>,
}

/// Reads numbers from bytes in one of two orders.
struct Fields<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.bytes.split_at(N);
        self.bytes = rest;
        let mut bytes = [0; N];
        bytes.copy_from_slice(head);
        if !self.is_little {
            bytes.reverse();
        }
        bytes
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

impl Cpu {
    fn bad(&self, why: &str) -> TraceError {
        TraceError::bad(&self.file, Place::Byte(self.at_byte), why)
    }

    /// Fills `bytes`. Returns whether there were any; an event that is cut off is an error.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<bool, TraceError> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.reader.read(&mut bytes[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TraceError::Io(self.file.clone(), error)),
            }
        }
        if filled > 0 && filled < bytes.len() {
            return Err(self.bad("the last event is cut off"));
        }
        Ok(filled > 0)
    }

    /// Reads the next event.
    fn advance(&mut self) -> Result<(), TraceError> {
        self.next = None;
        let mut bytes = [0; EVENT_BYTES_8];
        match self.head.take() {
            Some(head) => bytes[..EVENT_BYTES].copy_from_slice(&head),
            None if self.fill(&mut bytes[..EVENT_BYTES])? => {}
            None => return Ok(()),
        }
        let Some(is_little) = byte_order(&bytes[..4]) else {
            let bad = self.bad("expected the magic number of an event of blktrace");
            self.search(&bytes[..EVENT_BYTES])?;
            return Err(bad);
        };
        let mut fields = Fields { bytes: &bytes, is_little };
        let version = fields.u32() & 0xff;
        if version == 8 {
            let mut rest = [0; EVENT_BYTES_8 - EVENT_BYTES];
            if !self.fill(&mut rest)? {
                return Err(self.bad("the last event is cut off"));
            }
            bytes[EVENT_BYTES..].copy_from_slice(&rest);
            fields = Fields { bytes: &bytes, is_little };
            fields.u32();
        } else if version != VERSION {
            return Err(self.bad(&format!("expected version 7 or 8 of blktrace, found {version}")));
        }
        let (sequence, time_ns) = (fields.u32(), fields.u64());
        let mut raw = Raw { sequence, time_ns, is_little, ..Raw::default() };
        (raw.sector, raw.bytes) = (fields.u64(), fields.u32());
        if version == 8 {
            raw.pid = fields.u32();
            // Its low half is that of version 7; the kinds that came later are in the high half.
            raw.action = fields.u64() as u32;
        } else {
            (raw.action, raw.pid) = (fields.u32(), fields.u32());
        }
        raw.device = fields.u32();
        let (cpu, _error, length) = (fields.u32(), fields.u16(), fields.u16());
        raw.cpu = cpu;
        let event_bytes = if version == 8 { EVENT_BYTES_8 } else { EVENT_BYTES };
        raw.rest = vec![0; usize::from(length)];
        let mut rest = core::mem::take(&mut raw.rest);
        if length > 0 && !self.fill(&mut rest)? {
            return Err(self.bad("the last event is cut off"));
        }
        self.at_byte += (event_bytes + usize::from(length)) as u64;
        if raw.action & bits::CGROUP != 0 && rest.len() >= 8 {
            raw.cgroup = Some(Fields { bytes: &rest[..8], is_little }.u32());
            rest.drain(..8);
        }
        raw.rest = rest;
        self.next = Some(raw);
        Ok(())
    }
}

impl Cpu {
    /// Searches for the magic number of another event behind these bytes.
    fn search(&mut self, bytes: &[u8]) -> Result<(), TraceError> {
        let mut bytes: VecDeque<u8> = bytes.iter().copied().collect();
        let mut next = [0];
        loop {
            bytes.pop_front();
            self.at_byte += 1;
            if !self.fill(&mut next)? {
                return Ok(());
            }
            bytes.push_back(next[0]);
            let head = bytes.make_contiguous();
            if byte_order(&head[..4]).is_some() {
                self.head = head.try_into().ok();
                return Ok(());
            }
        }
    }
}

/// The files of all CPUs, as one trace.
pub(crate) struct Blktrace {
    cpus: Vec<Cpu>,
    /// By CPU and device, the number of the last event.
    sequences: HashMap<(u32, u32), u32>,
    /// The files whose next event is still to be read.
    due: Vec<usize>,
    first_ns: Option<u64>,
    names: HashMap<u32, String>,
    cgroups: BTreeMap<u32, String>,
    /// The origin of each device, process and cgroup, so that no name is made twice.
    known: HashMap<(u32, u32, Option<u32>), OriginId>,
    pairing: Pairing,
    done: VecDeque<Request>,
    origins: Origins,
    start_unix_ns: Option<u64>,
    lost: u64,
}

impl Blktrace {
    pub(crate) fn new(
        files: Vec<(PathBuf, Box<dyn BufRead>)>,
        cgroups: BTreeMap<u32, String>,
    ) -> Self {
        let of_cpu = |(file, reader)| Cpu { file, reader, at_byte: 0, next: None, head: None };
        let cpus: Vec<Cpu> = files.into_iter().map(of_cpu).collect();
        Self {
            due: (0..cpus.len()).collect(),
            cpus,
            sequences: HashMap::new(),
            first_ns: None,
            names: HashMap::new(),
            cgroups,
            known: HashMap::new(),
            pairing: Pairing::default(),
            done: VecDeque::new(),
            origins: Origins::default(),
            start_unix_ns: None,
            lost: 0,
        }
    }

    /// The earliest event of all CPUs.
    fn next_event(&mut self) -> Result<Option<Raw>, TraceError> {
        while let Some(at) = self.due.last().copied() {
            self.cpus[at].advance()?;
            self.due.pop();
        }
        let times = self.cpus.iter().enumerate();
        let times = times.filter_map(|(at, cpu)| Some((cpu.next.as_ref()?.time_ns, at)));
        let Some((_, first)) = times.min() else { return Ok(None) };
        self.due.push(first);
        Ok(self.cpus[first].next.take())
    }

    fn origin(&mut self, raw: &Raw) -> OriginId {
        let key = (raw.device, raw.pid, raw.cgroup);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let name = self.names.get(&raw.pid).map_or("", |name| name);
        let task = format!("{name}-{}", raw.pid);
        let named = |inode: u32| {
            let known = self.cgroups.get(&inode).cloned();
            known.unwrap_or_else(|| format!("cgroup-{inode}"))
        };
        let group = raw.cgroup.map_or(String::new(), named);
        let device = format!("{},{}", raw.device >> 20, raw.device & 0xf_ffff);
        let number = self.origins.number(&device, &group, &task, IoPrio::UNSET);
        self.known.insert(key, number);
        number
    }

    /// What an event without a request is about: the name of a process, or the time of day.
    fn note(&mut self, raw: &Raw) {
        match raw.action & 0xff {
            0 => {
                let end = raw.rest.iter().position(|byte| *byte == 0).unwrap_or(raw.rest.len());
                let name = String::from_utf8_lossy(&raw.rest[..end]).into_owned();
                self.names.insert(raw.pid, name);
                self.known.retain(|(_, pid, _), _| *pid != raw.pid);
            }
            1 if raw.rest.len() >= 8 && self.start_unix_ns.is_none() => {
                let mut fields = Fields { bytes: &raw.rest, is_little: raw.is_little };
                let (seconds, ns) = (fields.u32(), fields.u32());
                self.start_unix_ns = Some(u64::from(seconds) * 1_000_000_000 + u64::from(ns));
            }
            _ => {}
        }
    }

    /// Events are numbered by CPU and device. Those that had no room are missing.
    fn count_missing(&mut self, raw: &Raw) {
        let before = self.sequences.insert((raw.cpu, raw.device), raw.sequence);
        let missing = before.map(|before| raw.sequence.wrapping_sub(before).wrapping_sub(1));
        // A number that is not higher says nothing.
        self.lost += missing.filter(|it| *it < 1 << 31).map_or(0, u64::from);
    }

    fn take(&mut self, raw: &Raw) {
        if raw.action & bits::NOTIFY != 0 {
            self.note(raw);
            return;
        }
        self.count_missing(raw);
        let step = match raw.action & 0xff {
            1 => Step::Queued,
            6 => Step::Requeued,
            7 => Step::Issued,
            8 => Step::Done,
            _ => return,
        };
        let has = |bit| raw.action & bit != 0;
        // As in words, the I/O around a flush says nothing.
        let is_around = raw.bytes == 0 && has(bits::WRITE) && !has(bits::FLUSH);
        if has(bits::PC) || is_around {
            return;
        }
        let op = match () {
            () if has(bits::DISCARD) => Op::Discard,
            () if raw.bytes == 0 => Op::Flush,
            () if has(bits::WRITE) => Op::Write,
            () => Op::Read,
        };
        let is_sync = has(bits::SYNC) || matches!(op, Op::Read | Op::Flush);
        let traits = Traits::NONE
            .with(Traits::SYNC, is_sync)
            .with(Traits::DURABLE, has(bits::FUA))
            .with(Traits::META, has(bits::META))
            .with(Traits::AHEAD, has(bits::AHEAD));
        let sector = if raw.bytes == 0 { 0 } else { raw.sector };
        let Some((start, length)) = sectors(sector, u64::from(raw.bytes).div_ceil(SECTOR_BYTES))
        else {
            // No device has that place.
            self.lost += 1;
            return;
        };
        let first_ns = *self.first_ns.get_or_insert(raw.time_ns);
        let origin = if step == Step::Done { OriginId(0) } else { self.origin(raw) };
        let event = Event {
            at: Instant::from_ns(raw.time_ns.saturating_sub(first_ns)),
            step,
            device: raw.device,
            origin,
            op,
            traits,
            start,
            sectors: length,
        };
        self.pairing.take(&event, |request| self.done.push_back(request));
    }
}

impl Source for Blktrace {
    fn next(&mut self) -> Result<Option<Request>, TraceError> {
        loop {
            if let Some(request) = self.done.pop_front() {
                return Ok(Some(request));
            }
            let Some(raw) = self.next_event()? else {
                self.pairing.finish(|request| self.done.push_back(request));
                return Ok(self.done.pop_front());
            };
            self.take(&raw);
        }
    }

    fn origins(&self) -> &Origins {
        &self.origins
    }

    fn about(&self) -> About {
        About { start_unix_ns: self.start_unix_ns, ..About::default() }
    }

    fn lost(&self) -> u64 {
        self.lost
    }
}
