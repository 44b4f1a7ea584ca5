//! Reads and writes separately.

use fairdisk_core::Histogram;
use fairdisk_sim::machine::OpTally;

/// An amount of reads or of writes.
#[derive(Clone, Debug, Default)]
pub struct Amount {
    /// Mean number of I/Os per run.
    pub ios: f64,
    /// Mean bytes per run.
    pub bytes: f64,
    /// Latencies over all seeds.
    pub latency: Histogram,
}

/// Reads and writes separately.
#[derive(Clone, Debug, Default)]
pub struct Directions {
    /// Reads.
    pub read: Amount,
    /// Writes.
    pub write: Amount,
}

impl Directions {
    /// The sum with another subject's reads and writes.
    pub(super) fn with(mut self, other: &Self) -> Self {
        for (one, other) in [(&mut self.read, &other.read), (&mut self.write, &other.write)] {
            one.ios += other.ios;
            one.bytes += other.bytes;
            one.latency.merge(&other.latency);
        }
        self
    }

    /// Means over runs, given the reads and the writes of each run.
    pub(super) fn of<'a>(runs: impl Iterator<Item = [&'a OpTally; 2]> + Clone) -> Self {
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
        Self { read: amount(0), write: amount(1) }
    }
}
