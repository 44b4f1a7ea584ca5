//! Index of the queued requests by start and end position, used to find merge candidates.

use crate::request::{Lba, Op, Request, RequestId};
use alloc::vec::Vec;
use core::mem;

const NIL: u32 = u32::MAX;
const CHAINS_MIN: usize = 512;
/// Chains per request. With four, most chains are empty, and a lookup that finds nothing ends at
/// once.
const CHAINS_PER_REQUEST: usize = 4;
/// A stretch is 64 KiB (128 sectors). Most requests start and end in one stretch, as do the
/// requests they may merge with, so a lookup usually needs only one chain.
const STRETCH_SHIFT: u32 = 7;
/// Entries per request: one for its start, and one for its end if that belongs to another chain.
const ENTRIES: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Filed {
    start: Lba,
    /// Not greater than `start` while the slot holds no request.
    end: Lba,
    write: bool,
    /// The following entries in the chain of the start and in the chain of the end.
    next: [u32; ENTRIES as usize],
}

const NOTHING: Filed = Filed { start: Lba(0), end: Lba(0), write: false, next: [NIL; 2] };

/// The queued requests that may still be merged with: a hash table from a stretch of the device to
/// the requests that start or end there, newest first. The newest request is entered into its
/// chains only when another arrives, because often it has left by then.
#[derive(Debug)]
pub(super) struct MergeIndex {
    /// The first entry of each chain; [`NIL`] for an empty one.
    heads: Vec<u32>,
    /// How far to shift a hash right to get a chain number.
    shift: u32,
    /// Indexed by request slot.
    filed: Vec<Filed>,
    requests: usize,
    /// The request filed last, even if it has been removed since.
    latest: RequestId,
    /// Whether `latest` is filed but not yet in any chain.
    is_apart: bool,
}

impl MergeIndex {
    pub(super) fn new() -> Self {
        Self {
            heads: alloc::vec![NIL; CHAINS_MIN],
            shift: u64::BITS - CHAINS_MIN.ilog2(),
            filed: Vec::new(),
            requests: 0,
            latest: RequestId(NIL),
            is_apart: false,
        }
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, request: &Request) {
        if self.is_apart {
            self.chain_up(self.latest);
        }
        let at = request.id.0 as usize;
        (self.latest, self.is_apart) = (request.id, true);
        self.requests += 1;
        if at >= self.filed.len() || self.requests * CHAINS_PER_REQUEST > self.heads.len() {
            self.make_room(at);
        }
        debug_assert!(self.filed[at].end <= self.filed[at].start, "{:?} is filed", request.id);
        let (start, end, write) = (request.start, request.end(), request.op.is_write());
        self.filed[at] = Filed { start, end, write, next: [NIL; 2] };
    }

    /// Enters a filed request into its chains.
    #[inline(never)]
    fn chain_up(&mut self, id: RequestId) {
        let Filed { start, end, .. } = self.filed[id.0 as usize];
        let (first, last) = (self.chain(start), self.chain(end));
        self.link(first, id.0 * ENTRIES);
        if last != first {
            self.link(last, id.0 * ENTRIES + 1);
        }
    }

    /// Removes the request if it is filed.
    #[inline]
    pub(super) fn remove(&mut self, id: RequestId) {
        let Some(filed) = self.filed.get_mut(id.0 as usize) else { return };
        let Filed { start, end, .. } = *filed;
        if end <= start {
            return;
        }
        filed.end = start;
        self.requests -= 1;
        if self.is_apart && id == self.latest {
            self.is_apart = false;
            return;
        }
        let (first, last) = (self.chain(start), self.chain(end));
        self.unlink(first, id.0 * ENTRIES);
        if last != first {
            self.unlink(last, id.0 * ENTRIES + 1);
        }
    }

    /// The request that arrived or grew most recently.
    #[inline]
    pub(super) const fn latest(&self) -> RequestId {
        self.latest
    }

    /// Whether one chain suffices to show that no request starts or ends at either of the two
    /// positions. `false` means that a full lookup is needed.
    #[inline]
    pub(super) fn has_nothing_near(&self, start: Lba, end: Lba) -> bool {
        let is_one_stretch = start.0 >> STRETCH_SHIFT == end.0 >> STRETCH_SHIFT;
        is_one_stretch && !self.is_apart && self.heads[self.chain(start)] == NIL
    }

    /// The newest request that ends at `position`, has the direction of `op` and satisfies
    /// `wanted`.
    #[inline]
    pub(super) fn ending_at(
        &self,
        op: Op,
        position: Lba,
        wanted: impl Fn(RequestId) -> bool,
    ) -> Option<RequestId> {
        let ends = |filed: &Filed| filed.end == position && filed.write == op.is_write();
        self.find(position, |id, filed| ends(filed) && wanted(id))
    }

    /// The newest request that starts at `position`, has the direction of `op` and satisfies
    /// `wanted`.
    #[inline]
    pub(super) fn starting_at(
        &self,
        op: Op,
        position: Lba,
        wanted: impl Fn(RequestId) -> bool,
    ) -> Option<RequestId> {
        let starts = |filed: &Filed| filed.start == position && filed.write == op.is_write();
        self.find(position, |id, filed| starts(filed) && wanted(id))
    }

    #[inline]
    fn find(&self, position: Lba, is_it: impl Fn(RequestId, &Filed) -> bool) -> Option<RequestId> {
        if self.is_apart && is_it(self.latest, &self.filed[self.latest.0 as usize]) {
            return Some(self.latest);
        }
        let mut at = self.heads[self.chain(position)];
        while at != NIL {
            let id = RequestId(at / ENTRIES);
            let filed = &self.filed[id.0 as usize];
            if is_it(id, filed) {
                return Some(id);
            }
            at = filed.next[(at % ENTRIES) as usize];
        }
        None
    }

    /// The chain of a position, by multiplicative hashing. Positions are regularly spaced, and the
    /// multiplication spreads such numbers evenly over its high bits.
    #[inline]
    const fn chain(&self, position: Lba) -> usize {
        let stretch = position.0 >> STRETCH_SHIFT;
        (stretch.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    fn next(&mut self, entry: u32) -> &mut u32 {
        &mut self.filed[(entry / ENTRIES) as usize].next[(entry % ENTRIES) as usize]
    }

    #[inline]
    fn unlink(&mut self, chain: usize, entry: u32) {
        let next = *self.next(entry);
        let mut at = self.heads[chain];
        if at == entry {
            self.heads[chain] = next;
            return;
        }
        while *self.next(at) != entry {
            at = *self.next(at);
        }
        *self.next(at) = next;
    }

    #[cold]
    fn make_room(&mut self, request: usize) {
        if request >= self.filed.len() {
            self.filed.resize(request + 1, NOTHING);
        }
        if self.requests * CHAINS_PER_REQUEST > self.heads.len() {
            self.spread();
        }
    }

    /// Doubles the number of chains. Each chain splits in two and stays sorted newest first.
    fn spread(&mut self) {
        let twice = alloc::vec![NIL; 2 * self.heads.len()];
        self.shift -= 1;
        let mut chain = Vec::new();
        for mut at in mem::replace(&mut self.heads, twice) {
            while at != NIL {
                chain.push(at);
                at = *self.next(at);
            }
            chain.drain(..).rev().for_each(|entry| self.link_again(entry));
        }
    }

    fn link_again(&mut self, entry: u32) {
        let Filed { start, end, .. } = self.filed[(entry / ENTRIES) as usize];
        let (first, last) = (self.chain(start), self.chain(end));
        let shared_a_chain = first / 2 == last / 2;
        self.link([first, last][(entry % ENTRIES) as usize], entry);
        if shared_a_chain && last != first {
            self.link(last, entry + 1);
        }
    }

    fn link(&mut self, chain: usize, entry: u32) {
        *self.next(entry) = mem::replace(&mut self.heads[chain], entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prng::Prng;
    use crate::request::Sectors;
    use crate::samples;
    use std::vec::Vec;

    fn some_request(prng: &mut Prng, id: u32) -> Request {
        let longest = if prng.chance(1, 10) { 1024 } else { 16 };
        let op = if prng.chance(1, 2) { Op::Read } else { Op::Write };
        Request {
            id: RequestId(id),
            start: Lba(prng.below(5_000)),
            sectors: Sectors(prng.between(1, longest) as u32),
            ..samples::request(op)
        }
    }

    /// The specification: a linear search over all requests in order of insertion.
    fn newest(known: &[Request], is_it: impl Fn(&Request) -> bool) -> Option<RequestId> {
        known.iter().rev().find(|request| is_it(request)).map(|request| request.id)
    }

    #[test]
    fn agrees_with_looking_at_everything() {
        let mut prng = Prng::new(7);
        let mut index = MergeIndex::new();
        let mut known: Vec<Request> = Vec::new();
        let mut free: Vec<u32> = (0..1000).rev().collect();
        let mut found = 0;
        for _ in 0..20_000 {
            if prng.below(1000) < known.len() as u64 {
                let gone = known.remove(prng.below(known.len() as u64) as usize);
                index.remove(gone.id);
                index.remove(gone.id);
                free.push(gone.id.0);
            } else if let Some(id) = free.pop() {
                let request = some_request(&mut prng, id);
                index.insert(&request);
                known.push(request);
            }
            let (op, position) = (Op::Write, Lba(prng.below(5_000)));
            let ending = newest(&known, |one| one.op == op && one.end() == position);
            let starting = newest(&known, |one| one.op == op && one.start == position);
            found += u32::from(ending.is_some()) + u32::from(starting.is_some());
            assert_eq!(index.ending_at(op, position, |_| true), ending);
            assert_eq!(index.starting_at(op, position, |_| true), starting);
            let older = |one: RequestId| Some(one) != starting;
            let second =
                newest(&known, |one| one.op == op && one.start == position && older(one.id));
            assert_eq!(index.starting_at(op, position, older), second);
        }
        assert!(found > 1000, "it had something to find: {found}");
        assert!(index.heads.len() > CHAINS_MIN, "it had to grow");
    }
}
