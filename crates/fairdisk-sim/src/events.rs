//! The event queue, totally ordered by time and then by order of scheduling.

use fairdisk_core::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of events kept in the sorted line. There are rarely more.
const IN_LINE: usize = 8;

/// Scheduled events of type `T`. Events at equal times come out in the order in which they were
/// added.
#[derive(Clone, Debug)]
pub(crate) struct Events<T> {
    /// The earliest events in descending order, so that the earliest is last.
    line: Vec<Entry<T>>,
    /// All events later than those in `line`.
    heap: BinaryHeap<Reverse<Entry<T>>>,
    serial: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    at: Instant,
    serial: u64,
    event: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.serial) == (other.at, other.serial)
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.serial).cmp(&(other.at, other.serial))
    }
}

impl<T: Copy> Events<T> {
    pub(crate) fn new() -> Self {
        Self { line: Vec::with_capacity(IN_LINE + 1), heap: BinaryHeap::new(), serial: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, at: Instant, event: T) {
        self.serial += 1;
        let entry = Entry { at, serial: self.serial, event };
        let is_first = self.next_at().is_none_or(|next| at < next);
        if is_first && self.line.len() < IN_LINE {
            self.line.push(entry);
        } else {
            self.push_among(entry);
        }
    }

    #[inline(never)]
    fn push_among(&mut self, entry: Entry<T>) {
        let at = entry.at;
        if self.heap.peek().is_some_and(|first| first.0.at <= at) {
            return self.push_behind(entry);
        }
        let mut place = self.line.len();
        self.line.push(entry);
        while place > 0 && self.line[place - 1].at <= at {
            self.line[place] = self.line[place - 1];
            place -= 1;
        }
        self.line[place] = entry;
        if self.line.len() > IN_LINE {
            let last = self.line.remove(0);
            self.push_behind(last);
        }
    }

    #[cold]
    fn push_behind(&mut self, entry: Entry<T>) {
        self.heap.push(Reverse(entry));
    }

    #[inline]
    pub(crate) fn next_at(&self) -> Option<Instant> {
        self.line.last().map(|entry| entry.at)
    }

    /// Whether an event is due at `now`.
    #[inline]
    pub(crate) fn are_due(&self, now: Instant) -> bool {
        self.next_at().is_some_and(|next| next <= now)
    }

    /// Removes and returns the first event due at `now`.
    #[inline(always)]
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<T> {
        let first = self.line.pop_if(|entry| entry.at <= now)?;
        if self.line.is_empty() {
            self.fetch();
        }
        Some(first.event)
    }

    /// Refills the empty line with the first event of the heap.
    #[inline(never)]
    fn fetch(&mut self) {
        self.line.extend(self.heap.pop().map(|entry| entry.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_core::Prng;

    /// The specification: sorted by time, then by order of scheduling.
    fn first_due(waiting: &mut Vec<(u64, u32)>, now: u64) -> Option<u32> {
        let at = (0..waiting.len()).min_by_key(|at| waiting[*at].0)?;
        (waiting[at].0 <= now).then(|| waiting.remove(at).1)
    }

    #[test]
    fn agrees_with_sorting_everything() {
        let mut prng = Prng::new(3);
        let mut events = Events::new();
        let mut waiting: Vec<(u64, u32)> = Vec::new();
        let mut now = 0;
        for number in 0..20_000 {
            now += prng.below(3) * prng.below(2);
            let time = Instant::from_ns(now);
            // Let the number of waiting events vary.
            if prng.below(100) < 30 + number as u64 / 200 % 40 {
                let at = now + prng.below(20);
                events.push(Instant::from_ns(at), number);
                waiting.push((at, number));
            } else {
                assert_eq!(events.pop_due(time), first_due(&mut waiting, now));
            }
            let next = waiting.iter().map(|(at, _)| *at).min();
            assert_eq!(events.next_at(), next.map(Instant::from_ns));
        }
    }
}
