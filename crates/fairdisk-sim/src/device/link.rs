//! A transport that several disks share, such as a Fibre Channel link.
//!
//! Data of one request after another goes through it, in both directions at once. Commands and
//! answers take no time on it. A disk goes on with its next request while data of the last one
//! waits for the transport: the limit of its buffer is not modelled.

use super::lane::Lane;
use super::rate::Rate;
use super::{DeviceIo, Done};
use fairdisk_core::{Instant, Op, SECTOR_BYTES, Span};

/// A transport and what is on its way through it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    rate: Rate,
    to_disks: Lane<DeviceIo>,
    to_host: Lane<Done>,
    /// For each disk and request, the bytes that it reads.
    reads: Vec<Vec<u64>>,
}

impl Link {
    /// An idle link to this many disks, with the rate of each direction.
    pub(super) fn new(mb_per_s: u32, disks: usize) -> Self {
        let reads = vec![Vec::new(); disks];
        Self {
            rate: Rate::from_mb_per_s(mb_per_s),
            to_disks: Lane::new(),
            to_host: Lane::new(),
            reads,
        }
    }

    fn takes(&self, bytes: u64) -> Span {
        Span::from_ns(self.rate.ns(bytes))
    }

    /// Takes a request for a disk, unless it has no data and so is there at once. Returns whether
    /// it is there.
    pub(super) fn send(&mut self, now: Instant, disk: u32, io: &DeviceIo) -> bool {
        let bytes = u64::from(io.sectors.0) * SECTOR_BYTES;
        let (reads, id) = (&mut self.reads[disk as usize], io.id.0 as usize);
        if reads.len() <= id {
            reads.resize(id + 1, 0);
        }
        reads[id] = if io.op == Op::Read { bytes } else { 0 };
        let is_there = io.op != Op::Write;
        if !is_there {
            let takes = self.takes(bytes);
            self.to_disks.send(now, takes, disk, *io);
        }
        is_there
    }

    /// Takes what a disk is done with, unless no data comes with it. Returns whether the host has
    /// it.
    pub(super) fn answer(&mut self, now: Instant, disk: u32, done: Done) -> bool {
        let bytes = self.reads[disk as usize][done.id.0 as usize];
        let is_there = bytes == 0 || !done.ok;
        if !is_there {
            let takes = self.takes(bytes);
            self.to_host.send(now, takes, disk, done);
        }
        is_there
    }

    pub(super) fn next_event(&self) -> Option<Instant> {
        let next = [self.to_disks.next_event(), self.to_host.next_event()];
        next.into_iter().flatten().min()
    }

    /// The next request that has arrived at its disk.
    pub(super) fn at_disk(&mut self, now: Instant) -> Option<(u32, DeviceIo)> {
        self.to_disks.arrived(now)
    }

    /// The next request whose data has arrived at the host.
    pub(super) fn at_host(&mut self, now: Instant) -> Option<(u32, Done)> {
        self.to_host.arrived(now)
    }
}
