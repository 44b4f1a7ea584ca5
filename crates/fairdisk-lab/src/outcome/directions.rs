//! Reads and writes by themselves.

use fairdisk_core::Histogram;
use fairdisk_sim::machine::OpTally;

/// What was read, or written.
#[derive(Clone, Debug, Default)]
pub struct Amount {
    /// I/Os.
    pub ios: f64,
    /// Bytes.
    pub bytes: f64,
    /// Latencies of all seeds.
    pub latency: Histogram,
}

/// What was read and what was written.
#[derive(Clone, Debug, Default)]
pub struct Directions {
    /// Read.
    pub read: Amount,
    /// Written.
    pub write: Amount,
}

impl Directions {
    /// With what somebody else came to.
    pub(super) fn with(mut self, other: &Self) -> Self {
        for (one, other) in [(&mut self.read, &other.read), (&mut self.write, &other.write)] {
            one.ios += other.ios;
            one.bytes += other.bytes;
            one.latency.merge(&other.latency);
        }
        self
    }

    /// Means over runs, each of which is its reads and its writes.
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
