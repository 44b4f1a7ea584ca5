//! The outer layer: the line of groups that want the disk, and the group that has it (spec: groups,
//! sections 1.3, 1.4).

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
    /// Weighted device time charged, in ns × 100 / weight.
    charged: VirtualTime,
}

/// The group that has the disk, and the order of the others.
#[derive(Debug)]
pub(super) struct Line {
    params: TwoLayerParams,
    groups: Vec<Group>,
    order: Order<VirtualTime>,
    /// The key of the last group in line.
    end: VirtualTime,
    /// The highest charge of any group at the start of its turn; a group that was away is charged
    /// at least this much.
    reached: VirtualTime,
    /// The current turn. Its group is not in line.
    turn: LayerTurn,
    /// When the slice of this turn ends. Its clock starts at the first completion.
    slice_end: Jiffies,
    /// Whether this turn has been lengthened, which happens at most once.
    lengthened: bool,
}

/// The end of a slice whose clock has not started, also when no group has the disk.
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

    /// Ensures that the group exists.
    pub(super) fn make(&mut self, group: u32) {
        while self.groups.len() <= group as usize {
            let (slice, weight) = self.worth(Share::DEFAULT);
            self.groups.push(Group { slice, weight, charged: 0 });
        }
    }

    /// Sets the share of a group. A slice whose clock has started ends as planned.
    pub(super) fn set_share(&mut self, group: u32, share: Share) {
        let worth = self.worth(share);
        let entry = &mut self.groups[group as usize];
        (entry.slice, entry.weight) = worth;
    }

    /// Resets a removed group, so that a new group with its number owes nothing.
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

    /// Adds a group that was away to the line. It gets no credit for the time it was away.
    pub(super) fn join(&mut self, group: u32) {
        if group == self.turn.active || self.order.key(group).is_some() {
            return;
        }
        let charged = &mut self.groups[group as usize].charged;
        *charged = (*charged).max(self.reached);
        self.stand(group);
    }

    /// Puts a group back in line that still wants the disk after its turn.
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

    /// Removes a group that has nothing queued any more from the line.
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

    /// Why the turn began; returned once.
    pub(super) const fn tell_turn(&mut self) -> Option<Why> {
        self.turn.tell()
    }

    /// Whether the active group has used up its slice.
    pub(super) const fn slice_used(&self, now: Jiffies) -> bool {
        now >= self.slice_end
    }

    /// Takes the disk from the active group and returns that group.
    pub(super) const fn end_turn(&mut self, why: Why) -> u32 {
        self.slice_end = OPEN;
        self.turn.end(why)
    }

    /// Gives the active group another turn at once, since no other group wants the disk.
    pub(super) fn renew_turn(&mut self) {
        self.enter_turn(self.turn.active);
    }

    /// Begins a turn of the group. Groups that arrive later are not owed service from before it.
    fn enter_turn(&mut self, group: u32) {
        self.slice_end = OPEN;
        self.lengthened = false;
        self.reached = self.reached.max(self.groups[group as usize].charged);
    }

    /// Extends the used-up slice of the active group by what it is owed, if the first group in line
    /// has had more than its part because a batch of requests outlasted its slice. Happens once per
    /// turn, even if the group has nothing queued at this moment: without it the group would leave
    /// the line and lose what it is owed.
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

    /// Gives the disk to the first group in line. Returns `false` if there is none.
    pub(super) fn begin_next_turn(&mut self) -> bool {
        let Some(group) = self.first() else { return false };
        self.leave(group);
        self.enter_turn(group);
        self.turn.begin(group);
        true
    }

    /// Charges a completed request to `group`.
    pub(super) fn completed(&mut self, now: Jiffies, group: u32, device_time: Span) {
        let entry = &mut self.groups[group as usize];
        // No request takes years, so a 64-bit division suffices.
        entry.charged += u128::from(device_time.as_ns().saturating_mul(100) / entry.weight);
        if group == self.turn.active && self.slice_end == OPEN {
            self.slice_end = now + entry.slice;
        }
    }
}
