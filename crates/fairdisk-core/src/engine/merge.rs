//! Finds queued requests by where they end and where they start.

use crate::request::{Lba, Op, Request, RequestId};
use alloc::vec::Vec;

const NIL: u32 = u32::MAX;
const BUCKETS_MIN: usize = 512;
/// A request has a node for its start and one for its end.
const NODES: u32 = 2;

/// What is to be found at a position.
#[derive(Clone, Copy, Debug)]
enum Side {
    Start,
    End,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    next: u32,
    linked: bool,
}

const FREE: Node = Node { key: 0, next: NIL, linked: false };

/// The queued requests that merging may touch: a hash table from a position to the requests that
/// start or end there; the newest is found first.
#[derive(Debug)]
pub(super) struct MergeIndex {
    buckets: Vec<u32>,
    /// How far to shift a hash for the number of its bucket.
    shift: u32,
    /// `NODES` for every request slot.
    nodes: Vec<Node>,
    linked: usize,
}

impl MergeIndex {
    pub(super) fn new() -> Self {
        let mut index = Self { buckets: Vec::new(), shift: 0, nodes: Vec::new(), linked: 0 };
        index.spread(BUCKETS_MIN);
        index
    }

    pub(super) fn insert(&mut self, request: &Request) {
        if self.linked == self.buckets.len() {
            self.spread(2 * self.linked);
        }
        let node = request.id.0 * NODES;
        if node as usize >= self.nodes.len() {
            self.nodes.resize((node + NODES) as usize, FREE);
        }
        self.link(node, key(Side::Start, request.op, request.start));
        self.link(node + 1, key(Side::End, request.op, request.end()));
    }

    /// Forgets the request if it is known.
    pub(super) fn remove(&mut self, id: RequestId) {
        let node = id.0 * NODES;
        if self.nodes.get(node as usize).is_some_and(|node| node.linked) {
            self.unlink(node);
            self.unlink(node + 1);
        }
    }

    pub(super) fn ending_at(&self, op: Op, position: Lba) -> Option<RequestId> {
        self.find(key(Side::End, op, position))
    }

    pub(super) fn starting_at(&self, op: Op, position: Lba) -> Option<RequestId> {
        self.find(key(Side::Start, op, position))
    }

    #[inline]
    fn find(&self, key: u64) -> Option<RequestId> {
        let mut at = self.buckets[self.bucket(key)];
        while at != NIL {
            let node = &self.nodes[at as usize];
            if node.key == key {
                return Some(RequestId(at / NODES));
            }
            at = node.next;
        }
        None
    }

    /// Positions are regular, and a product spreads regular numbers evenly in its high bits.
    const fn bucket(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }

    #[inline]
    fn link(&mut self, node: u32, key: u64) {
        debug_assert!(!self.nodes[node as usize].linked);
        let bucket = self.bucket(key);
        let head = &mut self.buckets[bucket];
        self.nodes[node as usize] = Node { key, next: *head, linked: true };
        *head = node;
        self.linked += 1;
    }

    #[inline]
    fn unlink(&mut self, node: u32) {
        let Node { key, next, .. } = self.nodes[node as usize];
        self.nodes[node as usize].linked = false;
        self.linked -= 1;
        let bucket = self.bucket(key);
        let mut at = self.buckets[bucket];
        if at == node {
            self.buckets[bucket] = next;
            return;
        }
        while self.nodes[at as usize].next != node {
            at = self.nodes[at as usize].next;
        }
        self.nodes[at as usize].next = next;
    }

    #[cold]
    fn spread(&mut self, buckets: usize) {
        self.buckets.clear();
        self.buckets.resize(buckets, NIL);
        self.shift = u64::BITS - buckets.ilog2();
        for node in 0..self.nodes.len() {
            if self.nodes[node].linked {
                let bucket = self.bucket(self.nodes[node].key);
                self.nodes[node].next = self.buckets[bucket];
                self.buckets[bucket] = node as u32;
            }
        }
    }
}

const fn key(side: Side, op: Op, position: Lba) -> u64 {
    position.0 << 2 | (side as u64) << 1 | op.is_write() as u64
}
