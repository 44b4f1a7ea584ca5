//! How much memory a load needs, as text, JSON and a page: the answer before the curves.

use super::{KEY, Need};
use crate::outcome::Style;
use crate::page::Made;
use crate::results::value;
use crate::sweep::{self, SweepResults};
use fairdisk_page::Part;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;

impl Need {
    /// The answer in sentences, one a line.
    #[must_use]
    pub fn answer(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let want = self.want_percent;
        match (self.enough_mib, self.plenty_mib) {
            (Some(enough), Some(plenty)) => {
                lines.push(format!(
                    "With {enough} MiB it keeps {want} % of what it does with plenty ({plenty} MiB)."
                ));
                lines.extend(self.cost_of_less(enough));
            }
            _ => lines.push("How much is plenty is not known yet.".to_owned()),
        }
        if self.uses_no_pages() {
            lines.push(
                "Memory makes no difference to it: it reads and writes nothing through the page \
                 cache."
                    .to_owned(),
            );
        }
        lines
    }

    /// Whether nothing that was tried goes through the page cache.
    fn uses_no_pages(&self) -> bool {
        let mut points = self.curves.curves.iter().flat_map(|curve| &curve.points);
        points.all(|point| super::size(point).is_some_and(|(_, size)| size.touched_mib == 0.0))
    }

    /// The options with which a run has the memory that is enough.
    #[must_use]
    pub fn as_options(&self) -> Option<String> {
        let enough = self.enough_mib?;
        Some(format!("--set host.memory.kernel={} --set {KEY}={enough}", self.kernel))
    }

    /// What half of the memory that is enough, or the least tried, costs.
    fn cost_of_less(&self, enough: u64) -> Option<String> {
        let points = &self.curves.curves.first()?.points;
        let sizes = points.iter().filter_map(|point| point.value.parse::<u64>().ok());
        let less = sizes.filter(|mib| *mib < enough).min_by_key(|mib| mib.abs_diff(enough / 2))?;
        let figure = |mib: u64, at: usize| {
            let point = points.iter().find(|point| point.value == mib.to_string())?;
            Some(point.figures.get(at)?.as_ref()?.mean)
        };
        let lost = 100.0 * (1.0 - figure(less, 0)? / figure(self.plenty_mib?, 0)?);
        let [p99, again, waits] = [1, 3, 4].map(|at| figure(less, at));
        Some(format!(
            "With {less} MiB it loses {:.0} % and its p99 is {:.2} ms; {:.0} % of what is read was \
             read before, and tasks wait for memory for {:.1} % of their time.",
            lost.max(0.0),
            p99?,
            again?,
            waits?
        ))
    }
}

/// As text.
#[must_use]
pub fn to_table(need: &Need, style: Style) -> String {
    let mut out = sweep::to_table(&need.curves, style);
    out.push('\n');
    for line in need.answer() {
        let _ = writeln!(out, "{}", style.bold(&line));
    }
    out
}

/// What `fairdisk memory` prints: the curves over sizes of memory, and the answer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryResults {
    #[serde(flatten)]
    curves: SweepResults,
    /// How much of the throughput is to be kept, in percent.
    want_percent: f64,
    /// The kernel whose memory it is.
    kernel: String,
    /// So much memory is enough; null if that is not known yet.
    enough_mib: Option<u64>,
    /// More than so much makes no difference; null if that is not known yet.
    plenty_mib: Option<u64>,
    /// The answer in sentences.
    answer: Vec<String>,
}

impl From<&Need> for MemoryResults {
    fn from(need: &Need) -> Self {
        debug_assert_eq!(need.curves.key, KEY);
        Self {
            curves: (&need.curves).into(),
            want_percent: need.want_percent,
            kernel: need.kernel.clone(),
            enough_mib: need.enough_mib,
            plenty_mib: need.plenty_mib,
            answer: need.answer(),
        }
    }
}

/// As JSON.
#[must_use]
pub fn to_json(need: &Need) -> Value {
    value(&MemoryResults::from(need))
}

/// As a page.
#[must_use]
pub fn to_html(need: &Need, made: &Made<'_>) -> String {
    let answer = need.answer().into_iter().map(Part::Verdict).collect();
    let mut page = sweep::page_below(&need.curves, answer);
    page.results = to_json(need);
    page.to_html(made)
}
