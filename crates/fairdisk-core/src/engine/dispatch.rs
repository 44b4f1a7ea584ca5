//! The dispatch list: requests that have left the elevator and wait for the driver.

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

/// A list in one-way elevator order: ascending positions, starting from the end of the request the
/// driver took last. Reads and writes are not reordered against each other, and no request passes a
/// flush (spec: cfq, section 1.2).
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

    #[inline(always)]
    pub(super) fn insert(&mut self, request: &Request) {
        let entry = Entry {
            id: request.id,
            start: request.start,
            end: request.end(),
            write: request.op.is_write(),
            flush: false,
        };
        let end = self.entries.len();
        let mut at = end;
        while at > 0 && self.goes_before(&entry, &self.entries[at - 1]) {
            at -= 1;
        }
        if at == end {
            self.entries.push_back(entry);
        } else {
            self.entries.insert(at, entry);
        }
    }

    pub(super) fn push_flush(&mut self, id: RequestId) {
        self.entries.push_back(Entry { id, start: Lba(0), end: Lba(0), write: true, flush: true });
    }

    /// Removes the first request for the driver.
    #[inline]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Op;
    use crate::samples;
    use std::vec::Vec;

    fn request(op: Op, start: u64) -> Request {
        Request { id: RequestId(start as u32), start: Lba(start), ..samples::request(op) }
    }

    fn read(start: u64) -> Request {
        request(Op::Read, start)
    }

    fn emptied(mut list: DispatchList) -> Vec<u32> {
        core::iter::from_fn(|| list.pop()).map(|id| id.0).collect()
    }

    #[test]
    fn ascends_from_where_the_driver_is_and_wraps_around() {
        let mut list = DispatchList::new();
        list.insert(&read(500));
        assert_eq!(list.pop(), Some(RequestId(500)));
        for start in [100, 900, 507, 508, 50, 700] {
            list.insert(&read(start));
        }
        assert_eq!(emptied(list), [508, 700, 900, 50, 100, 507]);
    }

    #[test]
    fn equal_positions_keep_their_order() {
        let mut list = DispatchList::new();
        for id in [1, 2, 3] {
            list.insert(&Request { id: RequestId(id), ..read(8) });
        }
        assert_eq!(emptied(list), [1, 2, 3]);
    }

    #[test]
    fn directions_do_not_pass_each_other() {
        let mut list = DispatchList::new();
        list.insert(&read(300));
        list.insert(&request(Op::Write, 200));
        list.insert(&read(100));
        list.insert(&read(50));
        list.insert(&request(Op::Discard, 10));
        assert_eq!(emptied(list), [300, 200, 50, 100, 10]);
    }

    #[test]
    fn nothing_passes_a_flush_and_it_does_not_move_the_head() {
        let mut list = DispatchList::new();
        list.insert(&request(Op::Write, 500));
        list.push_flush(RequestId(0));
        list.insert(&request(Op::Write, 100));
        list.insert(&request(Op::Write, 900));
        assert_eq!(list.pop(), Some(RequestId(500)));
        assert_eq!(list.pop(), Some(RequestId(0)));
        list.insert(&request(Op::Write, 600));
        // The head is still at 508, so 600 lies ahead and 100 behind.
        assert_eq!(emptied(list), [600, 100, 900]);
    }
}
