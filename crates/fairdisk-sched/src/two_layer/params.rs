//! What a revision of two-layer CFQ is made of.

use super::TwoLayerCfq;
use crate::cfq::CfqParams;
use crate::family::Family;
use crate::honours::Honours;
use crate::registry::Scheduler;
use fairdisk_core::{Span, WeightMap};

/// What `wait_max` is if nothing else is said.
pub const WAIT_MAX: Span = Span::from_s(5);

/// The tunables and defects, as the catalogue sets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoLayerParams {
    /// The CFQ inside each group. All groups share these tunables.
    pub cfq: CfqParams,
    /// The slice of a group of weight 100 (priority 4); others in proportion.
    pub group_slice_ms: u32,
    /// What a group priority is worth.
    pub weight_map: WeightMap,
    /// A group with a single task, which will be back soon, keeps the disk for `slice_idle` after
    /// that task's own slice has ended.
    pub group_idle: bool,
    /// The turn inside a group goes on where it was when the group is back, and is not cut short
    /// at all while no other group wants the disk: levels count inside a group whatever its slice.
    /// Off, it ends with the group's, as in the original.
    pub inner_turn_resumes: bool,
    /// D1: a group keeps its record of a scheduler instance that is gone.
    pub d1_stale_group_records: bool,
    /// D3: nothing bounds how long a request may wait.
    pub d3_unbounded_wait: bool,
    /// Without D3 a request that has waited this long goes first.
    pub wait_max: Span,
    /// D4: a turn counts as one turn, however long it was. Off: device time divided by weight is
    /// charged, the group that has had least goes next, and a turn is the longer for what is owed.
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

    fn honours(&self) -> Honours {
        Honours { shares: true, priorities: true, idle: true, ..Honours::NONE }
    }

    fn build(&self) -> Scheduler {
        Scheduler::TwoLayerCfq(TwoLayerCfq::new(self))
    }
}
