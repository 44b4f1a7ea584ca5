//! What is measured of a job, and what many measurements come to.

/// What the rate of a job counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Ios,
    Megabytes,
    /// Writes that are durable together count as one.
    Commits {
        writes: u32,
    },
}

impl Measure {
    pub(super) const fn unit(self) -> &'static str {
        match self {
            Self::Ios => "I/Os/s",
            Self::Megabytes => "MB/s",
            Self::Commits { .. } => "commits/s",
        }
    }

    /// The rate, of I/Os and of bytes a second.
    pub(super) fn rate(self, ios_per_s: f64, bytes_per_s: f64) -> f64 {
        match self {
            Self::Ios => ios_per_s,
            Self::Megabytes => bytes_per_s / 1e6,
            Self::Commits { writes } => ios_per_s / f64::from(writes),
        }
    }
}

/// The 50th and the 99th percentile in ms.
pub(super) type Percentiles = [f64; 2];

/// A job over one stretch of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) rate: f64,
    pub(super) ios_per_s: f64,
    /// How long an I/O takes, or a transaction; of some programs nobody knows it.
    pub(super) latency: Option<Percentiles>,
    /// How long `fsync` takes.
    pub(super) fsync: Option<Percentiles>,
}

/// The value in the middle; none of none.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let (half, odd) = (values.len() / 2, values.len() % 2 == 1);
    let upper = *values.get(half)?;
    Some(if odd { upper } else { f64::midpoint(values[half - 1], upper) })
}

/// The least and the most; none of none.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let finite = values.into_iter().filter(|value| value.is_finite()).map(|value| [value, value]);
    finite.reduce(|all, one| [all[0].min(one[0]), all[1].max(one[1])])
}

/// The 50th and the 99th percentile of latencies; none of none.
pub(super) fn percentiles(mut values_ms: Vec<f64>) -> Option<Percentiles> {
    values_ms.sort_by(f64::total_cmp);
    let last = values_ms.len().checked_sub(1)?;
    Some([values_ms[last / 2], values_ms[last * 99 / 100]])
}

#[test]
fn the_middle_of_values() {
    assert_eq!(median([]), None);
    assert_eq!(median([3.0, 1.0, f64::NAN, 2.0]), Some(2.0));
    assert_eq!(median([4.0, 1.0]), Some(2.5));
    assert_eq!(range([4.0, f64::INFINITY, 1.0, 2.0]), Some([1.0, 4.0]));
    assert_eq!(percentiles((0..=100).map(f64::from).collect()), Some([50.0, 99.0]));
}
