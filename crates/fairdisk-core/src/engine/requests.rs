//! The request slots of one engine and the bios that each request carries.

use super::at_device::Stamp;
use super::bios::{BioIndex, Bios};
use super::pool::Slot as PoolSlot;
use crate::account::GroupLoad;
use crate::request::{Bio, GroupId, Request, RequestId};
use crate::time::Instant;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::Index;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Free,
    /// Admitted by the elevator and not yet dispatched.
    Queued,
    /// On the dispatch list or staged in the driver.
    Dispatched,
    /// A flush, on the dispatch list or staged; the elevator never admitted it.
    Bypassing,
    InFlight,
}

/// One request slot; fits in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Slot {
    request: Request,
    state: State,
    first: BioIndex,
    last: BioIndex,
    /// The serial number of the elevator that admitted the request; 0 for none.
    elevator: u32,
    /// When the request was issued, in units of the [`AtDevice`](super::at_device::AtDevice) clock.
    stamp: Stamp,
    /// Whether it was queued as asynchronous, and has become synchronous.
    is_hurried: bool,
}

/// A request that the device has completed.
pub(super) struct Completed {
    pub(super) request: Request,
    /// Its place in a pool.
    pub(super) pool_slot: PoolSlot,
    pub(super) first: BioIndex,
    /// When the request was issued, in units of the [`AtDevice`](super::at_device::AtDevice) clock.
    pub(super) stamp: Stamp,
    /// Whether the present elevator admitted the request.
    pub(super) is_known: bool,
}

#[derive(Debug)]
pub(super) struct Requests {
    slots: Vec<Slot>,
    free: Vec<u32>,
    elevator: u32,
}

impl Index<RequestId> for Requests {
    type Output = Request;
    fn index(&self, id: RequestId) -> &Request {
        &self.slots[id.0 as usize].request
    }
}

impl Requests {
    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), elevator: 1 }
    }

    /// The number of requests, in any state.
    pub(super) const fn count(&self) -> u32 {
        (self.slots.len() - self.free.len()) as u32
    }

    pub(super) fn get(&self, id: RequestId) -> Option<&Request> {
        let slot = self.slots.get(id.0 as usize)?;
        (slot.state != State::Free).then_some(&slot.request)
    }

    /// Each group's outstanding requests. Takes time linear in the highest number of requests so
    /// far.
    pub(super) fn loads(&self) -> BTreeMap<GroupId, GroupLoad> {
        let mut loads: BTreeMap<GroupId, GroupLoad> = BTreeMap::new();
        for slot in self.slots.iter().filter(|slot| slot.state != State::Free) {
            let load = loads.entry(slot.request.group).or_default();
            match slot.state {
                State::InFlight => load.in_flight += 1,
                _ => load.queued += 1,
            }
        }
        loads
    }

    /// The first bio of each request at the device. Linear, like [`loads`](Self::loads).
    pub(super) fn in_flight(&self) -> impl Iterator<Item = BioIndex> {
        self.slots.iter().filter(|slot| slot.state == State::InFlight).map(|slot| slot.first)
    }

    /// The requests in any state. Linear, like [`loads`](Self::loads).
    pub(super) fn present(&self) -> impl Iterator<Item = &Request> {
        self.slots.iter().filter(|slot| slot.state != State::Free).map(|slot| &slot.request)
    }

    /// Creates a queued request that carries only `bio`. Writes the slot in place: building a copy
    /// and reading it back at once stalls the processor for longer than all the stores take.
    #[inline(always)]
    pub(super) fn insert(&mut self, bio: &Bio, index: BioIndex, now: Instant) -> RequestId {
        let id = RequestId(self.free.pop().unwrap_or(self.slots.len() as u32));
        let request = Request {
            id,
            task: bio.task,
            group: bio.group,
            op: bio.op,
            start: bio.start,
            sectors: bio.sectors,
            sync: bio.sync,
            flags: bio.flags,
            ioprio: bio.ioprio,
            arrived: now,
        };
        let slot = Slot {
            request,
            state: State::Queued,
            first: index,
            last: index,
            elevator: self.elevator,
            stamp: Stamp::default(),
            is_hurried: false,
        };
        match self.slots.get_mut(id.0 as usize) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        id
    }

    /// The place of a request in a pool.
    pub(super) fn pool_slot(&self, id: RequestId) -> PoolSlot {
        let slot = &self.slots[id.0 as usize];
        PoolSlot::of(&slot.request, slot.is_hurried)
    }

    /// Makes an asynchronous request synchronous.
    pub(super) fn hurry(&mut self, id: RequestId) {
        let slot = &mut self.slots[id.0 as usize];
        (slot.request.sync, slot.is_hurried) = (true, true);
    }

    /// Frees the slot of `id`.
    pub(super) fn remove(&mut self, id: RequestId) {
        let slot = &mut self.slots[id.0 as usize];
        debug_assert!(slot.state != State::Free, "request slot freed twice");
        slot.state = State::Free;
        self.free.push(id.0);
    }

    /// Frees the slot of a request that the device has completed. Panics if it was not in flight.
    #[inline(always)]
    pub(super) fn completed(&mut self, id: RequestId) -> Completed {
        let slot = self.slots.get_mut(id.0 as usize);
        let slot = slot.filter(|slot| slot.state == State::InFlight);
        let Some(slot) = slot else { panic!("{id:?} finished but is not in flight") };
        slot.state = State::Free;
        self.free.push(id.0);
        let Slot { request, first, stamp, elevator, is_hurried, .. } = *slot;
        let pool_slot = PoolSlot::of(&request, is_hurried);
        Completed { request, pool_slot, first, stamp, is_known: elevator == self.elevator }
    }

    /// Whether the elevator has it queued.
    pub(super) fn is_queued(&self, id: RequestId) -> bool {
        self.slots[id.0 as usize].state == State::Queued
    }

    pub(super) fn request_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slots[id.0 as usize].request
    }

    pub(super) fn first_bio(&self, id: RequestId) -> BioIndex {
        self.slots[id.0 as usize].first
    }

    pub(super) fn append(&mut self, bios: &mut Bios, id: RequestId, index: BioIndex) {
        let slot = &mut self.slots[id.0 as usize];
        bios.set_next_in_request(slot.last, index);
        bios.set_request(index, id);
        slot.last = index;
    }

    /// Appends the bios of `other` to those of `id` and frees the slot of `other`.
    pub(super) fn join(&mut self, bios: &mut Bios, id: RequestId, other: RequestId) {
        let Slot { first, last, .. } = self.slots[other.0 as usize];
        let slot = &mut self.slots[id.0 as usize];
        bios.set_next_in_request(slot.last, first);
        slot.last = last;
        let mut joining = Some(first);
        while let Some(index) = joining {
            bios.set_request(index, id);
            joining = bios.next_in_request(index);
        }
        self.remove(other);
    }

    pub(super) fn set_state(&mut self, id: RequestId, state: State) {
        let slot = &mut self.slots[id.0 as usize];
        debug_assert!(slot.state == State::Queued, "{id:?} was dispatched twice");
        slot.state = state;
        if state == State::Bypassing {
            slot.elevator = 0;
        }
    }

    /// Marks the request as issued to the device and returns it with its first bio.
    pub(super) fn issued(&mut self, id: RequestId, stamp: Stamp) -> (&Request, BioIndex) {
        let slot = &mut self.slots[id.0 as usize];
        (slot.state, slot.stamp) = (State::InFlight, stamp);
        (&slot.request, slot.first)
    }

    /// Whether the present elevator is the one that dispatched the request.
    pub(super) fn is_known_to_elevator(&self, id: RequestId) -> bool {
        let slot = &self.slots[id.0 as usize];
        slot.elevator == self.elevator && slot.state == State::Dispatched
    }

    pub(super) const fn new_elevator(&mut self) {
        self.elevator += 1;
    }

    pub(super) fn carry_over(&mut self, id: RequestId) {
        self.slots[id.0 as usize].elevator = self.elevator;
    }

    /// Whether the elevator has it queued and it carries the bio at `index` alone.
    pub(super) fn is_queued_for(&self, id: RequestId, index: BioIndex) -> bool {
        let slot = &self.slots[id.0 as usize];
        slot.state == State::Queued && slot.first == index && slot.last == index
    }
}
