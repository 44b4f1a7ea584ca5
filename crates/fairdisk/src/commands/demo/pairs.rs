//! The first half of the demo: published throughputs beside those of the lab.

use crate::failure::Failure;
use crate::selection;
use fairdisk_core::{GroupId, IoClass, Prng, Share};
use fairdisk_lab::outcome::{Outcome, RowOutcome, Score, Shell, Style, TaskOutcome, to_json};
use fairdisk_lab::plan::{Loaded, Options, Plan, PlannedRow};
use fairdisk_lab::run::{Silent, run_plan};
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

const EXPERIMENT: &str = "satoshi-2008-04-03-dd";
const FLAT: &str = "flat";
const TWO_LAYER: &str = "two-layer";

/// The results of pairs of `dd` under the flat and the two-layer scheduler.
pub(super) struct Pairs {
    plan: Plan,
    outcome: Outcome,
}

impl Pairs {
    pub(super) fn run(stop: &AtomicBool) -> Result<Self, Failure> {
        let plan = selection::load(EXPERIMENT, &Options::default())?;
        let ensembles = run_plan(&plan, &Silent, stop).map_err(Failure::Run)?;
        let outcome = Outcome::new(&plan, Shell::Lab, &ensembles);
        Ok(Self { plan, outcome })
    }

    pub(super) fn to_json(&self) -> Value {
        to_json(&self.outcome)
    }

    pub(super) fn to_text(&self, style: Style) -> String {
        let mut text =
            heading(style, "1. In the lab: pairs of dd, each reading 1 GiB, MB/s of each");
        let _ = writeln!(text, "   published by {}\n", self.plan.source);
        let _ = writeln!(
            text,
            "   {:5} {:34} {:>9}  {:>13}  {:>8}",
            "run", "who", "published", "two-layer CFQ", "flat CFQ"
        );
        for row in &self.plan.rows {
            self.write_row(&mut text, row);
        }
        if let Some(rates) = Score::of(&self.outcome).and_then(|score| score.rates) {
            let _ = writeln!(
                text,
                "\n   Two-layer CFQ: rates {:.1} % off on average; who is published to end first, or \
                 both together\n   (within 10 %), does so in {} of {} runs.\n   Flat CFQ knows tasks but no groups: run 4 comes out as run 3.",
                rates.error_mean * 100.0,
                rates.orders_right,
                rates.orders
            );
        }
        text
    }

    fn write_row(&self, text: &mut String, row: &PlannedRow) {
        let (Some(layered), Some(flat)) = (self.row(TWO_LAYER, row), self.row(FLAT, row)) else {
            return;
        };
        let loaded = row.load.build(&self.plan.rig.host, true, &mut Prng::new(0));
        let tasks = layered.tasks.iter().zip(&flat.tasks).enumerate();
        for (at, (layered, flat)) in tasks {
            let label = if at == 0 { row.label.as_str() } else { "" };
            let who = who(&loaded, at, layered);
            let published =
                layered.published_mb_per_s.map_or_else(String::new, |rate| format!("{rate:.1}"));
            let (layered, flat) = (layered.mb_per_s.mean, flat.mb_per_s.mean);
            let _ = writeln!(
                text,
                "   {label:5} {who:34} {published:>9}  {layered:>13.1}  {flat:>8.1}"
            );
        }
    }

    fn row(&self, arm: &str, row: &PlannedRow) -> Option<&RowOutcome> {
        self.outcome.rows.iter().find(|outcome| outcome.arm == arm && outcome.row == row.label)
    }
}

pub(super) fn heading(style: Style, text: &str) -> String {
    if style.colour { format!("\x1b[1m{text}\x1b[0m\n") } else { format!("{text}\n") }
}

/// A task's name, its ionice level, and its group with the group's share.
fn who(loaded: &Loaded, at: usize, task: &TaskOutcome) -> String {
    let spec = loaded.named.get(at).and_then(|tasks| loaded.tasks.get(tasks.start));
    let Some(spec) = spec else { return task.name.clone() };
    let GroupId(group) = spec.group;
    let group = loaded.groups.get((group as usize).wrapping_sub(1));
    let group = group.map_or_else(String::new, |group| match group.spec.share {
        Share::Priority(priority) => format!(", {} (priority {priority})", group.name),
        Share::Weight(weight) => format!(", {} (weight {})", group.name, weight.get()),
    });
    let level = match spec.ioprio.class {
        IoClass::None => String::new(),
        _ => format!(" ionice {}", spec.ioprio.level),
    };
    format!("{}{level}{group}", task.name)
}
