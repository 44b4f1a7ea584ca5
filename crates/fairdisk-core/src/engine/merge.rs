//! Finds queued requests by where they end and where they start.

use crate::request::{Lba, Op, Request, RequestId};
use alloc::vec::Vec;

const NIL: u32 = u32::MAX;
const BUCKETS_MIN: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    next: u32,
    linked: bool,
}

const FREE: Node = Node { key: 0, next: NIL, linked: false };

/// A hash table from a position to the requests there; the newest is found first.
#[derive(Debug)]
struct Positions {
    buckets: Vec<u32>,
    /// How far to shift a hash for the number of its bucket.
    shift: u32,
    nodes: Vec<Node>,
    len: usize,
}

impl Positions {
    fn new() -> Self {
        let mut positions = Self { buckets: Vec::new(), shift: 0, nodes: Vec::new(), len: 0 };
        positions.spread(BUCKETS_MIN);
        positions
    }

    /// Positions are regular, and a product spreads regular numbers evenly in its high bits.
    const fn bucket(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    #[inline]
    fn insert(&mut self, id: RequestId, key: u64) {
        if self.len == self.buckets.len() {
            self.spread(2 * self.len);
        }
        if self.nodes.len() <= id.0 as usize {
            self.nodes.resize(id.0 as usize + 1, FREE);
        }
        let bucket = self.bucket(key);
        let head = &mut self.buckets[bucket];
        let node = &mut self.nodes[id.0 as usize];
        debug_assert!(!node.linked);
        *node = Node { key, next: *head, linked: true };
        *head = id.0;
        self.len += 1;
    }

    #[inline]
    fn remove(&mut self, id: RequestId) {
        let Some(node) = self.nodes.get_mut(id.0 as usize).filter(|node| node.linked) else {
            return;
        };
        node.linked = false;
        let Node { key, next, .. } = *node;
        self.len -= 1;
        let bucket = self.bucket(key);
        let mut at = self.buckets[bucket];
        if at == id.0 {
            self.buckets[bucket] = next;
            return;
        }
        while self.nodes[at as usize].next != id.0 {
            at = self.nodes[at as usize].next;
        }
        self.nodes[at as usize].next = next;
    }

    #[inline]
    fn find(&self, key: u64) -> Option<RequestId> {
        let mut at = self.buckets[self.bucket(key)];
        while at != NIL {
            let node = &self.nodes[at as usize];
            if node.key == key {
                return Some(RequestId(at));
            }
            at = node.next;
        }
        None
    }

    #[cold]
    fn spread(&mut self, buckets: usize) {
        self.buckets.clear();
        self.buckets.resize(buckets, NIL);
        self.shift = u64::BITS - buckets.ilog2();
        for index in 0..self.nodes.len() {
            if self.nodes[index].linked {
                let bucket = self.bucket(self.nodes[index].key);
                self.nodes[index].next = self.buckets[bucket];
                self.buckets[bucket] = index as u32;
            }
        }
    }
}

/// The queued requests that merging may touch.
#[derive(Debug)]
pub(super) struct MergeIndex {
    ends: Positions,
    starts: Positions,
}

impl MergeIndex {
    pub(super) fn new() -> Self {
        Self { ends: Positions::new(), starts: Positions::new() }
    }

    #[inline]
    pub(super) fn insert(&mut self, request: &Request) {
        self.ends.insert(request.id, key(request.op, request.end()));
        self.starts.insert(request.id, key(request.op, request.start));
    }

    /// Forgets the request if it is known.
    #[inline]
    pub(super) fn remove(&mut self, id: RequestId) {
        self.ends.remove(id);
        self.starts.remove(id);
    }

    pub(super) fn ending_at(&self, op: Op, position: Lba) -> Option<RequestId> {
        self.ends.find(key(op, position))
    }

    pub(super) fn starting_at(&self, op: Op, position: Lba) -> Option<RequestId> {
        self.starts.find(key(op, position))
    }
}

const fn key(op: Op, position: Lba) -> u64 {
    position.0 << 1 | op.is_write() as u64
}
