//! Floors: what a group gets before anybody else, whenever it wants that much.
//!
//! As in mClock (Gulati, Merchant, Varman, 2010) what a group has had of its floor is paid for up
//! to some instant. Once that is past and it has something queued, it goes first.
//!
//! What can be promised is known as well as what requests cost. So floors that turn out to take
//! more of the device than may be promised are kept no further than that while others wait.

use super::device::Device;
use super::{Fair, NIL};
use crate::groups::{Amount, Nested, Order};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use fairdisk_core::list::{List, Lists};
use fairdisk_core::{GroupId, Instant, Qos, Rates, Refusal, Span};

/// Floors may take so much of a second of the device.
const PROMISED_MOST: Span = Span::from_ms(900);
/// The rest of it is for the others, and for what is not foreseen.
const REST: Span = Span::from_ms(100);
/// A floor in bytes is promised for requests of this size, at random places.
const LARGE_BYTES: u64 = 128 << 10;
/// The size of a request of a floor in I/Os.
const SMALL_BYTES: u64 = 4 << 10;
/// A group that was kept below its floor may catch up on so much of it.
const CATCH_UP: Span = Span::from_ms(100);
/// Floors are served a little faster than they say, by one in so many parts: with what a request
/// has to wait for the device, every second is to have as many as were promised.
const EARLY: u64 = 32;
/// How far service beyond its share may put a group behind the others.
pub(super) const DEBT_MOST: Span = Span::from_ms(100);

/// Groups with floors, by when they are due.
#[derive(Debug)]
pub(super) struct Floors {
    due: Order<Instant>,
    /// All that have a floor.
    all: List,
    in_all: Lists<()>,
    /// Those that wait for a group at its ceiling, in the list of that.
    barred: Lists<()>,
    /// What goes by shares, before floors are served again, once it is more than the rest of a
    /// second.
    owed: Span,
}

impl Floors {
    pub(super) const fn new() -> Self {
        Self {
            due: Order::new(),
            all: List::new(),
            in_all: Lists::new(),
            barred: Lists::new(),
            owed: Span::ZERO,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.all.first().is_none()
    }

    /// All that have a floor.
    fn all(&self) -> impl Iterator<Item = u32> {
        core::iter::successors(self.all.last(), |at| self.in_all.previous(*at))
    }

    /// A request took so much of the device, for a floor or by its group's share.
    #[inline]
    pub(super) fn took(&mut self, for_floor: bool, time: Span) {
        if for_floor {
            let part = PROMISED_MOST.as_ns() / REST.as_ns();
            self.owed += time / part;
        } else {
            self.owed = self.owed - time;
        }
    }
}

/// What a group has had of its floor is paid for until then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PaidUntil(Instant);

impl Fair {
    /// The group has another floor from now on than it had before, or none.
    pub(super) fn set_floor(&mut self, now: Instant, group: u32, before: &Qos) {
        // What was paid for was another floor, or that of a group that had its number before.
        let paid = &mut self.groups[group as usize].floor_paid;
        *paid = PaidUntil(paid.0.min(now));
        self.floors.due.place(group, None);
        self.wait_for_ceiling(group, NIL);
        if !before.floor.is_none() {
            self.floors.in_all.remove(&mut self.floors.all, group);
        }
        if self.has_floor(group) {
            self.floors.in_all.insert(&mut self.floors.all, group, ());
            self.floor_wants(group);
        }
    }

    /// Those with floors around the group may want what they are promised.
    #[inline]
    pub(super) fn floors_want(&mut self, group: u32) {
        if self.floors.is_empty() {
            return;
        }
        let mut at = Some(group);
        while let Some(one) = at {
            self.floor_wants(one);
            at = self.tree.outer(one);
        }
    }

    /// Floors that waited for the ceiling of `group` may want what they are promised.
    pub(super) fn barred_floors_want(&mut self, group: u32) {
        // Some may have to wait for the same ceiling again.
        let mut waiting = core::mem::take(&mut self.groups[group as usize].barred_floors);
        while let Some(one) = waiting.first() {
            self.floors.barred.remove(&mut waiting, one);
            self.groups[one as usize].floor_barred_by = NIL;
            self.floor_wants(one);
        }
    }

    /// The floor may want what it is promised. What is in a group at its ceiling cannot, until that
    /// may go on.
    fn floor_wants(&mut self, group: u32) {
        if !self.has_floor(group) || self.floors.due.key(group).is_some() {
            return;
        }
        let barred_by = self.tree.path(group).find(|one| self.barred.contains(*one));
        self.wait_for_ceiling(group, barred_by.unwrap_or(NIL));
        if self.tree.first_inside(group).is_some() {
            let due = self.groups[group as usize].floor_paid.0;
            self.floors.due.place(group, Some(due));
        }
    }

    /// The floor waits for the ceiling of `barred_by`, or for none.
    fn wait_for_ceiling(&mut self, group: u32, barred_by: u32) {
        let before = &mut self.groups[group as usize].floor_barred_by;
        let before = core::mem::replace(before, barred_by);
        if before == barred_by {
            return;
        }
        if let Some(before) = self.groups.get_mut(before as usize) {
            self.floors.barred.remove(&mut before.barred_floors, group);
        }
        if let Some(by) = self.groups.get_mut(barred_by as usize) {
            self.floors.barred.insert(&mut by.barred_floors, group, ());
        }
    }

    fn has_floor(&self, group: u32) -> bool {
        !self.groups[group as usize].qos.floor.is_none()
    }

    /// When the first floor is due of those that want it, unless shares come first.
    pub(super) fn floor_due(&mut self) -> Option<Instant> {
        if self.floors.owed > REST {
            return None;
        }
        loop {
            let (group, due) = self.floors.due.first()?;
            if self.tree.first_inside(group).is_some() {
                return Some(due);
            }
            self.floors.due.place(group, None);
            self.floor_wants(group);
        }
    }

    /// The group whose own tasks are next where a floor is due.
    pub(super) fn below_floor(&mut self, now: Instant) -> Option<u32> {
        if self.floors.is_empty() || self.floor_due()? > now {
            return None;
        }
        let (group, _) = self.floors.due.first()?;
        self.tree.first_inside(group)
    }

    /// The group has had so much, and so have those around it.
    #[inline]
    pub(super) fn pay_floors(&mut self, now: Instant, group: u32, amount: Amount) {
        if self.floors.is_empty() {
            return;
        }
        let mut at = Some(group);
        while let Some(one) = at {
            at = self.tree.outer(one);
            let entry = &mut self.groups[one as usize];
            if entry.qos.floor.is_none() {
                continue;
            }
            let least = Instant::from_ns(now.as_ns().saturating_sub(CATCH_UP.as_ns()));
            let time = entry.qos.floor.time_of(amount.ios, amount.bytes);
            let time = time - time / EARLY;
            // What it had beyond its floor a moment ago does not make up for a second without it.
            entry.floor_paid = PaidUntil(entry.floor_paid.0.clamp(least, now) + time);
            self.floors.due.place(one, None);
            self.floor_wants(one);
        }
    }

    /// Whether the floor can be kept beside those there are.
    pub(super) fn admits(&self, group: GroupId, qos: &Qos) -> Result<(), Refusal> {
        let takes = floor_cost(&self.device, &qos.floor);
        let left = PROMISED_MOST - self.promised_beside(group.0);
        if takes <= left { Ok(()) } else { Err(Refusal::Floor { group, takes, left }) }
    }

    /// How much of a second of the device other floors take. Those in a group are part of its
    /// promise; if they come to more, so is it of theirs.
    fn promised_beside(&self, group: u32) -> Span {
        let around = |one: &u32| self.tree.lies_in(group, *one);
        let beside = |one: &u32| !around(one) && !self.tree.lies_in(*one, group);
        let mut others: Vec<u32> = self.floors.all().filter(beside).collect();
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

/// How much of a second of the device a floor takes, as far as that is known.
fn floor_cost(device: &Device, floor: &Rates) -> Span {
    let cost = |rate: u64, bytes: u64| {
        Span::from_ns(rate.saturating_mul(device.cost_of_any(bytes).as_ns()))
    };
    let of_ios = floor.iops.map_or(Span::ZERO, |iops| cost(iops.get(), SMALL_BYTES));
    let of_bytes = floor
        .bytes_per_s
        .map_or(Span::ZERO, |rate| cost(rate.get().div_ceil(LARGE_BYTES), LARGE_BYTES));
    of_ios.max(of_bytes)
}
