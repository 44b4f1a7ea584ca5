//! The groups that want the disk, one turn each, and the one that has it (spec: groups, section
//! 2.2).

use super::GroupCfqParams;
use crate::cfq::jiffies::Jiffies;
use crate::cfq::layer_turn::LayerTurn;
use crate::cfq::queue::NIL;
use alloc::vec::Vec;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{Share, dense};

#[derive(Clone, Debug)]
struct Group {
    slice: Jiffies,
    waits: bool,
}

/// A plain round robin of groups. Nothing is charged: the rest of a slice is lost, and overrunning
/// one is free.
#[derive(Debug)]
pub(super) struct Rota {
    params: GroupCfqParams,
    groups: Vec<Group>,
    /// The groups with a busy queue except the active one, in the order in which they joined.
    waiting: List,
    places: Lists<u64>,
    /// The place of the last group that joined.
    end: u64,
    /// The turn of the active group.
    pub(super) turn: LayerTurn,
    slice_end: Jiffies,
}

impl Rota {
    pub(super) const fn new(params: GroupCfqParams) -> Self {
        Self {
            params,
            groups: Vec::new(),
            waiting: List::new(),
            places: Lists::new(),
            end: 0,
            turn: LayerTurn::NOBODYS,
            slice_end: 0,
        }
    }

    /// Ensures that the group exists.
    pub(super) fn make(&mut self, group: u32) {
        let slice = self.params.slice(Share::DEFAULT);
        dense::entry(&mut self.groups, group, || Group { slice, waits: false });
    }

    /// Sets the group's share. A turn that has begun keeps its end.
    pub(super) fn set_share(&mut self, group: u32, share: Share) {
        self.groups[group as usize].slice = self.params.slice(share);
    }

    /// Adds a group that wants the disk to the end, unless it is active or already there.
    pub(super) fn join(&mut self, group: u32) {
        let entry = &mut self.groups[group as usize];
        if group == self.turn.active || entry.waits {
            return;
        }
        entry.waits = true;
        self.end += 1;
        self.places.insert(&mut self.waiting, group, self.end);
    }

    /// Removes a group that has nothing queued any more.
    pub(super) fn leave(&mut self, group: u32) {
        if core::mem::take(&mut self.groups[group as usize].waits) {
            self.places.remove(&mut self.waiting, group);
        }
    }

    pub(super) const fn first(&self) -> Option<u32> {
        self.waiting.first()
    }

    /// Whether the active group has used up its slice.
    pub(super) const fn slice_used(&self, now: Jiffies) -> bool {
        self.turn.active != NIL && now >= self.slice_end
    }

    /// Gives the disk to the first waiting group and starts its slice. Returns whether a group was
    /// waiting.
    pub(super) fn begin_next_turn(&mut self, now: Jiffies) -> bool {
        let Some(group) = self.first() else { return false };
        self.leave(group);
        self.slice_end = now + self.groups[group as usize].slice;
        self.turn.begin(group);
        true
    }
}
