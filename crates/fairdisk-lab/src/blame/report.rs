//! The report of an investigation, for people and for programs.

mod html;
mod json;
mod table;
mod words;

pub use html::to_html;
pub use json::{BlameResults, to_json};
pub use table::to_table;

use super::{Between, Divergence, Factor, FactorSet, Findings, Metric};
use crate::catalog::experiment::PublishedChange;
use crate::plan::{ChangeFigure, Whom};
use toml::Value;

/// The contents of a report.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was run, on one line.
    pub title: String,
    /// Where it was run, on one line.
    pub place: String,
    /// How mixtures were measured: `lab` or `command`.
    pub shell: &'static str,
    /// The metric as given on the command line.
    pub metric: String,
    /// The unit of the metric, in words.
    pub unit: String,
    /// The name of the good end.
    pub good: String,
    /// The name of the bad end.
    pub bad: String,
    /// The changes between the ends.
    pub changes: Vec<Change>,
    /// The findings.
    pub findings: Findings,
    /// Where the runs of both ends diverge, if that was looked for and found.
    pub divergence: Option<Divergence>,
    /// The change that the source of the load reports between both ends.
    pub published: Option<PublishedChange>,
    /// What to know before reading the figures.
    pub caveats: Vec<String>,
    /// Causes of a difference from the source's figures that were examined and excluded.
    pub excluded: Vec<String>,
}

/// One change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The change's name.
    pub name: String,
    /// The good value.
    pub good: String,
    /// The bad value.
    pub bad: String,
    /// The change's origin and purpose, if known.
    pub about: Option<About>,
}

/// The origin of a historical change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The commit.
    pub commit: String,
    /// The author of the commit.
    pub author: String,
    /// One line on what the change does.
    pub summary: String,
}

impl About {
    /// What is known of the commit and its author, before a summary.
    fn source(&self, between: &str) -> String {
        let known = [&self.commit, &self.author].into_iter().filter(|it| !it.is_empty());
        let known: Vec<&str> = known.map(String::as_str).collect();
        if known.is_empty() { String::new() } else { format!("{}: ", known.join(between)) }
    }
}

impl Report {
    /// A report on mixtures of two schedulers measured in the lab.
    #[must_use]
    pub fn of_lab(
        between: &Between<'_>,
        findings: Findings,
        divergence: Option<Divergence>,
    ) -> Self {
        let (plan, difference) = (between.plan(), between.difference());
        let row = &plan.rows[0].label;
        let only_row =
            if row == &plan.id || row == "jobs" { String::new() } else { format!(", {row}") };
        Self {
            title: format!("{}: {}{only_row}", plan.id, plan.title),
            place: format!("{} (lab)", plan.rig.device_id),
            shell: "lab",
            metric: between.metric().name(),
            unit: between.metric().words(),
            good: difference.good.scheduler.clone(),
            bad: difference.bad.scheduler.clone(),
            changes: difference.factors.iter().map(change).collect(),
            findings,
            divergence,
            published: published(between),
            caveats: plan.caveats.clone(),
            excluded: plan.excluded.clone(),
        }
    }

    /// The name of a change.
    #[must_use]
    pub fn name(&self, factor: usize) -> &str {
        self.changes.get(factor).map_or("?", |change| &change.name)
    }

    fn names(&self, factors: FactorSet) -> Vec<&str> {
        factors.iter().map(|factor| self.name(factor)).collect()
    }
}

/// The change that the source reports between these two schedulers, if it is in the measured
/// quantity.
fn published(between: &Between<'_>) -> Option<PublishedChange> {
    let (plan, difference) = (between.plan(), between.difference());
    let [good, bad] = [&difference.good, &difference.bad];
    let is_rate = matches!(between.metric(), Metric::Ios | Metric::Mbps);
    if !is_rate || !good.overrides.is_empty() || !bad.overrides.is_empty() {
        return None;
    }
    let is_it = |change: &&ChangeFigure| {
        let of_ends = change.schedulers.as_ref().is_some_and(|[from, to]| {
            (from, to) == (&good.scheduler, &bad.scheduler) && change.whom == [Whom::All]
        });
        of_ends && change.published.row == plan.rows[0].label && change.published.figure.is_none()
    };
    plan.published_changes.iter().find(is_it).map(|change| change.published.clone())
}

fn change(factor: &Factor) -> Change {
    let known = factor.change();
    // A switch that is not named is off.
    let other = if known.is_some() { "false" } else { "not set" };
    let value = |value: &Option<Value>| value.as_ref().map_or(other.to_owned(), Value::to_string);
    let key = factor.key.strip_prefix("scheduler.").unwrap_or(&factor.key);
    Change {
        name: known.map_or(key, |known| known.name).to_owned(),
        good: value(&factor.good),
        bad: value(&factor.bad),
        about: known.map(|known| About {
            commit: known.commit.to_owned(),
            author: known.author.to_owned(),
            summary: known.summary.to_owned(),
        }),
    }
}
