//! The outer layer: the groups that want the disk, in line, and the one that has it
//! (spec: groups, sections 1.3, 1.4). It follows the rules that CFQ has for its queues: slices,
//! keys, residuals and the start of the clock are the same, one level up (spec: cfq, sections 2.4,
//! 2.5, 2.8, 2.9).

use super::TwoLayerParams;
use crate::cfq::jiffies::Jiffies;
use alloc::vec::Vec;
use fairdisk_core::tree::{Forest, Tree};
use fairdisk_core::{Share, Span, Why};

/// No group.
pub(super) const NIL: u32 = u32::MAX;

/// What a share comes to.
#[derive(Clone, Copy, Debug)]
struct Worth {
    slice: Jiffies,
    /// How far back the group goes in line for every other that wants the disk.
    offset: Jiffies,
    weight: u64,
}

#[derive(Clone, Debug)]
struct Group {
    worth: Worth,
    slice_end: Jiffies,
    /// No request of this turn has completed yet.
    slice_new: bool,
    /// This turn has been made longer once.
    lengthened: bool,
    /// What was left of the last slice when it timed out; negative as a rule, as it was overrun.
    residual: Jiffies,
    in_line: bool,
    /// Weighted device time charged, in ns x 100 / weight.
    charged: u64,
}

/// Who has the disk and who is next.
#[derive(Debug)]
pub(super) struct Line {
    params: TwoLayerParams,
    groups: Vec<Group>,
    order: Forest<u64>,
    tree: Tree,
    /// Groups in line.
    waiting: u32,
    /// The most any group had been charged when its turn began: what a group that was away must
    /// have been charged at least.
    reached: u64,
    /// The group that has the disk; it is not in line.
    pub(super) active: u32,
    turn_ended: Why,
    /// A turn has just begun, for this reason.
    new_turn: Option<Why>,
}

impl Line {
    pub(super) const fn new(params: TwoLayerParams) -> Self {
        Self {
            params,
            groups: Vec::new(),
            order: Forest::new(),
            tree: Tree::new(),
            waiting: 0,
            reached: 0,
            active: NIL,
            turn_ended: Why::GroupEmptied,
            new_turn: None,
        }
    }

    /// Makes sure that the group exists.
    pub(super) fn make(&mut self, group: u32) {
        while self.groups.len() <= group as usize {
            let worth = self.worth(Share::DEFAULT);
            self.groups.push(Group {
                worth,
                slice_end: 0,
                slice_new: false,
                lengthened: false,
                residual: 0,
                in_line: false,
                charged: 0,
            });
        }
    }

    /// Gives the group its share. A turn whose clock runs already ends as it was to end.
    pub(super) fn set_share(&mut self, group: u32, share: Share) {
        self.groups[group as usize].worth = self.worth(share);
    }

    /// The group is gone; another that gets its number owes nothing.
    pub(super) fn forget(&mut self, group: u32) {
        self.set_share(group, Share::DEFAULT);
        let entry = &mut self.groups[group as usize];
        (entry.charged, entry.residual) = (0, 0);
    }

    fn worth(&self, share: Share) -> Worth {
        let slice = self.slice(share);
        let offset = match share {
            Share::Priority(_) if self.params.group_key_offset => {
                (self.slice(Share::Priority(0)) - slice).max(0)
            }
            _ => 0,
        };
        Worth { slice, offset, weight: self.weight(share) }
    }

    fn slice(&self, share: Share) -> Jiffies {
        let base = u64::from(self.params.group_slice_ms) * u64::from(self.params.cfq.hz);
        let slice = base * self.weight(share) / self.weight(Share::DEFAULT) / 1000;
        (slice as Jiffies).max(1)
    }

    fn weight(&self, share: Share) -> u64 {
        u64::from(share.weight(self.params.weight_map).get())
    }

    /// A group that was away wants the disk, as the active one does if `active_busy`. It gets no
    /// credit for the time it did not ask.
    pub(super) fn join(&mut self, now: Jiffies, group: u32, active_busy: bool) {
        if group == self.active || self.groups[group as usize].in_line {
            return;
        }
        let charged = &mut self.groups[group as usize].charged;
        *charged = (*charged).max(self.reached);
        self.stand(now, group, self.waiting + u32::from(active_busy));
    }

    /// A group whose turn has ended still wants the disk.
    pub(super) fn rejoin(&mut self, now: Jiffies, group: u32) {
        self.stand(now, group, self.waiting);
    }

    /// Puts the group in line beside `others` that want the disk.
    fn stand(&mut self, now: Jiffies, group: u32, others: u32) {
        let entry = &mut self.groups[group as usize];
        let residual = core::mem::take(&mut entry.residual);
        let key = if self.params.d4_nominal_turns {
            let historical = self.params.cfq.quirks.q1_residual_sign;
            let residual = if historical { residual } else { -residual };
            (now + Jiffies::from(others) * entry.worth.offset + residual) as u64
        } else {
            entry.charged
        };
        entry.in_line = true;
        self.waiting += 1;
        self.order.insert(&mut self.tree, group, key);
    }

    /// A group that has nothing queued any more leaves the line.
    pub(super) fn leave(&mut self, group: u32) {
        if core::mem::take(&mut self.groups[group as usize].in_line) {
            self.order.remove(&mut self.tree, group);
            self.waiting -= 1;
        }
    }

    pub(super) fn first(&self) -> Option<u32> {
        self.order.first(&self.tree)
    }

    /// The active group has used its slice up. Its clock starts at its first completion.
    pub(super) fn slice_used(&self, now: Jiffies) -> bool {
        let Some(group) = self.groups.get(self.active as usize) else { return false };
        !group.slice_new && now >= group.slice_end
    }

    /// Nobody else wants the disk: the active group has another turn at once.
    pub(super) fn renew_turn(&mut self) {
        let entry = &mut self.groups[self.active as usize];
        entry.slice_new = true;
        entry.lengthened = false;
        entry.residual = 0;
    }

    /// The active group has used its slice up, but the first in line has had more than its part:
    /// requests handed over together outlast a slice. The turn goes on for what is owed, once, also
    /// if the group has nothing queued at this moment; it would not be in line then, and lose it.
    pub(super) fn lengthen(&mut self, now: Jiffies) -> bool {
        let Some(first) = self.first().filter(|_| !self.params.d4_nominal_turns) else {
            return false;
        };
        let ahead = self.groups[first as usize].charged;
        let entry = &mut self.groups[self.active as usize];
        let owed_ns = ahead.saturating_sub(entry.charged) * entry.worth.weight / 100;
        let owed = (owed_ns / 1000 * u64::from(self.params.cfq.hz) / 1_000_000) as Jiffies;
        if entry.lengthened || owed == 0 {
            return false;
        }
        entry.lengthened = true;
        entry.slice_end = now + owed;
        true
    }

    /// The first in line gets the disk.
    pub(super) fn begin_next_turn(&mut self) -> bool {
        let Some(group) = self.first() else { return false };
        self.leave(group);
        self.active = group;
        let entry = &mut self.groups[group as usize];
        entry.slice_new = true;
        entry.lengthened = false;
        self.reached = self.reached.max(entry.charged);
        self.new_turn = Some(self.turn_ended);
        true
    }

    /// The active group loses the disk.
    pub(super) const fn end_turn(&mut self, why: Why) -> u32 {
        self.turn_ended = why;
        core::mem::replace(&mut self.active, NIL)
    }

    /// Whether a request that is done ends the turn of the active group, its slice being used up.
    /// How far it was overrun counts when the group goes in line. Without D4 what is charged counts
    /// instead, and a turn ends when the next request is chosen.
    pub(super) fn time_out(&mut self, now: Jiffies) -> bool {
        let ends = self.params.d4_nominal_turns && self.slice_used(now);
        if ends {
            let entry = &mut self.groups[self.active as usize];
            entry.residual = entry.slice_end - now;
        }
        ends
    }

    /// Why the turn began, told once.
    pub(super) const fn tell_turn(&mut self) -> Option<Why> {
        self.new_turn.take()
    }

    /// A request of `group` is done.
    pub(super) fn completed(&mut self, now: Jiffies, group: u32, device_time: Span) {
        let entry = &mut self.groups[group as usize];
        entry.charged += device_time.as_ns() * 100 / entry.worth.weight;
        if group == self.active && entry.slice_new {
            entry.slice_new = false;
            entry.slice_end = now + entry.worth.slice;
        }
    }
}
