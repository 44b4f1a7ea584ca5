//! The outer layer: the groups that want the disk, in line, and the one that has it
//! (spec: groups, sections 1.3, 1.4).

use super::TwoLayerParams;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::layer_turn::LayerTurn;
use crate::groups::{Order, VirtualTime};
use alloc::vec::Vec;
use fairdisk_core::{Share, Span, Why};

#[derive(Clone, Debug)]
struct Group {
    slice: Jiffies,
    weight: u64,
    /// Weighted device time charged, in ns x 100 / weight.
    charged: VirtualTime,
}

/// Who has the disk and who is next.
#[derive(Debug)]
pub(super) struct Line {
    params: TwoLayerParams,
    groups: Vec<Group>,
    order: Order<VirtualTime>,
    /// The number of the last in line.
    end: VirtualTime,
    /// The most any group had been charged when its turn began: what a group that was away must
    /// have been charged at least.
    reached: VirtualTime,
    /// Whose turn it is; that group is not in line.
    turn: LayerTurn,
    /// When the slice of this turn ends. Its clock starts with the first completion.
    slice_end: Jiffies,
    /// This turn has been made longer once.
    lengthened: bool,
}

/// The end of a slice whose clock has not started, and of nobody's.
const OPEN: Jiffies = Jiffies::MAX;

impl Line {
    pub(super) const fn new(params: TwoLayerParams) -> Self {
        Self {
            params,
            groups: Vec::new(),
            order: Order::new(),
            end: 0,
            reached: 0,
            turn: LayerTurn::NOBODYS,
            slice_end: OPEN,
            lengthened: false,
        }
    }

    /// Makes sure that the group exists.
    pub(super) fn make(&mut self, group: u32) {
        while self.groups.len() <= group as usize {
            let (slice, weight) = self.worth(Share::DEFAULT);
            self.groups.push(Group { slice, weight, charged: 0 });
        }
    }

    /// Gives the group its share. A turn whose clock runs already ends as it was to end.
    pub(super) fn set_share(&mut self, group: u32, share: Share) {
        let worth = self.worth(share);
        let entry = &mut self.groups[group as usize];
        (entry.slice, entry.weight) = worth;
    }

    /// The group is gone; another that gets its number owes nothing.
    pub(super) fn forget(&mut self, group: u32) {
        self.set_share(group, Share::DEFAULT);
        self.groups[group as usize].charged = 0;
    }

    /// Slice and weight for a share.
    fn worth(&self, share: Share) -> (Jiffies, u64) {
        let weight = |share: Share| u64::from(share.weight(self.params.weight_map).get());
        let base = u64::from(self.params.group_slice_ms) * u64::from(self.params.cfq.hz);
        let slice = base * weight(share) / weight(Share::DEFAULT) / 1000;
        ((slice as Jiffies).max(1), weight(share))
    }

    /// A group that was away wants the disk. It gets no credit for the time it did not ask.
    pub(super) fn join(&mut self, group: u32) {
        if group == self.turn.active || self.order.key(group).is_some() {
            return;
        }
        let charged = &mut self.groups[group as usize].charged;
        *charged = (*charged).max(self.reached);
        self.stand(group);
    }

    /// A group whose turn has ended still wants the disk.
    pub(super) fn rejoin(&mut self, group: u32) {
        self.stand(group);
    }

    fn stand(&mut self, group: u32) {
        let key = if self.params.d4_nominal_turns {
            self.end += 1;
            self.end
        } else {
            self.groups[group as usize].charged
        };
        self.order.place(group, Some(key));
    }

    /// A group that has nothing queued any more leaves the line.
    pub(super) fn leave(&mut self, group: u32) {
        self.order.place(group, None);
    }

    pub(super) fn first(&self) -> Option<u32> {
        self.order.first().map(|(group, _)| group)
    }

    /// The group that has the disk, or `NIL`.
    pub(super) const fn active(&self) -> u32 {
        self.turn.active
    }

    /// Why the turn began, told once.
    pub(super) const fn tell_turn(&mut self) -> Option<Why> {
        self.turn.tell()
    }

    /// The active group has used its slice up.
    pub(super) const fn slice_used(&self, now: Jiffies) -> bool {
        now >= self.slice_end
    }

    /// The active group, which is returned, loses the disk.
    pub(super) const fn end_turn(&mut self, why: Why) -> u32 {
        self.slice_end = OPEN;
        self.turn.end(why)
    }

    /// Nobody else wants the disk: the active group has another turn at once.
    pub(super) fn renew_turn(&mut self) {
        self.enter_turn(self.turn.active);
    }

    /// A turn of the group begins. Whoever comes later is not owed what it has had before.
    fn enter_turn(&mut self, group: u32) {
        self.slice_end = OPEN;
        self.lengthened = false;
        self.reached = self.reached.max(self.groups[group as usize].charged);
    }

    /// The active group has used its slice up, but the first in line has had more than its part:
    /// requests handed over together outlast a slice. The turn goes on for what is owed, once, also
    /// if the group has nothing queued at this moment; it would not be in line then, and lose it.
    pub(super) fn lengthen(&mut self, now: Jiffies) -> bool {
        let Some(first) = self.first().filter(|_| !self.params.d4_nominal_turns) else {
            return false;
        };
        let ahead = self.groups[first as usize].charged;
        let entry = &self.groups[self.turn.active as usize];
        let owed_ns = ahead.saturating_sub(entry.charged) * u128::from(entry.weight) / 100;
        let owed = (owed_ns / 1000 * u128::from(self.params.cfq.hz) / 1_000_000) as Jiffies;
        if self.lengthened || owed == 0 {
            return false;
        }
        self.lengthened = true;
        self.slice_end = now + owed;
        true
    }

    /// The first in line gets the disk.
    pub(super) fn begin_next_turn(&mut self) -> bool {
        let Some(group) = self.first() else { return false };
        self.leave(group);
        self.enter_turn(group);
        self.turn.begin(group);
        true
    }

    /// A request of `group` is done.
    pub(super) fn completed(&mut self, now: Jiffies, group: u32, device_time: Span) {
        let entry = &mut self.groups[group as usize];
        // One request takes no years, so that this is no division of 128 bits.
        entry.charged += u128::from(device_time.as_ns().saturating_mul(100) / entry.weight);
        if group == self.turn.active && self.slice_end == OPEN {
            self.slice_end = now + entry.slice;
        }
    }
}
