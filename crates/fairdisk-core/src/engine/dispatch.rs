//! The dispatch list: requests the elevator has let go and the driver has not taken yet.

use crate::request::{Lba, Request, RequestId};
use alloc::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: RequestId,
    start: Lba,
    end: Lba,
    write: bool,
    flush: bool,
}

/// Ordered as a one-way elevator: ascending positions, rotated at the end of the request the
/// driver took last; directions are not mixed, and nothing passes a flush
/// (spec: cfq, section 1.2).
#[derive(Debug)]
pub(super) struct DispatchList {
    entries: VecDeque<Entry>,
    boundary: Lba,
}

impl DispatchList {
    pub(super) const fn new() -> Self {
        Self { entries: VecDeque::new(), boundary: Lba(0) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn insert(&mut self, request: &Request) {
        let entry = Entry {
            id: request.id,
            start: request.start,
            end: request.end(),
            write: request.op.is_write(),
            flush: false,
        };
        let mut at = self.entries.len();
        while at > 0 && self.goes_before(&entry, &self.entries[at - 1]) {
            at -= 1;
        }
        self.entries.insert(at, entry);
    }

    pub(super) fn push_flush(&mut self, id: RequestId) {
        self.entries.push_back(Entry { id, start: Lba(0), end: Lba(0), write: true, flush: true });
    }

    /// The driver takes the first request.
    pub(super) fn pop(&mut self) -> Option<RequestId> {
        let entry = self.entries.pop_front()?;
        if !entry.flush {
            self.boundary = entry.end;
        }
        Some(entry.id)
    }

    fn goes_before(&self, new: &Entry, old: &Entry) -> bool {
        if old.flush || new.write != old.write {
            return false;
        }
        let rotated = |start: Lba| (start < self.boundary, start);
        rotated(new.start) < rotated(old.start)
    }
}
