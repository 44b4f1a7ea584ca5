//! How long operations took, as the messages of the control protocol say it.

use fairdisk_core::{Histogram, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A bucket of a latency histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyCount {
    /// The upper end of the bucket in µs, inclusive.
    pub le_us: u64,
    /// The number of operations in the bucket.
    pub count: u64,
}

/// How long operations took. The times are upper ends of buckets, or missing if there were none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Latency {
    /// The number of operations.
    pub count: u64,
    /// The time in ms that half of them did not exceed.
    pub p50_ms: Option<f64>,
    /// The time in ms that 99 of 100 of them did not exceed.
    pub p99_ms: Option<f64>,
    /// The longest time in ms.
    pub max_ms: Option<f64>,
    /// The buckets with operations.
    pub buckets: Vec<LatencyCount>,
}

/// How long operations of each kind took, from the call to the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Latencies {
    /// Reads.
    pub read: Latency,
    /// Writes: those to the disk, not those to the page cache.
    pub write: Latency,
    /// Discards.
    pub discard: Latency,
    /// Flushes, such as `fsync`.
    pub flush: Latency,
}

/// What flushes waited for, one after another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlushWaits {
    /// The data that their files had dirty.
    pub own_data: Latency,
    /// The scheduler.
    pub scheduler: Latency,
    /// The `fsync` of SOURCE.
    pub source: Latency,
}

impl From<&Histogram> for Latency {
    fn from(histogram: &Histogram) -> Self {
        let mut buckets: Vec<LatencyCount> = Vec::new();
        for (to, count) in histogram.buckets().filter(|(_, count)| *count > 0) {
            let le_us = to.as_ns().div_ceil(1000);
            // The shortest latencies have buckets finer than a microsecond, which are combined.
            match buckets.last_mut() {
                Some(last) if last.le_us == le_us => last.count += count,
                _ => buckets.push(LatencyCount { le_us, count }),
            }
        }
        Self::of(buckets)
    }
}

impl Latency {
    fn of(buckets: Vec<LatencyCount>) -> Self {
        let longest = buckets.iter().rfind(|bucket| bucket.count > 0);
        Self {
            count: buckets.iter().map(|bucket| bucket.count).sum(),
            p50_ms: LatencyCount::quantile_ms(&buckets, 50),
            p99_ms: LatencyCount::quantile_ms(&buckets, 99),
            max_ms: longest.map(|bucket| bucket.le_us as f64 / 1e3),
            buckets,
        }
    }

    /// How long these and other operations took together.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for LatencyCount { le_us, count } in self.buckets.iter().chain(&other.buckets) {
            *counts.entry(*le_us).or_default() += count;
        }
        Self::of(counts.into_iter().map(|(le_us, count)| LatencyCount { le_us, count }).collect())
    }

    /// How long the operations took that came after those of `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let older = before.buckets.iter().map(|bucket| (bucket.le_us, bucket.count));
        let older: BTreeMap<u64, u64> = older.collect();
        let newer = |bucket: &LatencyCount| LatencyCount {
            le_us: bucket.le_us,
            count: bucket.count.saturating_sub(older.get(&bucket.le_us).copied().unwrap_or(0)),
        };
        Self::of(self.buckets.iter().map(newer).collect())
    }
}

impl Latencies {
    /// How long reads and writes took together, which is what a latency target is about.
    #[must_use]
    pub fn ios(&self) -> Latency {
        self.read.with(&self.write)
    }

    /// How long operations of all kinds took together.
    #[must_use]
    pub fn all(&self) -> Latency {
        self.ios().with(&self.discard).with(&self.flush)
    }

    /// How long the operations took that came after those of `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            read: self.read.since(&before.read),
            write: self.write.since(&before.write),
            discard: self.discard.since(&before.discard),
            flush: self.flush.since(&before.flush),
        }
    }

    /// The kinds, by the names under which they are shown.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Latency)> {
        let Self { read, write, discard, flush } = self;
        [("read", read), ("write", write), ("discard", discard), ("fsync", flush)].into_iter()
    }
}

impl FlushWaits {
    /// What flushes waited for that came after those of `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            own_data: self.own_data.since(&before.own_data),
            scheduler: self.scheduler.since(&before.scheduler),
            source: self.source.since(&before.source),
        }
    }
}

impl LatencyCount {
    /// The latency in ms that `percent` of the operations did not exceed; `None` if there were
    /// none.
    #[must_use]
    pub fn quantile_ms(counts: &[Self], percent: u64) -> Option<f64> {
        let total: u64 = counts.iter().map(|bucket| bucket.count).sum();
        let rank = (total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let found = counts.iter().find(|bucket| {
            seen += bucket.count;
            seen >= rank
        });
        found.map(|bucket| bucket.le_us as f64 / 1e3)
    }
}

pub(super) fn ms(span: Span) -> f64 {
    span.as_ns() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn bucket(le_us: u64, count: u64) -> LatencyCount {
        LatencyCount { le_us, count }
    }

    /// A client that subtracts two answers looks up each upper end once.
    #[test]
    fn what_took_as_many_microseconds_is_counted_together() {
        let mut histogram = Histogram::default();
        [4100, 4500, 9000].into_iter().for_each(|ns| histogram.record(Span::from_ns(ns)));
        assert_eq!(histogram.buckets().filter(|(_, count)| *count > 0).count(), 3);
        assert_eq!(Latency::from(&histogram).buckets, [bucket(5, 2), bucket(10, 1)]);
    }

    #[test]
    fn the_middle_is_found() {
        let counts = [bucket(1000, 50), bucket(2000, 48), bucket(9000, 2)];
        let quantiles = [50, 98, 99].map(|percent| LatencyCount::quantile_ms(&counts, percent));
        assert_eq!(quantiles, [Some(1.0), Some(2.0), Some(9.0)]);
        assert_eq!(LatencyCount::quantile_ms(&[], 50), None);
    }

    #[test]
    fn what_came_since_is_told_without_what_was_before() {
        let before = Latency::of(vec![bucket(1000, 50), bucket(9000, 2)]);
        let after = Latency::of(vec![bucket(1000, 51), bucket(2000, 3), bucket(9000, 2)]);
        let since = after.since(&before);
        let found = (since.count, since.p50_ms, since.p99_ms, since.max_ms);
        assert_eq!(found, (4, Some(2.0), Some(2.0), Some(2.0)));
        assert_eq!(after.since(&after).max_ms, None);
    }
}
