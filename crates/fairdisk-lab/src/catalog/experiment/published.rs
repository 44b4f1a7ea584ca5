//! What sources print: figures of a row, and changes from one arm to another.

use super::{Measure, Quantity, Subject};
use crate::catalog::pair::optional;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What the source prints for one row under one scheduler.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The arm.
    pub arm: String,
    /// The row.
    pub row: String,
    /// I/Os of all groups.
    pub total: Option<f64>,
    /// I/Os of each group, in order.
    pub ios: Option<Vec<f64>>,
    /// Percentage of the I/Os of each group, in order, where there are no counts.
    pub percent: Option<Vec<f64>>,
    /// Percentage of reads of each group, in order.
    pub read_percent: Option<Vec<f64>>,
    /// Seconds of each named task, in order.
    pub seconds: Option<Vec<f64>>,
    /// Million bytes per second of each named task, in order.
    pub mb_per_s: Option<Vec<f64>>,
    /// MiB/s instead.
    pub mib_per_s: Option<Vec<f64>>,
    /// KiB/s instead.
    pub kib_per_s: Option<Vec<f64>>,
    /// Other figures of everybody together.
    #[serde(default)]
    pub all: BTreeMap<Quantity, f64>,
    /// Other figures of each group, in order; one that is not printed is not a number.
    #[serde(default)]
    pub groups: BTreeMap<Quantity, Vec<f64>>,
    /// Other figures of each named task, likewise.
    #[serde(default)]
    pub tasks: BTreeMap<Quantity, Vec<f64>>,
}

/// What the source prints about one arm beside another: by how much a figure changes. Without
/// further keys, of the bytes per second of everybody together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedChange {
    /// The row.
    pub row: String,
    /// The arm that is compared with.
    pub from: String,
    /// The arm that differs.
    pub to: String,
    /// What changes.
    pub figure: Option<Quantity>,
    /// The group whose figure it is.
    pub group: Option<String>,
    /// The named task whose figure it is.
    pub task: Option<String>,
    /// By how much, in percent; negative is a loss.
    pub percent: Option<f64>,
    /// From this to that many percent.
    #[serde(default, deserialize_with = "optional")]
    pub range: Option<[f64; 2]>,
    /// That it is more, or less, than `percent`.
    pub bound: Option<Bound>,
}

/// Which side of a figure something is on.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// As far from nothing as the figure, or further.
    More,
    /// No further from nothing than the figure, to the same side.
    Less,
}

impl PublishedChange {
    /// What the source prints, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { percent, range, bound, .. } = self;
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

    /// What changes.
    #[must_use]
    pub fn figure(&self) -> Quantity {
        self.figure.unwrap_or(Quantity::of_all(Measure::MbPerS))
    }

    /// What the source allows for, in percent: from, to.
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

    /// How far a change is from what the source allows for, in percentage points.
    #[must_use]
    pub fn distance(&self, percent: f64) -> f64 {
        let [low, high] = self.allowed();
        (low - percent).max(percent - high).max(0.0)
    }
}

impl Published {
    /// The figures that have no key of their own: of whom, and of each of them in order.
    pub fn columns(&self) -> impl Iterator<Item = (Subject, Quantity, Vec<f64>)> {
        let all = self.all.iter().map(|(quantity, figure)| (*quantity, vec![*figure]));
        let all = all.map(|(quantity, figures)| (Subject::All, quantity, figures));
        let of = |subject, lists: &BTreeMap<Quantity, Vec<f64>>| {
            let lists = lists.clone().into_iter();
            lists.map(move |(quantity, figures)| (subject, quantity, figures))
        };
        all.chain(of(Subject::Groups, &self.groups)).chain(of(Subject::Tasks, &self.tasks))
    }

    /// Leaves out what a run of another length does not compare with; whether there was any.
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

    /// The rates of the named tasks: the key, the figures, and how many bytes per second one is.
    #[must_use]
    pub const fn rates(&self) -> [(&'static str, Option<&Vec<f64>>, f64); 3] {
        [
            ("mb_per_s", self.mb_per_s.as_ref(), 1e6),
            ("mib_per_s", self.mib_per_s.as_ref(), 1_048_576.0),
            ("kib_per_s", self.kib_per_s.as_ref(), 1024.0),
        ]
    }

    /// The rate of the named task at `at`, in million bytes per second.
    #[must_use]
    pub fn mb_per_s(&self, at: usize) -> Option<f64> {
        let rate = |(_, list, unit): (_, Option<&Vec<f64>>, f64)| {
            Some(list?.get(at)? * unit / 1e6).filter(|rate| !rate.is_nan())
        };
        self.rates().into_iter().find_map(rate)
    }
}
