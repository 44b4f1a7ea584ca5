//! Changes under load: a bio is wanted back, groups and tasks change, another elevator takes over.

use super::bios::BioIndex;
use super::effects::{Effect, Effects};
use super::{Asked, Engine};
use crate::elevator::{Admission, Change, Elevator, Why};
use crate::journal::Record;
use crate::request::{BioId, GroupId};
use crate::time::Instant;
use alloc::vec::Vec;

impl<E: Elevator> Engine<E> {
    pub(super) fn cancel(&mut self, id: BioId, out: &mut Effects) {
        let Some(index) = self.bios.find(id) else { return };
        let bio = *self.bios.bio(index);
        let withdrawn = if self.bios.is_held(index) {
            self.bios.forget_held(index);
            true
        } else if self.pools.forget_sleeper(&bio, index) {
            true
        } else {
            self.withdraw_lone(index, out)
        };
        if withdrawn {
            self.log(Record::Cancelled(id));
            self.accounts.cancelled += 1;
            out.list.push(Effect::Cancelled(id));
            self.leave(index, out);
        }
    }

    /// Takes back a queued request that carries this bio alone.
    fn withdraw_lone(&mut self, index: BioIndex, out: &mut Effects) -> bool {
        let Some(id) = self.requests.queued_alone(index) else { return false };
        let request = self.requests[id];
        self.elevator.withdraw(self.now, id);
        self.merge.remove(id);
        self.requests.remove(id);
        self.give_slot_back(request.group, request.op, out);
        true
    }

    pub(super) fn change(&mut self, now: Instant, change: &Change) {
        match *change {
            Change::GroupAdded { group, share } | Change::GroupShare { group, share } => {
                let index = group.0 as usize;
                if index >= self.groups.len() {
                    self.groups.resize(index + 1, None);
                }
                let idle = self.groups[index].and_then(|asked| asked.idle);
                if self.groups[index].replace(Asked { share, idle }).is_none() {
                    self.accounts.begin(group);
                }
            }
            Change::GroupIdle { group, idle } => {
                if let Some(Some(asked)) = self.groups.get_mut(group.0 as usize) {
                    asked.idle = idle;
                }
            }
            Change::GroupRemoved { group } => {
                if let Some(entry) = self.groups.get_mut(group.0 as usize) {
                    *entry = None;
                }
                self.leftovers.forget(group);
            }
            Change::Depth { depth } => {
                assert!(depth > 0, "a device takes at least one request at a time");
                self.config.depth = depth;
                self.depth_told = true;
            }
            Change::Rotational { rotational } => self.rotational = rotational,
            Change::TaskMoved { .. } | Change::TaskPriority { .. } | Change::TaskExited { .. } => {}
        }
        self.elevator.configure(now, change);
        self.log(Record::Configured);
    }

    pub(super) fn switch(&mut self, mut new: E, out: &mut Effects) {
        if let Err(error) = new.attach(&self.leftovers) {
            out.switch_refused = Some(error);
            return;
        }
        let mut carried = Vec::new();
        while let Some(id) = self.elevator.drain(self.now) {
            carried.push(id);
        }
        carried.sort_by_key(|id| (self.requests[*id].arrived, *id));
        self.elevator.detach(&mut self.leftovers);
        self.elevator = new;
        self.handover = self.elevator.describe().handover;
        self.requests.new_elevator();
        self.log(Record::Switched);
        for (index, asked) in self.groups.iter().enumerate() {
            if let Some(Asked { share, idle }) = *asked {
                let group = GroupId(index as u32);
                self.elevator.configure(self.now, &Change::GroupAdded { group, share });
                if idle.is_some() {
                    self.elevator.configure(self.now, &Change::GroupIdle { group, idle });
                }
            }
        }
        if self.depth_told {
            let depth = self.config.depth;
            self.elevator.configure(self.now, &Change::Depth { depth });
        }
        if !self.rotational {
            self.elevator.configure(self.now, &Change::Rotational { rotational: false });
        }
        for id in carried {
            self.requests.carry_over(id);
            let request = self.requests[id];
            if let Admission::Displaces(older) = self.elevator.admit(self.now, &request) {
                self.hand_over(older, Why::Displaced);
            }
        }
        self.last_wait = None;
    }
}
