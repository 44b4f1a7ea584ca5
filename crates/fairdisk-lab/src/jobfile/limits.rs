//! Fairdisk's keys for a group's floors, ceilings and latency target.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use fairdisk_core::{Contradiction, Qos, Rates, Span};
use serde::Serialize;

/// A limit of a group; its key in a job file is `group_` followed by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The floor in I/Os per second.
    MinIops,
    /// The floor in bytes per second.
    MinBps,
    /// The ceiling in I/Os per second.
    MaxIops,
    /// The ceiling in bytes per second.
    MaxBps,
    /// How far the group may run ahead of its ceiling, in milliseconds.
    BurstMs,
    /// The time within which 99 of 100 requests are to complete, in microseconds; its key has
    /// milliseconds.
    LatencyP99Us,
}

impl Limit {
    /// The key of the limit.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::MinIops => "group_min_iops",
            Self::MinBps => "group_min_bps",
            Self::MaxIops => "group_max_iops",
            Self::MaxBps => "group_max_bps",
            Self::BurstMs => "group_burst_ms",
            Self::LatencyP99Us => "group_latency_p99_ms",
        }
    }

    /// The key without the common prefix, as experiments and mounts name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.key().trim_start_matches("group_")
    }

    /// The value in the unit of its key.
    #[must_use]
    pub fn written(self, value: u64) -> String {
        match self {
            Self::LatencyP99Us => (value as f64 / 1e3).to_string(),
            _ => value.to_string(),
        }
    }
}

/// The limits of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Limits(pub BTreeMap<Limit, u64>);

impl Limits {
    /// The limits as quality of service for the schedulers.
    #[must_use]
    pub fn qos(&self) -> Qos {
        let rate = |limit| self.0.get(&limit).and_then(|rate| NonZeroU64::new(*rate));
        let span = |limit, unit: fn(u64) -> Span| self.0.get(&limit).map(|value| unit(*value));
        Qos {
            floor: Rates { iops: rate(Limit::MinIops), bytes_per_s: rate(Limit::MinBps) },
            ceiling: Rates { iops: rate(Limit::MaxIops), bytes_per_s: rate(Limit::MaxBps) },
            burst: span(Limit::BurstMs, Span::from_ms).unwrap_or(Qos::NONE.burst),
            latency_p99: span(Limit::LatencyP99Us, Span::from_us),
        }
    }

    /// The first contradiction among the limits: the limit at fault, and a message in the terms of
    /// job files.
    pub(super) fn contradiction(&self) -> Option<(Limit, String)> {
        let found = self.qos().check(self.0.contains_key(&Limit::BurstMs)).err()?;
        let limit = self.0.keys().find(|limit| limit.name() == Contradiction::key(&found))?;
        let names = [Limit::MaxIops, Limit::MaxBps, Limit::BurstMs];
        let text = names.iter().fold(found.to_string(), |text, limit| {
            text.replace(&format!("`{}`", limit.name()), &format!("`{}`", limit.key()))
        });
        Some((*limit, text))
    }
}
