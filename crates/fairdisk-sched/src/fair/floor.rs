//! Floors: the rate at which a group is served before all others, whenever it wants that much.
//!
//! As in mClock (Gulati, Merchant, Varman, 2010), the service a group has received pays for its
//! floor up to some instant. Once that has passed and the group has something queued, it is served
//! first.
//!
//! A floor can be admitted only as accurately as the costs of requests are known. So floors that
//! turn out to take more of the device than may be promised are not kept beyond that while others
//! wait.

mod paid;
mod room;

pub(super) use paid::PaidUntil;
pub(super) use room::Use;

use paid::{REST, There};

use super::answer::{After, Answer, FloorRoom};
use super::device::Device;
use super::hierarchy::FLOORS_PER_REST;
use super::requests::Rq;
use super::{Fair, NIL};
use crate::groups::{Amount, Nested, Order};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{GroupId, Instant, Qos, Rates, Refusal, Span, Why};

/// The device time per second that all floors together may take: all but `REST`.
const PROMISED_MOST: Span = Span::from_ms(REST.as_ms() * FLOORS_PER_REST);
/// Size in bytes of the requests for which a floor in bytes is admitted: the default read-ahead of
/// Linux.
const LARGE_BYTES: u64 = 128 << 10;
/// Size in bytes of the requests for which a floor in I/Os is admitted: one page.
const SMALL_BYTES: u64 = 4 << 10;
/// The groups with floors, by when each is due.
#[derive(Debug)]
pub(super) struct Floors {
    due: Order<Instant>,
    /// All groups with a floor.
    all: List,
    in_all: Lists<()>,
    /// Floors that wait for a ceiling, each in the list of the group at that ceiling.
    barred: Lists<()>,
    /// The device time that is owed to service by share. Floors are suspended once it exceeds
    /// `REST`.
    owed: Span,
    /// Groups that may need room at a device that serves several requests at once, by an instant at
    /// or before the one by which the device has to have done what is there.
    room: Order<Instant>,
    ease: room::Ease,
    pub(super) room_needed: FloorRoom,
}

impl Floors {
    pub(super) const fn new() -> Self {
        Self {
            due: Order::new(),
            all: List::new(),
            in_all: Lists::new(),
            barred: Lists::new(),
            owed: Span::ZERO,
            room: Order::new(),
            ease: room::Ease::new(),
            room_needed: FloorRoom::NONE,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.all.first().is_none()
    }

    /// The group whose floor is due first, and when, unless service by share is owed first.
    fn first_due(&self) -> Option<(u32, Instant)> {
        if self.owed > REST { None } else { self.due.first() }
    }

    /// All groups with a floor.
    fn all(&self) -> impl Iterator<Item = u32> {
        core::iter::successors(self.all.last(), |at| self.in_all.previous(*at))
    }

    /// Accounts for the device time of a request, served for a floor or by share.
    #[inline]
    pub(super) fn took(&mut self, rq: &Rq, time: Span) {
        if rq.dispatched.for_floor {
            self.owed += time / FLOORS_PER_REST;
        } else {
            self.owed = self.owed - time;
        }
    }
}

impl Fair {
    /// Applies a new floor of the group, or none, in place of the one in `before`.
    pub(super) fn set_floor(&mut self, now: Instant, group: u32, before: &Qos) {
        // Service beyond now paid for the old floor, or for that of an earlier group with this
        // number.
        let entry = &mut self.groups[group as usize];
        entry.floor.paid.settle(now);
        entry.floor.room_use = Use::default();
        self.promises.floors.due.place(group, None);
        self.promises.floors.room.place(group, None);
        self.wait_for_ceiling(group, NIL);
        if !before.floor.is_none() {
            self.promises.floors.in_all.remove(&mut self.promises.floors.all, group);
        }
        if self.has_floor(group) {
            self.promises.floors.in_all.insert(&mut self.promises.floors.all, group, ());
            self.floor_wants(group);
            self.room_wants(group);
        }
        if self.promises.floors.is_empty() {
            self.promises.floors.room_needed = FloorRoom::NONE;
        }
    }

    /// Makes floors of the group and of groups around it due, as the group has a request and had
    /// none queued.
    #[inline]
    pub(super) fn floors_resume(&mut self, now: Instant, group: u32) {
        if self.promises.floors.is_empty() {
            return;
        }
        let entry = &mut self.groups[group as usize];
        if !self.device.is_serial() && entry.in_flight == 0 && entry.flushes == 0 {
            entry.floor.paid.resume(now, entry.past.absence.quiet_since);
        }
        self.floors_want(group);
    }

    /// Makes floors of the group and of groups around it due, if they have something to claim.
    #[inline]
    pub(super) fn floors_want(&mut self, group: u32) {
        if self.promises.floors.is_empty() {
            return;
        }
        let mut at = Some(group);
        while let Some(one) = at {
            self.floor_wants(one);
            self.room_wants(one);
            at = self.tree.outer(one);
        }
    }

    /// Makes floors due that waited for the ceiling of `group`.
    pub(super) fn barred_floors_want(&mut self, group: u32) {
        // Some may wait for the same ceiling again, and are put back into the list.
        let mut waiting = core::mem::take(&mut self.groups[group as usize].floor.waiting);
        while let Some(one) = waiting.first() {
            self.promises.floors.barred.remove(&mut waiting, one);
            self.groups[one as usize].floor.barred_by = NIL;
            self.floor_wants(one);
            self.room_wants(one);
        }
    }

    /// Makes the group's floor due if the group has something queued. A floor inside a group at its
    /// ceiling waits for that instead.
    fn floor_wants(&mut self, group: u32) {
        if !self.has_floor(group) || self.promises.floors.due.key(group).is_some() {
            return;
        }
        let barred_by = self.tree.path(group).find(|one| self.promises.barred.contains(*one));
        self.wait_for_ceiling(group, barred_by.unwrap_or(NIL));
        if self.tree.first_inside(group).is_some() {
            let entry = &self.groups[group as usize];
            self.promises.floors.due.place(group, entry.floor.paid.due(&entry.qos.floor));
        }
    }

    /// Lets the group's floor wait for the ceiling of `barred_by`, or for none if that is `NIL`.
    fn wait_for_ceiling(&mut self, group: u32, barred_by: u32) {
        let before = &mut self.groups[group as usize].floor.barred_by;
        let before = core::mem::replace(before, barred_by);
        if before == barred_by {
            return;
        }
        if let Some(before) = self.groups.get_mut(before as usize) {
            self.promises.floors.barred.remove(&mut before.floor.waiting, group);
        }
        if let Some(by) = self.groups.get_mut(barred_by as usize) {
            self.promises.floors.barred.insert(&mut by.floor.waiting, group, ());
        }
    }

    fn has_floor(&self, group: u32) -> bool {
        !self.groups[group as usize].qos.floor.is_none()
    }

    /// Lets floors be due only of groups that have something to claim, and determines which needs
    /// room first.
    #[cold]
    #[inline(never)]
    pub(super) fn settle_floors(&mut self, now: Instant) {
        if self.params.rules.floor_room && !self.device.is_serial() {
            self.settle_room(now);
        }
        while let Some((group, _)) = self.promises.floors.due.first() {
            if self.tree.first_inside(group).is_some() {
                return;
            }
            self.promises.floors.due.place(group, None);
            self.floor_wants(group);
        }
    }

    /// When the first floor is due; `None` if none is, or if service by share is owed first.
    pub(super) fn floor_due(&self) -> Option<Instant> {
        self.promises.floors.first_due().map(|(_, due)| due)
    }

    /// A request is served for a floor that is due. It begins no turn, which would be more than is
    /// promised and would cost share later.
    #[inline]
    pub(super) fn below_floor(&self, now: Instant) -> Option<Answer> {
        let (group, _) = self.promises.floors.first_due().filter(|(_, due)| *due <= now)?;
        let group = self.tree.first_inside(group)?;
        let at = self.next_of(now, self.queues.first_of(now, group));
        Some(self.dispatch_or_bar(now, at, Why::BelowFloor, After::Aside))
    }

    /// Counts service of the group towards its floor and those of the groups around it.
    #[inline]
    pub(super) fn pay_floors(&mut self, now: Instant, group: u32, amount: Amount) {
        if self.promises.floors.is_empty() {
            return;
        }
        let mut at = Some(group);
        while let Some(one) = at {
            at = self.tree.outer(one);
            let entry = &mut self.groups[one as usize];
            if entry.qos.floor.is_none() {
                continue;
            }
            if !self.device.is_serial() {
                self.learn_room(now, one);
                self.promises.floors.room.place(one, Some(Instant::ZERO));
            }
            let there = self.there(one);
            let entry = &mut self.groups[one as usize];
            entry.floor.paid.pay(now, &entry.qos.floor, amount, there);
            self.promises.floors.due.place(one, None);
            self.floor_wants(one);
        }
    }

    /// How many requests of the group are there. For a group with groups inside that is taken to be
    /// all there is.
    fn there(&self, group: u32) -> There {
        let entry = &self.groups[group as usize];
        let (at_device, queued) = match self.tree.has_inner(group) {
            true => (self.load.in_flight, self.load.queued),
            false => (entry.in_flight, entry.waiting),
        };
        There { at_device, most: (at_device + queued).min(self.device.depth) }
    }

    /// The innermost group with a floor, of this one and those around it.
    pub(super) fn floored_around(&self, group: u32) -> Option<u32> {
        self.tree.path(group).find(|one| self.has_floor(*one))
    }

    /// Whether the floor can be kept beside the existing ones.
    pub(super) fn admits(&self, group: GroupId, qos: &Qos) -> Result<(), Refusal> {
        let takes = floor_cost(&self.device, &qos.floor);
        let left = PROMISED_MOST - self.promised_beside(group.0);
        // A few requests say too little to refuse anything.
        if takes <= left || !self.device.knows_costs() {
            Ok(())
        } else {
            Err(Refusal::Floor { group, takes, left })
        }
    }

    /// The device time per second that floors of other groups take. Floors inside a group are part
    /// of that group's promise; if they add up to more than it, only they count.
    fn promised_beside(&self, group: u32) -> Span {
        let around = |one: &u32| self.tree.lies_in(group, *one);
        let beside = |one: &u32| !around(one) && !self.tree.lies_in(*one, group);
        let mut others: Vec<u32> = self.promises.floors.all().filter(beside).collect();
        others.sort_by_key(|one| Reverse(self.tree.path(*one).count()));
        let (mut all, mut inside) = (Span::ZERO, BTreeMap::new());
        for one in others {
            let own = floor_cost(&self.device, &self.groups[one as usize].qos.floor);
            let takes = own.max(inside.remove(&one).unwrap_or_default());
            let outer = self.tree.path(one).skip(1).find(|outer| self.has_floor(*outer));
            match outer.filter(|outer| !around(outer)) {
                Some(outer) => *inside.entry(outer).or_default() += takes,
                None => all += takes,
            }
        }
        all
    }
}

/// The device time per second that a floor takes at the worst case; zero if costs are unknown and
/// nothing has been measured. Small requests may pay for the rate in I/Os and large ones for that
/// in bytes.
fn floor_cost(device: &Device, floor: &Rates) -> Span {
    let cost = |rate: u64, bytes: u64| {
        Span::from_ns(rate.saturating_mul(device.cost_of_any(bytes).as_ns()))
    };
    let of_ios = floor.iops.map_or(Span::ZERO, |iops| cost(iops.get(), SMALL_BYTES));
    let of_bytes = floor
        .bytes_per_s
        .map_or(Span::ZERO, |rate| cost(rate.get().div_ceil(LARGE_BYTES), LARGE_BYTES));
    of_ios + of_bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::num::NonZeroU64;

    #[test]
    fn each_rate_of_a_floor_is_paid_by_itself() {
        let at = |ms| Instant::ZERO + Span::from_ms(ms);
        let amount = |kib: u64| Amount { ios: 1, bytes: kib << 10, ..Amount::NONE };
        // 32 I/Os a second, and 32 times 32 KiB.
        let floor = Rates { iops: NonZeroU64::new(32), bytes_per_s: NonZeroU64::new(1 << 20) };
        let mut paid = PaidUntil::default();
        paid.settle(at(1000));
        // A small request pays for an I/O, and a large one for 16 of their bytes.
        paid.pay(at(1000), &floor, amount(4), There::ONE);
        let due =
            |paid: &PaidUntil, floor: &Rates| paid.due(floor).map(|due| due.as_ns() / 1_000_000);
        assert_eq!(due(&paid, &floor), Some(903), "the bytes of 4 KiB, and what is caught up on");
        paid.pay(at(1000), &floor, amount(512), There::ONE);
        assert_eq!(due(&paid, &floor), Some(960), "the second of the I/Os");
        assert_eq!(due(&paid, &Rates { iops: None, ..floor }), Some(1388));
        assert_eq!(due(&paid, &Rates::NONE), None);
    }
}
