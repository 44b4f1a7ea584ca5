//! The figures that a source gives for a group, and what its authors expected.

use super::{Series, part, total_ios};
use crate::plan::Figures;
use crate::run::{Ensemble, RunResult};

/// The figures that the source gives for a group, including nested groups.
#[derive(Clone, Debug)]
pub struct PublishedGroup {
    /// Number of I/Os.
    pub ios: Option<f64>,
    /// Share of all I/Os.
    pub share: Option<f64>,
    /// Fraction of its I/Os that are reads.
    pub read_share: Option<f64>,
    /// The share of all I/Os that was expected.
    pub expected: Option<f64>,
    /// The measured share to compare with these: that of the group and of groups nested in it.
    pub ours: Series,
    /// Whether the share could be different; it could not if one group has all tasks.
    pub is_contested: bool,
}

impl PublishedGroup {
    /// The figures for the group with index `at`, if there are any.
    pub(super) fn of(figures: &Figures, at: usize, ensemble: &Ensemble) -> Option<Self> {
        let read_share = figures.published.read_percent.as_ref().map(|list| list[at] / 100.0);
        let ios = figures.published.ios.as_ref().map(|list| list[at]);
        let (share, expected) = (figures.share(at), figures.expected(at));
        let members = figures.members(at);
        let ours = |run: &RunResult| {
            let ios = members.iter().map(|member| run.groups[*member].ios).sum::<u64>();
            part(ios as f64, total_ios(run) as f64)
        };
        share.or(expected).or(read_share).is_some().then(|| Self {
            ios,
            share,
            read_share,
            expected,
            ours: Series::of(ensemble.runs.iter().map(ours).collect()),
            is_contested: figures.is_contested(at),
        })
    }
}

impl PublishedGroup {
    /// Whether the source gives a figure of the group, and does not only expect one.
    #[must_use]
    pub const fn is_published(&self) -> bool {
        self.share.is_some() || self.read_share.is_some()
    }

    /// How far the expected share is from the published one, in percentage points.
    #[must_use]
    pub fn estimate_error(&self) -> Option<f64> {
        Some((self.expected? - self.share?) * 100.0)
    }
}
