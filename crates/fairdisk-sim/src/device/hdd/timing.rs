//! The times of the controller and the bus.

use super::spec::HddParams;
use crate::device::rate::Rate;

/// The times that do not depend on the mechanics.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// Time from the arrival of a command until the controller has processed it.
    pub(super) command_overhead_ns: u64,
    bus_overhead_ns: u64,
    bus: Rate,
}

impl Timing {
    /// The times described by `params`.
    pub(super) fn new(params: &HddParams) -> Self {
        Self {
            command_overhead_ns: u64::from(params.command_overhead_us) * 1_000,
            bus_overhead_ns: u64::from(params.bus_overhead_us) * 1_000,
            bus: Rate::from_mb_per_s(params.bus_mb_per_s),
        }
    }

    /// When `bytes` that are all available at `from` have passed the bus.
    #[inline]
    pub(super) const fn transferred(&self, from: u64, bytes: u64) -> u64 {
        from + self.bus_overhead_ns + self.bus.ns(bytes)
    }

    /// When `bytes` that come off the medium until `end` have passed the bus, for a command
    /// processed at `from`. The slower of the two decides.
    #[inline]
    pub(super) fn streamed(&self, from: u64, bytes: u64, end: u64) -> u64 {
        (from + self.bus.ns(bytes)).max(end) + self.bus_overhead_ns
    }
}
