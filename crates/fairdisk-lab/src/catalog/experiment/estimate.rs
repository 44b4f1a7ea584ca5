//! Estimates: the shares that authors expected of a scheduler, before or beside their measurement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shares that somebody expected groups to get under an arm.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The name of the arm.
    pub arm: String,
    /// The labels of the rows it is about; empty for all.
    #[serde(default)]
    pub rows: Vec<String>,
    /// Percentage of all I/Os of each group, in order.
    pub percent: Vec<f64>,
    /// Who expected that, and from which rule it follows.
    #[serde(default)]
    pub source: String,
}

impl Estimate {
    /// Whether the estimate is about this row under this arm.
    #[must_use]
    pub fn is_about(&self, arm: &str, row: &str) -> bool {
        self.arm == arm && (self.rows.is_empty() || self.rows.iter().any(|label| label == row))
    }

    /// Who expected it, as a note; `None` if that is not said.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let Self { arm, source, .. } = self;
        (!source.is_empty()).then(|| format!("estimate of {arm}: {source}"))
    }
}
