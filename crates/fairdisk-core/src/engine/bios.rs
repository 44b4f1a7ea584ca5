//! The bios in flight, indexed by slot, and the chains of bios held back behind one another.

use crate::request::{Bio, BioId, RequestId};
use crate::time::{Instant, Span};
use alloc::vec::Vec;

const NIL: u32 = u32::MAX;

/// The number of a bio's slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BioIndex(pub(super) u32);

impl BioIndex {
    const fn at(raw: u32) -> Option<Self> {
        if raw == NIL { None } else { Some(Self(raw)) }
    }
}

/// The part of a bio's state that every bio needs; fits in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Slot {
    bio: Bio,
    /// Order of submission; 0 when the slot is free.
    serial: u64,
    submitted: Instant,
    /// The next bio of the same request, or of the same chain of held bios.
    next: u32,
    /// Whether other bios are held behind this one.
    holds: bool,
    /// Whether this bio is held behind another.
    is_held: bool,
    /// Whether somebody has come to wait for it, which was submitted as asynchronous.
    is_hurried: bool,
}

/// The part of a bio's state that only bios that wait need.
#[derive(Clone, Debug)]
struct Waiting {
    slept_since: Instant,
    /// The first bio held behind this one, followed by the last.
    holds: u32,
    last_held: u32,
    /// The bio that this one is held behind.
    blocker: u32,
}

#[derive(Debug)]
pub(super) struct Bios {
    slots: Vec<Slot>,
    /// Indexed by slot; extends up to the highest slot whose bio ever had to wait.
    waiting: Vec<Waiting>,
    /// The request that carries each bio, by slot.
    requests: Vec<u32>,
    free: Vec<u32>,
    serial: u64,
}

#[cfg(test)]
std::thread_local! {
    /// How often two bios were compared.
    pub(super) static COMPARED: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

impl Bios {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            waiting: Vec::new(),
            requests: Vec::new(),
            free: Vec::new(),
            serial: 0,
        }
    }

    pub(super) fn insert(&mut self, bio: &Bio, now: Instant) -> BioIndex {
        self.serial += 1;
        let slot = Slot {
            bio: *bio,
            serial: self.serial,
            submitted: now,
            next: NIL,
            holds: false,
            is_held: false,
            is_hurried: false,
        };
        let index = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(index as usize) {
            Some(free) => {
                *free = slot;
                self.requests[index as usize] = NIL;
            }
            None => {
                self.slots.push(slot);
                self.requests.push(NIL);
            }
        }
        BioIndex(index)
    }

    /// Frees the slot and returns the first of the bios held behind this one.
    pub(super) fn remove(&mut self, index: BioIndex) -> Option<BioIndex> {
        let slot = &mut self.slots[index.0 as usize];
        debug_assert!(slot.serial != 0, "bio slot freed twice");
        slot.serial = 0;
        self.free.push(index.0);
        if !slot.holds {
            return None;
        }
        BioIndex::at(self.waiting(index).holds)
    }

    #[cold]
    fn waiting(&mut self, index: BioIndex) -> &mut Waiting {
        let at = index.0 as usize;
        if at >= self.waiting.len() {
            let not =
                Waiting { slept_since: Instant::ZERO, holds: NIL, last_held: NIL, blocker: NIL };
            self.waiting.resize(self.slots.len(), not);
        }
        &mut self.waiting[at]
    }

    /// Makes the bio, which has had no slot yet, as if it had been submitted as synchronous.
    pub(super) fn make_sync(&mut self, index: BioIndex) {
        self.slots[index.0 as usize].bio.sync = true;
    }

    /// Notes that somebody has come to wait for the bio.
    pub(super) fn hurry(&mut self, index: BioIndex) {
        self.slots[index.0 as usize].is_hurried = true;
    }

    /// Whether somebody has come to wait for the bio.
    pub(super) fn is_hurried(&self, index: BioIndex) -> bool {
        self.slots[index.0 as usize].is_hurried
    }

    pub(super) fn bio(&self, index: BioIndex) -> &Bio {
        debug_assert!(self.slots[index.0 as usize].serial != 0);
        &self.slots[index.0 as usize].bio
    }

    /// The bio in slot `index` and when it was submitted.
    pub(super) fn submitted(&self, index: BioIndex) -> (&Bio, Instant) {
        let slot = &self.slots[index.0 as usize];
        (&slot.bio, slot.submitted)
    }

    /// The slot of the bio with the given id. A linear search, used only for cancellation, which is
    /// rare.
    pub(super) fn find(&self, id: BioId) -> Option<BioIndex> {
        let at = self.slots.iter().position(|slot| slot.serial != 0 && slot.bio.id == id)?;
        Some(BioIndex(at as u32))
    }

    /// The bios of the request whose first bio is `first`.
    pub(super) fn chain(&self, first: BioIndex) -> impl Iterator<Item = BioIndex> {
        core::iter::successors(Some(first), |index| self.next_in_request(*index))
    }

    pub(super) fn next_in_request(&self, index: BioIndex) -> Option<BioIndex> {
        BioIndex::at(self.slots[index.0 as usize].next)
    }

    /// Notes which request carries the bio.
    #[inline]
    pub(super) fn set_request(&mut self, index: BioIndex, id: RequestId) {
        self.requests[index.0 as usize] = id.0;
    }

    /// The request that carries the bio; `None` while it waits for a slot or is held.
    pub(super) fn request_of(&self, index: BioIndex) -> Option<RequestId> {
        let id = self.requests[index.0 as usize];
        (id != NIL).then_some(RequestId(id))
    }

    /// Whether other bios are held behind this one.
    #[inline]
    pub(super) fn holds(&self, index: BioIndex) -> bool {
        self.slots[index.0 as usize].holds
    }

    /// The bios held behind this one.
    pub(super) fn held_behind(&self, index: BioIndex) -> impl Iterator<Item = BioIndex> {
        let first = self.waiting.get(index.0 as usize).filter(|_| self.holds(index));
        let first = first.and_then(|waiting| BioIndex::at(waiting.holds));
        core::iter::successors(first, |held| BioIndex::at(self.slots[held.0 as usize].next))
    }

    /// The bio that this one is held behind, if it is held.
    pub(super) fn blocker_of(&self, index: BioIndex) -> Option<BioIndex> {
        self.is_held(index).then(|| BioIndex(self.waiting[index.0 as usize].blocker))
    }

    /// The bio at the end of the chain that begins with `index`: the one that is held by none.
    pub(super) fn root_of(&self, mut index: BioIndex) -> BioIndex {
        while let Some(blocker) = self.blocker_of(index) {
            index = blocker;
        }
        index
    }

    pub(super) fn set_next_in_request(&mut self, index: BioIndex, next: BioIndex) {
        self.slots[index.0 as usize].next = next.0;
    }

    pub(super) fn slept(&mut self, index: BioIndex, now: Instant) {
        self.waiting(index).slept_since = now;
    }

    pub(super) fn woke(&mut self, index: BioIndex, now: Instant) -> Span {
        now - self.waiting(index).slept_since
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.slots.len() == self.free.len()
    }

    /// The slots of all bios in flight.
    pub(super) fn all(&self) -> impl Iterator<Item = BioIndex> {
        let slots = self.slots.iter().enumerate();
        slots.filter(|(_, slot)| slot.serial != 0).map(|(at, _)| BioIndex(at as u32))
    }

    /// Whether `other` was submitted before `index`.
    pub(super) fn is_earlier(&self, other: BioIndex, index: BioIndex) -> bool {
        self.slots[other.0 as usize].serial < self.slots[index.0 as usize].serial
    }

    /// The latest of `others` that was submitted before the bio at `index` and conflicts with it.
    #[inline(never)]
    pub(super) fn latest_blocker(
        &self,
        index: BioIndex,
        others: impl Iterator<Item = BioIndex>,
    ) -> Option<BioIndex> {
        let blocks = |other: &BioIndex| self.is_blocked(index, *other);
        others.filter(blocks).max_by_key(|other| self.slots[other.0 as usize].serial)
    }

    /// Whether `other` was submitted before the bio at `index` and conflicts with it.
    pub(super) fn is_blocked(&self, index: BioIndex, other: BioIndex) -> bool {
        #[cfg(test)]
        COMPARED.with(|compared| compared.set(compared.get() + 1));
        self.is_earlier(other, index) && self.bio(index).conflicts_with(self.bio(other))
    }

    /// The later-submitted of two bios.
    pub(super) fn later(&self, one: Option<BioIndex>, other: Option<BioIndex>) -> Option<BioIndex> {
        one.into_iter().chain(other).max_by_key(|bio| self.slots[bio.0 as usize].serial)
    }

    /// Appends `index` to the chain of bios held behind `blocker`.
    pub(super) fn hold(&mut self, index: BioIndex, blocker: BioIndex) {
        let slot = &mut self.slots[index.0 as usize];
        (slot.next, slot.is_held) = (NIL, true);
        self.waiting(index).blocker = blocker.0;
        let last = core::mem::replace(&mut self.waiting(blocker).last_held, index.0);
        match core::mem::replace(&mut self.slots[blocker.0 as usize].holds, true) {
            true => self.slots[last as usize].next = index.0,
            false => self.waiting(blocker).holds = index.0,
        }
    }

    pub(super) fn is_held(&self, index: BioIndex) -> bool {
        self.slots[index.0 as usize].is_held
    }

    /// Marks the bio as no longer held and returns the next one of its chain.
    pub(super) fn unhold(&mut self, index: BioIndex) -> Option<BioIndex> {
        let slot = &mut self.slots[index.0 as usize];
        slot.is_held = false;
        let next = slot.next;
        slot.next = NIL;
        BioIndex::at(next)
    }

    /// Removes a held bio from its chain.
    pub(super) fn forget_held(&mut self, index: BioIndex) {
        let next = self.slots[index.0 as usize].next;
        let blocker = BioIndex(self.waiting(index).blocker);
        let mut at = self.waiting(blocker).holds;
        if at == index.0 {
            self.waiting(blocker).holds = next;
            self.slots[blocker.0 as usize].holds = next != NIL;
        } else {
            while self.slots[at as usize].next != index.0 {
                at = self.slots[at as usize].next;
            }
            self.slots[at as usize].next = next;
            if next == NIL {
                self.waiting(blocker).last_held = at;
            }
        }
        let slot = &mut self.slots[index.0 as usize];
        (slot.next, slot.is_held) = (NIL, false);
    }
}
