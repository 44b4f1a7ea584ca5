//! The groups that want the disk, one turn each, and the one that has it
//! (spec: groups, section 2.2).

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

/// Who has the disk and who is next: plain round robin. Nothing is charged; what is left of a slice
/// is lost, and what is overrun is free.
#[derive(Debug)]
pub(super) struct Rota {
    params: GroupCfqParams,
    groups: Vec<Group>,
    /// The groups with a busy queue, but for the active one, by when they were put there.
    waiting: List,
    places: Lists<u64>,
    /// The place of the last one that waits.
    end: u64,
    /// Whose turn it is.
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

    /// Makes sure that the group exists.
    pub(super) fn make(&mut self, group: u32) {
        let slice = self.params.slice(Share::DEFAULT);
        dense::entry(&mut self.groups, group, || Group { slice, waits: false });
    }

    /// Gives the group its share. A turn that has begun ends as it was to end.
    pub(super) fn set_share(&mut self, group: u32, share: Share) {
        self.groups[group as usize].slice = self.params.slice(share);
    }

    /// The group wants the disk. One that was away goes to the end.
    pub(super) fn join(&mut self, group: u32) {
        let entry = &mut self.groups[group as usize];
        if group == self.turn.active || entry.waits {
            return;
        }
        entry.waits = true;
        self.end += 1;
        self.places.insert(&mut self.waiting, group, self.end);
    }

    /// The group has nothing queued any more.
    pub(super) fn leave(&mut self, group: u32) {
        if core::mem::take(&mut self.groups[group as usize].waits) {
            self.places.remove(&mut self.waiting, group);
        }
    }

    pub(super) const fn first(&self) -> Option<u32> {
        self.waiting.first()
    }

    /// The active group has used its slice up.
    pub(super) const fn slice_used(&self, now: Jiffies) -> bool {
        self.turn.active != NIL && now >= self.slice_end
    }

    /// The first of those that wait gets the disk, and its clock starts.
    pub(super) fn begin_next_turn(&mut self, now: Jiffies) -> bool {
        let Some(group) = self.first() else { return false };
        self.leave(group);
        self.slice_end = now + self.groups[group as usize].slice;
        self.turn.begin(group);
        true
    }
}
