//! The count of free pages that checks of watermarks see (spec: memory, 1.6).
//!
//! It differs from what is on the lists of free blocks. Each CPU keeps a small difference to
//! itself; and for as long as a batch is on its way to the lists, it may be counted or not.

use fairdisk_core::{Instant, Span};
use std::collections::VecDeque;

/// Pages on their way to the lists of free blocks.
#[derive(Clone, Copy, Debug)]
struct OnTheWay {
    there: Instant,
    cpu: u32,
    pages: i64,
}

#[derive(Debug)]
pub(super) struct FreeCount {
    counted: i64,
    /// What each CPU has kept to itself.
    kept: Vec<i64>,
    kept_max: i64,
    /// Batches that count once they are there, in order.
    on_the_way: VecDeque<OnTheWay>,
    /// Whether batches count once they are there, not before.
    counts_after: bool,
    /// For how long the lists of free blocks are locked for each page that is returned.
    return_span: Span,
    /// The end of the last such time. One CPU returns pages at a time.
    locked_until: Instant,
}

impl FreeCount {
    pub(super) fn new(
        free: u64,
        cpus: u32,
        kept_max: u32,
        counts_after: bool,
        return_span: Span,
    ) -> Self {
        Self {
            counted: free as i64,
            kept: vec![0; cpus as usize],
            kept_max: i64::from(kept_max),
            on_the_way: VecDeque::with_capacity(64),
            counts_after,
            return_span,
            locked_until: Instant::ZERO,
        }
    }

    /// Counts pages that a CPU has taken from free blocks.
    pub(super) fn taken(&mut self, cpu: u32, pages: u32) {
        self.add(cpu, -i64::from(pages));
    }

    /// Counts pages that a CPU begins to return to free blocks.
    pub(super) fn returned(&mut self, now: Instant, cpu: u32, pages: u32) {
        if !self.counts_after || self.return_span == Span::ZERO {
            return self.add(cpu, i64::from(pages));
        }
        let held = Span::from_ns(self.return_span.as_ns() * u64::from(pages));
        let there = self.locked_until.max(now) + held;
        self.locked_until = there;
        self.on_the_way.push_back(OnTheWay { there, cpu, pages: i64::from(pages) });
    }

    /// The count as a check of a watermark sees it, exact or as it is known without asking the
    /// CPUs. It can be below zero by what the CPUs keep back.
    pub(super) fn seen(&mut self, now: Instant, exactly: bool) -> i64 {
        while let Some(batch) = self.on_the_way.front().filter(|batch| batch.there <= now).copied()
        {
            self.on_the_way.pop_front();
            self.add(batch.cpu, batch.pages);
        }
        self.counted + if exactly { self.kept.iter().sum() } else { 0 }
    }

    /// The number of pages on the lists of free blocks, once all is counted.
    pub(super) fn all(&self) -> i64 {
        let on_the_way: i64 = self.on_the_way.iter().map(|batch| batch.pages).sum();
        self.counted + on_the_way + self.kept.iter().sum::<i64>()
    }

    fn add(&mut self, cpu: u32, pages: i64) {
        let kept = &mut self.kept[cpu as usize];
        *kept += pages;
        if kept.abs() > self.kept_max {
            self.counted += std::mem::take(kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Instant {
        Instant::from_ns(us * 1000)
    }

    fn count(kept_max: u32, counts_after: bool) -> FreeCount {
        FreeCount::new(1000, 4, kept_max, counts_after, Span::from_us(1))
    }

    #[test]
    fn a_cpu_keeps_small_differences_to_itself() {
        let mut count = count(12, false);
        count.taken(0, 12);
        count.taken(1, 7);
        assert_eq!(count.seen(us(0), false), 1000, "nobody knows");
        assert_eq!(count.seen(us(0), true), 981);
        count.taken(0, 1);
        assert_eq!(count.seen(us(0), false), 987, "one CPU has told");
        count.returned(us(0), 1, 7);
        assert_eq!((count.seen(us(0), false), count.all()), (987, 987));
    }

    #[test]
    fn returned_pages_count_at_once_or_when_they_are_there() {
        let (mut before, mut after) = (count(0, false), count(0, true));
        for count in [&mut before, &mut after] {
            count.returned(us(10), 0, 15);
            count.returned(us(11), 1, 15);
            assert_eq!(count.all(), 1030);
        }
        assert_eq!(before.seen(us(11), false), 1030);
        assert_eq!(after.seen(us(24), true), 1000);
        assert_eq!(after.seen(us(25), false), 1015);
        assert_eq!(after.seen(us(39), false), 1015, "the second waited for the first");
        assert_eq!(after.seen(us(40), false), 1030);
    }
}
