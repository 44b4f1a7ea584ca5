//! Results as JSON: what those of several commands have in common. The types with `Results` in
//! their names say what a command prints, and `fairdisk schema` shows their names and comments.

use crate::catalog::experiment::PublishedChange;
use crate::outcome::{Amount, Regime, Regimes, Series};
use fairdisk_core::{Histogram, Share, Span};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of all results: another one if a name changes its meaning.
pub const SCHEMA: u32 = 1;

/// Results, with the version and the command by which they were made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Document<T> {
    /// What the command prints.
    #[serde(flatten)]
    pub results: T,
    /// The version of the program.
    pub version: String,
    /// The command, quoted for the shell.
    pub command: String,
}

/// Results that may lack something.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Partial<T> {
    /// What is there.
    #[serde(flatten)]
    pub results: T,
    /// `true` if Ctrl-C or a failure left something out or cut it short.
    #[serde(rename = "partial", skip_serializing_if = "is_false")]
    pub is_partial: bool,
}

/// Results as a JSON value.
///
/// # Panics
/// A map has keys that are no text, which is a mistake in the definition of a type.
pub fn value<T: Serialize>(results: &T) -> Value {
    serde_json::to_value(results).expect("results have text as keys")
}

/// Figures by their names; null where one is not known.
pub type Figures = BTreeMap<String, Option<f64>>;

/// Quantiles of latencies in milliseconds; null without I/Os.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LatencyMs {
    /// Half of them took at most this long.
    p50: Option<f64>,
    /// 99 of 100 took at most this long.
    p99: Option<f64>,
    /// 999 of 1000 took at most this long.
    p99_9: Option<f64>,
    /// The longest.
    max: Option<f64>,
}

/// How many took at most so many ms, and more than the number before says.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Counted {
    /// Upper ends in milliseconds.
    to_ms: Vec<f64>,
    /// How many are between an upper end and the one before.
    count: Vec<u64>,
}

/// Reads, writes or trims.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct IoAmount {
    /// I/Os in a run.
    ios: f64,
    /// Bytes in a run.
    bytes: f64,
    latency_ms: LatencyMs,
}

/// Flushes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FlushAmount {
    /// Flushes in a run.
    count: f64,
    latency_ms: LatencyMs,
}

/// What a group is due.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Claim {
    /// Its weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u32>,
    /// Its priority, 0 (high) to 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<u8>,
}

/// The figure of each run, and the kinds that runs fall into; none of a single run.
#[derive(Debug, Default)]
pub(crate) struct Each {
    pub(crate) each: Option<Vec<f64>>,
    pub(crate) regimes: Option<[Regime; 2]>,
}

/// A span in milliseconds.
pub(crate) fn ms(span: Span) -> f64 {
    span.as_ns() as f64 / 1e6
}

/// What a source gives of a change between two arms.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Allowed {
    /// The row in which it is the largest.
    Largest {
        /// The label of the row.
        largest_in: String,
    },
    /// A range.
    Range {
        /// The least; null without a bound.
        percent_min: Option<f64>,
        /// The most; null without a bound.
        percent_max: Option<f64>,
    },
}

impl From<&PublishedChange> for Allowed {
    fn from(published: &PublishedChange) -> Self {
        if let Some(row) = &published.at {
            return Self::Largest { largest_in: row.clone() };
        }
        // A side without a bound has no number.
        let [percent_min, percent_max] =
            published.allowed().map(|bound| bound.is_finite().then_some(bound));
        Self::Range { percent_min, percent_max }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes what it asks about so")]
pub(crate) const fn is_false(value: &bool) -> bool {
    !*value
}

impl From<&Histogram> for LatencyMs {
    fn from(latency: &Histogram) -> Self {
        let known = |span: Span| (latency.count() > 0).then(|| ms(span));
        Self {
            p50: known(latency.quantile(500)),
            p99: known(latency.quantile(990)),
            p99_9: known(latency.quantile(999)),
            max: known(latency.max()),
        }
    }
}

impl Counted {
    /// `None` if there were none.
    pub(crate) fn of(latency: &Histogram) -> Option<Self> {
        let counted = latency.buckets().filter(|(_, count)| *count > 0);
        let (to_ms, count): (Vec<f64>, Vec<u64>) =
            counted.map(|(to, count)| (ms(to), count)).unzip();
        (!count.is_empty()).then_some(Self { to_ms, count })
    }
}

impl IoAmount {
    /// `None` if there were no I/Os.
    pub(crate) fn of(amount: &Amount) -> Option<Self> {
        let Amount { ios, bytes, ref latency } = *amount;
        (ios > 0.0).then(|| Self { ios, bytes, latency_ms: latency.into() })
    }
}

impl FlushAmount {
    /// `None` if there were none.
    pub(crate) fn of(flushes: &Amount) -> Option<Self> {
        let Amount { ios: count, ref latency, .. } = *flushes;
        (count > 0.0).then(|| Self { count, latency_ms: latency.into() })
    }
}

impl From<Option<Share>> for Claim {
    fn from(claim: Option<Share>) -> Self {
        match claim {
            Some(Share::Weight(weight)) => Self { weight: Some(weight.get()), priority: None },
            Some(Share::Priority(priority)) => Self { weight: None, priority: Some(priority) },
            None => Self::default(),
        }
    }
}

impl Each {
    pub(crate) fn of(series: Option<&Series>) -> Self {
        let Some(series) = series.filter(|series| series.each.len() > 1) else {
            return Self::default();
        };
        Self {
            each: Some(series.each.clone()),
            regimes: series.regimes().map(|Regimes(both)| both),
        }
    }
}
