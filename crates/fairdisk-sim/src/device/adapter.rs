//! What an adapter between host and disk takes for a command, before the disk gets it.
//!
//! Each disk has one. It takes a time for the command, for each segment of memory that the command
//! names, and for each page, one command after another; meanwhile the disk works on those it has
//! got. An adapter that cuts every segment at each page has a time for pages and none for segments:
//! to it, pages in a row are worth nothing.

use super::DeviceIo;
use super::lane::Lane;
use fairdisk_core::{Instant, SECTOR_BYTES, Span};

const PAGE_BYTES: u64 = 4096;

/// What a command costs an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdapterCost {
    /// Time for each command.
    pub command: Span,
    /// Time for each segment.
    pub segment: Span,
    /// Time for each page of 4 KiB.
    pub page: Span,
}

impl AdapterCost {
    /// An adapter that takes no time.
    pub const NONE: Self = Self { command: Span::ZERO, segment: Span::ZERO, page: Span::ZERO };

    /// The time for a command with so many segments.
    #[must_use]
    pub fn takes(&self, io: &DeviceIo, segments: u32) -> Span {
        let bytes = if io.op.moves_data() { u64::from(io.sectors.0) * SECTOR_BYTES } else { 0 };
        let each = self.segment.scaled(segments.into(), 1);
        self.command + each + self.page.scaled(bytes.div_ceil(PAGE_BYTES), 1)
    }
}

/// The adapters of disks, by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Adapters {
    cost: AdapterCost,
    ways: Vec<Lane<DeviceIo>>,
}

impl Adapters {
    /// Idle adapters of so many disks.
    pub(super) fn new(cost: AdapterCost, disks: usize) -> Self {
        Self { cost, ways: vec![Lane::new(); disks] }
    }

    /// Takes a command for a disk.
    pub(super) fn take(&mut self, now: Instant, disk: u32, io: &DeviceIo, segments: u32) {
        let takes = self.cost.takes(io, segments);
        self.ways[disk as usize].send(now, takes, disk, *io);
    }

    pub(super) fn next_event(&self) -> Option<Instant> {
        self.ways.iter().filter_map(Lane::next_event).min()
    }

    /// The next command that an adapter is done with.
    pub(super) fn through(&mut self, now: Instant) -> Option<(u32, DeviceIo)> {
        self.ways.iter_mut().find_map(|way| way.arrived(now))
    }
}
