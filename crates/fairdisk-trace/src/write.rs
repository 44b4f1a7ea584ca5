//! Writes traces for other programs.

use crate::about::About;
use crate::error::TraceError;
use crate::fdt::Recorder;
use crate::formats::{Format, blktrace, own_csv};
use crate::origins::{Origin, OriginId, Origins};
use crate::pairing::Step;
use crate::request::{Request, Traits};
use crate::rwbs;
use crate::settings::Settings;
use crate::source::Source;
use fairdisk_core::{Instant, Op, SECTOR_BYTES};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::io::{self, Write};

/// Writes a trace. Requests are added in the order in which they were asked for.
pub struct Writer<W: Write> {
    kind: Kind<W>,
}

enum Kind<W: Write> {
    Fdt(Recorder<W>),
    Csv(W),
    Iolog { out: W, files: HashSet<String> },
    Events(Events<W>),
}

/// Writes a trace as events, in the order of their times.
struct Events<W> {
    out: W,
    is_binary: bool,
    /// Events that are not due: their time, a count, and the request.
    later: BinaryHeap<Reverse<(Instant, u64, Step, usize)>>,
    requests: Vec<(Request, u32)>,
    free: Vec<usize>,
    count: u64,
    sequence: u32,
    /// The device and process numbers of each origin, and the name of its process.
    numbers: HashMap<OriginId, Process>,
    devices: HashMap<String, u32>,
    told: HashSet<u32>,
}

/// An origin as blktrace has it.
#[derive(Clone, Debug)]
struct Process {
    device: u32,
    pid: u32,
    name: String,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    ///
    /// # Errors
    /// Returns an error if `out` cannot be written, or the format is one that is only read.
    pub fn new(mut out: W, format: Format, about: &About) -> io::Result<Self> {
        let kind = match format {
            Format::Fdt => Kind::Fdt(Recorder::new(out, about)?),
            Format::Csv => {
                writeln!(out, "{}", own_csv::HEADER)?;
                Kind::Csv(out)
            }
            Format::Iolog => {
                writeln!(out, "fio version 3 iolog")?;
                Kind::Iolog { out, files: HashSet::new() }
            }
            Format::Blkparse | Format::Blktrace => {
                Kind::Events(Events::new(out, format == Format::Blktrace))
            }
            _ => {
                let why = format!("{format} is a format that is only read");
                return Err(io::Error::new(io::ErrorKind::Unsupported, why));
            }
        };
        Ok(Self { kind })
    }

    /// Notes the settings that groups have, by path, where the format has a place for them.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn settings(&mut self, settings: &BTreeMap<String, Settings>) -> io::Result<()> {
        match &mut self.kind {
            Kind::Fdt(recorder) if !settings.is_empty() => recorder.settings(settings),
            _ => Ok(()),
        }
    }

    /// Adds a request.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn add(&mut self, request: &Request, origins: &Origins) -> io::Result<()> {
        let origin = origins.get(request.origin);
        match &mut self.kind {
            Kind::Fdt(recorder) => recorder.add(request, origins),
            Kind::Csv(out) => out.write_all(own_csv::written(request, origin).as_bytes()),
            Kind::Iolog { out, files } => iolog(out, files, request, origin),
            Kind::Events(events) => events.add(request, origin),
        }
    }

    /// Ends the trace and returns where it went.
    ///
    /// # Errors
    /// Returns an error if the end cannot be written.
    pub fn finish(self) -> io::Result<W> {
        let mut out = match self.kind {
            Kind::Fdt(recorder) => recorder.finish()?,
            Kind::Csv(out) | Kind::Iolog { out, .. } => out,
            Kind::Events(mut events) => {
                events.flush(Instant::MAX)?;
                events.out
            }
        };
        out.flush()?;
        Ok(out)
    }
}

/// Writes all requests of a source, and returns how many there were.
///
/// # Errors
/// Returns the error of the source. That of `out` is inside the result.
pub fn write_to<W: Write>(
    source: &mut impl Source,
    mut writer: Writer<W>,
) -> Result<io::Result<u64>, TraceError> {
    let mut count = 0;
    while let Some(request) = source.next()? {
        if let Err(error) = writer.add(&request, source.origins()) {
            return Ok(Err(error));
        }
        count += 1;
    }
    Ok(writer.finish().map(|_| count))
}

/// The file that fio is to use for a device.
fn file_of(origin: &Origin) -> String {
    let name = if origin.device.is_empty() { "trace" } else { &origin.device };
    name.replace(char::is_whitespace, "_")
}

fn iolog(
    out: &mut impl Write,
    files: &mut HashSet<String>,
    request: &Request,
    origin: &Origin,
) -> io::Result<()> {
    let file = file_of(origin);
    let us = request.queued.as_ns() / 1000;
    if !files.contains(&file) {
        writeln!(out, "{us} {file} add\n{us} {file} open")?;
        files.insert(file.clone());
    }
    let action = match request.op {
        Op::Read => "read",
        Op::Write | Op::WriteZeroes => "write",
        Op::Discard => "trim",
        Op::Flush => return writeln!(out, "{us} {file} sync 0 0"),
    };
    writeln!(
        out,
        "{us} {file} {action} {} {}",
        request.start.0 * SECTOR_BYTES,
        request.sectors.bytes()
    )
}

impl<W: Write> Events<W> {
    fn new(out: W, is_binary: bool) -> Self {
        Self {
            out,
            is_binary,
            later: BinaryHeap::new(),
            requests: Vec::new(),
            free: Vec::new(),
            count: 0,
            sequence: 0,
            numbers: HashMap::new(),
            devices: HashMap::new(),
            told: HashSet::new(),
        }
    }

    fn add(&mut self, request: &Request, origin: &Origin) -> io::Result<()> {
        self.flush(request.queued)?;
        if !self.numbers.contains_key(&request.origin) {
            let process = self.process(origin);
            self.numbers.insert(request.origin, process);
        }
        let slot = self.free.pop().unwrap_or(self.requests.len());
        let steps = [
            (Step::Queued, Some(request.queued)),
            (Step::Issued, request.issued.or(request.done.map(|_| request.queued))),
            (Step::Done, request.done),
        ];
        let known = steps.iter().filter(|(_, at)| at.is_some()).count() as u32;
        match self.requests.get_mut(slot) {
            Some(place) => *place = (*request, known),
            None => self.requests.push((*request, known)),
        }
        for (step, at) in steps {
            if let Some(at) = at {
                self.count += 1;
                self.later.push(Reverse((at, self.count, step, slot)));
            }
        }
        Ok(())
    }

    /// Writes the events up to `until`.
    fn flush(&mut self, until: Instant) -> io::Result<()> {
        while let Some(Reverse((at, _, step, slot))) = self.later.peek().copied() {
            if at > until {
                break;
            }
            self.later.pop();
            let (request, left) = &mut self.requests[slot];
            *left -= 1;
            if *left == 0 {
                self.free.push(slot);
            }
            let request = *request;
            self.sequence += 1;
            if self.is_binary {
                self.binary(at, step, &request)?;
            } else {
                self.text(at, step, &request)?;
            }
        }
        Ok(())
    }

    /// The numbers of an origin: its own if its names have them, made up if not.
    fn process(&mut self, origin: &Origin) -> Process {
        let pair = origin.device.split_once(',');
        let own = pair.and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse::<u32>().ok()?)));
        let next = self.devices.len() as u32;
        let device = match own {
            Some((major, minor)) if major < 1 << 12 && minor < 1 << 20 => major << 20 | minor,
            // 259 is the major number of block devices without one of their own.
            _ => 259 << 20 | *self.devices.entry(origin.device.clone()).or_insert(next),
        };
        let name = if origin.task.is_empty() { &origin.group } else { &origin.task };
        let split = origin
            .task
            .rsplit_once('-')
            .and_then(|(name, pid)| Some((name.to_owned(), pid.parse::<u32>().ok()?)));
        let made_up = 1 + self.numbers.len() as u32;
        let (name, pid) = split.unwrap_or((name.clone(), made_up));
        Process { device, pid, name }
    }

    fn text(&mut self, at: Instant, step: Step, request: &Request) -> io::Result<()> {
        let Process { device, pid, name } = &self.numbers[&request.origin];
        let (seconds, ns) = (at.as_ns() / 1_000_000_000, at.as_ns() % 1_000_000_000);
        let (major, minor) = (device >> 20, device & 0xf_ffff);
        let action = letter(step);
        let letters = rwbs::written(request.op, request.traits);
        let (sequence, start, sectors) = (self.sequence, request.start.0, request.sectors.0);
        let number = format!("{major:>3},{minor}");
        write!(
            self.out,
            "{number:<6} {:>2} {sequence:>8} {seconds:>5}.{ns:09} {pid:>5} {action:>2} \
             {letters:>3} ",
            0
        )?;
        let name = if step == Step::Done { "0" } else { name };
        match sectors {
            0 => writeln!(self.out, "[{name}]"),
            _ => writeln!(self.out, "{start} + {sectors} [{name}]"),
        }
    }

    fn binary(&mut self, at: Instant, step: Step, request: &Request) -> io::Result<()> {
        use blktrace::bits;
        let process = self.numbers[&request.origin].clone();
        let Process { device, pid, name } = process;
        if self.told.insert(pid) {
            let mut name = name.into_bytes();
            name.truncate(15);
            name.resize(16, 0);
            self.record((at, 0, 0, bits::NOTIFY, pid, device), &name)?;
        }
        let mut action = match step {
            Step::Queued => 1 | bits::QUEUE,
            Step::Issued => 7 | bits::ISSUE,
            Step::Requeued => 6,
            Step::Done => 8 | bits::COMPLETE,
        };
        action |= match request.op {
            Op::Read => bits::READ,
            Op::Write | Op::WriteZeroes => bits::WRITE,
            Op::Discard => bits::DISCARD | bits::WRITE,
            Op::Flush => bits::FLUSH | bits::WRITE,
        };
        let is_read = request.op == Op::Read;
        for (own, bit) in [
            (request.traits.contains(Traits::SYNC) && !is_read, bits::SYNC),
            (request.traits.contains(Traits::DURABLE), bits::FUA),
            (request.traits.contains(Traits::META), bits::META),
            (request.traits.contains(Traits::AHEAD), bits::AHEAD),
        ] {
            action |= if own { bit } else { 0 };
        }
        let bytes = u32::try_from(request.sectors.bytes()).unwrap_or(u32::MAX);
        self.record((at, request.start.0, bytes, action, pid, device), &[])
    }

    fn record(
        &mut self,
        (at, sector, bytes, action, pid, device): (Instant, u64, u32, u32, u32, u32),
        rest: &[u8],
    ) -> io::Result<()> {
        let mut event = Vec::with_capacity(blktrace::EVENT_BYTES + rest.len());
        let magic = blktrace::MAGIC | blktrace::VERSION;
        event.extend(magic.to_le_bytes());
        event.extend(self.sequence.to_le_bytes());
        event.extend(at.as_ns().to_le_bytes());
        event.extend(sector.to_le_bytes());
        for number in [bytes, action, pid, device, 0] {
            event.extend(number.to_le_bytes());
        }
        event.extend(0_u16.to_le_bytes());
        event.extend((rest.len() as u16).to_le_bytes());
        event.extend(rest);
        self.out.write_all(&event)
    }
}

/// The letter of a step.
const fn letter(step: Step) -> char {
    match step {
        Step::Queued => 'Q',
        Step::Issued => 'D',
        Step::Requeued => 'R',
        Step::Done => 'C',
    }
}
