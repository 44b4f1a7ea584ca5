//! The disk of a virtual machine: every request costs CPU time of the hypervisor, and a page cache
//! of the host may lie between the guest and the disk below.
//!
//! A request first gets a CPU, one after another where these run out. With a cache, reads of pages
//! that are in it end there, and writes end there while there is room; the host writes back later,
//! in the order of the disk. Without one, requests go on to the disk.
//!
//! Simplifications: the host does not read ahead; a write of part of a page counts as one of all of
//! it; reads that miss go before what is written back.

mod cache;

use super::hdd::FlushPolicy;
use super::spec::{SpecError, within};
use super::work::Ledger;
use super::{Check, Checked, Device, DeviceIo, DeviceModel, DeviceSpec, Done};
use cache::{HostCache, Pages};
use fairdisk_core::GroupId;
use fairdisk_core::request::{Lba, Op, RequestId, Sectors};
use fairdisk_core::time::{Instant, Span};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Parameters of a [`VirtualDisk`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualDiskParams {
    /// The disk below.
    pub below: DeviceSpec,
    /// The number of requests that the guest's disk accepts at once.
    pub depth: u32,
    /// The CPUs that serve the guest's requests.
    pub cpus: u32,
    /// CPU time of a request, in microseconds.
    pub io_cpu_us: u32,
    /// CPU time of each page of 4 KiB that a request moves, in nanoseconds.
    pub page_cpu_ns: u32,
    /// The host's page cache; without one, requests go to the disk below.
    pub cache: Option<HostCacheParams>,
}

/// The page cache of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCacheParams {
    /// How much it holds, in MiB.
    pub mib: u32,
    /// How much of it may be dirty before the host writes back, in percent.
    pub background_percent: u32,
    /// How much of it may be dirty before writes wait, in percent.
    pub limit_percent: u32,
    /// How old dirty data may become before the host writes it back, in milliseconds.
    pub age_ms: u32,
    /// What a flush of the guest does.
    pub flush: FlushPolicy,
}

/// [`VirtualDiskParams`] that have been checked.
pub type VirtualDiskSpec = Checked<VirtualDiskParams>;

/// A second in microseconds, and in nanoseconds.
const SECOND_US: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

impl Check for VirtualDiskParams {
    fn check(&self) -> Result<(), SpecError> {
        within("depth", self.depth, 1, 65_536)?;
        within("cpus", self.cpus, 1, 1024)?;
        within("io_cpu_us", self.io_cpu_us, 0, SECOND_US)?;
        within("page_cpu_ns", self.page_cpu_ns, 0, SECOND_NS)?;
        let Some(cache) = &self.cache else { return Ok(()) };
        within("cache.mib", cache.mib, 1, 1 << 20)?;
        within("cache.limit_percent", cache.limit_percent, 1, 100)?;
        let most = cache.limit_percent.into();
        within("cache.background_percent", cache.background_percent, 0, most)?;
        within("cache.age_ms", cache.age_ms, 1, 3_600_000)
    }
}

/// A request of the guest.
#[derive(Clone, Copy, Debug)]
struct Taken {
    io: DeviceIo,
    /// When it had its CPU.
    since: Instant,
    /// What it still waits for at the disk.
    left: u32,
}

/// What the disk below is asked for.
#[derive(Clone, Copy, Debug)]
struct Piece {
    cause: Cause,
    io: DeviceIo,
}

/// Why the disk below is asked.
#[derive(Clone, Copy, Debug)]
enum Cause {
    /// A request, by its slot, and the pages that come into the cache.
    Request(u32, Pages),
    /// The host writes back.
    WriteBack(Pages),
}

/// A request that a CPU is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Handled {
    at: Instant,
    order: u64,
    slot: u32,
}

/// The disk of a virtual machine.
#[derive(Clone, Debug)]
pub struct VirtualDisk {
    below: Box<DeviceModel>,
    cache: Option<HostCache>,
    io_cpu: Span,
    page_cpu: Span,
    /// When each CPU has nothing more to do.
    cpus: Vec<Instant>,
    handled: BinaryHeap<Reverse<Handled>>,
    submitted: u64,
    requests: Vec<Option<Taken>>,
    free: Vec<u32>,
    /// What requests want of the disk, in order.
    pieces: VecDeque<Piece>,
    /// What is at the disk, by the id it has there.
    at_disk: Vec<Option<Cause>>,
    /// Writes that wait for room in the cache, and flushes that wait for what is dirty.
    writers: VecDeque<u32>,
    flushes: Vec<u32>,
    /// Whether the host wrote back the last time that it had the choice.
    wrote_back: bool,
    /// CPU time of requests that never reached the disk.
    cpu_work: Ledger,
    finished: Vec<Done>,
}

impl VirtualDisk {
    /// An idle disk with an empty cache. The platters of the disk below are `phase_ns` further into
    /// their rotation than its parameters say.
    #[must_use]
    pub fn new(spec: &VirtualDiskSpec, phase_ns: u64) -> Self {
        let params = spec.params();
        let below = params.below.build_at_phase(phase_ns);
        let depth = params.depth as usize;
        Self {
            at_disk: vec![None; below.depth() as usize],
            below: Box::new(below),
            cache: params.cache.as_ref().map(HostCache::new),
            io_cpu: Span::from_us(params.io_cpu_us.into()),
            page_cpu: Span::from_ns(params.page_cpu_ns.into()),
            cpus: vec![Instant::ZERO; params.cpus as usize],
            handled: BinaryHeap::with_capacity(depth),
            submitted: 0,
            requests: vec![None; depth],
            free: (0..params.depth).rev().collect(),
            pieces: VecDeque::new(),
            writers: VecDeque::new(),
            flushes: Vec::new(),
            wrote_back: false,
            cpu_work: Ledger::default(),
            finished: Vec::new(),
        }
    }

    /// Whether the disk below serves several requests faster than one after another, and gets
    /// several.
    pub(super) fn serves_together(&self) -> bool {
        self.requests.len() > 1 && self.below.serves_together()
    }

    /// The CPU time of a request.
    fn cpu_time(&self, io: &DeviceIo) -> Span {
        let pages = if io.op.moves_data() { Pages::of(io).count } else { 0 };
        self.io_cpu + self.page_cpu.scaled(pages, 1)
    }

    fn request(&mut self, slot: u32) -> &mut Taken {
        self.requests[slot as usize].as_mut().expect("it is under way")
    }

    /// Ends a request.
    fn end(&mut self, slot: u32, ok: bool, done: &mut Vec<Done>) {
        let taken = self.requests[slot as usize].take().expect("it is under way");
        self.free.push(slot);
        done.push(Done { id: taken.io.id, ok });
    }

    /// Ends a request that never reached the disk.
    fn end_here(&mut self, slot: u32, ok: bool, done: &mut Vec<Done>) {
        let io = self.request(slot).io;
        let ns = self.cpu_time(&io).as_ns() / self.cpus.len() as u64;
        self.cpu_work.add(io.group, ns);
        self.end(slot, ok, done);
    }

    /// What becomes of a request once it has had its CPU.
    fn handle(&mut self, now: Instant, slot: u32, done: &mut Vec<Done>) {
        self.request(slot).since = now;
        let io = self.request(slot).io;
        let fits = io.fits(self.below.capacity_sectors());
        if !fits || io.op == Op::Discard || (io.sectors.0 == 0 && io.op != Op::Flush) {
            return self.end_here(slot, fits, done);
        }
        match (&self.cache, io.op) {
            (None, _) => self.want(slot, Pages::NONE, io),
            (Some(_), Op::Read) => self.read(slot, &io, done),
            (Some(cache), Op::Flush) if !cache.flush_drains() => self.end_here(slot, true, done),
            (Some(_), Op::Flush) => {
                self.flushes.push(slot);
                self.begin_flushes();
            }
            (Some(_), _) if io.fua => self.want(slot, Pages::of(&io), io),
            (Some(_), _) => {
                self.writers.push_back(slot);
                self.accept_writes(now, done);
            }
        }
    }

    /// Asks the disk for something in the name of a request.
    fn want(&mut self, slot: u32, fills: Pages, io: DeviceIo) {
        self.request(slot).left += 1;
        self.pieces.push_back(Piece { cause: Cause::Request(slot, fills), io });
    }

    /// Reads what is not in the cache.
    fn read(&mut self, slot: u32, io: &DeviceIo, done: &mut Vec<Done>) {
        let Some(cache) = &mut self.cache else { return };
        let missing = cache.missing(Pages::of(io));
        if missing.is_empty() {
            return self.end_here(slot, true, done);
        }
        let capacity = self.below.capacity_sectors();
        for pages in missing {
            self.want(slot, pages, pages.io(Op::Read, io.group, capacity));
        }
    }

    /// Takes writes into the cache, in order, while there is room.
    fn accept_writes(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(slot) = self.writers.front().copied() {
            let io = self.request(slot).io;
            let Some(cache) = &mut self.cache else { return };
            if !cache.take(now, Pages::of(&io), io.group) {
                return;
            }
            self.writers.pop_front();
            self.end_here(slot, true, done);
        }
    }

    /// Sends flushes on for which everything dirty has been written.
    fn begin_flushes(&mut self) {
        let Some(cache) = &self.cache else { return };
        let oldest = cache.oldest();
        let flushes = std::mem::take(&mut self.flushes);
        let is_ready = |since: Instant| oldest.is_none_or(|oldest| oldest > since);
        for slot in flushes {
            let Taken { io, since, .. } = *self.request(slot);
            if is_ready(since) {
                self.want(slot, Pages::NONE, io);
            } else {
                self.flushes.push(slot);
            }
        }
    }

    /// Gives the disk work while it takes any: what requests want first, and what is to be written
    /// back in turns with it where writers wait for room.
    fn feed(&mut self, now: Instant) {
        let is_pressed = |disk: &Self| !disk.writers.is_empty() || !disk.flushes.is_empty();
        while let Some(id) = self.at_disk.iter().position(Option::is_none) {
            let writes_first = is_pressed(self) && !self.wrote_back;
            let piece = match writes_first {
                true => self.write_back(now).or_else(|| self.pieces.pop_front()),
                false => self.pieces.pop_front().or_else(|| self.write_back(now)),
            };
            let Some(Piece { cause, io }) = piece else { return };
            self.wrote_back = matches!(cause, Cause::WriteBack(_));
            self.at_disk[id] = Some(cause);
            self.below.submit(now, &DeviceIo { id: RequestId(id as u32), ..io });
        }
    }

    /// What the host writes back next, if it is time to.
    fn write_back(&mut self, now: Instant) -> Option<Piece> {
        let is_pressed = !self.writers.is_empty() || !self.flushes.is_empty();
        let (pages, group) = self.cache.as_mut()?.next_out(now, is_pressed)?;
        let io = pages.io(Op::Write, group, self.below.capacity_sectors());
        Some(Piece { cause: Cause::WriteBack(pages), io })
    }

    /// Takes note of what the disk has done.
    fn note(&mut self, now: Instant, piece: Done, done: &mut Vec<Done>) {
        let cause = self.at_disk[piece.id.0 as usize].take().expect("it is at the disk");
        match cause {
            Cause::WriteBack(pages) => {
                self.cache.iter_mut().for_each(|cache| cache.written(pages));
                self.accept_writes(now, done);
                self.begin_flushes();
            }
            Cause::Request(slot, pages) => {
                self.cache.iter_mut().for_each(|cache| cache.fill(pages));
                let taken = self.request(slot);
                taken.left -= 1;
                if taken.left == 0 {
                    self.end(slot, piece.ok, done);
                }
            }
        }
    }

    /// When data becomes old enough to be written back, if the disk would take it.
    fn due(&self) -> Option<Instant> {
        let has_room = self.at_disk.iter().any(Option::is_none);
        self.cache.as_ref().filter(|_| has_room)?.due()
    }
}

impl Device for VirtualDisk {
    fn depth(&self) -> u32 {
        self.requests.len() as u32
    }

    fn capacity_sectors(&self) -> u64 {
        self.below.capacity_sectors()
    }

    fn submit(&mut self, now: Instant, io: &DeviceIo) {
        let slot = self.free.pop().expect("no more requests than the depth");
        self.requests[slot as usize] = Some(Taken { io: *io, since: now, left: 0 });
        let takes = self.cpu_time(io);
        let cpu = self.cpus.iter_mut().min().expect("there is a CPU");
        *cpu = (*cpu).max(now) + takes;
        let (at, order) = (*cpu, self.submitted);
        self.submitted += 1;
        self.handled.push(Reverse(Handled { at, order, slot }));
    }

    fn next_event(&self) -> Option<Instant> {
        let handled = self.handled.peek().map(|Reverse(next)| next.at);
        [handled, self.below.next_event(), self.due()].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            let mut finished = std::mem::take(&mut self.finished);
            self.below.advance(at, &mut finished);
            finished.drain(..).for_each(|piece| self.note(at, piece, done));
            self.finished = finished;
            while let Some(Reverse(next)) = self.handled.peek().copied().filter(|it| it.0.at <= at)
            {
                self.handled.pop();
                self.handle(at, next.slot, done);
            }
            self.feed(at);
        }
    }

    fn work(&self, group: GroupId) -> Span {
        self.below.work(group) + self.cpu_work.of(group)
    }
}

impl Pages {
    /// A request for these pages, up to the end of the disk.
    fn io(self, op: Op, group: GroupId, capacity_sectors: u64) -> DeviceIo {
        let start = self.first * Self::SECTORS;
        let end = ((self.first + self.count) * Self::SECTORS).min(capacity_sectors);
        let sectors = Sectors((end - start) as u32);
        DeviceIo { id: RequestId(0), group, op, start: Lba(start), sectors, fua: false }
    }
}
