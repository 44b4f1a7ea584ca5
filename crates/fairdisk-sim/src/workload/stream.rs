//! A task's I/Os one after the other, from its own seeded generators.

use super::blocks::Blocks;
use super::direction::Direction;
use super::flush::{FlushEvery, Flushes};
use super::order::{IoOrder, Style, Walk};
use super::pace::{Pace, Rates, Turn};
use super::task::TaskSpec;
use crate::host::FileSpec;
use fairdisk_core::{Instant, Op, Prng, Span};

/// What a task asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSpec {
    /// Reads, writes, trims, or a mix.
    pub direction: Direction,
    /// Where the next I/O lies.
    pub order: IoOrder,
    /// Bytes of an I/O.
    pub blocks: Blocks,
    /// First byte used of each file.
    pub offset: u64,
    /// Bytes used of each file from there, if the file is that long.
    pub bytes: u64,
    /// When it is done.
    pub limits: Limits,
    /// How fast it may go.
    pub rates: Rates,
    /// When it makes its writes durable.
    pub flush: FlushEvery,
    /// Where its randomness comes from.
    pub seeds: Seeds,
}

impl Default for StreamSpec {
    /// Reads every file once round, 4 KiB at a time, without end.
    fn default() -> Self {
        Self {
            direction: Direction::Read,
            order: IoOrder::Sequential,
            blocks: Blocks::fixed(4096),
            offset: 0,
            bytes: u64::MAX,
            limits: Limits::default(),
            rates: Rates::default(),
            flush: FlushEvery::default(),
            seeds: Seeds::default(),
        }
    }
}

/// When a task is done. A pass is over when as many bytes went as its files have; the next begins
/// where the first began and goes the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// After so many bytes.
    pub bytes: Option<u64>,
    /// So long after its start.
    pub runtime: Option<Span>,
    /// After so many passes, if at least `bytes_min` went.
    pub passes: Option<u32>,
    /// Whole passes go on until so many bytes went.
    pub bytes_min: u64,
    /// A pass is over after so many bytes at the latest.
    pub pass_bytes: Option<u64>,
    /// A pass is over after so many I/Os at the latest.
    pub pass_ios: Option<u64>,
}

/// Seeds that do not follow the run's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// Of places.
    pub places: Option<u64>,
    /// Of sizes and of the mix.
    pub choices: Option<u64>,
}

/// One I/O on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIo {
    /// Which of the task's files.
    pub(crate) slot: u32,
    /// Its index in the machine.
    pub(crate) file: u32,
    pub(crate) op: Op,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// What a task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Io(FileIo),
    /// Make the writes so far durable.
    Flush,
    /// Ask again then.
    Wait(Instant),
    Exit,
}

/// The stream of one task.
#[derive(Debug)]
pub(crate) struct Stream {
    spec: StreamSpec,
    walks: Vec<Walk>,
    /// Whose turn it is.
    turn: usize,
    /// Files with something left in this pass.
    open: usize,
    /// The smallest I/O.
    unit: u64,
    places: Prng,
    choices: Prng,
    began: Instant,
    /// With this operation the next I/O was to go, but its time had not come.
    chosen: Option<Op>,
    /// The write that follows its trim.
    twin: Option<FileIo>,
    pace: Pace,
    flushes: Flushes,
    bytes: u64,
    pass_bytes: u64,
    pass_ios: u64,
    passes: u32,
}

impl Stream {
    pub(crate) fn new(task: &TaskSpec, files: &[FileSpec], prng: &Prng) -> Self {
        let spec = task.stream.clone();
        let generator = |seed: Option<u64>, part| seed.map_or(prng.fork(part), Prng::new);
        let mut places = generator(spec.seeds.places, 1);
        let (walks, unit) = walks(task, files, &mut places);
        Self {
            turn: 0,
            open: walks.len(),
            unit,
            places,
            choices: generator(spec.seeds.choices, 2),
            began: Instant::ZERO,
            chosen: None,
            twin: None,
            pace: Pace::new(spec.rates),
            flushes: Flushes::new(spec.flush),
            bytes: 0,
            pass_bytes: 0,
            pass_ios: 0,
            passes: 0,
            walks,
            spec,
        }
    }

    /// How many files it uses.
    pub(crate) const fn files(&self) -> usize {
        self.walks.len()
    }

    /// The task starts.
    pub(crate) const fn begin(&mut self, now: Instant) {
        self.began = now;
        self.pace.begin(now);
    }

    /// When its time is over, if that is limited.
    pub(crate) fn end(&self) -> Instant {
        self.spec.limits.runtime.map_or(Instant::MAX, |runtime| self.began + runtime)
    }

    pub(crate) fn next(&mut self, now: Instant) -> Next {
        if let Some(write) = self.twin.take() {
            return self.give(write);
        }
        if self.is_over(now) {
            return Next::Exit;
        }
        if self.flushes.take_due() {
            return Next::Flush;
        }
        let op = match self.chosen.take() {
            Some(op) => op,
            None => self.spec.direction.draw(&mut self.choices),
        };
        if !self.pace.is_set() {
            return self.io(op);
        }
        match self.pace.turn(now, self.spec.direction, op) {
            Turn::Now(op) => self.io(op),
            Turn::At(at) => {
                self.chosen = Some(op);
                Next::Wait(at.min(self.end()))
            }
        }
    }

    fn is_over(&self, now: Instant) -> bool {
        let limits = &self.spec.limits;
        self.walks.is_empty()
            || limits.bytes.is_some_and(|bytes| self.bytes >= bytes)
            || limits.passes.is_some_and(|passes| self.passes >= passes)
                && self.pass_ios == 0
                && self.bytes >= limits.bytes_min
            || limits.runtime.is_some_and(|runtime| now >= self.began + runtime)
    }

    fn io(&mut self, op: Op) -> Next {
        let size = self.spec.blocks.of(op);
        let (wanted, align) = (size.draw(&mut self.choices), size.smallest());
        let at = self.next_walk();
        let walk = &mut self.walks[at];
        let (offset, bytes) = walk.step(op, wanted, align, &mut self.places);
        let file = walk.file;
        self.open -= usize::from(!walk.has_more(self.unit));
        self.count(bytes);
        let io = FileIo { slot: at as u32, file, op, offset, bytes };
        if self.spec.direction == Direction::TrimWrite {
            self.twin = Some(io);
            return Next::Io(FileIo { op: Op::Discard, ..io });
        }
        self.give(io)
    }

    /// The next file in turn that this pass is not through with; there is one.
    fn next_walk(&mut self) -> usize {
        loop {
            let at = self.turn;
            self.turn = if at + 1 == self.walks.len() { 0 } else { at + 1 };
            if self.walks[at].has_more(self.unit) {
                return at;
            }
        }
    }

    fn give(&mut self, io: FileIo) -> Next {
        self.pace.issue(io.op, io.bytes);
        self.flushes.issued(io.op);
        Next::Io(io)
    }

    fn count(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.pass_bytes += bytes;
        self.pass_ios += 1;
        let Limits { pass_bytes, pass_ios, .. } = self.spec.limits;
        let over = self.open == 0
            || pass_bytes.is_some_and(|bytes| self.pass_bytes >= bytes)
            || pass_ios.is_some_and(|ios| self.pass_ios >= ios);
        if over {
            self.passes = self.passes.saturating_add(1);
            (self.pass_bytes, self.pass_ios) = (0, 0);
            self.turn = 0;
            self.open = self.walks.len();
            self.walks.iter_mut().for_each(Walk::restart);
        }
    }
}

/// The walks over the files that have something to use, and the smallest I/O.
fn walks(task: &TaskSpec, files: &[FileSpec], places: &mut Prng) -> (Vec<Walk>, u64) {
    let spec = &task.stream;
    let used = |file: &u32| {
        let bytes = files[*file as usize].bytes.saturating_sub(spec.offset).min(spec.bytes);
        (bytes > 0).then_some((*file, bytes))
    };
    let used: Vec<(u32, u64)> = task.files.iter().filter_map(used).collect();
    let shortest = used.iter().map(|(_, bytes)| *bytes).min().unwrap_or(1);
    let unit = spec.blocks.smallest(spec.direction).min(shortest);
    let uniform = spec.blocks.only(spec.direction).is_some();
    let mut style = Style { order: spec.order, unit, uniform, ranks: None };
    let mut walk =
        |(file, bytes)| Walk::new(file, spec.offset, bytes, &mut style, places.next_u64());
    (used.into_iter().map(&mut walk).collect(), unit)
}
