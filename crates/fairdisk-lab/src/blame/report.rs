//! What was found out, for people and for other programs.

mod html;
mod json;
mod table;
mod words;

pub use html::to_html;
pub use json::to_json;
pub use table::to_table;

use super::{Between, Divergence, Factor, FactorSet, Findings};
use toml::Value;

/// Everything there is to say.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was run, in a line.
    pub title: String,
    /// Where, in a line.
    pub place: String,
    /// `lab` or `command`.
    pub shell: &'static str,
    /// The metric as it is given on the command line.
    pub metric: String,
    /// What it measures, in words.
    pub unit: String,
    /// The name of the good end.
    pub good: String,
    /// The name of the bad end.
    pub bad: String,
    /// The changes between them.
    pub changes: Vec<Change>,
    /// What was found out about them.
    pub findings: Findings,
    /// Where the runs of both ends part, if that was looked for and found.
    pub divergence: Option<Divergence>,
}

/// One change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// The good value.
    pub good: String,
    /// The bad value.
    pub bad: String,
    /// Who made it, and what it is, if that is known.
    pub about: Option<About>,
}

/// Where a change comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The commit.
    pub commit: String,
    /// Its author.
    pub author: String,
    /// What it does, in a line.
    pub summary: String,
}

impl Report {
    /// Of mixtures of two schedulers in the lab.
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

fn change(factor: &Factor) -> Change {
    let switch = factor.switch();
    // A switch that is not named is off.
    let other = if switch.is_some() { "false" } else { "not set" };
    let value = |value: &Option<Value>| value.as_ref().map_or(other.to_owned(), Value::to_string);
    let key = factor.key.strip_prefix("scheduler.").unwrap_or(&factor.key);
    Change {
        name: switch.map_or(key, |switch| switch.name).to_owned(),
        good: value(&factor.good),
        bad: value(&factor.bad),
        about: switch.map(|switch| About {
            commit: switch.commit.to_owned(),
            author: switch.author.to_owned(),
            summary: switch.summary.to_owned(),
        }),
    }
}
