//! What a revision of group-cfq is made of.

use super::GroupCfq;
use crate::cfq::CfqParams;
use crate::cfq::jiffies::Jiffies;
use crate::family::Family;
use crate::honours::Honours;
use crate::registry::Scheduler;
use fairdisk_core::{Share, Span, WeightMap};

/// What `wait_max` is if nothing else is said.
pub const WAIT_MAX: Span = Span::from_s(5);

/// The tunables, and what makes the effect of a priority weak (spec: groups, section 2.4) as
/// switches. `true` is the historical behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupCfqParams {
    /// The CFQ inside each group. All groups share these tunables.
    pub cfq: CfqParams,
    /// `cgrp_slice`: the slice of a group of priority 0.
    pub group_slice_ms: u32,
    /// What a group priority is worth. `openvz`: 1 + p / 7 slices, 7 is high.
    pub weight_map: WeightMap,
    /// Reads are of the group that asks; else all are of the root group.
    pub reads_of_group: bool,
    /// The same for everything that is not a read.
    pub writes_of_group: bool,
    /// A group with nothing queued and nothing at the device loses its turn at once, and what is
    /// left of its slice. Off: the disk is kept for `slice_idle` for a task that will be back soon.
    pub turn_ends_when_empty: bool,
    /// Busy queues of all groups count: a queue that becomes busy is placed the further back, the
    /// more there are, and one that is not alone has no more than a quantum at the device. Off:
    /// those of its own group count.
    pub device_wide_busy_count: bool,
    /// A request may end the turn of another group's queue, although its own is not next then.
    pub foreign_preemption: bool,
    /// D3: nothing bounds how long a request may wait.
    pub d3_unbounded_wait: bool,
    /// Without D3 a request that has waited this long goes first.
    pub wait_max: Span,
}

impl Default for GroupCfqParams {
    fn default() -> Self {
        Self {
            cfq: CfqParams::default(),
            group_slice_ms: 500,
            weight_map: WeightMap::OpenVz,
            reads_of_group: true,
            writes_of_group: true,
            turn_ends_when_empty: true,
            device_wide_busy_count: true,
            foreign_preemption: true,
            d3_unbounded_wait: true,
            wait_max: WAIT_MAX,
        }
    }
}

impl Family for GroupCfqParams {
    const NAME: &'static str = "group-cfq";

    fn honours(&self) -> Honours {
        Honours { shares: true, priorities: true, ..Honours::NONE }
    }

    fn build(&self) -> Scheduler {
        Scheduler::GroupCfq(GroupCfq::new(self))
    }
}

impl GroupCfqParams {
    /// The slice of a group that asks for `share`: that of priority 0 in whole ticks, one at least,
    /// and then what the share is worth of it. The original knew priorities only; a weight is in
    /// proportion to the default share, 100 is its slice.
    pub(super) fn slice(&self, share: Share) -> Jiffies {
        let base = (u64::from(self.group_slice_ms) * u64::from(self.cfq.hz) / 1000).max(1);
        let worth = |share: Share| u64::from(share.weight(self.weight_map).get());
        let of_priority = |share| base * worth(share) / worth(Share::Priority(0));
        let jiffies = match share {
            Share::Priority(_) => of_priority(share),
            Share::Weight(weight) => of_priority(Share::DEFAULT) * u64::from(weight.get()) / 100,
        };
        (jiffies as Jiffies).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Weight;

    /// Spec: groups, section 2.2: base x (1 + p / 7), so 7/4/0 have 43.8/34.4/21.9 %.
    #[test]
    fn golden_slices() {
        let openvz = GroupCfqParams::default();
        let slices = [0, 1, 4, 7].map(|priority| openvz.slice(Share::Priority(priority)));
        assert_eq!(slices, [500, 571, 785, 1000]);
        let linear = GroupCfqParams { weight_map: WeightMap::LinearHigh7, ..openvz };
        let slices = [0, 4, 7].map(|priority| linear.slice(Share::Priority(priority)));
        assert_eq!(slices, [500, 2500, 4000]);
    }

    #[test]
    fn what_a_priority_is_worth_is_reckoned_in_ticks() {
        let cfq = CfqParams { hz: 250, ..CfqParams::default() };
        let slices = |group_slice_ms, weight_map| {
            let params = GroupCfqParams { cfq, group_slice_ms, weight_map, ..Default::default() };
            [0, 4, 7].map(|priority| params.slice(Share::Priority(priority)))
        };
        assert_eq!(slices(10, WeightMap::OpenVz), [2, 3, 4]);
        assert_eq!(slices(18, WeightMap::OpenVz), [4, 6, 8]);
        assert_eq!(slices(1, WeightMap::OpenVz), [1, 1, 2]);
        assert_eq!(slices(1, WeightMap::LinearHigh0), [1, 1, 1], "none has nothing");
    }

    #[test]
    fn a_weight_is_in_proportion_to_the_default_share() {
        let params = GroupCfqParams::default();
        let slices =
            [50, 100, 800].map(|weight| params.slice(Share::Weight(Weight::new(weight).unwrap())));
        assert_eq!(slices, [392, 785, 6280]);
        assert_eq!(slices[1], params.slice(Share::DEFAULT));
    }
}
