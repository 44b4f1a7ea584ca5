//! Who did how much how fast: the figures of a trace, in one pass.

use crate::origins::{OriginId, Origins};
use crate::request::{Request, Traits};
use fairdisk_core::{Histogram, Instant, Lba, Op, Span};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The figures of some of a trace's requests: of a group, a task, a device, or of all.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Reads, writes, flushes and discards: requests.
    pub ios: OfOp<u64>,
    /// Reads, writes, flushes and discards: bytes.
    pub bytes: OfOp<u64>,
    /// Requests for which somebody waits.
    pub sync: u64,
    /// Requests that begin where the one before of the same task ended on that device.
    pub sequential: u64,
    /// Requests that moved data and had one before, of which they can be a continuation.
    pub followed: u64,
    /// The distance from the end of the one before of the same task to the start of one that does
    /// not continue it, as sectors in the place of nanoseconds.
    pub seeks: Histogram,
    /// From queueing to issue.
    pub waited: Histogram,
    /// From issue to the end.
    pub served: Histogram,
    /// From queueing to the end.
    pub took: Histogram,
    /// From the end of a task's last request, with none of it under way, to its next one.
    pub think: Histogram,
    /// The longest request and how long that was, in sectors.
    pub longest_sectors: u32,
    /// When the first was asked for and the last one was done or, if that is not known, asked for.
    pub from: Option<Instant>,
    /// See `from`.
    pub to: Instant,
    /// The requests whose end is not known.
    pub unfinished: u64,
    /// The most that were under way at once.
    pub depth_max: u32,
    under_way: BinaryHeap<Reverse<Instant>>,
}

/// A figure for each kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfOp<T> {
    /// Reads.
    pub reads: T,
    /// Writes, of zeroes too.
    pub writes: T,
    /// Flushes.
    pub flushes: T,
    /// Discards.
    pub discards: T,
}

impl OfOp<u64> {
    const fn of(&mut self, op: Op) -> &mut u64 {
        match op {
            Op::Read => &mut self.reads,
            Op::Write | Op::WriteZeroes => &mut self.writes,
            Op::Flush => &mut self.flushes,
            Op::Discard => &mut self.discards,
        }
    }

    /// All kinds together.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        let writes = self.writes.saturating_add(self.discards);
        self.reads.saturating_add(writes).saturating_add(self.flushes)
    }
}

/// What is remembered of a task on a device.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    end: Option<Lba>,
    /// When all of its requests so far are done; `None` if the end of the last one is not known.
    done: Option<Instant>,
}

/// The figures of a trace.
#[derive(Debug, Default)]
pub struct Summary {
    /// All requests.
    pub all: Part,
    /// By group, task or device, as was asked for.
    pub parts: BTreeMap<String, Part>,
    by: By,
    /// The part of each origin, by number.
    part_of: Vec<String>,
    tracks: Vec<Track>,
    /// When the device has nothing to do any more, by the ends that are known.
    busy_until: Instant,
    /// The times in which nothing was under way.
    pub idle: Histogram,
}

/// By what requests are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// By group.
    #[default]
    Group,
    /// By task.
    Task,
    /// By device.
    Device,
}

impl Summary {
    /// A summary without requests.
    #[must_use]
    pub fn new(by: By) -> Self {
        Self { by, ..Self::default() }
    }

    /// Adds a request. They come in the order in which they were asked for, at least nearly.
    pub fn add(&mut self, request: &Request, origins: &Origins) {
        let at = request.origin.0 as usize;
        while self.part_of.len() <= at {
            let origin = origins.get(OriginId(self.part_of.len() as u32));
            self.part_of.push(match self.by {
                By::Group => origin.group.clone(),
                By::Task => origin.task.clone(),
                By::Device => origin.device.clone(),
            });
            self.tracks.push(Track::default());
        }
        let track = &mut self.tracks[at];
        let step = track.follow(request);
        if self.all.from.is_some() && request.queued > self.busy_until {
            self.idle.record(request.queued.since(self.busy_until));
        }
        self.busy_until = self.busy_until.max(request.done.unwrap_or(request.queued));
        self.all.add(request, &step);
        let name = &self.part_of[at];
        match self.parts.get_mut(name) {
            Some(part) => part.add(request, &step),
            None => {
                let mut part = Part::default();
                part.add(request, &step);
                self.parts.insert(name.clone(), part);
            }
        }
    }

    /// The part that the requests of an origin which was seen belong to.
    #[must_use]
    pub fn part_of(&self, origin: OriginId) -> &str {
        &self.part_of[origin.0 as usize]
    }

    /// By what the parts are told apart.
    #[must_use]
    pub const fn by(&self) -> By {
        self.by
    }

    /// The part of the trace's time in which something was under way, by the ends that are known.
    #[must_use]
    pub fn busy(&self) -> f64 {
        let all = self.all.length().as_ns() as f64;
        if all > 0.0 { 1.0 - (self.idle.sum().as_ns() as f64 / all).min(1.0) } else { 0.0 }
    }
}

/// How a request follows the one before of the same task.
struct Follows {
    seek: Option<u64>,
    think: Option<Span>,
}

impl Track {
    fn follow(&mut self, request: &Request) -> Follows {
        let moves = request.op.moves_data();
        let seek = self.end.filter(|_| moves).map(|end| end.distance(request.start));
        if moves {
            self.end = Some(request.end());
        }
        let is_quiet = self.done.filter(|done| *done <= request.queued);
        let think = is_quiet.map(|done| request.queued.since(done));
        self.done = match (self.done, request.done) {
            (Some(before), Some(done)) => Some(before.max(done)),
            // Whether all are done is known again with the next end.
            (None, done) => done,
            (Some(_), None) => None,
        };
        Follows { seek, think }
    }
}

impl Part {
    fn add(&mut self, request: &Request, step: &Follows) {
        *self.ios.of(request.op) += 1;
        let bytes = self.bytes.of(request.op);
        *bytes = bytes.saturating_add(request.sectors.bytes());
        self.sync += u64::from(request.traits.contains(Traits::SYNC));
        self.longest_sectors = self.longest_sectors.max(request.sectors.0);
        if let Some(seek) = step.seek {
            self.followed += 1;
            match seek {
                0 => self.sequential += 1,
                sectors => self.seeks.record(Span::from_ns(sectors)),
            }
        }
        let times = [
            (&mut self.waited, request.waited()),
            (&mut self.served, request.served_in()),
            (&mut self.took, request.took()),
            (&mut self.think, step.think),
        ];
        for (histogram, time) in times {
            time.into_iter().for_each(|time| histogram.record(time));
        }
        self.from = Some(self.from.map_or(request.queued, |from| from.min(request.queued)));
        self.to = self.to.max(request.done.unwrap_or(request.queued));
        while self.under_way.peek().is_some_and(|Reverse(done)| *done <= request.queued) {
            self.under_way.pop();
        }
        match request.done {
            Some(done) => self.under_way.push(Reverse(done)),
            None => self.unfinished += 1,
        }
        self.depth_max = self.depth_max.max(self.under_way.len() as u32);
    }

    /// From the first request to the last end.
    #[must_use]
    pub fn length(&self) -> Span {
        self.from.map_or(Span::ZERO, |from| self.to.since(from))
    }

    /// The mean number of requests under way, over `length`.
    #[must_use]
    pub fn depth_mean(&self, length: Span) -> f64 {
        let all = length.as_ns() as f64;
        if all > 0.0 { self.took.sum().as_ns() as f64 / all } else { 0.0 }
    }
}
