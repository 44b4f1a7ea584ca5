//! Finds queued requests by where they end and where they start.

use crate::request::{Lba, Op, Request, RequestId};
use alloc::vec::Vec;

const NIL: u32 = u32::MAX;
const BUCKETS_MIN: usize = 512;
/// Buckets in a line, which is one of the cache's.
const LINE: usize = 16;
/// Positions less than this apart are often filed in one line, so that looking for what is before
/// and behind a bio, and filing both its ends, costs one access to memory.
const NEIGHBOURS_SHIFT: u32 = 7;
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

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u32; LINE]);

/// The queued requests that merging may touch: a hash table from a position to the requests that
/// start or end there; the newest is found first.
#[derive(Debug)]
pub(super) struct MergeIndex {
    lines: Vec<Line>,
    /// How far to shift a hash for the number of its line.
    shift: u32,
    /// `NODES` for every request slot.
    nodes: Vec<Node>,
    linked: usize,
}

impl MergeIndex {
    pub(super) fn new() -> Self {
        let mut index = Self { lines: Vec::new(), shift: 0, nodes: Vec::new(), linked: 0 };
        index.spread(BUCKETS_MIN);
        index
    }

    pub(super) fn insert(&mut self, request: &Request) {
        if self.linked == self.lines.len() * LINE {
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
        let (line, bucket) = self.bucket(key);
        let mut at = self.lines[line].0[bucket];
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
    const fn bucket(&self, key: u64) -> (usize, usize) {
        let position = key >> KEY_BITS;
        let hash = (position >> NEIGHBOURS_SHIFT).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((hash >> self.shift) as usize, (hash >> 16 ^ position >> 3) as usize % LINE)
    }

    #[inline]
    fn link(&mut self, node: u32, key: u64) {
        debug_assert!(!self.nodes[node as usize].linked);
        let (line, bucket) = self.bucket(key);
        let head = &mut self.lines[line].0[bucket];
        self.nodes[node as usize] = Node { key, next: *head, linked: true };
        *head = node;
        self.linked += 1;
    }

    #[inline]
    fn unlink(&mut self, node: u32) {
        let Node { key, next, .. } = self.nodes[node as usize];
        self.nodes[node as usize].linked = false;
        self.linked -= 1;
        let (line, bucket) = self.bucket(key);
        let mut at = self.lines[line].0[bucket];
        if at == node {
            self.lines[line].0[bucket] = next;
            return;
        }
        while self.nodes[at as usize].next != node {
            at = self.nodes[at as usize].next;
        }
        self.nodes[at as usize].next = next;
    }

    #[cold]
    fn spread(&mut self, buckets: usize) {
        let lines = buckets / LINE;
        self.lines.clear();
        self.lines.resize(lines, Line([NIL; LINE]));
        self.shift = u64::BITS - lines.ilog2();
        for node in 0..self.nodes.len() {
            if self.nodes[node].linked {
                let (line, bucket) = self.bucket(self.nodes[node].key);
                let head = &mut self.lines[line].0[bucket];
                self.nodes[node].next = *head;
                *head = node as u32;
            }
        }
    }
}

/// Bits of a key below its position.
const KEY_BITS: u32 = 2;

const fn key(side: Side, op: Op, position: Lba) -> u64 {
    position.0 << KEY_BITS | (side as u64) << 1 | op.is_write() as u64
}
