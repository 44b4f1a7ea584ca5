//! Read-only views of an engine, in addition to its accounts and its journal.

use super::Engine;
use super::bios::BioIndex;
use crate::account::{Accounts, GroupLoad};
use crate::elevator::{Decision, Elevator};
use crate::request::{Bio, BioId, GroupId, Op, Request, RequestId};
use crate::time::Instant;
use crate::why::Why;
use alloc::collections::{BTreeMap, BTreeSet};

impl<E: Elevator> Engine<E> {
    /// Whether so many requests of this kind are queued that whoever can do without more submits
    /// none (spec: memory, 5.4).
    pub fn is_congested(&self, group: GroupId, op: Op, sync: bool) -> bool {
        self.pools.is_congested(group, op, sync)
    }

    /// The accounts as of `now`, with bios that still wait included in the longest waits. Visits
    /// every bio, so it is meant for occasional use.
    pub fn accounts_at(&self, now: Instant) -> Accounts {
        let at_device = self.requests.in_flight().flat_map(|first| self.bios.chain(first));
        let served: BTreeSet<BioIndex> = at_device.collect();
        let mut accounts = self.accounts.clone();
        for index in self.bios.all().filter(|index| !served.contains(index)) {
            let (bio, submitted) = self.bios.submitted(index);
            accounts.group_mut(bio.group).waited(bio.op.into(), now - submitted);
        }
        accounts
    }

    /// The outstanding requests of each group. Visits every request, so it is meant for occasional
    /// use.
    pub fn loads(&self) -> BTreeMap<GroupId, GroupLoad> {
        self.requests.loads()
    }

    /// Why nothing that `group` has queued goes to the device at `now`: what keeps the group back
    /// or, if nothing does, why the elevator gives the device nothing more. `None` if others go
    /// first, or the device has its depth in requests.
    pub fn why_waiting(&self, now: Instant, group: GroupId) -> Option<Why> {
        let held_back = self.elevator.held_back(now, group);
        held_back.or_else(|| match self.last_wait? {
            Decision::WaitUntil(_, why) | Decision::WaitCompletion(why) => Some(why),
            Decision::Dispatch(..) | Decision::Idle => None,
        })
    }

    /// The number of requests that the device gets at once.
    pub const fn depth(&self) -> u32 {
        self.config.depth
    }

    /// The first bio of the request in slot `id`, if the slot is in use.
    #[must_use]
    pub fn first_bio(&self, id: RequestId) -> Option<&Bio> {
        self.requests.get(id).map(|_| self.bios.bio(self.requests.first_bio(id)))
    }

    /// The request in slot `id`, if the slot is in use.
    #[must_use]
    pub fn request(&self, id: RequestId) -> Option<&Request> {
        self.requests.get(id)
    }

    /// The bios that the request in slot `id` carries; empty if the slot is free.
    pub fn bios_of(&self, id: RequestId) -> impl Iterator<Item = BioId> {
        let first = self.requests.get(id).map(|_| self.requests.first_bio(id));
        first.into_iter().flat_map(|first| self.bios.chain(first)).map(|it| self.bios.bio(it).id)
    }
}
