//! A device that takes no time. A run with it shows the cost of everything around the device.

use super::spec::{CAPACITY_MAX, SpecError, within};
use super::{Check, Checked, Device, DeviceIo, Done};
use fairdisk_core::GroupId;
use fairdisk_core::time::{Instant, Span};

/// Parameters of a [`Null`] device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NullParams {
    /// The device's size in 512-byte sectors.
    pub capacity_sectors: u64,
    /// The number of requests the device accepts at once.
    pub depth: u32,
}

/// [`NullParams`] that have been checked.
pub type NullSpec = Checked<NullParams>;

impl Check for NullParams {
    fn check(&self) -> Result<(), SpecError> {
        within("capacity_sectors", self.capacity_sectors, 1, CAPACITY_MAX)?;
        within("depth", self.depth, 1, 65_536)
    }
}

/// A device that completes every request at the instant of its submission.
#[derive(Clone, Debug)]
pub struct Null {
    capacity_sectors: u64,
    depth: u32,
    due: Instant,
    pending: Vec<Done>,
}

impl Null {
    /// An idle device.
    #[must_use]
    pub fn new(spec: &NullSpec) -> Self {
        let NullParams { capacity_sectors, depth } = *spec.params();
        Self { capacity_sectors, depth, due: Instant::ZERO, pending: Vec::new() }
    }
}

impl Device for Null {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn submit(&mut self, now: Instant, io: &DeviceIo) {
        assert!(self.pending.len() < self.depth as usize, "more requests than the depth");
        self.due = now;
        self.pending.push(Done { id: io.id, ok: io.fits(self.capacity_sectors) });
    }

    fn next_event(&self) -> Option<Instant> {
        (!self.pending.is_empty()).then_some(self.due)
    }

    fn advance(&mut self, _now: Instant, done: &mut Vec<Done>) {
        done.append(&mut self.pending);
    }

    fn work(&self, _group: GroupId) -> Span {
        Span::ZERO
    }
}
