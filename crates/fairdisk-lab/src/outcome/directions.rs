//! Reads, writes, flushes and trims separately.

use fairdisk_core::Histogram;
use fairdisk_sim::machine::OpTally;

/// An amount of reads, of writes, of flushes or of trims.
#[derive(Clone, Debug, Default)]
pub struct Amount {
    /// Mean number of I/Os, or of flushes, per run.
    pub ios: f64,
    /// Mean bytes per run; of trims those that were discarded.
    pub bytes: f64,
    /// Latencies over all seeds.
    pub latency: Histogram,
}

/// Reads, writes, flushes and trims separately.
#[derive(Clone, Debug, Default)]
pub struct Directions {
    /// Reads.
    pub read: Amount,
    /// Writes.
    pub write: Amount,
    /// Flushes: `fsync` and `fdatasync`. They are no I/Os, and no other latency includes them.
    pub flush: Amount,
    /// Trims. Their bytes are in no other amount.
    pub trim: Amount,
}

impl Directions {
    /// Whether `fsync` or `fdatasync` was called.
    pub(crate) const fn has_flushes(&self) -> bool {
        self.flush.latency.count() > 0
    }

    /// The sum with what another subject did.
    pub(super) fn with(mut self, other: &Self) -> Self {
        let pairs = [
            (&mut self.read, &other.read),
            (&mut self.write, &other.write),
            (&mut self.flush, &other.flush),
            (&mut self.trim, &other.trim),
        ];
        for (one, other) in pairs {
            one.ios += other.ios;
            one.bytes += other.bytes;
            one.latency.merge(&other.latency);
        }
        self
    }

    /// Means over runs, given the reads, the writes, the flushes and the trims of each.
    pub(super) fn of<'a>(runs: impl Iterator<Item = [&'a OpTally; 4]> + Clone) -> Self {
        let amount = |at: usize| {
            let mut all = OpTally::default();
            runs.clone().for_each(|run| all.add(run[at]));
            let runs = runs.clone().count().max(1) as f64;
            Amount {
                ios: all.ios as f64 / runs,
                bytes: all.bytes as f64 / runs,
                latency: all.latency().cloned().unwrap_or_default(),
            }
        };
        Self { read: amount(0), write: amount(1), flush: amount(2), trim: amount(3) }
    }
}
