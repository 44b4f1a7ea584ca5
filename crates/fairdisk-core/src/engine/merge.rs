//! Finds queued requests by where they end and where they start.

use crate::prng::mix;
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
    nodes: Vec<Node>,
    len: usize,
}

impl Positions {
    const fn new() -> Self {
        Self { buckets: Vec::new(), nodes: Vec::new(), len: 0 }
    }

    fn insert(&mut self, id: RequestId, key: u64) {
        if self.len + 1 > self.buckets.len() {
            self.grow();
        }
        if self.nodes.len() <= id.0 as usize {
            self.nodes.resize(id.0 as usize + 1, FREE);
        }
        let bucket = mix(key) as usize & (self.buckets.len() - 1);
        debug_assert!(!self.nodes[id.0 as usize].linked);
        self.nodes[id.0 as usize] = Node { key, next: self.buckets[bucket], linked: true };
        self.buckets[bucket] = id.0;
        self.len += 1;
    }

    fn remove(&mut self, id: RequestId) {
        let Some(node) = self.nodes.get_mut(id.0 as usize).filter(|node| node.linked) else {
            return;
        };
        node.linked = false;
        let Node { key, next, .. } = *node;
        let bucket = mix(key) as usize & (self.buckets.len() - 1);
        self.len -= 1;
        if self.buckets[bucket] == id.0 {
            self.buckets[bucket] = next;
            return;
        }
        let mut at = self.buckets[bucket];
        while self.nodes[at as usize].next != id.0 {
            at = self.nodes[at as usize].next;
        }
        self.nodes[at as usize].next = next;
    }

    fn find(&self, key: u64) -> Option<RequestId> {
        if self.len == 0 {
            return None;
        }
        let mut at = self.buckets[mix(key) as usize & (self.buckets.len() - 1)];
        while at != NIL {
            let node = &self.nodes[at as usize];
            if node.key == key {
                return Some(RequestId(at));
            }
            at = node.next;
        }
        None
    }

    fn grow(&mut self) {
        let size = (self.buckets.len() * 2).max(BUCKETS_MIN);
        self.buckets.clear();
        self.buckets.resize(size, NIL);
        for index in 0..self.nodes.len() {
            if self.nodes[index].linked {
                let bucket = mix(self.nodes[index].key) as usize & (size - 1);
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
    pub(super) const fn new() -> Self {
        Self { ends: Positions::new(), starts: Positions::new() }
    }

    pub(super) fn insert(&mut self, request: &Request) {
        self.ends.insert(request.id, key(request.op, request.end()));
        self.starts.insert(request.id, key(request.op, request.start));
    }

    /// Forgets the request if it is known.
    pub(super) fn remove(&mut self, request: &Request) {
        self.ends.remove(request.id);
        self.starts.remove(request.id);
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
