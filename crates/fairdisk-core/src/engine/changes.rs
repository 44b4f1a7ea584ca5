//! Changes under load: cancelling a bio, changing groups, tasks and the device, and changing the
//! elevator.

use super::bios::BioIndex;
use super::effects::{Effect, Effects};
use super::{Asked, Engine};
use crate::cost::CostModel;
use crate::dense;
use crate::elevator::{Admission, Change, Elevator};
use crate::journal::Record;
use crate::qos::Qos;
use crate::refusal::Refusal;
use crate::request::{BioId, GroupId};
use crate::share::Share;
use crate::time::Instant;
use crate::why::Why;
use alloc::boxed::Box;
use alloc::vec::Vec;

impl<E: Elevator> Engine<E> {
    #[inline(never)]
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
            let waited = self.now - self.bios.submitted(index).1;
            self.accounts.group_mut(bio.group).waited(bio.op.into(), waited);
            out.list.push(Effect::Cancelled(id));
            self.leave(index, out);
        }
    }

    /// Withdraws the queued request that carries only this bio, if there is one.
    fn withdraw_lone(&mut self, index: BioIndex, out: &mut Effects) -> bool {
        let id = self.bios.request_of(index);
        let Some(id) = id.filter(|id| self.requests.is_queued_for(*id, index)) else {
            return false;
        };
        let slot = self.requests.pool_slot(id);
        self.elevator.withdraw(self.now, id);
        self.merge.remove(id);
        self.disk.left(self.requests[id].arrived, self.now);
        self.requests.remove(id);
        self.note_departure();
        self.give_slot_back(slot, out);
        true
    }

    /// Applies a change, unless it is refused.
    #[inline(never)]
    pub(super) fn configure(&mut self, change: &Change, out: &mut Effects) {
        match self.can_be(change).and_then(|()| self.elevator.accepts(change)) {
            Ok(()) => self.change(self.now, change),
            Err(refusal) => out.change_refused = Some(refusal),
        }
    }

    /// Refuses changes of which an elevator and the next one could not make the same: settings of
    /// groups that do not exist, and groups nested in a circle.
    fn can_be(&self, change: &Change) -> Result<(), Refusal> {
        match *change {
            Change::GroupParent { group, parent: Some(parent) } => {
                self.exists(group)?;
                self.exists(parent)?;
                let is_circle = self.path(parent).any(|outer| outer == group);
                if is_circle { Err(Refusal::Circle { group }) } else { Ok(()) }
            }
            Change::GroupParent { group, parent: None }
            | Change::GroupShare { group, .. }
            | Change::GroupQos { group, .. }
            | Change::GroupIdle { group, .. } => self.exists(group),
            _ => Ok(()),
        }
    }

    fn exists(&self, group: GroupId) -> Result<(), Refusal> {
        self.asked(group).map(|_| ()).ok_or(Refusal::Unknown { group })
    }

    fn asked(&self, group: GroupId) -> Option<&Asked> {
        self.groups.get(group.0 as usize)?.as_ref()
    }

    /// The group and those around it.
    fn path(&self, group: GroupId) -> impl Iterator<Item = GroupId> {
        core::iter::successors(Some(group), |at| self.asked(*at)?.parent)
    }

    #[inline(never)]
    pub(super) fn change(&mut self, now: Instant, change: &Change) {
        let told = self.as_told(change);
        match told {
            Change::GroupAdded { group, share } => self.add_group(group, share),
            Change::GroupShare { group, share } => self.ask(group, |it| it.share = share),
            Change::GroupParent { group, parent } => self.ask(group, |it| it.parent = parent),
            Change::GroupQos { group, qos } => self.ask(group, |it| it.qos = qos),
            Change::GroupIdle { group, idle } => self.ask(group, |it| it.idle = idle),
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
                self.at_device.together = depth > 1;
                self.costs = self.costs.map(|costs| CostModel { depth, ..costs });
            }
            Change::Rotational { rotational } => self.rotational = rotational,
            Change::Costs(costs) => self.costs = Some(costs),
            Change::TaskMoved { .. } | Change::TaskPriority { .. } | Change::TaskExited { .. } => {}
        }
        self.elevator.configure(now, &told);
        self.log(Record::Configured(*change));
    }

    /// The change as the elevator is told of it. Once the depth has been told by itself, a cost
    /// model has the same: whichever of both came last, there is one depth, before and after a
    /// change of the elevator.
    fn as_told(&self, change: &Change) -> Change {
        match *change {
            Change::Costs(costs) if self.depth_told => {
                Change::Costs(CostModel { depth: self.config.depth, ..costs })
            }
            change => change,
        }
    }

    fn add_group(&mut self, group: GroupId, share: Share) {
        match dense::entry(&mut self.groups, group.0, || None) {
            Some(asked) => asked.share = share,
            none => {
                *none = Some(Asked::new(share));
                self.accounts.begin(group);
            }
        }
    }

    fn ask(&mut self, group: GroupId, set: impl FnOnce(&mut Asked)) {
        if let Some(Some(asked)) = self.groups.get_mut(group.0 as usize) {
            set(asked);
        }
    }

    #[expect(clippy::boxed_local, reason = "every call of the engine would have room for one")]
    #[inline(never)]
    pub(super) fn switch(&mut self, new: Box<E>, out: &mut Effects) {
        let mut new = *new;
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
        let description = self.elevator.describe();
        self.handover = description.handover;
        self.requests.new_elevator();
        self.log(Record::Switched(description.name));
        self.tell_device();
        self.tell_groups();
        for &id in &carried {
            self.requests.carry_over(id);
            let request = self.requests[id];
            if let Admission::Displaces(older) = self.elevator.admit(self.now, &request) {
                self.hand_over(older, Why::Displaced);
            }
        }
        for id in carried {
            self.tell_awaited_from(self.requests.first_bio(id));
        }
        self.last_wait = None;
    }

    /// Tells a new elevator about the device.
    fn tell_device(&mut self) {
        let depth = self.depth_told.then_some(Change::Depth { depth: self.config.depth });
        let rotational = (!self.rotational).then_some(Change::Rotational { rotational: false });
        let costs = self.costs.map(Change::Costs);
        for change in [depth, rotational, costs].into_iter().flatten() {
            self.elevator.configure(self.now, &change);
        }
    }

    /// Tells a new elevator about the groups: first all of them with their shares, then how they
    /// are nested and their other settings.
    fn tell_groups(&mut self) {
        let known = || (0u32..).map(GroupId).zip(&self.groups);
        for (group, asked) in known() {
            if let Some(Asked { share, .. }) = *asked {
                self.elevator.configure(self.now, &Change::GroupAdded { group, share });
            }
        }
        for (group, asked) in known() {
            let Some(Asked { parent, qos, idle, .. }) = *asked else { continue };
            let parent = parent.map(|parent| Change::GroupParent { group, parent: Some(parent) });
            let qos = (qos != Qos::NONE).then_some(Change::GroupQos { group, qos });
            let idle = idle.map(|idle| Change::GroupIdle { group, idle: Some(idle) });
            for change in [parent, qos, idle].into_iter().flatten() {
                self.elevator.configure(self.now, &change);
            }
        }
    }
}
