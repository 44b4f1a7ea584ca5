//! Published results: figures of a row, and changes between arms.

use super::{Measure, Quantity, Subject};
use crate::catalog::pair::optional;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The figures that the source gives for one row under one arm.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The name of the arm.
    pub arm: String,
    /// The label of the row.
    pub row: String,
    /// I/Os of all groups together.
    pub total: Option<f64>,
    /// I/Os of each group, in order.
    pub ios: Option<Vec<f64>>,
    /// Percentage of all I/Os of each group, in order, where the source gives no counts.
    pub percent: Option<Vec<f64>>,
    /// Percentage of reads of each group, in order.
    pub read_percent: Option<Vec<f64>>,
    /// Run time of each named task in seconds, in order.
    pub seconds: Option<Vec<f64>>,
    /// Rate of each named task in millions of bytes per second, in order.
    pub mb_per_s: Option<Vec<f64>>,
    /// Rate of each named task in MiB/s, in order.
    pub mib_per_s: Option<Vec<f64>>,
    /// Rate of each named task in KiB/s, in order.
    pub kib_per_s: Option<Vec<f64>>,
    /// Other figures, over everything.
    #[serde(default)]
    pub all: BTreeMap<Quantity, f64>,
    /// Other figures of each group, in order; NaN for one that is not given.
    #[serde(default)]
    pub groups: BTreeMap<Quantity, Vec<f64>>,
    /// Other figures of each named task, in order; NaN for one that is not given.
    #[serde(default)]
    pub tasks: BTreeMap<Quantity, Vec<f64>>,
}

/// A change in a figure between two arms that the source gives. Unless other keys say so, it is in
/// the bytes per second over everything.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedChange {
    /// The label of the row; empty if it is about several.
    #[serde(default)]
    pub row: String,
    /// The labels of several rows.
    #[serde(default)]
    pub rows: Vec<String>,
    /// What several rows have in common that changes.
    pub over: Option<Over>,
    /// The row in which the change is the largest of all.
    pub at: Option<String>,
    /// The arm that is compared with.
    pub from: String,
    /// The arm that differs.
    pub to: String,
    /// The quantity that changes.
    pub figure: Option<Quantity>,
    /// The group whose figure it is.
    pub group: Option<String>,
    /// The named task whose figure it is.
    pub task: Option<String>,
    /// The change in percent; negative is a loss.
    pub percent: Option<f64>,
    /// The range of the change in percent.
    #[serde(default, deserialize_with = "optional")]
    pub range: Option<[f64; 2]>,
    /// Whether the change is more, or less, than `percent`.
    pub bound: Option<Bound>,
}

/// The one change that stands for those of several rows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// Their mean.
    Mean,
    /// The one that is furthest from zero.
    Largest,
}

impl Over {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Largest => "largest",
        }
    }

    /// The change that stands for these.
    #[must_use]
    pub fn of(self, percents: &[f64]) -> f64 {
        match self {
            Self::Mean => percents.iter().sum::<f64>() / percents.len().max(1) as f64,
            Self::Largest => {
                let further = |one: &f64, two: &f64| one.abs().total_cmp(&two.abs());
                percents.iter().copied().max_by(further).unwrap_or_default()
            }
        }
    }
}

/// The side of a figure on which a value lies.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// At least as far from zero as the figure.
    More,
    /// On the same side of zero as the figure, and no further from it.
    Less,
}

impl PublishedChange {
    /// The labels of the rows that it is about.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        if self.rows.is_empty() { std::slice::from_ref(&self.row) } else { &self.rows }
    }

    /// The published change in words.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { percent, range, bound, at, .. } = self;
        if let Some(row) = at {
            return format!("in {row}");
        }
        let percent = percent.unwrap_or_default();
        match (range, bound) {
            (Some([from, to]), _) => format!("{from:+} to {to:+}"),
            (None, None) => format!("{percent:+}"),
            (None, Some(Bound::More)) if percent < 0.0 => format!("{percent:+} or below"),
            (None, Some(Bound::More)) => format!("{percent:+} or above"),
            (None, Some(Bound::Less)) if percent < 0.0 => format!("{percent:+} to 0"),
            (None, Some(Bound::Less)) => format!("0 to {percent:+}"),
        }
    }

    /// The quantity that changes.
    #[must_use]
    pub fn figure(&self) -> Quantity {
        self.figure.unwrap_or(Quantity::of_all(Measure::MbPerS))
    }

    /// The range in percent that the source allows.
    #[must_use]
    pub fn allowed(&self) -> [f64; 2] {
        let figure = self.percent.unwrap_or_default();
        match (self.range, self.bound) {
            (Some([one, two]), _) => [one.min(two), one.max(two)],
            (None, None) => [figure, figure],
            (None, Some(Bound::More)) if figure < 0.0 => [f64::NEG_INFINITY, figure],
            (None, Some(Bound::More)) => [figure, f64::INFINITY],
            (None, Some(Bound::Less)) => [figure.min(0.0), figure.max(0.0)],
        }
    }

    /// The distance of a change from the allowed range, in percentage points.
    #[must_use]
    pub fn distance(&self, percent: f64) -> f64 {
        let [low, high] = self.allowed();
        (low - percent).max(percent - high).max(0.0)
    }
}

impl Published {
    /// The figures without a key of their own: the subject, the quantity and the figures in order.
    pub fn columns(&self) -> impl Iterator<Item = (Subject, Quantity, Vec<f64>)> {
        let all = self.all.iter().map(|(quantity, figure)| (*quantity, vec![*figure]));
        let all = all.map(|(quantity, figures)| (Subject::All, quantity, figures));
        let of = |subject, lists: &BTreeMap<Quantity, Vec<f64>>| {
            let lists = lists.clone().into_iter();
            lists.map(move |(quantity, figures)| (subject, quantity, figures))
        };
        all.chain(of(Subject::Groups, &self.groups)).chain(of(Subject::Tasks, &self.tasks))
    }

    /// Drops figures that cannot be compared with a run of another length. Returns whether there
    /// were any.
    pub(crate) fn drop_amounts(&mut self) -> bool {
        let lists = self.groups.keys().chain(self.tasks.keys());
        let had_some = self.total.is_some()
            || self.ios.is_some()
            || lists.chain(self.all.keys()).any(|quantity| quantity.is_amount());
        self.total = None;
        if let Some(ios) = self.ios.take() {
            let all: f64 = ios.iter().sum();
            self.percent = Some(ios.iter().map(|ios| 100.0 * ios / all).collect());
        }
        self.all.retain(|quantity, _| !quantity.is_amount());
        self.groups.retain(|quantity, _| !quantity.is_amount());
        self.tasks.retain(|quantity, _| !quantity.is_amount());
        had_some
    }

    /// The rates of named tasks: the key, the figures, and the unit in bytes per second.
    #[must_use]
    pub const fn rates(&self) -> [(&'static str, Option<&Vec<f64>>, f64); 3] {
        [
            ("mb_per_s", self.mb_per_s.as_ref(), 1e6),
            ("mib_per_s", self.mib_per_s.as_ref(), 1_048_576.0),
            ("kib_per_s", self.kib_per_s.as_ref(), 1024.0),
        ]
    }

    /// The rate of the named task with index `at`, in millions of bytes per second.
    #[must_use]
    pub fn mb_per_s(&self, at: usize) -> Option<f64> {
        let rate = |(_, list, unit): (_, Option<&Vec<f64>>, f64)| {
            Some(list?.get(at)? * unit / 1e6).filter(|rate| !rate.is_nan())
        };
        self.rates().into_iter().find_map(rate)
    }
}
