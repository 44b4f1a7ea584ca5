//! An array of rotating disks with parity. A write of less than a stripe first reads what is needed
//! to compute the parity, so a small write costs two reads and two writes.
//!
//! Simplifications: data that was read is not cached, and two writes to one stripe do not wait for
//! each other. The disks have no elevator, as each of them has below Linux's md: the pieces for a
//! disk wait in the order in which they came, and a disk of depth 1 gets them in that order. With
//! many random requests at the array, the disks move their heads more than they would there.

mod layout;

use super::spec::{SpecError, within};
use super::{Check, Checked, Device, DeviceIo, Done, Hdd, HddSpec};
use fairdisk_core::GroupId;
use fairdisk_core::request::{Lba, Op, RequestId, Sectors};
use fairdisk_core::time::{Instant, Span};
use layout::{Layout, Piece, Touched};
use std::collections::VecDeque;

/// Parameters of a [`Raid5`] array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raid5Params {
    /// The parameters of each disk.
    pub disk: HddSpec,
    /// The number of disks, including the one for parity.
    pub disks: u32,
    /// The chunk size: how much contiguous data is on one disk, in KiB.
    pub chunk_kib: u32,
    /// The number of requests the array accepts at once.
    pub depth: u32,
}

/// [`Raid5Params`] that have been checked.
pub type Raid5Spec = Checked<Raid5Params>;

impl Raid5Params {
    const fn layout(&self) -> Layout {
        Layout { disks: self.disks as u64, chunk_sectors: self.chunk_kib as u64 * 2 }
    }

    /// The capacity in sectors, counting only whole stripes.
    pub(super) const fn capacity_sectors(&self) -> u64 {
        let layout = self.layout();
        self.disk.params().capacity_sectors / layout.chunk_sectors * layout.stripe_sectors()
    }
}

impl Check for Raid5Params {
    fn check(&self) -> Result<(), SpecError> {
        within("disks", self.disks, 3, 64)?;
        within("chunk_kib", self.chunk_kib, 4, 65_536)?;
        within("depth", self.depth, 1, 65_536)?;
        let most = self.disk.params().capacity_sectors / 2;
        within("chunk_kib", self.chunk_kib, 4, most)
    }
}

/// A request, and the rest of the step it is in.
#[derive(Clone, Debug, Default)]
struct Request {
    /// The request; `None` in a free slot.
    io: Option<DeviceIo>,
    /// Pieces outstanding at the disks.
    left: u32,
    /// The pieces to write once everything to be read has been read.
    writes: Vec<Piece>,
}

/// A disk and the pieces that wait for it.
#[derive(Clone, Debug)]
struct Member {
    disk: Hdd,
    at_disk: u32,
    waiting: VecDeque<DeviceIo>,
}

/// An array of rotating disks with parity. A write of less than a stripe first reads what it needs
/// to compute the parity; nothing is cached.
#[derive(Clone, Debug)]
pub struct Raid5 {
    capacity_sectors: u64,
    layout: Layout,
    members: Vec<Member>,
    /// Indexed by slot; the slot identifies all pieces of a request.
    requests: Vec<Request>,
    free: Vec<u32>,
    /// Requests that complete without using a disk, and when they do.
    at_once: Vec<Done>,
    at_once_due: Instant,
    finished: Vec<Done>,
}

impl Raid5 {
    /// An array of idle disks. The platters of the first disk are `phase_ns` further into their
    /// rotation than the parameters say, and those of the others are spaced evenly over a rotation.
    #[must_use]
    pub fn new(spec: &Raid5Spec, phase_ns: u64) -> Self {
        let params = spec.params();
        let apart_ns =
            60_000_000_000 / u64::from(params.disk.params().rpm) / u64::from(params.disks);
        let member = |index: u32| Member {
            disk: Hdd::new(&params.disk, phase_ns + u64::from(index) * apart_ns),
            at_disk: 0,
            waiting: VecDeque::new(),
        };
        Self {
            capacity_sectors: params.capacity_sectors(),
            layout: params.layout(),
            members: (0..params.disks).map(member).collect(),
            requests: vec![Request::default(); params.depth as usize],
            free: (0..params.depth).rev().collect(),
            at_once: Vec::new(),
            at_once_due: Instant::ZERO,
            finished: Vec::new(),
        }
    }

    /// Sends a piece of the request in `slot` to its disk.
    fn send(&mut self, now: Instant, slot: u32, op: Op, piece: Piece) {
        let io = self.request(slot).io.expect("pieces belong to requests");
        let (group, fua) = (io.group, op == Op::Write && io.fua);
        let (start, sectors) = (Lba(piece.start), Sectors(piece.sectors));
        self.request(slot).left += 1;
        let member = &mut self.members[piece.disk as usize];
        let id = RequestId(slot);
        member.waiting.push_back(DeviceIo { id, group, op, start, sectors, fua });
        member.feed(now);
    }

    fn request(&mut self, slot: u32) -> &mut Request {
        &mut self.requests[slot as usize]
    }

    fn read(&mut self, now: Instant, slot: u32, io: &DeviceIo) {
        let layout = self.layout;
        for touched in layout.stripes(io) {
            for (chunk, from, to) in layout.parts(touched) {
                self.send(now, slot, Op::Read, layout.data(touched.stripe, chunk, from, to));
            }
        }
    }

    fn write(&mut self, now: Instant, slot: u32, io: &DeviceIo) {
        let layout = self.layout;
        for touched in layout.stripes(io) {
            self.write_stripe(now, slot, touched);
        }
        self.write_if_all_is_read(now, slot);
    }

    /// Reads what the new parity needs, and records what is to be written.
    fn write_stripe(&mut self, now: Instant, slot: u32, touched: Touched) {
        let layout = self.layout;
        let stripe = touched.stripe;
        let span = layout
            .parts(touched)
            .fold((u64::MAX, 0), |(least, most), (_, from, to)| (least.min(from), most.max(to)));
        let covers = |(_, from, to): (u64, u64, u64)| (from, to) == span;
        let whole = layout.parts(touched).filter(|part| covers(*part)).count() as u64;
        let parts = layout.parts(touched).count() as u64;
        // Reads either the old data and parity or all data that is not overwritten, whichever is
        // less.
        let (modify, rebuild) = (parts + 1, layout.data_chunks() - whole);
        if modify <= rebuild {
            for (chunk, from, to) in layout.parts(touched) {
                self.send(now, slot, Op::Read, layout.data(stripe, chunk, from, to));
            }
            self.send(now, slot, Op::Read, layout.parity(stripe, span.0, span.1));
        } else {
            let kept = (0..layout.data_chunks()).filter(|chunk| {
                !layout.parts(touched).any(|part| part.0 == *chunk && covers(part))
            });
            for chunk in kept {
                self.send(now, slot, Op::Read, layout.data(stripe, chunk, span.0, span.1));
            }
        }
        let data =
            layout.parts(touched).map(|(chunk, from, to)| layout.data(stripe, chunk, from, to));
        let request = self.request(slot);
        request.writes.extend(data);
        request.writes.push(layout.parity(stripe, span.0, span.1));
    }

    /// Starts the writes of a request whose reads are complete. Returns whether it did.
    fn write_if_all_is_read(&mut self, now: Instant, slot: u32) -> bool {
        if self.request(slot).left > 0 || self.request(slot).writes.is_empty() {
            return false;
        }
        let mut writes = std::mem::take(&mut self.request(slot).writes);
        for piece in writes.drain(..) {
            self.send(now, slot, Op::Write, piece);
        }
        self.request(slot).writes = writes;
        true
    }

    fn piece_done(&mut self, now: Instant, slot: u32, done: &mut Vec<Done>) {
        self.request(slot).left -= 1;
        if self.request(slot).left > 0 || self.write_if_all_is_read(now, slot) {
            return;
        }
        let io = self.request(slot).io.take().expect("pieces belong to requests");
        self.free.push(slot);
        done.push(Done { id: io.id, ok: true });
    }
}

impl Member {
    /// Submits waiting pieces while the disk accepts them.
    fn feed(&mut self, now: Instant) {
        while self.at_disk < self.disk.depth() {
            let Some(io) = self.waiting.pop_front() else { return };
            self.at_disk += 1;
            self.disk.submit(now, &io);
        }
    }
}

impl Device for Raid5 {
    fn depth(&self) -> u32 {
        self.requests.len() as u32
    }

    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn submit(&mut self, now: Instant, io: &DeviceIo) {
        let taken = self.requests.len() - self.free.len() + self.at_once.len();
        assert!(taken < self.requests.len(), "more requests than the depth");
        let fits = io.fits(self.capacity_sectors);
        if !fits || io.op == Op::Discard {
            self.at_once_due = now;
            self.at_once.push(Done { id: io.id, ok: fits });
            return;
        }
        let slot = self.free.pop().expect("counted above");
        self.request(slot).io = Some(*io);
        match io.op {
            Op::Read => self.read(now, slot, io),
            Op::Flush => {
                for disk in 0..self.members.len() as u32 {
                    self.send(now, slot, Op::Flush, Piece { disk, start: 0, sectors: 0 });
                }
            }
            _ => self.write(now, slot, io),
        }
    }

    fn next_event(&self) -> Option<Instant> {
        let at_once = (!self.at_once.is_empty()).then_some(self.at_once_due);
        self.members.iter().filter_map(|member| member.disk.next_event()).chain(at_once).min()
    }

    fn advance(&mut self, now: Instant, done: &mut Vec<Done>) {
        done.append(&mut self.at_once);
        while let Some(at) = self.next_event().filter(|at| *at <= now) {
            for index in 0..self.members.len() {
                let member = &mut self.members[index];
                if member.disk.next_event() != Some(at) {
                    continue;
                }
                let mut finished = std::mem::take(&mut self.finished);
                member.disk.advance(at, &mut finished);
                member.at_disk -= finished.len() as u32;
                member.feed(at);
                for piece in finished.drain(..) {
                    self.piece_done(at, piece.id.0, done);
                }
                self.finished = finished;
            }
        }
    }

    fn work(&self, group: GroupId) -> Span {
        let all: u64 = self.members.iter().map(|member| member.disk.work(group).as_ns()).sum();
        Span::from_ns(all / self.members.len() as u64)
    }
}
