//! The settings of two-layer CFQ.

use super::TwoLayerCfq;
use crate::cfq::CfqParams;
use crate::family::Family;
use crate::honours::Honours;
use fairdisk_core::{Span, WeightMap};

/// The default of `wait_max`.
pub const WAIT_MAX: Span = Span::from_s(5);

/// The tunables and defects, as set in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoLayerParams {
    /// The tunables of the CFQ inside each group, shared by all groups.
    pub cfq: CfqParams,
    /// The slice of a group of weight 100 (priority 4), in ms; others are in proportion to weight.
    pub group_slice_ms: u32,
    /// How group priorities are converted to weights.
    pub weight_map: WeightMap,
    /// Whether a group whose only task is expected back soon keeps the disk for `slice_idle` after
    /// that task's own slice has ended.
    pub group_idle: bool,
    /// Whether the turn of a queue resumes when its group gets the disk back, and is not cut short
    /// while no other group wants the disk, so that priority levels count inside a group whatever
    /// its slice. Off, the queue's turn ends with the group's, as in the original.
    pub inner_turn_resumes: bool,
    /// D1: a group keeps its record of a scheduler instance that is gone.
    pub d1_stale_group_records: bool,
    /// D3: nothing bounds how long a request may wait.
    pub d3_unbounded_wait: bool,
    /// Without D3, a request that has waited this long goes first.
    pub wait_max: Span,
    /// D4: every turn counts as one turn, however long it was. Off, groups are charged device time
    /// divided by weight, the group with the lowest charge goes next, and turns are extended by
    /// what the group is owed.
    pub d4_nominal_turns: bool,
}

impl Default for TwoLayerParams {
    fn default() -> Self {
        Self {
            cfq: CfqParams::default(),
            group_slice_ms: 80,
            weight_map: WeightMap::LinearHigh0,
            group_idle: true,
            inner_turn_resumes: false,
            d1_stale_group_records: true,
            d3_unbounded_wait: true,
            wait_max: WAIT_MAX,
            d4_nominal_turns: true,
        }
    }
}

impl Family for TwoLayerParams {
    const NAME: &'static str = "two-layer-cfq";
    type Scheduler = TwoLayerCfq;

    fn honours(&self) -> Honours {
        Honours { shares: true, priorities: true, idle: true, ..Honours::NONE }
    }

    fn build(&self) -> TwoLayerCfq {
        TwoLayerCfq::new(self)
    }
}
