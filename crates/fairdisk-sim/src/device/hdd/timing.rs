//! The controller and the bus.

use super::spec::HddParams;
use crate::device::rate::Rate;

/// Times that do not depend on the mechanics.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// From the arrival of a command until it is understood.
    pub(super) command_overhead_ns: u64,
    bus_overhead_ns: u64,
    bus: Rate,
}

impl Timing {
    /// The times `params` describe.
    pub(super) fn new(params: &HddParams) -> Self {
        Self {
            command_overhead_ns: u64::from(params.command_overhead_us) * 1_000,
            bus_overhead_ns: u64::from(params.bus_overhead_us) * 1_000,
            bus: Rate::from_mb_per_s(params.bus_mb_per_s),
        }
    }

    /// When `bytes` that are all there at `from` have passed the bus.
    #[inline]
    pub(super) const fn transferred(&self, from: u64, bytes: u64) -> u64 {
        from + self.bus_overhead_ns + self.bus.ns(bytes)
    }

    /// When `bytes` have passed the bus that come off the medium until `end`, for a command
    /// understood at `from`: the slower of the two decides.
    #[inline]
    pub(super) fn streamed(&self, from: u64, bytes: u64, end: u64) -> u64 {
        (from + self.bus.ns(bytes)).max(end) + self.bus_overhead_ns
    }
}
