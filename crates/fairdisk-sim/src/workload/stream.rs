//! The sequence of a task's I/Os, from its own seeded generators.

use super::blocks::Blocks;
use super::direction::{Direction, Ops, PerOp};
use super::files::{Serving, Turns};
use super::flush::{Durable, FlushEvery, Flushes};
use super::limits::{Limits, Seeds};
use super::order::{IoOrder, Steps, Zone};
use super::pace::{Arrivals, Pace, Rates, Turn};
use super::read_back::{ReadBack, Written};
use super::script::{Marked, Script, Scripted, ScriptedIo};
use super::task::TaskSpec;
use super::walk::{Extent, Strides, Style, Walk};
use crate::host::FileSpec;
use fairdisk_core::{Instant, IoPrio, Op, Prng};
use std::num::NonZeroU64;
use std::sync::Arc;

/// The I/Os that a task asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSpec {
    /// The direction: reads, writes, trims or a mix.
    pub direction: Direction,
    /// The positions of the I/Os.
    pub order: IoOrder,
    /// The sizes of the I/Os.
    pub blocks: Blocks,
    /// The offset in each file at which the used part starts, in bytes.
    pub offset: u64,
    /// The length of the used part of each file, in bytes, as far as the file is that long.
    pub bytes: u64,
    /// When the task is done.
    pub limits: Limits,
    /// What random positions are multiples of, in bytes, if not the smallest I/O; without a
    /// distribution or a memory of what was visited.
    pub align: PerOp<Option<NonZeroU64>>,
    /// Where random positions fall, by zones of each file; empty if anywhere.
    pub zones: Vec<Zone>,
    /// The parts of each file to which it keeps for a while; `None` if it goes anywhere.
    pub strides: Option<Strides>,
    /// How it goes from file to file.
    pub serving: Serving,
    /// When it reads back what it has written.
    pub read_back: ReadBack,
    /// The I/Os that have another priority than the task.
    pub preferred: Option<Preferred>,
    /// Rate limits.
    pub rates: Rates,
    /// When I/Os arrive that have a rate.
    pub arrivals: Arrivals,
    /// When the task flushes its writes.
    pub flush: FlushEvery,
    /// The seeds of its random numbers.
    pub seeds: Seeds,
    /// I/Os that were recorded, of the task's first file, instead of all that is above.
    pub script: Option<Arc<[ScriptedIo]>>,
}

impl Default for StreamSpec {
    /// Sequential reads of every file, 4 KiB at a time, pass after pass without end.
    fn default() -> Self {
        Self {
            direction: Direction::Read,
            order: IoOrder::Sequential,
            blocks: Blocks::fixed(4096),
            offset: 0,
            bytes: u64::MAX,
            limits: Limits::default(),
            align: PerOp::all(None),
            zones: Vec::new(),
            strides: None,
            serving: Serving::default(),
            read_back: ReadBack::default(),
            preferred: None,
            rates: Rates::default(),
            arrivals: Arrivals::Linear,
            flush: FlushEvery::default(),
            seeds: Seeds::default(),
            script: None,
        }
    }
}

/// A part of a task's I/Os that has a priority of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preferred {
    /// The percentage of I/Os.
    pub percent: PerOp<u8>,
    /// Their priority.
    pub ioprio: PerOp<IoPrio>,
}

/// One I/O on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileIo {
    /// Index of the file among the task's files.
    pub(crate) slot: u32,
    /// Index of the file in the machine.
    pub(crate) file: u32,
    pub(crate) op: Op,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// Whether it is the first I/O in that file, or the first since the task started over in it.
    pub(crate) begins: bool,
    /// How it is marked, if that was recorded.
    pub(crate) marked: Option<Marked>,
    /// Its priority, if that is not the task's.
    pub(crate) ioprio: Option<IoPrio>,
}

impl FileIo {
    /// No I/O: that of a task that has not begun.
    pub(crate) const NONE: Self = Self {
        slot: 0,
        file: 0,
        op: Op::Read,
        offset: 0,
        bytes: 0,
        begins: false,
        marked: None,
        ioprio: None,
    };
}

/// What a task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Io(FileIo),
    /// Flush the writes so far.
    Flush(Durable),
    /// Ask again at this time.
    Wait(Instant),
    /// Take up what has completed, or wait for it.
    Await(Awaits),
    Exit,
}

/// The I/Os that a task takes up before it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// One, if any is under way: it is the turn of a file that cannot be opened yet.
    One,
    /// All, at the end of a pass.
    All,
}

/// The stream of one task.
#[derive(Debug)]
pub(crate) struct Stream {
    spec: StreamSpec,
    walks: Vec<Walk>,
    turns: Turns,
    /// Bytes in the present parts of files.
    part_bytes: u64,
    written: Written,
    ops: Ops,
    steps: Steps,
    chance: Chance,
    /// The generators at the start of each pass, if all passes are to be the same.
    first_chance: Option<Chance>,
    began: Instant,
    /// The operation of the next I/O, chosen before but not yet due.
    chosen: Option<Op>,
    /// The write that follows its trim.
    twin: Option<FileIo>,
    pace: Pace,
    flushes: Flushes,
    bytes: u64,
    ios: u64,
    /// I/Os and bytes before this pass.
    ios_before: u64,
    bytes_before: u64,
    passes: u32,
    is_done: bool,
    script: Option<Script>,
}

/// The generators of a task.
#[derive(Clone, Debug)]
struct Chance {
    places: Prng,
    choices: Prng,
    /// Of the turns of files, and of priorities.
    rest: Prng,
}

impl Stream {
    pub(crate) fn new(task: &TaskSpec, files: &[FileSpec], prng: &Prng) -> Self {
        let spec = task.stream.clone();
        let generator = |seed: Option<u64>, part| seed.map_or(prng.fork(part), Prng::new);
        let mut places = generator(spec.seeds.places, 1);
        let walks = walks(task, files, &mut places);
        let choices = generator(spec.seeds.choices, 2);
        let chance = Chance { places, choices, rest: prng.fork(4) };
        Self {
            turns: Turns::new(spec.serving, walks.len()),
            part_bytes: 0,
            written: Written::new(ReadBack {
                at_end: spec.read_back.at_end && may_end(&spec, &walks),
                ..spec.read_back
            }),
            ops: Ops::new(spec.direction),
            steps: Steps::new(spec.order),
            first_chance: spec.seeds.same_passes.then(|| chance.clone()),
            chance,
            began: Instant::ZERO,
            chosen: None,
            twin: None,
            pace: pace(&spec, prng),
            flushes: Flushes::new(spec.flush),
            bytes: 0,
            ios: 0,
            ios_before: 0,
            bytes_before: 0,
            passes: 0,
            is_done: walks.is_empty(),
            walks,
            script: spec.script.as_ref().map(Script::new),
            spec,
        }
    }

    /// The number of files the stream uses.
    pub(crate) const fn files(&self) -> usize {
        self.walks.len()
    }

    /// The file at index `slot` of the stream, as an index in the machine.
    pub(crate) fn file(&self, slot: usize) -> u32 {
        self.walks[slot].file
    }

    /// Ends the stream: what the task is there for is done, and nothing is read back any more.
    pub(crate) fn finish(&mut self) {
        self.is_done = true;
        self.twin = None;
        self.written.forget();
    }

    /// The files the stream uses, as indices in the machine.
    pub(crate) fn used_files(&self) -> impl Iterator<Item = u32> {
        self.walks.iter().map(|walk| walk.file)
    }

    /// Whether it came to the end of its files and went on from their start.
    pub(crate) const fn goes_round(&self) -> bool {
        self.passes > 0 && self.ios > self.ios_before
    }

    /// Starts the stream's clock.
    pub(crate) const fn begin(&mut self, now: Instant) {
        self.began = now;
        self.pace.begin(now);
        self.note_done(now);
    }

    /// Notes that an I/O is done.
    pub(crate) const fn note_done(&mut self, now: Instant) {
        if let Some(script) = &mut self.script {
            script.note(now);
        }
    }

    /// Notes that a task has taken up I/Os of the stream that have completed.
    pub(crate) const fn took_up(&mut self) {
        self.flushes.took_up();
    }

    /// Goes on after what was awaited.
    pub(crate) fn go_on(&mut self, awaited: Awaits) {
        match awaited {
            Awaits::One => self.turns.pass_over(&self.walks),
            Awaits::All => self.end_pass(),
        }
    }

    /// How many I/Os of the task may be under way when its next one begins, if that was recorded.
    pub(crate) fn beside(&self) -> Option<u32> {
        self.script.as_ref().and_then(Script::beside)
    }

    /// When the task's runtime is over; [`Instant::MAX`] if it is not limited.
    pub(crate) fn end(&self) -> Instant {
        self.spec.limits.runtime.map_or(Instant::MAX, |runtime| self.began + runtime)
    }

    pub(crate) fn next(&mut self, now: Instant) -> Next {
        if let Some(write) = self.twin.take() {
            return self.give(write);
        }
        if let Some(script) = &mut self.script {
            return match script.next(now, self.began) {
                Scripted::Io(io) => self.recorded(io),
                Scripted::Wait(until) => Next::Wait(until),
                Scripted::End => Next::Exit,
            };
        }
        loop {
            if now >= self.end() {
                return Next::Exit;
            }
            if let Some(io) = self.written.next() {
                return Next::Io(io);
            }
            if self.is_over(now) {
                if self.written.end_pass() {
                    continue;
                }
                return Next::Exit;
            }
            let pass_bytes = self.bytes - self.bytes_before;
            if self.spec.limits.pass_bytes.is_some_and(|bytes| pass_bytes >= bytes) {
                return Next::Await(Awaits::All);
            }
            if self.turns.is_held_up(&self.walks) {
                return Next::Await(Awaits::One);
            }
            if let Some(durable) = self.flushes.take_due() {
                // As in fio, a flush takes the turn of a file.
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

    /// An I/O of a script, of the first file.
    fn recorded(&mut self, io: ScriptedIo) -> Next {
        let ScriptedIo { op, offset, bytes, .. } = io;
        let Some(walk) = self.walks.first_mut().filter(|_| op != Op::Flush) else {
            return Next::Flush(Durable::All);
        };
        let (begins, marked) = (walk.take_fresh(), Some(io.marked()));
        Next::Io(FileIo { file: walk.file, op, offset, bytes, begins, marked, ..FileIo::NONE })
    }

    /// The number of writes before the flush that makes the last issued write durable, if there
    /// will be one.
    pub(crate) fn writes_before_flush(&self) -> Option<u64> {
        self.flushes.ahead()
    }

    /// Whether there is nothing left to do but to read back.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        let limits = &self.spec.limits;
        self.is_done
            || limits.bytes.is_some_and(|bytes| self.bytes >= bytes)
            || limits.ios.is_some_and(|ios| self.ios >= ios)
            || now >= self.end()
    }

    /// The next I/O; `None` if it does not fit into the file whose turn it is.
    fn io(&mut self, op: Op) -> Option<Next> {
        let Some(at) = self.next_walk() else {
            self.end_pass();
            return None;
        };
        let Chance { places, choices, .. } = &mut self.chance;
        let step = self.steps.next(op, places);
        let most = self.spec.strides.map_or(u64::MAX, |strides| strides.io_bytes);
        if self.part_bytes >= most {
            self.part_bytes = 0;
            self.walks[at].next_part();
        }
        let walk = &mut self.walks[at];
        let size = self.spec.blocks.of(op);
        let align = self.spec.align.of(op).map_or_else(|| size.smallest(), NonZeroU64::get);
        let Some((offset, bytes)) = walk.step(step, op, (size, align), places, choices) else {
            walk.ended = true;
            self.turns.ended(self.walks.len());
            return None;
        };
        let begins = walk.take_fresh();
        let file = walk.file;
        let io = FileIo { slot: at as u32, file, op, offset, bytes, begins, ..FileIo::NONE };
        self.ops.issued(op);
        self.part_bytes += bytes;
        self.bytes += bytes;
        self.ios += 1;
        if self.spec.direction == Direction::TrimWrite {
            self.twin = Some(io);
            return Some(Next::Io(FileIo { op: Op::Discard, ..io }));
        }
        Some(self.give(io))
    }

    /// The next walk, in turn, that has not ended in this pass.
    fn next_walk(&mut self) -> Option<usize> {
        self.turns.next(&self.walks, &mut self.chance.rest)
    }

    fn give(&mut self, io: FileIo) -> Next {
        self.pace.issue(io.op, io.bytes);
        self.flushes.issued(io.op);
        self.written.issued(&io);
        Next::Io(FileIo { ioprio: self.priority(io.op), ..io })
    }

    /// The priority of an I/O, if that is not the task's.
    fn priority(&mut self, op: Op) -> Option<IoPrio> {
        let Preferred { percent, ioprio } = self.spec.preferred?;
        let is_preferred = self.chance.rest.chance(u64::from(*percent.of(op)), 100);
        is_preferred.then(|| *ioprio.of(op))
    }

    /// Ends a pass. A task that finds nothing to do in a whole pass is done.
    #[cold]
    fn end_pass(&mut self) {
        let Limits { passes, bytes_min, .. } = self.spec.limits;
        self.passes = self.passes.saturating_add(1);
        self.is_done = self.ios == self.ios_before
            || passes.is_some_and(|passes| self.passes >= passes) && self.bytes >= bytes_min;
        (self.ios_before, self.bytes_before) = (self.ios, self.bytes);
        self.walks.iter_mut().for_each(Walk::restart);
        self.turns.restart(self.walks.len());
        self.part_bytes = 0;
        self.written.end_pass();
        self.flushes.begin_pass();
        if let Some(chance) = &self.first_chance {
            self.chance = chance.clone();
        }
    }
}

fn pace(spec: &StreamSpec, prng: &Prng) -> Pace {
    let PerOp { read, write, trim } = &spec.blocks;
    let smallest = PerOp { read: read.smallest(), write: write.smallest(), trim: trim.smallest() };
    match spec.arrivals {
        Arrivals::Linear => Pace::new(spec.rates),
        Arrivals::Poisson => Pace::at_random(spec.rates, smallest, prng.fork(3)),
    }
}

/// Whether a pass may end: not if it begins again by itself and every I/O fits.
fn may_end(spec: &StreamSpec, walks: &[Walk]) -> bool {
    let StreamSpec { order, blocks, limits, align, strides, .. } = spec;
    let goes_on = limits.endless && limits.bytes.is_none() && limits.ios.is_none();
    let goes_round = match order {
        IoOrder::Sequential => walks.len() == 1,
        IoOrder::Drawn(_) => *align == PerOp::all(None),
        _ => false,
    };
    let bytes = blocks.smallest();
    let fits = *blocks == Blocks::fixed(bytes) && walks.iter().all(|walk| walk.is_whole(bytes));
    !(goes_on && goes_round && fits && strides.is_none())
}

/// The walks over those files of the task that have a used part.
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
        strides: task.stream.strides,
        ranks: None,
    };
    let zones = &task.stream.zones;
    let mut walk = |(file, extent)| Walk::new(file, extent, &mut style, zones, places.next_u64());
    used.into_iter().map(&mut walk).collect()
}
