//! The tunables and switches of group-cfq.

use super::GroupCfq;
use crate::cfq::CfqParams;
use crate::cfq::jiffies::Jiffies;
use crate::family::Family;
use crate::honours::Honours;
use fairdisk_core::{Share, Span, WeightMap};

/// The default of `wait_max`. Ten slices of a group of priority 0.
pub const WAIT_MAX: Span = Span::from_s(5);

/// The tunables of group-cfq, and switches for what makes the effect of a priority weak (spec:
/// groups, section 2.4). For a switch, `true` is the historical behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupCfqParams {
    /// The tunables of the CFQ inside each group, the same for all groups.
    pub cfq: CfqParams,
    /// `cgrp_slice`: the slice of a group of priority 0, in ms.
    pub group_slice_ms: u32,
    /// How a group priority becomes a slice. `openvz` is 1 + p / 7 slices, with 7 the highest
    /// priority.
    pub weight_map: WeightMap,
    /// Whether a read is accounted to the group that issues it; otherwise to the root group.
    pub reads_of_group: bool,
    /// Whether a request that is no read is accounted to the group that issues it; otherwise to the
    /// root group.
    pub writes_of_group: bool,
    /// Whether a group with nothing queued and nothing at the device loses its turn and the rest of
    /// its slice at once. Otherwise the disk is kept free for `slice_idle` for a task that will be
    /// back soon.
    pub turn_ends_when_empty: bool,
    /// Whether CFQ counts the busy queues of all groups rather than of one. With more of them, a
    /// queue that becomes busy is placed further back, and a queue that is not the only one has at
    /// most a quantum at the device.
    pub device_wide_busy_count: bool,
    /// Whether a request may end the slice of a queue in another group, although its own queue is
    /// not next then.
    pub foreign_preemption: bool,
    /// D3: whether the wait of a request is unbounded.
    pub d3_unbounded_wait: bool,
    /// The age after which a request goes first, without D3.
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
    type Scheduler = GroupCfq;

    fn honours(&self) -> Honours {
        Honours { shares: true, priorities: true, ..Honours::NONE }
    }

    fn build(&self) -> GroupCfq {
        GroupCfq::new(self)
    }
}

impl GroupCfqParams {
    /// The slice of a group with this share, in ticks: that of priority 0 in whole ticks, at least
    /// one, times the worth of the share. A weight, which the original does not have, is in
    /// proportion to the default share: 100 has its slice.
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

    /// Spec: groups, section 2.2: base x (1 + p / 7), so priorities 7, 4 and 0 get 43.8, 34.4 and
    /// 21.9 % beside each other.
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
