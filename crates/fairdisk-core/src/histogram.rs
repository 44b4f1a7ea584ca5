//! Latency histograms in integer arithmetic. Buckets are log-linear, 16 per power of two, so each
//! is at most 6 % wide.

use crate::time::Span;
use alloc::vec::Vec;

const SUB_BITS: u32 = 4;
const SUB: u64 = 1 << SUB_BITS;
const BUCKETS: usize = ((64 - SUB_BITS + 1) << SUB_BITS) as usize;

/// A histogram of spans.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Empty until the first span is counted.
    counts: Vec<u64>,
    total: u64,
    sum_ns: u64,
    squares_ns2: u128,
    min: Span,
    max: Span,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram. All the memory it will ever need is allocated with the first span.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            counts: Vec::new(),
            total: 0,
            sum_ns: 0,
            squares_ns2: 0,
            min: Span::MAX,
            max: Span::ZERO,
        }
    }

    /// Counts one span.
    #[inline]
    pub fn record(&mut self, span: Span) {
        if self.counts.is_empty() {
            self.begin();
        }
        self.counts[bucket(span.as_ns())] += 1;
        self.total += 1;
        self.sum_ns = self.sum_ns.saturating_add(span.as_ns());
        let ns = u128::from(span.as_ns());
        self.squares_ns2 = self.squares_ns2.saturating_add(ns * ns);
        self.min = self.min.min(span);
        self.max = self.max.max(span);
    }

    #[cold]
    fn begin(&mut self) {
        self.counts = alloc::vec![0; BUCKETS];
    }

    /// The number of spans counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.total
    }

    /// The longest span counted; zero when empty.
    #[must_use]
    pub const fn max(&self) -> Span {
        self.max
    }

    /// The shortest span counted; zero when empty.
    #[must_use]
    pub const fn min(&self) -> Span {
        if self.total == 0 { Span::ZERO } else { self.min }
    }

    /// The sum of the squares of all spans, in square nanoseconds.
    #[must_use]
    pub const fn squares_ns2(&self) -> u128 {
        self.squares_ns2
    }

    /// The sum of all spans; saturates.
    #[must_use]
    pub const fn sum(&self) -> Span {
        Span::from_ns(self.sum_ns)
    }

    /// The span that `per_mille` of 1000 spans do not exceed; zero when empty. Interpolates within
    /// a bucket as if its spans were spread evenly, within the limits of the shortest and the
    /// longest span.
    #[must_use]
    pub fn quantile(&self, per_mille: u32) -> Span {
        let rank = (self.total * u64::from(per_mille)).div_ceil(1000).max(1);
        let mut below = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            if below + count >= rank && rank < self.total {
                return self.within(index, rank - below, count);
            }
            below += count;
        }
        self.max
    }

    /// The assumed length of the `nth` of the `count` spans in a bucket: the middle of its part of
    /// the bucket.
    fn within(&self, index: usize, nth: u64, count: u64) -> Span {
        let lower = lower_edge(index).max(self.min.as_ns());
        let width = upper_edge(index).min(self.max.as_ns()) - lower;
        let parts = u128::from(2 * nth - 1) * u128::from(width) / u128::from(2 * count);
        Span::from_ns(lower + parts as u64)
    }

    /// The buckets in ascending order: the longest span that falls into each, and how many have
    /// been counted. There are none before the first span.
    pub fn buckets(&self) -> impl Iterator<Item = (Span, u64)> {
        let counts = self.counts.iter().enumerate();
        counts.map(|(index, count)| (Span::from_ns(upper_edge(index)), *count))
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.is_empty() && !other.counts.is_empty() {
            self.begin();
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.squares_ns2 = self.squares_ns2.saturating_add(other.squares_ns2);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

fn bucket(ns: u64) -> usize {
    if ns < SUB {
        return ns as usize;
    }
    let shift = 63 - ns.leading_zeros() - SUB_BITS;
    ((u64::from(shift + 1) << SUB_BITS) + ((ns >> shift) - SUB)) as usize
}

fn lower_edge(index: usize) -> u64 {
    index.checked_sub(1).map_or(0, |before| upper_edge(before) + 1)
}

fn upper_edge(index: usize) -> u64 {
    let (group, sub) = ((index as u64) >> SUB_BITS, (index as u64) & (SUB - 1));
    if group == 0 {
        return sub;
    }
    (((SUB + sub + 1) as u128) << (group - 1)).saturating_sub(1).min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_at_most_its_bucket_edge_and_the_edge_is_close() {
        for ns in (0..10_000).chain((10..63).map(|bit| (1u64 << bit) + 12_345)) {
            let edge = upper_edge(bucket(ns));
            assert!(edge >= ns && edge - ns <= ns / 16, "{ns} -> {edge}");
        }
        assert_eq!(upper_edge(bucket(u64::MAX)), u64::MAX);
    }

    #[test]
    fn counts_go_on_beyond_four_thousand_million() {
        let mut histogram = Histogram::new();
        histogram.record(Span::from_ms(7));
        (0..33).for_each(|_| histogram.merge(&histogram.clone()));
        histogram.record(Span::from_ms(9));
        assert_eq!(histogram.count(), (1 << 33) + 1);
        assert_eq!(histogram.buckets().map(|(_, count)| count).max(), Some(1 << 33));
        assert!(histogram.quantile(999) < Span::from_ms(8));
    }

    #[test]
    fn quantiles_of_a_known_series() {
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|ms| histogram.record(Span::from_ms(ms)));
        assert_eq!(histogram.max(), Span::from_ms(1000));
        for per_mille in (10..1000).step_by(10) {
            let (found, exact) =
                (histogram.quantile(per_mille).as_us(), u64::from(per_mille) * 1000);
            assert!(found.abs_diff(exact) <= exact / 100 + 1000, "{per_mille}: {found} us");
        }
        assert_eq!(histogram.quantile(1000), Span::from_ms(1000));
        assert_eq!((histogram.min(), Histogram::new().min()), (Span::from_ms(1), Span::ZERO));
        // The sum of 1, 4, … 1000000 square milliseconds.
        assert_eq!(histogram.squares_ns2(), 333_833_500 * 1_000_000_000_000);
    }

    #[test]
    fn equal_spans_are_their_own_quantiles() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.quantile(500), Span::ZERO);
        (0..10).for_each(|_| histogram.record(Span::from_us(8_123)));
        for per_mille in [0, 1, 500, 990, 1000] {
            assert_eq!(histogram.quantile(per_mille), Span::from_us(8_123));
        }
    }
}
