//! Keeps a device busy with requests of one direction, and takes the time.

use super::{Bench, Length, Load, Place, SPREAD_MOST, spread_percent};
use fairdisk_core::{GroupId, Instant, Lba, Op, Prng, RequestId, Sectors, Span, Times};
use fairdisk_sim::device::{DeviceIo, Pauses};

/// How much longer than a load a device is written to before any write is measured. A device in the
/// lab is written 512 MiB.
const PRECONDITION_FACTOR: u64 = 4;

/// The look in the middle; of two, the mean.
fn median(mut took: Vec<Span>) -> Span {
    took.sort();
    let (low, high) = (took[(took.len() - 1) / 2], took[took.len() / 2]);
    (low + high) / 2
}

/// A request that takes this many times the median, alone at the device, met a pause.
const PAUSE_FACTOR: u64 = 10;
/// At least so many pauses are a figure.
const PAUSES_LEAST: u64 = 3;
/// Of more than one request in this many none meets a pause: the device has fast requests and slow
/// ones, as a cache has.
const REQUESTS_A_PAUSE: u64 = 50;

/// The pauses that requests met, one after another.
fn pauses(took: &mut [Span]) -> Pauses {
    if took.is_empty() {
        return Pauses::NONE;
    }
    let (_, usual, _) = took.select_nth_unstable(took.len() / 2);
    let usual = *usual;
    let longer = took.iter().filter(|took| **took > usual.scaled(PAUSE_FACTOR, 1));
    let (count, paused) =
        longer.fold((0, Span::ZERO), |(count, sum), took| (count + 1, sum + (*took - usual)));
    if count < PAUSES_LEAST || count * REQUESTS_A_PAUSE > took.len() as u64 {
        return Pauses::NONE;
    }
    let all: Span = took.iter().fold(Span::ZERO, |sum, took| sum + *took);
    Pauses { every: (all - paused) / count, lasts: paused / count }
}

/// A device and one direction of requests to it.
pub(super) struct Probe<'a, B> {
    bench: &'a mut B,
    op: Op,
    depth: u32,
    prng: Prng,
    /// The position of the next sequential request.
    next: u64,
    free: Vec<RequestId>,
    done: Vec<RequestId>,
    /// How long each request took, if there is one at a time.
    took: Vec<Span>,
}

impl<'a, B: Bench> Probe<'a, B> {
    /// A probe that keeps up to `depth` requests at a device, at random places drawn from `seed`.
    pub(super) fn new(bench: &'a mut B, op: Op, depth: u32, seed: u64) -> Self {
        let free = (0..depth).map(RequestId).collect();
        Self {
            bench,
            op,
            depth,
            prng: Prng::new(seed),
            next: 0,
            free,
            done: Vec::new(),
            took: Vec::new(),
        }
    }

    /// Times of all four kinds of requests.
    pub(super) fn times(&mut self, length: Length) -> Result<Times, B::Error> {
        let large_sequential = self.each(Place::Sequential, Times::LARGE, length)?;
        let sequential = self.each(Place::Sequential, Times::SMALL, length)?;
        let random = self.each(Place::Random, Times::SMALL, length)?;
        let large_random = self.each(Place::Random, Times::LARGE, length)?;
        Ok(Times { sequential, random, large_sequential, large_random })
    }

    /// The time of a small random request.
    pub(super) fn small_random(&mut self, length: Length) -> Result<Span, B::Error> {
        self.each(Place::Random, Times::SMALL, length)
    }

    /// The pauses among requests that were one at a time, and how long these took in the mean.
    pub(super) fn pauses(&mut self) -> (Pauses, Span) {
        let all = self.took.iter().fold(Span::ZERO, |sum, took| sum + *took);
        let mean = all / (self.took.len() as u64).max(1);
        (pauses(&mut self.took), mean)
    }

    /// Writes until the caches are full.
    pub(super) fn precondition(&mut self, length: Length) -> Result<(), B::Error> {
        let time = length.time.scaled(PRECONDITION_FACTOR, 1);
        self.bench.begin(&self.load(Place::Sequential, Times::LARGE));
        self.run(Place::Sequential, Times::LARGE, Length { time, ..length })?;
        Ok(())
    }

    /// The time of a flush after a small random write.
    pub(super) fn flush(&mut self, length: Length) -> Result<Span, B::Error> {
        self.bench.begin(&Load { op: Op::Flush, ..self.load(Place::Random, Times::SMALL) });
        // The first finishes all that was written before.
        self.written_and_flushed()?;
        let began = self.bench.now();
        let (mut flushes, mut took) = (0, Span::ZERO);
        while !self.is_over(length, flushes, began) {
            took += self.written_and_flushed()?;
            flushes += 1;
        }
        Ok(took / flushes)
    }

    /// Performs a small random write, and then a flush; returns how long that takes.
    fn written_and_flushed(&mut self) -> Result<Span, B::Error> {
        let write = self.io(RequestId(0), Place::Random, Times::SMALL);
        self.one(&write)?;
        let written = self.bench.now();
        let flush = DeviceIo { op: Op::Flush, start: Lba(0), sectors: Sectors(0), ..write };
        self.one(&flush)?;
        Ok(self.bench.now() - written)
    }

    /// Performs one request while there are no others.
    fn one(&mut self, io: &DeviceIo) -> Result<(), B::Error> {
        self.bench.submit(io);
        self.bench.wait(&mut self.done)?;
        self.done.clear();
        Ok(())
    }

    /// The device's time per request, among others of its kind.
    fn each(&mut self, place: Place, size: Sectors, length: Length) -> Result<Span, B::Error> {
        let load = self.load(place, size);
        self.bench.begin(&load);
        let Length { requests, time, looks } = length;
        self.run(place, size, Length { requests: requests / 4, time: time / 4, looks })?;
        let count = u64::from(looks.max(1));
        let one = Length { requests: requests / count, time: time / count, looks };
        let mut took = Vec::new();
        loop {
            for _ in 0..count {
                let (completed, time) = self.run(place, size, one)?;
                took.push(time / completed);
            }
            if took.len() as u64 > count || spread_percent(&took) <= SPREAD_MOST {
                break;
            }
        }
        self.bench.seen(&load, &took);
        Ok(median(took))
    }

    /// Keeps the device busy for `length`. How many requests it has completed in what time.
    fn run(
        &mut self,
        place: Place,
        size: Sectors,
        length: Length,
    ) -> Result<(u64, Span), B::Error> {
        let (began, mut completed) = (self.bench.now(), 0);
        while !self.is_over(length, completed, began) {
            while let Some(id) = self.free.pop() {
                let io = self.io(id, place, size);
                self.bench.submit(&io);
            }
            let submitted = self.bench.now();
            completed += self.collect()?;
            if self.depth == 1 {
                self.took.push(self.bench.now() - submitted);
            }
        }
        Ok((completed, self.bench.now() - began))
    }

    /// Waits until everything outstanding is done.
    pub(super) fn end(mut self) -> Result<(), B::Error> {
        while self.free.len() < self.depth as usize {
            self.collect()?;
        }
        Ok(())
    }

    /// Waits for requests to be done, and counts them.
    fn collect(&mut self) -> Result<u64, B::Error> {
        self.bench.wait(&mut self.done)?;
        let completed = self.done.len() as u64;
        self.free.append(&mut self.done);
        Ok(completed)
    }

    fn is_over(&self, length: Length, completed: u64, began: Instant) -> bool {
        let is_late = self.bench.now() - began >= length.time;
        completed >= length.requests || is_late && completed >= self.depth.into()
    }

    const fn load(&self, place: Place, size: Sectors) -> Load {
        Load { op: self.op, place, size, depth: self.depth }
    }

    fn io(&mut self, id: RequestId, place: Place, size: Sectors) -> DeviceIo {
        let last = self.bench.capacity_sectors().saturating_sub(u64::from(size.0));
        let start = match place {
            Place::Random => self.prng.below(last / 8 + 1) * 8,
            Place::Sequential => {
                let start = if self.next > last { 0 } else { self.next };
                self.next = start + u64::from(size.0);
                start
            }
        };
        let group = GroupId::ROOT;
        DeviceIo { id, group, op: self.op, start: Lba(start), sectors: size, fua: false }
    }
}
