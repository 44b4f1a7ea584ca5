//! What requests are taken to cost where no costs are told.

use fairdisk_core::{Cost, Span};

/// Relative costs for a device without a cost model. Source: on solid-state disks of any speed an
/// access costs about as much as the transfer of 16 KiB.
pub(super) const COSTS: Cost = Cost {
    sequential: Span::from_us(16),
    random: Span::from_us(16),
    byte_ps: 976,
    random_byte_ps: 976,
};

/// What a request of this size at a random place costs beside others.
pub(super) fn cost_of(bytes: u64) -> Span {
    COSTS.of(false, bytes)
}
