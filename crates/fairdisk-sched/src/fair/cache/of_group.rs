//! What is known of the reads and writes of one group.

use super::full::Writes;
use super::traces::Traces;
use crate::fair::mean::Mean;
use crate::fair::usual::Usual;

/// What is known of them.
#[derive(Clone, Debug, Default)]
pub(super) struct OfGroup {
    /// The time of its reads while the device does nothing else.
    pub(super) usual: Usual,
    /// The time of its reads if it has only been seen to read after writes of others: each counts
    /// with its stated time at most.
    pub(super) presumed: Mean<64>,
    /// What its writes take.
    pub(super) writes: Writes,
    /// Those of its writes that the device has acknowledged and not yet done.
    pub(super) traces: Traces,
}
