//! A task's I/Os one after the other, from its own seeded generators.

use super::blocks::Blocks;
use super::direction::{Direction, Ops};
use super::flush::{Durable, FlushEvery, Flushes};
use super::order::{IoOrder, Steps};
use super::pace::{Pace, Rates, Turn};
use super::task::TaskSpec;
use super::walk::{Extent, Style, Walk};
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

/// When a task is done. A pass is over when in every file an I/O did not fit any more; the next one
/// begins at the start of every file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// After so many bytes.
    pub bytes: Option<u64>,
    /// After so many I/Os.
    pub ios: Option<u64>,
    /// So long after its start.
    pub runtime: Option<Span>,
    /// After so many passes, if at least `bytes_min` went.
    pub passes: Option<u32>,
    /// Whole passes go on until so many bytes went.
    pub bytes_min: u64,
    /// Not in itself: a file of which every block was visited begins again at once, and so does an
    /// operation at the end of the only file.
    pub endless: bool,
}

/// Where the randomness of a task comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// Of places; `None`: it follows the run's.
    pub places: Option<u64>,
    /// Of sizes and of the mix; `None`: it follows the run's.
    pub choices: Option<u64>,
    /// Whether every pass goes the way the first one went.
    pub same_passes: bool,
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
    /// Whether it is the first in that file, or the first since the task went on from its start.
    pub(crate) begins: bool,
}

/// What a task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Io(FileIo),
    /// Make the writes so far durable.
    Flush(Durable),
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
    ops: Ops,
    steps: Steps,
    chance: Chance,
    /// What a pass begins with, where all go the same way.
    first_chance: Option<Chance>,
    began: Instant,
    /// With this operation the next I/O was to go, but its time had not come.
    chosen: Option<Op>,
    /// The write that follows its trim.
    twin: Option<FileIo>,
    pace: Pace,
    flushes: Flushes,
    bytes: u64,
    ios: u64,
    /// I/Os before this pass.
    ios_before: u64,
    passes: u32,
    is_done: bool,
}

/// The generators of a task.
#[derive(Clone, Debug)]
struct Chance {
    places: Prng,
    choices: Prng,
}

impl Stream {
    pub(crate) fn new(task: &TaskSpec, files: &[FileSpec], prng: &Prng) -> Self {
        let spec = task.stream.clone();
        let generator = |seed: Option<u64>, part| seed.map_or(prng.fork(part), Prng::new);
        let mut places = generator(spec.seeds.places, 1);
        let walks = walks(task, files, &mut places);
        let chance = Chance { places, choices: generator(spec.seeds.choices, 2) };
        Self {
            turn: 0,
            ops: Ops::new(spec.direction),
            steps: Steps::new(spec.order),
            first_chance: spec.seeds.same_passes.then(|| chance.clone()),
            chance,
            began: Instant::ZERO,
            chosen: None,
            twin: None,
            pace: Pace::new(spec.rates),
            flushes: Flushes::new(spec.flush),
            bytes: 0,
            ios: 0,
            ios_before: 0,
            passes: 0,
            is_done: walks.is_empty(),
            walks,
            spec,
        }
    }

    /// How many files it uses.
    pub(crate) const fn files(&self) -> usize {
        self.walks.len()
    }

    /// The file in a place of its, by index in the machine.
    pub(crate) fn file(&self, slot: usize) -> u32 {
        self.walks[slot].file
    }

    /// The files it uses, by index in the machine.
    pub(crate) fn used_files(&self) -> impl Iterator<Item = u32> {
        self.walks.iter().map(|walk| walk.file)
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
        loop {
            if self.is_over(now) {
                return Next::Exit;
            }
            if let Some(durable) = self.flushes.take_due() {
                // As in fio a flush takes the turn of a file.
                self.next_walk();
                return Next::Flush(durable);
            }
            let chosen = self.chosen.take();
            let mut op = chosen.unwrap_or_else(|| self.ops.next(&mut self.chance.choices));
            if self.pace.is_set() {
                match self.pace.turn(now, self.spec.direction, op) {
                    Turn::Now(due) => op = due,
                    Turn::At(at) => {
                        self.chosen = Some(op);
                        return Next::Wait(at.min(self.end()));
                    }
                }
            }
            if let Some(io) = self.io(op) {
                return io;
            }
        }
    }

    /// How many writes come before the flush that makes what was given last durable, if one will.
    pub(crate) fn writes_before_flush(&self) -> Option<u64> {
        self.flushes.ahead()
    }

    fn is_over(&self, now: Instant) -> bool {
        let limits = &self.spec.limits;
        self.is_done
            || limits.bytes.is_some_and(|bytes| self.bytes >= bytes)
            || limits.ios.is_some_and(|ios| self.ios >= ios)
            || now >= self.end()
    }

    /// The next I/O; `None` if it did not fit into the file whose turn it is.
    fn io(&mut self, op: Op) -> Option<Next> {
        let Some(at) = self.next_walk() else {
            self.end_pass();
            return None;
        };
        let Chance { places, choices } = &mut self.chance;
        let step = self.steps.next(op, places);
        let walk = &mut self.walks[at];
        let size = self.spec.blocks.of(op);
        let Some((offset, bytes)) = walk.step(step, op, size, places, choices) else {
            walk.ended = true;
            return None;
        };
        let begins = walk.begins();
        let io = FileIo { slot: at as u32, file: walk.file, op, offset, bytes, begins };
        self.ops.issued(op);
        self.bytes += bytes;
        self.ios += 1;
        if self.spec.direction == Direction::TrimWrite {
            self.twin = Some(io);
            return Some(Next::Io(FileIo { op: Op::Discard, ..io }));
        }
        Some(self.give(io))
    }

    /// The next file in turn that this pass is not through with.
    fn next_walk(&mut self) -> Option<usize> {
        for _ in 0..self.walks.len() {
            let at = self.turn;
            self.turn = if at + 1 == self.walks.len() { 0 } else { at + 1 };
            if !self.walks[at].ended {
                return Some(at);
            }
        }
        None
    }

    fn give(&mut self, io: FileIo) -> Next {
        self.pace.issue(io.op, io.bytes);
        self.flushes.issued(io.op);
        Next::Io(io)
    }

    /// A task that finds nothing to do in a whole pass is done.
    #[cold]
    fn end_pass(&mut self) {
        let Limits { passes, bytes_min, .. } = self.spec.limits;
        self.passes = self.passes.saturating_add(1);
        self.is_done = self.ios == self.ios_before
            || passes.is_some_and(|passes| self.passes >= passes) && self.bytes >= bytes_min;
        self.ios_before = self.ios;
        self.walks.iter_mut().for_each(Walk::restart);
        self.flushes.begin_pass();
        if let Some(chance) = &self.first_chance {
            self.chance = chance.clone();
        }
    }
}

/// The walks over the files that have something to use.
fn walks(task: &TaskSpec, files: &[FileSpec], places: &mut Prng) -> Vec<Walk> {
    let StreamSpec { order, blocks, offset, bytes, limits, .. } = &task.stream;
    let extent = |file: &u32| {
        let bytes = files[*file as usize].bytes.saturating_sub(*offset).min(*bytes);
        (bytes > 0).then_some((*file, Extent { start: *offset, bytes }))
    };
    let used: Vec<(u32, Extent)> = task.files.iter().filter_map(extent).collect();
    let mut style = Style {
        order: *order,
        unit: blocks.smallest(),
        rank_unit: blocks.read.smallest().min(blocks.write.smallest()),
        endless: limits.endless,
        alone: used.len() == 1,
        ranks: None,
    };
    let mut walk = |(file, extent)| Walk::new(file, extent, &mut style, places.next_u64());
    used.into_iter().map(&mut walk).collect()
}
